"""Whole trees: every node is what its rows make it, and nothing but the data decides a bit."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from naive import binary as naive
from strategies import Sample, compiled_where, examples, fit, interpreted_only, same_trees, samples

from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier
from dtnumba.criteria.contract import CRITERIA, names_for
from dtnumba.growth.binary.grow_in_parallel import PARALLEL_ROWS
from dtnumba.growth.splitters import histogram
from dtnumba.runtime import rng
from dtnumba.runtime.kernels import COMPILED
from dtnumba.runtime.memory import per_worker
from dtnumba.trees.check import check
from dtnumba.trees.layout import LEAF

SPLITTERS = {
    "exact": {"splitter": "best", "max_bins": None},
    "histogram": {"splitter": "best", "max_bins": 255},
    "random": {"splitter": "random", "max_bins": None},
}
# One name a criterion: two names of one class share its kernels.
NAMES = list({cls: name for name, cls in reversed(CRITERIA.items())}.values())
# Those that take a split that gains nothing.
FREE = [name for name in names_for("classes") if name != "mdl"]
each_criterion = pytest.mark.parametrize("criterion", NAMES)
each_mechanism = pytest.mark.parametrize("criterion", compiled_where(NAMES))
each_splitter = pytest.mark.parametrize("splitter", SPLITTERS)
# For what does not depend on the splitter: the others are kernels of their own.
exact_compiled = pytest.mark.parametrize("splitter", compiled_where(SPLITTERS, ["exact"]))
# One criterion a kind of target, where the criterion does not matter to what is shown.
KINDS = ["gini", "squared_error", "absolute_error"]
each_kind = pytest.mark.parametrize("criterion", KINDS)


# What runs compiled, ten seconds or more a pair: one criterion a kind of target, and all splitters with the first.
COMPILED_PAIRS = {("gini", "exact"), ("gini", "histogram"), ("squared_error", "exact"), ("absolute_error", "exact")}
# And of tests whose every pair is a kernel of its own:
FEW_COMPILED = {
    "test_criteria_average_over_outputs": {("gini", "exact")},
    "test_every_splitter_serves_several_outputs": set(),
    "test_rows_of_weight_zero_do_not_exist": COMPILED_PAIRS - {("gini", "histogram")},
    "test_best_first_stops_at_the_number_of_leaves": {("gini", "exact")},
    "test_best_first_divides_the_node_that_gains_most": {("gini", "exact")},
}


@pytest.fixture(autouse=True)
def few_are_compiled(request):
    """Skip what is shown interpreted (test_legs.py)."""
    given = getattr(getattr(request.node, "callspec", None), "params", {})
    if COMPILED and "criterion" in given:
        pairs = FEW_COMPILED.get(request.node.originalname, COMPILED_PAIRS)
        if (given["criterion"], given.get("splitter", "exact")) not in pairs:
            pytest.skip("shown interpreted, to save compiling")


def is_for_classes(criterion):
    return criterion in names_for("classes")


def samples_for(criterion, splitter="exact", **options):
    if splitter == "random":
        # float32 thresholds would be kernels of their own, which one test below is enough for.
        options.setdefault("dtypes", [np.float64])
    return samples(classes=is_for_classes(criterion), counts=criterion == "poisson", **options)


def audit(model, sample, criterion, *, best=True, limits=None, complete=True):
    (X, y, w), n_classes = sample.for_naive(classes=is_for_classes(criterion))
    check(model.trees_, X.shape[1])
    naive.audit(model.trees_, criterion, X, y, w, n_classes, limits, best=best, complete=complete)


def grow(sample, criterion, splitter, **params):
    return fit(sample, criterion, **SPLITTERS[splitter], **params)


# Each node against the naive reference


def check_every_node(criterion, splitter, most, **options):
    @examples(most)
    @given(samples_for(criterion, splitter, **options))
    def check(sample):
        # A random threshold may leave a side without events, which no Poisson split may.
        complete = (criterion, splitter) != ("poisson", "random")
        model = grow(sample, criterion, splitter)
        audit(model, sample, criterion, best=splitter != "random", complete=complete)

    check()


@pytest.mark.small
@each_criterion
def test_every_node_of_an_exact_tree_is_what_its_rows_make_it(criterion):
    check_every_node(criterion, "exact", 40, narrow=COMPILED and criterion != "gini")


@pytest.mark.small
@each_mechanism
@pytest.mark.parametrize("splitter", ["histogram", "random"])
def test_every_criterion_serves_every_splitter(criterion, splitter):
    check_every_node(criterion, splitter, 25, narrow=True)


@pytest.mark.small
@each_kind
@pytest.mark.parametrize("splitter", ["histogram", "random"])
def test_every_target_serves_every_splitter(criterion, splitter):
    check_every_node(criterion, splitter, 30, narrow=COMPILED and splitter == "random")


@interpreted_only  # compiled in splitters/test_random_values.py
def test_random_thresholds_of_float32_fall_between_its_values():
    check_every_node("gini", "random", 30, dtypes=[np.float32])


def test_two_names_of_a_criterion_mean_the_same():
    assert CRITERIA["log_loss"] is CRITERIA["entropy"]
    assert CRITERIA["friedman_mse"] is CRITERIA["squared_error"]


@pytest.mark.small
@pytest.mark.parametrize("criterion", ["gini", "gain_ratio", "squared_error", "absolute_error"])
@each_splitter
def test_every_node_of_a_small_tree_is_what_its_rows_make_it(criterion, splitter):
    check_every_node(criterion, splitter, 5, max_rows=12, narrow=COMPILED)


@pytest.mark.small
@each_mechanism
def test_criteria_average_over_outputs(criterion):
    check_every_node(criterion, "exact", 20, outputs=2, narrow=True)


@pytest.mark.small
@each_kind
@pytest.mark.parametrize("splitter", ["histogram", "random"])
def test_every_splitter_serves_several_outputs(criterion, splitter):
    check_every_node(criterion, splitter, 20, outputs=2, narrow=True)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error"])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_the_tree_is_the_one_grown_by_plain_recursion(criterion, missing):
    for seed in range(6):
        generator = np.random.default_rng(seed)
        X = generator.normal(size=(60, 3))
        y = X[:, 0] * X[:, 1] + generator.normal(size=60)
        X[generator.random(X.shape) < missing] = np.nan
        sample = Sample(X, (y > 0).astype(int) if is_for_classes(criterion) else y, None)
        model = grow(sample, criterion, "exact", max_depth=4)
        (X, y, w), n_classes = sample.for_naive(classes=is_for_classes(criterion))
        expected = naive.grow(criterion, X, y, w, n_classes, naive.Limits(max_depth=4))
        new = generator.normal(size=(40, 3))
        new[generator.random(new.shape) < missing] = np.nan
        found = model.trees_.value[model.apply(new)]
        assert np.allclose(found, [naive.predict(expected, row) for row in new], rtol=1e-12)


# Limits


@pytest.mark.small
@each_kind
@each_splitter
@pytest.mark.parametrize(
    ("params", "limits"),
    [
        ({"max_depth": 2}, {"max_depth": 2}),
        ({"min_samples_split": 6}, {"min_samples_split": 6}),
        ({"min_samples_leaf": 3}, {"min_samples_leaf": 3}),
        ({"min_impurity_decrease": 0.0123}, {"min_decrease": 0.0123}),
        ({"min_weight_fraction_leaf": 0.19}, {"min_weight_leaf": 0.19}),
        (
            {"max_depth": 3, "min_samples_leaf": 2, "min_weight_fraction_leaf": 0.07},
            {"max_depth": 3, "min_samples_leaf": 2, "min_weight_leaf": 0.07},
        ),
    ],
    ids=",".join,
)
def test_limits_hold_and_stop_nothing_else(criterion, splitter, params, limits):
    @examples(12)
    @given(samples_for(criterion, splitter, weight=("none", "zeros", "whole", "halves")))
    def check(sample):
        total = sample.for_naive(classes=False)[0][2].sum()
        scaled = limits | {"min_weight_leaf": limits.get("min_weight_leaf", 0.0) * total}
        # A random threshold may be the illegal one of its feature.
        complete = splitter != "random" or params.keys() <= {"max_depth", "min_samples_split"}
        model = grow(sample, criterion, splitter, **params)
        audit(model, sample, criterion, best=splitter != "random", limits=naive.Limits(**scaled), complete=complete)

    check()


@pytest.mark.small
@each_kind
@each_splitter
def test_best_first_stops_at_the_number_of_leaves(criterion, splitter):
    @examples(12)
    @given(samples_for(criterion, splitter, narrow=True), st.integers(2, 6))
    def check(sample, most):
        whole = grow(sample, criterion, splitter)
        model = grow(sample, criterion, splitter, max_leaf_nodes=most)
        assert model.get_n_leaves() == min(most, whole.get_n_leaves())
        audit(model, sample, criterion, best=splitter != "random", complete=False)

    check()


@pytest.mark.small
@each_kind
@each_splitter
def test_best_first_divides_the_node_that_gains_most(criterion, splitter):
    @examples(12)
    @given(samples_for(criterion, splitter, narrow=True))
    def check(sample):
        whole = grow(sample, criterion, splitter).trees_
        for most in (2, 3, 4):
            grown = grow(sample, criterion, splitter, max_leaf_nodes=most).trees_
            gains = whole.weight * whole.gain
            # Take the best open node of the whole tree, one after the other; stop where ties leave it open.
            open_nodes, taken = [0], []
            while len(taken) < most - 1 and (inner := [node for node in open_nodes if whole.feature[node] >= 0]):
                best = max(inner, key=gains.__getitem__)
                assume(sum(np.isclose(gains[node], gains[best]) for node in inner) == 1)
                open_nodes.remove(best)
                open_nodes += [whole.left[best], whole.right[best]]
                taken.append(best)
            assert sorted(gains[taken]) == sorted((grown.weight * grown.gain)[grown.feature >= 0])

    check()


@each_kind
@each_splitter
def test_best_first_without_limit_is_depth_first(criterion, splitter):
    @examples(15)
    @given(samples_for(criterion, splitter, narrow=True))
    def check(sample):
        depth_first = grow(sample, criterion, splitter)
        best_first = grow(sample, criterion, splitter, max_leaf_nodes=1000)
        assert same_trees(depth_first.trees_, best_first.trees_)

    check()


# What must not matter


@pytest.mark.small
@each_mechanism
def test_a_histogram_of_all_values_is_exact(criterion):
    @examples(15)
    @given(samples_for(criterion, narrow=True))
    def check(sample):
        exact, histogram = grow(sample, criterion, "exact"), grow(sample, criterion, "histogram")
        assert same_trees(exact.trees_, histogram.trees_)

    check()


@pytest.mark.parametrize("criterion", ["gini", "squared_error", "absolute_error"])
def test_a_histogram_tree_is_the_exact_tree_of_its_codes(criterion):
    from dtnumba.tables.bins import histogram_codes
    from dtnumba.tables.table import read_table

    generator = np.random.default_rng(0)
    X = generator.normal(size=(700, 3)).astype(np.float32)
    X[generator.random(X.shape) < 0.1] = np.nan
    y = np.nan_to_num(X[:, 0] * X[:, 1]) + generator.normal(size=700)
    y = (y > 0).astype(int) if is_for_classes(criterion) else y
    codes, bins = histogram_codes(read_table(X, "test"), np.arange(700, dtype=np.uint32), 16, 1)
    as_values = np.where(codes == bins.n_codes, np.nan, codes)
    coarse = fit(Sample(X, y, None), criterion, max_bins=16).trees_
    exact = fit(Sample(as_values, y, None), criterion).trees_
    assert coarse.n_nodes > 50
    assert same_trees(coarse, exact, but=["threshold"])


@each_kind
@each_splitter
def test_whole_weights_are_repeated_rows(criterion, splitter):
    @examples(20)
    @given(samples_for(criterion, splitter, weight=["whole"]))
    def check(sample):
        repeated = sample.take(np.repeat(np.arange(sample.n_rows), sample.weight.astype(int)))
        assume(repeated.n_classes == sample.n_classes)
        weighted = grow(sample, criterion, splitter)
        doubled = fit(Sample(repeated.X, repeated.y, None), criterion, **SPLITTERS[splitter])
        assert same_trees(weighted.trees_, doubled.trees_, but=["n_samples"])

    check()


@each_kind
@each_splitter
@pytest.mark.parametrize("outputs", [1, 2])
def test_rows_of_weight_zero_do_not_exist(criterion, splitter, outputs):
    @examples(20)
    @given(samples_for(criterion, splitter, outputs=outputs, weight=["zeros", "whole", "halves"]))
    def check(sample):
        without = sample.take(sample.kept)
        assume(without.n_classes == sample.n_classes)
        assert same_trees(grow(sample, criterion, splitter).trees_, grow(without, criterion, splitter).trees_)

    check()


@pytest.mark.parametrize("criterion", ["squared_error", "poisson", "absolute_error"])
@each_splitter
def test_a_huge_target_of_weight_zero_costs_no_precision(criterion, splitter):
    generator = np.random.default_rng(0)
    X, y, weight = generator.normal(size=(50, 2)), generator.random(50), np.ones(50)
    y[7], weight[7] = 1e140, 0.0
    sample = Sample(X, y, weight)
    without = sample.take(sample.kept)
    assert same_trees(grow(sample, criterion, splitter).trees_, grow(without, criterion, splitter).trees_)


def test_real_weights_are_rounded_alike_with_and_without_rows_of_weight_zero():
    generator = np.random.default_rng(0)
    X, y, weight = generator.normal(size=(3000, 2)), generator.integers(0, 3, 3000), generator.random(3000)
    weight[generator.random(3000) < 0.6] = 0
    sample = Sample(X, y, weight)
    assert same_trees(fit(sample, "gini").trees_, fit(sample.take(sample.kept), "gini").trees_)


@pytest.mark.small
@each_mechanism
@each_splitter
def test_the_order_of_rows_changes_no_bit(criterion, splitter):
    @examples(15)
    @given(samples_for(criterion, splitter, narrow=True), st.integers(0, 1 << 30))
    def check(sample, seed):
        shuffled = sample.take(np.random.default_rng(seed).permutation(sample.n_rows))
        assert same_trees(grow(sample, criterion, splitter).trees_, grow(shuffled, criterion, splitter).trees_)

    check()


def test_the_order_of_rows_changes_no_bit_of_weights_that_sum_to_a_power_of_two():
    # Tenths that sum to 4096, or to a hair less if they are added in another order.
    generator = np.random.default_rng(0)
    weight = generator.integers(1, 9, 9000) / 10
    weight = weight[: np.searchsorted(np.cumsum(weight), 4096.0)]
    weight[-1] += 4096 - math.fsum(weight)
    n = len(weight)
    sample = Sample(generator.normal(size=(n, 2)), generator.integers(0, 2, n), weight)
    orders = [generator.permutation(n) for _ in range(12)]
    assert len({sample.take(order).weight.sum() < 4096 for order in orders}) == 2
    grown = [fit(sample.take(order), "gini", max_depth=3).trees_ for order in orders]
    assert all(same_trees(grown[0], other) for other in grown[1:])


@each_kind
@pytest.mark.parametrize("splitter", ["exact", "histogram"])
def test_a_monotone_transform_of_a_feature_divides_the_same_rows(criterion, splitter):
    @examples(20)
    @given(samples_for(criterion))
    def check(sample):
        ranks = np.stack([np.unique(column, return_inverse=True)[1] for column in sample.X.T], axis=1)
        ranked = Sample(np.where(np.isnan(sample.X), np.nan, ranks**3 - 5.0), sample.y, sample.weight)
        one, other = grow(sample, criterion, splitter), grow(ranked, criterion, splitter)
        assert same_trees(one.trees_, other.trees_, but=["threshold"])
        # Rows of weight 0 may lie between those that were seen.
        assert np.array_equal(one.apply(sample.X)[sample.kept], other.apply(ranked.X)[sample.kept])

    check()


@each_kind
@each_splitter
def test_rows_end_in_the_leaf_they_were_counted_in(criterion, splitter):
    @examples(20)
    @given(samples_for(criterion, splitter, narrow=COMPILED))
    def check(sample):
        model = grow(sample, criterion, splitter)
        leaves, counts = np.unique(model.apply(sample.X)[sample.kept], return_counts=True)
        assert np.array_equal(leaves, np.flatnonzero(model.trees_.feature == LEAF))
        assert np.array_equal(counts, model.trees_.n_samples[leaves])

    check()


def large_table(seed, *, n_rows=PARALLEL_ROWS + 2500, missing=0.05):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, 5))
    X[:, 3] = X[:, 3].round(1)
    y = X[:, 0] * X[:, 1] + X[:, 3] + generator.normal(size=n_rows)
    X[generator.random(X.shape) < missing] = np.nan
    return X, y, generator.integers(0, 4, n_rows).astype(float)


@pytest.mark.parametrize(
    ("criterion", "params"),
    [
        ("gini", {}),
        ("gini", {"max_bins": 255}),
        ("gini", {"splitter": "random"}),
        ("gini", {"max_leaf_nodes": 200, "max_bins": 255}),
        ("gini", {"max_features": 2, "max_bins": 255}),
        ("squared_error", {}),
        ("squared_error", {"max_bins": 255, "min_samples_leaf": 5}),
        ("absolute_error", {"max_depth": 6}),
    ],
    ids=str,
)
def test_the_number_of_threads_changes_no_bit(criterion, params):
    X, y, weight = large_table(0)
    y = np.digitize(y, [-1, 1]) if is_for_classes(criterion) else y
    sample = Sample(X, y, weight if params.get("max_bins") else None)
    alone = fit(sample, criterion, **params)
    check(alone.trees_, 5)
    for n_jobs in (2, 3, 8):
        assert same_trees(alone.trees_, fit(sample, criterion, n_jobs=n_jobs, **params).trees_), n_jobs


@pytest.mark.parametrize(("n_rows", "n_columns", "n_classes"), [(4200, 600, 2), (9000, 70, 9), (5000, 10, 300)])
@pytest.mark.parametrize("limit", [{"max_depth": 6}, {"max_leaf_nodes": 40}], ids=str)
def test_threads_fill_wide_tables_column_by_column(n_rows, n_columns, n_classes, limit):
    """So large a table that workers fill it together instead of adding up their own."""
    rng = np.random.default_rng(n_columns)
    X = rng.normal(size=(n_rows, n_columns)).astype(np.float32)
    drawn = rng.integers(0, n_classes, n_rows)
    sample = Sample(X, np.where(drawn % 3 == 0, drawn, (X[:, 0] > 0) * 1), None)
    alone = fit(sample, "gini", max_bins=255, **limit)
    for n_jobs in (2, 3):
        assert same_trees(alone.trees_, fit(sample, "gini", n_jobs=n_jobs, max_bins=255, **limit).trees_), n_jobs


def test_labels_that_alternate_make_a_deep_tree_on_any_number_of_threads():
    """Every split parts a row from all others, in a node that is large enough to be shared out."""
    X = np.column_stack([np.arange(2 * PARALLEL_ROWS)] * 4).astype(float)
    sample = Sample(X, np.arange(len(X)) % 2, None)
    assert same_trees(fit(sample, "gini").trees_, fit(sample, "gini", n_jobs=3).trees_)


@pytest.mark.parametrize("n_kept", [2, 3, 6, 7, 24])
def test_threads_keep_few_tables_of_wide_data(monkeypatch, n_kept):
    """Each worker's list of free tables begins anew for subtrees, however many tables fit."""
    X, y, _ = large_table(0)
    sample = Sample(X, np.digitize(y, [-1, 1]), None)
    alone = fit(sample, "gini", max_bins=255)
    monkeypatch.setattr(histogram, "KEPT_TABLES", n_kept)
    assert same_trees(alone.trees_, fit(sample, "gini", n_jobs=2, max_bins=255).trees_)


