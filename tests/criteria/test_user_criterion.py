"""A criterion in the user's plain Python goes where a built-in goes, is never stale, and fails in plain words."""

from typing import NamedTuple

import legs
import numpy as np
import pytest
from legs import table
from strategies import compiled_where, interpreted_only

from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, RandomForestClassifier
from dtnumba.criteria.contract import impurity_of, resolve_criterion
from dtnumba.runtime.kernels import COMPILED, kernel
from dtnumba.trees.check import check

compiled_only = pytest.mark.skipif(not COMPILED, reason="interpreted, Python itself says what is wrong")


class Gini(NamedTuple):
    """Has the name of a built-in, too."""

    target = "classes"

    def impurity(self, stats, weight):
        squares = 0.0
        for k in range(len(stats)):
            squares += stats[k] * stats[k]
        return 1.0 - squares / (weight * weight)


class ScoredGini(Gini):
    __slots__ = ()

    def score(self, left, right, weight_left, weight_right):
        squares_left = squares_right = 0.0
        for k in range(len(left)):
            squares_left += left[k] * left[k]
            squares_right += right[k] * right[k]
        return squares_left / weight_left + squares_right / weight_right


class Variance(NamedTuple):
    target = "numbers"
    moments = 2

    def impurity(self, stats, weight):
        mean = stats[0] / weight
        return stats[1] / weight - mean * mean


class CentredVariance(Variance):
    centred = True


class Power(NamedTuple):
    """With an option: 2 is gini."""

    exponent: float

    def impurity(self, stats, weight):
        total = 0.0
        for k in range(len(stats)):
            total += (stats[k] / weight) ** self.exponent
        return 1.0 - total


X, TWO, THREE, Z = table(90, 4, seed=2)
WHOLE = np.arange(len(X)) % 3
WAYS = {
    "exact": (DecisionTreeClassifier, {}),
    "histogram": (DecisionTreeClassifier, {"max_bins": 32}),
    "random": (ExtraTreeClassifier, {"random_state": 4}),
}


def fit(estimator, y, weight=None, **options):
    return estimator(**options).fit(X, y, weight)


def same_bits(one, other):
    return legs.digest_of(one, X) == legs.digest_of(other, X)


@pytest.mark.small
@pytest.mark.parametrize("way", compiled_where(WAYS, ["exact"]))
def test_a_users_gini_grows_the_tree_of_the_built_in_bit_for_bit(way):
    """With missing values; depth first, and best first with weighted rows."""
    estimator, options = WAYS[way]
    for weight, leaves in ((None, None), (WHOLE, 7)):
        ours = fit(estimator, TWO, weight, criterion="gini", max_leaf_nodes=leaves, **options)
        users = fit(estimator, TWO, weight, criterion=ScoredGini(), max_leaf_nodes=leaves, **options)
        assert ours.get_n_leaves() > 4
        assert same_bits(users, ours)


@interpreted_only
def test_a_users_gini_sees_any_number_of_classes_and_outputs():
    both = np.stack([TWO, THREE], axis=1)
    ours = fit(DecisionTreeClassifier, both, WHOLE, max_bins=32)
    users = fit(DecisionTreeClassifier, both, WHOLE, max_bins=32, criterion=ScoredGini)
    assert same_bits(users, ours)


@pytest.mark.small
@pytest.mark.parametrize("criterion", [Variance(), lambda stats, weight: stats[1] / weight - (stats[0] / weight) ** 2])
def test_a_users_variance_picks_the_splits_of_squared_error(criterion):
    """By its impurity alone, which is all that a criterion must have."""
    ours = fit(DecisionTreeRegressor, Z, max_depth=3)
    users = fit(DecisionTreeRegressor, Z, max_depth=3, criterion=criterion)
    assert (users.trees_.feature == ours.trees_.feature).all()
    np.testing.assert_array_equal(users.trees_.threshold, ours.trees_.threshold)
    np.testing.assert_allclose(users.trees_.impurity, ours.trees_.impurity, atol=1e-12)


@interpreted_only
@pytest.mark.parametrize("missing", ["learned", "branch"])
def test_of_numbers_far_from_zero_or_far_apart_a_centred_criterion_loses_none(missing):
    for target in (1e9 + Z, np.exp(20 * Z)):
        ours, users = (
            fit(DecisionTreeRegressor, target, max_depth=3, missing=missing, criterion=criterion)
            for criterion in ("squared_error", CentredVariance())
        )
        assert (users.trees_.feature == ours.trees_.feature).all()
        np.testing.assert_array_equal(users.trees_.threshold, ours.trees_.threshold)
        np.testing.assert_allclose(users.trees_.impurity, ours.trees_.impurity, rtol=1e-6, atol=1e-40)


