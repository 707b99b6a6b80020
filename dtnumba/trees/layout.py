"""Fitted trees as parallel arrays: one layout for one tree and for a forest.

Invariants, tested by ``check`` and relied on everywhere:

* trees stand end to end; tree t is the nodes [root[t], root[t + 1]), its root first, parents before children;
* a node is a leaf exactly where ``feature`` is -1; then ``left`` and ``right`` are -1 too;
* the children of a node stand side by side, ``left`` .. ``right``: a binary node has right == left + 1;
* every node but a root has one parent (of a decision graph: every place, among the nodes that are no joins);
* a binary numeric node sends x <= threshold left; a missing x goes left where ``missing_left`` says so;
* a node with cuts ``cut[cut_start[i]:cut_start[i + 1]]`` (ascending) sends x to child number "how many cuts are < x",
  through the map below if it has one as well (an interval test is two cuts and the map 1, 0, 1);
* a node with a map ``branch[branch_start[i]:branch_start[i + 1]]`` sends category code c to child branch[c];
  where a map or cuts exist, a missing or unknown value goes to child number ``missing_left``;
* a binary node with levels ``level[level_start[i]:level_start[i + 1]]`` (ascending) sends the categories among them
  left and all others right, a missing one left where ``missing_left`` says so. The levels left are those of the lighter
  child, so a category that no row of the node had goes to the heavier one, and many levels cost what their rows cost;
* an entry -1 of a map means "as a missing value", and so does a category beyond its end;
* where ``missing_left`` is STAYS, a missing value ends the descent at its node;
* a node with terms (``linear``) sends a row by their sum in place of a value; it has two children and no cuts, map or
  levels, and ``feature`` is the column that decides most in it;
* a node with surrogates uses these first where its own value is missing or its map says -1; see ``Surrogates``;
* where ``share`` is there, a missing value goes to all children, to each with its share (``policy`` BY_SHARE);
* of a decision graph, ``join`` says which nodes are one: place i with join[i] = j >= 0 is node j, seen from another
  parent, and holds what j holds. j stands behind i and is no such place itself, so that ways never lead back. The rows
  and the weight of such a place are those that come through it, its gain is 0; those of j are of all its rows;
* ``value`` holds for every node class shares (each output's classes side by side), means or medians; in forests of
  very many classes they are SparseValues, which hold the shares above zero and read like an array;
* thresholds lie between values of the table, or are values of a table of some type of float (``cuts_at``); then rows
  are compared with them in the coarser of that type and their own;
* of compact trees, ``value`` holds leaves only, in their order, or rows that they share, and then ``value_row`` says
  which one each has; the columns that prediction does not need, and ``right`` of binary trees, are empty.
"""

from typing import Any, NamedTuple

import numpy as np

from dtnumba.tables.floats import BETWEEN_VALUES, AtFloats, Between
from dtnumba.trees.linear import AXIS_TESTS, AxisTests, LinearTests, joined_tests, picked
from dtnumba.trees.sparse_rows import SparseValues

LEAF = -1
STAYS = 255  # of missing_left
NO_MAP = np.zeros(1, np.int64)
NO_LEVELS = np.zeros(0, np.int32)
ONE_A_LEAF = np.zeros(0, np.uint32)
NO_SHARES = np.zeros(0)
NO_JOINS = np.zeros(0, np.int32)
BY_CHILD, BY_SHARE = 0, 1  # policies


class Surrogates(NamedTuple):
    """Tests that stand in for the test of a binary node where its value is missing, the most alike first.

    A numeric one sends x <= threshold left, or right where ``below_left`` is 0. One on categories (its threshold is
    NaN) sends category c to child branch[branch_start[s] + c], or to the next surrogate where that is -1.
    """

    start: np.ndarray  # (m + 1,) int64: whose they are, or (1,) where no node has any
    feature: np.ndarray  # (s,) int32
    threshold: np.ndarray  # (s,) float64
    below_left: np.ndarray  # (s,) uint8
    branch_start: np.ndarray  # (s + 1,) int64
    branch: np.ndarray  # int32
    agreement: np.ndarray  # (s,) float64: share of the weight that goes the same way
    adjusted: np.ndarray  # (s,) float64: what that is beyond sending all to the heavier side, as a share of the most


NO_SURROGATES = Surrogates(
    NO_MAP,
    NO_LEVELS,
    np.zeros(0),
    np.zeros(0, np.uint8),
    NO_MAP,
    NO_LEVELS,
    np.zeros(0),
    np.zeros(0),
)


