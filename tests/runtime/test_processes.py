"""Inside the workers of other pools: joblib's processes and threads, grid search."""

import legs
import pytest

pytest.importorskip("joblib")


@pytest.fixture(scope="module")
def expected():
    """Return what one thread of this process gives."""
    return legs.large_job(1)


JOBLIB = """
import legs
from joblib import Parallel, delayed, parallel_config
from dtnumba.runtime.tasks import n_workers

legs.large_job(2)
for backend in ("loky", "threading"):
    with parallel_config(backend=backend):
        print(*set(Parallel(n_jobs=2)(delayed(legs.large_job)(n_jobs) for n_jobs in (None, 2))))
        print(*set(Parallel(n_jobs=2)(delayed(n_workers)(None) for _ in range(2))))
"""


def test_joblib_workers_grow_the_same_trees_each_on_one_thread(run_python, expected):
    assert run_python(JOBLIB, NUMBA_NUM_THREADS=2).split() == [expected, "1", expected, "1"]


GRID = """
import legs
from sklearn.model_selection import GridSearchCV
from dtnumba import DecisionTreeClassifier

X, two, _, _ = legs.table(legs.N_LARGE, 10)
for n_jobs in (1, 2):
    search = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [2, 5]}, cv=2, n_jobs=n_jobs)
    search.fit(X, two)
    print(*search.cv_results_["mean_test_score"], legs.digest_of(search.best_estimator_, X))
"""


def test_a_grid_search_finds_the_same_on_two_processes(run_python):
    pytest.importorskip("sklearn")
    alone, together = run_python(GRID, NUMBA_NUM_THREADS=2).splitlines()
    assert together == alone


SPAWNED = """
import multiprocessing, sys
import legs

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.apply(legs.large_job, [None]))
"""


def test_a_spawned_process_grows_the_same_trees(run_python, expected, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SPAWNED)
    assert run_python(script).split() == [expected]
