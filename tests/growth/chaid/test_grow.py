"""CHAID: known answers, multipliers by hand, whole trees against the definition, and what a fitted model offers."""

import json
import math
import pickle
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import chaid as naive_chaid
from strategies import examples, same_trees

from dtnumba import CHAIDClassifier, CHAIDRegressor, prune, validation
from dtnumba.growth.chaid.bonferroni import BIGGS, FLOATING, KASS, NOMINAL, NONE, ORDINAL, SPSS, log_multiplier
from dtnumba.growth.chaid.predictors import bins_of, read_predictors
from dtnumba.runtime.kernels import COMPILED
from dtnumba.tables.binned_table import BinnedTable
from dtnumba.tables.table import read_table
from dtnumba.tables.weights import fixed_weights
from dtnumba.trees.check import check

pytestmark = pytest.mark.small
NAN = math.nan
KINDS = {"nominal": NOMINAL, "ordinal": ORDINAL, "floating": FLOATING}
RULES = {"kass": KASS, "biggs": BIGGS, "spss": SPSS, None: NONE}


def multiplier(kind, c, r, rule="kass"):
    return math.exp(log_multiplier(RULES[rule], KINDS[kind], c, r, np.zeros(r + 2)))


@pytest.mark.parametrize(
    ("kind", "five_to_three", "ten_to_four"), [("ordinal", 6, 84), ("nominal", 25, 34105), ("floating", 12, 252)]
)
def test_multipliers_of_kass(kind, five_to_three, ten_to_four):
    assert multiplier(kind, 5, 3) == pytest.approx(five_to_three)
    assert multiplier(kind, 10, 4) == pytest.approx(ten_to_four)
    assert multiplier(kind, 4, 4) == 1
    assert multiplier(kind, 4, 2, None) == 1


def test_multipliers_of_exhaustive_chaid_depend_on_the_categories_alone():
    assert [multiplier("nominal", 5, r, "biggs") for r in (2, 4)] == pytest.approx([20, 20])
    assert multiplier("nominal", 5, 2, "spss") == pytest.approx(60)
    assert multiplier("ordinal", 5, 2, "biggs") == multiplier("ordinal", 5, 3, "spss") == pytest.approx(10)
    assert multiplier("floating", 5, 2, "biggs") == pytest.approx(16)


def test_multipliers_agree_with_counting():
    for kind in KINDS:
        for rule in ("kass", "biggs", "spss"):
            for c in range(2, 12):
                for r in range(2, c + 1):
                    assert multiplier(kind, c, r, rule) == pytest.approx(naive_chaid.multiplier(kind, c, r, rule))


def test_a_multiplier_too_large_for_a_number_has_a_logarithm():
    """Of 1000 things in two sets, 2**999 - 1 ways; in three about 3**1000 / 6."""
    assert log_multiplier(KASS, NOMINAL, 1000, 2, np.zeros(4)) == pytest.approx(999 * math.log(2))
    assert log_multiplier(KASS, NOMINAL, 1000, 3, np.zeros(5)) == pytest.approx(1000 * math.log(3) - math.log(6))


RESTAURANT = ["Some", "Full", "Some", "Full", "Full", "Some", "None", "Some", "Full", "Full", "None", "Full"]
WAIT = list("YNYYNYNYNNNY")
EVERY = {"min_parent": 2, "min_child": 1}


def column(values):
    return np.array(values, object)[:, None]


def test_the_restaurants_patrons():
    """None and Full merge (p .3458); X2 6, p .014306, and three ways to merge three categories into two."""
    model = CHAIDClassifier(**EVERY).fit(column(RESTAURANT), WAIT)
    (test,) = model.root_tests_
    assert test.groups == [["Full", "None"], ["Some"]]
    assert test.table.tolist() == [[6, 2], [0, 4]]
    assert (test.statistic, test.df, test.n_categories) == (pytest.approx(6.0), 1, 3)
    assert test.p_value == model.p_value_[0] == pytest.approx(0.014306, abs=1e-6)
    assert test.adjusted_p_value == model.adjusted_p_value_[0] == pytest.approx(0.042918, abs=1e-6)
    assert model.p_value_[1] == pytest.approx(0.345779, abs=1e-6)  # a leaf shows why it is one
    assert np.isnan(model.p_value_[2])  # a pure one was not looked at
    unmerged = CHAIDClassifier(alpha_merge=1.0, bonferroni=False, **EVERY).fit(column(RESTAURANT), WAIT)
    assert unmerged.root_tests_[0].statistic == pytest.approx(6.666667)
    assert unmerged.p_value_[0] == pytest.approx(0.035674, abs=1e-6)
    by_likelihood = CHAIDClassifier(statistic="likelihood", alpha_merge=1.0, bonferroni=False, **EVERY)
    assert by_likelihood.fit(column(RESTAURANT), WAIT).statistic_[0] == pytest.approx(8.997362)