class Trees(NamedTuple):
    """Nodes of one or many trees; ids in ``left`` and ``right`` count from the first node of all."""

    root: np.ndarray  # (n_trees + 1,) int64
    feature: np.ndarray  # (m,) int32
    threshold: np.ndarray  # (m,) float64, NaN at leaves and where cuts or a map decide
    left: np.ndarray  # (m,) int32
    right: np.ndarray  # (m,) int32
    missing_left: np.ndarray  # (m,) uint8
    value: np.ndarray  # (m, width) float64; of forests of very many classes SparseValues, which read like it
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
    level_start: np.ndarray = NO_MAP  # (m + 1,) int64, or (1,) where no node has levels
    level: np.ndarray = NO_LEVELS  # int32
    policy: int = BY_CHILD  # of missing values
    share: np.ndarray = NO_SHARES  # (m,) float64: of the parent's weight, for BY_SHARE; else empty
    surrogates: Surrogates = NO_SURROGATES
    cuts_at: Between | AtFloats = BETWEEN_VALUES
    adds_both: bool = False  # of two classes, both shares are averaged over many trees, as in scikit-learn
    join: np.ndarray = NO_JOINS  # (m,) int32: the node that stands here too, -1 of one of its own; empty of trees
    linear: AxisTests | LinearTests = AXIS_TESTS  # the sums that nodes test

    @classmethod
    def of_leaves(cls, n_trees: int, width: int, policy: int = BY_CHILD, *, has_levels: bool = False) -> "Trees":
        """Return trees of one leaf each, which says nothing; ``has_levels``: as where nodes test categories."""
        ids, real = np.full(n_trees, LEAF, np.int32), np.zeros(n_trees)
        root, value = np.arange(n_trees + 1, dtype=np.int64), np.zeros((n_trees, width))
        maps = NO_MAP, np.empty(0, np.int32), NO_MAP, np.empty(0)
        columns = root, ids, np.full(n_trees, np.nan), ids, ids, np.zeros(n_trees, np.uint8), value, *maps
        trees = cls(*columns, np.zeros(n_trees, np.int64), real, real, real)
        if has_levels:
            trees = trees._replace(level_start=np.zeros(n_trees + 1, np.int64), level=np.zeros(1, np.int32))
        return trees._replace(policy=policy, share=real if policy == BY_SHARE else NO_SHARES)

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
        """Number of leaves of all trees; those that join in a decision graph count once."""
        is_leaf = self.feature == LEAF
        return int(np.count_nonzero(is_leaf & (self.join < 0) if self.is_graph else is_leaf))

    @property
    def is_graph(self) -> bool:
        """Whether branches join."""
        return len(self.join) > 0

    @property
    def is_binary(self) -> bool:
        """Whether every test is one threshold, so that the packed predictor applies."""
        return self.is_two_way and len(self.level) == 0 and not self.has_sums

    @property
    def is_two_way(self) -> bool:
        """Whether every inner node has two children and missing_left alone says where missing values go."""
        is_plain = self.policy == BY_CHILD and len(self.surrogates.feature) == 0
        return self.has_two_children and is_plain and not self.may_stay

    @property
    def has_sums(self) -> bool:
        """Whether a node tests a sum over several columns."""
        return isinstance(self.linear, LinearTests)

    @property
    def may_stay(self) -> bool:
        """Whether a missing value may end the descent above the leaves."""
        return bool((self.missing_left == STAYS).any())

    @property
    def has_two_children(self) -> bool:
        """Whether every inner node has a left child and a right one."""
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
# Ragged columns: where a node's entries start, and the entries.
RAGGED = (("cut_start", "cut"), ("branch_start", "branch"), ("level_start", "level"))
BY_SURROGATE = ("feature", "threshold", "below_left", "agreement", "adjusted")
STATISTICS = ("n_samples", "weight", "impurity", "gain")


def arrays_of(trees: Any) -> list[np.ndarray]:
    """Return all arrays of Trees, those of the surrogates too."""
    found = []
    for part in trees:
        found += arrays_of(part) if isinstance(part, tuple) else [np.asarray(part)]
    return found


def leaf_values(trees: Trees) -> Any:
    """Return the value of every leaf, in the order of the leaves."""
    if len(trees.value_row):
        return trees.value[trees.value_row]
    return trees.value if trees.is_compact else trees.value[trees.feature == LEAF]


def node_values(trees: Trees) -> Any:
    """Return the value of every node; of compact trees, zeros at inner nodes."""
    if not trees.is_compact:
        return trees.value
    is_leaf, values = trees.feature == LEAF, leaf_values(trees)
    if isinstance(values, SparseValues):
        return values.spread(is_leaf)
    value = np.zeros((trees.n_nodes, trees.value.shape[1]))
    value[is_leaf] = values
    return value


