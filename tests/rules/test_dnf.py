"""What a tree says of a class as an "or" of "and"s: the same function, and the shortest."""

import itertools
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import rules as naive
from strategies import examples, interpreted_only

from dtnumba import DecisionTreeClassifier, ExtraTreeClassifier, ID3Classifier, export
from dtnumba.rules import dnf
from dtnumba.rules.paths import labelled_paths
from dtnumba.runtime.kernels import COMPILED

pytestmark = pytest.mark.small


def inputs(n):
    return np.array(list(itertools.product((0, 1), repeat=n)))


def test_the_disjunction_is_two_terms():
    X = inputs(4)
    y = (X[:, 0] & X[:, 1]) | (X[:, 2] & X[:, 3])
    tree = DecisionTreeClassifier().fit(X, y)
    assert tree.n_leaves_ > 4
    assert export.dnf(tree, 1) == "(x0 > 0.5 and x1 > 0.5) or (x2 > 0.5 and x3 > 0.5)"
    assert export.dnf(tree, 0).terms[0] == ("x0 <= 0.5", "x2 <= 0.5")
    assert len(export.dnf(tree, 0).terms) == 4


def test_nilssons_patterns_and_parity():
    X = inputs(3)
    assert export.dnf(DecisionTreeClassifier().fit(X, X[:, 0] & X[:, 2]), 1) == "(x0 > 0.5 and x2 > 0.5)"
    parity = export.dnf(DecisionTreeClassifier().fit(X, X.sum(axis=1) % 2), 1)
    assert [len(term) for term in parity.terms] == [3] * 4


@interpreted_only
@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
@examples(30)
def test_it_is_the_tree_on_all_inputs(seed, n):
    X, rng = inputs(n), np.random.default_rng(seed)
    y = rng.integers(0, 3, len(X))
    tree = ExtraTreeClassifier(max_features=None, random_state=seed).fit(X, y)
    for k in tree.classes_.tolist():
        assert export.dnf(tree, k).holds(X).tolist() == (tree.predict(X) == k).tolist()


@given(st.integers(0, 2**32 - 1))
@examples(15)
def test_no_formula_is_shorter(seed):
    X, rng = inputs(3), np.random.default_rng(seed)
    y = rng.integers(0, 2, 8)
    y[rng.integers(0, 8)] = 1
    formula = export.dnf(DecisionTreeClassifier().fit(X, y), 1)
    assert (len(formula.terms), sum(map(len, formula.terms))) == naive.fewest_terms(y.reshape(2, 2, 2) == 1)


@interpreted_only
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"categorical_split": "multiway", "missing": "fractional"},
        {"numeric_split": "interval", "missing": "majority"},
        {"numeric_split": "multiway", "missing": "branch"},
        {"max_depth": 3, "missing": "majority"},
    ],
    ids=str,
)
def test_numbers_and_categories_are_variables(options):
    rng = np.random.default_rng(0)
    X = np.stack([rng.normal(size=80).round(1), rng.integers(0, 5, 80), rng.normal(size=80)], axis=1)
    y = np.where(X[:, 0] * X[:, 2] > 0, "yes", np.where(X[:, 1] > 2, "no", "perhaps"))
    tree = DecisionTreeClassifier(categorical_features=[1], **options).fit(X, y)
    rows = np.stack([rng.normal(size=500), rng.integers(0, 5, 500), rng.normal(size=500)], axis=1)
    found = np.array([export.dnf(tree, k).holds(rows) for k in tree.classes_])
    assert (found.sum(axis=0) == 1).all()
    assert tree.classes_[found.argmax(axis=0)].tolist() == tree.predict(rows).tolist()


def test_of_many_variables_no_test_and_no_term_is_spare():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] * X[:, 1] + rng.normal(size=60) / 2 > 0
    tree = DecisionTreeClassifier().fit(X, y)
    formula = export.dnf(tree, True)
    rows = np.concatenate([rng.normal(size=(3000, 3)), X])
    assert formula.holds(rows).tolist() == tree.predict(rows).tolist()
    paths = labelled_paths(tree)
    space, terms = dnf.space_of([[test._replace(missing=False) for test in tests] for tests, *_ in paths], lambda j: 0)
    assert len(space.variables) > dnf.MOST_VARIABLES
    positive, negative = ([t for t, (_, k, *_) in zip(terms, paths, strict=True) if k == side] for side in (1, 0))
    found = dnf.shortest(space, positive, negative)
    assert dnf.computes(space, found, positive, negative)
    for term in found:
        assert not dnf.computes(space, [other for other in found if other != term], positive, negative)
        for literal in term:
            fewer = [one for one in term if one != literal]
            assert not dnf.computes(space, [fewer if other == term else other for other in found], positive, negative)


