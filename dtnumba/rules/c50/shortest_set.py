# mypy: ignore-errors
# ruff: noqa: D102
"""Which rules to keep: those that, with the classes they get wrong, take the fewest bits, as C5.0 looks for them.

The search begins with the best rules of each class that win more rows than they lose, and adds or drops the one rule
that shortens the code most until none does. What every such step would change is kept up to date: a step looks at the
rows of its rule, and at the other rules of these rows.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dtnumba.criteria.special_functions import log_gamma
from dtnumba.rules.c50.shorter_paths import THEORY
from dtnumba.runtime.instructions.bits import bit_count, lowest_bit
from dtnumba.runtime.kernels import inline, kernel_type
from dtnumba.runtime.progress import launch_heeding

_BITS = 64
_ONE, _ZERO = np.uint64(1), np.uint64(0)
_GAIN = 1e-9  # bits that a step must save
_MORE = 1e-9  # weight
_STEPS_A_ROW = 20  # about how often a search looks at a row of a rule
CHOOSE, RANK = 0, 1


@kernel_type
class CoveredRows(NamedTuple):
    """Write the rows that each rule covers, and the rules that cover each row; count them where ``row`` is empty."""

    tests: np.ndarray  # (t, words) uint64: rows that pass each test
    start: np.ndarray  # (r + 1,) int64
    test: np.ndarray  # int64
    row_start: np.ndarray  # (r + 1,) int64 in, or out: [r + 1] counts the rows of rule r
    row: np.ndarray  # int32 out
    rule_start: np.ndarray  # (n + 1,) int64 out
    rule: np.ndarray  # int32 out

    def run(self, worker):
        counts = len(self.row) == 0
        n_words = self.tests.shape[1]
        for r in range(len(self.start) - 1):
            at = self.row_start[r]
            for w in range(n_words):
                word = self.tests[self.test[self.start[r]], w]
                for t in range(self.start[r] + 1, self.start[r + 1]):
                    word &= self.tests[self.test[t], w]
                if counts:
                    self.row_start[r + 1] += np.int64(bit_count(word))
                    continue
                while word != _ZERO:
                    row = w * _BITS + np.int64(lowest_bit(word))
                    self.row[at] = row
                    self.rule_start[row + 1] += 1
                    at += 1
                    word &= word - _ONE
        if counts:
            return
        for i in range(len(self.rule_start) - 1):
            self.rule_start[i + 1] += self.rule_start[i]
        for r in range(len(self.start) - 2, -1, -1):  # the last first, so that the rules of a row ascend
            for i in range(self.row_start[r], self.row_start[r + 1]):
                row = self.row[i] + 1
                self.rule_start[row] -= 1
                self.rule[self.rule_start[row]] = r
        for i in range(len(self.rule_start) - 1):  # [i + 1] is where row i begins
            self.rule_start[i] = self.rule_start[i + 1]
        self.rule_start[len(self.rule_start) - 1] = len(self.rule)


class CoverLists(NamedTuple):
    """Which rows each rule covers, and which rules cover each row."""

    row_start: np.ndarray  # (r + 1,) int64
    row: np.ndarray  # int32
    rule_start: np.ndarray  # (n + 1,) int64
    rule: np.ndarray  # int32


def covers_of(tests: np.ndarray, bodies: list[Any], n_rows: int) -> CoverLists:
    """Return the CoverLists of rules of these tests; a row of ``tests`` tells which rows pass one of them."""
    start = np.cumsum([0, *map(len, bodies)]).astype(np.int64)
    test = np.array([t for body in bodies for t in body], np.int64)
    row_start, none = np.zeros(len(bodies) + 1, np.int64), np.zeros(0, np.int32)
    size = len(test) * tests.shape[1]
    counting = CoveredRows(tests, start, test, row_start, none, np.zeros(n_rows + 1, np.int64), none)
    launch_heeding(counting, 1, size)
    row_start = np.cumsum(row_start)
    row, rule = np.empty(row_start[-1], np.int32), np.empty(row_start[-1], np.int32)
    task = counting._replace(row_start=row_start, row=row, rule=rule)
    if len(row):
        launch_heeding(task, 1, size + len(row))
    return CoverLists(row_start, row, task.rule_start, rule)


class Search(NamedTuple):
    """What the search reads of the rules, the rows and the code, and what it keeps up to date."""

    label: np.ndarray  # (r,) int32
    vote: np.ndarray  # (r,) int64
    bits: np.ndarray  # (r,) float64
    by_vote: np.ndarray  # (r,) int64: rules by class, those of the largest votes first
    code: np.ndarray  # (n,) int32: class of each row
    weight: np.ndarray  # (n,) float64
    log_factorial: np.ndarray  # (r + 1,) float64, base 2
    cost: np.ndarray  # (2,) float64: bits of a row that is wrong, and of one that is right
    least_net: float  # weight by which a rule must win more than it loses to be in the first set
    inside: np.ndarray  # (r,) uint8 in/out
    change: np.ndarray  # (r,) float64: of the weight that is wrong, by the step of each rule
    votes: np.ndarray  # (n, classes) int64
    best: (
        np.ndarray
    )  # (n, 2) int32: the classes of the most votes and of the second most; the second -1 if there is one
    is_open: np.ndarray  # (n,) uint8 scratch
    wrong: np.ndarray  # (1,) float64: weight of the rows that are wrong
    order: np.ndarray  # (r,) int64 out: rules by use, the least useful first


@inline
def _rank_classes(search, row):
    """Write which two classes have the most votes of a row, the first of equal ones before."""
    first, second = 0, -1
    for k in range(1, search.votes.shape[1]):
        if search.votes[row, k] > search.votes[row, first]:
            first, second = k, first
        elif second < 0 or search.votes[row, k] > search.votes[row, second]:
            second = k
    search.best[row, 0], search.best[row, 1] = first, second


@inline
def _is_right(search, row, k, own, other):
    """Return whether a row is labelled rightly when class k has so many votes, and the best other class is given."""
    rival = search.votes[row, other] if other >= 0 else -1
    if own > rival or (own == rival and k < other):
        return own > 0 and search.code[row] == k
    return rival > 0 and search.code[row] == other


@inline
def _add_changes(covers, search, row, sign):
    """Add to ``change`` of all rules of a row what their steps mean for it."""
    first, second = search.best[row, 0], search.best[row, 1]
    is_right = _is_right(search, row, first, search.votes[row, first], second)
    w = sign * search.weight[row]
    for i in range(covers.rule_start[row], covers.rule_start[row + 1]):
        r = covers.rule[i]
        k = search.label[r]
        own = search.votes[row, k] + (-search.vote[r] if search.inside[r] != 0 else search.vote[r])
        then = _is_right(search, row, k, own, second if k == first else first)
        if then != is_right:
            search.change[r] += -w if then else w


@inline
def _take_step(covers, search, r):
    """Put a rule into the set, or take it out."""
    for i in range(covers.row_start[r], covers.row_start[r + 1]):
        _add_changes(covers, search, covers.row[i], -1.0)
    step = search.vote[r] if search.inside[r] == 0 else -search.vote[r]
    search.inside[r] = 1 - search.inside[r]
    for i in range(covers.row_start[r], covers.row_start[r + 1]):
        row = covers.row[i]
        search.votes[row, search.label[r]] += step
        _rank_classes(search, row)
        _add_changes(covers, search, row, 1.0)


@inline
def _first_set(covers, search):
    """Put into the set, of each class, the rules of the best votes that win enough of the rows that are left."""
    label = -1
    for i in range(len(search.by_vote)):
        r = search.by_vote[i]
        if search.label[r] != label:
            label = search.label[r]
            search.is_open[:] = 1
        net = 0.0
        for j in range(covers.row_start[r], covers.row_start[r + 1]):
            row = covers.row[j]
            if search.is_open[row] != 0:
                net += search.weight[row] if search.code[row] == label else -search.weight[row]
        if net > search.least_net + _MORE:
            search.inside[r] = 1
            for j in range(covers.row_start[r], covers.row_start[r + 1]):
                search.is_open[covers.row[j]] = 0


@inline
def _begin(covers, search):
    """Count the votes of the rules that are in the set, and what every step would change."""
    for r in range(len(search.label)):
        search.change[r] = 0.0
        if search.inside[r] != 0:
            for i in range(covers.row_start[r], covers.row_start[r + 1]):
                search.votes[covers.row[i], search.label[r]] += search.vote[r]
    search.wrong[0] = 0.0
    for row in range(len(search.code)):
        _rank_classes(search, row)
        first, second = search.best[row, 0], search.best[row, 1]
        if not _is_right(search, row, first, search.votes[row, first], second):
            search.wrong[0] += search.weight[row]
        _add_changes(covers, search, row, 1.0)


@inline
def _code_length(search, total, bits, n_rules, wrong):
    """Return the bits of a set of rules and of the classes of all rows."""
    theory = max(0.0, bits - search.log_factorial[n_rules])
    return THEORY * theory + wrong * search.cost[0] + (total - wrong) * search.cost[1]


@inline
def _choose(covers, search):
    """Take the step that shortens the code most until none does."""
    total, bits, n_rules = 0.0, 0.0, 0
    for row in range(len(search.code)):
        total += search.weight[row]
    for r in range(len(search.label)):
        if search.inside[r] != 0:
            bits += search.bits[r]
            n_rules += 1
    step = 0
    while step >= 0:
        least, step = _code_length(search, total, bits, n_rules, search.wrong[0]) - _GAIN, -1
        for r in range(len(search.label)):
            sign = -1 if search.inside[r] != 0 else 1
            wrong = search.wrong[0] + search.change[r]
            length = _code_length(search, total, bits + sign * search.bits[r], n_rules + sign, wrong)
            if length < least:
                least, step = length, r
        if step >= 0:
            sign = -1 if search.inside[step] != 0 else 1
            bits += sign * search.bits[step]
            n_rules += sign
            search.wrong[0] += search.change[step]
            _take_step(covers, search, step)


@inline
def _rank(covers, search):
    """Take out, again and again, the rule whose going makes the fewest rows wrong; of equal ones that of least vote."""
    for place in range(len(search.label)):
        worst = -1
        for r in range(len(search.label)):
            if search.inside[r] == 0:
                continue
            more = search.change[r] - search.change[worst] if worst >= 0 else -1.0
            if more < -_MORE or (more <= _MORE and search.vote[r] < search.vote[worst]):
                worst = r
        search.order[place] = worst
        search.wrong[0] += search.change[worst]
        _take_step(covers, search, worst)


@kernel_type
class SearchRules(NamedTuple):
    """Choose the rules of a set, or rank those of one."""

    covers: CoverLists
    search: Search
    what: int  # CHOOSE or RANK

    def run(self, worker):
        if self.what == CHOOSE:
            _first_set(self.covers, self.search)
        _begin(self.covers, self.search)
        if self.what == CHOOSE:
            _choose(self.covers, self.search)
        else:
            _rank(self.covers, self.search)


class Scored(NamedTuple):
    """Rules and the rows that they are to label."""

    label: np.ndarray  # (r,) int64
    vote: np.ndarray  # (r,) int64
    bits: np.ndarray  # (r,) float64
    codes: np.ndarray  # (n,) int64
    weight: np.ndarray  # (n,) float64
    n_classes: int
    error_rate: float  # of the tree
    least_net: float


def searched(covers: CoverLists, scored: Scored, inside: np.ndarray, what: int) -> Search:
    """Return the state in which a search ends."""
    n, r, k = len(scored.codes), len(scored.label), scored.n_classes
    others = math.log2(k - 1) if k > 2 else 0.0
    cost = np.array([others - math.log2(scored.error_rate), -math.log2(1.0 - scored.error_rate)])
    label = scored.label.astype(np.int32)
    by_vote = np.lexsort((-scored.vote, scored.label)).astype(np.int64)
    read = label, scored.vote, scored.bits, by_vote, scored.codes.astype(np.int32), scored.weight
    log_factorial = log_gamma(np.arange(r + 1) + 1.0) / math.log(2.0)
    kept = inside.astype(np.uint8), np.zeros(r), np.zeros((n, k), np.int64), np.zeros((n, 2), np.int32)
    scratch = np.zeros(n, np.uint8), np.zeros(1), np.zeros(r, np.int64)
    search = Search(*read, log_factorial, cost, float(scored.least_net), *kept, *scratch)
    if r:
        launch_heeding(SearchRules(covers, search, what), 1, _STEPS_A_ROW * len(covers.row))
    return search


def shortest_set(covers: CoverLists, scored: Scored) -> np.ndarray:
    """Return which rules to keep, a bool for each."""
    return searched(covers, scored, np.zeros(len(scored.label)), CHOOSE).inside.astype(bool)


def by_use(covers: CoverLists, scored: Scored) -> np.ndarray:
    """Return the numbers of rules with the most useful first."""
    return searched(covers, scored, np.ones(len(scored.label)), RANK).order[::-1]
