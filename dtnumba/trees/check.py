"""The invariants of fitted trees, tested."""

import numpy as np

from dtnumba.trees.layout import (
    BY_CHILD,
    BY_SHARE,
    LEAF,
    NO_LEVELS,
    RAGGED,
    STATISTICS,
    STAYS,
    Trees,
    count_up,
    last_children,
    n_entries,
)
from dtnumba.trees.linear import BY_TERM, LinearTests


def check(trees: Trees, n_features: int | None = None) -> Trees:
    """Raise ValueError, naming the node and the rule, where an invariant of the layout is broken; return the trees."""
    m = trees.n_nodes
    columns = ("threshold", "left", "missing_left")
    for name in columns if trees.is_compact else (*columns, "right", "value", *STATISTICS):
        _demand(len(getattr(trees, name)) == m, 0, f"{name} has {len(getattr(trees, name))} rows for {m} nodes")
    if trees.is_compact:
        _check_compact(trees)
    ascend = trees.root[0] == 0 and trees.root[-1] == m and (np.diff(trees.root) > 0).all()
    _demand(ascend, 0, "roots must ascend from 0 to m")
    ids, leaf = np.arange(m), trees.feature == LEAF
    _all(trees.feature >= LEAF, ids, "feature must be -1 or a column")
    if n_features is not None:
        _all(trees.feature < n_features, ids, f"feature must be below {n_features}")
    last = last_children(trees)
    _all(~leaf | ((trees.left == -1) & (last == -1)), ids, "a leaf has no children")
    inner = ids[~leaf]
    left, right = trees.left[inner], last[inner]
    _all((left > inner) & (right > left), inner, "children stand after their parent, at least two side by side")
    tree = np.searchsorted(trees.root, inner, side="right") - 1
    _all(right < trees.root[tree + 1], inner, "children stand in the tree of their parent")
    fan = right.astype(np.int64) - left + 1
    if trees.is_graph:
        _check_joins(trees, ids)
    is_own = trees.join[inner] < 0 if trees.is_graph else np.ones(len(inner), bool)
    born = fan[is_own]
    _demand(born.sum() == m - trees.n_trees, 0, "every node but a root has exactly one parent")
    parents = np.zeros(m, np.int64)
    np.add.at(parents, np.repeat(left[is_own].astype(np.int64), born) + count_up(born), 1)
    parents[trees.root[:-1]] += 1
    _all(parents == 1, ids, "every node but a root has exactly one parent")
    _check_maps(trees, inner, fan)
    if not trees.is_compact:
        _all(trees.n_samples >= 0, ids, "n_samples must not be negative")
        _all(np.isfinite(trees.weight) & (trees.weight >= 0), ids, "weight must be finite and not negative")
    _check_absence(trees, ids, fan, inner)
    if isinstance(trees.linear, LinearTests):
        _check_sums(trees, trees.linear, fan, inner, n_features)
    return trees


def _check_joins(trees: Trees, ids: np.ndarray) -> None:
    """Raise where the joins of a decision graph break an invariant. That they point forward forbids cycles."""
    _demand(len(trees.join) == trees.n_nodes, 0, f"join has {len(trees.join)} rows for {trees.n_nodes} nodes")
    plain = trees.policy == BY_CHILD and not trees.has_sums
    plain = plain and not len(trees.surrogates.feature) and not len(trees.share)
    _demand(trees.n_trees == 1 and plain and not trees.is_compact, 0, "a graph is one tree, and knows no parts of rows")
    _all((trees.join >= -1) & (trees.join < trees.n_nodes), ids, "join must be a node or -1")
    places = ids[trees.join >= 0]
    nodes = trees.join[places]
    _all(nodes > places, places, "a node that is joined stands behind the places that join it")
    _all(trees.join[nodes] == -1, places, "what is joined is no join itself")
    for name in ("feature", "threshold", "left", "right", "missing_left", "value"):
        column = np.ascontiguousarray(getattr(trees, name))
        words = column.view(f"u{column.dtype.itemsize}").reshape(len(column), -1)
        _all((words[places] == words[nodes]).all(axis=1), places, f"{name} of a join is that of the node it joins")
    for start_name, name in RAGGED:
        start, entries = getattr(trees, start_name), getattr(trees, name)
        own = np.diff(start) if len(start) == trees.n_nodes + 1 else np.zeros(trees.n_nodes, np.int64)
        _all(own[places] == own[nodes], places, f"{name} of a join is that of the node it joins")
        if own.any():
            at, of = (np.repeat(start[which], own[nodes]) + count_up(own[nodes]) for which in (places, nodes))
            owner = np.repeat(places, own[nodes])
            _all(entries[at] == entries[of], owner, f"{name} of a join is that of the node it joins")


