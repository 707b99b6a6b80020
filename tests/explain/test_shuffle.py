"""Orders computed place by place: every one is an order, and all are as likely."""

from math import factorial

import numpy as np
import pytest

from dtnumba.explain.shuffle import rows_of, shuffled
from dtnumba.runtime import rng
from dtnumba.runtime.kernels import kernel


@kernel
def fill(out, seed):
    """Write an order a row."""
    n = out.shape[1]
    n_rows = rows_of(n)
    for k in range(len(out)):
        key = rng.mix(np.uint64(seed), k)
        for i in range(n):
            out[k, i] = shuffled(key, i, n, n_rows)


def orders(n_orders, n, seed=0):
    out = np.empty((n_orders, n), np.int64)
    fill(out, seed)
    return out


def chi_squared(counts):
    """Chi-squared statistic of equal chances, a degree of freedom: about 1."""
    expected = counts.sum() / counts.size
    return ((counts - expected) ** 2).sum() / expected / (counts.size - 1)


@pytest.mark.small
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 16, 17, 100, 1023, 1024, 1025, 5000])
def test_every_order_holds_each_thing_once(n):
    for order in orders(3, n):
        assert np.array_equal(np.sort(order), np.arange(n))


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_all_orders_of_few_things_are_as_likely(n):
    _, counts = np.unique(orders(60_000, n), axis=0, return_counts=True)
    assert len(counts) == factorial(n)
    assert chi_squared(counts) < (8 if n == 2 else 2.5)


@pytest.mark.parametrize("n", [10, 37, 150])
def test_every_place_holds_each_thing_as_likely_and_each_pair_too(n):
    found = orders(30_000, n)
    for place in (0, n // 2, n - 1):
        assert chi_squared(np.bincount(found[:, place], minlength=n)) < 1.0 + 4.5 * np.sqrt(2 / n)
    pairs = np.bincount(found[:, 0] * n + found[:, 1], minlength=n * n).reshape(n, n)[~np.eye(n, dtype=bool)]
    assert chi_squared(pairs) < 1.0 + 4.5 * np.sqrt(2 / len(pairs))


def test_keys_give_orders_that_do_not_resemble_each_other():
    found = orders(2000, 2000)
    assert abs((found == np.arange(2000)).sum() / 2000 - 1.0) < 0.15  # as many stay in place as chance leaves there
    assert abs((found[1:] == found[:-1]).sum() / 1999 - 1.0) < 0.15