def test_freed_tables_are_those_that_a_new_scratch_has():
    for n_slots in range(1, 30):
        free = per_worker(3, n_slots + 1, np.int64, -7)
        histogram.free_all(free)
        assert (free[..., 0] == n_slots - 1).all()
        assert (free[..., 1:] == np.arange(n_slots)).all()


@pytest.mark.parametrize("params", [{}, {"max_bins": 255}, {"splitter": "random"}], ids=str)
def test_threads_share_a_table_without_missing_values(params):
    X, y, _ = large_table(1, missing=0.0)
    sample = Sample(X, np.digitize(y, [-1, 1]), None)
    alone = fit(sample, "gini", **params)
    assert same_trees(alone.trees_, fit(sample, "gini", n_jobs=3, **params).trees_)


@pytest.mark.parametrize("params", [{}, {"max_bins": 255}, {"min_weight_fraction_leaf": 0.45}], ids=str)
@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
def test_threads_leave_large_nodes_alone_that_no_split_can_help(criterion, params):
    """Half of the rows are a pure node that is large enough to be worked on by all threads together."""
    X, _, _ = large_table(3, n_rows=3 * PARALLEL_ROWS, missing=0.0)
    sample = Sample(X, (X[:, 0] > 0) * (1 + (X[:, 1] > X[:, 2])), None)
    alone = fit(sample, criterion, **params)
    assert same_trees(alone.trees_, fit(sample, criterion, n_jobs=2, **params).trees_)


