"""Targets as integers, which add up exactly: one of 64 bits, or several where one would not tell small targets apart.

Targets are measured in a power of two, so fine that the sum over all rows just fits. With n rows, one integer resolves
2**-(60 - log2(n)) of the largest target. Where that is too coarse, because targets lie further apart than that, every
target is written in several integers (limbs), the coarsest first: to its last bit, or to 2**-400 of the largest one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dtnumba.tables.labels import row_blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.tables.weights import Weights

# Targets are too coarse where so small a share of the rows, and a few more, lie within so many units.
ROWS_A_CROWD, UNITS_A_CROWD = 4096, 2.0**16
_DEEPEST = 400  # bits below the largest target
_MOST_REPEATED = 1 << 31  # weights that sum to more are no repeated rows, and would leave few digits to the targets
_FAR = 4.0  # targets are measured from their middle where it is so many times as far from zero as they lie apart


class Moments(NamedTuple):
    """Weighted powers of the targets as integers that add up exactly."""

    moments: NDArray[np.int64]  # (n, n_outputs * n_moments * n_limbs)
    units: NDArray[np.float64]  # of each column
    centres: NDArray[np.float64]  # (n_outputs,) what powers are measured from
    distance: NDArray[np.float64]  # (n, n_outputs) from there
    n_limbs: int = 1


class _Weighted(NamedTuple):
    distance: NDArray[np.float64]
    weighted: NDArray[np.float64]  # distance times what weights are beside whole numbers
    multiplier: NDArray[np.int64] | None  # how often each row counts; None: once each
    most: int  # what the rows count together at most


def moments_of(y: NDArray[np.float64], weights: Weights, n_moments: int, *, centred: bool, most: int = 0) -> Moments:
    """Return the weighted targets, and with two moments their squares beside them, as one integer each."""
    centres = _middles(y[weights.kept]) if centred else np.zeros(y.shape[1])
    given = _weigh(y, centres, weights, most, repeated=weights.unit == 1.0)
    return _in_one(_powers(given, n_moments), given, centres)


def sums_of_numbers(
    y: NDArray[np.float64], weights: Weights, n_moments: int, *, centred: bool, most: int = 0
) -> Moments:
    """Return the same for growth: in several integers where one is too coarse, and from zero where zero is near."""
    centres = np.zeros(y.shape[1])
    if centred:
        kept = y[weights.kept]
        middles, apart = _middles(kept), kept.max(axis=0) - kept.min(axis=0)
        centres = np.where(np.abs(middles) > _FAR * apart, middles, 0.0)
    given = _weigh(y, centres, weights, most, repeated=weights.unit == 1.0 and weights.total <= _MOST_REPEATED)
    powers = _powers(given, n_moments)
    found = _in_one(powers, given, centres)
    units = found.units.reshape(-1, n_moments).T
    if any(_is_coarse(given, weights, power, unit) for power, unit in zip(powers, units, strict=True)):
        return _in_limbs(powers, given, centres)
    return found


def _weigh(
    y: NDArray[np.float64], centres: NDArray[np.float64], weights: Weights, most: int, *, repeated: bool
) -> _Weighted:
    """Measure targets from their centres; ``repeated``: a weight is how often the row counts, else it multiplies."""
    distance = y - centres
    if len(weights.kept) < len(y):
        distance[weights.integers == 0] = 0.0  # may be huge, and would make the unit of all others coarse
    weighted, multiplier = distance, None if weights.are_one else weights.integers
    if not repeated:
        weighted = distance * (weights.integers * weights.unit)[:, None]
        multiplier = (weights.integers > 0).astype(np.int64)
    return _Weighted(distance, weighted, multiplier, max(most, len(y) if multiplier is None else int(multiplier.sum())))


def _powers(given: _Weighted, n_moments: int) -> list[NDArray[np.float64]]:
    return [given.weighted] if n_moments == 1 else [given.weighted, given.weighted * given.distance]


def _in_one(powers: list[NDArray[np.float64]], given: _Weighted, centres: NDArray[np.float64]) -> Moments:
    fixed = [_fixed(power, given.multiplier, given.most) for power in powers]
    moments, units = fixed[0]
    if len(powers) == 2:
        moments = np.stack([moments, fixed[1][0]], axis=2).reshape(len(moments), -1)
        units = np.stack([units, fixed[1][1]], axis=1).ravel()
    return Moments(moments, units, centres, given.distance)


def _middles(y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a centre of every output: any value near the middle serves, so the range's, which no order changes."""
    low, high = y.min(axis=0), y.max(axis=0)
    # Rounded to a coarse power of two: whole numbers stay whole numbers after it is taken off.
    grain = np.exp2(np.floor(np.log2(np.where(high > low, high - low, 1.0))))
    return np.asarray(np.where(high > low, np.rint((low / 2 + high / 2) / grain) * grain, low))


