"""A tree as rules: what the way to each leaf asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.prediction.fractional import with_prior
from dtnumba.rules.layout import LEVELS, OUTSIDE, RANGE, Condition
from dtnumba.trees.layout import LEAF, STAYS, last_children, node_values
from dtnumba.trees.with_sums import different_sums

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from dtnumba.trees.layout import Trees
    from dtnumba.trees.linear import AxisTests, LinearTests


def outcomes_of(model: Any, shares: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the classes that a tree says where it holds these shares."""
    rule = model.label_rule
    return np.asarray(shares.argmax(axis=1) if rule is None else rule.codes(shares), np.int64)


class LabelledPath(NamedTuple):
    """The tests on the way to a node at which rows end, and the class that it says."""

    tests: tuple[Condition, ...]
    k: int
    node: int
    share: float = 1.0  # see Path


def demand_tree(model: Any) -> None:
    """Raise where a model is not a fitted tree of one output of classes that still has all its columns."""
    if not getattr(type(model), "is_one_tree_of_classes", False):
        raise TypeError(f"model={model!r}: must be a fitted classifier of one tree")
    model.check_fitted()
    if model.n_outputs_ != 1:
        raise ValueError(f"model has {model.n_outputs_} outputs, and a rule says one; fit a tree to each")
    model.refuse_compact("rules of a tree")


def labelled_paths(model: Any) -> list[LabelledPath]:
    """Return for each leaf of a fitted tree, and each node at which missing values stay, its tests and its class.

    Tests of sums are tests of columns behind those of the table (``sums_of_paths``).
    """
    demand_tree(model)
    trees, levels = model.trees_, model.columns_seen.levels
    n_features = model.columns_seen.n_features
    paths = paths_of(trees, lambda j: 0 if levels is None or levels[j] is None else len(levels[j]), n_features)
    nodes = [path.node for path in paths]
    said = node_values(trees)
    if getattr(model, "adds_prior", False):
        said = with_prior(np.column_stack([said, trees.weight]), said[0])
    outcomes = outcomes_of(model, said[nodes])
    return [LabelledPath(path.tests, int(k), path.node, path.share) for path, k in zip(paths, outcomes, strict=True)]


class Path(NamedTuple):
    """The tests on the way to a node at which rows end."""

    node: int
    tests: tuple[Condition, ...]
    share: float = 1.0  # of all rows: in a graph, rows that join divide below as all rows of that node do


_MOST_PATHS = 200_000


def demand_few_paths(trees: Trees) -> None:
    """Raise ValueError where a graph has more ways to its leaves than can be written down."""
    if not trees.is_graph:
        return
    n_ways = ways_to_leaves(trees)
    if n_ways > _MOST_PATHS:
        raise ValueError(
            f"rules: the graph has {n_ways:,} ways to its leaves, and a rule is one of them; write it as text, DOT, C, "
            "Python, JSON or SQL of style='table', which say each node once, or fit it with max_depth"
        )


def ways_to_leaves(trees: Trees) -> int:
    """Return how many ways lead from the root of one tree or graph to its leaves."""
    ways, last = [0] * trees.n_nodes, last_children(trees)
    for node in range(trees.n_nodes - 1, -1, -1):
        own = range(int(trees.left[node]), int(last[node]) + 1) if trees.feature[node] != LEAF else ()
        ways[node] = sum(ways[child] for child in own) or 1
    return ways[0]


def _sent(trees: Trees) -> NDArray[np.float64]:
    """Return for each place which share of its parent's rows comes there."""
    came = np.asarray(trees.weight, np.float64).copy()
    joins = np.flatnonzero(trees.join >= 0)
    np.subtract.at(came, trees.join[joins], trees.weight[joins])
    share, last = np.ones(trees.n_nodes), last_children(trees)
    for node in np.flatnonzero(trees.feature != LEAF).tolist():
        own = slice(int(trees.left[node]), int(last[node]) + 1)
        total = came[own].sum()
        share[own] = came[own] / total if total > 0 else 1.0 / (own.stop - own.start)
    return share


def sums_of_paths(trees: Trees) -> AxisTests | LinearTests:
    """Return the sums that the paths of a tree test as columns, in their order."""
    return different_sums(trees.linear, trees.n_nodes)[1]


