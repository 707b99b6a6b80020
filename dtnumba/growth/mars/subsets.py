"""The backward pass: which terms make the best model of every size.

All of it is done in the triangle of the forward pass, so it takes no look at the rows. Moving a term behind others
turns the triangle; what is left over by the terms up to each place is then read off, and the best of each size is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtnumba.growth.mars.settings import gcv_of
from dtnumba.trees.hinges import SplinePath

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from dtnumba.growth.mars.forward import Grown


_BETTER = 1e-12  # share by which an RSS must be less to be another
_ROUNDING = 1e-24  # share of the squares of the mean alone, which rounding leaves over of a perfect model
_DEPENDENT = 1e-14  # share of its square that a term must add to count at all


class Problem:
    """Least squares over subsets of columns of a triangle."""

    def __init__(self, grown: Grown) -> None:
        length = np.sqrt((grown.triangle**2).sum(axis=0))
        self.length = np.where(length > 0, length, 1.0)
        self.triangle, self.goals = grown.triangle / self.length, grown.goals
        self.left, self.null = float(grown.rss.sum()), float(grown.null_rss.sum())
        self.n_terms = len(grown.goals)

    def turned(self, order: list[int]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the triangle of terms in another order, and the targets beside it."""
        q, r = np.linalg.qr(self.triangle[:, order])
        return r, q.T @ self.goals

    def rss_of(self, order: list[int]) -> NDArray[np.float64]:
        """Return the RSS of the first term of an order of all, of the first two, and so on."""
        _, goals = self.turned(order)
        explained = (goals**2).sum(axis=1)
        return self._of_more_than_rounding(self.left + np.append(np.cumsum(explained[::-1])[::-1][1:], 0.0))

    def _of_more_than_rounding(self, rss: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.where(rss > _ROUNDING * self.null, rss, 0.0))

    def costs(self, order: list[int]) -> NDArray[np.float64]:
        """Return by how much the RSS rises without each of these terms."""
        r, goals = self.turned(order)
        inverse = np.linalg.inv(r)
        return np.asarray(((inverse @ goals) ** 2).sum(axis=1) / (inverse**2).sum(axis=1))

    def gains(self, order: list[int], others: list[int]) -> NDArray[np.float64]:
        """Return by how much the RSS falls with each of some other terms."""
        q, _ = np.linalg.qr(self.triangle[:, order])
        left = self.goals - q @ (q.T @ self.goals)
        columns = self.triangle[:, others]
        for _ in range(2):
            columns = columns - q @ (q.T @ columns)
        square = (columns**2).sum(axis=0)
        gains = ((columns.T @ left) ** 2).sum(axis=1) / np.where(square > _DEPENDENT, square, np.inf)
        return np.asarray(gains)

    def coefficients(self, terms: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the coefficients of some terms, of columns as they were given."""
        q, r = np.linalg.qr(self.triangle[:, terms])
        return np.linalg.solve(r, q.T @ self.goals) / self.length[terms, None]


class Best:
    """The best terms of every size that were seen."""

    def __init__(self, problem: Problem) -> None:
        self.rss = np.full(problem.n_terms, np.inf)
        self.terms = [np.arange(k + 1) for k in range(problem.n_terms)]
        self._problem = problem

    def look_at(self, order: list[int]) -> None:
        """Take the beginnings of an order into account."""
        for k, rss in enumerate(self._problem.rss_of(order)):
            if rss < self.rss[k] * (1.0 - _BETTER):
                self.rss[k], self.terms[k] = rss, np.sort(np.array(order[: k + 1]))


def _backward(problem: Problem, best: Best) -> None:
    order = list(range(problem.n_terms))
    best.look_at(order)
    for left in range(problem.n_terms, 1, -1):
        least = 1 + int(problem.costs(order[:left])[1:].argmin())
        order.insert(left - 1, order.pop(least))
        best.look_at(order)


def _forward(problem: Problem, best: Best) -> None:
    order = list(range(problem.n_terms))
    best.look_at(order)
    for size in range(1, problem.n_terms):
        most = size + int(problem.gains(order[:size], order[size:]).argmax())
        order.insert(size, order.pop(most))
        best.look_at(order)


def _replacing(problem: Problem, best: Best) -> None:
    _backward(problem, best)
    _forward(problem, best)
    every = range(problem.n_terms)
    for size in range(2, problem.n_terms):
        smaller, known = best.terms[size - 2].tolist(), best.terms[size - 1].tolist()
        others = [t for t in every if t not in smaller]
        most = others[int(problem.gains(smaller, others).argmax())]
        for start in ([*smaller, most], known):
            _replace(problem, best, [*start, *(t for t in every if t not in start)], size)


def _replace(problem: Problem, best: Best, order: list[int], size: int) -> None:
    """Replace one of the first terms by another, as long as that helps."""
    best.look_at(order)
    rss = problem.rss_of(order)[size - 1]
    at, unchanged = 1, 0
    while size < len(order) and unchanged < size - 1:
        rest = order[:at] + order[at + 1 : size]
        others = [order[at], *order[size:]]
        gains = problem.gains(rest, others)
        most = int(gains.argmax())
        unchanged += 1
        if most > 0 and gains[most] > gains[0] + _BETTER * rss:
            order[at], order[size + most - 1] = order[size + most - 1], order[at]
            rss, unchanged = problem.rss_of(order)[size - 1], 0
            best.look_at(order)
        at = 1 + at % (size - 1)


def _exhaustive(problem: Problem, best: Best) -> None:
    from dtnumba.growth.mars.exhaustive import search

    _backward(problem, best)
    search(problem, best)


METHODS: dict[str, Callable[[Problem, Best], None]] = {
    "backward": _backward,
    "exhaustive": _exhaustive,
    "forward": _forward,
    "seqrep": _replacing,
}


def path_of(grown: Grown, method: str, penalty: float) -> SplinePath:
    """Return the best model of every size, as a method finds it."""
    problem = Problem(grown)
    best = Best(problem)
    METHODS[method](problem, best)
    best.rss[0] = problem.null  # to the bit, so that a constant explains nothing and not a rounding more
    gcv = np.array([gcv_of(rss, grown.n_rows, k + 1, penalty) for k, rss in enumerate(best.rss.tolist())])
    return SplinePath(best.rss, gcv, best.terms)


def coefficients_of(grown: Grown, terms: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the coefficients of some terms of a forward pass, as their factors say them."""
    return Problem(grown).coefficients(terms) * grown.scales[terms, None]


def squares_of(grown: Grown, terms: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the RSS of each output by some of the terms."""
    kept = terms.tolist()
    others = sorted(set(range(len(grown.goals))) - set(kept))
    _, goals = Problem(grown).turned([*kept, *others])
    return np.asarray(grown.rss + (goals[len(kept) :] ** 2).sum(axis=0))
