"""Tables of C: words of 32 bits, doubles of two of them, and what a source says of itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.export.reading import Columns

# Tables of more words are written as strings of bytes: gcc reads two million words as numbers in 4.3 s, and as a string
# in 0.6 s (2026-11-20). Smaller ones stay numbers, which every compiler takes; strings that long are beyond some.
MOST_NUMBERS = 1 << 15
_A_LINE = 32  # bytes of a string

REAL = """
static double real(uint32_t low, uint32_t high)
{
    union { uint64_t word; double number; } both;
    both.word = (uint64_t)high << 32 | low;
    return both.number;
}
"""
SINGLE = """
static double single(uint32_t word)
{
    union { uint32_t word; float number; } both;
    both.word = word;
    return both.number;
}
"""
_STRING = """
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define {name}(i) ({name}_words.words[i])
#else
#define {name}(i) ((uint32_t){name}_words.bytes[4 * (i)] | (uint32_t){name}_words.bytes[4 * (i) + 1] << 8 \\
    | (uint32_t){name}_words.bytes[4 * (i) + 2] << 16 | (uint32_t){name}_words.bytes[4 * (i) + 3] << 24)
#endif
"""
_OCTAL = np.array([f"\\{byte:03o}" for byte in range(256)], "S4")


def words(name: str, column: NDArray[np.uint32]) -> str:
    """Return a table and a macro that reads a word of it."""
    if len(column) <= MOST_NUMBERS:
        cells = ",".join(map(str, column.tolist()))
        lines = "\n".join(_wrapped(cells))
        return f"static const uint32_t {name}_words[] = {{\n{lines}}};\n#define {name}(i) ({name}_words[i])\n"
    text = _OCTAL[np.ascontiguousarray(column, "<u4").view(np.uint8)].tobytes().decode("ascii")
    step = 4 * _A_LINE * 4
    lines = '"\n"'.join(text[at : at + step] for at in range(0, len(text), step))
    head = f"static const union {{ unsigned char bytes[{4 * len(column) + 1}]; uint32_t words[{len(column)}]; }}"
    return f'{head} {name}_words = {{\n"{lines}"}};{_STRING.format(name=name)}'


def _wrapped(cells: str) -> list[str]:
    lines, at = [], 0
    while at < len(cells):
        stop = cells.find(",", at + 110) + 1 or len(cells)
        lines.append(cells[at:stop])
        at = stop
    return lines


def reals(name: str, numbers: NDArray[np.float64], *, single: bool = True) -> str:
    """Return a table of doubles and a macro that reads one; in single precision, if allowed, where that is exact."""
    numbers = np.ascontiguousarray(numbers, np.float64)
    with np.errstate(over="ignore"):
        narrow = numbers.astype(np.float32)
    if single and bool((narrow == numbers).all()):
        macro = f"#define {name}(i) single({name}_SINGLE(i))\n"
        return words(f"{name}_SINGLE", narrow.view(np.uint32)) + macro
    bits = numbers.view(np.uint64)
    pairs = np.stack([bits & np.uint64(0xFFFFFFFF), bits >> np.uint64(32)], axis=1).astype(np.uint32)
    macro = f"#define {name}(i) real({name}_PAIRS(2 * (i)), {name}_PAIRS(2 * (i) + 1))\n"
    return words(f"{name}_PAIRS", pairs.reshape(-1)) + macro


def comment(columns: Columns) -> str:
    """Return what the source says of itself: the columns in their order, categories and classes."""
    lines = ["Written by dtnumba. A row is an array of doubles, NaN where a value is missing:"]
    for j, (name, levels) in enumerate(zip(columns.names, columns.levels, strict=True)):
        shown = "" if levels is None else f": {_listed(levels)}, anything else NaN"
        lines.append(f"  [{j}] {_shown(name)}{shown}")
    if columns.classes is None:
        lines.append(f"An answer is {columns.width} number{'s' * (columns.width > 1)}.")
    else:
        for o, classes in enumerate(columns.classes):
            lines.append(f"Classes{f' of output {o}' if len(columns.classes) > 1 else ''}: {_listed(classes)}")
    return "/* " + "\n   ".join(lines) + "\n*/\n"


def _listed(values: list[Any]) -> str:
    return ", ".join(f"{k} = {_shown(value)}" for k, value in enumerate(values))


def _shown(value: Any) -> str:
    text = json.dumps(value if isinstance(value, (str, int, float)) else str(value))
    return text.replace("*/", "*\\/").replace("??", "?\\?")
