"""What splitters over codes share: rows in node order, divided by their codes. Mixed into the splitters."""

import numpy as np

from dtnumba._jit import by_having, by_type, jitable
from dtnumba.criteria import NO_GAIN
from dtnumba.growing import FEATURE, LAST_LEFT, MISSING_LEFT, START, STOP
from dtnumba.partition import partition_by_level, partition_rows
from dtnumba.scan import NOTHING, all_are_legal, is_heavier, record_split
from dtnumba.targets import add, rest, split_score, zero


class CodedRows:
    """Rows in node order, and their codes."""

    __slots__ = ()

    def row_at(self, i):
        return self.rows[i]

    def row_in_order(self, o, i):
        return self.rows[o * self.n_rows + i]

    def divide(self, job, scratch, node):
        nodes = job.growing.nodes
        f, start, stop = nodes[node, FEATURE], nodes[node, START], nodes[node, STOP]
        border = start
        for o in range(self.n_orders):
            border = partition_rows(
                self.rows,
                o * self.n_rows,
                start,
                stop,
                self.codes,
                f,
                nodes[node, LAST_LEFT],
                self.n_codes[f],
                nodes[node, MISSING_LEFT],
                scratch.own.buffer,
            )
        return border

    def divide_by_level(self, start, stop, codes, column, side, buffer):
        border = start
        for o in range(self.n_orders):
            border = partition_by_level(self.rows, o * self.n_rows, start, stop, codes, column, side, buffer)
        return border


class NothingKept:
    """Nothing is prepared for a node, and nothing handed on."""

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


def _look_at_two_rows(target, splitter, job, scratch, node, first, last, total):
    """Look at a node of two rows: they can be parted in one way only, so the first feature that does it wins.

    A third of the nodes of a fully grown tree are such pairs. Returns how many features vary, at most one; -1 where it
    takes more than that to say whether a split is legal.
    """
    nodes, features, out = job.growing.nodes, scratch.features, scratch.candidates
    start = np.int64(nodes[node, START])
    if nodes[node, STOP] - start != 2 or not all_are_legal(job.limits):
        return -1
    for i in range(first, last):
        out.gain[features[i]] = NO_GAIN
    for i in range(first, last):
        f, below, above = features[i], np.int64(splitter.rows[start]), np.int64(splitter.rows[start + 1])
        if splitter.codes[below, f] != splitter.codes[above, f]:
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
                record_split(
                    out, f, target, job.criterion, left, right, scratch.work, (np.int64(1), code, after, missing_left)
                )
            return 1
    return 0


def _not_at_once(target, splitter, job, scratch, node, first, last, total):
    return -1


jitable(_look_at_two_rows)
jitable(_not_at_once)
look_at_two_rows = by_having("score", _look_at_two_rows, _not_at_once)
