"""Programs that are killed, or interrupted at any moment: what is left is a tree of whole calls."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from strategies import interpreted_only, same_trees

from dtnumba import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    IncrementalTreeClassifier,
    IncrementalTreeRegressor,
    load,
)

posix = pytest.mark.skipif(os.name != "posix", reason="processes cannot be sent such signals")
ROWS = 9  # of a batch


def rows():
    rng = np.random.default_rng(8)
    X = rng.integers(0, 12, (2000, 3)).astype(float)
    return X, (X.sum(axis=1) + rng.normal(size=2000) * 4 > 16).astype(int)


PROGRAM = """
import sys
sys.path.insert(0, sys.argv[2])
from test_kill import ROWS, rows
from dtnumba import IncrementalTreeClassifier
X, y = rows()
model = IncrementalTreeClassifier(n_jobs=1)
for k in range(200):
    model.partial_fit(X[ROWS * k : ROWS * k + ROWS], y[ROWS * k : ROWS * k + ROWS])
    if k % 3 == 2:
        model.forget_ids(model.ids_[:ROWS])
    model.save(sys.argv[1])
    print(k, flush=True)
"""


@posix
@interpreted_only
@pytest.mark.parametrize("last", [0, 5])
def test_a_program_that_is_killed_leaves_a_file_of_whole_batches(last, tmp_path):
    X, y = rows()
    path, here = tmp_path / "model", str(Path(__file__).parent)
    found = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, path, here], stdout=subprocess.PIPE, env=found)
    with process:
        for line in process.stdout:
            if int(line) == last:
                break
        time.sleep(0.003 * last)
        process.kill()
    again = load(path)
    n_batches, rest = divmod(again.n_seen_, ROWS)
    assert rest == 0
    assert n_batches > last
    n_gone = n_batches // 3 * ROWS
    assert again.ids_.tolist() == list(range(n_gone, n_batches * ROWS))
    for _ in range(2):
        held = again.ids_
        assert same_trees(again.trees_, DecisionTreeClassifier(n_jobs=1).fit(X[held], y[held]).trees_)
        again.partial_fit(X[again.n_seen_ : again.n_seen_ + 5], y[again.n_seen_ : again.n_seen_ + 5])


class Stopped(BaseException):
    """What a signal raises."""


@posix
@interpreted_only
@pytest.mark.parametrize("model", [IncrementalTreeClassifier, IncrementalTreeRegressor])
def test_a_signal_at_any_moment_leaves_the_state_before_or_after(model):
    X, y = rows()
    tree = model(n_jobs=1).partial_fit(X[:80], y[:80]).partial_fit(X[80:81], y[80:81])
    batch = (DecisionTreeClassifier if model is IncrementalTreeClassifier else DecisionTreeRegressor)(n_jobs=1)

    def stop(*given):
        raise Stopped

    began = time.perf_counter()
    tree.partial_fit(X[81:90], y[81:90])
    took, n_stopped, before = time.perf_counter() - began, 0, signal.signal(signal.SIGALRM, stop)
    try:
        for k in range(8):
            held, n = tree.ids_.tolist(), tree.n_seen_
            after = {(*held, *range(n, n + ROWS)), (*held[ROWS:],)}
            signal.setitimer(signal.ITIMER_REAL, took * (k + 0.5) / 8)
            try:
                if k % 2:
                    tree.forget_ids(held[:ROWS])
                else:
                    tree.partial_fit(X[n : n + ROWS], y[n : n + ROWS])
                signal.setitimer(signal.ITIMER_REAL, 0.0)
            except Stopped:
                n_stopped += 1
            now = tree.ids_.tolist()
            assert now == held or tuple(now) in after
            assert tree.n_seen_ == n + ROWS * (len(now) > len(held))
            assert same_trees(tree.trees_, batch.fit(X[now], y[now]).trees_)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert n_stopped > 2
