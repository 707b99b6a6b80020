"""The best terms of every size, against least squares of the rows themselves."""

import numpy as np
import pytest
from growth.mars.test_forward import grown_by, table
from hypothesis import given
from hypothesis import strategies as st
from naive import mars as naive
from strategies import examples

from dtnumba.growth.mars.exhaustive import Drop
from dtnumba.growth.mars.subsets import METHODS, Problem, coefficients_of, path_of, squares_of
from dtnumba.runtime.tasks import launch

pytestmark = pytest.mark.small


def pass_of(seed, n, degree=2, most=12, weight=None):
    X, y = table(seed, n, 3, ["many", "few"])
    grown = grown_by(X, y, weight, max_degree=degree, max_terms=most, threshold=0.0, minspan=1, endspan=2)
    return X, y, grown


@given(st.integers(0, 2**16), st.integers(12, 60), st.booleans())
@examples(60)
def test_backward_is_that_of_the_definition(seed, n, weighted):
    weight = np.random.default_rng(seed).random(n) + 0.2 if weighted else None
    X, y, grown = pass_of(seed, n, weight=weight)
    path = path_of(grown, "backward", 3.0)
    sets = naive.backward(X, y, [tuple(term) for term in grown.terms], weight)
    rss = [naive.rss_of(X, y, [grown.terms[k] for k in some], weight) for some in sets]
    np.testing.assert_allclose(path.rss, rss, rtol=1e-6, atol=1e-8 * rss[0])
    scores = [naive.gcv(r, n, k + 1, 3.0) for k, r in enumerate(rss)]
    finite = np.isfinite(scores)
    np.testing.assert_array_equal(np.isfinite(path.gcv), finite)
    np.testing.assert_allclose(path.gcv[finite], np.array(scores)[finite], rtol=1e-6, atol=1e-8 * rss[0])


@given(st.integers(0, 2**16), st.integers(14, 50))
@examples(30)
def test_no_set_is_better_than_the_exhaustive_one(seed, n):
    X, y, grown = pass_of(seed, n, most=9)
    path = path_of(grown, "exhaustive", 3.0)
    sets = naive.exhaustive(X, y, [tuple(term) for term in grown.terms])
    rss = [naive.rss_of(X, y, [grown.terms[k] for k in some]) for some in sets]
    np.testing.assert_allclose(path.rss, rss, rtol=1e-6, atol=1e-8 * rss[0])
    for method in METHODS:
        other = path_of(grown, method, 3.0)
        assert (other.rss >= path.rss * (1 - 1e-9)).all(), method
        assert (np.diff(other.rss) <= 1e-9 * other.rss[0]).all(), method


@pytest.mark.parametrize("method", METHODS)
def test_what_a_path_says_is_what_its_terms_leave_over(method):
    X, y, grown = pass_of(3, 80)
    path = path_of(grown, method, 3.0)
    for terms, rss in zip(path.terms, path.rss, strict=True):
        assert terms[0] == 0
        assert (np.diff(terms) > 0).all()
        made = naive.design(X, [grown.terms[t] for t in terms])
        by = coefficients_of(grown, terms)
        left = ((y[:, None] - made @ by) ** 2).sum(axis=0)
        assert left[0] == pytest.approx(rss, rel=1e-8)
        assert squares_of(grown, terms)[0] == pytest.approx(rss, rel=1e-8)


def test_replacing_helps_where_adding_alone_does_not():
    worse = 0
    for seed in range(12):
        _, _, grown = pass_of(seed, 60, most=15)
        adding, replacing = (path_of(grown, method, 3.0).rss for method in ("forward", "seqrep"))
        assert (replacing <= adding * (1 + 1e-9)).all()
        worse += bool((replacing < adding * (1 - 1e-6)).any())
    assert worse > 0


def test_a_search_that_nobody_waits_for_ends():
    _, _, grown = pass_of(1, 60, most=11)
    problem = Problem(grown)
    m = problem.n_terms
    triangle, goals = problem.turned(list(range(m)))
    triangles, terms, sizes = (
        np.zeros((m + 1, m, m + 1)),
        np.zeros((m + 1, m), np.int64),
        np.zeros((m + 1, 3), np.int64),
    )
    triangles[0, :, :m], triangles[0, :, m:], terms[0], sizes[0] = triangle, goals, np.arange(m), (m, 1, 1)
    for halt, is_done in ((1, False), (0, True)):
        rss, best = np.full(m, np.inf), np.zeros((m, m), np.int64)
        launch(Drop(triangles.copy(), terms.copy(), sizes.copy(), problem.left, rss, best, np.full(1, halt)))
        assert np.isfinite(rss).all() == is_done
