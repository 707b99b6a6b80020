"""Criteria against their definitions, by the criteria alone: statistics in, numbers out."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from naive import binary as naive

from dtnumba.criteria import contract
from dtnumba.criteria.classification import Entropy, GainRatio, Gini
from dtnumba.criteria.contract import (
    CRITERIA,
    NO_GAIN,
    choose,
    gain_of,
    impurity_of,
    information_of,
    is_concave,
    loss_of,
    names_for,
    resolve_criterion,
    score_of,
    shows_away,
)
from dtnumba.criteria.regression import AbsoluteError, Poisson, PoissonWithZeros, SquaredError

each_of_classes = pytest.mark.parametrize("criterion", names_for("classes"))
each_of_sums = pytest.mark.parametrize("criterion", ["squared_error", "poisson"])
pytestmark = pytest.mark.small


def made(criterion):
    return resolve_criterion(criterion, "classes" if criterion in names_for("classes") else "numbers", 1000.0)


def class_weights(rng, n_sets, n_classes):
    """Weights of classes in sets of rows: whole numbers and halves, some classes absent."""
    weights = rng.integers(0, 12, (n_sets, n_classes)) / rng.integers(1, 3)
    weights[:, 0] += 0.5
    return weights


def as_rows(weights):
    """Spell weights of classes out as rows: a label, a weight and the set of each."""
    sets, labels = np.nonzero(weights)
    return labels, weights[sets, labels], sets


@each_of_classes
def test_impurity_of_classes_is_its_definition(criterion):
    rng = np.random.default_rng(0)
    for n_classes in range(1, 6):
        weights = class_weights(rng, 1, n_classes)
        labels, w, _ = as_rows(weights)
        expected = naive.impurities(criterion, labels[:, None], w, np.ones((1, len(w)), bool), (n_classes,))[0]
        assert impurity_of(made(criterion), weights[0], weights.sum()) == pytest.approx(expected, abs=1e-12)


@each_of_classes
def test_a_pure_node_has_no_impurity(criterion):
    for weight in (1.0, 3.0, 0.7, 1e-3):
        assert impurity_of(made(criterion), np.array([0.0, weight, 0.0]), weight) == pytest.approx(0.0, abs=1e-15)


@each_of_classes
def test_gain_of_two_children_is_its_definition(criterion):
    rng = np.random.default_rng(0)
    for n_classes in range(1, 6):
        for _ in range(10):
            children = class_weights(rng, 2, n_classes)
            labels, w, sets = as_rows(children)
            expected = naive.gains(criterion, labels[:, None], w, (sets == 0)[None], (n_classes,))[0]
            found = gain_of(made(criterion), children.sum(axis=0), tuple(children), tuple(children.sum(axis=1)))
            assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("criterion", [name for name in names_for("classes") if name != "mdl"])  # its tests cost bits
def test_gain_of_many_children_is_never_negative_and_grows_with_refinement(criterion):
    rng = np.random.default_rng(1)
    for _ in range(30):
        children = class_weights(rng, 4, 3)
        merged = np.stack([children[0] + children[1], children[2] + children[3]])
        parent = children.sum(axis=0)
        fine = gain_of(made(criterion), parent, tuple(children), tuple(children.sum(axis=1)))
        coarse = gain_of(made(criterion), parent, tuple(merged), tuple(merged.sum(axis=1)))
        assert coarse >= -1e-12
        if criterion != "twoing":  # a contrast of pairs, which Breiman defines for two sides alone
            assert fine >= coarse - 1e-12


def test_chi_squared_of_many_children_is_pearsons():
    scipy_stats = pytest.importorskip("scipy.stats")
    table = np.array([[10.0, 3.0, 4.0], [2.0, 8.0, 5.0], [6.0, 6.0, 1.0], [1.0, 2.0, 9.0]])
    expected = scipy_stats.chi2_contingency(table, correction=False).statistic
    found = gain_of(made("chi2"), table.sum(axis=0), tuple(table), tuple(table.sum(axis=1)))
    assert found * table.sum() == pytest.approx(expected)


@each_of_classes
def test_scores_of_classes_order_the_cuts_of_a_node_as_gains_do(criterion):
    rng = np.random.default_rng(2)
    for n_classes in (2, 3, 5):
        parent = rng.integers(4, 20, n_classes).astype(float)
        left = np.array([[rng.integers(1, k) for k in parent] for _ in range(30)], dtype=float)
        pairs = []
        for one in left:
            other = parent - one
            score = score_of(made(criterion), one, other, one.sum(), other.sum())
            pairs.append((score, gain_of(made(criterion), parent, (one, other), (one.sum(), other.sum()))))
        gains = np.array([gain for _, gain in sorted(pairs)])
        assert (np.diff(gains) > -1e-12).all()


def seen(criterion, total, weight):
    """What a criterion sees of rows of this sum and weight, of a node whose mean is near 3."""
    return (total, total - 3.0 * weight) if shows_away(type(made(criterion))) else (total,)


@each_of_sums
def test_gain_of_numbers_is_its_definition(criterion):
    rng = np.random.default_rng(0)
    for _ in range(30):
        y, w = rng.integers(0, 9, 12).astype(float), rng.integers(1, 4, 12).astype(float)
        y[[0, 6]] += 1
        left = np.arange(12) < 6
        expected = naive.gains(criterion, y[:, None], w, left[None])[0]
        weights = (w[left].sum(), w[~left].sum())
        sums = [seen(criterion, (y * w)[rows].sum(), w[rows].sum()) for rows in (left, ~left)]
        found = gain_of(made(criterion), seen(criterion, (y * w).sum(), w.sum()), tuple(sums), weights)
        assert found == pytest.approx(expected, abs=1e-12)


@each_of_sums
def test_scores_of_numbers_order_the_cuts_of_a_node_as_gains_do(criterion):
    rng = np.random.default_rng(2)
    pairs = []
    for left in rng.uniform(0.1, 9.9, 40):
        weight = float(rng.integers(1, 12))
        one, other = seen(criterion, left, weight), seen(criterion, 10.0 - left, 13.0 - weight)
        score = score_of(made(criterion), one, other, weight, 13.0 - weight)
        whole = seen(criterion, 10.0, 13.0)
        pairs.append((score, gain_of(made(criterion), whole, (one, other), (weight, 13.0 - weight))))
    gains = np.array([gain for _, gain in sorted(pairs)])
    assert (np.diff(gains) > -1e-12).all()


def test_poisson_refuses_a_side_without_events():
    assert score_of(Poisson(), (0.0, -2.0), (5.0, 2.0), 2.0, 3.0) == NO_GAIN
    assert score_of(Poisson(), (5.0, 3.0), (0.0, -3.0), 2.0, 3.0) == NO_GAIN


@pytest.mark.parametrize("criterion", names_for("numbers"))
def test_losses_are_their_definitions_and_vanish_at_the_value(criterion):
    for y, value in ((0.0, 2.0), (3.0, 2.0), (2.5, 2.5)):
        expected = naive.losses(criterion, np.array([y]), np.array([value]))[0]
        assert loss_of(made(criterion), y, value) == pytest.approx(expected, abs=1e-15)
    assert loss_of(made(criterion), 4.0, 4.0) == 0.0


def test_a_criterion_without_loss_says_so():
    assert loss_of(Gini(), 1.0, 2.0) < 0


@pytest.mark.parametrize("total", [0.0, 5.0, 1e9])
def test_entropy_looks_whole_numbers_up_and_computes_the_others(total):
    criterion = Entropy.for_fit(total, 1)
    for weights in ([3.0, 5.0], [0.25, 0.5], [1e7, 3e7], [0.0, 2.0]):
        p = np.array(weights) / sum(weights)
        expected = -sum(share * math.log2(share) for share in p if share > 0)
        assert impurity_of(criterion, np.array(weights), sum(weights)) == pytest.approx(expected, abs=1e-12)


def test_split_information_is_known_to_gain_ratio_alone():
    assert information_of(GainRatio.for_fit(1, 1), 0.25) == 0.5
    assert information_of(GainRatio.for_fit(1, 1), 0.0) == 0.0
    assert information_of(Gini(), 0.25) == 0.0


# The winner among the candidates of a node


def winner(criterion, gains, informations=None, features=None):
    gains = np.array(gains, dtype=float)
    informations = np.ones(len(gains)) if informations is None else np.array(informations)
    features = np.arange(len(gains)) if features is None else np.array(features)
    return choose(criterion, gains, informations, features, len(features))


def test_the_largest_gain_wins():
    assert winner(Gini(), [0.1, 0.3, 0.2]) == 1


def test_the_first_of_near_ties_wins():
    assert winner(Gini(), [0.1, 0.3, 0.3 + 1e-14]) == 1
    assert winner(Gini(), [0.3 - 1e-14, 0.3]) == 0


def test_only_listed_candidates_take_part_and_the_index_is_into_the_list():
    assert winner(Gini(), [0.9, 0.1, 0.2, 0.8], features=[1, 2]) == 1


def test_nothing_wins_where_no_feature_offers_a_cut():
    for criterion in (Gini(), GainRatio.for_fit(1, 1)):
        assert winner(criterion, [NO_GAIN, NO_GAIN]) == -1
        assert winner(criterion, []) == -1


def test_gain_ratio_prefers_the_better_ratio_among_gains_above_average():
    # The average is 0.4: the third has the best ratio, but too little gain.
    assert winner(GainRatio.for_fit(1, 1), [0.6, 0.5, 0.1], [1.0, 0.5, 0.01]) == 1


def test_gain_ratio_averages_over_features_that_gain():
    assert winner(GainRatio.for_fit(1, 1), [0.0, 0.5, 0.4, NO_GAIN], [1.0, 1.0, 1.0, 1.0]) == 1
    # Were zeros averaged too, the second would pass the floor.
    assert winner(GainRatio.for_fit(1, 1), [0.5, 0.2, 0.0, 0.0], [1.0, 0.1, 1.0, 1.0]) == 0


def test_gain_ratio_takes_the_first_cut_there_is_where_none_gains():
    assert winner(GainRatio.for_fit(1, 1), [NO_GAIN, 0.0, 0.0]) == 1


# Names


def test_every_criterion_has_a_naive_reference():
    assert set(names_for("classes")) == naive.CLASS_CRITERIA
    assert set(names_for("numbers")) == naive.NUMBER_CRITERIA
    assert set(CRITERIA) == naive.CLASS_CRITERIA | naive.NUMBER_CRITERIA


@pytest.mark.parametrize(("name", "target"), [("gini", "numbers"), ("squared_error", "classes"), ("ginni", "classes")])
def test_an_unknown_name_is_refused_with_the_known_ones(name, target):
    with pytest.raises(ValueError, match=f"criterion='{name}'.*{names_for(target)[0]}"):
        resolve_criterion(name, target, 1.0)


@pytest.mark.parametrize("given", [Gini, Gini()])
def test_a_class_and_an_object_are_criteria(given):
    assert resolve_criterion(given, "classes", 1.0) == Gini()


@pytest.mark.parametrize("given", [SquaredError(), AbsoluteError(), Poisson()])
def test_a_criterion_for_numbers_is_refused_for_classes(given):
    with pytest.raises(ValueError, match="is for"):
        resolve_criterion(given, "classes", 1.0)


def test_a_class_without_impurity_is_refused():
    class Nothing(NamedTuple):
        pass

    with pytest.raises(TypeError, match="impurity"):
        resolve_criterion(Nothing(), "classes", 1.0)


def test_what_is_no_criterion_is_refused():
    with pytest.raises(TypeError, match="criterion=3"):
        resolve_criterion(3, "classes", 1.0)


CONCAVE = [name for name in CRITERIA if is_concave(made(name))]


def categories(rng, criterion):
    """Draw up to six categories: what a node's rows of each weigh, and the weights of two classes or what sums up."""
    n = int(rng.integers(2, 7))
    if made(criterion).target == "classes":
        stats = rng.integers(0, rng.choice([3, 12]), (n, 2)) / rng.integers(1, 3)
        stats[:, 0] += 0.5 * (stats.sum(axis=1) == 0.0)
        return stats.sum(axis=1), stats
    weights = rng.integers(1, 9, n).astype(float)
    least = {"poisson": 1, PoissonWithZeros: 0}.get(criterion, -40)
    sums = rng.integers(least, 40, (n, 1)).astype(float)
    if shows_away(type(made(criterion))):
        sums = np.column_stack([sums, sums[:, 0] - 7.0 * weights])
    return weights, sums


