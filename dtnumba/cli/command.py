"""The command line: what can be given, and which command runs.

Only the arguments are read here; what a command needs is imported when it runs, so that `--help` answers at once.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from _typeshed import SupportsWrite


EXIT_WRONG_USE = 2  # what argparse exits with, too
EXIT_INTERRUPTED = 130  # what a shell reports for a program ended by Ctrl-C


class CommandError(Exception):
    """A mistake the user can mend: printed as one line, without a traceback."""


class OneLineParser(argparse.ArgumentParser):
    """argparse prints its usage above an error; here an error is one line."""

    def error(self, message: str) -> NoReturn:
        """Leave the report to `main`."""
        raise CommandError(f"{message} ({self.prog} --help lists what can be given)")

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


def build_parser() -> argparse.ArgumentParser:
    """List the commands and their options; those of a tree are named as the estimators' parameters."""
    parser = OneLineParser(prog="dtnumba", description="Decision trees on NumPy and Numba.", allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    train = commands.add_parser(
        "train",
        help="grow a tree, score it on rows held out, and show its top",
        description="Grow a decision tree on a table, score it on rows held out, and show its top.",
        allow_abbrev=False,
    )
    train.add_argument(
        "file", nargs="?", metavar="FILE",
        help="a .csv file whose first line names the columns, or .parquet, .arrow, .feather (these need pyarrow); "
        "without FILE a generated table of 20,000 rows is used",
    )  # fmt: skip
    train.add_argument("--target", metavar="NAME", help="column to predict (default: the last)")
    train.add_argument(
        "--task", choices=("auto", "class", "regression"), default="auto",
        help="auto: regression if the target has more than 20 different numbers and not all are whole",
    )  # fmt: skip
    train.add_argument(
        "--category", metavar="NAME", action="append", default=[],
        help="a feature that is a category though it looks like numbers (text is anyway); may be given several times",
    )  # fmt: skip
    train.add_argument("--criterion", metavar="NAME", help="gain measure (default: the estimator's own)")
    train.add_argument("--splitter", metavar="NAME", default="best", help="how thresholds are chosen: best, random")
    train.add_argument("--max-depth", metavar="N", type=whole_number(1), help="default: no limit")
    train.add_argument("--min-samples-leaf", metavar="N", type=whole_number(1), default=1, help="default: 1")
    train.add_argument(
        "--max-bins", metavar="N", type=whole_number(2), help="histogram of at most N bins (default: exact thresholds)"
    )
    train.add_argument(
        "--test-fraction", metavar="SHARE", type=share, default=0.25, help="share of rows held out (default: 0.25)"
    )
    train.add_argument(
        "--seed", metavar="N", type=whole_number(0), default=0, help="of all that is drawn at random (default: 0)"
    )
    warm = commands.add_parser(
        "warmup",
        help="compile ahead what learners need",
        description="Compile ahead what fits and predictions of learners need, in processes side by side.",
        allow_abbrev=False,
    )
    warm.add_argument(
        "names", nargs="*", metavar="NAME", help="a learner, such as RandomForestClassifier (default: all)"
    )
    warm.add_argument("--jobs", metavar="N", type=whole_number(1), help="processes side by side (default: one a core)")
    warm.add_argument(
        "--check", action="store_true", help="compile nothing; exit with 1 if a first fit would compile anything"
    )
    warm.add_argument(
        "--portable", metavar="LEVEL",
        help="compile for any processor of a level: x86-64-v3 or x86-64-v4; elsewhere for that of this machine. Other "
        "machines load it by DTNUMBA_KERNELS=FOLDER",
    )  # fmt: skip
    warm.add_argument("--out", metavar="FOLDER", help="where portable kernels are written")
    return parser


def _warm_up(options: argparse.Namespace) -> int:
    from dtnumba.estimators.warm_up import warmup

    try:
        found = warmup(*options.names, jobs=options.jobs, check=options.check, level=options.portable, out=options.out)
    except (ValueError, OSError, RuntimeError) as error:
        raise CommandError(str(error)) from error
    return 1 if options.check and found else 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0, or 2 after one line on stderr that says what to mend.

    Parameters
    ----------
    argv : sequence of str, optional
        What stands behind `python -m dtnumba`; by default, what the process was started with.
    """
    name = "dtnumba"
    try:
        options = build_parser().parse_args(argv)
        name = f"dtnumba {options.command}"
        if options.command == "warmup":
            return _warm_up(options)
        from dtnumba.cli.train import train

        train(options)
    except CommandError as error:
        print(f"{name}: error: {' '.join(str(error).split())}", file=sys.stderr)
        return EXIT_WRONG_USE
    except KeyboardInterrupt:
        print(f"{name}: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    return 0