def test_the_multiplier_of_spss_keeps_the_restaurant_whole():
    params = {"exhaustive": True, "exhaustive_multiplier": "spss"} | EVERY
    model = CHAIDClassifier(**params).fit(column(RESTAURANT), WAIT)
    assert model.n_leaves_ == 1
    assert model.adjusted_p_value_[0] == pytest.approx(12 * 0.014305878)


def test_golf_has_no_split():
    outlook = list("ssorrrossrsoor")
    play = ["N", "N", "P", "P", "P", "N", "P", "N", "P", "P", "P", "P", "P", "N"]
    model = CHAIDClassifier(**EVERY).fit(column(outlook), play)
    assert model.n_leaves_ == 1
    assert model.p_value_[0] == pytest.approx(0.077760, abs=1e-6)
    assert model.adjusted_p_value_[0] == pytest.approx(0.233280, abs=1e-6)


def test_the_women_of_the_titanic():
    counts = {"1st": (4, 141), "2nd": (13, 93), "3rd": (106, 90), "Crew": (3, 20)}
    classes = [name for name, (died, lived) in counts.items() for _ in range(died + lived)]
    fate = [at for died, lived in counts.values() for at in [0] * died + [1] * lived]
    (test,) = CHAIDClassifier().fit(column(classes), fate).root_tests_
    assert test.groups == [["1st"], ["2nd", "Crew"], ["3rd"]]
    assert test.statistic == pytest.approx(130.686, abs=1e-3)
    assert test.p_value == pytest.approx(4.187e-29, rel=1e-3)
    assert test.adjusted_p_value == pytest.approx(2.512e-28, rel=1e-3)  # S(4, 3) = 6
    weights = [n for pair in counts.values() for n in pair]
    few = CHAIDClassifier().fit(column([c for c in counts for _ in range(2)]), [0, 1] * 4, sample_weight=weights)
    assert few.root_tests_[0].p_value == test.p_value  # a row of weight n is that row n times


GIRTH = "8.3 8.6 8.8 10.5 10.7 10.8 11 11 11.1 11.2 11.3 11.4 11.4 11.7 12 12.9 12.9 13.3 13.7 13.8 14 14.2 14.5 16 "
VOLUME = "10.3 10.3 10.2 16.4 18.8 19.7 15.6 18.2 22.6 19.9 24.2 21 21.4 21.3 19.1 22.2 33.8 27.4 25.7 24.9 34.5 31.7 "
TREES = np.array((GIRTH + "16.3 17.3 17.5 17.9 18 18 20.6").split(), float)[:, None]
VOLUMES = np.array((VOLUME + "36.3 38.3 42.6 55.4 55.7 58.3 51.5 51 77").split(), float)


def test_volumes_of_trees_by_girth():
    """R's data set: ten bins become four groups, which can be done in C(9, 3) = 84 ways."""
    model = CHAIDRegressor(max_depth=1, **EVERY).fit(TREES, VOLUMES)
    (test,) = model.root_tests_
    assert [group[-1][-1] for group in test.groups] == [8.8, 12.0, 16.0, 20.6]
    assert test.statistic == model.statistic_[0] == pytest.approx(64.4, abs=0.01)
    assert (model.df_[0], model.df_within_[0]) == (3, 27)
    assert test.adjusted_p_value == pytest.approx(84 * test.p_value) == pytest.approx(1.67e-10, rel=1e-2)
    assert model.trees_.cut.tolist() == pytest.approx([9.65, 12.45, 16.15])
    assert model.predict([[8.0]]) == pytest.approx(VOLUMES[:3].mean())