def scores_of_subsets(criterion, weights, stats):
    """Score every division of categories in two; a row of bools a division."""
    n = len(weights)
    subsets = np.array([[k >> j & 1 for j in range(n)] for k in range(1, (1 << n) - 1)], bool)
    sides = [(stats[left].sum(axis=0), stats[~left].sum(axis=0)) for left in subsets]
    heavy = [(weights[left].sum(), weights[~left].sum()) for left in subsets]
    return subsets, np.array([score_of(made(criterion), *a, *b) for a, b in zip(sides, heavy, strict=True)])


def test_what_says_that_it_is_concave():
    assert set(CRITERIA) - set(CONCAVE) == {"gain_ratio", "mdl", "absolute_error"}


@pytest.mark.parametrize("criterion", [*CONCAVE, PoissonWithZeros])
def test_of_a_concave_criterion_a_cut_of_the_order_is_the_best_subset(criterion):
    rng = np.random.default_rng(5)
    for _ in range(150):
        weights, stats = categories(rng, criterion)
        place = np.argsort(np.argsort(stats[:, -1] / weights, kind="stable"))
        subsets, scores = scores_of_subsets(criterion, weights, stats)
        is_cut = np.array([place[left].max() == left.sum() - 1 for left in subsets])
        assert scores[is_cut].max() == pytest.approx(scores.max(), rel=1e-12, abs=1e-12)


