"""Colours that people of any sight can tell apart (Okabe & Ito 2008), and tints of them that black text is read on."""

from __future__ import annotations

from colorsys import hsv_to_rgb
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SAFE = ("#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7", "#999999")
NUMBERS = np.array([0, 114, 178]) / 255.0  # the blue that large numbers are tinted with
_GOLDEN = (5.0**0.5 - 1.0) / 2.0  # of a circle of hues: none comes near an earlier one for long
_DEPTHS = ((0.75, 0.8), (0.45, 0.6), (0.55, 0.95), (0.9, 0.5))  # saturation and value
_PALEST, _FULLEST = 0.06, 0.62
GREY, DARK, LIGHT = "#808080", "#303030", "#D0D0D0"


def class_colours(k: int) -> NDArray[np.float64]:
    """Return red, green and blue of k classes; of more than eight, from the eighth on hues far from the one before."""
    safe = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in _SAFE]) / 255.0
    if k <= len(safe):
        return np.asarray(safe[:k])
    more = [hsv_to_rgb(j * _GOLDEN % 1.0, *_DEPTHS[j % len(_DEPTHS)]) for j in range(1, k - len(safe) + 2)]
    return np.concatenate([safe[:-1], np.array(more)])


def tint(colour: Any, strength: Any) -> NDArray[np.float64]:
    """Return colours mixed with white, by strengths from 0 to 1; the fullest still carries black text."""
    share = _PALEST + (_FULLEST - _PALEST) * np.clip(np.asarray(strength, np.float64), 0.0, 1.0)[..., None]
    return np.asarray(1.0 - share * (1.0 - np.asarray(colour)))


def tints_of_shares(shares: NDArray[np.float64], codes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return a colour a row of shares: of its class, fuller the larger the share of that is."""
    k = shares.shape[1]
    own = np.take_along_axis(shares, codes[:, None], 1)[:, 0]
    return tint(class_colours(k)[codes], (own * k - 1.0) / max(k - 1, 1) if k > 1 else np.ones(len(codes)))


def tints_of_numbers(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a colour a number: fuller the larger it is among them."""
    low, high = (values.min(), values.max()) if len(values) else (0.0, 0.0)
    return tint(NUMBERS, (values - low) / (high - low) if high > low else np.full(len(values), 0.3))