@pytest.mark.parametrize("params", [{}, {"max_bins": 255}], ids=str)
def test_best_first_without_limit_is_depth_first_on_many_threads(params):
    X, y, _ = large_table(2)
    sample = Sample(X, np.digitize(y, [-1, 1]), None)
    best_first = fit(sample, "gini", n_jobs=2, max_leaf_nodes=len(X), **params)
    assert same_trees(fit(sample, "gini", n_jobs=2, **params).trees_, best_first.trees_)


# Splits that gain nothing, ties, draws


def xor(n_copies=1):
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * n_copies, dtype=float)
    return X, (X[:, 0] != X[:, 1]).astype(int)


@pytest.mark.small
@pytest.mark.parametrize("criterion", compiled_where(FREE, ["gini"]))
@pytest.mark.parametrize("splitter", ["exact", "histogram"])
def test_xor_is_learned_through_a_split_that_gains_nothing(criterion, splitter):
    X, y = xor()
    model = grow(Sample(X, y, None), criterion, splitter)
    assert model.score(X, y) == 1.0
    assert model.get_n_leaves() == 4


@pytest.mark.small
@pytest.mark.parametrize("criterion", compiled_where(FREE, ["gini"]))
def test_xor_stops_at_the_root_where_a_split_must_gain(criterion):
    X, y = xor(3)
    assert grow(Sample(X, y, None), criterion, "exact", min_impurity_decrease=1e-9).get_n_leaves() == 1


