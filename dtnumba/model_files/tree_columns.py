"""Trees as columns of a file, and back: inner nodes and leaves have columns of their own, and what follows is left out.

A column that follows from others is stored only where it does not follow to the bit: the rule is tried when the file
is written. What prediction reads is made by itself, so that the rest of a large file need never be touched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.model_files import node_sums
from dtnumba.tables.floats import BETWEEN_VALUES, AtFloats
from dtnumba.trees.check import check
from dtnumba.trees.layout import (
    BY_CHILD,
    BY_SURROGATE,
    LEAF,
    NO_JOINS,
    NO_MAP,
    STAYS,
    Surrogates,
    Trees,
    last_children,
)
from dtnumba.trees.linear import NO_INDICATORS, LinearTests
from dtnumba.trees.sparse_rows import SparseValues

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.model_files.values import Reader, Writer

RANK_STEP = 64  # nodes from one entry of ``inner_before`` to the next
# What leaves have in columns that are of inner nodes.
_AT_LEAVES: dict[str, tuple[Any, Any]] = {"threshold": (np.float64, np.nan), "missing_left": (np.uint8, 0)}
_RAGGED = {"branch": np.int32, "cut": np.float64, "level": np.int32}
_NARROW: dict[str, Any] = {"feature": np.int16, "n_samples": np.int32}  # the types that columns of some trees have
_OF_SURROGATES: dict[str, Any] = {
    "start": np.int64,
    "feature": np.int32,
    "threshold": np.float64,
    "below_left": np.uint8,
    "branch_start": np.int64,
    "branch": np.int32,
    "agreement": np.float64,
    "adjusted": np.float64,
}
_OF_SUMS: dict[str, Any] = {
    "start": np.int64,
    "column": np.int32,
    "weight": np.float64,
    "stand_in": np.float64,
    "share": np.float64,
}
_SPARSE: dict[str, Any] = {"start": np.int64, "column": np.int32, "number": np.float64}


def dump_sums(linear: LinearTests, writer: Writer, name: str) -> dict[str, Any]:
    """Write the terms of sums, and return what a file says of them."""
    parts = [*_OF_SUMS, *(["level"] if len(linear.level) else [])]
    return {part: writer.column(f"{name}.linear.{part}", getattr(linear, part)) for part in parts}


def load_sums(given: Any, reader: Reader) -> LinearTests:
    """Return the terms of sums of a file; what tests them says whether they are in order."""
    reader.demand(isinstance(given, dict), "its sums are none")
    columns = {part: reader.column(given.get(part), dtype, (None,)) for part, dtype in _OF_SUMS.items()}
    columns["level"] = reader.column(given["level"], np.int32, (None,)) if "level" in given else NO_INDICATORS
    own = LinearTests(**columns)
    reader.demand(len(own.column) > 0, "its sums have no terms")
    return own


def dump_trees(trees: Trees, writer: Writer, name: str, n_classes: list[int]) -> dict[str, Any]:
    """Return Trees as the header says them, their columns stored; ``n_classes`` are those of each output, or 1."""
    is_inner = trees.feature != LEAF
    inner = np.flatnonzero(is_inner)
    said: dict[str, Any] = {"object": "Trees", "policy": int(trees.policy), "n_nodes": trees.n_nodes}
    said |= {"is_compact": trees.is_compact, "is_two_way": trees.is_two_way, "has_two": trees.has_two_children}
    said["n_trees"] = trees.n_trees
    if trees.adds_both:
        said["adds_both"] = True
    said["narrow"] = [column for column, dtype in _NARROW.items() if getattr(trees, column).dtype == dtype]

    def put(column: str, array: NDArray[Any]) -> None:
        said[column] = writer.column(f"{name}.{column}", array)

    put("root", trees.root)
    put("tested", trees.feature.astype(np.int64) + 1)
    before = np.cumsum(is_inner) - is_inner
    put("inner_before", before[::RANK_STEP])
    put("distance", trees.left[inner] - inner)
    for column, (dtype, otherwise) in _AT_LEAVES.items():
        entries = getattr(trees, column)
        if entries[~is_inner].tobytes() != np.full(len(entries) - len(inner), otherwise, dtype).tobytes():
            put(f"leaf_{column}", entries[~is_inner])
        put(column, entries[inner])
    if trees.is_graph:
        put("join", trees.join)
    if not trees.has_two_children:
        put("more", trees.right[inner] - trees.left[inner] - 1)
    for column in _RAGGED:
        start = getattr(trees, f"{column}_start")
        if len(start) > 1:
            put(f"{column}_count", np.diff(start))
            put(column, getattr(trees, column))
    if len(trees.share):
        put("share", trees.share)
    if len(trees.surrogates.start) > 1:
        own = trees.surrogates
        said["surrogates"] = {
            part: writer.column(f"{name}.surrogates.{part}", getattr(own, part)) for part in _OF_SURROGATES
        }
    if isinstance(trees.linear, LinearTests):
        said["linear"] = dump_sums(trees.linear, writer, name)
    if isinstance(trees.cuts_at, AtFloats):
        said["cuts_at"] = writer.value(f"{name}.cuts_at", trees.cuts_at.bits)
    value: Any = trees.value
    if isinstance(value, SparseValues):
        parts = {part: writer.column(f"{name}.value.{part}", getattr(value, part)) for part in _SPARSE}
        said["sparse_value"] = parts | {"width": int(value.width)}
    elif trees.is_compact:
        put("value", value)
    if trees.is_compact:
        put("value_row", trees.value_row)
        said["has_right"] = len(trees.right) > 0
        return said
    return said | node_sums.dump(trees, writer, name, n_classes, dense=not isinstance(value, SparseValues))


class StoredTrees:
    """The trees of a file, made when they are asked for.

    Parameters
    ----------
    said : dict
        What the header says of them.
    reader : Reader
        The file.
    n_features : int
        Columns of the table they were grown on.
    n_classes : list of int
        Classes of each output, 1 where it is a number.

    """

    def __init__(self, said: dict[str, Any], reader: Reader, n_features: int, n_classes: list[int]) -> None:
        self.said, self.reader, self.n_features, self.n_classes = said, reader, n_features, n_classes
        for name in ("n_nodes", "n_trees", "is_two_way", "is_compact", "has_two"):
            reader.demand(type(said.get(name)) is (int if name[0] == "n" else bool), f"its trees do not say {name}")
        reader.demand(isinstance(said.get("tested"), dict), "its trees test nothing")
        n_nodes, n_trees = said["n_nodes"], said["n_trees"]
        reader.demand(0 < n_trees <= n_nodes < 1 << 31, "it has no tree, or too many nodes")
        shape = reader.content.stored(said["tested"].get("array", said["tested"].get("codes"))).shape
        reader.demand(shape == (n_nodes,), "its columns are not as long as it has nodes")
        narrow = said.get("narrow")
        legal = isinstance(narrow, list) and all(isinstance(one, str) and one in _NARROW for one in narrow)
        reader.demand(legal, "its columns are of no known types")
        self._walked: Trees | None = None
        self._whole: Trees | None = None

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return int(self.said["n_trees"])

    @property
    def n_nodes(self) -> int:
        """Number of nodes of all trees."""
        return int(self.said["n_nodes"])

    @property
    def adds_both(self) -> bool:
        """Whether of two classes both shares are averaged."""
        return self.said.get("adds_both") is True

    @property
    def is_read(self) -> bool:
        """Whether the trees were made already."""
        return self._walked is not None or self._whole is not None

    @property
    def is_two_way(self) -> bool:
        """Whether every inner node has two children and missing_left alone says where missing values go."""
        return bool(self.said["is_two_way"])

    @property
    def width(self) -> int:
        """Numbers of a value."""
        return sum(self.n_classes)

    @property
    def whole(self) -> Trees:
        """The trees, every column of them, checked."""
        walked = self.walked
        if self._whole is None:
            with self.reader.objecting("trees"):
                self._whole = self._with_statistics(walked)
            self._walked = None
        return self._whole

    @property
    def walked(self) -> Trees:
        """What prediction reads, checked: compact trees, or all of them where they are not two-way."""
        if self._whole is not None:
            return self._whole
        if self._walked is None:
            with self.reader.objecting("trees"):
                self._walked = self._for_walks()
                if not self.is_two_way or self._walked.is_graph:
                    self._walked = self._whole = self._with_statistics(self._walked)
        return self._walked

    def column(self, name: str, dtype: Any, *shape: int | None) -> NDArray[Any]:
        """Return a stored column."""
        return self.reader.column(self.said.get(name), dtype, shape)

    def _for_walks(self) -> Trees:
        said, m, demand = self.said, self.n_nodes, self.reader.demand
        root = self.column("root", np.int64, self.n_trees + 1)
        ascend = root[0] == 0 and root[-1] == m and (np.diff(root) > 0).all()
        demand(ascend, "its roots do not ascend from 0 to the number of nodes")
        tested = self.column("tested", np.int32, m)
        demand((tested >= 0).all() and (tested <= self.n_features).all(), "it tests a column that it has not got")
        inner = np.flatnonzero(tested)
        k = len(inner)
        feature = tested - np.int32(1)
        left_of_inner = self.column("distance", np.int64, k) + inner
        threshold_of_inner = self.column("threshold", np.float64, k)
        more = None if said["has_two"] else self.column("more", np.int64, k)
        join = self.column("join", np.int32, m) if "join" in said else NO_JOINS
        own = join[inner] < 0 if len(join) else slice(None)
        self._check_children(root, inner[own], left_of_inner[own], None if more is None else more[own])
        self._check_ranks(inner)
        columns: dict[str, Any] = {"root": root, "feature": self._typed("feature", feature)}
        columns["left"] = self._children(inner, left_of_inner)
        columns["threshold"] = self._at(inner, "threshold", threshold_of_inner)
        columns["missing_left"] = self._at(inner, "missing_left", self.column("missing_left", np.uint8, k))
        empty = {name: np.zeros(0, dtype) for name, dtype in node_sums.TYPES.items()}
        columns |= {name: self._typed(name, column) for name, column in empty.items()}
        columns["right"] = np.zeros(0, np.int32)
        if more is not None or said.get("has_right") is True:
            columns["right"] = self._children(inner, left_of_inner + 1 + (0 if more is None else more))
        columns |= self._ragged()
        columns["join"] = join
        columns["share"] = self.column("share", np.float64, m) if "share" in said else np.zeros(0)
        if "surrogates" in said:
            columns["surrogates"] = self._surrogates()
        if "linear" in said:
            columns["linear"] = load_sums(said["linear"], self.reader)
        columns["cuts_at"] = _cuts_at(self.reader.value(said.get("cuts_at")), self.reader, self.n_features)
        policy: Any = said.get("policy")
        demand(type(policy) is int, "the policy of its missing values is not known")
        columns["value"], columns["value_row"] = self._leaf_values(tested)
        trees = Trees(**columns, policy=policy, adds_both=self.adds_both)
        is_plain = said["has_two"] and policy == BY_CHILD and "surrogates" not in said and not len(trees.level)
        is_plain = is_plain and not trees.is_graph and not trees.has_sums
        if is_plain:  # all that ``check`` asks for: children stand as they should already
            demand(not np.isnan(threshold_of_inner).any(), "a threshold is no number")
            on_its_way = (trees.missing_left <= 1) | (trees.missing_left == STAYS)
            demand(bool(on_its_way.all()), "a missing value goes to no child")
        is_two_way = said["has_two"] and policy == BY_CHILD and "surrogates" not in said and not trees.may_stay
        demand(self.is_two_way == is_two_way, "its trees are not of the kind that it says")
        if not is_plain:
            like = trees._replace(value=np.zeros((m - k, 0)), value_row=np.zeros(0, np.uint32), join=NO_JOINS)
            demand(not trees.is_graph or not said["is_compact"], "its graph has no statistics")
            if not trees.is_graph:
                check(like, self.n_features)
        return trees

    def _with_statistics(self, walked: Trees) -> Trees:
        if self.said["is_compact"]:
            return walked
        with np.errstate(all="ignore"):
            trees = node_sums.load(self, walked._replace(right=last_children(walked)))
        trees = trees._replace(n_samples=self._typed("n_samples", trees.n_samples), value_row=np.zeros(0, np.uint32))
        demand = self.reader.demand
        demand(bool((trees.n_samples >= 0).all()), "a node has fewer rows than none")
        demand(np.isfinite(trees.weight).all() and bool((trees.weight >= 0).all()), "a weight is no weight")
        if not self.is_two_way or trees.is_graph:
            check(trees, self.n_features)
        return trees

    def _typed(self, name: str, column: NDArray[Any]) -> NDArray[Any]:
        return column.astype(_NARROW[name]) if name in self.said["narrow"] else column

    def _at(self, inner: NDArray[np.int64], name: str, entries: NDArray[Any]) -> NDArray[Any]:
        dtype, otherwise = _AT_LEAVES[name]
        column = np.full(self.n_nodes, otherwise, dtype)
        if f"leaf_{name}" in self.said:
            is_leaf = np.ones(self.n_nodes, bool)
            is_leaf[inner] = False
            column[is_leaf] = self.column(f"leaf_{name}", dtype, self.n_nodes - len(inner))
        column[inner] = entries
        return column

    def _children(self, inner: NDArray[np.int64], entries: NDArray[np.int64]) -> NDArray[np.int32]:
        column = np.full(self.n_nodes, LEAF, np.int32)
        column[inner] = entries
        return column

    def _check_children(
        self, root: NDArray[np.int64], inner: NDArray[np.int64], left: NDArray[np.int64], more: NDArray[np.int64] | None
    ) -> None:
        """Raise where children do not stand after their parent in its tree, each node but a root below one parent."""
        m, demand = self.n_nodes, self.reader.demand
        last = left + 1 if more is None else left + 1 + more
        stands = (left > inner).all() and (last > left).all()
        end = np.repeat(root[1:], np.diff(np.searchsorted(inner, root)))
        demand(stands and (last < end).all(), "a child stands before its parent, or in another tree")
        n_children = 2 * len(inner) + (0 if more is None else int(more.sum()))
        demand(n_children == m - len(root) + 1, "a node has two parents, or none")
        is_child = np.zeros(m, bool)
        if more is None:
            is_child[left] = True
            is_child[last] = True
        else:  # a child after another: where a row of children begins, and where it has ended
            steps = np.bincount(left, minlength=m + 1) - np.bincount(last + 1, minlength=m + 1)
            is_child = np.cumsum(steps)[:m] == 1
        demand(np.count_nonzero(is_child) == n_children, "a node has two parents, or none")
        demand(not is_child[root[:-1]].any(), "a root is a child")

    def _check_ranks(self, inner: NDArray[np.int64]) -> None:
        given = self.column("inner_before", np.int64, -(-self.n_nodes // RANK_STEP))
        right = np.searchsorted(inner, np.arange(0, self.n_nodes, RANK_STEP))
        self.reader.demand(bool((given == right).all()), "it counts inner nodes wrongly")

    def _ragged(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, dtype in _RAGGED.items():
            found[f"{name}_start"], found[name] = NO_MAP, np.zeros(0, dtype)
            if name in self.said:
                counts = self.column(f"{name}_count", np.int64, self.n_nodes)
                found[name] = self.column(name, dtype, None)
                legal = bool((counts >= 0).all()) and bool((counts <= len(found[name])).all())
                self.reader.demand(legal, f"its column {name} has no such entries")
                found[f"{name}_start"] = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return found

    def _surrogates(self) -> Surrogates:
        given, demand = self.said["surrogates"], self.reader.demand
        demand(isinstance(given, dict), "its surrogates are none")
        parts = {part: self.reader.column(given.get(part), dtype, (None,)) for part, dtype in _OF_SURROGATES.items()}
        own = Surrogates(**parts)
        fits = len(own.start) == self.n_nodes + 1 and own.start[0] == 0 and bool((np.diff(own.start) >= 0).all())
        fits = fits and all(len(getattr(own, part)) == len(own.feature) for part in BY_SURROGATE)
        fits = fits and len(own.branch_start) == len(own.feature) + 1 and own.branch_start[0] == 0
        demand(fits, "its surrogates do not belong to its nodes")
        within = bool(((own.feature >= 0) & (own.feature < self.n_features)).all())
        demand(within, "its surrogates test columns that it has not got")
        return own

    def sparse_values(self) -> SparseValues:
        """Return the values of very many classes, of every node, or of every leaf of compact trees."""
        sparse, demand = self.said["sparse_value"], self.reader.demand
        demand(isinstance(sparse, dict) and sparse.get("width") == self.width, "its values are of other classes")
        start, column, number = (self.reader.column(sparse.get(part), d, (None,)) for part, d in _SPARSE.items())
        fits = len(start) > 0 and start[0] == 0 and start[-1] == len(column) == len(number)
        demand(fits and bool((np.diff(start) >= 0).all()), "its values do not begin and end where they should")
        within = bool(((column >= 0) & (column < self.width)).all()) and np.isfinite(number).all()
        demand(within, "its values are no shares")
        return SparseValues(start, column, number, self.width)

    def _leaf_values(self, tested: NDArray[np.int32]) -> tuple[Any, NDArray[np.uint32]]:
        """Return rows of values, and which of them each leaf has; empty where each has its own."""
        is_compact, demand, row = self.said["is_compact"], self.reader.demand, np.zeros(0, np.uint32)
        n_leaves = len(tested) - int(np.count_nonzero(tested))
        if "sparse_value" in self.said:
            value: Any = self.sparse_values()
            demand(len(value) == (n_leaves if is_compact else len(tested)), "its values are not of its nodes")
            return value if is_compact else value[np.flatnonzero(tested == 0)], row
        if is_compact:
            value, row = self.column("value", np.float64, None, self.width), self.column("value_row", np.uint32, None)
        else:
            value, row = node_sums.leaf_rows(self, n_leaves)
        fits = (len(row) or len(value)) == n_leaves and (not len(row) or int(row.max()) < len(value))
        demand(fits and self.are_values(value), "its leaves have no values that are finite numbers, or shares")
        return value, row

    def are_values(self, value: NDArray[np.float64]) -> bool:
        """Tell whether rows are finite numbers, and of classes shares: where one has all, the others have none."""
        legal, first = bool(np.isfinite(value).all()), 0
        for k in self.n_classes:
            own = value[:, first : first + k]
            if k > 1 and legal:
                is_all = (own == 1.0).any(axis=1)
                legal = bool(((own >= 0.0) & (own <= 1.0)).all()) and bool((own[is_all].sum(axis=1) == 1.0).all())
            first += k
        return legal


def _cuts_at(bits: Any, reader: Reader, n_features: int) -> Any:
    if bits is None:
        return BETWEEN_VALUES
    each = bits if isinstance(bits, tuple) and len(bits) == n_features else [bits]
    reader.demand(all(type(one) is int and one in {16, 32, 64} for one in each), "its cuts are of no known floats")
    return AtFloats(bits)
