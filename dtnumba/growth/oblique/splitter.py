# mypy: ignore-errors
# ruff: noqa: D102
"""A splitter of sums over several columns, around any splitter of single columns.

It finds nothing by itself: the one within looks at the features, and then a search is asked for a sum (``offer``),
which is one more candidate, numbered behind the features.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.growth import columns as col
from dtnumba.growth.nodes import with_own
from dtnumba.growth.oblique.levels_within import within
from dtnumba.growth.oblique.offer import offer_sum, offer_sums
from dtnumba.growth.oblique.projection import goes_left
from dtnumba.growth.splitters.coded_rows import CodedRows
from dtnumba.growth.splitters.contract import (
    divide,
    divide_share,
    finish_division,
    keeper,
    note_levels,
    of_keeper,
    prepare_division,
    score_features,
    shares_of_division,
    with_codes,
    with_rows,
    with_tables_of,
)
from dtnumba.growth.targets.leaf_values import row_at, row_in_order
from dtnumba.runtime.instructions.bits import prefetch
from dtnumba.runtime.kernels import by_having, by_type, inline, kernel_type
from dtnumba.runtime.memory import per_worker
from dtnumba.runtime.records import replacing
from dtnumba.tables.cells import Cells
from dtnumba.tables.presort import SortScratch

divide_by_level = by_type("divide_by_level")


def _sides_of_sum(search, splitter, job, scratch, start, stop, node):
    for i in range(start, stop):
        row = np.int64(row_at(splitter, i))
        scratch.own.sides[row, 0] = np.uint8(goes_left(splitter, job.growing, node, row))


def _known_sides(search, splitter, job, scratch, start, stop, node):
    pass


# Write which rows of a node go left; a search that draws sums has done so when it found the best.
_note_sides = by_having("find_above", _known_sides, _sides_of_sum)
around_inner = replacing("inner")
_with_cell_table = replacing("cells")
_AHEAD = 16  # rows that are asked for ahead
BEHIND = 16  # numbers behind the sums of a node, which are added up many at a time


@inline
def _with_cells(splitter, room, n):
    """Return the splitter with copies of the codes and the cells of n rows, which are numbered from 0."""
    cells, p = splitter.cells, np.int64(splitter.n_features)
    line = np.uint64(64 // cells.flat.itemsize)
    for i in range(n):
        at = np.int64(room.small_rows[i]) * cells.row_step + cells.offset
        ahead = np.int64(room.small_rows[min(i + _AHEAD, n - 1)]) * cells.row_step + cells.offset
        prefetch(cells.flat, np.uint64(ahead), np.uint64(0))
        prefetch(cells.flat, np.uint64(ahead), line)
        for f in range(p):
            room.small_cells[i * p + f] = cells.flat[at + f * cells.column_step]
    copied = Cells(room.small_cells, np.int64(0), p, np.int64(1), np.int64(n), p)
    return _with_cell_table(around_inner(splitter, with_codes(splitter.inner, room.small_codes)), copied)


@kernel_type
class NodeColumns(NamedTuple):
    """Columns that a node may combine, as in ObliqueScratch."""

    columns: np.ndarray
    low: np.ndarray
    scale: np.ndarray
    mean: np.ndarray


@kernel_type
class ObliqueScratch(NamedTuple):
    """Scratch of one worker, around that of the splitter within."""

    inner: object
    sort: SortScratch
    sums: np.ndarray  # (n,) float64: of the rows of a node
    bits: np.ndarray  # the same memory as uint64
    sequence: np.ndarray  # (n + 16,) uint32: records in the order of the sums
    columns: np.ndarray  # (p,) int64: those that the node may combine
    low: np.ndarray  # (p,) float64: their least values there
    scale: np.ndarray  # (p,) float64: one by their ranges
    mean: np.ndarray  # (p,) float64: in units of the range
    known: np.ndarray  # (p,) float64: rows with a value
    grid: np.ndarray  # (1,) float64: see ``node_columns.rounded``
    weights: np.ndarray  # (p,) float64: those of a sum, in units of the ranges
    term_column: np.ndarray  # (p,) int64: its terms
    term_weight: np.ndarray  # (p,) float64
    stand_in: np.ndarray  # (p,) float64
    term_share: np.ndarray  # (p,) float64
    every: NodeColumns  # all of a node, while some of them are searched
    chosen: np.ndarray  # (p,) int64: those that are kept, while one more is sought
    sides: np.ndarray  # (n_table_rows, 1) uint8: of rows that are being divided
    search: object

    def within(self):
        return self.inner


@kernel_type
class ObliqueSplitter(NamedTuple):
    """A splitter of sums."""

    inner: object
    cells: object
    search: object
    is_number: np.ndarray  # (p,) uint8: which features may be terms
    n_features: int
    most_columns: int  # that a search looks at
    most_terms: int
    axis_bias: float
    scaling: int  # of columns, see ``node_columns``
    n_table_rows: int
    left: np.ndarray  # what a side says: 0 right, 1 left
    codes: np.ndarray  # of the splitter within, which forests ask for; empty where it has none

    @property
    def kernel(self):
        """The kernel of categories; where there are none, there is no such attribute."""
        return within(self.inner.kernel)

    @property
    def offer_kernel(self):
        return offer_sums

    @property
    def n_offered(self):
        """Places for candidates behind those of the features: the best sum, and those in hand."""
        return 1 + getattr(self.search, "n_together", 1)

    @property
    def grows_small(self):
        return hasattr(self.search, "find_above") and getattr(self.inner, "grows_small", False)

    @property
    def n_tried(self):
        """Sums that every node tries, and cuts as columns are."""
        return getattr(self.search, "n_sums", 0)

    @property
    def term_width(self):
        """Numbers that growing nodes keep of a sum."""
        return 1 + 4 * self.most_terms

    @property
    def draws_thresholds(self):
        return getattr(self.inner, "draws_thresholds", False)

    @property
    def keeps_tables(self):
        return getattr(self.inner, "keeps_tables", False)

    def new_scratch(self, n, workers):
        p = self.n_features
        sums, numbers = per_worker(workers, n + BEHIND), [per_worker(workers, p) for _ in range(8)]
        words, rows = [per_worker(workers, n, np.uint64) for _ in range(2)], [per_worker(workers, n, np.uint32)]
        sort = SortScratch(
            words[0], rows[0], words[1], per_worker(workers, n, np.uint32), per_worker(workers, 6 << 11, np.uint32)
        )
        return ObliqueScratch(
            self.inner.new_scratch(n, workers),
            sort,
            sums,
            sums.view(np.uint64),
            per_worker(workers, n + 16, np.uint32),
            per_worker(workers, p, np.int64),
            *numbers[:4],
            per_worker(workers, 1),
            numbers[4],
            per_worker(workers, p, np.int64),
            *numbers[5:],
            NodeColumns(per_worker(workers, p, np.int64), *(per_worker(workers, p) for _ in range(3))),
            per_worker(workers, p, np.int64),
            per_worker(workers, (self.n_table_rows, 1), np.uint8),
            self.search.new_scratch(self, n, workers),
        )

    def with_rows(self, rows, n):
        return around_inner(self, with_rows(self.inner, rows, n))

    @property
    def copies_codes(self):
        """Whether a forest may grow subtrees on copies of codes and cells."""
        return hasattr(self.search, "find_above") and isinstance(self.inner, CodedRows)

    def with_copies(self, room, n):
        return _with_cells(self, room, n)

    def row_at(self, i):
        return row_at(self.inner, i)

    def row_in_order(self, o, i):
        return row_in_order(self.inner, o, i)

    def keeper(self):
        return keeper(self.inner)

    def of_keeper(self, own):
        return of_keeper(self.inner, own.inner)

    def with_tables_of(self, own, other):
        return around_inner(own, with_tables_of(self.inner, own.inner, other.inner))

    def score_features(self, job, scratch, node, first, last, total):
        return score_features(self.inner, job, with_own(scratch, scratch.own.inner), node, first, last, total)

    def offer(self, job, scratch, node, n_listed):
        return offer_sum(job, scratch, node, n_listed)

    def shares_of_division(self, job, node):
        if job.growing.nodes[node, col.FEATURE] == self.n_features:
            return np.int64(0), np.int64(0), np.int64(0)
        return shares_of_division(self.inner, job, node)

    def prepare_division(self, job, node):
        prepare_division(self.inner, job, node)

    def divide_share(self, job, scratch, node, first, last):
        return divide_share(self.inner, job, with_own(scratch, scratch.own.inner), node, first, last)

    def finish_division(self, job, scratch, node, borders, step):
        return finish_division(self.inner, job, with_own(scratch, scratch.own.inner), node, borders, step)

    def divide(self, job, scratch, node):
        nodes = job.growing.nodes
        start, stop = np.int64(nodes[node, col.START]), np.int64(nodes[node, col.STOP])
        if nodes[node, col.FEATURE] != self.n_features:
            return divide(self.inner, job, with_own(scratch, scratch.own.inner), node)
        _note_sides(self.search, self, job, scratch, start, stop, node)
        buffer = of_keeper(self.inner, scratch.own.inner).buffer
        numbers = keeper(self.inner)
        return np.int64(divide_by_level(numbers, start, stop, scratch.own.sides, np.int64(0), self.left, buffer))


@kernel_type
class ObliqueLevelSplitter(ObliqueSplitter):
    """A splitter of sums around one of categories, which says what went left where trees are made side by side."""

    __slots__ = ()

    def note_levels(self, own, feature, kind, start, stop, out, at):
        if feature == self.n_features:
            return at
        return note_levels(self.inner, own.inner, feature, kind, start, stop, out, at)
