"""Fitted trees as parallel arrays: one layout for one tree and for a forest.

Invariants, tested by ``check`` and relied on everywhere:

* trees stand end to end; tree t is the nodes [root[t], root[t + 1]), its root first, parents before children;
* a node is a leaf exactly where ``feature`` is -1; then ``left`` and ``right`` are -1 too;
* the children of a node stand side by side, ``left`` .. ``right``: a binary node has right == left + 1;
* every node but a root has one parent;
* a binary numeric node sends x <= threshold left; a missing x goes left where ``missing_left`` says so;
* a node with cuts ``cut[cut_start[i]:cut_start[i + 1]]`` (ascending) sends x to child number "how many cuts are < x",
  through the map below if it has one as well (an interval test is two cuts and the map 1, 0, 1);
* a node with a map ``branch[branch_start[i]:branch_start[i + 1]]`` sends category code c to child branch[c];
  where a map or cuts exist, a missing or unknown value goes to child number ``missing_left``;
* ``value`` holds for every node class shares (each output's classes side by side), means or medians;
* of compact trees, ``value`` holds leaves only, in their order, or rows that they share, and then ``value_row`` says
  which one each has; the columns that prediction does not need, and ``right`` of binary trees, are empty.
"""

from typing import NamedTuple

import numpy as np

LEAF = -1
NO_MAP = np.zeros(1, np.int64)
ONE_A_LEAF = np.zeros(0, np.uint32)


class Trees(NamedTuple):
    """Nodes of one or many trees; ids in ``left`` and ``right`` count from the first node of all."""

    root: np.ndarray  # (n_trees + 1,) int64
    feature: np.ndarray  # (m,) int32
    threshold: np.ndarray  # (m,) float64, NaN at leaves and where cuts or a map decide
    left: np.ndarray  # (m,) int32
    right: np.ndarray  # (m,) int32
    missing_left: np.ndarray  # (m,) uint8
    value: np.ndarray  # (m, width) float64
    branch_start: np.ndarray  # (m + 1,) int64, or (1,) where no node has a map
    branch: np.ndarray  # int32
    cut_start: np.ndarray  # (m + 1,) int64, or (1,) where no node has cuts
    cut: np.ndarray  # float64
    # What prediction does not need:
    n_samples: np.ndarray  # (m,) int64
    weight: np.ndarray  # (m,) float64
    impurity: np.ndarray  # (m,) float64
    gain: np.ndarray  # (m,) float64: decrease of impurity per unit of the node's weight, 0 at leaves
    value_row: np.ndarray = ONE_A_LEAF  # (leaves,) uint32, or empty where leaves share no rows

    @property
    def n_trees(self) -> int:
        """Number of trees, end to end."""
        return len(self.root) - 1

    @property
    def n_nodes(self) -> int:
        """Number of nodes of all trees."""
        return len(self.feature)

    @property
    def n_leaves(self) -> int:
        """Number of leaves of all trees."""
        return int(np.count_nonzero(self.feature == LEAF))

    @property
    def is_binary(self) -> bool:
        """Whether every test is one threshold, so that the packed predictor applies."""
        return len(self.cut) == 0 and len(self.branch) == 0

    @property
    def is_compact(self) -> bool:
        """Whether only what prediction needs is there."""
        return len(self.weight) == 0


# Columns with a row a node.
_BY_NODE = (
    "feature",
    "threshold",
    "left",
    "right",
    "missing_left",
    "value",
    "n_samples",
    "weight",
    "impurity",
    "gain",
)
_STATISTICS = ("n_samples", "weight", "impurity", "gain")


def leaf_values(trees: Trees) -> np.ndarray:
    """Return what every leaf says, in the order of the leaves."""
    if len(trees.value_row):
        return np.asarray(trees.value[trees.value_row])
    return trees.value if trees.is_compact else np.asarray(trees.value[trees.feature == LEAF])


