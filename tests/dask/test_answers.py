"""Fitted models answer Dask collections on a cluster as they answer them here, sent once to each worker."""

import numpy as np
import pandas as pd
import pytest

from dtnumba import DecisionTreeClassifier, RandomForestClassifier
from dtnumba.runtime.cluster import VersionsDifferError, check_versions, client_of, versions

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).normal(size=(400, 3))


@pytest.fixture(scope="module")
def forest(rows):
    return RandomForestClassifier(n_estimators=5, random_state=0).fit(rows, np.where(rows[:, 0] > 0, "up", "down"))


def count_what_comes():
    from dtnumba.prediction.on_dask import SentModel

    SentModel.came = 0
    usual = SentModel.__init__

    def counted(self, *given):
        SentModel.came += 1
        usual(self, *given)

    SentModel.__init__ = counted


def what_came():
    from dtnumba.prediction.on_dask import SentModel

    return SentModel.came


def test_a_model_comes_once_to_each_worker(client, rows, forest):
    client.run(count_what_comes)
    lazy = forest.predict_proba(da.from_array(rows, chunks=(20, 3)))
    assert np.array_equal(lazy.compute(), forest.predict_proba(rows))
    assert set(client.run(what_came).values()) == {1}
    frame = pd.DataFrame(rows, columns=["a", "b", "c"])
    tree = DecisionTreeClassifier(max_depth=4).fit(frame, rows[:, 1] > 0)
    found = tree.predict(dd.from_pandas(frame, npartitions=20)).compute()
    assert np.array_equal(found, tree.predict(frame))
    assert set(client.run(what_came).values()) == {2}


def test_a_fit_after_the_question_does_not_change_the_answer(client, rows):
    y = rows[:, 0] > 0
    tree = DecisionTreeClassifier(max_depth=2).fit(rows, y)
    before = tree.predict_proba(rows)
    lazy = tree.predict_proba(da.from_array(rows, chunks=(100, 3)))
    tree.fit(rows, rows[:, 2] > 0)
    assert np.array_equal(lazy.compute(), before)


def test_a_worker_of_another_version_is_refused_with_both(client, rows, forest):
    def be_older(version):
        import dtnumba

        dtnumba.__version__ = version

    worker, _other = client.scheduler_info()["workers"]
    client.run(be_older, "0.0.1", workers=[worker])
    ours = versions()
    both = rf"runs dtnumba 0\.0\.1 with Numba {ours['numba']}.*dtnumba {ours['dtnumba']} with Numba"
    try:
        with pytest.raises(VersionsDifferError, match=f"{worker} {both}"):
            check_versions(client)
        with pytest.raises(VersionsDifferError, match=f"This worker {both}"):
            forest.apply(da.from_array(rows, chunks=(50, 3))).compute(workers=[worker], allow_other_workers=False)
    finally:
        client.run(be_older, ours["dtnumba"], workers=[worker])
    check_versions(client)


def test_a_worker_without_the_package_is_refused(client):
    def hide():
        import sys

        sys.modules["dtnumba.hidden"], sys.modules["dtnumba"] = sys.modules["dtnumba"], None

    def show():
        import sys

        sys.modules["dtnumba"] = sys.modules.pop("dtnumba.hidden")

    client.run(lambda: __import__("dtnumba").__version__)
    client.run(hide)
    try:
        with pytest.raises(VersionsDifferError, match=r"has no dtnumba .*install dtnumba\[dask\] on all workers"):
            check_versions(client)
    finally:
        client.run(show)
    check_versions(client)


def test_a_client_is_the_given_one_that_of_the_worker_or_the_last_one(client):
    assert client_of(client) is client
    assert client_of() is client
    assert client.submit(lambda: client_of().scheduler.address).result() == client.scheduler.address
    with pytest.raises(TypeError, match=r"client=3: must be a Client of dask\.distributed"):
        client_of(3)
