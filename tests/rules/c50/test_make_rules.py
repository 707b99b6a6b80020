"""Rules of C5.0 against the slow way: paths made shorter, the shortest set, order of use, what they say of rows."""

import numpy as np
import pytest
from estimators.test_c50 import framed, noisy
from hypothesis import given
from hypothesis import strategies as st
from naive.c50 import Grower
from naive.c50_rules import RuleMaker
from strategies import examples

from dtnumba import C50Classifier
from dtnumba.runtime.kernels import COMPILED

pytestmark = pytest.mark.small


def both(X, y, kinds, n_levels, costs=None, **params):
    """Return the slow way's rules and those of the model."""
    given = None if costs is None else np.transpose(costs)
    slow = RuleMaker(Grower(X, y, kinds, n_levels, int(y.max()) + 1, costs=given, for_rules=True).fit()).fit()
    return slow, C50Classifier(rules=True, n_jobs=1, costs=costs, **params).fit(framed(X, kinds, n_levels), y)


def numbers(rules):
    return [(int(k), float(n), float(right)) for k, n, right in rules]


def same(slow, model, table, X):
    """Assert that both have the same rules, which say the same of rows."""
    rules = model.rules_[0].arrays
    own = numbers(zip(rules.label, rules.covered, rules.correct, strict=True))
    assert sorted(own) == sorted(numbers((r.label, r.cover, r.correct) for r in slow.rules))
    assert rules.default == slow.default
    assert np.array_equal(model.predict(table), slow.labels_of(X))
    assert np.allclose(model.predict_proba(table), slow.shares_of(X), atol=1e-9)


@pytest.mark.parametrize("gone", [0.0, 0.1])
def test_rules_are_as_the_slow_way(gone):
    n_rules = []
    for seed in range(5 if COMPILED else 2):
        X, y, kinds, n_levels = noisy(seed, n=300, gone=gone)
        slow, model = both(X, y, kinds, n_levels)
        same(slow, model, framed(X, kinds, n_levels), X)
        n_rules.append(len(slow.rules))
    assert max(n_rules) > 3


@pytest.mark.parametrize("costs", [[[0, 1], [4, 0]], [[0, 3, 1], [1, 0, 1], [5, 1, 0]]])
def test_rules_with_costs_are_as_the_slow_way(costs):
    n_rules, n_others = 0, 0
    for seed in range(4 if COMPILED else 2):
        X, y, kinds, n_levels = noisy(seed, n=300, gone=0.1, n_classes=len(costs))
        slow, model = both(X, y, kinds, n_levels, costs)
        table = framed(X, kinds, n_levels)
        same(slow, model, table, X)
        n_rules += len(slow.rules)
        n_others += (model.predict(table) != C50Classifier(rules=True).fit(table, y).predict(table)).any()
    assert n_rules > 4
    assert n_others > 0


@given(st.integers(0, 10_000), st.integers(20, 80), st.sampled_from([0.0, 0.2]), st.integers(2, 3))
@examples(40)
def test_rules_of_small_tables_are_as_the_slow_way(seed, n, gone, n_classes):
    X, y, kinds, n_levels = noisy(seed, n, gone, n_classes)
    there = [len(np.unique(x[~np.isnan(x)])) for x in X.T]
    if len(np.unique(y)) != y.max() + 1 or any(k and k != m for k, m in zip(n_levels, there, strict=True)):
        return  # a table knows no levels without rows
    slow, model = both(X, y, kinds, n_levels)
    same(slow, model, framed(X, kinds, n_levels), X)


def test_order_of_use_is_as_the_slow_way():
    X, y, kinds, n_levels = noisy(1, n=400, gone=0.0)
    slow, model = both(X, y, kinds, n_levels, bands=4)
    rules = model.rules_[0].arrays
    own = numbers(zip(rules.label, rules.covered, rules.correct, strict=True))
    assert own == numbers((r.label, r.cover, r.correct) for r in slow.by_utility())
    assert len(own) > 3
