import sys
from pathlib import Path

import numpy as np
import pytest
from public_data import as_rpart, kyphosis

from dtnumba import (
    C45Classifier,
    CHAIDClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ID3Classifier,
    RandomForestClassifier,
    prune,
)
from dtnumba.pruners.cost_complexity import CostComplexity
from dtnumba.pruners.engines.alpha_table import alpha_table
from dtnumba.pruners.engines.weakest_link import cut_weak, impurity_risk
from dtnumba.trees.check import check
from dtnumba.validation.folds import given_folds

pytestmark = pytest.mark.small

# rpart 4.1.19 on all rows of iris, minsplit=20, minbucket=7, cp=0.01, row i held out in fold i mod 10:
# CP, nsplit, rel error, xerror, xstd.
RPART = [
    [0.5, 0, 1, 1, 0.057735027],
    [0.44, 1, 0.5, 0.5, 0.057735027],
    [0.01, 2, 0.06, 0.1, 0.030550505],
]


def iris():
    rows = [line.split(",") for line in (Path(__file__).parents[2] / "data/iris.csv").read_text().split()[1:]]
    return np.array([[float(cell) for cell in row[:4]] for row in rows]), np.array([row[4] for row in rows])


def noisy(n=80, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + rng.normal(size=n) > 0).astype(int), X[:, 0] + rng.normal(size=n)


def test_the_table_is_rparts():
    X, y = iris()
    model = DecisionTreeClassifier(min_samples_split=20, min_samples_leaf=7, random_state=0)
    found = alpha_table(model, X, y, cv=np.arange(150) % 10, relative=True, floor=0.01)
    columns = [found.alpha, found.n_leaves - 1, found.risk, found.error, found.standard_error]
    assert np.allclose(np.column_stack(columns)[::-1], RPART, atol=1e-6)


@pytest.mark.parametrize("of", ["classes", "numbers"])
def test_an_error_is_that_of_a_plain_loop_over_folds_and_alphas(of):
    X, labels, numbers = noisy()
    y = labels if of == "classes" else numbers
    model = (DecisionTreeClassifier if of == "classes" else DecisionTreeRegressor)(random_state=0, min_samples_leaf=3)
    weight = np.arange(80) % 3 + 1.0
    folds = np.arange(80) % 4
    found = alpha_table(model, X, y, weight, folds)
    for k in range(len(found.alpha)):
        last = k + 1 == len(found.alpha)
        alpha = 10 * found.alpha[k] if last else np.sqrt(found.alpha[k] * found.alpha[k + 1])
        lost = np.empty(80)
        for train, test in given_folds(folds, 80):
            tree = type(model)(random_state=0, min_samples_leaf=3).fit(X[train], y[train], weight[train])
            smaller = tree._with_trees(cut_weak(tree.trees_, impurity_risk(tree.trees_), alpha))
            said = smaller.predict(X[test])
            lost[test] = said != y[test] if of == "classes" else (said - y[test]) ** 2
        mean = weight @ lost / weight.sum()
        error = np.sqrt(weight @ lost**2 - (weight @ lost) ** 2 / weight.sum()) / weight.sum()
        assert np.allclose([found.error[k], found.standard_error[k]], [mean, error])


def test_leave_one_out_chooses_as_folds_of_one_row_do():
    X, y, _ = noisy(30)
    model = DecisionTreeClassifier(random_state=0)
    one, other = alpha_table(model, X, y, cv="loo"), alpha_table(model, X, y, cv=np.arange(30))
    assert np.array_equal(one.error, other.error)


def test_the_rules_choose_the_least_error_and_the_smallest_tree_near_it():
    X, y, _ = noisy(120, seed=2)
    model = DecisionTreeClassifier(random_state=0).fit(X, y)
    table = CostComplexity().table(model, X, y)
    least, near = table.choice("0se"), table.choice("1se")
    assert table.error[least] == table.error.min()
    assert near >= least
    assert table.error[near] <= table.error[least] + table.standard_error[least] + 1e-12
    assert (table.error[near + 1 :] > table.error[least] + table.standard_error[least]).all()
    for rule, row in (("0se", least), ("1se", near)):
        smaller = prune(model, CostComplexity(rule=rule), X, y)
        assert smaller.n_leaves_ == table.n_leaves[row]
        grown = DecisionTreeClassifier(random_state=0, prune=CostComplexity(rule=rule)).fit(X, y)
        assert grown.n_leaves_ == smaller.n_leaves_
    assert table.n_leaves[0] >= prune(model, CostComplexity(rule="0se"), X, y).n_leaves_


def test_threads_change_no_bit():
    X, y, _ = noisy(200)
    tables = [alpha_table(DecisionTreeClassifier(random_state=0, n_jobs=n), X, y) for n in (1, 2)]
    for name in ("alpha", "risk", "error", "standard_error"):
        assert np.array_equal(getattr(tables[0], name), getattr(tables[1], name))


def test_a_class_that_a_fold_never_saw_counts_as_missed():
    X = np.arange(12.0)[:, None] + 10.0 * (np.arange(12)[:, None] > 5)
    y = np.array(["a"] * 6 + ["b"] * 5 + ["rare"])
    table = alpha_table(DecisionTreeClassifier(random_state=0), X, y, cv="loo")
    assert np.isclose(table.error[0], 1 / 12)