def test_f_of_three_by_three():
    model = CHAIDRegressor(alpha_merge=1.0, bonferroni=False, ordinal_features=[0], **EVERY)
    model.fit(np.repeat([1, 2, 3], 3)[:, None], [1, 2, 3, 2, 4, 6, 5, 6, 7])
    assert (model.statistic_[0], model.p_value_[0]) == (pytest.approx(6.0), pytest.approx(0.037037, abs=1e-6))


ORACLE = json.loads((Path(__file__).parents[2] / "data" / "chaid_vote.json").read_text(encoding="utf-8"))


def test_every_predictor_of_votes_is_what_another_program_says():
    """The CHAID package 5.5.1, on the training part of the 1984 votes of Congress; it knows no multipliers."""
    X = np.array([[None if vote == "?" else vote for vote in row] for row in ORACLE["rows"]], object)
    model = CHAIDClassifier(bonferroni=False, max_depth=2, min_child=5).fit(X, list(ORACLE["party"]))
    for test, (groups, chi2, p) in zip(model.root_tests_, ORACLE["root"], strict=True):
        if groups is None:
            assert test.p_value > 0.05
            continue
        assert {frozenset(map(str, group)) for group in test.groups} == {frozenset(group) for group in groups}
        assert test.statistic == pytest.approx(chi2, rel=1e-5)
        assert test.p_value == pytest.approx(p, rel=1e-5)
    assert sorted(model.trees_.n_samples.tolist()) == ORACLE["sizes"]