@kernel
def impurity_in_a_kernel(criterion, stats, weight):
    return impurity_of(criterion, stats, weight)


def impurity(criterion):
    """Ask a criterion from a kernel, the way a fit does."""
    return impurity_in_a_kernel(resolve_criterion(criterion, "classes", 4.0), (1.0, 3.0), 4.0)


@pytest.mark.small
def test_options_are_fields():
    assert impurity(Power(2.0)) == impurity("gini") == 0.375
    assert impurity(Power(3.0)) == 1.0 - 28 / 64


def cell(constant):
    """Define a criterion and a function as the cell of a notebook would."""
    names = {"NamedTuple": NamedTuple, "__name__": "__main__"}
    source = f"""
class Mine(NamedTuple):
    def impurity(self, stats, weight):
        return {constant} + stats[0] / weight

def mine(stats, weight):
    return {constant} + stats[0] / weight
"""
    exec(source, names)  # noqa: S102, as a notebook runs a cell
    return names["Mine"], names["mine"]


@pytest.mark.small
def test_a_redefinition_in_the_same_process_takes_effect():
    for constant in (1.0, 2.0, 1.0):
        Mine, mine = cell(constant)
        assert impurity(Mine()) == impurity(Mine) == impurity(mine) == constant + 0.25


@pytest.mark.small
def test_a_change_of_code_in_place_takes_effect():
    """As editors do that reload a module under the objects it has defined."""
    (Mine, mine), (Newer, newer) = cell(1.0), cell(2.0)
    impurity(Mine())
    impurity(mine)
    Mine.impurity.__code__, mine.__code__ = Newer.impurity.__code__, newer.__code__
    assert impurity(Mine()) == impurity(mine) == 2.25
    Mine.impurity = cell(3.0)[0].impurity
    assert impurity(Mine()) == 3.25


@pytest.mark.small
def test_a_function_without_a_module_is_taken():
    names = {}
    exec("def mine(stats, weight):\n    return 5.0", names)  # noqa: S102, as some tools define functions
    assert impurity(names["mine"]) == 5.0


class NoMethod(NamedTuple):
    option: int = 3


class ScoreAlone(NamedTuple):
    def score(self, left, right, weight_left, weight_right):
        return 1.0


class OtherTarget(NamedTuple):
    target = "labels"

    def impurity(self, stats, weight):
        return 1.0


class ThreeMoments(NamedTuple):
    moments = 3

    def impurity(self, stats, weight):
        return 1.0


@pytest.mark.small
@pytest.mark.parametrize(
    ("criterion", "error", "words"),
    [
        ("ginny", ValueError, "criterion.*must be.*gini.*Got 'ginny'"),
        ("squared_error", ValueError, "criterion.*must be.*gini.*Got 'squared_error'"),
        (NoMethod(), TypeError, r"NoMethod\(option=3\).*impurity\(stats, weight\)"),
        (ScoreAlone(), TypeError, "ScoreAlone.*score and gain"),
        (Variance(), ValueError, "Variance.*is for numbers, but the target holds classes"),
        (OtherTarget(), ValueError, "OtherTarget.*target must be one of"),
        (ThreeMoments(), ValueError, "ThreeMoments.*moments 1 or 2"),
        (Power, TypeError, "Power.*exponent"),
        (max, TypeError, "max.*function impurity.*in Python"),
        (3.0, ValueError, "criterion.*Got 3.0"),
    ],
    ids=repr,
)
def test_a_criterion_that_breaks_the_contract_is_refused_by_name(criterion, error, words):
    with pytest.raises(error, match=words):
        fit(DecisionTreeClassifier, TWO, criterion=criterion)


class UnknownName(NamedTuple):
    def impurity(self, stats, weight):
        return nowhere(stats)  # noqa: F821


def unsupported(stats, weight):
    with open("file") as file:  # noqa: PTH123
        return float(file.read())


