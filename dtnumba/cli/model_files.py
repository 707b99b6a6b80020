"""Models from files, with the notes of the shell about their columns."""

from __future__ import annotations

from typing import Any

import dtnumba
from dtnumba.cli.command import DataError


def load_model(path: str) -> Any:
    """Return the model of a file.

    Raises
    ------
    DataError
        If it cannot be read.
    """
    try:
        return dtnumba.load(path)
    except (OSError, ValueError) as error:
        said = str(getattr(error, "strerror", None) or error)
        raise DataError(said if path in said else f"{path}: {said}") from error