def last_children(trees: Trees) -> np.ndarray:
    """Return the last child of every node, -1 at leaves."""
    if len(trees.right) == trees.n_nodes:
        return trees.right
    return np.where(trees.left == LEAF, LEAF, trees.left + 1).astype(np.int32)


def _pick_surrogates(given: Surrogates, start: int, stop: int) -> Surrogates:
    """Return the surrogates of nodes start .. stop - 1, numbered from 0."""
    if len(given.start) == 1:
        return given
    first, last = int(given.start[start]), int(given.start[stop])
    low, high = int(given.branch_start[first]), int(given.branch_start[last])
    own = {name: getattr(given, name)[first:last] for name in BY_SURROGATE}
    return Surrogates(
        start=given.start[start : stop + 1] - first,
        branch_start=given.branch_start[first : last + 1] - low,
        branch=given.branch[low:high],
        **own,
    )


def _joined_surrogates(parts: list[Trees]) -> Surrogates:
    given = [part.surrogates for part in parts]
    if all(len(one.start) == 1 for one in given):
        return NO_SURROGATES
    n_own = np.concatenate([n_entries(one.start, part.n_nodes) for one, part in zip(given, parts, strict=True)])
    n_branches = np.concatenate([np.diff(one.branch_start) for one in given])
    own = {name: np.concatenate([getattr(one, name) for one in given]) for name in (*BY_SURROGATE, "branch")}
    start, branch_start = (np.concatenate([[0], np.cumsum(n)]).astype(np.int64) for n in (n_own, n_branches))
    return Surrogates(start=start, branch_start=branch_start, **own)


def one_tree(trees: Trees, t: int) -> Trees:
    """Return tree t alone, its ids counted from its root."""
    if trees.is_graph:
        return trees
    start, stop = int(trees.root[t]), int(trees.root[t + 1])
    columns: dict[str, Any] = {name: np.asarray(getattr(trees, name)[start:stop]) for name in _BY_NODE}
    if trees.is_compact:
        before, inside = (np.count_nonzero(trees.feature[:end] == LEAF) for end in (start, stop))
        rows = trees.value_row if len(trees.value_row) else np.arange(trees.n_leaves)
        columns |= {name: getattr(trees, name) for name in (*STATISTICS, "right") if not len(getattr(trees, name))}
        columns["value"] = np.asarray(trees.value[rows[before:inside]])
    for name in ("left", "right"):
        if len(columns[name]):
            columns[name] = np.where(columns["feature"] == LEAF, LEAF, columns[name] - start).astype(np.int32)
    for start_name, name in RAGGED:
        where, entries = getattr(trees, start_name), getattr(trees, name)
        has_any = len(where) == trees.n_nodes + 1 and where[stop] > where[start]
        columns[start_name] = where[start : stop + 1] - where[start] if has_any else NO_MAP
        columns[name] = entries[where[start] : where[stop]] if has_any else entries[:0]
    columns["share"] = trees.share[start:stop] if len(trees.share) else trees.share
    own = _pick_surrogates(trees.surrogates, start, stop)
    only: dict[str, Any] = {"root": np.array([0, stop - start], np.int64), "policy": trees.policy, "surrogates": own}
    only["linear"] = picked(trees.linear, np.arange(start, stop))
    return Trees(**columns, **only, cuts_at=trees.cuts_at, adds_both=trees.adds_both)


def joined(parts: list[Trees]) -> Trees | None:
    """Return the trees of several Trees end to end; None where there are none."""
    if len(parts) < 2:
        return parts[0] if parts else None
    if any(part.is_compact or part.is_graph for part in parts):
        msg = "joining compact trees, or graphs"
        raise AssertionError(msg)
    offsets = np.cumsum([0, *(part.n_nodes for part in parts)])
    columns: dict[str, Any] = {name: _end_to_end([getattr(part, name) for part in parts]) for name in _BY_NODE}
    shift = np.repeat(offsets[:-1], np.diff(offsets)).astype(np.int32)
    for name in ("left", "right"):
        columns[name] = np.where(columns[name] == LEAF, LEAF, columns[name] + shift).astype(np.int32)
    root = np.concatenate([[0], *(part.root[1:] + offset for part, offset in zip(parts, offsets, strict=False))])
    for start_name, name in RAGGED:
        columns[start_name], columns[name] = _joined_ragged(parts, start_name, name)
    columns["share"] = np.concatenate([part.share for part in parts])
    only: dict[str, Any] = {"policy": parts[0].policy, "surrogates": _joined_surrogates(parts)}
    only["linear"] = joined_tests([part.linear for part in parts], [part.n_nodes for part in parts])
    return Trees(root=root, **columns, **only, cuts_at=parts[0].cuts_at, adds_both=parts[0].adds_both)


