"""Results: on standard output, or in a file that is written whole or not at all; into devices as it comes."""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dtnumba.cli.command import DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator


def check_out(path: str | None, *read: str | None, option: str = "--out") -> None:
    """Refuse a place for results before any work is done.

    Raises
    ------
    CommandError
        If it is a folder, has no folder, or is one of the files that are read, which would be lost.
    """
    if path is None:
        return
    if Path(path).is_dir():
        raise DataError(f"{path}: that is a folder; name a file in it")
    if not Path(path).resolve().parent.is_dir() and not Path(path).exists():
        raise DataError(f"{path}: it cannot be written: there is no folder {Path(path).parent}")
    for one in read:
        if one is not None and Path(path).is_file() and Path(one).exists() and Path(one).samefile(path):
            raise UsageError(f"{option} {path}: that file is read, and would be lost; name another")


@contextmanager
def results(path: str | None) -> Iterator[Any]:
    """Open standard output, or a file that takes its name when all is written; where that fails, nothing changes."""
    if path is None:
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    if _is_device(path):
        try:
            with Path(path).open("wb") as file:
                yield file
        except OSError as error:
            raise DataError(f"{path}: it cannot be written: {error.strerror or error}") from error
        return
    with whole_file(path) as temporary, temporary.open("wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def whole_file(path: str) -> Iterator[Path]:
    """Yield the name of a new file beside the one that is wanted, which it replaces when all went well."""
    to = Path(path).resolve()  # links lead on
    temporary = None
    try:
        if to.is_dir():
            raise DataError(f"{path}: that is a folder; name a file in it")
        handle, name = tempfile.mkstemp(dir=to.parent, prefix=f".{to.name}.")
        temporary = Path(name)
        os.close(handle)
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(to.stat().st_mode & 0o777 if to.exists() else 0o666 & ~mask)  # as if written in the usual way
        yield temporary
        temporary.replace(to)
        temporary = None
    except OSError as error:
        raise DataError(f"{path}: it cannot be written: {error.strerror or error}") from error
    finally:
        if temporary is not None:
            with suppress(OSError):
                temporary.unlink()


def _is_device(path: str) -> bool:
    """Tell whether there is something that no file may take the place of: a device, a pipe, a socket."""
    return Path(path).exists() and not Path(path).is_file() and not Path(path).is_dir()
