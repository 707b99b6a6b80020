import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import validation as naive
from strategies import descriptions, examples, fit, layout, samples

from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor, RandomForestClassifier
from dtnumba.pruners import CostComplexity
from dtnumba.pruners.engines.weakest_link import (
    cut_weak,
    impurity_risk,
    links_of,
    pruning_path,
    relative_risk,
    steps_of,
)
from dtnumba.trees.check import check
from dtnumba.trees.layout import one_tree
from dtnumba.trees.subtrees import depth_levels, nested_sums

pytestmark = pytest.mark.small
CLOSE = {"rtol": 1e-9, "atol": 1e-12}


@st.composite
def trees_with_risk(draw):
    """m-way trees by hand, with risks in whole numbers, so that ties abound; a node has its children's or more."""
    trees = layout(draw(descriptions(depth=4)))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    risk = rng.integers(0, 4, trees.n_nodes).astype(float)
    for node in np.flatnonzero(trees.feature >= 0)[::-1]:
        risk[node] += risk[trees.left[node] : trees.right[node] + 1].sum()
    return trees, risk


def leaves_left(trees, links, alpha):
    """Return the leaves of the subtree for alpha, by their numbers in the whole tree."""
    cut = set(np.flatnonzero(links.at <= alpha))
    return frozenset(naive.subtree(trees, 0, cut))


@examples(80)
@given(trees_with_risk())
def test_the_path_is_that_of_the_recursion(case):
    trees, risk = case
    links = links_of(trees, risk)
    steps = naive.path(trees, risk)
    alphas = steps_of(links)
    assert np.allclose([alpha for alpha, _ in steps], alphas, **CLOSE)
    for alpha, leaves in steps:
        assert leaves_left(trees, links, alpha + 1e-12) == leaves


@examples(60)
@given(trees_with_risk(), st.floats(0.0, 4.0))
def test_no_subtree_is_better_than_the_one_kept(case, alpha):
    trees, risk = case
    leaves = leaves_left(trees, links_of(trees, risk), alpha)
    assert np.isclose(risk[list(leaves)].sum() + alpha * len(leaves), naive.best_subtree(trees, risk, alpha))
    smaller = check(cut_weak(trees, risk, alpha))
    assert smaller.n_leaves == len(leaves)


@examples(40)
@given(trees_with_risk())
def test_the_path_is_nested(case):
    trees, risk = case
    links = links_of(trees, risk)
    assert (np.diff(links.alpha) >= 0).all()
    for level in depth_levels(trees):
        assert (links.at[level.children] <= np.repeat(links.at[level.inner], level.fan)).all()


@examples(40)
@given(trees_with_risk())
def test_sums_along_the_path_are_those_over_the_leaves(case):
    trees, risk = case
    links, levels = links_of(trees, risk), depth_levels(trees)
    each = np.arange(trees.n_nodes) ** 2.0
    marks = np.concatenate([[-1.0], steps_of(links) + 1e-12, [99.0]])
    expected = [each[list(leaves_left(trees, links, mark))].sum() for mark in marks]
    assert np.allclose(nested_sums(trees, levels, links.at, each, marks), expected)


def test_sums_of_leaves_that_lose_nothing_are_nothing():
    """Not a rest of rounding, which tables would show in place of 0."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), rng.integers(0, 5, 300)
    table = CostComplexity(cp="cv").table(DecisionTreeClassifier(), X, y)
    assert table.risk[0] == 0.0
    assert table.risk[-1] == 1.0
    assert "e" not in "".join(str(table).splitlines()[-3:])


@examples(30)
@given(samples(classes=True))
def test_an_alpha_of_the_path_gives_the_tree_after_its_step(sample):
    trees = fit(sample, "gini").trees_
    path = pruning_path(trees)
    assert path.ccp_alphas[0] == 0.0
    assert (np.diff(path.impurities) >= -1e-12).all()
    for k in range(1, len(path.ccp_alphas)):
        if k + 1 == len(path.ccp_alphas) or path.ccp_alphas[k + 1] > path.ccp_alphas[k]:
            smaller = cut_weak(trees, impurity_risk(trees), path.ccp_alphas[k])
            left = smaller.feature < 0
            assert np.isclose(impurity_risk(smaller)[left].sum(), path.impurities[k])


def test_the_worked_path_of_iris(iris):
    """Errors as risk: CART's example, by hand."""
    trees = DecisionTreeClassifier(random_state=0).fit(*iris).trees_
    links = links_of(trees, relative_risk(trees, [3], is_classes=True))
    assert np.allclose(steps_of(links), [0, 0.005, 0.01, 0.02, 0.44, 0.5])


@pytest.fixture
def iris():
    from pathlib import Path

    rows = [line.split(",") for line in (Path(__file__).parents[2] / "data/iris.csv").read_text().split()[1:]]
    X = np.array([[float(cell) for cell in row[:4]] for row in rows])
    return X, np.array([row[4] for row in rows])


@pytest.mark.parametrize("of", ["classes", "numbers"])
def test_the_path_is_scikit_learns(of):
    tree = pytest.importorskip("sklearn.tree")
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 4))
    if of == "classes":
        y = (X[:, 0] + 0.7 * rng.normal(size=120) > 0).astype(int)
        ours, theirs = DecisionTreeClassifier(random_state=0), tree.DecisionTreeClassifier(random_state=0)
    else:
        y = X[:, 0] + rng.normal(size=120)
        ours, theirs = DecisionTreeRegressor(random_state=0), tree.DecisionTreeRegressor(random_state=0)
    X = X.astype(np.float32)  # as scikit-learn reads it
    found, expected = ours.cost_complexity_pruning_path(X, y), theirs.cost_complexity_pruning_path(X, y)
    # Several cuts of equal gain make different trees; up to there the numbers of leaves agree.
    assert ours.fit(X, y).n_leaves_ == theirs.fit(X, y).get_n_leaves()
    assert np.allclose(_merged(found.ccp_alphas), _merged(expected.ccp_alphas), rtol=1e-9, atol=1e-12)
    alpha = float(np.median(expected.ccp_alphas)) * (1 + 1e-9)
    pruned = [model.set_params(ccp_alpha=alpha).fit(X, y).get_n_leaves() for model in (ours, theirs)]
    assert pruned[0] == pruned[1]


def _merged(alphas):
    return alphas[np.append(np.diff(alphas) > 1e-9 * alphas[1:], True)]


def test_ccp_alpha_prunes_every_tree_of_a_forest():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] + rng.normal(size=80) > 0).astype(int)
    whole = RandomForestClassifier(4, max_bins=16, random_state=0, n_jobs=1).fit(X, y)
    pruned = RandomForestClassifier(4, max_bins=16, random_state=0, n_jobs=1, ccp_alpha=0.02).fit(X, y)
    for t in range(4):
        own = one_tree(whole.trees_, t)
        expected = cut_weak(own, impurity_risk(own), 0.02)
        assert np.array_equal(expected.feature, one_tree(check(pruned.trees_), t).feature)
    assert pruned.trees_.n_leaves < whole.trees_.n_leaves
    assert pruned.estimator.ccp_alpha == 0.02


def test_bad_alphas_and_bad_impurities_are_refused():
    for alpha in (-0.1, float("inf")):
        with pytest.raises(ValueError, match="ccp_alpha"):
            DecisionTreeClassifier(ccp_alpha=alpha).fit([[0.0], [1.0]], [0, 1])
    trees = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1]).trees_
    with pytest.raises(ValueError, match="node 0 has an impurity"):
        links_of(trees, np.array([np.nan, 0.0, 0.0]))
