"""dtnumba from a shell: `python -m dtnumba train`, or `dtnumba train` once installed."""

import io
import os
import sys
from typing import NoReturn

from dtnumba.cli.command import main


def run() -> NoReturn:
    """Run as a program: the process ends here."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A label that the terminal has no sign for must not end the run.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = main()
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader (`| head`) has seen enough; the interpreter's own flush at exit must not complain either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code)


if __name__ == "__main__":
    run()
