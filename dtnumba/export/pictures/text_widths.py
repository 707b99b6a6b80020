"""How wide a text is in Helvetica, and in Arial and Liberation Sans, which are as wide; and the same cut short."""

from __future__ import annotations

import unicodedata

FAMILY = "Arial, Helvetica, 'Liberation Sans', sans-serif"
_ASCII = (  # of the signs 32 to 126, in thousandths of the size
    *(278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, *[556] * 10, 278, 278, 584),
    *(584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722),
    *(667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556),
    *(222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584),
)
_OTHERS = {"\u2026": 1000, "\u2264": 549, "\u2212": 584, "\u2068": 0, "\u2069": 0, "\u21b5": 1000}
_UNKNOWN, _WIDE = 800, 1050
_BOLD = 1.1


def width(text: str, size: float, *, bold: bool = False) -> float:
    """Return how wide a text is, no less than it is drawn where its signs are of the font."""
    total = sum(_of_sign(sign) for sign in text)
    return total * size / 1000 * (_BOLD if bold else 1.0)


def _of_sign(sign: str) -> int:
    code = ord(sign) - 32
    if 0 <= code < len(_ASCII):
        return _ASCII[code]
    if sign in _OTHERS:
        return _OTHERS[sign]
    if unicodedata.combining(sign):
        return 0
    return _WIDE if unicodedata.east_asian_width(sign) in {"W", "F"} else _UNKNOWN


def cut(text: str, room: float, size: float, *, bold: bool = False) -> str:
    """Return a text that is no wider than its room, with dots where it was cut."""
    if width(text, size, bold=bold) <= room:
        return text
    kept, total = [], width("\u2026", size, bold=bold)
    for sign in text:
        total += width(sign, size, bold=bold)
        if total > room:
            break
        kept.append(sign)
    shown = "".join(kept).rstrip()
    return shown + "\u2026" + "\u2069" * (shown.count("\u2068") - shown.count("\u2069"))


def needs_fixing(text: str) -> bool:
    """Tell whether a text has signs that another font draws, as wide as it likes."""
    return any(not " " <= sign <= "~" and sign not in _OTHERS for sign in text)
