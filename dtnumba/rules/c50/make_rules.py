"""A tree of C5.0 and rows to rules: paths of its nodes made shorter, and a set of them that says the classes best."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.rules.c50.node_paths import node_paths
from dtnumba.rules.c50.shorter_paths import order_bits, shorter_paths
from dtnumba.rules.c50.shortest_set import CoverLists, Scored, by_use, covers_of, shortest_set
from dtnumba.rules.layout import LEVELS, Condition, Rules, as_asked, key_of, pack_rules
from dtnumba.rules.row_bits import row_bits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.tables.table import Table
    from dtnumba.trees.layout import Trees

_LEAST_LIFT = 0.95
_HAIR = 1e-7  # sums of weights are compared with so much play
THOUSAND = 1000  # parts of a vote


class RuleRows(NamedTuple):
    """Rows that any number of rule sets are made for."""

    table: Table
    codes: NDArray[np.int64]
    n_classes: int
    value_bits: NDArray[np.float64]  # of each column: bits that tell the value that a test compares with
    column_bits: float  # bits that name a column
    is_nominal: NDArray[np.bool_]


def rule_rows(
    table: Table,
    codes: NDArray[np.int64],
    cases: NDArray[np.float64],
    n_classes: int,
    is_nominal: NDArray[np.bool_],
) -> RuleRows:
    """Return rows, each of so many cases, with the bits of their columns."""
    bits, counts_all = np.zeros(table.n_features), bool((cases == 1.0).all())
    for j in range(table.n_features):
        column = table.column(j)
        known = ~np.isnan(column) & (cases > 0)
        if table.n_levels(j):
            count = np.bincount(column[known].astype(np.int64), None if counts_all else cases[known])
            share = count[count > 0] / max(count.sum(), 1e-300)
            bits[j] = -(share * np.log2(share)).sum()
        else:
            n_values = len(np.unique(column[known]))
            bits[j] = 1.0 + 0.5 * np.log2(n_values) if n_values > 1 else 0.0
    share = bits[bits > 0] / max(bits.sum(), 1e-300)
    return RuleRows(table, codes, n_classes, bits, float(-(share * np.log2(share)).sum()), is_nominal)


def votes_of(covered: Any, correct: Any) -> NDArray[np.int64]:
    """Return what rules count, in thousandths: how often they are expected to be right."""
    share = (np.asarray(correct, np.float64) + 1.0) / (np.asarray(covered, np.float64) + 2.0)
    return np.asarray(np.floor(THOUSAND * share + 0.5), np.int64)


class Weighed(NamedTuple):
    """What rows weigh, by their costs, while it is chosen which rules are kept, and what they count."""

    chosen: NDArray[np.float64]
    counted: NDArray[np.float64]
    min_cases: float  # that a rule must win among the chosen ones
    costs: NDArray[np.float64] | None = None  # of calling a row of a class (row) another (column)


class _Set(NamedTuple):
    """Rules of numbered tests."""

    bodies: list[list[int]]
    label: NDArray[np.int64]
    covers: CoverLists

    def take(self, order: NDArray[np.int64], tests: NDArray[np.uint64], n_rows: int) -> _Set:
        """Return some of the rules, in this order."""
        bodies = [self.bodies[r] for r in order]
        return _Set(bodies, self.label[order], covers_of(tests, bodies, n_rows))


def make_rules(
    rows: RuleRows, trees: Trees, wrong: float, weighed: Weighed, workers: int, *, by_utility: bool
) -> Rules:
    """Return the rules of a tree that gets rows of so much weight wrong.

    They stand by class and vote, or with the most useful first.
    """
    weight, k, table = weighed.counted, rows.n_classes, rows.table
    paths = node_paths(trees, table, rows.codes, weight, k, weighed.costs)
    numbers: dict[Condition, int] = {}
    named = ([numbers.setdefault(key_of(test), len(numbers)) for test in path.tests] for path in paths)
    bodies = [tuple(dict.fromkeys(body)) for body in named]
    label = np.array([path.k for path in paths], np.int64)
    tests = [test if test.low is not None else test._replace(low=np.nan) for test in numbers]
    is_one = bool((weight == 1.0).all())
    bits = row_bits(table, as_asked(tests, trees.cuts_at, table.bits), rows.codes, k, None if is_one else weight)
    sizes = np.bincount(rows.codes, weight, k).astype(np.float64)
    value_bits = np.array([_value_bits(test, rows) for test in tests])
    shorter = shorter_paths(bodies, label, bits, value_bits, sizes, workers)
    right = shorter.covered - shorter.wrong
    is_good = (right + 1.0) / (shorter.covered + 2.0) >= _LEAST_LIFT * sizes[label] / sizes.sum()
    first: dict[tuple[int, frozenset[int]], int] = {}
    for r, body in enumerate(shorter.bodies):
        if body and is_good[r]:
            first.setdefault((int(label[r]), frozenset(body)), r)
    kept = np.array(list(first.values()), np.int64)
    found = _Set(shorter.bodies, label, covers_of(bits.tests, [], table.n_rows)).take(kept, bits.tests, table.n_rows)
    own_bits = np.array([_rule_bits(body, value_bits, rows.column_bits) for body in found.bodies])
    vote = votes_of(shorter.covered[kept], right[kept])
    rate = max(wrong + k - 1.0, 1e-9) / (sizes.sum() + k)  # of one class there are no errors
    scored = Scored(found.label, vote, own_bits, rows.codes, weighed.chosen, k, rate, weighed.min_cases)
    kept = np.flatnonzero(shortest_set(found.covers, scored))
    found = found.take(kept, bits.tests, table.n_rows)
    if by_utility:
        order = by_use(found.covers, scored._replace(label=found.label, vote=vote[kept], bits=own_bits[kept]))
        found = found.take(order, bits.tests, table.n_rows)
    return _described(found, tests, bits.tests, rows, weighed, trees.cuts_at, keeps_order=by_utility)


def _described(
    found: _Set,
    tests: list[Condition],
    passed: NDArray[np.uint64],
    rows: RuleRows,
    weighed: Weighed,
    cuts_at: Any,
    *,
    keeps_order: bool,
) -> Rules:
    """Return rules as arrays: what they cover and count, and the class of rows that none covers.

    That is the most frequent class, unless another one has clearly more of these rows.
    """
    n, k, codes = rows.table.n_rows, rows.n_classes, rows.codes
    own = [found.covers.row[a:b] for a, b in pairwise(found.covers.row_start)]
    covered = np.array([weighed.counted[row].sum() for row in own])
    correct = np.array([weighed.counted[row[codes[row] == c]].sum() for row, c in zip(own, found.label, strict=True)])
    if not keeps_order:
        order = np.lexsort((-votes_of(covered, correct), found.label))
        found, own = found.take(order, passed, n), [own[r] for r in order]
        covered, correct = covered[order], correct[order]
    is_open, decided = np.ones(n, bool), np.zeros((len(own) + 1, k))
    for r, row in enumerate(own):
        row = row[is_open[row]]
        decided[r] = np.bincount(codes[row], weighed.counted[row], k)
        is_open[row] = False
    decided[-1] = np.bincount(codes[is_open], weighed.counted[is_open], k)
    left, sizes = (np.bincount(codes[where], weighed.chosen[where], k) for where in (is_open, slice(None)))
    prior = np.bincount(codes, weighed.counted, k) / weighed.counted.sum()
    sure = (correct + 1.0) / (covered + 2.0)
    lift = sure / np.maximum(prior[found.label], 1e-300)
    numbers = {"covered": covered, "correct": correct, "confidence": sure, "lift": lift, "decided": decided}
    bodies = [[tests[t] for t in body] for body in found.bodies]
    default, best = int(sizes.argmax()), int(left.argmax())
    if left[best] - left[default] >= weighed.min_cases - _HAIR:
        default = best
    return pack_rules(bodies, found.label, default, {**numbers, "prior": prior}, cuts_at)


def _value_bits(test: Condition, rows: RuleRows) -> float:
    """Return the bits that tell the value, or the values, that a test compares with."""
    if test.kind == LEVELS and len(test.levels) > 1 and rows.is_nominal[test.feature]:
        return float(len(test.levels))
    return float(rows.value_bits[test.feature])


def _rule_bits(body: list[int], value_bits: NDArray[np.float64], column_bits: float) -> float:
    return float(value_bits[body].sum() + column_bits * len(body) + order_bits([len(body)])[0])