@pytest.mark.small
@pytest.mark.parametrize("criterion", compiled_where(FREE))
@each_splitter
def test_rounding_does_not_keep_a_split_that_gains_nothing_from_being_taken(criterion, splitter):
    # Every class in the same shares on both sides, for shares that have no exact logarithm or quotient.
    for copies in range(1, 12) if COMPILED else (1, 5):
        for n_classes in (3, 4, 5, 6, 7) if COMPILED and criterion != "gini" else (2, 3, 6):
            labels = np.repeat(np.arange(n_classes), np.arange(1, n_classes + 1) + copies % 3)
            a, b = np.tile(labels, copies), np.tile(labels, 2 * copies + 1)
            X = np.concatenate([np.zeros(len(a)), np.ones(len(b))])[:, None]
            weight = np.full(len(X), 2.0)  # these are kernels that other tests compile, too
            model = grow(Sample(X, np.concatenate([a, b]), weight), criterion, splitter)
            assert model.get_n_leaves() == 2, (copies, n_classes)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
@each_splitter
def test_numbers_are_split_where_nothing_is_gained(criterion, splitter):
    generator = np.random.default_rng(0)
    for scale in (1e-3, 1.0, 1e7):
        for n in (3, 5, 10):
            # Both sides hold the same targets, one of them twice as often.
            y = generator.random(n) * scale + scale
            X = np.concatenate([np.zeros(n), np.ones(2 * n)])[:, None]
            model = grow(Sample(X, np.concatenate([y, y, y]), None), criterion, splitter)
            assert model.get_n_leaves() == 2, (scale, n)


