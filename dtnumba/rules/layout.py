"""Rules as parallel arrays: one layout for rule sets, decision lists and the paths of a tree.

Invariants, tested by ``check`` and relied on everywhere:

* rule r has the tests [start[r], start[r + 1]), none at all where it answers every row, and says class ``label[r]``;
* a RANGE holds for x <= high that is not <= low; NaN for ``low`` means no lower bound, infinity for ``high`` no upper
  one (so that -inf, a legal value, is below every bound that is there);
* OUTSIDE holds where the RANGE of the same bounds does not;
* LEVELS holds for the categories whose bit is set in ``word[word_start[t]:word_start[t + 1]]``, least bit first;
* a missing value holds where ``missing`` is 1, and fails every other test;
* a feature is tested by LEVELS alone, or not by them at all;
* rows are compared with bounds as with the thresholds of the trees that these stem from (``cuts_at``);
* rows that no rule answers are of the class ``default``, of which the last row of ``decided`` tells;
* of a table of p columns, feature p + k is the sum k of ``linear``: a column of numbers (``trees.with_sums``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dtnumba.tables.floats import BETWEEN_VALUES, AtFloats, Between, Bits, compared
from dtnumba.trees.linear import AXIS_TESTS, BY_TERM, AxisTests, LinearTests

if TYPE_CHECKING:
    from numpy.typing import NDArray


RANGE, OUTSIDE, LEVELS = 0, 1, 2
_BITS = 64


class Conditions(NamedTuple):
    """Conditions of one feature each, end to end."""

    feature: NDArray[np.int32]  # (t,)
    kind: NDArray[np.uint8]  # (t,) RANGE, OUTSIDE or LEVELS
    low: NDArray[np.float64]  # (t,) NaN without a lower bound, and of LEVELS
    high: NDArray[np.float64]  # (t,) inf without an upper bound, and of LEVELS
    missing: NDArray[np.uint8]  # (t,)
    word_start: NDArray[np.int64]  # (t + 1,)
    word: NDArray[np.uint64]
    cuts_at: Between | AtFloats = BETWEEN_VALUES  # whether bounds lie between values of the table, as of Trees


class Rules(NamedTuple):
    """Rules in the order in which they are asked."""

    start: NDArray[np.int64]  # (r + 1,)
    tests: Conditions
    label: NDArray[np.int32]  # (r,)
    covered: NDArray[np.float64]  # (r,) weight of the rows of ``fit`` for which a rule holds
    correct: NDArray[np.float64]  # (r,) weight of those of its class
    confidence: NDArray[np.float64]  # (r,) share that is expected to be of its class
    lift: NDArray[np.float64]  # (r,) confidence over the share of its class among all rows
    decided: NDArray[np.float64]  # (r + 1, classes) weight of the rows that it answers first; the default's last
    prior: NDArray[np.float64]  # (classes,) share of each class among all rows
    default: int
    linear: AxisTests | LinearTests = AXIS_TESTS  # the sums that are tested as columns

    @property
    def n_rules(self) -> int:
        """Number of rules, without the default."""
        return len(self.label)

    @property
    def cuts_at(self) -> Between | AtFloats:
        """Whether bounds lie between values of the table, as of Trees."""
        return self.tests.cuts_at

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.prior)


def bounds_at(rules: Rules, bits: Bits) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the bounds that rows of floats of so many bits are compared with, the lower and the upper ones."""
    low, high = (compared(end, rules.tests.feature, rules.cuts_at, bits) for end in (rules.tests.low, rules.tests.high))
    return low, high


class Condition(NamedTuple):
    """One test, for what makes rules a test at a time."""

    feature: int
    kind: int = RANGE
    low: float = np.nan
    high: float = np.inf
    levels: tuple[int, ...] = ()
    missing: bool = False


