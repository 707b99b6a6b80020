"""Decision lists: the worked example, each choice against trying all terms, and limits."""

import itertools
import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import rules as naive
from strategies import examples, interpreted_only

from dtnumba import DecisionListClassifier
from dtnumba.rules.decision_list import greedy_list, terms_of
from dtnumba.rules.simplify import Sample
from dtnumba.rules.term_tests import MANY_TERMS, column_tests, n_terms
from dtnumba.runtime.kernels import COMPILED
from dtnumba.tables.binned_table import read_features
from dtnumba.tables.table import read_table

pytestmark = pytest.mark.small


def disjunction():
    X = np.array(list(itertools.product((0, 1), repeat=4)))
    return X, (X[:, 0] & X[:, 1]) | (X[:, 2] & X[:, 3])


def test_the_list_of_the_notes():
    X, y = disjunction()
    made = DecisionListClassifier().fit(X, y)
    said = [(" and ".join(rule.tests), rule.label, rule.covered) for rule in made.rules_]
    assert said == [
        ("x0 <= 0.5 and x2 <= 0.5", 0, 4),
        ("x0 > 0.5 and x1 > 0.5", 1, 4),
        ("x3 <= 0.5", 0, 4),
        ("x2 > 0.5", 1, 3),
    ]
    assert made.rules_.default == 0
    assert made.rules_.arrays.decided[-1].tolist() == [1, 0]
    assert made.score(X, y) == 1.0


def test_no_list_of_single_tests_computes_the_disjunction():
    X, y = disjunction()
    assert DecisionListClassifier(max_tests=1, min_objects=1).fit(X, y).score(X, y) < 1.0


def all_tests(table, most):
    columns = column_tests(table, np.ones(table.n_rows, bool), most)
    return [own.condition(t) for own in columns for t in range(own.n_tests)]


def naive_list(X, code, tests, most, least, n_classes):
    """The greedy list by trying every term on every row."""
    left, found = np.ones(len(X), bool), []
    passed = np.array([[naive.passes(test, row[test.feature]) for row in X] for test in tests]).reshape(-1, len(X))
    terms = [
        term
        for size in range(1, most + 1)
        for term in itertools.combinations(range(len(tests)), size)
        if len({tests[t].feature for t in term}) == size
    ]
    while len(set(code[left])) > 1:
        pure, best = None, None
        for term in terms:
            is_in = passed[list(term)].all(axis=0) & left
            n = is_in.sum()
            if n < least:
                continue
            largest = np.bincount(code[is_in]).max()
            if largest == n and (pure is None or n > pure[0]):
                pure = (n, term)
            score = (largest + 1) / (n + n_classes)
            if best is None or score > best[0]:
                best = (score, term)
        everyone = (np.bincount(code[left]).max() + 1) / (left.sum() + n_classes)
        if pure is None and (best is None or best[0] <= everyone):
            break
        term = (pure or best)[1]
        is_in = passed[list(term)].all(axis=0) & left
        found.append(([tests[t] for t in term], int(np.bincount(code[is_in]).argmax())))
        left &= ~is_in
    rest = code[left] if left.any() else code
    return found, int(np.bincount(rest).argmax())


@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.sampled_from([1, 2, 5]))
@examples(25)
def test_every_choice_is_the_one_of_trying_all_terms(seed, most, least):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (rng.integers(2, 80), 3)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    code = rng.integers(0, 3, len(X))
    code[:3] = range(len(code[:3]))
    sample = Sample(read_table(X, "rows"), code, None, 3)
    bodies, label, default, _ = greedy_list(sample, most, least)
    tests = all_tests(sample.table, most)
    expected, otherwise = naive_list(X, code, tests, most, least, 3)
    assert list(zip(map(str, bodies), label.tolist(), strict=True)) == [(str(body), k) for body, k in expected]
    assert default == otherwise


@given(st.integers(0, 2**32 - 1))
@examples(15)
def test_a_list_without_errors_is_found_where_there_is_one(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (60, 5))
    y = rng.integers(0, 3) * np.ones(60, int)
    for i, j, value in rng.integers(0, 2, (4, 3)).tolist():
        y[(X[:, i] == value) & (X[:, j + 2] == 1)] = rng.integers(0, 3)
    made = DecisionListClassifier(max_tests=2, min_objects=1).fit(X, y)
    assert made.score(X, y) == 1.0


