"""When faster kernels are compiled: where they are there, or save more than they cost."""

import numpy as np
import pytest

from dtnumba.runtime import tiers
from dtnumba.runtime.addresses import Code
from dtnumba.runtime.kernels import COMPILED

pytestmark = pytest.mark.skipif(not COMPILED, reason="nothing is compiled")


def build(is_plain, name="kernel"):
    return is_plain, [Code(name, (1, np.zeros(1)), 3, "plain" if is_plain else "fast")]


def other(is_plain):
    return build(is_plain, "other")


@pytest.fixture
def there(monkeypatch):
    """Kinds of kernels: in this process, and on disk."""
    loaded, on_disk = set(), set()
    monkeypatch.setattr(tiers, "SMALL_WORK_IS_PLAIN", True)
    monkeypatch.setattr(tiers, "_LOST", {})
    monkeypatch.setattr(tiers, "_ARE_PLAIN", [True])
    monkeypatch.setattr(tiers, "are_loaded", lambda codes: all(code.kind in loaded for code in codes))
    monkeypatch.setattr(tiers, "are_compiled", lambda codes: all(code.kind in loaded | on_disk for code in codes))
    return loaded, on_disk


def is_plain(saved, cost, build=build):
    return tiers.chosen(build, saved, cost)[0]


def test_kernels_that_are_there_are_taken(there):
    there[1].add("fast")
    assert not is_plain(0.0, 1.0)
    assert not is_plain(0.1, 1.0)


def test_of_kernels_that_are_there_a_trifle_takes_the_plain_ones(there):
    there[0].update(("fast", "plain"))
    assert is_plain(0.0, 1.0)
    assert not is_plain(0.1, 1.0)


def test_a_trifle_takes_the_kernels_of_the_last_one_where_these_are_there(there):
    there[0].add("fast")
    assert not is_plain(0.0, 1.0)
    there[0].add("plain")
    assert not is_plain(0.0, 1.0)


def test_small_work_does_not_repay_compiling_and_large_work_does(there):
    assert is_plain(0.1, 1.0)
    assert not is_plain(1.1, 1.0, other)


def test_work_that_comes_again_repays_it_sooner(there):
    assert [is_plain(0.1, 1.0) for _ in range(3)] == [True, False, False]
    assert [is_plain(0.001, 1.0, other) for _ in range(3)] == [True] * 3


def test_the_tests_take_the_faster_kernels(there, monkeypatch):
    monkeypatch.setattr(tiers, "SMALL_WORK_IS_PLAIN", False)
    assert not is_plain(0.0, 1.0)
