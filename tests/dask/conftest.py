"""A cluster of two processes of one thread each, for a module of tests."""

import pytest


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    kind = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with distributed.LocalCluster(**kind) as cluster, distributed.Client(cluster) as client:
        yield client
