"""Two columns cut along the borders of trees that test sums: polygons, in each of which rows go one way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.export.reading import UP_TO, Nodes, SumTerm, Test

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from dtnumba.export.reading import ReadTrees

_MOST_PIECES = 50_000
_LEAST = 1e-12  # of the area of all: what is smaller is a rounding


class Piece(NamedTuple):
    """A convex polygon, and the row that stands for what is not drawn, and for categories."""

    corners: NDArray[np.float64]  # (n, 2), one after another
    row: NDArray[np.float64]

    @property
    def area(self) -> float:
        """The area, by the formula of shoelaces."""
        x, y = self.corners.T
        return 0.5 * abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1)))

    def inside(self, columns: tuple[int, int]) -> NDArray[np.float64]:
        """Return a row in the middle of the polygon; where an axis shows levels, with the level."""
        row = self.row.copy()
        for at, j in enumerate(columns):
            if np.isnan(row[j]):
                row[j] = self.corners[:, at].mean()
        return row


def pieces_of(found: ReadTrees, columns: tuple[int, int], pieces: list[Piece]) -> list[Piece] | None:
    """Return pieces cut along all borders of trees; None where there are too many.

    In the row of a piece, the numbers of the two columns are NaN where the axis is one of numbers.
    """
    nodes, least = Nodes(found.trees), _LEAST * sum(piece.area for piece in pieces)
    for root in found.trees.root[:-1].tolist():
        waiting, pieces = [(root, piece) for piece in pieces], []
        while waiting:
            node, piece = waiting.pop()
            if nodes.is_leaf(node):
                pieces.append(piece)
                if len(pieces) > _MOST_PIECES:
                    return None
                continue
            test = nodes.test(node)
            parts = _divided(test, piece, columns)
            waiting += [(test.children[way], part) for way, part in parts if part.area > least]
    return pieces


def _divided(test: Test, piece: Piece, columns: tuple[int, int]) -> Iterator[tuple[int, Piece]]:
    """Yield the children of a node to which parts of a piece go, with the parts."""
    slope, rest, is_known = np.zeros(2), 0.0, False
    for column, weight, stand_in in test.terms or [SumTerm(test.feature, 1.0, np.nan)]:
        x = piece.row[column]
        if column in columns and np.isnan(x):
            slope[columns.index(column)] += weight
            is_known = True
        else:
            is_known |= x == x
            rest += weight * (x if x == x else stand_in)
    if slope.any():
        yield from _cut(piece, slope, test.threshold - rest)
        return
    if not is_known or rest != rest:
        yield (0 if test.absent is None else test.absent), piece
    elif test.kind == UP_TO:
        yield int(not rest <= test.threshold), piece
    else:
        yield int(rest not in test.entries), piece


def _cut(piece: Piece, slope: NDArray[np.float64], bound: float) -> Iterator[tuple[int, Piece]]:
    """Yield the part of a piece where slope times a point is not above a bound, and the part where it is."""
    gap = piece.corners @ slope - bound
    if not (gap > 0).any() or not (gap <= 0).any():
        yield int((gap > 0).any()), piece
        return
    sides: tuple[list[Any], list[Any]] = ([], [])
    n = len(gap)
    for k in range(n):
        after = (k + 1) % n
        sides[int(gap[k] > 0)].append(piece.corners[k])
        if (gap[k] > 0) != (gap[after] > 0):
            share = gap[k] / (gap[k] - gap[after])
            met = piece.corners[k] + share * (piece.corners[after] - piece.corners[k])
            sides[0].append(met)
            sides[1].append(met)
    for way, corners in enumerate(sides):
        if len(corners) > 2:
            yield way, piece._replace(corners=np.array(corners))