def node_values(trees: Trees) -> np.ndarray:
    """Return what every node says; of compact trees, zeros where it is no leaf."""
    if not trees.is_compact:
        return trees.value
    value = np.zeros((trees.n_nodes, trees.value.shape[1]))
    value[trees.feature == LEAF] = leaf_values(trees)
    return value


def last_children(trees: Trees) -> np.ndarray:
    """Return the last child of every node, -1 at leaves."""
    if len(trees.right) == trees.n_nodes:
        return trees.right
    return np.where(trees.left == LEAF, LEAF, trees.left + 1).astype(np.int32)


def one_tree(trees: Trees, t: int) -> Trees:
    """Return tree t alone, its ids counted from its root."""
    start, stop = int(trees.root[t]), int(trees.root[t + 1])
    columns = {name: getattr(trees, name)[start:stop] for name in _BY_NODE}
    if trees.is_compact:
        before, inside = (np.count_nonzero(trees.feature[:end] == LEAF) for end in (start, stop))
        rows = trees.value_row if len(trees.value_row) else np.arange(trees.n_leaves)
        columns |= {name: getattr(trees, name) for name in (*_STATISTICS, "right") if not len(getattr(trees, name))}
        columns["value"] = trees.value[rows[before:inside]]
    for name in ("left", "right"):
        if len(columns[name]):
            columns[name] = np.where(columns["feature"] == LEAF, LEAF, columns[name] - start).astype(np.int32)
    for start_name, name in (("cut_start", "cut"), ("branch_start", "branch")):
        where, entries = getattr(trees, start_name), getattr(trees, name)
        has_any = len(where) == trees.n_nodes + 1
        columns[start_name] = where[start : stop + 1] - where[start] if has_any else NO_MAP
        columns[name] = entries[where[start] : where[stop]] if has_any else entries
    return Trees(root=np.array([0, stop - start], np.int64), **columns)


def joined(parts: list[Trees]) -> Trees | None:
    """Return the trees of several Trees end to end; None where there are none."""
    if len(parts) < 2:
        return parts[0] if parts else None
    if not all(part.is_binary and not part.is_compact for part in parts):
        msg = "joining trees with maps or cuts, or compact ones"
        raise AssertionError(msg)
    offsets = np.cumsum([0, *(part.n_nodes for part in parts)])
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _BY_NODE}
    shift = np.repeat(offsets[:-1], np.diff(offsets)).astype(np.int32)
    for name in ("left", "right"):
        columns[name] = np.where(columns[name] == LEAF, LEAF, columns[name] + shift).astype(np.int32)
    root = np.concatenate([[0], *(part.root[1:] + offset for part, offset in zip(parts, offsets, strict=False))])
    first = parts[0]
    return Trees(root=root, cut_start=NO_MAP, cut=first.cut, branch_start=NO_MAP, branch=first.branch, **columns)


def depths(trees: Trees) -> np.ndarray:
    """Return the depth of every node, roots at 0; a pass per level."""
    depth, is_binary = np.zeros(trees.n_nodes, np.int32), trees.is_binary
    level = np.asarray(trees.root[:-1])
    d = 0
    while len(level):
        depth[level] = d
        inner = level[trees.feature[level] != LEAF]
        fan = np.full(len(inner), 2) if is_binary else trees.right[inner] - trees.left[inner] + 1
        first = np.repeat(trees.left[inner].astype(np.int64), fan)
        level = first + _count_up(fan)
        d += 1
    return depth


def _count_up(lengths: np.ndarray) -> np.ndarray:
    """Return 0 .. length - 1 for every length, end to end."""
    total = int(lengths.sum())
    return np.asarray(np.arange(total) - np.repeat(np.cumsum(lengths) - lengths, lengths))


def decreases(trees: Trees, n_columns: int) -> np.ndarray:
    """Return what each column takes off the impurity of each tree, per unit of the root's weight: (trees, columns)."""
    inner = np.flatnonzero(trees.feature != LEAF)
    tree = np.searchsorted(trees.root, inner, side="right") - 1
    decrease = trees.weight[inner] * trees.gain[inner] / trees.weight[trees.root[tree]]
    cells = trees.n_trees * n_columns
    table = np.bincount(tree * n_columns + trees.feature[inner], weights=decrease, minlength=cells)
    return np.asarray(table.reshape(trees.n_trees, n_columns))


