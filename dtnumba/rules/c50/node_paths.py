"""The way to each node of a tree but the root, as C5.0 writes it: what a rule is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dtnumba.rules.layout import LEVELS, Condition, as_asked, both, holds
from dtnumba.rules.paths import test_of
from dtnumba.trees.layout import LEAF, last_children

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.tables.table import Table
    from dtnumba.trees.layout import Trees


class NodePath(NamedTuple):
    """The tests on the way to a node, and the class that most of its rows are of, or that costs least."""

    tests: tuple[Condition, ...]
    k: int


class Visit(NamedTuple):
    """A node that is waiting: its tests so far, and the rows that come to it, whole or in parts."""

    node: int
    tests: tuple[Condition, ...]
    rows: NDArray[np.int64]
    part: NDArray[np.float64]


def node_paths(
    trees: Trees,
    table: Table,
    codes: NDArray[np.int64],
    weight: NDArray[np.float64],
    n_classes: int,
    costs: NDArray[np.float64] | None = None,
) -> list[NodePath]:
    """Return the ways to all nodes but the root that rows come to, the nodes below a node before it.

    A test of categories says all that the ones above it of its column say, and lists those that its node has rows of.
    Tests of numbers stand as they are, above each other if need be.
    """
    last, found = last_children(trees), list[NodePath]()
    columns: dict[int, NDArray[np.float64]] = {}
    rows = np.flatnonzero(weight > 0)
    waiting: list[Visit | NodePath] = [Visit(0, (), rows, weight[rows])]
    while waiting:
        visit = waiting.pop()
        if isinstance(visit, NodePath):
            found.append(visit)
            continue
        if visit.tests:
            sizes = np.bincount(codes[visit.rows], visit.part, n_classes)
            tests = tuple(_narrowed(test, table, columns, visit.rows) for test in visit.tests)
            waiting.append(NodePath(tests, int(sizes.argmax() if costs is None else (sizes @ costs).argmin())))
        feature = int(trees.feature[visit.node])
        if feature == LEAF:
            continue
        if feature not in columns:
            columns[feature] = table.column(feature)
        x = columns[feature][visit.rows]
        children = range(int(trees.left[visit.node]), int(last[visit.node]) + 1)
        below = [rows_below(visit, child, trees, table, x) for child in children]
        waiting += [one for one in reversed(below) if len(one.rows)]
    return found


def _narrowed(
    test: Condition, table: Table, columns: dict[int, NDArray[np.float64]], rows: NDArray[np.int64]
) -> Condition:
    """Return a test of categories for those alone that some rows have."""
    if test.kind != LEVELS or len(test.levels) < 2:
        return test
    x = columns[test.feature][rows]
    there = np.bincount(x[~np.isnan(x)].astype(np.int64), minlength=table.n_levels(test.feature)) > 0
    return test._replace(levels=tuple(level for level in test.levels if there[level]))


def rows_below(visit: Visit, child: int, trees: Trees, table: Table, x: NDArray[np.float64]) -> Visit:
    """Return what goes on from a node to a child; ``x`` are the values that it tests."""
    test = test_of(trees, visit.node, child, table.n_levels)._replace(missing=False)
    passes = holds(as_asked([test], trees.cuts_at, table.bits)[0], x)
    part, share = visit.part, float(trees.share[child])
    if share > 0:
        is_gone = np.isnan(x)
        part = np.where(is_gone, part * share, part)
        passes |= is_gone
    tests = visit.tests
    if test.kind == LEVELS:
        for above in (one for one in tests if one.feature == test.feature):
            test = both(above, test) or test
        tests = tuple(one for one in tests if one.feature != test.feature)
    return Visit(child, (*tests, test), visit.rows[passes], part[passes])