@st.composite
def fits(draw, *, classes):
    """A table of categories in and out of order, with holes; a target that follows some of them; parameters."""
    n, p = draw(st.integers(12, 130)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    kinds = ["nominal" if rng.random() < 0.5 else "ordinal" for _ in range(p)]
    X = rng.integers(0, rng.integers(2, 8, p), (n, p)).astype(float)
    if rng.random() < 0.7:
        X[rng.random((n, p)) < rng.choice([0.02, 0.3])] = NAN
    effects = rng.normal(size=(9, p)) * rng.choice([0.3, 1.0, 3.0], p)
    at = np.where(np.isnan(X), 8, X).astype(int)
    signal = effects[at, np.arange(p)].sum(axis=1) + rng.normal(size=n)
    y = np.digitize(signal, np.sort(rng.normal(size=draw(st.integers(1, 3))))) if classes else signal.round(2)
    weight = None if rng.random() < 0.5 else rng.integers(1, 4, n).astype(float)
    exhaustive = draw(st.booleans())
    options = {
        "alpha_merge": float(rng.choice([0.05, 0.3])),
        "alpha_split": float(rng.choice([0.05, 0.5])),
        "max_depth": draw(st.integers(1, 3)),
        "min_parent": int(rng.choice([2, 10, 40])),
        "min_child": int(rng.choice([1, 4, 10])),
        "bonferroni": draw(st.booleans()),
        "exhaustive": exhaustive,
        "exhaustive_multiplier": str(rng.choice(["biggs", "spss"])),
        "resplit": draw(st.booleans()) and not exhaustive,
    }
    if classes:
        options["statistic"] = draw(st.sampled_from(["pearson", "likelihood"]))
    return X, y, weight, kinds, options


def same_node(model, node, expected, codes, rows):
    """Compare a node and those below with the slow ones."""
    trees = model.trees_
    assert trees.n_samples[node] == expected["n"] == len(rows)
    if "log_p" in expected:
        assert model.log_p_value_[node] == pytest.approx(expected["log_p"], rel=1e-7, abs=1e-7)
        assert model.statistic_[node] == pytest.approx(expected["statistic"], rel=1e-7, abs=1e-7)
        assert model.df_[node] == expected["df"]
    assert trees.feature[node] == expected.get("feature", -1)
    if "feature" not in expected:
        return
    own = codes[rows, expected["feature"]]
    children = [
        [rows[np.isin(own, group)], below]
        for group, below in zip(expected["groups"], expected["children"], strict=True)
    ]
    assert trees.right[node] - trees.left[node] + 1 == len(children)
    for k, (inside, below) in enumerate(children):
        same_node(model, int(trees.left[node]) + k, below, codes, inside)


def compare(sample, estimator):
    X, y, weight, kinds, options = sample
    nominal = [f for f, kind in enumerate(kinds) if kind == "nominal"]
    ordinal = [f for f, kind in enumerate(kinds) if kind == "ordinal"]
    model = estimator(categorical_features=nominal or None, ordinal_features=ordinal, n_jobs=1, **options)
    model.fit(X, y, weight)
    check(model.trees_, X.shape[1])
    on_leaf = np.bincount(model.apply(X), minlength=model.n_nodes_)
    assert on_leaf.tolist() == np.where(model.trees_.feature < 0, model.trees_.n_samples, 0).tolist()
    codes = np.where(np.isnan(X), math.inf, X)
    try:
        expected = naive_chaid.grow(
            codes, kinds, y, np.ones(len(y)) if weight is None else weight, {"statistic": "f"} | options
        )
    except naive_chaid.Tie:
        return
    same_node(model, 0, expected, codes, np.arange(len(y)))


@examples(150)
@given(fits(classes=True))
def test_trees_of_classes_are_those_of_the_definition(sample):
    compare(sample, CHAIDClassifier)


@examples(100)
@given(fits(classes=False))
def test_trees_of_numbers_are_those_of_the_definition(sample):
    compare(sample, CHAIDRegressor)


@examples(60)
@given(st.integers(1, 40), st.integers(2, 12), st.integers(0, 1 << 30))
def test_bins_are_those_of_the_definition(n_values, most, seed):
    rng = np.random.default_rng(seed)
    weight = rng.integers(1, rng.choice([3, 60]), n_values)
    found = bins_of(weight, most)
    assert found.tolist() == naive_chaid.bins(np.arange(n_values), weight.astype(float), most).tolist()
    assert found[-1] < most


def test_a_heavy_value_leaves_bins_to_the_others():
    """Zeros of nine rows in ten do not swallow the rest, as the ninth of ten bins by rank would."""
    weight = np.array([900] + [1] * 100)
    found = bins_of(weight, 10)
    assert (found[0], found[1], found[-1]) == (0, 1, 9)
    assert set(np.bincount(found)[1:].tolist()) == {11, 12}


def test_missing_values_have_a_child_of_their_own_or_join_a_group():
    x = np.repeat([1.0, 2.0, NAN], 40)[:, None]
    apart = CHAIDClassifier().fit(x, np.repeat(["a", "b", "c"], 40))
    assert apart.n_leaves_ == 3
    assert apart.predict([[NAN], [1.4], [9.0]]).tolist() == ["c", "a", "b"]
    joined = CHAIDClassifier().fit(x, np.repeat(["a", "b", "b"], 40))
    assert joined.root_tests_[0].groups == [[1.0], [2.0, None]]
    assert joined.predict([[NAN], [1.0]]).tolist() == ["b", "a"]
    alone = CHAIDClassifier().fit(x, np.repeat(["a", "a", "b"], 40))
    assert alone.root_tests_[0].groups == [[1.0, 2.0], [None]]
    assert alone.predict([[NAN], [-5.0], [7.0]]).tolist() == ["b", "a", "a"]


def test_what_a_node_never_saw_goes_where_missing_values_go():
    X = column(["a"] * 40 + ["b"] * 60 + [None] * 20)
    model = CHAIDClassifier().fit(X, ["x"] * 40 + ["y"] * 60 + ["z"] * 20)
    assert model.predict(column(["q", None, "a"])).tolist() == ["z", "z", "x"]
    without = CHAIDClassifier().fit(X[:100], ["x"] * 40 + ["y"] * 60)
    assert without.predict(column(["q", None, "a"])).tolist() == ["y", "y", "x"]  # the heaviest child


def test_ordered_categories_merge_with_neighbours_only():
    pd = pytest.importorskip("pandas")
    values = ["low", "middle", "high"] * 40
    y = [0, 1, 0] * 40
    frame = pd.DataFrame({"x": pd.Categorical(values, ["low", "middle", "high"], ordered=True)})
    ordinal = CHAIDClassifier().fit(frame, y)
    assert ordinal.root_tests_[0].groups == [["low"], ["middle"], ["high"]]
    assert ordinal.root_tests_[0].name == "x"
    nominal = CHAIDClassifier().fit(frame.astype(str), y)
    assert nominal.root_tests_[0].groups == [["high", "low"], ["middle"]]
    listed = CHAIDClassifier(ordinal_features=["x"]).fit(frame.astype(str), y)
    assert listed.root_tests_[0].groups == [["high", "low"], ["middle"]]  # neighbours in the order of the text


def test_a_listed_number_is_not_binned():
    x = np.repeat(np.arange(30.0), 20)[:, None]
    y = x[:, 0] % 2
    assert CHAIDClassifier(ordinal_features=[0]).fit(x, y).n_leaves_ == 30
    assert CHAIDClassifier().fit(x, y).score(x, y) < 0.7


@pytest.mark.parametrize(
    ("kind", "positive", "rows", "plain", "divided"),
    [
        ("ordinal", [31, 53, 12, 21, 5], [40, 80, 20, 40, 20], [[0, 1, 2, 3], [4]], [[0, 1], [2, 3], [4]]),
        ("categorical", [19, 12, 54, 11, 9], [40, 20, 80, 20, 40], [[0, 1, 2, 3], [4]], [[0, 3], [1, 2], [4]]),
    ],
)
def test_resplit_takes_apart_what_mergers_hide(kind, positive, rows, plain, divided):
    """Groups were alike when they joined, and the parts of what came of it are not (p .047 and .046)."""
    x, weight = np.repeat(np.arange(5.0), 2)[:, None], np.stack([positive, np.subtract(rows, positive)], axis=1).ravel()
    for resplit, expected in ((False, plain), (True, divided)):
        model = CHAIDClassifier(**{f"{kind}_features": [0]}, resplit=resplit, max_depth=1)
        assert model.fit(x, [1, 0] * 5, weight).root_tests_[0].groups == expected


def test_a_fan_wider_than_a_byte_routes_missing_values():
    x = np.repeat(np.arange(300.0), 4)
    x[::60] = NAN
    y = np.where(np.isnan(x), 1000.0, x * 7 % 300) + np.tile([0, 1e-3], 600)
    for kind in ("categorical_features", "ordinal_features"):
        model = CHAIDRegressor(bonferroni=False, min_parent=2, min_child=2, **{kind: [0]}).fit(x[:, None], y)
        check(model.trees_, 1)
        assert model.n_leaves_ > 256
        assert model.predict([[NAN]]) == pytest.approx(1000, abs=1e-2)
        assert np.abs(model.predict(x[:, None]) - y).max() < 1.0


def test_weights_are_repeated_rows():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 5, (120, 3)).astype(float) + rng.random((120, 3)).round(1)
    weight = rng.integers(0, 4, 120)
    rows = np.repeat(np.arange(120), weight)
    y = X[:, 0].round() + rng.normal(size=120)
    for estimator, target in ((CHAIDRegressor, y), (CHAIDClassifier, y > 2)):
        one = estimator().fit(X, target, weight)
        many = estimator().fit(X[rows], target[rows])
        assert same_trees(one.trees_, many.trees_, but=("n_samples", "value", "impurity", "gain"))
        assert np.array_equal(one.log_p_value_, many.log_p_value_, equal_nan=True)


