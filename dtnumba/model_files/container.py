"""The file of a model: a preamble of 64 bytes, a header in JSON, arrays at multiples of 64 bytes, and checksums.

This module knows names, types and bytes, and nothing of models. Nothing in a file is trusted: sizes are compared with
the file before anything is made of them, and a byte is verified before it is used. Small files are read and verified at
once. Large ones are mapped, so that opening takes as long at any size: what is asked for is verified then, in blocks.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import secrets
import struct
import zlib
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

MAGIC = b"\x93DTNUMBA"
FILE_FORMAT = 1
ALIGNMENT = 64
BLOCK = 4096  # bytes that share a checksum
HEADER_BYTES = 1 << 20  # at most: what JSON becomes in memory is many times its text
_MOST_ARRAYS = 4096
_SMALL = 1 << 22  # bytes of a file that is read at once
_PREAMBLE = struct.Struct("<8sIIQQII")  # magic, format, block, header bytes, array bytes, checksums of header and table
_TYPES = ("<f8", "<f4", "<f2", "<i8", "<i4", "<i2", "|i1", "<u8", "<u4", "<u2", "|u1")
_DTYPES = {name: np.dtype(name) for name in _TYPES}
_IS_POSIX = os.name == "posix"
_UNFINISHED = ".unfinished"
_COPY = "copy the file again, or save the model again"


class ModelFileError(ValueError):
    """Raised where a file is no model file, is damaged, or holds what no model is; names the file and what is wrong."""


class Stored(NamedTuple):
    """Where an array stands in a file."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    offset: int  # from the first array on

    @property
    def n_bytes(self) -> int:
        """Bytes of the array."""
        return int(self.dtype.itemsize * math.prod(self.shape))


