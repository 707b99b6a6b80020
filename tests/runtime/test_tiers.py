"""When faster kernels are compiled: where they are there, or save more than they cost."""

import numpy as np
import pytest

from dtnumba.runtime import tiers
from dtnumba.runtime.kernels import COMPILED

pytestmark = pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
WANTED = [("kernel", (1, np.zeros(1)), 3)]


@pytest.fixture(autouse=True)
def _fresh(monkeypatch):
    monkeypatch.setattr(tiers, "SMALL_WORK_IS_PLAIN", True)
    monkeypatch.setattr(tiers, "_LOST", {})
    monkeypatch.setattr(tiers, "are_compiled", lambda wanted: False)


def test_kernels_that_are_there_are_taken(monkeypatch):
    monkeypatch.setattr(tiers, "are_compiled", lambda wanted: True)
    assert tiers.repays(WANTED, 0.0, 1.0)


def test_small_work_does_not_repay_compiling_and_large_work_does():
    assert not tiers.repays(WANTED, 0.1, 1.0)
    assert tiers.repays([("other", (1,), 3)], 1.1, 1.0)


def test_work_that_comes_again_repays_it_sooner():
    found = [tiers.repays(WANTED, 0.1, 1.0) for _ in range(3)]
    assert found == [False, True, True]
    assert [tiers.repays([("other", (1,), 3)], 0.001, 1.0) for _ in range(3)] == [False] * 3


def test_the_tests_take_the_faster_kernels(monkeypatch):
    monkeypatch.setattr(tiers, "SMALL_WORK_IS_PLAIN", False)
    assert tiers.repays(WANTED, 0.0, 1.0)
