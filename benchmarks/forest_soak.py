"""Fit and predict with forests from many Python threads at once: right answers, and no memory that stays.

Started by ``soak.py --forests``. Every answer is compared, bit for bit, with that of a forest fitted alone before. One
forest in each round is stopped by its callback, and must be a prefix of the forest it would have become. What the
process holds is read after every round, once all threads have been at work.
"""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from statistics import median
from threading import Barrier
from typing import NamedTuple

import numpy as np
from peak_memory import give_back, resident

import dtnumba
from dtnumba.trees.layout import arrays_of

N_THREADS, N_ROUNDS = 8, 25  # each round, a fit and predictions a thread: 200 in all
GROWTH, LOOKS = 16e6, 5  # bytes, between the medians of so many rounds: the C library's heaps go up and down by 10 MB
STOPPED = N_THREADS - 1  # the thread whose forest is stopped


class Case(NamedTuple):
    """A forest and the table that it grows on."""

    family: type
    parameters: dict
    X: np.ndarray
    y: np.ndarray

    def forest(self, **parameters):
        """Return the forest, not fitted."""
        return self.family(random_state=0, **(self.parameters | parameters))


def drawn_cases(seed):
    """Draw tables of which some are large enough for threads to share, and a forest of each kind."""
    draw = np.random.default_rng(seed)
    cases = []
    for family, parameters, rows in (
        (dtnumba.RandomForestClassifier, {"n_estimators": 30}, 20_000),
        (dtnumba.RandomForestClassifier, {"n_estimators": 10, "max_bins": None}, 3_000),
        (dtnumba.ExtraTreesClassifier, {"n_estimators": 20}, 3_000),
        (dtnumba.RandomForestRegressor, {"n_estimators": 10, "max_features": 3}, 5_000),
        (dtnumba.ExtraTreesRegressor, {"n_estimators": 10, "max_depth": 8}, 5_000),
    ):
        X = draw.normal(size=(rows, 10)).astype(np.float32)
        X[draw.random(X.shape) < 0.05] = np.nan
        z = np.nan_to_num(X[:, 0] * X[:, 1]) + draw.standard_normal(rows)
        cases.append(Case(family, parameters, X, z if "Regressor" in family.__name__ else (z > 0).astype(int)))
    return cases


def digest(model, X):
    """Return a digest of the trees and of what they predict."""
    found = hashlib.sha256()
    for array in (*arrays_of(model.trees_), model.predict(X), model.apply(X[:100])):
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def fit_and_predict(case, n_jobs):
    """Return the digest of a forest fitted by this thread."""
    return digest(case.forest(n_jobs=n_jobs).fit(case.X, case.y), case.X)


def stop_early(case):
    """Return the number of trees of a forest that its callback stopped, and its digest."""
    forest = case.forest(n_estimators=5_000, verbose=lambda progress: progress.done < 2)
    forest.fit(case.X, case.y)
    return forest.n_estimators_, digest(forest, case.X)


def one_round(pool, cases, expected, k):
    """Let all threads begin at once; return what went wrong."""
    barrier = Barrier(N_THREADS)

    def at_once(job):
        barrier.wait()
        return job()

    drawn = [(k + i) % len(cases) for i in range(STOPPED)]
    jobs = [partial(fit_and_predict, cases[c], (None, 1, 2)[(k + i) % 3]) for i, c in enumerate(drawn)]
    jobs.append(partial(stop_early, cases[0]))
    *digests, (n_trees, stopped) = pool.map(at_once, jobs)
    wrong = [f"round {k}: {cases[c]}" for c, found in zip(drawn, digests, strict=True) if found != expected[c]]
    alone = cases[0].forest(n_estimators=n_trees).fit(cases[0].X, cases[0].y)
    if digest(alone, cases[0].X) != stopped or n_trees == 5_000:
        wrong.append(f"round {k}: the forest stopped after {n_trees} trees is not the forest of so many trees")
    return wrong


def run(seed, rounds):
    cases = drawn_cases(seed)
    expected = [fit_and_predict(case, 1) for case in cases]
    with ThreadPoolExecutor(N_THREADS) as pool:
        wrong = one_round(pool, cases, expected, 0)
        wrong += one_round(pool, cases, expected, 1)
        held = []
        for k in range(rounds):
            wrong += one_round(pool, cases, expected, k)
            give_back()
            held.append(resident("VmRSS"))
    first, last = median(held[:LOOKS]), median(held[-LOOKS:])
    if last - first > GROWTH:
        wrong.append(f"the process grew by {(last - first) / 1e6:.1f} MB")
    print("\n".join(wrong) or "right answers")
    print(
        f"{rounds} rounds of {N_THREADS} threads, {rounds * N_THREADS} fits with predictions, {len(wrong)} failed; "
        f"{first / 1e6:.0f} MB held in the first rounds, {last / 1e6:.0f} MB in the last"
    )
    return int(bool(wrong))
