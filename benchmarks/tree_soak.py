"""Grow single trees from many Python threads at once, two threads a tree, on a machine that has fewer cores.

Started by ``soak.py --trees``. A thread of a tree may be stopped by the system anywhere and for long, which lets others
overtake it: what one thread may do while another one does something shows here. Every tree is compared, bit for bit,
with that which one thread grew.
"""

import hashlib
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

import dtnumba
from dtnumba.growth.binary.grow_in_parallel import PARALLEL_ROWS
from dtnumba.trees.layout import arrays_of

N_THREADS, AT_ONCE = 8, 64
N_ROWS = PARALLEL_ROWS + 1500  # the fewest rows that threads share leave the least time between their steps


class Case(NamedTuple):
    """A tree and the table that it grows on."""

    model: object
    X: np.ndarray
    y: np.ndarray

    def digest(self, n_jobs):
        """Return a digest of the tree that so many threads grow."""
        model = type(self.model)(**self.model.get_params() | {"n_jobs": n_jobs}).fit(self.X, self.y)
        digest = hashlib.sha256()
        for array in arrays_of(model.trees_):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()


def drawn_cases(seed):
    """Draw a table, and a tree of every kind of growth that threads share."""
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(N_ROWS, 10))
    X[:, ::3] = X[:, ::3].round(1)
    z = X[:, 0] * X[:, 1] + draw.normal(size=N_ROWS)
    X[draw.random(X.shape) < 0.05] = np.nan
    X[:, 9] = draw.integers(0, 12, N_ROWS)
    two, three = (z > 0).astype(int), np.digitize(z, [-0.5, 0.7])
    classes, numbers = dtnumba.DecisionTreeClassifier, dtnumba.DecisionTreeRegressor
    return [
        Case(classes(), X, two),
        Case(classes(criterion="entropy", max_bins=64), X, three),
        Case(classes(max_leaf_nodes=200), X, three),
        Case(classes(categorical_features=[9]), X, two),
        Case(numbers(), X, z),
        Case(numbers(max_bins=255), X, z),
        Case(dtnumba.ExtraTreeClassifier(random_state=0), X, two),
        Case(dtnumba.C45Classifier(), X, two),
        Case(classes(missing="fractional", max_bins=32), X, two),
    ]


def run(seed, seconds):
    """Grow trees for so many seconds; return whether a tree was another one."""
    cases = drawn_cases(seed)
    expected, wrong, n, end = [case.digest(1) for case in cases], Counter(), 0, time.monotonic() + seconds
    with ThreadPoolExecutor(N_THREADS) as pool:
        while time.monotonic() < end:
            drawn = [k % len(cases) for k in range(n, n + AT_ONCE)]
            jobs = [pool.submit(cases[k].digest, 2) for k in drawn]
            wrong.update(k for k, job in zip(drawn, jobs, strict=True) if job.result() != expected[k])
            n += AT_ONCE
    for k, count in wrong.items():
        print(f"{count} of about {n // len(cases)} trees differ: {cases[k].model}")
    print(f"{n} trees grown by {N_THREADS} threads at once, {wrong.total()} wrong")
    return int(bool(wrong))
