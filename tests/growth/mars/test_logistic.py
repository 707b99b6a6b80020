"""Logistic regression: the slope of the likelihood is nothing where it ends, and R's numbers."""

import numpy as np
import pytest

from dtnumba.growth.mars.logistic import codes_and_shares, fit_logistic, shares_of

pytestmark = pytest.mark.small


def rows(seed, n, k, m=4):
    rng = np.random.default_rng(seed)
    terms = np.column_stack([np.ones(n), rng.normal(size=(n, m - 1)) * [1.0, 1e4, 1e-3][: m - 1]])
    odds = np.column_stack([np.zeros(n), rng.normal(size=(n, k - 1)) + terms[:, 1:2] * np.arange(1, k)])
    return terms, (odds + rng.gumbel(size=(n, k))).argmax(axis=1)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("weighted", [False, True])
def test_nothing_near_is_likelier(k, weighted):
    terms, codes = rows(1, 300, k)
    weight = np.random.default_rng(2).integers(1, 4, 300).astype(float) if weighted else None
    found = fit_logistic(terms, codes, k, weight)
    assert found.converged
    assert found.n_steps < 12
    assert (found.coefficients[:, 0] == 0).all()
    w = np.ones(300) if weight is None else weight
    shares = shares_of(terms @ found.coefficients)
    slope = (terms / np.abs(terms).max(axis=0)).T @ (w[:, None] * ((codes[:, None] == np.arange(k)) - shares))
    assert np.abs(slope).max() < 1e-4
    own = shares[np.arange(300), codes]
    assert found.deviance == pytest.approx(-2 * (w * np.log(own)).sum(), rel=1e-12)
    part = np.bincount(codes, w) / w.sum()
    assert found.null_deviance == pytest.approx(-2 * (w * np.log(part[codes])).sum(), rel=1e-12)


def test_a_weight_of_two_is_the_row_twice():
    terms, codes = rows(3, 60, 3)
    twice = np.repeat(np.arange(60), 1 + np.arange(60) % 2)
    one = fit_logistic(terms, codes, 3, 1.0 + np.arange(60) % 2)
    other = fit_logistic(terms[twice], codes[twice], 3, None)
    np.testing.assert_allclose(one.coefficients, other.coefficients, rtol=1e-8)


def test_terms_of_any_size_and_copies_of_terms_are_no_trouble():
    terms, codes = rows(4, 80, 2, m=3)
    wanted = shares_of(terms @ fit_logistic(terms, codes, 2, None).coefficients)
    odd = np.column_stack([terms * [1.0, 1e250, 1e-250], terms[:, 1] * 2.0, np.zeros(80)])
    found = fit_logistic(odd, codes, 2, None)
    assert (found.coefficients[3:] == 0).all()
    np.testing.assert_allclose(shares_of(odd @ found.coefficients), wanted, rtol=1e-9)


def test_it_ends_where_classes_are_parted():
    x = np.linspace(-1, 1, 40)
    found = fit_logistic(np.column_stack([np.ones(40), x]), (x > 0).astype(int), 2, None)
    assert found.n_steps <= 25
    assert np.isfinite(found.coefficients).all()
    assert found.deviance < 1e-4


def test_the_first_of_equal_classes_is_said():
    codes, shares = codes_and_shares(np.array([[0.0], [1.0], [-1.0]]), 2)
    assert codes.tolist() == [0, 1, 0]
    assert shares[0].tolist() == [0.5, 0.5]
    assert codes_and_shares(np.zeros((2, 3)), 3)[0].tolist() == [0, 0]
    assert codes_and_shares(np.zeros((2, 1)), 1)[1].tolist() == [[1.0], [1.0]]
