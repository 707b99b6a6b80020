"""The order in which rules are asked, what answers where none holds, and which rules do more harm than good."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class TrainingRows(NamedTuple):
    """The rows."""

    code: NDArray[np.int64]  # (n,) class
    weight: NDArray[np.float64]  # (n,)
    n_classes: int

    @property
    def sizes(self) -> NDArray[np.float64]:
        """Weight of each class."""
        return np.bincount(self.code, weights=self.weight, minlength=self.n_classes).astype(np.float64)


def by_class(
    covered: list[NDArray[np.int64]], label: NDArray[np.int64], error: NDArray[np.float64], rows: TrainingRows
) -> NDArray[np.int64]:
    """Return the order of rules: classes by false positives among rows not yet covered, rules within by their error."""
    n = len(rows.code)
    by = np.zeros((rows.n_classes, n), bool)
    for own, k in zip(covered, label.tolist(), strict=True):
        by[k, own] = True
    left = sorted(set(label.tolist()))
    is_open, order = np.ones(n, bool), []
    while left:
        false = [float(rows.weight[by[k] & is_open & (rows.code != k)].sum()) for k in left]
        k = left.pop(int(np.argmin(false)))
        is_open &= ~by[k]
        own = np.flatnonzero(label == k)
        order += own[np.argsort(error[own], kind="stable")].tolist()
    return np.array(order, np.int64)


def default_class(covered: list[NDArray[np.int64]], rows: TrainingRows) -> int:
    """Return the class of most rows that no rule covers; of equal ones that of more rows."""
    weight = rows.weight.copy()
    for own in covered:
        weight[own] = 0.0
    open_sizes = np.bincount(rows.code, weights=weight, minlength=rows.n_classes)
    return int(np.lexsort((-rows.sizes, -open_sizes))[0])


class Answers:
    """Which rule answers each row, and which one would if that were gone.

    Parameters
    ----------
    covered : list of array
        The rows that each rule covers, in the order in which rules are asked.
    n_rows : int
        How many rows there are.

    """

    def __init__(self, covered: list[NDArray[np.int64]], n_rows: int) -> None:
        rule = np.repeat(np.arange(len(covered)), [len(rows) for rows in covered])
        row = np.concatenate([np.zeros(0, np.int64), *covered]).astype(np.int64)
        order = np.argsort(row, kind="stable")
        self._covered = covered
        # After the rules of each row stands one that is none: their number
        at = np.searchsorted(row[order], np.arange(n_rows), side="right")
        self._rule = np.insert(rule[order], at, len(covered))
        self._is_kept = np.ones(len(covered) + 1, bool)
        starts = np.concatenate([[0], at[:-1] + np.arange(1, n_rows)]) if n_rows else at
        self._first = starts.astype(np.int64)
        self._second = self._after(self._first)
        self.first = self._rule[self._first]
        self.second = self._rule[self._second]

    def _after(self, at: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the places of the next rules kept; the last place of a row is followed by itself."""
        none = len(self._covered)
        at = np.where(self._rule[at] == none, at, at + 1)
        while not self._is_kept[self._rule[at]].all():
            at = np.where(self._is_kept[self._rule[at]], at, at + 1)
        return at

    def drop(self, r: int) -> None:
        """Take rule r away."""
        self._is_kept[r] = False
        rows = self._covered[r]
        was_first = rows[self.first[rows] == r]
        was_second = rows[self.second[rows] == r]
        self._first[was_first] = self._second[was_first]
        changed = np.concatenate([was_first, was_second])
        self._second[changed] = self._after(self._second[changed])
        for rows_of, places, rules in ((was_first, self._first, self.first), (changed, self._second, self.second)):
            rules[rows_of] = self._rule[places[rows_of]]


def without_harm(
    covered: list[NDArray[np.int64]], label: NDArray[np.int64], default: int, rows: TrainingRows, *, keeps_ties: bool
) -> NDArray[np.int64]:
    """Return the rules that are left when one at a time goes that breaks fewest rows beyond those that it corrects.

    Rules whose removal changes nothing on balance stay where ``keeps_ties``, else they go as well, the last first.
    """
    answers = Answers(covered, len(rows.code))
    outcomes = np.append(label, default)
    is_kept = np.ones(len(label), bool)
    while is_kept.any():
        after = (outcomes[answers.second] == rows.code).astype(np.float64) - (outcomes[answers.first] == rows.code)
        balance = np.bincount(answers.first, weights=rows.weight * after, minlength=len(outcomes))[:-1]
        balance[~is_kept] = -np.inf
        most = balance.max()
        if most < 0 or (keeps_ties and most <= 0):
            break
        places = np.flatnonzero(balance == most)
        r = int(places[0] if keeps_ties else places[-1])
        is_kept[r] = False
        answers.drop(r)
    return np.flatnonzero(is_kept)
