"""Kernels are compiled once a machine, ahead of the first fit where that is wished, and sent where they are had."""

import json

import numpy as np
import pytest

from dtnumba.dask.workers import warm_up
from dtnumba.runtime import disk_cache, portable
from dtnumba.runtime.kernels import COMPILED

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    own = {"NUMBA_CACHE_DIR": str(tmp_path_factory.mktemp("kernels"))}
    kind = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0", "env": own}
    with distributed.LocalCluster(**kind) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def client(cluster):
    with distributed.Client(cluster) as client:
        yield client


def fit_and_tell():
    """Fit a tree, and return the kernels that were compiled for it in this process."""
    from dtnumba import DecisionTreeRegressor
    from dtnumba.runtime import side_by_side

    side_by_side.STARTS_HELPERS = False
    compiled, usual = [], disk_cache.KernelCache.save_overload

    def told(self, sig, data):
        compiled.append((self._name(), repr(sig)))
        usual(self, sig, data)

    disk_cache.KernelCache.save_overload = told
    X = np.arange(40.0)[:, None]
    DecisionTreeRegressor(max_depth=1).fit(X, X[:, 0]).predict(X)
    return compiled


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
def test_what_one_worker_compiles_the_other_loads(client):
    one, other = client.run(fit_and_tell).values()
    assert len(one) + len(other) > 1
    assert not set(one) & set(other)


def be_quick():
    """Let nothing be compiled, and say who was asked."""
    from dtnumba.estimators import warm_up

    def asked(*names, verbose):
        return list(names)

    warm_up.warmup = asked


def test_one_worker_of_a_machine_compiles_ahead(client):
    client.run(be_quick)
    found = warm_up("ID3Classifier", "C45Classifier", client=client)
    assert set(found) == set(client.nthreads())
    assert sorted(found.values()) == [[], ["C45Classifier", "ID3Classifier"]]
    assert list(warm_up("C45Classifier", "ID3Classifier", client=client).values()) == [[], []]


def what_is_there():
    import os
    from pathlib import Path

    folder = Path(os.environ[portable.FOLDER])
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_kernels_of_another_machine_are_sent_to_workers_that_come_later_too(client, cluster, tmp_path):
    with pytest.raises(ValueError, match=r"has no dtnumba-kernels\.json: pass a folder that `python -m dtnumba warmup"):
        warm_up(kernels=tmp_path, client=client)
    manifest = json.dumps(portable.manifest("x86-64-v3", disk_cache.portable_stamp())).encode()
    files = {portable.MANIFEST: manifest, "kernel-1.nbc": b"\0machine code"}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    warm_up(kernels=tmp_path, client=client)
    assert list(client.run(what_is_there).values()) == [files, files]
    cluster.scale(3)
    client.wait_for_workers(3, timeout=60)
    assert list(client.run(what_is_there).values()) == [files, files, files]


def test_what_cannot_be_prepared_is_refused(client):
    with pytest.raises(ValueError, match=r"learners=\(\) and kernels=None: pass names of learners"):
        warm_up(client=client)
    with pytest.raises(ValueError, match="'Forest' is no learner that can be compiled; known are"):
        warm_up("Forest", client=client)
