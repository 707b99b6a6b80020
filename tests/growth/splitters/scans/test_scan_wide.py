"""Very many classes: trees are those of a scan that looks at all classes behind every cut, and cost what rows cost."""

import pickle
import subprocess
import sys
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from naive import binary as naive
from strategies import compiled_where, examples, fit, interpreted_only, same_trees, samples

from dtnumba import DecisionTreeClassifier, RandomForestClassifier
from dtnumba.criteria.classification import Gini
from dtnumba.criteria.contract import ignores_absent, names_for
from dtnumba.growth.targets import choose
from dtnumba.growth.targets.many_classes import Classes, WideClasses
from dtnumba.runtime.kernels import COMPILED
from dtnumba.trees.sparse_rows import SparseValues

NAMES = [name for name in names_for("classes") if name != "log_loss"]
WAYS = {
    "exact": {},
    "bins": {"max_bins": 255},
    "leaves": {"min_samples_leaf": 3, "max_depth": 5},
    "weighty leaves": {"min_weight_fraction_leaf": 0.03},
    "best first": {"max_leaf_nodes": 8},
    "drawn features": {"max_features": 2},
    "drawn features in bins": {"max_features": 2, "max_bins": 255},
    "random": {"splitter": "random"},
    "tested": {"min_significance": 0.4},
}


