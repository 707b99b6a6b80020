# mypy: ignore-errors
"""Whether a stream of losses has changed: adaptive windows (ADWIN, Bifet & Gavalda 2007).

A window holds the newest losses as sums over buckets, older ones over twice as many losses each. Where the means of an
older and a newer part differ by more than chance explains, the oldest bucket is dropped, as often as that is so.
"""

import math
from typing import NamedTuple

import numpy as np

from dtnumba.runtime.kernels import inline, outlined

_SIZES, _BUCKETS = 32, 6  # bucket sizes 1, 2, 4, ...; so many of one size, then two become one
_EVERY, _LEAST = 32, 5  # losses between two looks; fewest losses of a part
# Columns of Windows.total
N_LOSSES, SUM, SQUARES, TICKS = range(4)


class Windows(NamedTuple):
    """A window for each of some nodes."""

    total: np.ndarray  # (n, 4) float64: number, sum, squared distances from the mean, losses since the beginning
    n_buckets: np.ndarray  # (n, _SIZES) int32
    sums: np.ndarray  # (n, _SIZES, _BUCKETS, 2) float64: sum and squared distances, the oldest first

    @classmethod
    def new(cls, n):
        """Return n empty windows."""
        return cls(np.zeros((n, 4)), np.zeros((n, _SIZES), np.int32), np.zeros((n, _SIZES, _BUCKETS, 2)))


@outlined
def clear(windows, w):
    """Empty a window."""
    windows.total[w, :] = 0.0
    windows.n_buckets[w, :] = 0


@inline
def _drop(windows, w, size, k):
    """Remove the first k buckets of a size."""
    n = np.int64(windows.n_buckets[w, size]) - k
    for i in range(n):
        windows.sums[w, size, i, 0] = windows.sums[w, size, i + k, 0]
        windows.sums[w, size, i, 1] = windows.sums[w, size, i + k, 1]
    windows.n_buckets[w, size] = n


@outlined
def _enter(windows, w, loss):
    total = windows.total[w]
    if total[N_LOSSES] > 0.0:
        away = loss - total[SUM] / total[N_LOSSES]
        total[SQUARES] += total[N_LOSSES] * away * away / (total[N_LOSSES] + 1.0)
    total[N_LOSSES] += 1.0
    total[SUM] += loss
    n = windows.n_buckets[w, 0]
    windows.sums[w, 0, n, 0], windows.sums[w, 0, n, 1] = loss, 0.0
    windows.n_buckets[w, 0] = n + 1
    size, each = 0, 1.0
    while windows.n_buckets[w, size] == _BUCKETS and size + 1 < _SIZES:
        old, new = windows.sums[w, size, 0], windows.sums[w, size, 1]
        away = (old[0] - new[0]) / each
        n = windows.n_buckets[w, size + 1]
        windows.sums[w, size + 1, n, 0] = old[0] + new[0]
        windows.sums[w, size + 1, n, 1] = old[1] + new[1] + 0.5 * each * away * away
        windows.n_buckets[w, size + 1] = n + 1
        _drop(windows, w, size, 2)
        size, each = size + 1, 2.0 * each


@outlined
def _drop_oldest(windows, w):
    size = _SIZES - 1
    while windows.n_buckets[w, size] == 0:
        size -= 1
    total, each = windows.total[w], 2.0**size
    loss, squares = windows.sums[w, size, 0, 0], windows.sums[w, size, 0, 1]
    total[N_LOSSES] -= each
    total[SUM] -= loss
    if total[N_LOSSES] > 0.0:
        away = loss / each - total[SUM] / total[N_LOSSES]
        between = each * total[N_LOSSES] * away * away / (each + total[N_LOSSES])
        total[SQUARES] = max(total[SQUARES] - squares - between, 0.0)
    _drop(windows, w, size, 1)


@outlined
def _has_changed(windows, w, delta):
    """Tell whether an older and a newer part of a window differ."""
    total, n_old, old = windows.total[w], 0.0, 0.0
    if total[N_LOSSES] < 2.0 * _LEAST:
        return False
    chance = math.log(2.0 * math.log(total[N_LOSSES]) / delta)
    variance = total[SQUARES] / total[N_LOSSES]
    for size in range(_SIZES - 1, -1, -1):
        for i in range(windows.n_buckets[w, size]):
            n_old += 2.0**size
            old += windows.sums[w, size, i, 0]
            n_new = total[N_LOSSES] - n_old
            if n_old >= _LEAST and n_new >= _LEAST:
                m = 1.0 / (n_old - _LEAST + 1.0) + 1.0 / (n_new - _LEAST + 1.0)
                margin = math.sqrt(2.0 * m * variance * chance) + 2.0 / 3.0 * chance * m
                if abs(old / n_old - (total[SUM] - old) / n_new) > margin:
                    return True
    return False


@outlined
def see_loss(windows, w, loss, delta):
    """Enter a loss; return 1.0 where losses have risen since, -1.0 where they have fallen, 0.0 where neither."""
    _enter(windows, w, loss)
    total = windows.total[w]
    total[TICKS] += 1.0
    if np.int64(total[TICKS]) % _EVERY != 0 or total[N_LOSSES] < 2 * _EVERY:
        return 0.0
    before, changed = total[SUM] / total[N_LOSSES], False
    while _has_changed(windows, w, delta):
        _drop_oldest(windows, w)
        changed = True
    if not changed:
        return 0.0
    return 1.0 if total[SUM] / total[N_LOSSES] > before else -1.0
