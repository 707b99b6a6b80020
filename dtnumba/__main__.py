"""dtnumba from a shell: `python -m dtnumba train`, or `dtnumba train` once installed."""

import io
import os
import sys
from typing import NoReturn

from dtnumba.cli.command import EXIT_WRONG_DATA, main


def run() -> NoReturn:
    """Run as a program: the process ends here."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A label that the terminal has no sign for must not end the run.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        try:
            code: str | int | None = main()
        except SystemExit as ended:  # --help
            code = ended.code
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:  # the reader (`| head`) has seen enough
        code = 0
        _give_up_on_output()
    except OSError as error:
        if error.filename is not None:
            raise
        sys.stderr.write(f"dtnumba: error: what was to be printed cannot be written: {error.strerror}\n")
        code = EXIT_WRONG_DATA
        _give_up_on_output()
    sys.exit(code)


def _give_up_on_output() -> None:
    """Let nothing be written any more, so that the interpreter's own flush at its exit does not complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    run()
