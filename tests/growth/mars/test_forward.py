"""The forward pass: a published model to eight digits, and least squares for every candidate, on hard tables."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import mars as naive
from strategies import examples

from dtnumba.growth.mars import forward, scan
from dtnumba.growth.mars.forward import ForwardPass
from dtnumba.growth.mars.predictors import read_predictors
from dtnumba.growth.mars.settings import ForwardSettings
from dtnumba.growth.mars.subsets import coefficients_of, path_of
from dtnumba.tables.table import read_table

pytestmark = pytest.mark.small

# Atkinson's cherry trees, in R as ``trees``: girth in inches, height in feet, volume in cubic feet
ROWS = """
8.3 70 10.3|8.6 65 10.3|8.8 63 10.2|10.5 72 16.4|10.7 81 18.8|10.8 83 19.7|11.0 66 15.6|11.0 75 18.2|11.1 80 22.6|
11.2 75 19.9|11.3 79 24.2|11.4 76 21.0|11.4 76 21.4|11.7 69 21.3|12.0 75 19.1|12.9 74 22.2|12.9 85 33.8|13.3 86 27.4|
13.7 71 25.7|13.8 64 24.9|14.0 78 34.5|14.2 80 31.7|14.5 74 36.3|16.0 72 38.3|16.3 77 42.6|17.3 81 55.4|17.5 82 55.7|
17.9 80 58.3|18.0 80 51.5|18.0 80 51.0|20.6 87 77.0"""
TREES = np.array([row.split() for row in ROWS.split("|")], float)
# What earth 5.3.2 says of it: terms, coefficients, RSS of every size
GOLDEN = {
    1: (
        {"": 29.059953511, "h(14.2-x0)": -3.419806152, "h(x0-14.2)": 6.229514342, "h(x1-75)": 0.581364384},
        [8106.083870968, 1224.371288974, 312.684848582, 209.113854567, 199.149463409],
    ),
    2: (
        {"": 29.258585815, "h(14.2-x0)": -3.437775337, "h(x0-14.2)": 5.762953881, "h(x1-75) x0": 0.044433699},
        [8106.083870968, 1224.371288974, 312.684848582, 201.41684],
    ),
}


def grown_by(X, y, weight=None, workers=1, linear=(), allowed=None, **given):
    """Return a forward pass with earth's defaults."""
    options = naive.options_of(X.shape[1], **given)
    settings = ForwardSettings(**{name: options[name] for name in ForwardSettings._fields})
    table = read_table(X, "test")
    predictors = read_predictors(table, np.isin(np.arange(X.shape[1]), linear), False, "test", workers)

    def may_join(features, feature):
        return allowed is None or any({feature, *features} <= set(group) for group in allowed)

    return ForwardPass(predictors, y.reshape(len(y), -1), weight, settings, may_join, workers).run()


def said(factors):
    names = {1: "h(x{j}-{k:g})", -1: "h({k:g}-x{j})", 2: "x{j}"}
    return " ".join(names[direction].format(j=j, k=knot) for j, direction, knot in factors)


@pytest.mark.parametrize("degree", [1, 2])
def test_a_published_model_comes_out_to_eight_digits(degree):
    terms, path = GOLDEN[degree]
    grown = grown_by(TREES[:, :2], TREES[:, 2], max_degree=degree)
    found = path_of(grown, "backward", 2.0 if degree == 1 else 3.0)
    np.testing.assert_allclose(found.rss[: len(path)], path, rtol=1e-8)
    best = int(found.gcv.argmin())
    by = coefficients_of(grown, found.terms[best])[:, 0]
    ours = {said(grown.terms[t]): b for t, b in zip(found.terms[best], by, strict=True)}
    assert ours.keys() == terms.keys()
    for name, coefficient in terms.items():
        assert ours[name] == pytest.approx(coefficient, rel=1e-8)
    assert grown.ended == forward.SMALL_GAIN


