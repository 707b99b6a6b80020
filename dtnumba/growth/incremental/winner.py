# mypy: ignore-errors
"""Which column has the best cut of a node: its own is always looked at, others where their ceilings let them win."""

import numpy as np

from dtnumba.criteria.contract import NO_GAIN, choose
from dtnumba.growth.incremental.ceilings import GAIN_SLACK, spread_lost
from dtnumba.growth.incremental.lists import MISSING_CODE
from dtnumba.growth.incremental.look import SORTED_ROWS, bound_cuts, gather, scan_all, scan_parts
from dtnumba.growth.incremental.node_sums import add_row, spread_of
from dtnumba.growth.incremental.state import OWN_TABLE, SHIFT
from dtnumba.growth.targets.contract import load, weight_of
from dtnumba.runtime.kernels import by_type, inline, outlined

# Columns are looked at row by row where they come so near to the best, in rows that go.
_AHEAD = 4.0


@inline
def weight_of_node(visit, node):
    """Return the weight of the rows of a node."""
    target = visit.job.target
    return weight_of(target, load(target, visit.nodes.sums[node, : target.n_stats], visit.scratch.work.total))


@outlined
def fill_column(visit, table, column, n):
    """Sum up the rows gathered by their codes of a column."""
    m = table.shape[1] - 1
    for b in range(table.shape[0]):
        for k in range(m + 1):
            table[b, k] = 0
    for i in range(n):
        row = np.int64(visit.rows[i])
        cell = table[visit.held.codes[row, column]]
        add_row(visit.job.target, visit.held, cell, row)
        cell[m] += 1


@inline
def shift_of(nodes, node, column):
    """Return by how much the cuts of a column may be worth more than when somebody looked."""
    slot = nodes.link[node, OWN_TABLE]
    return nodes.number[node, SHIFT] + (nodes.lost[slot, column] if slot >= 0 else 0.0)


def _no_category(splitter, column):
    return False


def _holds(splitter, column):
    return True


def _no_sums_by_level(splitter, visit, node, column, n, table):
    pass


def _no_levels(splitter, visit, column):
    pass


is_category, keeps_bounds = by_type("is_category", _no_category), by_type("keeps_bounds", _holds)
score_level_sums = by_type("score_level_sums", _no_sums_by_level)
note_left = by_type("note_left", _no_levels)


@outlined
def _look_at(visit, node, column, n, bar, lost):
    """Look for the best cut of a column if it may be worth ``bar``; return the most that the column is worth."""
    nodes, out = visit.nodes, visit.scratch.candidates
    out.gain[column] = NO_GAIN
    total = weight_of_node(visit, node)
    is_known = visit.job.limits.min_samples_leaf <= 1
    by_level = is_category(visit.job.splitter, column)
    if not by_level and (n < SORTED_ROWS or visit.is_bounded == 0):
        gather(visit, node)
        scan_all(visit, node, column, n)
        return total * max(out.gain[column], 0.0) if is_known and visit.is_bounded != 0 else np.inf
    slot = nodes.link[node, OWN_TABLE]
    if slot >= 0:
        table = nodes.tables[slot, column]
    else:
        table = visit.tables[column]
        fill_column(visit, table, column, gather(visit, node))
    if by_level:
        score_level_sums(visit.job.splitter, visit, node, column, n, table)
        found = total * max(out.gain[column], 0.0)
        return found + GAIN_SLACK * (found + total) if is_known and visit.is_bounded != 0 else np.inf
    spread = spread_of(visit.job.target, visit.job.criterion, visit.held, nodes.sums[node], visit.scratch.work.seen[0])
    best, sure = bound_cuts(visit, node, table, spread, visit.job.limits.min_samples_leaf)
    slack = GAIN_SLACK * (spread + total)
    bounds, part, some = visit.bounds, visit.part, np.int64(0)
    remembers = slot >= 0 and is_known
    shift = shift_of(nodes, node, column)
    if remembers:
        for b in range(MISSING_CODE):
            bounds[b, 0] = min(bounds[b, 0], nodes.inside[slot, column, b] + shift)
        best = -np.inf
        for b in range(MISSING_CODE):
            best = max(best, bounds[b, 0], bounds[b, 1])
    if best < bar:
        return best + slack
    bar = max(bar - lost, sure) - slack
    for b in range(MISSING_CODE + 1):
        part[b] = -1
        if b < MISSING_CODE and (bounds[b, 0] >= bar or bounds[b, 1] >= bar):
            part[b] = 0
            some += table[b, table.shape[1] - 1]
    visit.count[2] += some
    visit.count[3] += 1
    scan_parts(visit, node, column, n, table)
    if remembers:
        for b in range(MISSING_CODE):
            if part[b] >= 0:
                nodes.inside[slot, column, b] = total * visit.found[b] + slack - shift
    return max(total * out.gain[column], bar, 0.0) + slack if is_known else best + slack


@outlined
def look_for_winner(visit, node, n, own):
    """Fill the candidates of the columns that may win; return the winner, -1 where no column has a cut."""
    nodes, job, out, p = visit.nodes, visit.job, visit.scratch.candidates, visit.job.n_features
    weight = weight_of_node(visit, node)
    n_listed = 0
    nodes.ceiling[node, own] = _look_at(visit, node, own, n, -np.inf, 0.0) - shift_of(nodes, node, own)
    note_left(job.splitter, visit, own)
    best = weight * max(out.gain[own], 0.0)
    bar = best - GAIN_SLACK * (best + weight)
    lost = _AHEAD * spread_lost(job.criterion, job.target.unit, weight, visit.reach)
    for column in range(p):
        if column != own:
            out.gain[column] = NO_GAIN
            shift = shift_of(nodes, node, column)
            if nodes.ceiling[node, column] + shift < bar and keeps_bounds(job.splitter, column):
                continue
            nodes.ceiling[node, column] = _look_at(visit, node, column, n, bar, lost) - shift
            if out.gain[column] == NO_GAIN:
                continue
        visit.scratch.listed[n_listed] = column
        n_listed += 1
    winner = np.int64(choose(job.criterion, out.gain, out.information, visit.scratch.listed, n_listed))
    if not 0 <= winner < n_listed or out.gain[visit.scratch.listed[winner]] == NO_GAIN:
        return np.int64(-1)
    return visit.scratch.listed[winner]
