"""One change of a tree, from the rows that come and go to its nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from dtnumba.criteria.contract import bounds_spread
from dtnumba.growth.binary.grow_subtree import LikeOthers, new_scratch
from dtnumba.growth.binary.train import numbers_per_output
from dtnumba.growth.incremental.lists import Held
from dtnumba.growth.incremental.regrow import grow_listed
from dtnumba.growth.incremental.state import NEXT_NODE, NEXT_PLACE, Nodes, compact
from dtnumba.growth.incremental.statistics import squares_of, whole_squares
from dtnumba.growth.incremental.visit import Listed, Visit, visit_tree
from dtnumba.growth.nodes import Job, new_growing
from dtnumba.growth.policies.feature_sampling import AllFeatures
from dtnumba.growth.targets.contract import n_kept_of
from dtnumba.runtime.addresses import call_entry, code_for
from dtnumba.runtime.records import worker_part
from dtnumba.tables.cells import cells_of
from dtnumba.tables.presort import bits_of, pick_sort_scratch, sort_scratch


class FollowedTree:
    """A tree that stays the one that growth would make of the rows it holds."""

    def __init__(self, values: Any, rows: Any, target: Any, criterion: Any, limits: Any, workers: int) -> None:
        self.n_features, self.workers = values.shape[1], workers
        self.target, self.criterion, self.limits = target, criterion, limits
        self.n_per_output = numbers_per_output(target)
        self.n_sums, self.squares, self.square_unit = squares_of(target, rows)
        self.held = self._held(values, rows)
        n_slots, p = values.shape
        self.low, self.high, self.reach = np.inf, -np.inf, 1.0
        self.is_bounded = bounds_spread(criterion) and (not hasattr(target, 'moments') or target.moments.shape[1] == 1)
        self.nodes = Nodes.new(1024, self.n_sums, p, 4096, 4 + n_slots // 512)
        self.listed = np.empty(1024, np.int64)
        self.root_of, self.side = np.empty(n_slots, np.int32), np.empty(n_slots, np.uint8)
        self._scratch_for(n_slots)

    def _held(self, values, rows):
        cells, form = bits_of(cells_of(values))
        n, p = values.shape
        edges = np.full((p, 254), np.inf)
        for c in range(p):
            seen = values[rows, c]
            seen = seen[~np.isnan(seen)]
            if len(seen):
                found = np.unique(np.quantile(seen, np.arange(1, 255) / 255))
                edges[c, : len(found)] = found
        return Held(values, values.view(cells.flat.dtype), form, np.zeros(n, np.uint8), np.zeros((n, p), np.uint8), self.squares, self.square_unit, edges, np.full((p, 256), -1, np.int32), np.zeros((p, n), np.int32), np.zeros((p, n), np.int32))

    def _scratch_for(self, n):
        p = self.n_features
        growing = new_growing(1, n_kept_of(self.target), 1, False, False)
        self.job = Job(Listed(np.empty(0, np.uint32)), self.target, self.criterion, self.limits, growing, AllFeatures(), p, self.n_per_output, LikeOthers())
        self.scratch = worker_part(new_scratch(self.job, n, 1), 0)
        self.sort = sort_scratch(self.held.bits, n, 1)

    def make_room(self, n_nodes, n_rows):
        """See to room for so many more nodes, and for lists of so many more rows."""
        used = self.nodes.used
        needed = int(used[NEXT_NODE]) + n_nodes + 2
        if needed > len(self.nodes.link):
            self.nodes = self.nodes.with_room(max(needed, 2 * len(self.nodes.link)))
        room = 4 * n_rows + 16
        if used[NEXT_PLACE] + room > len(self.nodes.pool):
            self.nodes = compact(self.nodes, room, len(self.held.values))

    def change(self, came: Any, went: Any) -> None:
        """Take rows (slots) in and give rows back."""
        if len(self.squares):
            self.squares[came] = whole_squares(self.target, came, self.square_unit)
            y = self.target.y[came]
            self.low, self.high = min(self.low, y.min(initial=np.inf)), max(self.high, y.max(initial=-np.inf))
            self.reach = float(self.high - self.low)
        n_slots = len(self.held.values)
        m, n = len(came) + len(went), len(came)
        self.make_room(0, n_slots + m)
        nodes = self.nodes
        n_nodes = len(nodes.link)
        sets = np.empty(16 * m + 4 * n_slots, np.uint32)
        sets[:n], sets[n:m] = came, went
        k, p = self.n_sums, self.n_features
        visit = Visit(
            nodes=nodes, held=self.held, job=self.job, scratch=self.scratch, sort=pick_sort_scratch(self.sort, 0), sets=sets,
            stack=np.empty((n_nodes + 2, 4), np.int64), below=np.empty(n_nodes + 2, np.int64), rows=np.empty(n_slots, np.uint32),
            other=np.empty(n_slots, np.uint32), tables=np.empty((p, 256, k + 1), np.int64), bounds=np.empty((256, 2)), right=np.empty(257), part=np.empty(256, np.int64), low=np.empty(k + 1, np.int64), high=np.empty(k + 1, np.int64), found=np.empty(256), inmost=np.empty(k, np.int64), here=np.zeros(4, np.int64), visited=np.empty(n_nodes + 2, np.int64), listed=np.empty(n_nodes + 2, np.int64), count=np.zeros(4, np.int64), borders=np.zeros(6, np.int64), reach=self.reach, is_bounded=int(self.is_bounded),
        )
        call_entry(code_for(visit_tree, visit), n, m - n, 0)
        n_listed = int(visit.count[1])
        self.stats = int(visit.count[0]), n_listed, int(self.nodes.n_rows[visit.listed[:n_listed]].sum()), *visit.count[2:].tolist()
        if n_listed:
            self.listed = visit.listed
            grow_listed(self, n_listed, self.workers)