class Content:
    """The header and the arrays of a file that is open, or of one that is going to be written.

    Parameters
    ----------
    path : str
        For messages.
    header : dict
        What the JSON says beside the table of arrays.
    arrays : dict of str to Stored
        The table.
    data : array of bytes
        All arrays, end to end.
    checksums : array of uint32, or None
        Of the blocks of ``data``; None where all are verified.

    """

    def __init__(
        self,
        path: str,
        header: dict[str, Any],
        arrays: dict[str, Stored],
        data: NDArray[np.uint8],
        checksums: NDArray[np.uint32] | None,
    ) -> None:
        self.path, self.header, self.arrays = path, header, arrays
        self._data: Any = data
        self._checksums: Any = checksums
        self._is_verified: Any = None if checksums is None else np.zeros(len(checksums), bool)

    @property
    def is_mapped(self) -> bool:
        """Whether the file is read as it is asked for."""
        return self._checksums is not None

    def wrong(self, what: str, remedy: str = "") -> ModelFileError:
        """Return the error that says what is wrong with the file."""
        return wrong(self.path, what, remedy)

    def stored(self, name: Any) -> Stored:
        """Return where an array stands."""
        found = self.arrays.get(name) if isinstance(name, str) else None
        if found is None:
            raise self.wrong(f"it has no array {name!r}, which its header speaks of")
        return found

    def array(self, name: Any) -> NDArray[Any]:
        """Return an array, verified; where the file was read at once, it must not be written to."""
        one = self.stored(name)
        self.verify(one.offset, one.offset + one.n_bytes)
        return self._view(one)

    def unverified(self, name: Any) -> NDArray[Any]:
        """Return an array of which the caller verifies what it reads (``verify_items``)."""
        return self._view(self.stored(name))

    def _view(self, one: Stored) -> NDArray[Any]:
        raw = self._data[one.offset : one.offset + one.n_bytes]
        return np.asarray(raw.view(one.dtype).reshape(one.shape))

    def verify(self, start: int, stop: int) -> None:
        """Raise where bytes start .. stop - 1 of the arrays are not those that were written."""
        if self._checksums is None or stop <= start:
            return
        first = start // BLOCK
        self._verify_blocks(first + np.flatnonzero(~self._is_verified[first : (stop - 1) // BLOCK + 1]))

    def verify_items(self, name: str, items: NDArray[np.int64]) -> None:
        """Raise where items of an array are not those that were written."""
        if self._checksums is None:
            return
        one = self.stored(name)
        size = one.n_bytes // max(one.shape[0], 1)
        first = one.offset + items * size
        blocks = first // BLOCK
        last = (first + max(size, 1) - 1) // BLOCK
        if (last != blocks).any():
            blocks = np.concatenate([blocks, last])
        blocks = np.sort(blocks[~self._is_verified[blocks]])
        self._verify_blocks(blocks[np.diff(blocks, prepend=-1) > 0])

    def _verify_blocks(self, blocks: NDArray[np.int64]) -> None:
        if not len(blocks):
            return
        data, crc32 = memoryview(self._data), zlib.crc32
        found = np.array([crc32(data[start : start + BLOCK]) for start in (blocks * BLOCK).tolist()], np.uint32)
        wrong = np.flatnonzero(found != self._checksums[blocks])
        if len(wrong):
            start = int(blocks[wrong[0]]) * BLOCK
            raise self.wrong(*_damage(f"bytes {start} to {start + BLOCK} of its arrays"))
        self._is_verified[blocks] = True


def wrong(path: str, what: str, remedy: str = "") -> ModelFileError:
    """Return the error that names a file, what is wrong with it, and what to do."""
    return ModelFileError(f"{path}: {what}{'; ' + remedy if remedy else ''}")


def _damage(where: str) -> tuple[str, str]:
    return f"{where} are not what was written (their checksum differs)", _COPY


def path_of(path: Any, remedy: str) -> Path:
    """Return a path that a caller passed, which is none of a folder."""
    name = os.fspath(path)
    if not isinstance(name, str):
        raise TypeError(f"path={path!r}: must be a str or a path")
    if Path(name).is_dir():
        raise IsADirectoryError(f"{name}: is a folder; {remedy}")
    return Path(name)


def read(path: Any) -> Content:
    """Return what a file holds, its header verified; raise ModelFileError, or OSError where nothing can be read."""
    place = path_of(path, "pass the path of a model file")
    with place.open("rb") as file:
        n_bytes = os.fstat(file.fileno()).st_size
        if n_bytes < ALIGNMENT:
            what = "it is empty" if n_bytes == 0 else f"its {n_bytes} bytes are fewer than any has"
            raise wrong(str(place), f"no model file: {what}", "pass a file written by model.save(path)")
        is_small = n_bytes <= _SMALL
        raw: Any = file.read() if is_small else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return _parsed(str(place), np.frombuffer(raw, np.uint8), is_small)


def _parsed(path: str, raw: NDArray[np.uint8], is_small: bool) -> Content:
    magic, version, block, n_header, n_data, of_header, of_table = _PREAMBLE.unpack(raw[: _PREAMBLE.size].tobytes())
    if magic != MAGIC:
        raise wrong(path, "no model file: it does not begin like one", "pass a file written by model.save(path)")
    text = raw[ALIGNMENT : ALIGNMENT + min(n_header, HEADER_BYTES)].tobytes()
    if not 1 <= version <= FILE_FORMAT:
        made_by = _maker(path, text)
        raise wrong(
            path,
            f"made by {made_by}, format {version}; this one reads up to {FILE_FORMAT}",
            "load it with a dtnumba that is as new",
        )
    start, n_blocks = _aligned(ALIGNMENT + n_header), -(-n_data // BLOCK)
    if n_header > HEADER_BYTES or block != BLOCK or start + n_data + 4 * n_blocks != len(raw):
        raise wrong(path, f"its {len(raw)} bytes are not as many as it says: it was cut off or added to", _COPY)
    if raw[_PREAMBLE.size : ALIGNMENT].any():
        reserved = f"{_PREAMBLE.size} to {ALIGNMENT - 1}"
        raise wrong(path, f"its bytes {reserved} are zeros in format {version}, and are not", _COPY)
    if zlib.crc32(text) != of_header:
        raise wrong(path, *_damage("the bytes of its header"))
    checksums = raw[start + n_data :].tobytes()
    if zlib.crc32(checksums) != of_table:
        raise wrong(path, *_damage("its checksums themselves"))
    header = _json(path, text)
    if not isinstance(header, dict) or not isinstance(header.get("arrays"), dict):
        raise wrong(path, "its header has no table of arrays")
    arrays = _table(path, header["arrays"], n_data)
    content = Content(path, header, arrays, raw[start : start + n_data], np.frombuffer(checksums, "<u4"))
    if not is_small:
        return content
    content.verify(0, n_data)
    return Content(path, header, arrays, raw[start : start + n_data], None)


def _maker(path: str, text: bytes) -> str:
    """Return who made a file of another format, as far as its header can be read."""
    try:
        header = _json(path, text)
    except ModelFileError:
        return "another version"
    made_by = header.get("made_by") if isinstance(header, dict) else None
    return made_by[:100] if isinstance(made_by, str) else "another version"


def _table(path: str, listed: dict[str, Any], n_data: int) -> dict[str, Stored]:
    """Return the table of arrays, each within the file and none over another."""
    if len(listed) > _MOST_ARRAYS:
        raise wrong(path, f"it speaks of {len(listed)} arrays, more than a model has")
    found: dict[str, Stored] = {}
    for name, entry in listed.items():
        legal = isinstance(entry, list) and len(entry) == 3 and isinstance(entry[0], str) and entry[0] in _DTYPES
        legal = legal and is_count(entry[2]) and isinstance(entry[1], list) and len(entry[1]) <= 4
        legal = legal and all(is_count(n) for n in entry[1])
        if not legal:
            raise wrong(path, f"array {name!r} is not described by a type, a shape and an offset")
        one = Stored(_DTYPES[entry[0]], tuple(entry[1]), entry[2])
        if one.offset % ALIGNMENT or one.offset + one.n_bytes > n_data or max(one.shape, default=0) > n_data:
            raise wrong(path, f"array {name!r} (shape {one.shape}, offset {one.offset}) is not within the file")
        found[name] = one
    spans = sorted((one.offset, one.n_bytes, name) for name, one in found.items() if one.n_bytes)
    for (before, n_bytes, name), (after, _, other) in pairwise(spans):
        if before + n_bytes > after:
            raise wrong(path, f"arrays {name!r} and {other!r} overlap")
    return found


def is_count(value: Any) -> bool:
    """Tell whether a value of a header is a whole number that a file may have of anything."""
    return type(value) is int and 0 <= value < 1 << 62


def _json(path: str, text: bytes) -> Any:
    def pairs(given: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({name for name, _ in given}) < len(given):
            raise ValueError("a name stands twice")
        return dict(given)

    def constant(name: str) -> float:
        raise ValueError(f"{name} is no number of JSON")

    def number(said: str) -> float:
        if not math.isfinite(float(said)):
            raise ValueError(f"{said} is beyond float64")
        return float(said)

    try:
        return json.loads(text.decode("utf-8"), object_pairs_hook=pairs, parse_constant=constant, parse_float=number)
    except (ValueError, RecursionError) as error:
        raise wrong(path, f"its header is not the JSON of a model: {error}") from error


def _aligned(n_bytes: int) -> int:
    return -(-n_bytes // ALIGNMENT) * ALIGNMENT


def _parts(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Iterator[bytes | memoryview]:
    """Yield the bytes of a file, in order; arrays are read where they are."""
    table: dict[str, Any] = {}
    end = 0
    for name, array in arrays.items():
        table[name] = [array.dtype.str, list(array.shape), end]
        end = _aligned(end + array.nbytes)
    text = json.dumps(header | {"arrays": table}, allow_nan=False, separators=(",", ":")).encode("ascii")
    if len(text) > HEADER_BYTES or len(table) > _MOST_ARRAYS:
        raise ValueError(
            f"save: the header of the file would have {len(text)} bytes, and may have {HEADER_BYTES}: parameters that "
            "are long lists, dicts or texts are stored in it; pass arrays instead"
        )
    checksums = _checksums(arrays, end)
    preamble = _PREAMBLE.pack(MAGIC, FILE_FORMAT, BLOCK, len(text), end, zlib.crc32(text), zlib.crc32(checksums))
    yield preamble.ljust(ALIGNMENT, b"\0")
    yield text.ljust(_aligned(len(text)), b" ")
    yield from _body(arrays)
    yield checksums


def _body(arrays: dict[str, NDArray[Any]]) -> Iterator[bytes | memoryview]:
    """Yield the bytes of all arrays, end to end."""
    for array in arrays.values():
        if array.nbytes:
            yield memoryview(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
        yield bytes(_aligned(array.nbytes) - array.nbytes)


def _checksums(arrays: dict[str, NDArray[Any]], n_bytes: int) -> bytes:
    """Return the checksum of each block of the arrays."""
    found, own, filled = np.empty(-(-n_bytes // BLOCK), "<u4"), 0, 0
    k = 0
    for part in _body(arrays):
        at = 0
        while at < len(part):
            taken = part[at : at + BLOCK - filled]
            own, at, filled = zlib.crc32(taken, own), at + len(taken), filled + len(taken)
            if filled == BLOCK:
                found[k], k, own, filled = own, k + 1, 0, 0
    if filled:
        found[k] = own
    return found.tobytes()


def write(path: Any, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """Write a file whole, or leave what there was: it is made beside its place, and takes that when it is on disk."""
    place = path_of(path, "pass the path of a file to write")
    if place.exists() and not place.is_file():
        raise OSError(f"{place}: is a device or a pipe, which no file can take the place of; pass the path of a file")
    parts, place = list(_parts(header, arrays)), place.resolve()
    _sweep(place)
    unfinished, file = _begun(place)
    try:
        with file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
            if place.exists():
                unfinished.chmod(place.stat().st_mode & 0o777)
            if _IS_POSIX:  # while it is claimed
                unfinished.replace(place)
        if not _IS_POSIX:  # where a file that is open cannot be renamed
            unfinished.replace(place)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    _sync_folder(place.parent)


def _begun(place: Path) -> tuple[Path, IO[bytes]]:
    """Return a new unfinished file that is this process's own."""
    while True:
        unfinished = place.with_name(f".{place.name}.{secrets.token_hex(8)}{_UNFINISHED}")
        file = unfinished.open("xb")
        if _claim(file) is not False and unfinished.exists():
            return unfinished, file
        file.close()  # another process, which is sweeping, was here before it was claimed
        unfinished.unlink(missing_ok=True)


def _claim(file: IO[bytes]) -> bool | None:
    """Mark a file as one that is written, for as long as it is open; False where somebody has, None where none can."""
    try:
        import fcntl
    except ImportError:  # Windows, where nobody can remove a file that is open
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # some file systems cannot
        return None
    return True


def _sweep(place: Path) -> None:
    """Remove what was left of a file by processes that were killed while they wrote it."""
    for one in place.parent.iterdir():
        if one.name.startswith(f".{place.name}.") and one.name.endswith(_UNFINISHED):
            with suppress(OSError):
                if not _IS_POSIX:
                    one.unlink()
                    continue
                with one.open("rb") as file:
                    if _claim(file):
                        one.unlink()


def _sync_folder(folder: Path) -> None:
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows opens no folders
        return
    try:
        with suppress(OSError):  # some file systems cannot
            os.fsync(handle)
    finally:
        os.close(handle)
