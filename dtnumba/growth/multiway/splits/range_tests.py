# mypy: ignore-errors
"""Splits of a node on a number: ranges between cuts that pay for their description (Fayyad & Irani 1993)."""

import math

import numpy as np

from dtnumba.growth.multiway import columns as col
from dtnumba.growth.multiway.node_sums import add_key, clear, copy_sums, subtract, weight_of
from dtnumba.growth.multiway.ordered_columns import code_of
from dtnumba.growth.multiway.splits.group_rows import in_order
from dtnumba.growth.multiway.splits.judge_test import is_large
from dtnumba.growth.multiway.splits.number_tests import Line, begin_line, judge_line
from dtnumba.runtime.kernels import entry, outlined


@entry
def find_ranges(work, feature, node, _):
    """Write the ranges that pay for their cuts, their gain and information; return 1 where it varies, else 0."""
    copy_sums(work.grown.sums, node, work.scratch.sides, col.WHOLE)
    keys, first, n = in_order(work.context, feature, node)
    line = Line(keys, first, n, False, work.grown.nodes[node, col.START], work.grown.nodes[node, col.ARE_ONE] == 1)
    n_values = begin_line(work, feature, line)
    found = _ranges(work, line) if n_values == 2 else np.int64(0)
    return judge_line(work, feature, n_values, found, line)


@outlined
def _weighted_entropy(target, sums, k):
    """Return the weight times the entropy of sums[k] in bits, and how many classes it has."""
    weight, n_present = weight_of(target, sums, k), 0
    spread = weight * math.log2(weight) if weight > 0.0 else 0.0
    for c in range(target.offsets[1]):
        if sums[k, c] > 0.0:
            spread -= sums[k, c] * math.log2(sums[k, c])
            n_present += 1
    return spread, n_present


@outlined
def _pays(n_whole, whole, weight, n_below, below, weight_below, n_above, above, weight_above):
    """Tell whether a cut saves more than it takes to describe it (Fayyad & Irani 1993), in bits of all rows."""
    if weight <= 1.0:
        return False
    choices = math.log2(3.0**n_whole - 2.0) if n_whole < 30 else n_whole * math.log2(3.0)
    change = n_whole * whole / weight - n_below * below / weight_below - n_above * above / weight_above
    return whole - below - above > math.log2(weight - 1.0) + choices - change


@outlined
def _ranges(work, line):
    """Write the ranges between the cuts that pay, each a child; return how many there are, 0 where no cut pays.

    The sorted rows are cut in two where that saves description, and then both parts, until nothing is saved.
    """
    scratch, target, n_cuts, top = work.scratch, work.target, np.int64(0), np.int64(2)
    keys, n, start, one = line.keys, line.n, line.start, line.are_one
    waiting, cuts = scratch.order, scratch.fill  # (first, stop) of parts not looked at; places of the cuts, ascending
    most = np.int64(len(cuts) - 2)
    waiting[0], waiting[1] = line.first, line.first + n
    while top > 0 and work.halt[0] == 0:
        top -= 2
        low, high = waiting[top], waiting[top + 1]
        at = _best_paying_cut(work, line, low, high)
        if at > 0 and n_cuts + 1 < most // 2:
            j = n_cuts
            while j > 0 and cuts[j - 1] > at:
                cuts[j] = cuts[j - 1]
                j -= 1
            cuts[j] = at
            n_cuts += 1
            waiting[top], waiting[top + 1] = low, at
            waiting[top + 2], waiting[top + 3] = at, high
            top += 4
    if n_cuts == 0:
        return np.int64(0)
    for k in range(n_cuts):
        at = cuts[k]
        scratch.cut[k, 0], scratch.cut[k, 1] = code_of(keys[at - 1]), code_of(keys[at])
    for k in range(n_cuts + 1):
        scratch.range_child[k] = k
        clear(scratch.table, k)
        for i in range(cuts[k - 1] if k > 0 else line.first, cuts[k] if k < n_cuts else line.first + n):
            add_key(target, work, scratch.table, k, keys[i], start, one)
    scratch.test[col.N_TEST_CUTS] = n_cuts
    return n_cuts + 1


@outlined
def _best_paying_cut(work, line, low, high):
    """Return where the cut of least entropy among keys[low:high] is, 0 where it does not pay."""
    sides, target = work.scratch.sides, work.target
    keys, start, one = line.keys, line.start, line.are_one
    clear(sides, col.ABOVE)
    for i in range(low, high):
        add_key(target, work, sides, col.ABOVE, keys[i], start, one)
    copy_sums(sides, col.ABOVE, sides, col.BEST_BELOW)
    whole, n_whole = _weighted_entropy(target, sides, col.ABOVE)
    clear(sides, col.BELOW)
    best, least, is_paid = np.int64(0), math.inf, False
    if n_whole < 2:
        return best
    for i in range(low, high - 1):
        add_key(target, work, sides, col.BELOW, keys[i], start, one)
        if code_of(keys[i]) == code_of(keys[i + 1]):
            continue
        subtract(sides, col.BEST_BELOW, col.BELOW, col.ABOVE)
        if not is_large(work, sides, col.BELOW) or not is_large(work, sides, col.ABOVE):
            continue
        below, n_below = _weighted_entropy(target, sides, col.BELOW)
        above, n_above = _weighted_entropy(target, sides, col.ABOVE)
        if below + above < least - 1e-12 * whole:
            least, best = below + above, np.int64(i + 1)
            weight = weight_of(target, sides, col.BEST_BELOW)
            weight_below, weight_above = weight_of(target, sides, col.BELOW), weight_of(target, sides, col.ABOVE)
            is_paid = _pays(n_whole, whole, weight, n_below, below, weight_below, n_above, above, weight_above)
    return best if is_paid else np.int64(0)
