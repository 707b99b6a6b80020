"""One tree on several threads: the same bits on any number of them, whatever is shared and however small the pieces."""

import numpy as np
import pytest
from strategies import same_trees

from dtnumba import C45Classifier, DecisionTreeClassifier, DecisionTreeRegressor, ID3Classifier
from dtnumba.growth.multiway import grow_together
from dtnumba.runtime import tasks
from dtnumba.runtime.kernels import COMPILED
from dtnumba.trees.check import check

pytestmark = pytest.mark.small
N = 3000 if COMPILED else 150
RNG = np.random.default_rng(0)
X = np.round(RNG.normal(size=(N, 6)), 2)
X[:, 4] = RNG.integers(0, 5, N)
X[RNG.random(X.shape) < 0.1] = np.nan
y = (np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 4]) % 2 + RNG.normal(size=N) > 0.5).astype(int)
LEARNERS = {
    "c45": lambda j: C45Classifier(categorical_features=[4], prune=None, n_jobs=j),
    "id3": lambda j: ID3Classifier(n_jobs=j),
    "parts": lambda j: DecisionTreeClassifier(missing="fractional", categorical_features=[4], n_jobs=j),
    "surrogates": lambda j: DecisionTreeClassifier(missing="surrogate", categorical_features=[4], n_jobs=j),
    "best first": lambda j: DecisionTreeClassifier(missing="branch", max_leaf_nodes=60, n_jobs=j),
    "drawn": lambda j: DecisionTreeClassifier(missing="branch", max_features=2, random_state=0, n_jobs=j),
    "bins": lambda j: DecisionTreeClassifier(missing="fractional", max_bins=16, n_jobs=j),
    "intervals": lambda j: DecisionTreeClassifier(numeric_split="interval", max_depth=2, n_jobs=j),
    "numbers": lambda j: DecisionTreeRegressor(missing="fractional", max_depth=7, n_jobs=j),
}
# Each kind compiles kernels of its own: these show what differs between compiled and interpreted work.
TRIED = ("c45", "parts", "surrogates", "numbers") if COMPILED else tuple(LEARNERS)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Everything is large enough to be shared, on as many cores as anyone asks for."""
    for name, cells in {"_ALONE": 1, "_SHORT": 1, "_LEAST_APART": 64, "_TRIFLE": 16}.items():
        monkeypatch.setattr(grow_together, name, cells)
    monkeypatch.setattr(tasks, "cores", lambda: 8)


@pytest.mark.parametrize("name", TRIED)
def test_threads_change_no_bit(name):
    target = y + X[:, 1].round(1) if name == "numbers" else y
    target = np.nan_to_num(target)
    one, *others = (check(LEARNERS[name](j).fit(X, target).trees_, 6) for j in ((1, 2, 3, 8) if COMPILED else (1, 3)))
    assert one.n_nodes > 6
    for trees in others:
        assert same_trees(one, trees)


@pytest.mark.parametrize("name", TRIED)
def test_the_order_of_the_rows_changes_no_bit_on_threads(name):
    order = RNG.permutation(N)
    target = np.nan_to_num(y + X[:, 1].round(1)) if name == "numbers" else y
    first, second = (LEARNERS[name](2).fit(X[rows], target[rows]).trees_ for rows in (np.arange(N), order))
    assert same_trees(first, second)


def test_an_error_on_a_thread_is_raised_and_the_model_stays(monkeypatch):
    model = LEARNERS["parts"](2).fit(X, y)
    trees = model.trees_

    def fail(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(grow_together, "cut_to_size", fail)
    with pytest.raises(ZeroDivisionError):
        model.fit(X, y)
    assert model.trees_ is trees


def test_small_trees_are_grown_by_one_thread(monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(grow_together, "Hands", None)
    assert LEARNERS["c45"](2).fit(X[:200], y[:200]).n_leaves_ > 1


def test_a_short_growth_takes_no_thread_where_no_core_is_free(monkeypatch):
    monkeypatch.setattr(grow_together, "_SHORT", 1 << 40)
    monkeypatch.setattr(grow_together, "has_free_core", lambda: False)
    monkeypatch.setattr(grow_together, "Hands", None)
    assert DecisionTreeClassifier(missing="fractional", n_jobs=2).fit(X, y).n_leaves_ > 1
    monkeypatch.setattr(grow_together, "has_free_core", lambda: True)
    with pytest.raises(TypeError):
        DecisionTreeClassifier(missing="fractional", n_jobs=2).fit(X, y)