def paths_of(trees: Trees, n_levels: Callable[[int], int], n_features: int) -> list[Path]:
    """Return the ways to the leaves of a tree, the first child's first.

    A row ends in the leaf whose tests hold for it, and in no other. Where missing values stay at a node, one more way
    ends there. Of fractional trees a missing value fails every test; surrogates are left aside.

    Parameters
    ----------
    trees : Trees
        Of one tree.
    n_levels : function
        How many levels a feature has.
    n_features : int
        Columns of the table: tests of sums are of columns behind these.

    """
    demand_few_paths(trees)
    of_sum = different_sums(trees.linear, trees.n_nodes)[0]
    last, sent = last_children(trees), _sent(trees) if trees.is_graph else None
    found: list[Path] = []
    waiting: list[Path] = [Path(0, ())]
    while waiting:
        path = waiting.pop()
        node = path.node
        if trees.feature[node] == LEAF:
            found.append(path)
            continue
        if trees.missing_left[node] == STAYS:
            found.append(Path(node, (*path.tests, _staying(trees, node, n_levels))))
        for child in range(int(last[node]), int(trees.left[node]) - 1, -1):
            test = test_of(trees, node, child, n_levels)
            if of_sum[node] >= 0:
                test = test._replace(feature=n_features + int(of_sum[node]))
            share = path.share if sent is None else path.share * float(sent[child])
            waiting.append(Path(child, (*path.tests, test), share))
    return found


def _entries(trees: Trees, start_name: str, name: str, node: int) -> Any:
    start = getattr(trees, start_name)
    return getattr(trees, name)[start[node] : start[node + 1]] if len(start) > 1 else ()


def _staying(trees: Trees, node: int, n_levels: Callable[[int], int]) -> Condition:
    """Return the test that a row passes whose value ends its way at a node."""
    feature = int(trees.feature[node])
    if not n_levels(feature):
        return Condition(feature, RANGE, np.inf, -np.inf, missing=True)
    branch = _entries(trees, "branch_start", "branch", node)
    unknown = np.flatnonzero(_ways(branch, n_levels(feature)) == -1).tolist() if len(branch) else []
    return Condition(feature, LEVELS, levels=tuple(unknown), missing=True)


def _ways(branch: Any, n_levels: int) -> Any:
    """Return the child that each level goes to, -1 where it is as a missing value."""
    return np.append(branch, np.full(max(n_levels - len(branch), 0), -1))


def test_of(trees: Trees, node: int, child: int, n_levels: Callable[[int], int]) -> Condition:
    """Return the test that a row passes from a node to its child."""
    feature, way = int(trees.feature[node]), child - int(trees.left[node])
    branch, cuts = (_entries(trees, f"{name}_start", name, node) for name in ("branch", "cut"))
    has_ways = len(branch) > 0 or len(cuts) > 0
    stated = int(trees.missing_left[node])
    is_there = stated == way if has_ways else (stated == 1) == (way == 0)
    missing = bool(is_there and stated != STAYS and len(trees.share) == 0)
    if len(cuts):
        return _range_of(feature, cuts, branch, way, missing=missing)
    if len(branch):
        ways = _ways(branch, n_levels(feature))
        own = (ways == way) | (missing & (ways == -1))
        return Condition(feature, LEVELS, levels=tuple(np.flatnonzero(own).tolist()), missing=missing)
    levels = _entries(trees, "level_start", "level", node)
    if len(levels):
        own = np.isin(np.arange(max(n_levels(feature), int(levels[-1]) + 1)), levels) == (way == 0)
        return Condition(feature, LEVELS, levels=tuple(np.flatnonzero(own).tolist()), missing=missing)
    threshold = float(trees.threshold[node])
    if n_levels(feature):
        own = (np.arange(n_levels(feature)) <= threshold) == (way == 0)
        return Condition(feature, LEVELS, levels=tuple(np.flatnonzero(own).tolist()), missing=missing)
    if way == 0:
        return Condition(feature, RANGE, np.nan, threshold, missing=missing)
    return Condition(feature, RANGE, threshold, np.inf, missing=missing)


def _range_of(feature: int, cuts: Any, branch: Any, way: int, *, missing: bool) -> Condition:
    """Return the test of a child of a node with cuts: a range between two of them, or all but one."""
    places = np.arange(len(cuts) + 1)
    own = np.flatnonzero((places if len(branch) == 0 else branch) == way)
    kind = RANGE
    if not len(own):  # a child of missing values alone
        return Condition(feature, RANGE, np.inf, -np.inf, missing=missing)
    if len(own) != own[-1] - own[0] + 1:
        own, kind = np.setdiff1d(places, own), OUTSIDE
        assert len(own) == own[-1] - own[0] + 1, "the child of a test is a range, or all but one"
    low = float(cuts[own[0] - 1]) if own[0] > 0 else np.nan
    high = float(cuts[own[-1]]) if own[-1] < len(cuts) else np.inf
    return Condition(feature, kind, low, high, missing=missing)
