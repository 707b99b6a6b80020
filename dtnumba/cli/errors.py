"""What a command says when it cannot go on."""

from __future__ import annotations


class CommandError(Exception):
    """A mistake the user can mend: printed as one line, without a traceback."""