@pytest.mark.small
@pytest.mark.parametrize("splitter", ["exact", "histogram"])
def test_the_first_of_equal_features_wins(splitter):
    generator = np.random.default_rng(0)
    x, y = generator.normal(size=30), generator.integers(0, 2, 30)
    grown = grow(Sample(np.stack([x, x, x], axis=1), y, None), "gini", splitter).trees_
    assert set(grown.feature) == {0, -1}


@pytest.mark.small
@pytest.mark.parametrize("splitter", ["exact", "histogram"])
def test_the_first_of_equal_cuts_wins(splitter):
    sample = Sample(np.arange(4.0)[:, None], np.array([0, 1, 1, 0]), None)
    assert grow(sample, "gini", splitter).trees_.threshold[0] == 0.5


def drawn(seed, p, k, is_constant):
    """List the features that the root looks at."""
    stream = rng._mixed(rng.stream(seed, rng.FEATURES, 0), rng.ROOT_KEY)
    order, i = list(range(p)), 0
    while i < p and (i < k or all(is_constant[f] for f in order[:i])):
        j = i + ((int(rng._mixed(stream, i)) >> 32) * (p - i) >> 32)
        order[i], order[j] = order[j], order[i]
        i += 1
    return order[:i]


@each_splitter
@pytest.mark.parametrize("most", [1, 2, 3])
def test_a_node_draws_until_a_feature_varies(splitter, most):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(80, 6))
    X[:, [0, 2, 5]] = 1.0
    X[generator.random(80) < 0.5, 0] = 2.0
    y = (X[:, 1] + X[:, 3] + X[:, 4] > 0).astype(int)
    is_constant = [False, False, True, False, False, True]
    looked_at = set()
    for seed in range(40):
        candidates = drawn(seed, 6, most, is_constant)
        looked_at.add(frozenset(candidates))
        model = grow(Sample(X, y, None), "gini", splitter, max_features=most, random_state=seed, max_depth=1)
        alone = {f: grow(Sample(X[:, [f]], y, None), "gini", splitter, max_depth=1).trees_.gain[0] for f in candidates}
        assert model.trees_.feature[0] in candidates
        if splitter != "random":
            assert model.trees_.feature[0] == max(sorted(candidates), key=alone.__getitem__)
    assert len(looked_at) > most


