"""Scratch of which every worker has its own part, and no two parts lie in one cache line.

A core that writes a number takes the whole line from the other cores, whoever uses the rest of it. With the workers'
numbers side by side, the second thread made 20 trees of 100k rows 1.35 (extremely randomized) to 1.7 times as fast;
apart, 1.85.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

_LINE = 64  # bytes
_APART = 128  # processors fetch lines in pairs
_LARGE = 1 << 16  # bytes; of such a part, hardly anyone writes the ends


def aligned(n: int, dtype: DTypeLike) -> np.ndarray[Any, Any]:
    """Allocate an array whose first item begins a cache line."""
    items = _LINE // np.dtype(dtype).itemsize
    room = np.empty(n + items, dtype)
    skipped = -(room.ctypes.data // room.itemsize) % items
    return room[skipped : skipped + n]


def per_worker(
    workers: int, shape: int | tuple[int, ...], dtype: DTypeLike = np.float64, fill: float | None = None
) -> np.ndarray[Any, Any]:
    """Allocate an array of this shape for every worker.

    Its shape is (workers, places, *shape): place 0 is the worker's, the others keep it away from the next worker's.
    """
    shape = shape if isinstance(shape, tuple) else (shape,)
    n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
    if n_bytes >= _LARGE or n_bytes == 0:
        make = np.zeros if fill == 0 else np.empty  # zeros that nobody touches cost nothing
        array: np.ndarray[Any, Any] = make((workers, 1, *shape), dtype)
    else:
        places = 1 + -(-_APART // n_bytes)
        array = aligned(workers * places * math.prod(shape), dtype).reshape(workers, places, *shape)
    if fill is not None and (fill != 0 or n_bytes < _LARGE):
        array[:] = fill
    return array
