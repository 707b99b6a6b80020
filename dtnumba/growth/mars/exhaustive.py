# mypy: ignore-errors
# ruff: noqa: D102
"""Every set of terms, as far as it can be the best of its size: columns are dropped from a triangle, one after another.

A node is a set of terms of which the first k stay; its children lack one of the others. All sets below it leave over
at least as much as it does, so it is left where the best of the sizes below it leave over less (Gatu & Kontoghiorghes,
Branch-and-bound algorithms for computing the best-subset regression models, 2006).
"""

from typing import NamedTuple

import numpy as np

from dtnumba.runtime.kernels import kernel_type, outlined
from dtnumba.runtime.progress import launch_heeding

_STEPS = 10_000_000


@kernel_type
class Drop(NamedTuple):
    """The walk through all sets, in triangles on a stack of its own."""

    triangles: np.ndarray  # (depth, terms, terms + outputs): columns, then the targets
    terms: np.ndarray  # (depth, terms) int64
    sizes: np.ndarray  # (depth, 3) int64: how many terms, how many stay, which is dropped next
    left: float  # not explained by any
    rss: np.ndarray  # (terms,) in and out: the best of each size
    best: np.ndarray  # (terms, terms) int64 in and out
    halt: np.ndarray  # (1,) int64: not 0 where nobody waits any more

    def run(self, worker):
        depth = 0
        while depth >= 0 and self.halt[0] == 0:
            n, stays, gone = self.sizes[depth, 0], self.sizes[depth, 1], self.sizes[depth, 2]
            if gone == stays:
                _look_at(self, depth)
            # Sets without this term hold those before it, and leave over no less than the whole set does.
            if gone < n and _left_over(self, depth, n) < self.rss[gone - 1]:
                self.sizes[depth, 2] += 1
                _drop(self, depth, gone)
                depth += 1
            else:
                depth -= 1


@outlined
def _left_over(task, depth, size):
    """Return the RSS of the first terms of a node."""
    rss, p, width = task.left, task.triangles.shape[1], task.triangles.shape[2]
    for i in range(size, p):
        for o in range(p, width):
            rss += task.triangles[depth, i, o] ** 2
    return rss


@outlined
def _look_at(task, depth):
    """Take the beginnings of a node's terms into account that its parent does not have."""
    n = task.sizes[depth, 0]
    for size in range(max(1, task.sizes[depth, 1]), n + 1):
        rss = _left_over(task, depth, size)
        if rss < task.rss[size - 1] * (1.0 - 1e-12):
            task.rss[size - 1] = rss
            for k in range(size):
                task.best[size - 1, k] = task.terms[depth, k]


@outlined
def _drop(task, depth, gone):
    """Put the node without one of the terms on the stack, its triangle turned anew."""
    n, p, width = task.sizes[depth, 0], task.triangles.shape[1], task.triangles.shape[2]
    to, source = task.triangles[depth + 1], task.triangles[depth]
    for i in range(p):
        for j in range(n - 1):
            to[i, j] = source[i, j + (1 if j >= gone else 0)]
        for j in range(p, width):
            to[i, j] = source[i, j]
    for k in range(gone, n - 1):
        a, b = to[k, k], to[k + 1, k]
        length = np.sqrt(a * a + b * b)
        if length > 0.0:
            c, s = a / length, b / length
            for j in range(k, n - 1):
                u, v = to[k, j], to[k + 1, j]
                to[k, j], to[k + 1, j] = c * u + s * v, c * v - s * u
            for j in range(p, width):
                u, v = to[k, j], to[k + 1, j]
                to[k, j], to[k + 1, j] = c * u + s * v, c * v - s * u
    for k in range(n - 1):
        task.terms[depth + 1, k] = task.terms[depth, k + (1 if k >= gone else 0)]
    task.sizes[depth + 1, 0], task.sizes[depth + 1, 1], task.sizes[depth + 1, 2] = n - 1, gone, gone


def search(problem, best):
    """Find the best terms of every size; ``best`` holds those that are known."""
    m = problem.n_terms
    costs = problem.costs(list(range(m)))
    order = [0, *(1 + np.argsort(-costs[1:], kind="stable")).tolist()]  # what matters most stays longest
    triangle, goals = problem.turned(order)
    triangles = np.zeros((m + 1, m, m + goals.shape[1]))
    triangles[0, :, :m], triangles[0, :, m:] = triangle, goals
    terms, sizes = np.zeros((m + 1, m), np.int64), np.zeros((m + 1, 3), np.int64)
    terms[0], sizes[0] = order, (m, 1, 1)
    found = np.zeros((m, m), np.int64)
    for k, some in enumerate(best.terms):
        found[k, : k + 1] = some
    halt = np.zeros(1, np.int64)
    launch_heeding(Drop(triangles, terms, sizes, problem.left, best.rss, found, halt), 1, _STEPS, halt)
    best.terms[:] = [np.sort(found[k, : k + 1]) for k in range(m)]