@each_splitter
def test_an_impure_node_never_stays_a_leaf_for_bad_luck(splitter):
    X = np.zeros((40, 12))
    X[:, 7] = np.arange(40)
    y = np.arange(40) % 2
    for seed in range(10):
        assert grow(Sample(X, y, None), "gini", splitter, max_features=1, random_state=seed).score(X, y) == 1.0


@each_splitter
def test_every_feature_is_drawn_about_as_often(splitter):
    generator = np.random.default_rng(0)
    sample = Sample(generator.normal(size=(30, 5)), generator.integers(0, 2, 30), None)
    params = {"max_features": 1, "max_depth": 1}
    first = [grow(sample, "gini", splitter, random_state=seed, **params).trees_.feature[0] for seed in range(500)]
    counts = np.bincount(first, minlength=5)
    assert ((counts - 100) ** 2 / 100).sum() < 18.5  # 0.1 % of chi-squared with 4 degrees of freedom


def test_random_thresholds_are_uniform_between_the_extremes():
    X, y = np.array([[-3.0], [-2.9], [7.0]]), np.array([0, 1, 1])
    params = {"max_depth": 1, "max_features": None}
    found = np.array(
        [ExtraTreeClassifier(random_state=seed, **params).fit(X, y).trees_.threshold[0] for seed in range(600)]
    )
    shares = np.sort((found + 3) / 10)
    assert np.abs(shares - (np.arange(600) + 0.5) / 600).max() < 1.95 / np.sqrt(600)  # Kolmogorov-Smirnov, 0.1 %


