# mypy: ignore-errors
# ruff: noqa: D102
"""Rows in node order, divided by their codes: the base of all splitters over codes."""

from typing import NamedTuple

import numpy as np

from dtnumba.criteria.contract import NO_GAIN
from dtnumba.growth import columns as col
from dtnumba.growth.splitters.candidates import NOTHING, all_are_legal, is_heavier, record_split
from dtnumba.growth.splitters.partition import partition_by_level, partition_rows
from dtnumba.growth.targets.contract import add, rest, split_score, zero
from dtnumba.runtime.kernels import by_having, by_type, inline, kernel_type
from dtnumba.runtime.records import replacing
from dtnumba.runtime.tasks import launch, take_ticket

with_row_list, with_row_number, with_code_table = replacing("rows"), replacing("n_rows"), replacing("codes")


class CodedRows:
    """Rows in node order, and their codes."""

    __slots__ = ()

    def with_rows(self, rows, n):
        return with_row_number(with_row_list(self, rows), n)

    def with_codes(self, codes):
        return with_code_table(self, codes)

    def twice(self, codes, ends):
        return self._replace(codes=codes, n_codes=np.tile(self.n_codes, 2))

    def row_at(self, i):
        return self.rows[i]

    def row_in_order(self, o, i):
        return self.rows[o * self.n_rows + i]

    def divide(self, job, scratch, node):
        nodes = job.growing.nodes
        f, start, stop = nodes[node, col.FEATURE], nodes[node, col.START], nodes[node, col.STOP]
        border, split = start, (f, nodes[node, col.LAST_LEFT], self.n_codes[f], nodes[node, col.MISSING_LEFT])
        for o in range(self.n_orders):
            border = partition_rows(self.rows, o * self.n_rows, start, stop, self.codes, split, scratch.own.buffer)
        return border

    def divide_together(self, nodes, node, buffer, workers):
        split = nodes[node, [col.FEATURE, col.LAST_LEFT, col.MISSING_LEFT]]
        start, stop = int(nodes[node, col.START]), int(nodes[node, col.STOP])
        edges, borders = np.linspace(start, stop, workers + 1).astype(np.int64), np.empty(workers, np.int64)
        n_left = 0
        for o in range(self.n_orders):
            base = o * self.n_rows
            launch(PartitionBlocks(self, buffer, edges, borders, split, base, np.zeros(1, np.int64)), workers)
            rows = self.rows[base : base + self.n_rows]
            lefts = [rows[first:border] for first, border in zip(edges, borders, strict=False)]
            rights = [rows[border:last] for border, last in zip(borders, edges[1:], strict=True)]
            rows[start:stop] = np.concatenate(lefts + rights)
            n_left = sum(map(len, lefts))
        return start + n_left

    def divide_by_level(self, start, stop, codes, column, side, buffer):
        border = start
        for o in range(self.n_orders):
            border = partition_by_level(self.rows, o * self.n_rows, start, stop, codes, column, side, buffer)
        return border


@kernel_type
class PartitionBlocks(NamedTuple):
    """Divide blocks of a node's rows by their codes, each by whichever worker is free; the blocks are joined after."""

    splitter: object
    buffer: np.ndarray  # (workers, places, n) uint32
    edges: np.ndarray  # (n_blocks + 1,) int64
    borders: np.ndarray  # (n_blocks,) int64 out
    split: np.ndarray  # (3,) int64: feature, last code left, whether missing goes left
    base: int
    counter: np.ndarray

    def run(self, worker):
        splitter, feature = self.splitter, self.split[0]
        split = feature, self.split[1], splitter.n_codes[feature], self.split[2]
        while True:
            k = take_ticket(self.counter)
            if k >= len(self.borders):
                break
            buffer, edges = self.buffer[worker, 0], self.edges
            self.borders[k] = partition_rows(
                splitter.rows, self.base, edges[k], edges[k + 1], splitter.codes, split, buffer
            )


class NothingKept:
    """A splitter that prepares nothing for a node and hands nothing on."""

    __slots__ = ()

    def begin(self, growing, target, limits, own, node):
        pass

    def inherit(self, growing, target, own, node, left):
        pass

    def release(self, growing, own, node):
        pass


def _cut_after_first(splitter, job, scratch, f, node, below, above):
    return below, above


cut_between = by_type("cut_between", _cut_after_first)  # the last code left and the first one right


@inline
def _score_two_rows(target, splitter, job, scratch, node, first, last, total):
    """Look at a node of two rows: they can be parted in one way only, so the first feature that does it wins.

    A third of the nodes of a fully grown tree are such pairs. Returns how many features vary, at most one; -1 where it
    takes more than that to say whether a split is legal.
    """
    nodes, features = job.growing.nodes, scratch.features
    if nodes[node, col.STOP] - np.int64(nodes[node, col.START]) != 2 or not all_are_legal(job.limits):
        return -1
    for i in range(first, last):
        scratch.candidates.gain[features[i]] = NO_GAIN
    for i in range(first, last):
        if part_two_rows_by_code(target, splitter, job, scratch, node, features[i], total) == 1:
            return 1
    return 0


@inline
def part_two_rows_by_code(target, splitter, job, scratch, node, f, total):
    """Write the split of a node's only two rows by a feature; return 1 where they differ in it, else 0."""
    out, start = scratch.candidates, np.int64(job.growing.nodes[node, col.START])
    below, above = np.int64(splitter.rows[start]), np.int64(splitter.rows[start + 1])
    if splitter.codes[below, f] == splitter.codes[above, f]:
        return 0
    if splitter.codes[below, f] > splitter.codes[above, f]:
        below, above = above, below
    left = add(target, zero(target, scratch.work.left), below)
    right = rest(target, total, left, scratch.work.right)
    if split_score(target, job.criterion, left, right, scratch.work) > NO_GAIN:
        code, after = np.int64(splitter.codes[below, f]), np.int64(splitter.codes[above, f])
        missing_left = is_heavier(target, left, right)
        if after == splitter.n_codes[f]:  # the other has no value
            out.cut[f], after, missing_left = np.inf, np.int64(NOTHING), np.int64(0)
        else:
            code, after = cut_between(splitter, job, scratch, f, node, code, after)
        where = (np.int64(1), code, after, missing_left)
        record_split(out, f, target, job.criterion, left, right, scratch.work, where)
    return 1


@inline
def _not_at_once(target, splitter, job, scratch, node, first, last, total):
    return -1


score_two_rows = by_having("score", _score_two_rows, _not_at_once)
