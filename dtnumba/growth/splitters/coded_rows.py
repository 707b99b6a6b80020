# mypy: ignore-errors
# ruff: noqa: D102
"""Rows in node order, divided by their codes: the base of all splitters over codes."""

import numpy as np

from dtnumba.criteria.contract import NO_GAIN
from dtnumba.growth import columns as col
from dtnumba.growth.splitters.candidates import NOTHING, all_are_legal, is_heavier, record_split
from dtnumba.growth.splitters.partition import partition_by_level, partition_rows
from dtnumba.growth.targets.contract import add, rest, split_score, zero
from dtnumba.runtime.kernels import by_having, by_type, inline
from dtnumba.runtime.records import replacing

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

    def shares_of_division(self, job, node):
        nodes = job.growing.nodes
        start, stop = np.int64(nodes[node, col.START]), np.int64(nodes[node, col.STOP])
        return start, stop if self.n_orders == 1 else start, 2 * (stop - start)

    def divide_share(self, job, scratch, node, first, last):
        nodes, f = job.growing.nodes, job.growing.nodes[node, col.FEATURE]
        split = (f, nodes[node, col.LAST_LEFT], self.n_codes[f], nodes[node, col.MISSING_LEFT])
        return partition_rows(self.rows, np.int64(0), first, last, self.codes, split, scratch.own.buffer)

    def finish_division(self, job, scratch, node, borders, step):
        return _join_blocks(self.rows, job.growing.nodes, node, borders, step, scratch.own.buffer)

    def divide_by_level(self, start, stop, codes, column, side, buffer):
        border = start
        for o in range(self.n_orders):
            border = partition_by_level(self.rows, o * self.n_rows, start, stop, codes, column, side, buffer)
        return border


@inline
def _join_blocks(rows, nodes, node, borders, step, buffer):
    """Put what went left in blocks of a node's rows before what went right, both in their order; return the border."""
    first, stop, k, n_right = np.int64(nodes[node, col.START]), np.int64(nodes[node, col.STOP]), 0, np.int64(0)
    at = first
    while first < stop:
        border, last = borders[k], min(first + step, stop)
        for i in range(border - first if at < first else 0):
            rows[at + i] = rows[first + i]
        at += border - first
        for i in range(last - border):
            buffer[n_right + i] = rows[border + i]
        n_right += last - border
        first, k = last, k + 1
    for i in range(n_right):
        rows[at + i] = buffer[i]
    return at


class NothingKept:
    """A splitter that prepares nothing for a node and hands nothing on."""

    __slots__ = ()

    def begin(self, growing, limits, own, node):
        return np.int64(-1)

    def inherit(self, growing, own, node, left):
        return np.int64(-1)

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
