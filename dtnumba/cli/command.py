"""The command line: what can be given, and which command runs.

Only the arguments are read here; what a command needs is imported when it runs, so that `--help` answers at once.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, NoReturn

import dtnumba
from dtnumba.cli.help_texts import HELP

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from _typeshed import SupportsWrite


EXIT_WRONG_DATA = 1  # of a file or a model that cannot be used
EXIT_WRONG_USE = 2  # what argparse exits with, too
EXIT_INTERRUPTED = 130  # what a shell reports for a program ended by Ctrl-C


class CommandError(Exception):
    """A mistake the user can mend: printed as one line, without a traceback."""

    exit_code = EXIT_WRONG_USE


class UsageError(CommandError):
    """A mistake in the command line itself."""


class DataError(CommandError):
    """A file or a model that cannot be used as it is."""

    exit_code = EXIT_WRONG_DATA


class OneLineParser(argparse.ArgumentParser):
    """argparse prints its usage above an error; here an error is one line. Its help is a page of `help_texts`."""

    def error(self, message: str) -> NoReturn:
        """Leave the report to `main`."""
        raise UsageError(f"{message} ({self.prog} --help lists what can be given)")

    def format_help(self) -> str:
        """Return the page of this command."""
        return HELP[self.prog]

    def print_help(self, file: SupportsWrite[str] | None = None) -> None:
        """Print what can be given; an error where it cannot be written, which argparse would pass over."""
        file = sys.stdout if file is None else file
        if file is not None:
            file.write(self.format_help())


def whole_number(at_least: int) -> Callable[[str], int]:
    """Make the reader of an option that takes a whole number."""

    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < at_least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least {at_least}")
        return int(text)

    return read


def share(text: str) -> float:
    """Read an option that takes a number between 0 and 1."""
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not 0 < number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number between 0 and 1, both left out")
    return number


def one_sign(text: str) -> str:
    """Read an option that takes one sign; a tab may be spelled."""
    text = "\t" if text in {"tab", "\\t"} else text
    if len(text) != 1 or text in '"\r\n':
        raise argparse.ArgumentTypeError(f"{text!r} is not one sign (a tab may be spelled tab)")
    return text


def assignment(text: str) -> tuple[str, str]:
    """Read an option of the form parameter=value."""
    name, sign, value = text.partition("=")
    if not sign or not name.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form parameter=value")
    return name.strip(), value


def _add_reading(command: argparse.ArgumentParser) -> None:
    """Add the options that say how a file is written."""
    command.add_argument("--sep", type=one_sign)
    command.add_argument("--encoding")
    command.add_argument("--missing", action="append", default=[])
    command.add_argument("--decimal", choices=(".", ","), default=".")
    command.add_argument("--thousands", type=one_sign)
    command.add_argument("--no-header", action="store_true")


def build_parser() -> argparse.ArgumentParser:
    """List the commands and their options; those of a tree are named as the estimators' parameters."""
    parser = OneLineParser(prog="dtnumba", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"dtnumba {dtnumba.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    train = commands.add_parser("train", allow_abbrev=False)
    train.add_argument("file", nargs="?", metavar="FILE")
    train.add_argument("--target")
    train.add_argument("--task", choices=("auto", "class", "regression"), default="auto")
    train.add_argument("--model", default="tree")
    train.add_argument("--set", action="append", default=[], type=assignment)
    train.add_argument("--out")
    for option in ("--category", "--number", "--ignore"):
        train.add_argument(option, action="append", default=[])
    _add_reading(train)
    train.add_argument("--criterion")
    train.add_argument("--splitter")
    train.add_argument("--max-depth", type=whole_number(1))
    train.add_argument("--min-samples-leaf", type=whole_number(1))
    train.add_argument("--max-bins", type=whole_number(2))
    train.add_argument("--test-fraction", type=share, default=0.25)
    train.add_argument("--seed", type=whole_number(0), default=0)
    predict = commands.add_parser("predict", allow_abbrev=False)
    predict.add_argument("model", metavar="MODEL")
    predict.add_argument("file", metavar="FILE")
    predict.add_argument("--out")
    predict.add_argument("--proba", action="store_true")
    _add_reading(predict)
    show = commands.add_parser("show", allow_abbrev=False)
    show.add_argument("model", metavar="MODEL")
    show.add_argument("--levels", type=whole_number(0), default=3)
    show.add_argument("--html")
    convert = commands.add_parser("convert", allow_abbrev=False)
    convert.add_argument("model", metavar="MODEL")
    convert.add_argument("--to", required=True)
    convert.add_argument("--out")
    convert.add_argument("--set", action="append", default=[], type=assignment)
    info = commands.add_parser("info", allow_abbrev=False)
    info.add_argument("model", metavar="MODEL")
    warm = commands.add_parser("warmup", allow_abbrev=False)
    warm.add_argument("names", nargs="*", metavar="NAME")
    warm.add_argument("--jobs", type=whole_number(1))
    warm.add_argument("--check", action="store_true")
    warm.add_argument("--portable")
    warm.add_argument("--out")
    return parser


def _warm_up(options: argparse.Namespace) -> int:
    from dtnumba.estimators.warm_up import warmup

    try:
        found = warmup(*options.names, jobs=options.jobs, check=options.check, level=options.portable, out=options.out)
    except ValueError as error:
        raise UsageError(str(error)) from error
    except (OSError, RuntimeError) as error:
        raise DataError(str(error)) from error
    return 1 if options.check and found else 0


def _run(options: argparse.Namespace) -> int:
    if options.command == "warmup":
        return _warm_up(options)
    if options.command == "train":
        from dtnumba.cli.train import train

        train(options)
    elif options.command == "predict":
        from dtnumba.cli.predict import predict

        predict(options)
    else:
        from dtnumba.cli import show

        {"show": show.show, "info": show.info, "convert": show.convert}[options.command](options)
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    That is 0; after one line on stderr that says what to mend 1 (a file or a model), or 2 (the command line); 130
    after Ctrl-C.

    Parameters
    ----------
    argv : sequence of str, optional
        What stands behind `python -m dtnumba`; by default, what the process was started with.
    """
    name = "dtnumba"
    try:
        options = build_parser().parse_args(argv)
        name = f"dtnumba {options.command}"
        return _run(options)
    except CommandError as error:
        print(f"{name}: error: {' '.join(str(error).split())}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print(f"{name}: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    except MemoryError:
        print(f"{name}: error: not enough memory; train on a sample, or with --set max_bins=255", file=sys.stderr)
        return EXIT_WRONG_DATA