def table(n, n_classes, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[:, 1] = X[:, 1].round()
    X[rng.random(X.shape) < 0.05] = np.nan
    y = rng.integers(0, n_classes, n)
    y[:n_classes] = np.arange(n_classes)
    return X, y, {"none": None, "whole": rng.integers(0, 4, n).astype(float), "real": rng.random(n)}


LEARNERS = [
    DecisionTreeClassifier(max_bins=255, max_depth=2),
    RandomForestClassifier(3, max_depth=2, random_state=0),
]
LEAVES = list(product(LEARNERS, ["none", "real"]))


@pytest.mark.parametrize(("model", "weight"), compiled_where(LEAVES, LEAVES[1:3]), ids=str)
def test_leaves_of_many_rows_are_added_up_in_histograms_and_the_trees_are_the_same(monkeypatch, model, weight):
    X, y, weights = table(1200 if COMPILED else 700, 40)
    model.fit(X, y, weights[weight])
    by_tables = model.trees_
    monkeypatch.setattr(choose, "_ROWS_A_CLASS", 1 << 40)
    seen = []
    monkeypatch.setattr(choose, "Classes", lambda *fields: seen.append(fields))
    by_rows = model.fit(X, y, weights[weight]).trees_
    assert not seen
    assert same_trees(by_tables, by_rows)


@pytest.fixture
def all_are_wide(monkeypatch):
    monkeypatch.setattr(choose, "WIDE_CLASSES", 3)


@pytest.mark.small
@pytest.mark.usefixtures("all_are_wide")
@pytest.mark.parametrize("criterion", compiled_where(NAMES, ("twoing",)))
def test_every_node_is_what_its_rows_make_it(criterion):
    @examples(40)
    @given(samples(classes=True, narrow=True))
    def check(sample):
        for max_bins in (None, 255):
            trees = fit(sample, criterion, max_bins=max_bins).trees_
            (X, y, w), n_classes = sample.for_naive(classes=True)
            naive.audit(trees, criterion, X, y, w, n_classes)

    check()


# Every way with the two criteria that add up terms of their own, every other criterion exactly and in bins.
PAIRS = [(way, name) for way in WAYS for name in NAMES if name in {"gini", "entropy"} or way in {"exact", "bins"}]
# What runs compiled, ten seconds or more a pair.
COMPILED_PAIRS = {("tested", "gini")}


@pytest.mark.small
@pytest.mark.parametrize(("way", "criterion"), [pair for pair in PAIRS if not COMPILED or pair in COMPILED_PAIRS])
def test_trees_are_those_of_a_scan_of_all_classes(way, criterion, monkeypatch):
    X, y, weights = table(60, 36)
    for weight in [weights["none"], weights["whole"], weights["real"]][: 3 if criterion in {"gini", "entropy"} else 1]:
        grown = []
        for kind in (WideClasses, Classes):
            monkeypatch.setattr(choose, "WideClasses", kind)
            tree = DecisionTreeClassifier(criterion=criterion, random_state=0, n_jobs=1, **WAYS[way])
            grown.append(tree.fit(X, y, sample_weight=weight).trees_)
        assert same_trees(*grown)


FORESTS = [{}, {"max_bins": None}, {"bootstrap": False}, {"class_weight": "balanced_subsample"}]


@pytest.mark.small
@pytest.mark.parametrize("params", [FORESTS[0], *(pytest.param(p, marks=interpreted_only) for p in FORESTS[1:])])
def test_forests_are_those_of_a_scan_of_all_classes(params, monkeypatch):
    X, y, _ = table(120 if COMPILED else 60, 40)
    grown = []
    for kind in (WideClasses, Classes):
        monkeypatch.setattr(choose, "WideClasses", kind)
        grown.append(RandomForestClassifier(3 if COMPILED else 2, random_state=0, **params).fit(X, y))
    wide, other = grown
    assert isinstance(wide.trees_.value, SparseValues)
    assert isinstance(other.trees_.value, np.ndarray)
    assert same_trees(wide.trees_, other.trees_)
    restored = pickle.loads(pickle.dumps(wide))  # noqa: S301  of our own
    for model in (wide, restored, restored.compact()):
        for rows in (X, X[:2]):
            assert np.array_equal(model.predict_proba(rows), other.predict_proba(rows))
            assert np.array_equal(model.predict(rows), other.predict(rows))
    assert np.array_equal(wide.compile_predictor()(X[0]), other.predict_proba(X[:1])[0])
    assert np.array_equal(wide.estimators_[1].tree_.value, other.estimators_[1].tree_.value)


@pytest.mark.parametrize("params", [{}, {"max_bins": 255}])
def test_neither_threads_nor_the_order_of_rows_change_a_bit(params):
    X, y, weights = table(9000, 60)
    order = np.random.default_rng(1).permutation(len(y))
    one, two, other = (
        DecisionTreeClassifier(criterion="entropy", max_depth=6, n_jobs=n, **params)
        .fit(X[rows], y[rows], sample_weight=weights["real"][rows])
        .trees_
        for n, rows in ((1, slice(None)), (2, slice(None)), (1, order))
    )
    assert same_trees(one, two)
    assert same_trees(one, other)


class FromTheFirst(NamedTuple):
    """Gini of the first half of the classes, which tells classes by their numbers."""

    def impurity(self, stats, weight):
        squares = other = 0.0
        for k in range(len(stats)):
            if 2 * k < len(stats):
                squares += stats[k] * stats[k]
            else:
                other += stats[k]
        return 1.0 - (squares + other * other) / (weight * weight)


class Halved(Gini):
    """Gini with an impurity of its own, whose terms nobody knows."""

    __slots__ = ()

    def impurity(self, stats, weight):
        squares = 0.0
        for k in range(len(stats)):
            squares += stats[k] * stats[k]
        return 1.0 - 0.5 * squares / (weight * weight) if len(stats) == 40 else 0.0


@pytest.mark.small
@pytest.mark.parametrize("criterion", [FromTheFirst(), pytest.param(Halved(), marks=interpreted_only)])
def test_a_criterion_that_tells_classes_by_their_numbers_sees_all_of_them(criterion, monkeypatch):
    assert not ignores_absent(criterion)
    X, y, _ = table(120, 40)
    grown = []
    for kind in (WideClasses, Classes):
        monkeypatch.setattr(choose, "WideClasses", kind)
        grown.append(DecisionTreeClassifier(criterion=criterion, n_jobs=1).fit(X, y).trees_)
    assert same_trees(*grown)


LITTLE_MEMORY = """
import resource
import numpy as np
from dtnumba import DecisionTreeClassifier
y = np.arange(100_000) % 1500
y = np.stack([y, y], axis=1)[:, :{n_outputs}]
tree = DecisionTreeClassifier(n_jobs=1, max_depth=4).fit(y[:, :1].astype(float), y)  # loads what it takes
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 29), used + (1 << 29)))
tree = DecisionTreeClassifier(n_jobs=1).fit(y[:, :1].astype(float), y)
assert tree.n_leaves_ == 1500
"""


@pytest.mark.skipif(not COMPILED or not sys.platform.startswith("linux"), reason="limits what Linux promises a process")
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_a_tree_of_few_leaves_asks_for_little_memory(n_outputs):
    code = LITTLE_MEMORY.format(n_outputs=n_outputs)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()[-1000:]