def _check_sums(trees: Trees, linear: LinearTests, fan: np.ndarray, inner: np.ndarray, n_features: int | None) -> None:
    """Raise where the terms of a sum break an invariant."""
    m, start = trees.n_nodes, linear.start
    covers = len(start) == m + 1 and start[0] == 0 and start[-1] == len(linear.column)
    _demand(covers and bool((np.diff(start) >= 0).all()), 0, "the starts of terms must ascend from 0 to their end")
    lengths = {len(one) for one in linear.terms((*BY_TERM, "level"))}
    _demand(len(lengths) == 1, 0, "every term has a column, a weight, a stand_in and a share")
    n_terms, owner = np.diff(start), np.repeat(np.arange(m), np.diff(start))
    _all((n_terms == 0) | (trees.feature != LEAF), np.arange(m), "a leaf has no terms")
    has_sum = n_terms[inner] > 0
    others = n_entries(trees.cut_start, m) + n_entries(trees.branch_start, m) + n_entries(trees.level_start, m)
    _all(~has_sum | ((fan == 2) & (others[inner] == 0)), inner, "a node with terms has two children and a threshold")
    _all(linear.column >= 0, owner, "terms must name columns")
    if n_features is not None:
        _all(linear.column < n_features, owner, f"the columns of terms must be below {n_features}")
    (level,) = linear.terms(("level",))
    _all(level >= -1, owner, "levels of terms must not be negative, or -1 where there is none")
    # Numbers, then indicators; each by columns, and those of one column by levels
    order = np.stack([level >= 0, linear.column, level]).astype(np.int64)
    ahead = np.diff(order, axis=1, prepend=order[:, :1] - 1)
    rises = (ahead[0] > 0) | (ahead[0] == 0) & ((ahead[1] > 0) | (ahead[1] == 0) & (ahead[2] > 0))
    _all(rises | np.isin(np.arange(len(owner)), start[:-1]), owner, "the columns of terms must ascend")
    _all(np.isfinite(linear.weight) & np.isfinite(linear.stand_in), owner, "weights and stand_ins must be finite")
    _all((linear.share >= 0) & (linear.share <= 1), owner, "shares of terms must lie in [0, 1]")
    names_one = np.zeros(m, bool)
    names_one[owner[linear.column == trees.feature[owner]]] = True
    _all(~has_sum | names_one[inner], inner, "the feature of a node with terms is the column of one of them")


def _check_absence(trees: Trees, ids: np.ndarray, fan: np.ndarray, inner: np.ndarray) -> None:
    """Raise where shares or surrogates of missing values break an invariant."""
    _demand(trees.policy in {BY_CHILD, BY_SHARE}, 0, f"policy {trees.policy} is not known")
    wanted = trees.n_nodes if trees.policy == BY_SHARE else 0
    _demand(len(trees.share) == wanted, 0, f"share has {len(trees.share)} rows, not {wanted}")
    _all((trees.share >= 0) & (trees.share <= 1), ids[:wanted], "share must lie in [0, 1]")
    own = trees.surrogates
    n_own = n_entries(own.start, trees.n_nodes)
    _demand(own.start[-1] == len(own.feature), 0, "the surrogates of the nodes must be all there are")
    _all((n_own[inner] == 0) | (fan == 2), inner, "a node with surrogates has two children")
    _all(n_own >= 0, ids, "the starts of surrogates must ascend")
    ascends = own.branch_start[-1] == len(own.branch) and bool((np.diff(own.branch_start) >= 0).all())
    fits = len(own.branch_start) == len(own.feature) + 1 and ascends
    _demand(fits, 0, "the maps of surrogates must ascend from 0 to the end of branch")
    _demand(bool(((own.branch >= -1) & (own.branch <= 1)).all()), 0, "the map of a surrogate must name a side")


