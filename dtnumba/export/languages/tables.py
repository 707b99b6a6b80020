"""The nodes of trees as tables that a loop in any language can follow: names and columns, those that are needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.export.reading import BY_RANGE, MAP, UP_TO, absent_of, kinds_of, used_columns
from dtnumba.trees.layout import LEAF, STAYS, last_children
from dtnumba.trees.linear import LinearTests

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.export.reading import ReadTrees
    from dtnumba.trees.layout import Trees


class LoopTables:
    """Columns by name, and what a loop over them has to know.

    ``FEATURE`` is -1 at leaves. ``KIND`` is 1 for a threshold, 2 for categories that go to the first child, 3 for cuts
    (through a map where the node has one), 4 for a map. ``ABSENT`` is the node to which a missing value goes, the node
    itself where it stays. ``ROW`` is the row of ``SAID`` that a node says. Where a node has terms, what it tests is the
    sum of ``WEIGHT`` times the values of the columns ``TERM``, of which a missing one counts as ``COUNTS_AS``.
    """

    def __init__(self, found: ReadTrees) -> None:
        trees = found.trees
        kind = kinds_of(trees)
        rows, said = rows_said(found)
        self.found, self.width = found, said.shape[1]
        self.is_plain = bool((kind <= UP_TO).all())  # thresholds alone
        self.has_cuts, self.has_maps = bool((kind == BY_RANGE).any()), len(trees.branch) > 0
        self.has_codes = bool((kind == MAP).any())
        self.has_levels, self.has_stand_ins = len(trees.level) > 0, len(trees.surrogates.feature) > 0
        self.may_stay = trees.may_stay
        threshold = np.where(kind == UP_TO, trees.threshold, 0.0)
        self.of_nodes: dict[str, NDArray[Any]] = {
            "FEATURE": trees.feature.astype(np.int32),
            "THRESHOLD": threshold,
            "LEFT": np.maximum(trees.left, 0),
            "ABSENT": absent_of(trees).astype(np.int32),
            "ROW": rows,
        }
        self.ragged: dict[str, NDArray[Any]] = {}
        if not self.is_plain:
            self.of_nodes["KIND"] = kind
        for name, is_there in (("CUT", self.has_cuts), ("BRANCH", self.has_maps), ("LEVEL", self.has_levels)):
            if is_there:
                self.ragged[f"{name}_START"] = getattr(trees, f"{name.lower()}_start")
                self.ragged[name] = getattr(trees, name.lower())
        if found.is_shared:
            self.of_nodes |= {"LAST": np.maximum(last_children(trees), 0), "SHARE": trees.share}
        if self.has_stand_ins:
            own = trees.surrogates
            is_map = np.isnan(own.threshold)
            self.ragged |= {
                "OTHER_START": own.start,
                "OTHER_FEATURE": own.feature,
                "OTHER_IS_MAP": is_map.astype(np.uint8),
                "OTHER_THRESHOLD": np.where(is_map, 0.0, own.threshold),
                "OTHER_BELOW": own.below_left,
                "OTHER_BRANCH_START": own.branch_start,
                "OTHER_BRANCH": own.branch,
            }
        self.has_sums = isinstance(trees.linear, LinearTests)
        if isinstance(trees.linear, LinearTests):
            self.ragged |= {
                "TERM_START": trees.linear.start,
                "TERM": trees.linear.column,
                "WEIGHT": trees.linear.weight,
                "COUNTS_AS": trees.linear.stand_in,
            }
        self.root = trees.root[:-1]
        self.said = said
        self.label: NDArray[np.int64] | None = None  # of a row of SAID, where leaves alone say labels
        if found.labels_are_of_leaves:
            assert found.codes is not None
            self.label = np.zeros((len(said), found.codes.shape[1]), np.int64)
            self.label[rows] = found.codes  # nodes at which no row ends stand in row 0
            ends = np.flatnonzero((trees.feature < 0) | (absent_of(trees) == np.arange(trees.n_nodes)))
            self.label[rows[ends]] = found.codes[ends]

    @property
    def preorder(self) -> NDArray[np.int64]:
        """The order in which parts of a row are added up."""
        return preorder_of(self.found.trees)

    @property
    def used(self) -> list[int]:
        """The columns that are looked at."""
        return used_columns(self.found.trees)


def rows_said(read_model: ReadTrees) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return which row of a table each node says where rows end there (0 elsewhere), and the rows, each once."""
    trees, said = read_model.trees, read_model.said
    ends = np.flatnonzero((trees.feature == LEAF) | (trees.missing_left == STAYS))
    own = np.ascontiguousarray(said[ends])
    width = own.shape[1]
    keys = own.view(np.int64)[:, 0] if width == 1 else own.view(np.dtype((np.void, 8 * width)))[:, 0]
    _, first, row = np.unique(keys, return_index=True, return_inverse=True)
    rows = np.zeros(trees.n_nodes, np.int64)
    rows[ends] = row.reshape(-1)
    return rows, own[first]


def preorder_of(trees: Trees) -> NDArray[np.int64]:
    """Return the place of every node where the first child's nodes come right behind their parent."""
    last, sizes = last_children(trees).astype(np.int64), np.ones(trees.n_nodes, np.int64)
    inner = np.flatnonzero(trees.feature != LEAF)
    left = trees.left.astype(np.int64)
    for node in inner[::-1].tolist():
        sizes[node] += sizes[left[node] : last[node] + 1].sum()
    place = np.zeros(trees.n_nodes, np.int64)
    place[trees.root[:-1]] = trees.root[:-1]
    for node in inner.tolist():
        own = slice(left[node], last[node] + 1)
        place[own] = place[node] + 1 + np.cumsum(sizes[own]) - sizes[own]
    return place