@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.booleans())
@examples(25)
def test_every_choice_among_categories_is_the_one_of_trying_all_terms(seed, most, has_weights):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 60))
    X = rng.integers(0, [2, 4, 9], (n, 3)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    code = np.concatenate([np.arange(3), rng.integers(0, 3, n - 3)])
    weight = rng.choice([1.0, 2.0], n) if has_weights else np.ones(n)
    times = weight.astype(int)
    table = read_features(X, "rows", None, [1, 2])
    sample = Sample(table, code, weight, 3)
    found = greedy_list(sample, most, 2.0)
    tests = all_tests(table, most)
    values = np.column_stack([table.column(j) for j in range(3)])
    expected, otherwise = naive_list(values.repeat(times, 0), code.repeat(times), tests, most, 2.0, 3)
    assert list(zip(map(str, found.bodies), found.label.tolist(), strict=True)) == [(str(b), k) for b, k in expected]
    assert found.default == otherwise
    assert found.decided.sum() == weight.sum()


@interpreted_only
def test_many_levels_take_no_more_memory_than_few():
    """Rows times levels would be forty megabytes of bits, and more on the way there."""
    rng = np.random.default_rng(0)
    level = np.vstack([np.repeat(np.arange(4_000.0)[:, None], 2, 1), rng.integers(0, 4_000, (36_000, 2))])
    table = read_features(level, "rows", None, [0, 1])
    sample = Sample(table, rng.integers(0, 2, 40_000), None, 2)
    tracemalloc.start()
    tests = column_tests(table, np.ones(40_000, bool), 1)
    terms_of(sample, tests, 1, 2.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [own.n_tests for own in tests] == [8_000, 8_000]
    assert peak <= 3 * level.nbytes


@pytest.mark.skipif(not COMPILED, reason="four thousand terms")
def test_a_list_of_a_thousand_levels_comes_at_once():
    rng = np.random.default_rng(0)
    level = rng.integers(0, 1_000, 20_000)
    label = np.where(rng.random(20_000) < 0.1, 1 - level % 2, level % 2)
    model = DecisionListClassifier(categorical_features=[0])
    model.fit(level[:100, None], label[:100])  # compiles
    began = time.process_time()
    model.fit(level[:, None], label)
    assert time.process_time() - began < 2.0
    assert model.n_rules_ > 900
    assert model.score(level[:, None], label) > 0.85


def test_weights_count_as_rows():
    rng = np.random.default_rng(0)
    X, y, weight = rng.integers(0, 3, (50, 3)), rng.integers(0, 2, 50), rng.integers(0, 3, 50)
    rows = np.repeat(np.arange(50), weight)
    made = DecisionListClassifier(min_objects=3).fit(X, y, weight)
    assert made.to_text() == DecisionListClassifier(min_objects=3).fit(X[rows], y[rows]).to_text()


def test_categories_are_tested_a_level_at_a_time():
    X = np.array([["red"], ["green"], ["blue"], [None]] * 3, object)
    y = ["stop", "go", "go", "go"] * 3
    made = DecisionListClassifier().fit(X, y)
    assert [rule.tests for rule in made.rules_] == [("x0 is not red",), ("x0 is not blue",)]
    assert made.predict([["red"], ["blue"], [None], ["violet"]]).tolist()[:2] == ["stop", "go"]


def test_more_tests_than_columns_mean_all_columns():
    X, y = disjunction()
    texts = {DecisionListClassifier(max_tests=k).fit(X, y).to_text() for k in (4, 5, 10**9)}
    assert len(texts) == 1
    assert DecisionListClassifier(max_tests=2).fit([[0], [1]] * 3, [0, 1] * 3).n_rules_ == 1


def test_too_many_terms_are_an_error_that_counts_them():
    X = np.arange(400).reshape(2, 200) % 7
    with pytest.raises(ValueError, match=r"max_tests=5: 200 columns make .* terms .* lower max_tests"):
        DecisionListClassifier(max_tests=5).fit(X * [[1], [2]] + [[0], [1]], [0, 1])


def test_terms_are_counted():
    assert n_terms([2, 2, 2], 2) == 18  # and the empty one: 19
    assert n_terms([2] * 10, 2) + 1 == 201
    assert n_terms([2] * 10, 3) + 1 == 1161


def test_columns_of_many_values_get_few_cuts():
    X = np.random.default_rng(0).normal(size=(3000, 4))
    sample = Sample(read_table(X, "rows"), np.zeros(3000, int), None, 1)
    sizes = np.bincount([test.feature for test in all_tests(sample.table, 3)])
    assert n_terms(sizes.tolist(), 3) <= MANY_TERMS
    assert sizes.tolist() == [14] * 4


@pytest.mark.parametrize("parameters", [{"max_tests": 0}, {"max_tests": 1.5}, {"min_objects": 0}])
def test_parameters_are_checked(parameters):
    (name,) = parameters
    with pytest.raises(ValueError, match=f"'{name}' parameter of DecisionListClassifier must be"):
        DecisionListClassifier(**parameters).fit(*disjunction())


def test_where_all_is_missing_the_commonest_class_answers():
    X = np.full((3, 2), np.nan)
    made = DecisionListClassifier().fit(X, ["a", "b", "b"])
    assert made.n_rules_ == 0
    assert made.predict(X[:1]).tolist() == ["b"]