def _exponents(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return of each column the power of two that all values are below."""
    return np.asarray(np.frexp(np.maximum(values.max(axis=0), -values.min(axis=0)))[1], np.int64)


def _fixed(
    values: NDArray[np.float64], multiplier: NDArray[np.int64] | None, most: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return multiplier * values as integers (None: one each), and the unit of each column.

    ``most`` is what the rows count together at most. A value is rounded before it is multiplied, so that a weight of
    two is exactly two rows. Sums stay below 2**61; units are powers of two, so exact to undo.
    """
    units = np.ldexp(1.0, np.maximum(_exponents(values) + most.bit_length() - 61, -1074))
    integers = np.empty(values.shape, np.int64)
    for block in row_blocks(len(values)):
        integers[block] = np.rint(values[block] / units)
        if multiplier is not None:
            integers[block] *= multiplier[block, None]
    return integers, units


def integers_in(distance: NDArray[np.float64], units: NDArray[np.float64], n_moments: int) -> NDArray[np.int64]:
    """Return the moments of rows that count once, as they stand beside those of others in these units."""
    powers = [distance] if n_moments == 1 else [distance, distance * distance]
    columns = np.stack(powers, axis=2).reshape(len(distance), n_moments * distance.shape[1])
    return np.rint(columns / units).astype(np.int64)


def _is_coarse(given: _Weighted, weights: Weights, power: NDArray[np.float64], units: NDArray[np.float64]) -> bool:
    """Tell whether many rows have different values that hardly differ in the units of their sums."""
    kept = weights.kept
    few, light, is_weighed = len(kept) // ROWS_A_CROWD, 1.0, given.weighted is not given.distance
    if is_weighed:
        light = float(np.partition(weights.integers[kept], few)[few]) * weights.unit
    for values, unit in zip(power.T, units, strict=True):
        if len(kept) < len(values):
            values = values[kept]
        if any((np.rint(values[block] / unit) * unit != values[block]).any() for block in row_blocks(len(values))):
            own = values / (weights.integers[kept] * weights.unit) if is_weighed else values
            if _crowd(own, few + 8, UNITS_A_CROWD * unit / light):
                return True
    return False


def _crowd(values: NDArray[np.float64], few: int, span: float) -> bool:
    """Tell whether more than ``few`` different values lie within a span."""
    values = np.sort(values)
    values = values[np.append(True, values[1:] > values[:-1])]
    return bool(len(values) > few and (values[few:] - values[:-few]).min() < span)


def _in_limbs(powers: list[NDArray[np.float64]], given: _Weighted, centres: NDArray[np.float64]) -> Moments:
    """Return the targets, and their squares, in as many integers as it takes to write them out."""
    n, bits = len(given.distance), 61 - given.most.bit_length()
    highest = [_exponents(power) + 1 for power in powers]  # a digit is at most half of what the next coarser one counts
    rest = [power.copy() for power in powers]
    limbs: list[list[NDArray[np.int64]]] = [[] for _ in powers]
    units: list[list[NDArray[np.float64]]] = [[] for _ in powers]
    n_limbs = 0
    while n_limbs * bits < _DEEPEST and (n_limbs == 0 or any(part.any() for part in rest)):
        n_limbs += 1
        for k, part in enumerate(rest):
            unit = np.ldexp(1.0, np.maximum(highest[k] - bits * n_limbs, -1074))
            digits = np.rint(part / unit)
            part -= digits * unit
            whole = digits.astype(np.int64)
            limbs[k].append(whole if given.multiplier is None else whole * given.multiplier[:, None])
            units[k].append(unit)
    # Of each output its moments, of each moment its limbs.
    moments = np.array(limbs).transpose(2, 3, 0, 1).reshape(n, -1)
    flat = np.array(units).transpose(2, 0, 1).ravel()
    return Moments(np.ascontiguousarray(moments), flat, centres, given.distance, n_limbs)
