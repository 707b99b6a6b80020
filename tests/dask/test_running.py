"""A fit on a cluster that is watched, stopped, interrupted, or loses a worker."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from strategies import same_trees

import dtnumba
import dtnumba.dask
from dtnumba.dask.running import threads_of
from dtnumba.runtime.cluster import VersionsDifferError

pytest.importorskip("distributed")
delayed = pytest.importorskip("dask").delayed

N = 2000


def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 4))
    return X, (X[:, 0] + rng.normal(size=N) > 0).astype(int)


def slowly(array):
    time.sleep(0.2)
    return array


def in_parts(array):
    return [delayed(slowly)(part) for part in np.array_split(array, 4)]


def n_tasks(client):
    return client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))


def assert_nothing_left(client):
    until = time.monotonic() + 20
    while n_tasks(client) and time.monotonic() < until:
        time.sleep(0.05)
    assert n_tasks(client) == 0


def test_threads_are_dealt_out_worker_by_worker(client):
    assert threads_of(client) == sorted(client.nthreads())


def test_a_worker_of_another_version_that_came_late_is_refused(client, monkeypatch):
    X, y = rows()
    monkeypatch.setattr("dtnumba.dask.running.versions", lambda: {"dtnumba": "0.0", "numba": "0.0"})
    with pytest.raises(VersionsDifferError, match=r"This worker runs dtnumba .* comes from dtnumba 0\.0 with Numba 0"):
        dtnumba.dask.RandomForestClassifier(2).fit(in_parts(X), in_parts(y), client=client)
    assert_nothing_left(client)


def test_progress_is_told_and_nothing_stays_on_the_cluster(client):
    X, y = rows()
    seen = []
    model = dtnumba.dask.RandomForestClassifier(8, random_state=0, verbose=seen.append)
    model.fit(in_parts(X), in_parts(y), client=client)
    assert [one.total for one in seen] == [8] * len(seen)
    assert seen[0].done == 0
    assert seen[-1].done == 8
    assert_nothing_left(client)


def test_a_callback_that_says_no_ends_the_fit(client):
    X, y = rows()
    model = dtnumba.dask.RandomForestClassifier(8, random_state=0, verbose=lambda progress: False)
    with pytest.raises(TimeoutError, match="stopped"):
        model.fit(in_parts(X), in_parts(y), client=client)
    assert not hasattr(model, "forest_")
    assert_nothing_left(client)


def test_the_time_is_over_before_the_rows_are_read(client):
    X, y = rows()
    with pytest.raises(TimeoutError, match="max_seconds"):
        dtnumba.dask.RandomForestClassifier(8, max_seconds=0.0).fit(in_parts(X), in_parts(y), client=client)
    assert_nothing_left(client)


def test_an_error_of_a_partition_is_raised_here_and_leaves_nothing(client):
    X, y = rows()
    broken = [*in_parts(X)[:3], delayed(lambda: 1 / 0)()]
    with pytest.raises(ZeroDivisionError):
        dtnumba.dask.RandomForestClassifier(2).fit(broken, in_parts(y), client=client)
    assert_nothing_left(client)


def test_ctrl_c_leaves_nothing_on_the_cluster(client):
    X, y = rows()
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        dtnumba.dask.RandomForestClassifier(2).fit(in_parts(X), in_parts(y), client=client)
    timer.join()
    assert_nothing_left(client)


MOMENTS = {
    "while rows are read": lambda progress: True,
    "while trees grow": lambda progress: progress.done > 0,
    "while votes are counted": lambda progress: progress.stage == "out of bag",
}


@pytest.fixture(scope="module")
def mortal():
    """Give a client of a cluster of four workers, of which three are killed."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=4, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_worker_that_is_killed_costs_its_share_and_no_bit(mortal, moment):
    X, y = rows()
    params = {"n_estimators": 12, "random_state": 0, "oob_score": True, "max_depth": 6}
    victims = [next(iter(mortal.run(os.getpid).values()))]

    def kill(progress):
        if victims and MOMENTS[moment](progress):
            os.kill(victims.pop(), signal.SIGKILL)

    model = dtnumba.dask.RandomForestClassifier(**params, verbose=kill)
    model.fit(in_parts(X), in_parts(y), client=mortal)
    assert not victims
    local = dtnumba.RandomForestClassifier(**params).fit(X, y)
    assert same_trees(model.trees_, local.trees_)
    assert np.array_equal(model.oob_decision_function_, local.oob_decision_function_, equal_nan=True)
