# mypy: ignore-errors
"""A random order of n things, computed place by place: no memory, and no place depends on another one being known.

A number below n is a place in a table of about sqrt(n) rows and columns. Its row moves on by what is drawn for its
column, then its column by what is drawn for its row, and so on: a Feistel network (Luby & Rackoff 1988), which permutes
the places of the table. A place beyond the last thing moves on until it meets one (Black & Rogaway 2002); there are
fewer of these than rows.
"""

import numpy as np

from dtnumba.runtime import rng
from dtnumba.runtime.kernels import inline

_ONE = np.uint64(1)
# Moves until all orders are as likely: few cells need many. Chi-squared tests of places and of pairs of places see
# nothing at 200,000 orders.
_FEW, _MANY_MOVES, _MOVES = 1024, 24, 6
_MOVE_SHIFT = np.uint64(40)  # moves draw apart from each other: tables have fewer rows than 2**40


@inline
def rows_of(n):
    """Return how many rows the table of n things has."""
    return np.uint64(np.ceil(np.sqrt(np.float64(max(n, 1)))))


@inline
def shuffled(key, i, n, n_rows):
    """Return the thing at place i of the order ``key`` of n things; ``n_rows`` is ``rows_of(n)``."""
    n_columns = (np.uint64(n) + n_rows - _ONE) // n_rows
    x, n_moves = np.uint64(i), _MANY_MOVES if n < _FEW else _MOVES
    while True:
        row = x // n_columns
        column = x - row * n_columns
        for move in range(0, n_moves, 2):
            row = _moved(row, n_rows, key, column, move)
            column = _moved(column, n_columns, key, row, move + 1)
        x = row * n_columns + column
        if x < np.uint64(n):
            break
    return np.int64(x)


@inline
def _moved(place, n, key, other, move):
    bits = rng.mix(key, other | (np.uint64(move) << _MOVE_SHIFT))
    place += np.uint64(rng.below(bits, n))
    return place - n if place >= n else place
