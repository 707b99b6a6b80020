"""Values as JSON and arrays: a closed set of kinds, each written and read here and nowhere else.

Numbers, text, None, lists and short dicts stand in the header. Arrays are named there. An object of the package is
``{"object": KIND, FIELD: ...}``, and ``objects`` knows its kind; no name in a file is ever imported or looked up
elsewhere. What is of no known kind is written as ``{"absent": WORDS}`` where it is a parameter, and refused elsewhere.
"""

from __future__ import annotations

import math
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.model_files.columns import coded, narrowed
from dtnumba.model_files.container import ModelFileError, is_count
from dtnumba.model_files.spelled import KINDS, STRINGS, of_pandas, read, spell, texts_of
from dtnumba.tables.floats import brief

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from dtnumba.model_files.container import Content

_PLAIN = re.compile(r"[<|][biufmMS]\d+(\[\d*(as|fs|ps|ns|us|ms|s|m|h|D|W|M|Y)\])?")
_SCALAR = re.compile(r"[<|][biuf][1248]")
_STORED = {"<f8", "<f4", "<f2", "<i8", "<i4", "<i2", "|i1", "<u8", "<u4", "<u2", "|u1"}
_ODD = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_KINDS = (
    "float", "tuple", "set", "frozenset", "dict", "bytes", "text", "number", "spelled", "interval", "array", "texts",
    "objects", "absent", "object",
)  # fmt: skip
_COPIED = 1 << 20  # bytes of an array up to which a loaded model has one of its own, which may be written to