def _end_to_end(columns: list[Any]) -> Any:
    if any(isinstance(column, SparseValues) for column in columns):
        return SparseValues.joined([c if isinstance(c, SparseValues) else SparseValues.of(c) for c in columns])
    return np.concatenate(columns)


def _joined_ragged(parts: list[Trees], start_name: str, name: str) -> tuple[np.ndarray, np.ndarray]:
    lengths = np.concatenate([n_entries(getattr(part, start_name), part.n_nodes) for part in parts])
    return starts_of(lengths), np.concatenate([getattr(part, name) for part in parts])


def depths(trees: Trees) -> np.ndarray:
    """Return the depth of every node, roots at 0; a pass per level. In a graph it is that of the longest way."""
    depth, is_binary = np.zeros(trees.n_nodes, np.int32), trees.has_two_children
    level = np.asarray(trees.root[:-1])
    d = 0
    while len(level):
        depth[level] = d
        inner = level[trees.feature[level] != LEAF]
        fan = np.full(len(inner), 2) if is_binary else trees.right[inner] - trees.left[inner] + 1
        first = np.repeat(trees.left[inner].astype(np.int64), fan)
        level = first + count_up(fan)
        if trees.is_graph:
            level = np.unique(nodes_at(trees, level))
        d += 1
    return depth[nodes_at(trees, np.arange(trees.n_nodes))] if trees.is_graph else depth


def nodes_at(trees: Trees, places: np.ndarray) -> np.ndarray:
    """Return which node stands in each place: of a graph the one that is joined, of trees the place itself."""
    if not trees.is_graph:
        return places
    joined_node = trees.join[places]
    return np.where(joined_node >= 0, joined_node, places)


def count_up(lengths: np.ndarray) -> np.ndarray:
    """Return 0 .. length - 1 for every length, end to end."""
    total = int(lengths.sum())
    return np.asarray(np.arange(total) - np.repeat(np.cumsum(lengths) - lengths, lengths))


def starts_of(lengths: np.ndarray) -> np.ndarray:
    """Return where the entries of each node begin in a ragged column, (m + 1,); NO_MAP where no node has any."""
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return starts if starts[-1] > 0 else NO_MAP


def decreases(trees: Trees, n_columns: int) -> np.ndarray:
    """Return by how much each column decreases the impurity of each tree, per unit of weight: (trees, columns).

    A surrogate counts for its column, too, as in R's rpart: the decrease of its node times its adjusted agreement. The
    columns of a sum share the decrease of its node.
    """
    inner = np.flatnonzero(trees.feature != LEAF)
    tree = np.searchsorted(trees.root, inner, side="right") - 1
    whole = trees.weight[trees.root[tree]]
    decrease = trees.weight[inner] * trees.gain[inner] / np.where(whole > 0.0, whole, 1.0)  # a diagram counts no rows
    cells = trees.n_trees * n_columns
    place, worth = tree * n_columns + trees.feature[inner], decrease
    if isinstance(trees.linear, LinearTests):
        n_terms = np.diff(trees.linear.start)[inner]
        each = np.maximum(n_terms, 1)
        terms = np.repeat(n_terms > 0, each)
        place, worth = np.repeat(place, each), np.repeat(decrease, each)
        place[terms] = np.repeat(tree * n_columns, n_terms) + trees.linear.column
        worth[terms] *= trees.linear.share
    table = np.bincount(place, weights=worth, minlength=cells)
    given = trees.surrogates
    if len(given.feature):
        of_node = np.zeros(trees.n_nodes)
        of_node[inner] = decrease
        owner = np.repeat(np.arange(trees.n_nodes), np.diff(given.start))
        tree = np.searchsorted(trees.root, owner, side="right") - 1
        worth = of_node[owner] * given.adjusted
        table += np.bincount(tree * n_columns + given.feature, weights=worth, minlength=cells)
    return np.asarray(table.reshape(trees.n_trees, n_columns))


def n_entries(start: np.ndarray, m: int) -> np.ndarray:
    """Return how many entries of a ragged column each of m nodes has."""
    return np.diff(start) if len(start) == m + 1 else np.zeros(m, np.int64)