@compiled_only
@pytest.mark.parametrize(
    ("criterion", "words"),
    [
        (UnknownName(), r"UnknownName\.impurity does not compile.*nowhere"),
        (unsupported, "unsupported does not compile.*with"),
    ],
    ids=["unknown name", "with"],
)
def test_a_criterion_that_does_not_compile_is_told_in_a_sentence(criterion, words):
    with pytest.raises(TypeError, match=words) as caught:
        fit(DecisionTreeClassifier, TWO, criterion=criterion)
    assert len(str(caught.value)) < 300
    assert caught.value.__suppress_context__
    # and the next criterion is none the worse for it
    assert impurity(Power(2.0)) == 0.375


class Unsure(Gini):
    """Knows no answer for a node of less than a weight of 12."""

    __slots__ = ()

    def impurity(self, stats, weight):
        squares = 0.0
        for k in range(len(stats)):
            squares += stats[k] * stats[k]
        return 1.0 - squares / (weight * weight) if weight >= 12.0 else np.nan


class NeverSure(NamedTuple):
    def impurity(self, stats, weight):
        return np.nan


class NoGain(Gini):
    """Has scores, and gains that are not numbers."""

    __slots__ = ()

    def gain(self, parent, children, weights):
        return np.nan


class Stray(Gini):
    """Chooses what is not on offer."""

    __slots__ = ()

    def choose(self, gains, informations, features, n):
        return n + 1000


# Compiled, each criterion and way costs a compilation; interpreted, all of them take a second.
EVERY_WAY = WAYS | {
    "random bins": (ExtraTreeClassifier, {"random_state": 4, "max_bins": 32}),
    "drawn": (DecisionTreeClassifier, {"random_state": 4, "max_bins": 32, "max_features": 2}),
    "several classes": (DecisionTreeClassifier, {"max_bins": 32}),
}


def check_nan_is_never_taken(way):
    estimator, options = EVERY_WAY[way]
    y = THREE if way == "several classes" else TWO
    tree = check(fit(estimator, y, criterion=Unsure(), **options).trees_, X.shape[1])
    assert tree.n_nodes > 1
    assert tree.weight.min() >= 12
    assert np.isfinite(tree.impurity).all()


@interpreted_only
@pytest.mark.small
@pytest.mark.parametrize("way", EVERY_WAY)
def test_a_cut_whose_gain_is_not_a_number_is_never_taken(way):
    check_nan_is_never_taken(way)


def test_a_cut_whose_gain_is_not_a_number_is_never_taken_compiled():
    check_nan_is_never_taken("exact")


@interpreted_only
@pytest.mark.small
@pytest.mark.parametrize("way", EVERY_WAY)
@pytest.mark.parametrize("criterion", [NeverSure(), NoGain(), Stray()], ids=["impurity", "gain", "choice"])
def test_a_node_for_which_a_criterion_has_no_answer_is_a_leaf(way, criterion):
    estimator, options = EVERY_WAY[way]
    y = THREE if way == "several classes" else TWO
    model = fit(estimator, y, criterion=criterion, **options)
    assert check(model.trees_, X.shape[1]).n_nodes == 1
    assert np.allclose(model.predict_proba(X), np.bincount(y) / len(y))
    assert model.feature_importances_.tolist() == [0.0] * 4


@interpreted_only
@pytest.mark.small
def test_forests_never_take_a_gain_that_is_not_a_number():
    model = RandomForestClassifier(4, criterion=Unsure(), random_state=0, n_jobs=1).fit(X, TWO)
    assert model.trees_.weight.min() >= 12
    assert model.trees_.n_nodes > 4
    lone = RandomForestClassifier(4, criterion=NeverSure(), random_state=0, n_jobs=1).fit(X, TWO)
    assert lone.trees_.n_nodes == 4
    assert lone.feature_importances_.tolist() == [0.0] * 4


@interpreted_only
def test_a_function_serves_numbers_and_any_number_of_classes():
    X = np.arange(40.0)[:, None]

    def variance(stats, weight):
        return stats[1] / weight - (stats[0] / weight) ** 2

    y = np.repeat([1.0, 5.0, 2.0, 7.0], 10)
    for params in ({"splitter": "random", "random_state": 0}, {"max_bins": 16, "max_leaf_nodes": 8}):
        assert np.array_equal(DecisionTreeRegressor(criterion=variance, **params).fit(X, y).predict(X), y)

    def gini(stats, weight):
        squares = 0.0
        for k in range(len(stats)):
            squares += stats[k] * stats[k]
        return 1.0 - squares / (weight * weight)

    labels = np.repeat([0, 1, 2, 1], 10)
    assert np.array_equal(DecisionTreeClassifier(criterion=gini).fit(X, labels).predict(X), labels)
