# mypy: ignore-errors
"""Greedy k-decision lists (Rivest 1987): the term that answers most rows without an error comes next.

A term is an "and" of at most k tests of different columns. Each value of a row is kept as the number of its pair: the
group of values between two cuts, or of one level, and the class of the row. A pass over some rows that adds up pairs
tells what every test of a column covers, class by class, however many levels there are; nothing is as large as rows
times tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.rules.term_search import Terms, next_term
from dtnumba.rules.term_tests import column_tests
from dtnumba.runtime.progress import run_heeding

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.rules.layout import Condition
    from dtnumba.rules.simplify import Sample
    from dtnumba.rules.term_tests import ColumnTests


def terms_of(sample: Sample, tests: list[ColumnTests], most: int, least: float) -> Terms:
    """Return the rows of positive weight and the tests, and room for a search."""
    table, n_classes = sample.table, sample.n_classes
    kept: Any = slice(None) if sample.weight is None else np.flatnonzero(sample.weight)
    code = sample.code[kept].astype(np.int32)
    n = len(code)
    weight = np.zeros(0) if sample.weight is None else sample.weight[kept].astype(np.float64)
    pair = np.empty((len(tests), n), np.int32)
    classes, groups, group_starts = [], [], []
    for j, own in enumerate(tests):
        pair[j], found = _pairs(table.column(own.feature)[kept], own, code, n_classes)
        classes.append(found % n_classes)
        groups.append(found // n_classes)
        group_starts.append(np.searchsorted(found, np.arange(own.n_groups + 1) * n_classes))
    rows = np.empty((most + 1, n), np.int32)
    rows[0] = np.arange(n)
    n_tests = np.cumsum([0, *(own.n_tests for own in tests)]).astype(np.int64)
    return Terms(
        pair,
        np.concatenate(classes),
        np.concatenate(group_starts).astype(np.int64),
        np.cumsum([0, *map(len, classes)]).astype(np.int64),
        np.cumsum([0, *map(len, group_starts)]).astype(np.int64),
        n_tests,
        np.array([own.n_levels > 0 for own in tests], np.uint8),
        code,
        np.zeros(0) if (weight == 1.0).all() else weight,
        least,
        rows,
        np.full(most + 1, n, np.int64),
        np.zeros((most - 1, n_tests[-1])),
        np.concatenate(groups).astype(np.int32),
        np.zeros(max(own.n_groups for own in tests) + 1, np.int64),
        *(np.zeros(max(map(len, classes)) + 1) for _ in range(3)),
        np.zeros((2, n_classes)),
        np.zeros(most, np.int64),
        np.zeros(most, np.int64),
        np.zeros(2),
        np.zeros(1, np.int64),
    )


def _pairs(
    values: NDArray[np.float64], tests: ColumnTests, code: NDArray[np.int32], n_classes: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the number of each value's pair, and the pairs as group times classes plus class, ascending."""
    is_there = ~np.isnan(values)
    n_rows, kind = len(values), np.int32 if tests.n_groups * n_classes < 2**31 else np.int64
    values = values if is_there.all() else values[is_there]
    of_group = tests.groups(values).astype(kind, copy=False)
    of_group *= n_classes
    of_group += code[is_there]
    if tests.n_groups * n_classes <= 4 * n_rows:
        is_met = np.zeros(tests.n_groups * n_classes, bool)
        is_met[of_group] = True
        found, own = np.flatnonzero(is_met), (np.cumsum(is_met, dtype=np.int32) - 1)[of_group]
    else:
        found, own = np.unique(of_group, return_inverse=True)
    pair = np.full(n_rows, len(found), np.int32)
    pair[is_there] = own.reshape(-1)
    return pair, found.astype(np.int64)


def _found_next(terms: Terms) -> bool:
    """Look for the next term; Ctrl-C is heard meanwhile."""
    n_prefixes = int(terms.first_test[-1]) if len(terms.chosen) > 1 else 1
    found: list[bool] = []
    size = int(terms.n_rows[0]) * len(terms.is_category) * n_prefixes
    run_heeding(lambda _: found.append(next_term(terms)), size, terms.halt)
    return found[0]


class GreedyList(NamedTuple):
    """The terms of a decision list, and what each answers."""

    bodies: list[list[Condition]]
    label: NDArray[np.int64]
    default: int  # class of the rows that no term covers
    decided: NDArray[np.float64]  # (terms + 1, classes) weight of the rows that each answers; the default's last


def greedy_list(sample: Sample, most: int, least: float) -> GreedyList:
    """Return a decision list.

    The next term covers the most rows without an error. Where none covers ``least``, it is the one of the best Laplace
    estimate, as long as that is better than the estimate of the commonest class among the rows left.
    """
    whole, is_there = sample.rows.sizes, sample.rows.weight > 0
    tests = column_tests(sample.table, is_there, most)
    terms = terms_of(sample, tests, most, least)
    bodies: list[list[Condition]] = []
    decided: list[NDArray[np.float64]] = []
    while _found_next(terms):
        ends = [(int(t), int(np.searchsorted(terms.first_test, t, side="right")) - 1) for t in terms.best if t >= 0]
        bodies.append([tests[j].condition(t - int(terms.first_test[j])) for t, j in ends])
        decided.append(terms.sums[0].copy())
    rest = terms.sums[0].copy()
    answered = np.array([*decided, rest])
    default = int((rest if rest.any() else whole).argmax())
    return GreedyList(bodies, answered[:-1].argmax(axis=1), default, answered)