def _check_compact(trees: Trees) -> None:
    for name in STATISTICS:
        _demand(len(getattr(trees, name)) == 0, 0, f"{name} must be empty where weight is")
    lengths = {0 if trees.has_two_children else trees.n_nodes, trees.n_nodes}
    _demand(len(trees.right) in lengths, 0, "right must be whole")
    n_rows = len(trees.value_row) or len(trees.value)
    _demand(n_rows == trees.n_leaves, 0, f"value has {n_rows} rows for {trees.n_leaves} leaves")
    _demand((trees.value_row < len(trees.value)).all(), 0, "value_row must be rows of value")


def _check_maps(trees: Trees, inner: np.ndarray, fan: np.ndarray) -> None:
    for start_name, name in RAGGED:
        start, column = getattr(trees, start_name), getattr(trees, name)
        covers = len(start) in {1, trees.n_nodes + 1} and start[0] == 0 and start[-1] == len(column)
        ascends = bool((np.diff(start) >= 0).all())
        _demand(covers and ascends, 0, f"{name}_start must ascend from 0 to the end of {name}, a node a step")
    n_cuts, n_branches = n_entries(trees.cut_start, trees.n_nodes), n_entries(trees.branch_start, trees.n_nodes)
    cuts, branches, levels = n_cuts[inner], n_branches[inner], n_entries(trees.level_start, trees.n_nodes)[inner]
    plain = (cuts == 0) & (branches == 0)
    _all(~plain | (fan == 2), inner, "a node with neither cuts nor a map has two children")
    _all(plain | (levels == 0), inner, "a node with levels has neither cuts nor a map")
    plain &= levels == 0
    _all(~plain | ~np.isnan(trees.threshold[inner]), inner, "a threshold must be a number")
    _all((cuts == 0) | (branches > 0) | (cuts + 1 == fan), inner, "cuts must be one fewer than children")
    _all((cuts == 0) | (branches == 0) | (branches == cuts + 1), inner, "a map over cuts must have an entry a range")
    stays = trees.missing_left[inner] == STAYS
    _all((trees.missing_left[inner] < fan) | stays, inner, "missing values must go to a child, or stay")
    for node in inner[cuts > 0]:
        row = trees.cut[trees.cut_start[node] : trees.cut_start[node + 1]]
        _demand((np.diff(row) > 0).all() and not np.isnan(row[0]), node, "cuts must be numbers that ascend")
    within = np.ones(len(trees.level), bool)
    within[trees.level_start[:-1][np.diff(trees.level_start) > 0]] = False  # the first of a node has none before it
    rises = np.diff(trees.level, prepend=NO_LEVELS.dtype.type(0)) > 0
    _demand((rises | ~within).all() and (trees.level >= 0).all(), 0, "levels must be categories that ascend")
    for k, node in zip(fan[branches > 0], inner[branches > 0], strict=True):
        row = trees.branch[trees.branch_start[node] : trees.branch_start[node + 1]]
        _demand(((row >= -1) & (row < k)).all(), node, "a map must name children")


def _all(holds: np.ndarray, nodes: np.ndarray, rule: str) -> None:
    if not holds.all():
        _demand(False, nodes[np.argmin(holds)], rule)


def _demand(holds: bool | np.bool_, node: int, rule: str) -> None:
    if not holds:
        msg = f"node {node} breaks the layout of Trees: {rule}"
        raise ValueError(msg)