def test_every_node_draws_its_own_threshold():
    X, y = np.arange(64.0)[:, None], np.arange(64) % 2
    grown = ExtraTreeClassifier(random_state=0).fit(X, y).trees_
    inner = grown.feature >= 0
    assert len(np.unique(grown.threshold[inner] % 1)) == inner.sum()


@each_splitter
def test_a_seed_gives_the_same_bits_again(splitter):
    X, y, _ = large_table(3, n_rows=300)
    params = SPLITTERS[splitter] | {"max_features": 2, "n_jobs": 1}
    one, same, other = (DecisionTreeClassifier(random_state=seed, **params).fit(X, y > 0).trees_ for seed in (5, 5, 6))
    assert same_trees(one, same)
    assert not same_trees(one, other)


# Extremes


@exact_compiled
@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e-150, 1e148])
def test_values_of_leaves_stay_within_targets_of_any_size(splitter, scale):
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(40, 2)), generator.integers(0, 9, 40) * scale
    for criterion in ("squared_error", "absolute_error", "poisson"):
        model = grow(Sample(X, y, None), criterion, splitter)
        check(model.trees_, 2)
        assert (model.trees_.value >= y.min()).all()
        assert (model.trees_.value <= y.max()).all()
        assert not np.isnan(model.trees_.impurity).any()


