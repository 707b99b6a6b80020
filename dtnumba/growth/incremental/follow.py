"""One change of a tree, from the rows that come and go to its nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from dtnumba.criteria.contract import bounds_spread
from dtnumba.growth.binary.grow_subtree import LikeOthers, new_scratch
from dtnumba.growth.binary.train import numbers_per_output
from dtnumba.growth.incremental.lists import N_CODES, held_of
from dtnumba.growth.incremental.node_sums import squares_of, whole_squares
from dtnumba.growth.incremental.regrow import grow_listed
from dtnumba.growth.incremental.state import NEXT_NODE, NEXT_PLACE, FollowedNodes, compact
from dtnumba.growth.incremental.visit import Listed, NodeVisit, visit_tree
from dtnumba.growth.nodes import Job, new_growing
from dtnumba.growth.policies.feature_sampling import AllFeatures
from dtnumba.growth.targets.contract import n_kept_of
from dtnumba.runtime.addresses import call_entry, code_for
from dtnumba.runtime.records import worker_part
from dtnumba.tables.presort import pick_sort_scratch, sort_scratch


class FollowedTree:
    """A tree that stays the one that growth would make of the rows it holds.

    Parameters
    ----------
    values : array of shape (slots, features)
        Each column in one piece.
    rows : array of int
        Slots of rows, of which quantiles are taken: the tree itself holds none yet.
    target : target
        Of all slots.
    criterion : criterion
        What a split gains.
    limits : Limits
        Of growth.
    workers : int
        Threads of growth.
    levels : TreeLevels, optional
        Of tables with categories.

    """

    def __init__(
        self, values: Any, rows: Any, target: Any, criterion: Any, limits: Any, workers: int, levels: Any = None
    ) -> None:
        n_slots, p = values.shape
        self.n_features, self.workers = p, workers
        self.target, self.criterion, self.limits = target, criterion, limits
        self.n_per_output = numbers_per_output(target)
        self.n_sums, self.squares, self.square_unit = squares_of(target, rows)
        self.levels = levels
        self.is_level = np.zeros(p, np.uint8) if levels is None else levels.is_level
        self.held = held_of(values, rows, self.squares, self.square_unit, np.flatnonzero(self.is_level))
        self.low, self.high, self.reach = np.inf, -np.inf, 1.0
        has_spread = not hasattr(target, "moments") or target.moments.shape[1] == 1
        self.is_bounded = bounds_spread(criterion) and has_spread
        self.nodes = FollowedNodes.new(1024, self.n_sums, p, 4096, 4 + n_slots // 1024, 0 if levels is None else 4)
        self.listed = np.empty(1024, np.int64)
        self.n_regrown = 0  # rows of the nodes that the last change grew anew
        self.root_of, self.side = np.empty(n_slots, np.int32), np.empty(n_slots, np.uint8)
        growing = new_growing(1, n_kept_of(target), 1, False, False)
        nobody: Any = Listed(np.empty(0, np.uint32))
        if levels is not None:
            nobody = levels.summed(nobody)
        self.job = Job(nobody, target, criterion, limits, growing, AllFeatures(), p, self.n_per_output, LikeOthers())
        self.scratch = worker_part(new_scratch(self.job, n_slots, 1), 0)
        self.sort = sort_scratch(self.held.bits, n_slots, 1)

    @property
    def n_bytes(self) -> int:
        """How much memory the tree takes, with the values of the rows."""
        own: tuple[Any, ...] = self.target, self.held, self.nodes, self.scratch, self.sort
        own += self.listed, self.root_of, self.side, () if self.levels is None else self.levels.codes
        return sum(_arrays_in(own).values())

    def make_room(self, n_nodes: int, n_rows: int) -> None:
        """See to room for so many more nodes, and for lists of so many more rows."""
        used = self.nodes.used
        needed = int(used[NEXT_NODE]) + n_nodes + 2
        if needed > len(self.nodes.link):
            self.nodes = self.nodes.with_room(max(needed, 2 * len(self.nodes.link)))
        room = 4 * n_rows + 16
        if used[NEXT_PLACE] + room > len(self.nodes.pool):
            self.nodes = compact(self.nodes, room, len(self.held.values))

    def change(self, came: Any, went: Any, ranks: Any = None) -> None:
        """Take rows (slots) in and give rows back; ``ranks`` say in which order the levels of categories are."""
        if self.levels is not None:
            self.levels.know(self.held, ranks, came)
        if len(self.squares):
            self.squares[came] = whole_squares(self.target, came, self.square_unit)
            y = self.target.y[came]
            self.low, self.high = min(self.low, y.min(initial=np.inf)), max(self.high, y.max(initial=-np.inf))
            self.reach = float(self.high - self.low)
        n_slots, m, n = len(self.held.values), len(came) + len(went), len(came)
        self.make_room(0, n_slots + m)
        visit = self._new_visit(16 * m + 4 * n_slots)
        visit.sets[:n], visit.sets[n:m] = came, went
        call_entry(code_for(visit_tree, visit), n, m - n, 0)
        n_listed = int(visit.count[1])
        self.n_regrown = int(self.nodes.n_rows[visit.listed[:n_listed]].sum())
        if n_listed:
            self.listed = visit.listed
            grow_listed(self, n_listed, self.workers)

    def _new_visit(self, n_in_sets: int) -> NodeVisit:
        n_slots, n_nodes, k = len(self.held.values), len(self.nodes.link), self.n_sums
        return NodeVisit(
            nodes=self.nodes,
            held=self.held,
            job=self.job,
            scratch=self.scratch,
            sort=pick_sort_scratch(self.sort, 0),
            sets=np.empty(n_in_sets, np.uint32),
            stack=np.empty((n_nodes + 2, 4), np.int64),
            below=np.empty(n_nodes + 2, np.int64),
            rows=np.empty(n_slots, np.uint32),
            other=np.empty(n_slots, np.uint32),
            tables=np.empty((self.n_features, N_CODES, k + 1), np.int64),
            bounds=np.empty((N_CODES, 2)),
            right=np.empty(N_CODES + 1),
            part=np.empty(N_CODES, np.int64),
            found=np.empty(N_CODES),
            inmost=np.empty(k, np.int64),
            low=np.empty(k + 1, np.int64),
            high=np.empty(k + 1, np.int64),
            visited=np.empty(n_nodes + 2, np.int64),
            listed=np.empty(n_nodes + 2, np.int64),
            count=np.zeros(4, np.int64),
            borders=np.zeros(6, np.int64),
            here=np.zeros(4, np.int64),
            left=np.zeros(4, np.uint64),
            reach=self.reach,
            is_bounded=int(self.is_bounded),
        )


def _arrays_in(parts: Any) -> dict[int, int]:
    """Return the bytes of all arrays in nested tuples, by where they begin: views of one are one."""
    found: dict[int, int] = {}
    for part in parts:
        if isinstance(part, np.ndarray):
            found[part.ctypes.data] = max(part.nbytes, found.get(part.ctypes.data, 0))
        elif isinstance(part, tuple):
            found |= _arrays_in(part)
    return found