def test_no_cut_of_the_order_need_be_the_best_subset_by_description_length():
    stats = np.array([[2.0, 2.0], [3.0, 2.0], [1.0, 1.0], [1.0, 1.0], [2.0, 3.0]])
    subsets, scores = scores_of_subsets("mdl", stats.sum(axis=1), stats)
    order = np.argsort(stats[:, 1] / stats.sum(axis=1), kind="stable")
    cuts = [np.isin(np.arange(5), order[:k]) for k in range(1, 5)]
    is_cut = np.array([any((left == cut).all() for cut in cuts) for left in subsets])
    assert scores[is_cut].max() < scores.max() - 0.1


def test_a_subclass_that_splits_otherwise_is_not_concave_until_it_says_so():
    class Unlike(Gini):
        def score(self, left, right, weight_left, weight_right):
            return abs(weight_left - weight_right)

    class OwnLoss(Poisson):
        def loss(self, y, value):
            return abs(y - value)

    class Said(Unlike):
        concave = True

    assert not is_concave(Unlike())
    assert is_concave(OwnLoss())
    assert is_concave(Said())
    assert not is_concave(GainRatio.for_fit(10.0, 1))


def test_a_criterion_with_a_name_says_what_it_is_for():
    class Nameless(NamedTuple):
        def impurity(self, stats, weight):
            return 0.0

    with pytest.raises(TypeError, match="add target = 'classes'"):
        contract.criterion("nameless")(Nameless)
    assert "nameless" not in CRITERIA
