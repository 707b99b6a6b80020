"""A tree and rows to rules: paths generalised, chosen by class, put in order (Quinlan 1993, C4.5rules; 1987)."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.rules.drop_tests import ExpectedErrors, Significant, WrittenRules, expected_error, generalised
from dtnumba.rules.layout import LEVELS, Condition, Rules, as_asked, holds, key_of, pack_rules
from dtnumba.rules.order import TrainingRows, by_class, default_class, without_harm
from dtnumba.rules.row_bits import deletions_of, row_bits, unpacked_rows
from dtnumba.rules.select_subset import covers_of, shortest_subsets
from dtnumba.tables.floats import BETWEEN_VALUES, AtFloats, Between
from dtnumba.trees.linear import AXIS_TESTS
from dtnumba.trees.with_sums import with_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.trees.linear import AxisTests, LinearTests


# Rules expected to err more often than this never answer (C4.5rules)
MOST_ERRORS = 0.7
LEVEL = 0.05
_HELD = 256  # columns, and sums of them, that are held at once


class Making(NamedTuple):
    """How rules are made of paths."""

    select: str | None  # "mdl", "chi2", "fisher" or None: the paths as they are
    confidence: float
    level: float | None  # of the test that a condition must pass; None: LEVEL where one is needed
    seed: int
    workers: int


class Sample(NamedTuple):
    """Rows with their classes."""

    table: Any  # Table, or TableWithSums
    code: NDArray[np.int64]
    weight: NDArray[np.float64] | None  # None where every row counts one
    n_classes: int

    @property
    def rows(self) -> TrainingRows:
        """The rows without their values."""
        weight = np.ones(len(self.code)) if self.weight is None else self.weight
        return TrainingRows(self.code, weight, self.n_classes)


def make_rules(
    paths: list[tuple[tuple[Condition, ...], int]],
    sample: Sample,
    making: Making,
    cuts_at: Between | AtFloats = BETWEEN_VALUES,
    linear: AxisTests | LinearTests = AXIS_TESTS,
) -> Rules:
    """Return rules for the paths of a tree and what their leaves say; ``cuts_at`` and ``linear`` as of Rules."""
    sample = sample._replace(table=with_sums(sample.table, linear))
    if making.select is not None:
        # A missing value fails every test
        paths = [(tuple(test._replace(missing=False) for test in body), k) for body, k in paths]
    numbers: dict[Condition, int] = {}
    named = ([numbers.setdefault(key_of(test), len(numbers)) for test in body] for body, _ in paths)
    bodies = [tuple(dict.fromkeys(body)) for body in named]
    label = np.array([k for _, k in paths], np.int64)
    tests = [test if test.low is not None else test._replace(low=np.nan) for test in numbers]
    asked = as_asked(tests, cuts_at, sample.table.bits)
    passed = row_bits(sample.table, asked, sample.code, sample.n_classes, sample.weight)
    if making.select is None:
        found, default = WrittenRules(bodies, label, np.zeros(len(label))), int(np.argmax(sample.rows.sizes))
    else:
        found, default = _simplified(bodies, label, tests, passed, sample, making)
    whole = [[tests[t] for t in body] for body in found.tests]
    return describe(whole, found.label, default, sample, making.confidence, cuts_at=cuts_at)._replace(linear=linear)


def _simplified(
    bodies: list[tuple[int, ...]],
    label: NDArray[np.int64],
    tests: list[Condition],
    bits: Any,
    sample: Sample,
    making: Making,
) -> tuple[WrittenRules, int]:
    """Return the rules that are left of paths, in order, and the default class."""
    rows = sample.rows
    sizes = rows.sizes
    default_error = (1.0 - (sizes + 1.0) / (sizes.sum() + 2.0))[label]
    level = LEVEL if making.level is None else making.level
    is_mdl = making.select == "mdl"
    deletion: ExpectedErrors | Significant = Significant(making.select == "fisher", level)
    if is_mdl:
        deletion = ExpectedErrors(making.confidence, making.level)
    bodies = generalised(bodies, label, bits, deletion, default_error, making.workers)
    first: dict[tuple[frozenset[int], int], int] = {}
    for r, (body, k) in enumerate(zip(bodies, label.tolist(), strict=True)):
        if body:
            first.setdefault((frozenset(body), k), r)
    order = np.array(list(first.values()), np.int64)
    found = WrittenRules([bodies[r] for r in order], label[order], np.zeros(len(order)))
    start, test = _flat(found.tests)
    counts = deletions_of(bits, start, test, found.label, making.workers)
    error = expected_error(counts.covered, counts.wrong, making.confidence, 1.0)
    is_good = counts.covered > 0
    if is_mdl:
        is_good &= (error < default_error[order]) & (error <= MOST_ERRORS)
    found = found._replace(error=error)
    certainty = (counts.covered - counts.wrong - 0.5) / np.maximum(counts.covered, 1e-300)
    by = np.lexsort((-certainty, found.label)) if is_mdl else np.argsort(-certainty, kind="stable")
    found = found.take(by[is_good[by]])
    covered = _rows_covered(found.tests, bits, len(sample.code))
    if is_mdl:
        costs = rule_bits(found.tests, tests, sample)
        covers = covers_of(covered, found.label, sample.code, rows.weight, sample.n_classes)
        kept = np.flatnonzero(shortest_subsets(covers, costs, making.seed, making.workers))
        order = kept[by_class([covered[r] for r in kept], found.label[kept], found.error[kept], rows)]
        found, covered = found.take(order), [covered[r] for r in order]
    default = default_class(covered, rows)
    left = without_harm(covered, found.label, default, rows, keeps_ties=is_mdl)
    return found.take(left), default


def _flat(bodies: list[tuple[int, ...]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    start = np.cumsum([0, *map(len, bodies)]).astype(np.int64)
    return start, np.array([t for body in bodies for t in body], np.int64)


def _rows_covered(bodies: list[tuple[int, ...]], bits: Any, n_rows: int) -> list[NDArray[np.int64]]:
    """Return the rows that each rule covers."""
    words = [np.bitwise_and.reduce(np.vstack([bits.rows[None], bits.tests[list(body)]]), axis=0) for body in bodies]
    return [np.flatnonzero(unpacked_rows(own[None], n_rows)[0]) for own in words]


def rule_bits(bodies: list[tuple[int, ...]], tests: list[Condition], sample: Sample) -> NDArray[np.float64]:
    """Return how many bits each rule takes: which columns, which values, in any order."""
    branch = _branch_bits(sample)
    share = branch / max(branch.sum(), 1e-300)
    column = float(-(share * np.log2(np.where(share > 0, share, 1.0))).sum())
    feature = np.array([test.feature for test in tests], np.int64)
    several = np.array([test.kind == LEVELS and len(test.levels) != 1 for test in tests], bool)
    n_levels = np.array([sample.table.n_levels(int(j)) for j in feature], np.float64)
    cost = column + np.where(several, n_levels, branch[feature])
    own = [float(cost[list(body)].sum()) for body in bodies]
    order = [math.log2(len(body)) - math.lgamma(len(body) + 1.0) / math.log(2.0) for body in bodies]
    return np.asarray(np.array(own) + np.array(order))


def _branch_bits(sample: Sample) -> NDArray[np.float64]:
    """Return how many bits say the value that a test of each column compares with."""
    table, weight = sample.table, sample.rows.weight
    found = np.zeros(table.n_features)
    for j in range(table.n_features):
        column = table.column(j)
        is_there = ~np.isnan(column) & (weight > 0)
        values, places = np.unique(column[is_there], return_inverse=True)
        if table.nominal is not None and table.nominal[j]:
            share = np.bincount(places.reshape(-1), weights=weight[is_there]) / weight.sum()
            found[j] = float(-(share * np.log2(share)).sum())
        elif len(values) > 1:
            found[j] = 1.0 + 0.5 * math.log2(len(values))
    return found


def describe(
    bodies: list[list[Condition]],
    label: NDArray[np.int64],
    default: int,
    sample: Sample,
    confidence: float,
    *,
    cuts_at: Between | AtFloats = BETWEEN_VALUES,
) -> Rules:
    """Return rules, in this order, with their coverage, confidence and lift on rows."""
    rows, n = sample.rows, len(sample.code)
    column = lru_cache(_HELD)(sample.table.column)
    covered, correct = np.zeros(len(bodies)), np.zeros(len(bodies))
    decided = np.zeros((len(bodies) + 1, sample.n_classes))
    is_open = np.ones(n, bool)
    for r, body in enumerate(bodies):
        is_in = np.ones(n, bool)
        for test in as_asked(body, cuts_at, sample.table.bits):
            is_in &= holds(test, column(test.feature))
        covered[r] = rows.weight[is_in].sum()
        correct[r] = rows.weight[is_in & (rows.code == label[r])].sum()
        answered = is_in & is_open
        decided[r] = np.bincount(rows.code[answered], weights=rows.weight[answered], minlength=sample.n_classes)
        is_open &= ~is_in
    decided[-1] = np.bincount(rows.code[is_open], weights=rows.weight[is_open], minlength=sample.n_classes)
    sizes = rows.sizes
    numbers = numbers_of(covered, correct, label, sizes / sizes.sum(), confidence)
    return pack_rules(bodies, label, default, {**numbers, "decided": decided}, cuts_at)


def numbers_of(
    covered: NDArray[np.float64],
    correct: NDArray[np.float64],
    label: NDArray[np.int64],
    prior: NDArray[np.float64],
    confidence: float,
) -> dict[str, Any]:
    """Return the columns of rules that follow from what they cover."""
    without = 1.0 - prior[label]
    # Estimates from less than a row may leave the range
    sure = (1.0 - expected_error(covered, covered - correct, confidence, without)).clip(0.0, 1.0)
    lift = sure / np.maximum(prior[label], 1e-300)
    return {"covered": covered, "correct": correct, "confidence": sure, "lift": lift, "prior": prior}