def table(seed, n, p, kinds):
    """Return columns of several kinds, of which some decide the target."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    for j in range(p):
        kind = kinds[j % len(kinds)]
        if kind == "few":
            X[:, j] = rng.integers(0, 4, n)
        elif kind == "two":
            X[:, j] = rng.integers(0, 2, n)
        elif kind == "constant":
            X[:, j] = 7.0
        elif kind == "huge":
            X[:, j] = X[:, j] * 1e9 + 1e12
        elif kind == "tiny":
            X[:, j] *= 1e-9
        elif kind == "copy" and j:
            X[:, j] = X[:, j - 1]
    own = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    y = np.abs(own[:, 0]) + own[:, -1] * (own[:, p // 2] > 0) + 0.3 * rng.normal(size=n)
    return X, y


KINDS = st.lists(st.sampled_from(["many", "few", "two", "constant", "huge", "tiny", "copy"]), min_size=1, max_size=4)
OPTIONS = st.fixed_dictionaries(
    {
        "max_degree": st.integers(1, 3),
        "max_terms": st.sampled_from([1, 2, 3, 8, 15, None]),
        "minspan": st.sampled_from([0, 1, 3, -3]),
        "endspan": st.sampled_from([0, 1, 4]),
        "threshold": st.sampled_from([0.001, 0.02]),
        "fast_k": st.sampled_from([0, 3, 20]),
        "fast_beta": st.sampled_from([0.0, 1.0]),
        "newvar_penalty": st.sampled_from([0.0, 0.1]),
        "auto_linear": st.booleans(),
    }
)


@given(
    st.integers(0, 2**16), st.integers(2, 60), st.integers(1, 5), KINDS, OPTIONS, st.sampled_from(["no", "few", "real"])
)
@examples(150)
def test_it_adds_the_terms_that_least_squares_of_every_candidate_say(seed, n, p, kinds, options, weights):
    X, y = table(seed, n, p, kinds)
    rng = np.random.default_rng(seed + 1)
    weight = {"no": None, "few": rng.integers(1, 4, n).astype(float), "real": rng.random(n) + 0.1}[weights]
    grown = grown_by(X, y, weight, **options)
    terms = [term for term in naive.forward(X, y, weight, **options) if term is not None]
    ours = [said(term) for term in grown.terms]
    assert ours == [said(term) for term in terms]
    left = naive.rss_of(X, y, terms, weight)
    assert grown.rss.sum() == pytest.approx(left, rel=1e-6, abs=1e-9 * grown.null_rss.sum())


@pytest.mark.parametrize("allowed", [[(0, 1)], [(0, 2), (1, 2)], [(0, 1, 2)], []])
def test_terms_hold_columns_that_may_meet(allowed):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 3))
    y = X[:, 0] * X[:, 1] + X[:, 1] * X[:, 2] + X[:, 0] * X[:, 2]
    grown = grown_by(X, y, allowed=allowed, max_degree=3, minspan=1, endspan=1)
    columns = [{factor[0] for factor in term} for term in grown.terms]
    assert all(len(one) < 2 or any(one <= set(group) for group in allowed) for one in columns)
    assert [said(t) for t in grown.terms] == [
        said(t) for t in naive.forward(X, y, allowed=allowed, max_degree=3, minspan=1, endspan=1) if t is not None
    ]


def test_listed_columns_enter_as_lines():
    X, y = table(0, 60, 3, ["many"])
    for auto_linear in (True, False):
        options = {"linear_features": (0, 2), "max_degree": 2, "auto_linear": auto_linear}
        grown = grown_by(X, y, linear=(0, 2), max_degree=2, auto_linear=auto_linear)
        assert {f[1] for term in grown.terms for f in term if f[0] in {0, 2}} == {2}
        assert [said(t) for t in grown.terms] == [said(t) for t in naive.forward(X, y, **options) if t is not None]


def test_several_targets_share_their_terms():
    X, y = table(5, 70, 3, ["many", "few"])
    both = np.column_stack([y, X[:, 0] ** 2, np.ones(len(y))])
    grown = grown_by(X, both, max_degree=2)
    terms = [term for term in naive.forward(X, both, max_degree=2) if term is not None]
    assert [said(t) for t in grown.terms] == [said(t) for t in terms]
    assert grown.rss[2] == grown.null_rss[2] == 0.0
    assert grown.rss.sum() == pytest.approx(naive.rss_of(X, both, terms), rel=1e-8)


def test_a_scale_of_columns_and_target_is_that_of_the_model():
    X, y = table(7, 90, 4, ["many", "few"])
    one = grown_by(X, y, max_degree=2)
    scales = np.array([1e-150, 1e150, 3.0, 1.0])
    other = grown_by(X * scales, y * 1e-20, max_degree=2)
    assert [[f[:2] for f in term] for term in one.terms] == [[f[:2] for f in term] for term in other.terms]
    knots = [[k / scales[j] for j, _, k in term] for term in other.terms]
    before = [k for term in one.terms for _, _, k in term]
    np.testing.assert_allclose([k for own in knots for k in own], before, rtol=1e-12)
    every = np.arange(len(one.terms))
    by, other_by = coefficients_of(one, every)[:, 0], coefficients_of(other, every)[:, 0]
    shift = [np.prod([scales[j] for j, _, _ in term]) for term in one.terms]
    np.testing.assert_allclose(other_by * np.array(shift) * 1e20, by, rtol=1e-7)


def test_bits_do_not_depend_on_threads(monkeypatch):
    monkeypatch.setattr(forward, "_PARALLEL_CELLS", 0)
    monkeypatch.setattr("dtnumba.growth.mars.orthonormal._PARALLEL_ROWS", 0)
    X, y = table(1, 300, 4, ["many", "few", "two"])
    first, *others = (grown_by(X, y, workers=w, max_degree=2, max_terms=9) for w in (1, 2, 3, 8))
    for other in others:
        assert other.terms == first.terms
        assert other.triangle.tobytes() == first.triangle.tobytes()
        assert other.goals.tobytes() == first.goals.tobytes()
        assert other.rss.tobytes() == first.rss.tobytes()


def test_what_has_drifted_is_made_anew(monkeypatch):
    X, y = table(2, 60, 3, ["many"])
    right = grown_by(X, y, max_terms=15, threshold=0.0)
    assert right.n_rebuilt == 0
    whole = ForwardPass._scan
    n_scans = []

    def drifting(self, items, shares, most):
        n_scans.append(1)
        found = whole(self, items, shares, most)
        if len(n_scans) == 2:  # what is kept goes wrong, and with it the next step
            self._kept.numbers[:, scan.GOAL :] *= 1.5
            found[:, 0] *= 1.5
        return found

    monkeypatch.setattr(ForwardPass, "_scan", drifting)
    drifted = grown_by(X, y, max_terms=15, threshold=0.0)
    assert drifted.n_rebuilt == 1
    assert drifted.terms == right.terms


def test_an_order_of_rows_changes_nothing_but_rounding():
    X, y = table(4, 120, 3, ["many"])
    order = np.random.default_rng(0).permutation(len(y))
    one, other = grown_by(X, y, max_degree=2), grown_by(X[order], y[order], max_degree=2)
    assert one.terms == other.terms
    np.testing.assert_allclose(one.rss, other.rss, rtol=1e-10)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_rows_are_no_trouble(n):
    X, y = np.arange(float(n))[:, None], np.arange(float(n)) ** 2
    grown = grown_by(X, y, minspan=1, endspan=1)
    assert grown.terms[0] == []
    assert len(grown.terms) <= 3