@each_splitter
@pytest.mark.parametrize("value", [0.0, 33.04370762, -1e149, 5e-324])
def test_a_constant_target_is_one_leaf_of_that_value(splitter, value):
    X = np.arange(5.0)[:, None]
    for criterion in ("squared_error", "absolute_error"):
        grown = grow(Sample(X, np.full(5, value), None), criterion, splitter).trees_
        assert grown.value.tolist() == [[value]]
        assert grown.impurity.tolist() == [0.0]


def test_targets_far_from_zero_are_told_apart():
    y = 1e9 + np.array([0.0, 1e-6, 1e-6, 0.0, 2e-6, 2e-6])
    model = DecisionTreeRegressor().fit(np.arange(6.0)[:, None], y)
    assert np.array_equal(model.predict(np.arange(6.0)[:, None]), y)


DEPTHS = [("exact", 300), ("histogram", 150), ("random", 15)]


@pytest.mark.parametrize(("splitter", "depth"), compiled_where(DEPTHS, DEPTHS[:1]))
def test_a_deep_chain_of_nodes_needs_no_recursion(splitter, depth):
    n = 3000 if COMPILED else 600
    X, y = np.arange(n, dtype=float)[:, None], np.full(n, 1.0)
    y[::2] = 2.0 ** np.arange(n // 2, 0, -1).clip(max=480)
    model = grow(Sample(X, y, None), "squared_error", splitter)
    check(model.trees_, 1)
    assert model.get_depth() > depth


@pytest.mark.small
@pytest.mark.parametrize("criterion", compiled_where(["gini", "twoing", "chi2", "squared_error"], KINDS))
@pytest.mark.parametrize("splitter", ["exact", "histogram"])
def test_what_weights_are_measured_in_does_not_matter(criterion, splitter):
    generator = np.random.default_rng(0)
    n = 300 if COMPILED else 40
    X, y = generator.normal(size=(n, 3)), generator.integers(0, 2, n)
    plain = grow(Sample(X, y, np.full(n, 1.0)), criterion, splitter).trees_
    for exponent in (-300, -60, -30, 60, 300):
        scaled = grow(Sample(X, y, np.full(n, 2.0**exponent)), criterion, splitter).trees_
        assert same_trees(plain, scaled, but=["weight"])


@pytest.mark.parametrize("scale", [2.0**-200, 2.0**200])
def test_what_targets_are_measured_in_does_not_matter(scale):
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(300, 3)), generator.normal(size=300)
    plain, scaled = (grow(Sample(X, z, None), "squared_error", "exact").trees_ for z in (y, y * scale))
    assert same_trees(plain, scaled, but=["value", "impurity", "gain"])


@exact_compiled
def test_medians_do_not_depend_on_the_order_of_rows_with_equal_targets(splitter):
    generator = np.random.default_rng(2)
    X = generator.normal(size=(400, 3))
    sample = Sample(X, np.round(X[:, 0] + generator.normal(size=400), 1), generator.random(400))
    shuffled = sample.take(generator.permutation(400))
    one, other = (grow(given, "absolute_error", splitter, max_depth=5).trees_ for given in (sample, shuffled))
    assert same_trees(one, other)
