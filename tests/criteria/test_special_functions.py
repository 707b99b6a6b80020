"""Log-gamma, binomial coefficients and the incomplete beta function, against exact numbers and SciPy's."""

import math

import numpy as np
import pytest

from dtnumba.criteria.special_functions import beta_tails, log2_choose, log_gamma

pytestmark = pytest.mark.small


def beta_at(a, b, x):
    """Return the incomplete beta function and its derivative."""
    a, b, x = (np.array(column, np.float64) for column in np.broadcast_arrays(a, b, x))
    below, slope = np.empty(a.size), np.empty(a.size)
    beta_tails(a.ravel(), b.ravel(), x.ravel(), below, slope)
    return below, slope


def test_log_gamma_keeps_the_shape_and_is_that_of_python():
    x = np.array([[0.25, 1.0], [7.5, 1e6]])
    assert log_gamma(x).tolist() == [[math.lgamma(value) for value in row] for row in x.tolist()]


def test_choices_take_as_many_bits_as_their_number():
    n, k = np.array([1.0, 10.0, 52.0]), np.array([0.0, 4.0, 5.0])
    expected = [math.log2(math.comb(int(a), int(b))) for a, b in zip(n, k, strict=True)]
    assert log2_choose(n, k) == pytest.approx(expected, abs=1e-12)


def test_the_incomplete_beta_function_of_whole_numbers_is_a_binomial_tail():
    for n, k, x in [(5, 2, 0.3), (40, 1, 0.02), (40, 39, 0.9), (200, 100, 0.5)]:
        tail = sum(math.comb(n, j) * x**j * (1 - x) ** (n - j) for j in range(k, n + 1))
        assert beta_at(k, n - k + 1, x)[0] == pytest.approx(tail, rel=1e-12)


def test_the_incomplete_beta_function_is_scipys():
    stats = pytest.importorskip("scipy.stats")
    a, b = np.meshgrid([0.5, 1.0, 3.7, 80.0, 5000.0], [0.5, 1.0, 2.2, 300.0])
    x = stats.beta.ppf(0.3, a, b)
    below, slope = beta_at(a, b, x)
    assert below == pytest.approx(0.3, rel=1e-9)
    assert slope == pytest.approx(stats.beta.pdf(x, a, b).ravel(), rel=1e-9)


def test_the_incomplete_beta_function_goes_from_0_to_1():
    assert beta_at(2.0, 3.0, [0.0, 1.0])[0].tolist() == [0.0, 1.0]
