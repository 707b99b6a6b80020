# mypy: ignore-errors
# ruff: noqa: D102
"""Changes go down the tree: each node on their way keeps its test, moves its cut, or is listed to be grown anew.

What a node does depends on its rows alone, so nodes that no row came to or left are as they were. A node on the way
looks for its best cut anew: always in the column that it tests, in others where their ceilings allow them to win. Where
the same column wins, the rows between the old cut and the new one leave one child and come to the other; where another
wins, the subtree is grown anew from its rows.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.growth.incremental.ceilings import spread_lost
from dtnumba.growth.incremental.lists import COMES, GOES, STANDS, RowLists, put_in, take_out
from dtnumba.growth.incremental.look import gather, lost_by_side
from dtnumba.growth.incremental.move_cut import move_cut
from dtnumba.growth.incremental.node_sums import add_row, spread_of
from dtnumba.growth.incremental.state import (
    BEST_GAIN,
    DIRTY,
    FEATURE,
    LEFT,
    N_FREE_TABLES,
    NODE_DEPTH,
    OWN_TABLE,
    SHIFT,
    FollowedNodes,
    free_below,
    give_up_table,
    new_list,
)
from dtnumba.growth.incremental.winner import fill_column, is_category, look_for_winner, shift_of, weight_of_node
from dtnumba.growth.nodes import Job, Scratch
from dtnumba.growth.targets.contract import NoOwn, is_pure, load, weight_of
from dtnumba.runtime.kernels import by_having, entry, inline, kernel_type, outlined
from dtnumba.runtime.records import own_copy
from dtnumba.tables.presort import ROW, SortScratch

# A node of at most so many rows is grown anew from them whatever changes.
FEW_ROWS = 16
# FollowedNodes of so many rows keep their tables.
KEPT_ROWS = 2048
# Where more rows go, all columns take the bound that holds for all.
_FEW_GO = 4


@kernel_type
class Listed(NamedTuple):
    """Rows of a node as those who read them see them."""

    rows: np.ndarray

    def row_at(self, i):
        return self.rows[i] & ROW

    def new_scratch(self, n, workers):
        return NoOwn()


class NodeVisit(NamedTuple):
    """What a visit reads and writes."""

    nodes: FollowedNodes
    held: RowLists
    job: Job
    scratch: Scratch
    sort: SortScratch
    sets: np.ndarray  # (k,) uint32: rows that come to a node and rows that leave it, one node's behind another's
    stack: np.ndarray  # (m, 4) int64: nodes to visit, each with where its sets are
    below: np.ndarray  # (m,) int64: a stack for walks below a node
    rows: np.ndarray  # (n,) uint32: rows of the node
    other: np.ndarray  # (n,) uint32: some of them, in the order of a column
    tables: np.ndarray  # (p, N_CODES, n_sums + 1) int64: of a node that keeps none
    bounds: np.ndarray  # (N_CODES, 2) float64: what cuts inside a code, and behind it, are worth at most
    right: np.ndarray  # (N_CODES + 1,) float64: spread of the codes from each on
    part: np.ndarray  # (N_CODES,) int64: where the rows of a code are in ``other``, or -1
    found: np.ndarray  # (N_CODES,) float64: the largest gain of a cut inside each code looked at
    inmost: np.ndarray  # (n_sums,) int64 scratch
    low: np.ndarray  # (n_sums + 1,) int64
    high: np.ndarray  # (n_sums + 1,) int64
    visited: np.ndarray  # (m,) int64 out
    listed: np.ndarray  # (m,) int64 out: to be grown anew
    count: np.ndarray  # (4,) int64 out: how many of each
    borders: np.ndarray  # (6,) int64: where the sets of both children begin, divide and end
    here: np.ndarray  # (4,) int64: where the sets of the node begin, divide and end; how many rows are gathered, or -1
    left: np.ndarray  # (4,) uint64, a bit a level: which go left by the best split of the column looked at
    reach: float  # how far targets lie apart
    is_bounded: int  # whether ceilings hold: of criteria that say what spread a row takes with it


@inline
def _count_in(visit, node, rows, first, last, sign):
    """Add rows sets[first:last] to the sums of a node, or take them away; to its tables, too, where it keeps them."""
    nodes, target, codes = visit.nodes, visit.job.target, visit.held.codes
    sums, slot = nodes.sums[node], nodes.link[node, OWN_TABLE]
    for i in range(first, last):
        for k in range(len(sums)):
            visit.low[k] = 0
        add_row(target, visit.held, visit.low, np.int64(rows[i]))
        for k in range(len(sums)):
            sums[k] += sign * visit.low[k]
    if slot < 0:
        return
    # A column after another: its codes lie side by side.
    for c in range(codes.shape[1]):
        table, inside = nodes.tables[slot, c], nodes.inside[slot, c]
        for i in range(first, last):
            row = np.int64(rows[i])
            for k in range(len(sums)):
                visit.low[k] = 0
            add_row(target, visit.held, visit.low, row)
            code = codes[row, c]
            inside[code] = np.inf
            for k in range(len(sums)):
                table[code, k] += sign * visit.low[k]
            table[code, len(sums)] += sign


@outlined
def _change_leaf(visit, node, first, border, last):
    """Take rows from the list of a leaf and add others to it."""
    nodes, rows, mark, pool = visit.nodes, visit.sets, visit.held.mark, visit.nodes.pool
    start, n = nodes.place[node, 0], nodes.n_rows[node]
    if last > border:
        to = start
        for i in range(start, start + n):
            if mark[pool[i]] != GOES:
                pool[to] = pool[i]
                to += 1
        n = to - start
    n_new = n + border - first
    if n_new > nodes.place[node, 1]:
        new_list(nodes, node, n_new, n_new // 4 + 2, 0)
        for i in range(n):
            pool[nodes.place[node, 0] + i] = pool[start + i]
        start = nodes.place[node, 0]
    for i in range(first, border):
        pool[start + n + i - first] = rows[i]
    nodes.n_rows[node] = n_new


@outlined
def _list_anew(visit, node, n):
    """List a node to be grown anew from the rows gathered; everything below is given up."""
    nodes = visit.nodes
    free_below(nodes, node, visit.below)
    if nodes.link[node, OWN_TABLE] >= 0:
        nodes.inside[nodes.link[node, OWN_TABLE], :, :] = np.inf
    if n < KEPT_ROWS:
        give_up_table(nodes, node)
    nodes.place[node, 1] = 0
    new_list(nodes, node, n, n // 4 + 2, np.int64(0))
    start = nodes.place[node, 0]
    for i in range(n):
        nodes.pool[start + i] = visit.rows[i]
    nodes.n_rows[node] = n
    visit.listed[visit.count[1]] = node
    visit.count[1] += 1


@inline
def _is_leaf_by_size(limits, n, depth):
    return n < limits.min_samples_split or n < 2 * limits.min_samples_leaf or depth >= limits.max_depth


def _gather_rows(target, visit, node):
    gather(visit, node)


def _no_rows_read(target, visit, node):
    pass


reads_rows = by_having("moments", _gather_rows, _no_rows_read)  # whether a node of numbers is pure, its rows tell


@inline
def _stays_leaf(visit, node, n):
    """Tell whether the limits or the targets make a node of n rows a leaf."""
    job = visit.job
    if _is_leaf_by_size(job.limits, n, visit.nodes.link[node, NODE_DEPTH]):
        return True
    total = load(job.target, visit.nodes.sums[node, : job.target.n_stats], visit.scratch.work.total)
    if weight_of(job.target, total) < 2.0 * job.limits.min_weight_leaf:
        return True
    return is_pure(job.target, total, Listed(visit.rows), np.int64(0), n)


@outlined
def _keep_tables(visit, node, n):
    """Give a large node tables of its own, from the rows gathered, where there are some left."""
    nodes = visit.nodes
    if nodes.used[N_FREE_TABLES] > 0:
        nodes.used[N_FREE_TABLES] -= 1
        slot = np.int64(nodes.free_slots[nodes.used[N_FREE_TABLES]])
        nodes.link[node, OWN_TABLE] = slot
        nodes.inside[slot, :, :], nodes.lost[slot, :] = np.inf, 0.0
        for c in range(visit.job.n_features):
            fill_column(visit, nodes.tables[slot, c], c, n)


@outlined
def _change_inner(visit, node, first, border, last, gained):
    """Change an inner node, whose sums are changed already and whose spread is larger by ``gained``."""
    nodes, job = visit.nodes, visit.job
    column = np.int64(nodes.link[node, FEATURE])
    n = nodes.n_rows[node] + (border - first) - (last - border)
    visit.here[0], visit.here[1], visit.here[2], visit.here[3] = first, border, last, -1
    if nodes.link[node, OWN_TABLE] < 0:
        gather(visit, node)
        if n >= KEPT_ROWS:
            _keep_tables(visit, node, n)
    if np.isfinite(gained) and visit.is_bounded != 0:
        nodes.number[node, SHIFT] += gained
    else:
        for k in range(job.n_features):
            nodes.ceiling[node, k] = np.inf
    end, winner = np.int64(-1), np.int64(-1)
    reads_rows(job.target, visit, node)
    is_leaf = _stays_leaf(visit, node, n)
    if n > FEW_ROWS and not is_leaf:
        winner = look_for_winner(visit, node, n, column)
        if winner == column:
            nodes.number[node, BEST_GAIN] = visit.scratch.candidates.gain[column]
            end = move_cut(visit, node, n, column, first, border, last)
    if end < 0:
        gather(visit, node)
        _list_anew(visit, node, n)
        if is_leaf:
            visit.count[1] -= 1
    nodes.n_rows[node] = n
    return end


@outlined
def _note_lost(visit, node, border, last, lost, gained):
    """Note of each column what rows that go may have taken from the spread of a side, of any cut.

    Columns far from the best take the bound that holds for all, as do categories.
    """
    nodes, slot = visit.nodes, np.int64(visit.nodes.link[node, OWN_TABLE])
    best = nodes.number[node, BEST_GAIN] * weight_of_node(visit, node)
    for c in range(visit.job.n_features):
        is_far = nodes.ceiling[node, c] + shift_of(nodes, node, c) + gained + lost < best - 4.0 * lost
        if is_far or is_category(visit.job.splitter, c):
            nodes.lost[slot, c] += lost
            continue
        for i in range(border, last):
            row = np.int64(visit.sets[i])
            nodes.lost[slot, c] += lost_by_side(visit, nodes.tables[slot, c], row, visit.held.codes[row, c], lost)


@outlined
def _visit_node(visit, node, first, border, last):
    """Change a node by rows sets[first:border] that come and sets[border:last] that go; return where sets end then.

    ``visit.borders`` say what its children are to be visited with, where the result is not -1.
    """
    nodes, job, rows, mark = visit.nodes, visit.job, visit.sets, visit.held.mark
    target = job.target
    for i in range(first, border):
        mark[rows[i]] = COMES
    for i in range(border, last):
        mark[rows[i]] = GOES
    # How much spread the node has gained bounds what any cut has.
    gained = -spread_of(target, job.criterion, visit.held, nodes.sums[node], visit.scratch.work.seen[0])
    weight = weight_of_node(visit, node)
    _count_in(visit, node, rows, first, border, 1)
    both = weight_of_node(visit, node)
    _count_in(visit, node, rows, border, last, -1)
    gained += spread_of(target, job.criterion, visit.held, nodes.sums[node], visit.scratch.work.seen[0])
    if last > border:
        lost = spread_lost(job.criterion, both - weight_of_node(visit, node), max(both, weight), visit.reach)
        if nodes.link[node, OWN_TABLE] < 0 or visit.is_bounded == 0 or last - border > _FEW_GO:
            gained += lost
        else:
            _note_lost(visit, node, border, last, lost, gained)
    end = np.int64(-1)
    if nodes.link[node, LEFT] >= 0:
        end = _change_inner(visit, node, first, border, last, gained)
    else:
        _change_leaf(visit, node, first, border, last)
        n, start = nodes.n_rows[node], nodes.place[node, 0]
        for i in range(n):
            visit.rows[i] = nodes.pool[start + i]
        if not _stays_leaf(visit, node, n):
            _list_anew(visit, node, n)
    for i in range(first, last):
        mark[rows[i]] = STANDS
    return end


@entry
def visit_tree(visit, n_came, n_went, _):
    """Change a tree by rows sets[:n_came] that come and the n_went behind them that go."""
    own = own_copy(visit)
    nodes, stack, top = own.nodes, own.stack, np.int64(1)
    put_in(own.held, own.sets, n_came)
    take_out(own.held, own.sets[n_came:], n_went)
    own.count[0] = own.count[1] = 0
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, 0, n_came, n_came + n_went
    while top > 0:
        top -= 1
        node, last = stack[top, 0], stack[top, 3]
        own.visited[own.count[0]] = node
        own.count[0] += 1
        nodes.link[node, DIRTY] = 1
        if _visit_node(own, node, stack[top, 1], stack[top, 2], last) < 0:
            continue
        # The right child is visited first; its sets lie behind those of the left one, which are kept as long.
        for side in range(2):
            begin, middle, end = own.borders[3 * side], own.borders[3 * side + 1], own.borders[3 * side + 2]
            if end > begin:
                stack[top, 0], stack[top, 1] = nodes.link[node, LEFT] + side, begin
                stack[top, 2], stack[top, 3] = middle, end
                top += 1
    return np.int64(0)