def pack_tests(tests: list[Condition], cuts_at: Between | AtFloats = BETWEEN_VALUES) -> Conditions:
    """Return tests as arrays."""
    n_words = [max(test.levels, default=0) // _BITS + 1 if test.kind == LEVELS else 0 for test in tests]
    start = np.cumsum([0, *n_words]).astype(np.int64)
    word = np.zeros(start[-1], np.uint64)
    for test, first in zip(tests, start.tolist(), strict=False):
        if test.kind == LEVELS:
            level = np.array(test.levels, np.uint64)
            bit = np.uint64(1) << level % np.uint64(_BITS)
            np.bitwise_or.at(word, first + (level // np.uint64(_BITS)).astype(np.int64), bit)
    return Conditions(
        np.array([test.feature for test in tests], np.int32),
        np.array([test.kind for test in tests], np.uint8),
        np.array([test.low for test in tests], np.float64),
        np.array([test.high for test in tests], np.float64),
        np.array([test.missing for test in tests], np.uint8),
        start,
        word,
        cuts_at,
    )


def condition_at(tests: Conditions, t: int) -> Condition:
    """Return one of the tests."""
    kind = int(tests.kind[t])
    levels = tuple(levels_at(tests, t).tolist()) if kind == LEVELS else ()
    return Condition(
        int(tests.feature[t]), kind, float(tests.low[t]), float(tests.high[t]), levels, bool(tests.missing[t])
    )


def levels_at(tests: Conditions, t: int) -> NDArray[np.int64]:
    """Return the categories for which a test holds, ascending."""
    words = tests.word[tests.word_start[t] : tests.word_start[t + 1]]
    return np.flatnonzero(np.unpackbits(words.astype("<u8").view(np.uint8), bitorder="little"))


def key_of(test: Condition) -> Condition:
    """Return what is equal for equal tests, which NaN is not: a test without a lower bound as None there."""
    return test._replace(low=None) if test.low != test.low else test  # type: ignore[arg-type]


def both(first: Condition, second: Condition) -> Condition | None:
    """Return the test that holds where two of one feature do; None where no single test says it."""
    missing = first.missing and second.missing
    if first.kind == LEVELS:
        return first._replace(levels=tuple(sorted(set(first.levels) & set(second.levels))), missing=missing)
    if first.kind != RANGE or second.kind != RANGE:
        return first if key_of(first) == key_of(second) else None
    low = max((one.low for one in (first, second) if one.low == one.low), default=np.nan)
    return first._replace(low=low, high=min(first.high, second.high), missing=missing)


def as_asked(tests: list[Condition], cuts_at: Between | AtFloats, bits: Bits) -> list[Condition]:
    """Return tests with the bounds that rows of floats of so many bits are compared with."""
    columns = np.array([test.feature for test in tests], np.int64)
    ends = (np.array([test[k] for test in tests], np.float64) for k in (2, 3))
    low, high = (compared(end, columns, cuts_at, bits).tolist() for end in ends)
    return [test._replace(low=a, high=b) for test, a, b in zip(tests, low, high, strict=True)]


def merged(tests: list[Condition]) -> list[Condition]:
    """Return the tests of a rule with those of one feature made one where one can say it, in order of features."""
    found: list[Condition] = []
    for test in sorted(tests, key=lambda one: one.feature):
        one = both(found[-1], test) if found and found[-1].feature == test.feature else None
        if one is None:
            found.append(test)
        else:
            found[-1] = one
    return found


def holds(test: Condition, x: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return for which values a test holds."""
    if test.kind == LEVELS:
        is_in = np.isin(x, np.array(test.levels, np.float64))
    else:
        is_in = ~(x <= test.low) & (x <= test.high)
        if test.kind == OUTSIDE:
            is_in = ~is_in
    return np.where(np.isnan(x), test.missing, is_in).astype(bool)


def pack_rules(
    bodies: list[list[Condition]],
    label: NDArray[np.int64],
    default: int,
    numbers: dict[str, NDArray[np.float64]],
    cuts_at: Between | AtFloats = BETWEEN_VALUES,
    linear: AxisTests | LinearTests = AXIS_TESTS,
) -> Rules:
    """Return rules as arrays, the tests of a rule merged; ``numbers`` are the other columns by name."""
    whole = [merged(body) for body in bodies]
    start = np.cumsum([0, *map(len, whole)]).astype(np.int64)
    tests = pack_tests([test for body in whole for test in body], cuts_at)
    return Rules(start, tests, label.astype(np.int32), default=int(default), linear=linear, **numbers)


def body_of(rules: Rules, r: int) -> list[Condition]:
    """Return the tests of a rule."""
    return [condition_at(rules.tests, t) for t in range(int(rules.start[r]), int(rules.start[r + 1]))]


def check(rules: Rules, n_features: int) -> Rules:
    """Return rules if their arrays keep the invariants."""
    tests, n, t = rules.tests, rules.n_rules, len(rules.tests.feature)
    starts = rules.start
    ascend = len(starts) == n + 1 and starts[0] == 0 and starts[-1] == t and bool((np.diff(starts) >= 0).all())
    _demand(ascend, "start must ascend from 0 to the number of tests, a rule a step")
    whole = all(len(column) == t for column in tests[:5]) and all(len(one) == n for one in (rules.label, *rules[3:7]))
    _demand(whole, "columns must have an entry a test, or a rule")
    n_columns = n_features + _check_sums(rules.linear, n_features)
    _demand(((tests.feature >= 0) & (tests.feature < n_columns)).all(), f"feature must be below {n_columns}")
    _demand(rules.decided.shape == (n + 1, rules.n_classes), "decided must have a row a rule, and the default's")
    labels = np.append(rules.label, rules.default)
    _demand(((labels >= 0) & (labels < rules.n_classes)).all(), "label and default must be classes")
    is_levels, words = tests.kind == LEVELS, tests.word_start
    _demand((tests.kind <= LEVELS).all(), "kind must be RANGE, OUTSIDE or LEVELS")
    ascend = len(words) == t + 1 and words[0] == 0 and words[-1] == len(tests.word)
    ascend = ascend and bool((np.diff(words) >= 0).all())
    _demand(ascend, "word_start must ascend from 0 to the end of word, a test a step")
    _demand((np.diff(words)[~is_levels] == 0).all(), "a range has no levels")
    _demand(not np.isnan(tests.high).any(), "high must be a number")
    mixed = np.intersect1d(tests.feature[is_levels], tests.feature[~is_levels])
    _demand(len(mixed) == 0, "a feature is tested by levels alone, or not by them at all")
    return rules


def _check_sums(linear: AxisTests | LinearTests, n_features: int) -> int:
    """Return how many sums there are."""
    if not isinstance(linear, LinearTests):
        return 0
    start, n = linear.start, len(linear.column)
    ascend = len(start) > 1 and start[0] == 0 and start[-1] == n and bool((np.diff(start) > 0).all())
    _demand(ascend, "the terms of sums must ascend from 0 to their end, one a sum at least")
    _demand(all(len(getattr(linear, name)) == n for name in BY_TERM), "every term of a sum has all its parts")
    _demand(((linear.column >= 0) & (linear.column < n_features)).all(), f"sums must be of columns below {n_features}")
    _demand(np.isfinite(linear.weight).all(), "weights of sums must be finite")
    return len(start) - 1


def _demand(holds: bool | np.bool_, rule: str) -> None:
    if not holds:
        msg = f"the layout of Rules is broken: {rule}"
        raise ValueError(msg)