def test_given_alphas_need_no_rows_and_prune_forests():
    X, y, _ = noisy()
    forest = RandomForestClassifier(3, max_bins=16, random_state=0, n_jobs=1).fit(X, y)
    smaller = prune(forest, "cost_complexity", alpha=0.03)
    assert check(smaller.trees_).n_leaves < forest.trees_.n_leaves
    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    assert prune(tree, CostComplexity(cp=0.0)).score(X, y) == 1.0
    assert prune(tree, CostComplexity(cp=1.0)).n_leaves_ == 1
    once = prune(tree, CostComplexity(cp=0.1))
    assert prune(once, CostComplexity(cp=0.1)).n_leaves_ == once.n_leaves_


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"alpha": 0.1, "cp": 0.1}, "two units of one"),
        ({"alpha": -1.0}, "alpha=-1.0: must be a finite number >= 0 or None"),
        ({"cp": float("nan")}, "cp=nan: must be a finite number"),
        ({"rule": "2se"}, "rule='2se': must be '0se' or '1se'"),
        ({"cv": 1}, "cv=1: must be a number of folds of at least 2"),
        ({"cv": "ten"}, "cv='ten'"),
    ],
)
def test_bad_options_are_named(options, words):
    with pytest.raises(ValueError, match=words):
        CostComplexity(**options)
    with pytest.raises(TypeError, match="alpha='cv'"):
        CostComplexity(alpha="cv")


def test_folds_cannot_choose_one_alpha_for_many_trees():
    X, y, _ = noisy()
    forest = RandomForestClassifier(3, max_bins=16, random_state=0, n_jobs=1).fit(X, y)
    with pytest.raises(ValueError, match="folds choose alpha for one tree"):
        prune(forest, "cost_complexity", X, y)
    with pytest.raises(ValueError, match="pass X and y"):
        prune(forest, "cost_complexity")


@pytest.mark.parametrize("form", ["array", "list", "frame"])
@pytest.mark.parametrize("learner", [ID3Classifier(), C45Classifier(), CHAIDClassifier(min_parent=6, min_child=2)])
def test_folds_choose_alpha_of_trees_of_the_textbooks(learner, form):
    rng = np.random.default_rng(0)
    table = [[str(rng.choice(["a", "b", "c"])), float(rng.normal())] for _ in range(60)]
    y = np.array([(level == "a") ^ (rng.random() < 0.2) for level, _ in table])
    X = table if form == "list" else np.array(table, object)
    if form == "frame":
        X = pytest.importorskip("pandas").DataFrame(table, columns=["level", "x"])
    tree = learner.fit(X, y)
    smaller = tree.prune("cost_complexity", X, y)
    assert smaller.n_leaves_ <= tree.n_leaves_
    assert smaller.predict(X[:3] if form != "frame" else X.head(3)).shape == (3,)
    assert smaller.n_leaves_ == learner.fit(table, y).prune("cost_complexity", table, y).n_leaves_


def test_more_folds_than_rows_are_refused_by_the_name_of_the_parameter():
    said = "prune=.*cv=10: must be at most the number of rows, which is 4; pass fewer folds, as CostComplexity"
    for pruner in ("cost_complexity", CostComplexity()):
        with pytest.raises(ValueError, match=said):
            DecisionTreeClassifier(prune=pruner).fit([[1], [2], [3], [4]], [0, 1, 0, 1])


# printcp(fit, digits = 5) of kyphosis with xval groups (0:80) %% 10, without the call; its columns are x0, x1, x2 here
PRINTED = """
Classification tree:
Variables actually used in tree construction:
[1] x0 x2

Root node error: 17/81 = 0.20988

n= 81 

        CP nsplit rel error xerror    xstd
1 0.176471      0   1.00000 1.0000 0.21559
2 0.019608      1   0.82353 1.0588 0.22010
3 0.000000      4   0.76471 1.0588 0.22010"""  # noqa: W291


def kyphosis_table(model=None, cp="cv"):
    X, y = kyphosis()
    pruner = CostComplexity(cp=cp, cv=np.arange(81) % 10)
    return pruner.table(as_rpart() if model is None else model, X, y)


def test_it_prints_as_rpart_does():
    assert str(kyphosis_table()) == PRINTED


def test_alpha_in_impurity_has_names_of_its_own():
    text = str(kyphosis_table(DecisionTreeClassifier(max_depth=2, n_jobs=1), cp=None))
    assert "alpha nsplit impurity" in text
    assert "CP" not in text


def test_the_plot_has_a_point_a_subtree():
    pytest.importorskip("matplotlib").use("agg")
    from matplotlib import pyplot as plt

    found = kyphosis_table()
    ax = found.plot()
    points = ax.lines[0].get_xydata()
    assert np.allclose(points, np.column_stack([np.arange(3), found.error[::-1]]))
    assert [label.get_text() for label in ax.get_xticklabels()] == ["Inf", "0.059", "0"]
    (_, own) = plt.subplots()
    assert found.plot(ax=own) is own
    plt.close("all")


def test_a_plot_without_matplotlib_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        kyphosis_table().plot()