def check(trees: Trees, n_features: int | None = None) -> Trees:
    """Raise ValueError, naming the node and the rule, where an invariant of the layout is broken; return the trees."""
    m = trees.n_nodes
    columns = ("threshold", "left", "missing_left")
    for name in columns if trees.is_compact else (*columns, "right", "value", *_STATISTICS):
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
    fan = right - left + 1
    parents = np.zeros(m, np.int64)
    np.add.at(parents, np.repeat(left.astype(np.int64), fan) + _count_up(fan), 1)
    parents[trees.root[:-1]] += 1
    _all(parents == 1, ids, "every node but a root has exactly one parent")
    _check_maps(trees, inner, fan)
    if not trees.is_compact:
        _all(trees.n_samples >= 0, ids, "n_samples must not be negative")
        _all(np.isfinite(trees.weight) & (trees.weight >= 0), ids, "weight must be finite and not negative")
    return trees


def _check_compact(trees: Trees) -> None:
    for name in _STATISTICS:
        _demand(len(getattr(trees, name)) == 0, 0, f"{name} must be empty where weight is")
    _demand(len(trees.right) in {0 if trees.is_binary else trees.n_nodes, trees.n_nodes}, 0, "right must be whole")
    n_rows = len(trees.value_row) or len(trees.value)
    _demand(n_rows == trees.n_leaves, 0, f"value has {n_rows} rows for {trees.n_leaves} leaves")
    _demand((trees.value_row < len(trees.value)).all(), 0, "value_row must be rows of value")


def _check_maps(trees: Trees, inner: np.ndarray, fan: np.ndarray) -> None:
    for name, start, column in (("cut", trees.cut_start, trees.cut), ("branch", trees.branch_start, trees.branch)):
        covers = len(start) in {1, trees.n_nodes + 1} and start[0] == 0 and start[-1] == len(column)
        ascends = bool((np.diff(start) >= 0).all())
        _demand(covers and ascends, 0, f"{name}_start must ascend from 0 to the end of {name}, a node a step")
    n_cuts, n_branches = _lengths(trees.cut_start, trees.n_nodes), _lengths(trees.branch_start, trees.n_nodes)
    cuts, branches = n_cuts[inner], n_branches[inner]
    plain = (cuts == 0) & (branches == 0)
    _all(~plain | (fan == 2), inner, "a node with neither cuts nor a map has two children")
    _all(~plain | ~np.isnan(trees.threshold[inner]), inner, "a threshold must be a number")
    _all((cuts == 0) | (branches > 0) | (cuts + 1 == fan), inner, "cuts must be one fewer than children")
    _all((cuts == 0) | (branches == 0) | (branches == cuts + 1), inner, "a map over cuts must have an entry a range")
    _all(trees.missing_left[inner] < fan, inner, "missing values must go to a child")
    for node in inner[cuts > 0]:
        row = trees.cut[trees.cut_start[node] : trees.cut_start[node + 1]]
        _demand((np.diff(row) > 0).all() and not np.isnan(row[0]), node, "cuts must be numbers that ascend")
    for k, node in zip(fan[branches > 0], inner[branches > 0], strict=True):
        row = trees.branch[trees.branch_start[node] : trees.branch_start[node + 1]]
        _demand(((row >= 0) & (row < k)).all(), node, "a map must name children")


def _lengths(start: np.ndarray, m: int) -> np.ndarray:
    return np.diff(start) if len(start) == m + 1 else np.zeros(m, np.int64)


def _all(holds: np.ndarray, nodes: np.ndarray, rule: str) -> None:
    if not holds.all():
        _demand(False, nodes[np.argmin(holds)], rule)


def _demand(holds: bool | np.bool_, node: int, rule: str) -> None:
    if not holds:
        msg = f"node {node} breaks the layout of Trees: {rule}"
        raise ValueError(msg)