@pytest.mark.parametrize("seed", [1, 5, 18])
@pytest.mark.parametrize("binary", [False, True])
def test_paths_of_missing_values_are_no_part_of_a_formula(seed, binary):
    """ID3 ends a missing value at the node that asks for it, a path that no whole row takes."""
    rng = np.random.default_rng(seed)
    every = np.array(list(itertools.product("abc", repeat=3)), object)
    X, y = every[rng.integers(0, 27, 40)], rng.integers(0, 2, 40)
    tree = ID3Classifier(binary=binary).fit(X, y)
    for label in (0, 1):
        formula = export.dnf(tree, label)
        assert formula.holds(every).tolist() == (tree.predict(every) == label).tolist()
        assert " in {}" not in formula


def test_what_a_tree_never_or_always_says():
    tree = DecisionTreeClassifier(max_depth=1).fit([[0], [0], [0], [1], [1]], ["a", "a", "b", "c", "c"])
    assert export.dnf(tree, "b") == "nothing"
    assert export.dnf(tree, "b").holds([[0], [1]]).tolist() == [False, False]
    single = DecisionTreeClassifier().fit([[0], [1]], ["a", "a"])
    assert export.dnf(single, "a") == "anything"
    assert export.dnf(single, "a").holds([[0], [np.nan]]).tolist() == [True, True]


def test_a_random_function_of_nine_bits_takes_seconds():
    """A search for the very cheapest cover would take years."""
    X = inputs(9)
    y = np.random.default_rng(0).integers(0, 2, len(X))
    tree = DecisionTreeClassifier().fit(X, y)
    formula = export.dnf(tree, 1)
    assert formula.holds(X).tolist() == (y == 1).tolist()
    assert len(formula.terms) < tree.n_leaves_ / 3


def seconds_for_a_formula(n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 6))
    y = (X[:, 0] * X[:, 1] + X[:, 2] > 0) ^ (rng.random(n) < 0.1)
    tree = DecisionTreeClassifier().fit(X, y)
    taken = []
    for _ in range(2):
        began = time.process_time()
        formula = export.dnf(tree, True)
        taken.append(time.process_time() - began)
    assert formula.holds(X).tolist() == y.tolist()
    return min(taken)


@pytest.mark.skipif(not COMPILED, reason="the tree takes long")
def test_four_times_the_rows_take_less_than_nine_times_as_long():
    """All paths against all others would take sixteen times as long."""
    assert seconds_for_a_formula(8_000) < 9 * seconds_for_a_formula(2_000)


@given(st.integers(0, 2**32 - 1))
@examples(25)
def test_paths_that_a_region_meets_are_those_it_has_a_pattern_with(seed):
    rng = np.random.default_rng(seed)
    X = np.stack([rng.normal(size=60), rng.integers(0, 5, 60), rng.normal(size=60)], axis=1)
    tree = DecisionTreeClassifier(categorical_features=[1]).fit(X, rng.integers(0, 2, 60))
    bodies = [[test._replace(missing=False) for test in path.tests] for path in labelled_paths(tree)]
    space, terms = dnf.space_of(bodies, lambda j: 5 if j == 1 else 0)
    paths = dnf.Paths(space, terms)
    for term in terms:
        chosen = [literal for literal in term if rng.random() < 0.5]
        region = space.region(chosen)
        expected = [p for p, own in enumerate(terms) if all(map(dnf._is_any, space.region([*chosen, *own]).values()))]
        assert sorted(paths.meeting(region)) == expected


def test_bad_input():
    tree = DecisionTreeClassifier().fit([[0], [1]], [0, 1])
    with pytest.raises(ValueError, match=r"class_='yes': is none of the model's classes \[0, 1\]"):
        export.dnf(tree, "yes")
    with pytest.raises(TypeError, match="must be a fitted classifier of one tree"):
        export.dnf("tree", 1)
    with pytest.raises(TypeError, match="must be one label"):
        export.dnf(tree, np.array([0, 1]))