def test_pruning_keeps_what_nodes_were_found_by():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (600, 4)).astype(float)
    y = (X[:, 0] > 1) ^ (rng.random(600) < 0.2)
    model = CHAIDClassifier(alpha_split=0.5, bonferroni=False).fit(X, y)
    smaller = prune(model, "pessimistic")
    assert 1 < smaller.n_leaves_ < model.n_leaves_
    assert smaller.p_value_[0] == model.p_value_[0]
    assert len(smaller.p_value_) == smaller.n_nodes_ < len(model.p_value_)
    assert pickle.loads(pickle.dumps(smaller)).predict(X).tolist() == smaller.predict(X).tolist()  # noqa: S301
    assert validation.cross_validate(model, X, y, k=3).mean > 0.7


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"alpha_merge": 1.5}, r"alpha_merge.*\[0.0, 1.0\].*1.5"),
        ({"alpha_split": -0.1}, "alpha_split"),
        ({"min_parent": 1}, "min_parent"),
        ({"min_child": 0}, "min_child"),
        ({"max_depth": 0}, "max_depth"),
        ({"max_numeric_bins": 1}, "max_numeric_bins"),
        ({"statistic": "f"}, "statistic"),
        ({"exhaustive_multiplier": "kass"}, "exhaustive_multiplier"),
        ({"exhaustive": True, "resplit": True}, "leave out one"),
        ({"ordinal_features": [7]}, "ordinal_features.*column 7"),
    ],
)
def test_bad_parameters_are_named(params, said):
    model = CHAIDClassifier().fit([[0], [1]] * 20, [0, 1] * 20)
    before = model.trees_
    with pytest.raises(ValueError, match=said):
        model.set_params(**params).fit([[0], [1]] * 20, [0, 1] * 20)
    assert model.trees_ is before


