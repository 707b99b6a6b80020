"""Results: on standard output, or in a file that is written whole or not at all."""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dtnumba.cli.command import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def results(path: str | None) -> Iterator[Any]:
    """Open standard output, or a file that takes its name when all is written; where that fails, nothing changes."""
    if path is None:
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with whole_file(path) as temporary, temporary.open("wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def whole_file(path: str) -> Iterator[Path]:
    """Yield the name of a new file beside the one that is wanted, which it replaces when all went well."""
    to = Path(path)
    temporary = None
    try:
        if to.is_dir():
            raise DataError(f"{path}: that is a folder; name a file in it")
        handle, name = tempfile.mkstemp(dir=to.parent, prefix=f".{to.name}.")
        temporary = Path(name)
        os.close(handle)
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)  # as if it had been made in the usual way
        yield temporary
        temporary.replace(to)
        temporary = None
    except OSError as error:
        raise DataError(f"{path}: it cannot be written: {error.strerror or error}") from error
    finally:
        if temporary is not None:
            with suppress(OSError):
                temporary.unlink()
