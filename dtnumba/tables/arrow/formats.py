"""What the format string of an Arrow column says: what its values are, and how messages spell it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dtnumba.tables.columns import CATEGORY, NUMBER, OTHER

if TYPE_CHECKING:
    from dtnumba.tables.arrow.interface import CSchema


INTEGER, FLOAT, BOOLEAN, DECIMAL, NULLS = "integer", "float", "boolean", "decimal", "nulls"
TEXT_OF, DICTIONARY, MOMENT, NESTED = "text", "dictionary", "moment", "nested"

_NUMBERS = {
    "c": ("int8", "i1"), "C": ("uint8", "u1"), "s": ("int16", "i2"), "S": ("uint16", "u2"), "i": ("int32", "i4"),
    "I": ("uint32", "u4"), "l": ("int64", "i8"), "L": ("uint64", "u8"), "e": ("halffloat", "f2"),
    "f": ("float", "f4"), "g": ("double", "f8"),
}  # fmt: skip
_TEXTS = {
    "u": ("string", "i4"), "U": ("large_string", "i8"), "vu": ("string_view", ""), "z": ("binary", "i4"),
    "Z": ("large_binary", "i8"), "vz": ("binary_view", ""),
}  # fmt: skip
_UNITS = {"s": "s", "m": "ms", "u": "us", "n": "ns"}
_INTERVALS = {"tiM": "month_interval", "tiD": "day_time_interval", "tin": "month_day_nano_interval"}
_NESTED = {
    "+l": "list", "+L": "large_list", "+vl": "list_view", "+vL": "large_list_view", "+w": "fixed_size_list",
    "+s": "struct", "+m": "map", "+ud": "union", "+us": "union", "+r": "run_end_encoded",
}  # fmt: skip
_ORDERED = 1  # a flag of dictionaries


class ArrowType(NamedTuple):
    """The type of a column."""

    spelled: str  # as pyarrow spells it
    values: str  # one of the words above
    storage: str = ""  # NumPy's dtype of the numbers, of the offsets of texts (none: views), of moments
    detail: str = ""  # of moments: date, time, timestamp or duration; of text: bytes, or nothing
    unit: str = ""  # of moments, as NumPy spells it; of texts of one length, that length
    scale: int = 0  # of decimals
    zone: str = ""
    values_type: ArrowType | None = None  # of a dictionary
    is_ordered: bool = False

    @property
    def kind(self) -> str:
        """What it is if nobody says otherwise."""
        if self.values in {INTEGER, FLOAT, BOOLEAN, DECIMAL, NULLS}:
            return NUMBER
        is_text = self.values == TEXT_OF and not self.detail
        return CATEGORY if is_text or self.values == DICTIONARY else OTHER

    @property
    def bits(self) -> int:
        """Of its floats; 64 of other numbers."""
        return 8 * int(self.storage[1]) if self.values == FLOAT else 64

    @property
    def is_narrow(self) -> bool:
        """Whether float32 holds its numbers."""
        if self.values in {FLOAT, INTEGER}:
            return int(self.storage[1]) <= (4 if self.values == FLOAT else 2)
        return self.values == BOOLEAN


def type_of(schema: CSchema) -> ArrowType:
    """Return the type that a schema states; of a type unknown here, that it is nested, which nobody reads."""
    spelled = schema.format.decode()
    if schema.dictionary:
        values = type_of(schema.dictionary.contents)
        index, storage = _NUMBERS[spelled]
        is_ordered = bool(schema.flags & _ORDERED)
        shown = f"dictionary<values={values.spelled}, indices={index}, ordered={int(is_ordered)}>"
        return ArrowType(shown, DICTIONARY, storage, values_type=values, is_ordered=is_ordered)
    if spelled in _NUMBERS:
        name, storage = _NUMBERS[spelled]
        return ArrowType(name, FLOAT if storage[0] == "f" else INTEGER, storage)
    if spelled in _TEXTS:
        name, storage = _TEXTS[spelled]
        return ArrowType(name, TEXT_OF, storage, "bytes" if "z" in spelled.lower() else "")
    if spelled in {"n", "b"}:
        return ArrowType("null", NULLS) if spelled == "n" else ArrowType("bool", BOOLEAN)
    sign, _, rest = spelled.partition(":")
    if sign == "w":
        return ArrowType(f"fixed_size_binary[{rest}]", TEXT_OF, "fixed", "bytes", rest)
    if sign == "d":
        precision, scale, *bits = rest.split(",")
        width = bits[0] if bits else "128"
        return ArrowType(f"decimal{width}({precision}, {scale})", DECIMAL, f"i{int(width) // 8}", scale=int(scale))
    if sign in _INTERVALS:
        return ArrowType(_INTERVALS[sign], NESTED)
    if sign[:1] == "t":
        return _moment(sign, rest)
    parts = ", ".join(type_of(schema.children[i].contents).spelled for i in range(schema.n_children))
    return ArrowType(f"{_NESTED.get(sign, spelled)}<{parts}>" if parts else _NESTED.get(sign, spelled), NESTED)


def _moment(sign: str, zone: str) -> ArrowType:
    """Return the type of a date, a time of the day, a timestamp or a duration."""
    if sign in {"tdD", "tdm"}:
        name, unit, storage = ("date32[day]", "D", "i4") if sign == "tdD" else ("date64[ms]", "ms", "i8")
        return ArrowType(name, MOMENT, storage, "date", unit)
    unit = _UNITS[sign[2]]
    if sign[1] == "t":
        bits = 32 if unit in {"s", "ms"} else 64
        return ArrowType(f"time{bits}[{unit}]", MOMENT, f"i{bits // 8}", "time", unit)
    if sign[1] == "D":
        return ArrowType(f"duration[{unit}]", MOMENT, "i8", "duration", unit)
    name = f"timestamp[{unit}, tz={zone}]" if zone else f"timestamp[{unit}]"
    return ArrowType(name, MOMENT, "i8", "timestamp", unit, zone=zone)