def test_what_it_cannot_learn_from_is_refused(monkeypatch):
    with pytest.raises(ValueError, match="2 outputs"):
        CHAIDRegressor().fit([[0], [1]], [[0, 1], [1, 0]])
    with pytest.raises(ValueError, match="ordinal_features"):
        CHAIDRegressor(ordinal_features="x").fit([[0], [1]], [0, 1])
    with pytest.raises(TypeError, match="BinnedTable"):
        CHAIDRegressor().fit(BinnedTable(np.zeros((4, 1), np.uint8), None, 255, np.float64), [0, 1, 2, 3])
    monkeypatch.setattr("dtnumba.growth.chaid.predictors.MOST_CODES", 20)
    with pytest.raises(ValueError, match=r"column 0 has 30 categories.*at most 20"):
        CHAIDRegressor(ordinal_features=[0]).fit(np.arange(30.0)[:, None], np.zeros(30))


def test_trivial_targets_make_one_leaf():
    assert CHAIDClassifier().fit([[1], [2]] * 30, ["same"] * 60).n_leaves_ == 1
    model = CHAIDRegressor().fit(np.full((60, 2), NAN), np.arange(60))
    assert model.predict([[1, 2]]) == pytest.approx(29.5)
    assert [test.groups for test in model.root_tests_] == [[], []]


@pytest.mark.parametrize("power", [-300, -200, -100, 149])
def test_the_unit_of_the_numbers_changes_no_split(power):
    rng = np.random.default_rng(0)
    X, unit = rng.integers(0, 5, (400, 3)).astype(float), 10.0**power
    y = X[:, 0] + rng.normal(size=400) / 2
    one, other = CHAIDRegressor().fit(X, y), CHAIDRegressor().fit(X, y * unit)
    assert one.n_leaves_ > 3
    assert np.array_equal(one.trees_.feature, other.trees_.feature)
    assert np.array_equal(one.trees_.branch, other.trees_.branch)
    assert np.allclose(other.predict(X) / unit, one.predict(X))
    assert np.allclose(other.statistic_, one.statistic_, equal_nan=True)
    own, scaled = one.root_tests_[0].table, other.root_tests_[0].table
    assert np.allclose(scaled[:, 1] / unit, own[:, 1])
    if abs(power) < 150:
        assert np.allclose(scaled[:, 2] / unit**2, own[:, 2])
        assert np.allclose(other.trees_.impurity / unit**2, one.trees_.impurity)


def test_the_order_of_the_rows_changes_no_bit():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 5, (300, 3)).astype(float)
    y, weight = X[:, 0] + rng.normal(size=300), rng.random(300) + 0.01
    tree = CHAIDRegressor().fit(X, y, weight).trees_
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(300)
        assert same_trees(tree, CHAIDRegressor().fit(X[order], y[order], weight[order]).trees_)


@pytest.mark.skipif(not COMPILED, reason="it is about large tables")
def test_codes_are_made_a_few_columns_at_a_time():
    """Ranks of all columns at once took four times the memory of the table."""
    X = np.random.default_rng(0).random((300_000, 40), dtype=np.float32)
    table, ordinal = read_table(X, "rows"), np.zeros(40, bool)
    weights = fixed_weights(None, len(X))
    read_predictors(table, weights, ordinal, 10, 2)  # compiles
    tracemalloc.start()
    try:
        found = read_predictors(table, weights, ordinal, 10, 2)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < X.nbytes
    few, values = X[:1000], np.arange(1000) % 300
    few[:, 7] = values  # more codes than a byte has
    whole, one = (
        read_predictors(read_table(part, "rows"), fixed_weights(None, 1000), np.arange(8) == 7, 10, 1)
        for part in (few[:, :8], few[:, [0] * 8])
    )
    assert np.array_equal(whole.codes[7], values)
    assert np.array_equal(whole.codes[0], one.codes[0])
    assert (whole.codes.dtype, found.codes.dtype) == (np.uint16, np.uint8)
