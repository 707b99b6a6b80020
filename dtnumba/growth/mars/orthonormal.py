# mypy: ignore-errors
# ruff: noqa: D102
"""New columns of the basis made orthogonal to those before them, and the targets without what they explain.

Sums over rows are those of chunks of fixed length, added up in order: the bits do not depend on the threads.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.runtime.progress import launch_beside_heeding
from dtnumba.runtime.tasks import each_item

CHUNK = 1024
_PARALLEL_ROWS = 8192


@each_item
class Sweep(NamedTuple):
    """Take multiples of the basis from a pair of columns; then write their products with the basis, and their own."""

    pair: np.ndarray  # (n, 2) in and out
    basis: np.ndarray  # (pairs, n, 2), orthonormal
    constant: np.ndarray  # (n,), of length one, and orthogonal to the basis
    n_pairs: int
    taken: np.ndarray  # (1 + 2 * n_pairs, 2): of the constant, then of the basis
    products: np.ndarray  # (chunks, 3 + 2 * n_pairs, 2) out: with the constant, the basis, and the pair itself
    counter: np.ndarray

    def n_items(self):
        return len(self.products)

    def do_item(self, chunk, worker):
        pair, basis, constant, taken = self.pair, self.basis, self.constant, self.taken
        out, start, stop = self.products[chunk], chunk * CHUNK, min((chunk + 1) * CHUNK, len(self.pair))
        if len(taken) > 0:
            a, b = taken[0, 0], taken[0, 1]
            for i in range(start, stop):
                pair[i, 0] -= constant[i] * a
                pair[i, 1] -= constant[i] * b
            for k in range(self.n_pairs):
                a, b, c, d = taken[2 * k + 1, 0], taken[2 * k + 1, 1], taken[2 * k + 2, 0], taken[2 * k + 2, 1]
                for i in range(start, stop):
                    pair[i, 0] -= basis[k, i, 0] * a + basis[k, i, 1] * c
                    pair[i, 1] -= basis[k, i, 0] * b + basis[k, i, 1] * d
        a = b = c = d = e = 0.0
        for i in range(start, stop):
            first, second = pair[i, 0], pair[i, 1]
            a += constant[i] * first
            b += constant[i] * second
            c += first * first
            d += first * second
            e += second * second
        last = 2 * self.n_pairs + 1
        out[0, 0], out[0, 1], out[last, 0], out[last, 1], out[last + 1, 0], out[last + 1, 1] = a, b, c, d, d, e
        for k in range(self.n_pairs):
            a = b = c = d = 0.0
            for i in range(start, stop):
                a += basis[k, i, 0] * pair[i, 0]
                b += basis[k, i, 0] * pair[i, 1]
                c += basis[k, i, 1] * pair[i, 0]
                d += basis[k, i, 1] * pair[i, 1]
            out[2 * k + 1, 0], out[2 * k + 1, 1], out[2 * k + 2, 0], out[2 * k + 2, 1] = a, b, c, d


@each_item
class Explain(NamedTuple):
    """Take multiples of a pair of columns from the targets; then write products of the two, and squares."""

    targets: np.ndarray  # (n, outputs) in and out
    pair: np.ndarray  # (n, 2)
    taken: np.ndarray  # (2, outputs)
    products: np.ndarray  # (chunks, 3, outputs) out
    counter: np.ndarray

    def n_items(self):
        return len(self.products)

    def do_item(self, chunk, worker):
        targets, pair, out = self.targets, self.pair, self.products[chunk]
        start, stop = chunk * CHUNK, min((chunk + 1) * CHUNK, len(pair))
        for o in range(targets.shape[1]):
            first, second = self.taken[0, o], self.taken[1, o]
            a = b = c = 0.0
            for i in range(start, stop):
                rest = targets[i, o] - (pair[i, 0] * first + pair[i, 1] * second)
                targets[i, o] = rest
                a += pair[i, 0] * rest
                b += pair[i, 1] * rest
                c += rest * rest
            out[0, o], out[1, o], out[2, o] = a, b, c


class Basis:
    """Orthonormal columns in pairs, and how the columns that were given are made of them.

    Column 0 is the constant; columns 2k + 1 and 2k + 2 are pair k, of which the second may be zero.
    """

    def __init__(self, constant, targets, most_pairs, workers):
        n = len(constant)
        self.constant, self.residual = constant, targets.copy()
        self.pairs = np.empty((most_pairs, n, 2))
        self.n_pairs, self._n_chunks = 0, -(-n // CHUNK)
        self._workers = workers if n >= _PARALLEL_ROWS else 1
        self.made_of = np.zeros((1 + 2 * most_pairs, 1 + 2 * most_pairs))  # column j: given column j in the basis
        self.of_targets = np.zeros((1 + 2 * most_pairs, targets.shape[1]))
        self.rss = self._explain(np.zeros((n, 2)), np.zeros((2, targets.shape[1])))[2]

    def add(self, first, second):
        """Add a column, or two; return whether each adds anything to those before.

        first, second (n,) float64; second may be None
        """
        n, k, n_pairs = len(first), self.n_pairs, self.n_pairs
        pair = np.zeros((n, 2))
        pair[:, 0] = first
        if second is not None:
            pair[:, 1] = second
        m, start = 2 * n_pairs + 1, self._sweep(pair, None)
        taken, size = start[:m].copy(), start[[m, m + 1], [0, 1]]
        left = self._sweep(pair, taken)
        again = left[:m].copy()
        left = self._sweep(pair, again)
        made = np.zeros((len(self.made_of), 2))
        made[:m] = taken + again
        is_new = np.zeros(2, bool)
        if left[m, 0] > _NOTHING * size[0]:
            is_new[0], length = True, np.sqrt(left[m, 0])
            pair[:, 0] /= length
            made[m, 0] = length
        else:
            pair[:, 0] = 0.0
        for _ in range(2 if is_new[0] else 0):
            share = self._sweep(pair, None)[m, 1]
            pair[:, 1] -= share * pair[:, 0]
            made[m, 1] += share
        if is_new[0] and left[m + 1, 1] > 0 and self._sweep(pair, None)[m + 1, 1] < _ALIKE * left[m + 1, 1]:
            made[:, 1] += self._once_more(pair, m)
        rest = self._sweep(pair, None)[m + 1, 1]
        if rest > _NOTHING * size[1]:
            is_new[1], length = True, np.sqrt(rest)
            pair[:, 1] /= length
            made[m + 1, 1] = length
        else:
            pair[:, 1] = 0.0
        self.pairs[k] = pair
        self.made_of[:, m : m + 2] = made * is_new
        self.n_pairs += 1
        nothing = np.zeros((2, self.residual.shape[1]))
        shares = self._explain(pair, nothing)[:2]
        more = self._explain(pair, shares)[:2]
        self.rss = self._explain(pair, more)[2]
        self.of_targets[m : m + 2] = shares + more
        return is_new

    def _once_more(self, pair, m):
        """Take from the second column what it shares with all others; rounding of one nearly like the first."""
        found = np.zeros(len(self.made_of))
        products = self._sweep(pair, None)
        taken = np.zeros((m, 2))
        taken[:, 1] = products[:m, 1]
        found[:m] = taken[:, 1]
        found[m] = self._sweep(pair, taken)[m, 1]
        pair[:, 1] -= found[m] * pair[:, 0]
        return found

    def _sweep(self, pair, taken):
        taken = np.empty((0, 2)) if taken is None else np.ascontiguousarray(taken)
        products = np.empty((self._n_chunks, 3 + 2 * self.n_pairs, 2))
        counter = np.zeros(1, np.int64)
        task = Sweep(pair, self.pairs, self.constant, self.n_pairs, taken, products, counter)
        steps = len(pair) * (1 + self.n_pairs)
        launch_beside_heeding(task, self._workers, steps, steps=2 * steps)
        return products.sum(axis=0)

    def _explain(self, pair, taken):
        products = np.empty((self._n_chunks, 3, self.residual.shape[1]))
        task = Explain(self.residual, pair, np.ascontiguousarray(taken), products, np.zeros(1, np.int64))
        launch_beside_heeding(task, self._workers, products.shape[2] * len(pair), steps=len(pair))
        return products.sum(axis=0)


_ALIKE = 1e-6  # share of a square that is left beside a first column, from which on rounding shows
_NOTHING = 1e-20  # of the square of a column, what its rest must exceed to be more than rounding