class Absent:
    """A parameter that a model file names and does not hold, such as a function; a fit asks for it.

    Parameters
    ----------
    words : str
        What it was.

    """

    def __init__(self, words: str) -> None:
        self.words = words

    def __repr__(self) -> str:
        """Say what is not there."""
        return f"<not in the model file: {self.words}>"

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Raise, whatever it was called for."""
        raise ValueError(f"{self.words} was used when the model was fitted, and a model file does not hold it")


class NotStoredError(TypeError):
    """Raised inside, where a value is of no kind that a file holds."""


class Writer:
    """Values on their way into a file.

    Attributes
    ----------
    arrays : dict of str to array
        The arrays so far, by their names.

    """

    def __init__(self, dumps: dict[type, Any]) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}
        self._dumps = dumps

    def array(self, name: str, array: NDArray[Any]) -> str:
        """Store an array under a name that is free; return it."""
        free, n = name, 1
        while free in self.arrays:
            free, n = f"{name}.{n}", n + 1
        self.arrays[free] = array
        return free

    def column(self, name: str, column: NDArray[Any]) -> dict[str, Any]:
        """Store a column of numbers in its narrowest form."""
        narrow = narrowed(column)
        pair = coded(narrow) if len(narrow) else None
        if pair is None:
            return {"array": self.array(name, narrow)}
        return {"table": self.array(f"{name}.table", pair[0]), "codes": self.array(name, pair[1])}

    def parameter(self, name: str, value: Any) -> Any:
        """Return a parameter as JSON; by its name alone where no file holds what it is."""
        before = dict(self.arrays)
        try:
            return self.value(name, value)
        except NotStoredError as error:
            self.arrays = before
            return {"absent": str(error)}

    def value(self, name: str, value: Any) -> Any:
        """Return a value as JSON, its arrays stored under ``name``."""
        kind = type(value)
        if value is None or kind in {bool, int, str}:
            return value
        if kind is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if kind is list:
            return [self.value(name, one) for one in value]
        if kind is tuple:
            return {"tuple": [self.value(name, one) for one in value]}
        if kind in {set, frozenset}:
            listed = sorted(value, key=_place)  # the same bytes whatever the hashes are
            return {kind.__name__: [self.value(name, one) for one in listed]}
        if kind is bytes:
            return {"bytes": value.hex()}
        if kind is dict:
            return {"dict": [[self.value(name, key), self.value(name, one)] for key, one in value.items()]}
        if kind is np.ndarray:
            return self._array(name, value)
        if isinstance(value, np.str_):
            return {"text": str(value)}
        if isinstance(value, np.generic) and _SCALAR.fullmatch(value.dtype.str):
            return {"number": self.value(name, value.item()), "type": value.dtype.str}
        spelled = spell(value)
        if spelled is not None:
            return {"spelled": spelled, "as": kind.__name__}
        if kind.__name__ == "Interval" and kind.__module__.partition(".")[0] == "pandas":
            return {"interval": [self.value(name, end) for end in (value.left, value.right)], "closed": value.closed}
        if isinstance(value, Absent):
            raise NotStoredError(value.words)
        dump = self._dumps.get(kind)
        if dump is None:
            raise NotStoredError(_words(value))
        return dump(value, self, name)

    def _array(self, name: str, array: NDArray[Any]) -> Any:
        shape, dtype = list(array.shape), array.dtype
        spelled = texts_of(array)
        if spelled is not None:
            texts, kind = spelled
            parts = [text.encode("utf-8", "surrogatepass") for text in texts]
            ends = np.cumsum([len(part) for part in parts], dtype=np.int64)
            blob = np.frombuffer(b"".join(parts), np.uint8)
            width: int | None = dtype.itemsize // 4 if dtype.kind == "U" else None
            if width is not None and not _is_dense(width, len(parts), len(blob)):
                width = None  # one text is far longer than the others: read as objects
            stored: dict[str, Any] = {"texts": self.array(name, blob)} | ({"as": kind} if kind else {})
            stored |= {"ends": self.array(f"{name}.ends", narrowed(ends)), "shape": shape, "width": width}
            return stored | _order(dtype)
        if dtype.kind == "O":
            return {"objects": [self.value(name, one) for one in array.flat], "shape": shape}
        if dtype.kind == "T":
            raise NotStoredError(f"an array of dtype {dtype}")
        native = np.ascontiguousarray(array.astype(dtype.newbyteorder("<"), copy=False)).reshape(array.shape)
        if native.dtype.str in _STORED and array.ndim <= 4:
            return {"array": self.array(name, native)} | _order(dtype)
        if _PLAIN.fullmatch(native.dtype.str) and native.dtype.itemsize:
            raw = native.reshape(-1).view(np.uint8)
            return {"array": self.array(name, raw), "type": native.dtype.str, "shape": shape} | _order(dtype)
        raise NotStoredError(f"an array of dtype {dtype}")


def _order(dtype: np.dtype[Any]) -> dict[str, str]:
    """Return what the header says of numbers that have their highest byte first in memory."""
    return {"order": ">"} if dtype.byteorder == ">" else {}


def _is_dense(width: int, n_texts: int, n_bytes: int) -> bool:
    """Tell whether an array of texts of a width takes not many times what the texts do."""
    return 4 * width * n_texts <= 16 * n_bytes + (1 << 16)


def _place(member: Any) -> tuple[bool, Any]:
    """Return what sorts the members of a set: numbers by themselves, all others by how they are written."""
    is_number = isinstance(member, (int, float))
    return is_number, member if is_number else repr(member)


def _words(value: Any) -> str:
    kind = value if isinstance(value, type) or hasattr(value, "__qualname__") else type(value)
    name = f"{kind.__module__}.{kind.__qualname__}"
    return name if kind is value else f"{name}, {brief(value)}"


class Reader:
    """Values on their way out of a file; whatever is not as it is written raises ModelFileError.

    Parameters
    ----------
    content : Content
        The file.
    loads : dict of str to function
        How the objects of the package are made, by their kinds.

    """

    def __init__(self, content: Content, loads: dict[str, Any]) -> None:
        self.content, self._loads = content, loads

    def demand(self, holds: Any, what: str) -> None:
        """Raise where something does not hold of the file."""
        if not holds:
            raise self.content.wrong(what, "it was not written by save, or changed since")

    def parts(self, said: Any, dtype: Any, shape: tuple[int | None, ...]) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Return the rows of a column in its own type, and the codes of those that it has; None: as they stand."""
        self.demand(isinstance(said, dict), f"{brief(said)} does not describe a column")
        name, codes = said.get("codes", said.get("array")), None
        if "codes" in said:
            rows, codes = self.content.array(said.get("table")), self.content.array(name)
            self.demand(rows.ndim and codes.dtype.kind == "u" and codes.ndim == 1, "a column of codes has none")
            within = len(codes) == 0 or int(codes.max()) < len(rows)
            self.demand(within and len(rows) <= len(codes), f"array {name!r} has codes beyond its table")
        else:
            rows = self.content.array(name)
        found = rows.shape if codes is None else (len(codes), *rows.shape[1:])
        fits = len(found) == len(shape) and all(n in {None, k} for n, k in zip(shape, found, strict=True))
        self.demand(fits, f"array {name!r} has shape {found}, not {shape}")
        return rows.astype(dtype, copy=False), codes

    def column(self, said: Any, dtype: Any, shape: tuple[int | None, ...]) -> NDArray[Any]:
        """Return a column in its own type; None in ``shape`` is any length."""
        rows, codes = self.parts(said, dtype, shape)
        return rows if codes is None else rows[codes]

    def value(self, said: Any, depth: int = 0) -> Any:
        """Return a value."""
        self.demand(depth < 40, "a value is nested too deeply")
        if said is None or type(said) in {bool, int, float, str}:
            return said
        if type(said) is list:
            return [self.value(one, depth + 1) for one in said]
        for name in _KINDS:
            if name in said:
                return getattr(self, f"_{name}")(said, depth)
        raise self.content.wrong(f"its header holds a value of no known kind: {brief(said)}")

    def _float(self, said: Any, depth: int) -> float:
        self.demand(said["float"] in _ODD if isinstance(said["float"], str) else False, "a float is none")
        return _ODD[said["float"]]

    def _tuple(self, said: Any, depth: int) -> tuple[Any, ...]:
        self.demand(isinstance(said["tuple"], list), "a tuple is not listed")
        return tuple(self.value(one, depth + 1) for one in said["tuple"])

    def _set(self, said: Any, depth: int) -> set[Any]:
        return set(self._members(said["set"], depth))

    def _frozenset(self, said: Any, depth: int) -> frozenset[Any]:
        return frozenset(self._members(said["frozenset"], depth))

    def _members(self, listed: Any, depth: int) -> dict[Any, None]:
        self.demand(isinstance(listed, list), "a set is not listed")
        try:
            return dict.fromkeys(self.value(one, depth + 1) for one in listed)
        except TypeError as error:
            raise self.content.wrong(f"a set of its header has a member that cannot be one: {error}") from error

    def _bytes(self, said: Any, depth: int) -> bytes:
        text = said["bytes"]
        legal = isinstance(text, str) and re.fullmatch("(?:[0-9a-f]{2})*", text)
        self.demand(legal, "bytes are not spelled in pairs of hexadecimal digits")
        return bytes.fromhex(text)

    def _dict(self, said: Any, depth: int) -> dict[Any, Any]:
        pairs = said["dict"]
        listed = isinstance(pairs, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in pairs)
        self.demand(listed, "a dict is not listed")
        try:
            return {self.value(key, depth + 1): self.value(one, depth + 1) for key, one in pairs}
        except TypeError as error:
            raise self.content.wrong(f"a dict of its header has a key that cannot be one: {error}") from error

    def _text(self, said: Any, depth: int) -> np.str_:
        self.demand(isinstance(said["text"], str), "a text is none")
        return np.str_(said["text"])

    def _number(self, said: Any, depth: int) -> Any:
        value, kind = self.value(said["number"], depth + 1), said.get("type")
        legal = isinstance(kind, str) and _SCALAR.fullmatch(kind) and type(value) in {bool, int, float}
        self.demand(legal, "a number is not of a known type")
        try:
            return np.dtype(kind).type(value)
        except (ValueError, TypeError, OverflowError) as error:
            raise self.content.wrong(f"a number of its header is not of its type: {error}") from error

    def _spelled(self, said: Any, depth: int) -> Any:
        return self._read(said.get("as"), said["spelled"])

    def _read(self, kind: Any, text: Any) -> Any:
        self.demand(isinstance(text, str) and isinstance(kind, str) and kind in KINDS, "a value is of no known type")
        with self.objecting(f"{kind}s"):
            return read(kind, text)

    def _interval(self, said: Any, depth: int) -> Any:
        ends = said["interval"]
        self.demand(isinstance(ends, list) and len(ends) == 2, "an interval has no two ends")
        with self.objecting("intervals"):
            return of_pandas("Interval")(*(self.value(end, depth + 1) for end in ends), closed=said.get("closed"))

    def _ordered(self, said: Any, array: NDArray[Any]) -> NDArray[Any]:
        """Return an array in the order of bytes that it was in."""
        order = said.get("order", "<")
        self.demand(order in {"<", ">"} if isinstance(order, str) else False, "its bytes are in no known order")
        return array if order == "<" else array.astype(array.dtype.newbyteorder(order))

    def _shape(self, said: Any, n: int) -> tuple[int, ...]:
        shape = said.get("shape")
        legal = isinstance(shape, list) and len(shape) <= 8 and all(is_count(k) for k in shape)
        fits = legal and math.prod(shape) == n and max(shape, default=0) <= max(n, 1)
        self.demand(fits, "an array has no such shape")
        return tuple(shape)

    def _array(self, said: Any, depth: int) -> NDArray[Any]:
        array = self.content.array(said["array"])
        if "type" in said:
            kind = said["type"]
            legal = isinstance(kind, str) and _PLAIN.fullmatch(kind) and len(kind) < 20
            self.demand(legal, "an array is not of a known type")
            try:
                dtype = np.dtype(kind)
            except TypeError as error:
                raise self.content.wrong(f"an array is of an unknown type: {error}") from error
            self.demand(dtype.itemsize and array.nbytes % dtype.itemsize == 0, "an array is cut off")
            array = array.reshape(-1).view(dtype)
            array = array.reshape(self._shape(said, array.size))
        array = self._ordered(said, array)
        return array.copy() if array.nbytes <= _COPIED else array

    def _texts(self, said: Any, depth: int) -> NDArray[Any]:
        blob, ends = self.content.array(said["texts"]), self.content.array(said.get("ends"))
        legal: Any = blob.dtype == np.uint8 and blob.ndim == ends.ndim == 1 and ends.dtype.kind in "iu"
        ends = ends.astype(np.int64)
        legal = legal and (np.diff(ends, prepend=0) >= 0).all() and (len(ends) == 0 or ends[-1] == len(blob))
        self.demand(legal, "texts do not end where they should")
        shape, width = self._shape(said, len(ends)), said.get("width")
        raw, first = blob.tobytes(), 0
        legal = width is None or (is_count(width) and _is_dense(width, len(ends), len(blob)))
        self.demand(legal, "texts are shorter than they say")
        try:
            texts = []
            for end in ends.tolist():
                texts.append(raw[first:end].decode("utf-8", "surrogatepass"))
                first = end
        except UnicodeDecodeError as error:
            raise self.content.wrong(f"a text is not UTF-8: {error}") from error
        kind: Any = said.get("as")
        dtype: Any = object if width is None else f"<U{max(width, 1)}"
        if kind == STRINGS:
            self.demand(hasattr(np.dtypes, kind), "its texts are of NumPy's StringDType, which NumPy 2 has")
            dtype = np.dtypes.StringDType()
        array = np.empty(len(texts), dtype)
        array[:] = texts if kind in {None, STRINGS} else [self._read(kind, text) for text in texts]
        return self._ordered(said, array.reshape(shape)) if array.dtype.kind == "U" else array.reshape(shape)

    def _objects(self, said: Any, depth: int) -> NDArray[Any]:
        self.demand(isinstance(said["objects"], list), "an array of objects is not listed")
        values = [self.value(one, depth + 1) for one in said["objects"]]
        array = np.empty(len(values), object)
        for i, one in enumerate(values):
            array[i] = one
        return array.reshape(self._shape(said, len(values)))

    def _absent(self, said: Any, depth: int) -> Absent:
        self.demand(isinstance(said["absent"], str), "what is absent has no name")
        return Absent(said["absent"])

    def _object(self, said: Any, depth: int) -> Any:
        load = self._loads.get(said["object"]) if isinstance(said["object"], str) else None
        if load is None:
            raise self.content.wrong(f"its header holds an object of no known kind: {brief(said['object'])}")
        with self.objecting(str(said["object"])):
            return load(said, self)

    @contextmanager
    def objecting(self, what: str) -> Iterator[None]:
        """Turn what goes wrong where the file lies into an error that says so."""
        try:
            yield
        except ModelFileError:
            raise
        except MemoryError as error:
            raise self.content.wrong(f"its {what} take more memory than there is") from error
        except (ValueError, TypeError, KeyError, IndexError, OverflowError, AttributeError) as error:
            raise self.content.wrong(f"its {what} cannot be: {type(error).__name__}: {error}") from error
