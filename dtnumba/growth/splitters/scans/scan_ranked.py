# mypy: ignore-errors
"""Splits by absolute error: the medians of both sides of every cut of a feature, in O(n log n) a node.

Fenwick trees over the ranks of a node's rows (see ``ranked``) hold weight and weighted target of each side of the cut,
and a median is a descent in one. The sums are integers, so a cut's cost does not depend on the order in which rows
crossed it.
"""

import numpy as np

from dtnumba.criteria.contract import NO_GAIN, information_of
from dtnumba.growth import columns as col
from dtnumba.growth.policies.monotonic import fits
from dtnumba.growth.splitters import candidates as cand
from dtnumba.growth.splitters.candidates import name_codes, varies
from dtnumba.runtime.kernels import by_having, inline
from dtnumba.tables.presort import MISSING, NEW, ROW

# Rows of Work.trees
LEFT_WEIGHT, LEFT_MOMENT, RIGHT_WEIGHT, RIGHT_MOMENT = range(4)


@inline
def scan_ranked(target, sequence, start, stop, node_start, feature, job, scratch, total):
    """Find the cut of least cost of rows that stand in the order of a feature, as ``scan_order`` does."""
    limits, work, out = job.limits, scratch.work, scratch.candidates
    out.gain[feature] = NO_GAIN
    end = stop
    while end > start and sequence[end - 1] & MISSING:
        end -= 1
    n_missing, n = stop - end, stop - start
    if end == start or (n_missing == 0 and not varies(sequence, start, end)):
        return cand.CONSTANT
    best_cost, best_i, best_side, whole = np.inf, np.int64(-1), 0, 0.0
    for side in range(2 if n_missing > 0 else 1):
        whole = _cut_costs(target, sequence, (start, stop, end), side, node_start, work, limits, feature)
        before = n_missing * side
        first = start + max(limits.min_samples_leaf - before - 1, 0)
        last = min(start + n - limits.min_samples_leaf - before, end if n_missing > 0 and side == 0 else end - 1)
        weight = np.int64(0)
        for i in range(end, stop if side == 1 else end):
            weight += np.int64(target.weights[sequence[i] & ROW])
        for i in range(start, last):
            weight += np.int64(target.weights[sequence[i] & ROW])
            if i < first or not (i + 1 == end or sequence[i + 1] & NEW):
                continue
            least = limits.min_weight_leaf
            heavy = float(weight) * target.unit >= least and float(total - weight) * target.unit >= least
            if work.costs[i - start] < best_cost and heavy:
                best_cost, best_i, best_side = work.costs[i - start], i, side
    if best_i < 0:
        return cand.BARREN
    _note(
        target, sequence, (start, stop, end), feature, job.criterion, total, out, (whole - best_cost, best_i, best_side)
    )
    return cand.FOUND


def score_ranked_codes(target, splitter, job, scratch, node, first, last, total):
    """Histogram codes: put the rows in the order of their codes, and walk them as an exact order."""
    start, stop = job.growing.nodes[node, col.START], job.growing.nodes[node, col.STOP]
    sequence, where, features = scratch.own.buffer, scratch.candidates.where, scratch.features
    varying = 0
    for i in range(first, last):
        f = features[i]
        _sort_by_code(splitter, f, start, stop, scratch.own.occupied, sequence)
        found = scan_ranked(target, sequence, 0, stop - start, start, f, job, scratch, total)
        varying += found != cand.CONSTANT
        if found == cand.FOUND:
            name_codes(where, splitter.codes, f)
    return varying


@inline
def _sort_by_code(splitter, f, start, stop, counts, sequence):
    """Counting sort of a node's rows by their codes, as records."""
    missing_code = splitter.n_codes[f]
    for code in range(missing_code + 2):
        counts[code] = 0
    for i in range(start, stop):
        counts[np.int64(splitter.codes[splitter.rows[i], f]) + 1] += 1
    for code in range(missing_code + 1):
        counts[code + 1] += counts[code]
    for i in range(start, stop):
        row = splitter.rows[i]
        code = np.int64(splitter.codes[row, f])
        sequence[counts[code]] = row | MISSING if code == missing_code else row
        counts[code] += 1
    for i in range(1, stop - start):
        before, here = sequence[i - 1] & ROW, sequence[i] & ROW
        if splitter.codes[before, f] != splitter.codes[here, f]:
            sequence[i] |= NEW


@inline
def _move(target, row, o, sign, weights, moments, n):
    """Add (or take away) a row at its rank."""
    k = target.rank[row, o] + 1
    while k <= n:
        weights[k] += sign * np.int64(target.weights[row])
        moments[k] += sign * target.moments[row, o]
        k += k & -k


@inline
def _cost(target, o, node_start, weights, moments, n, weight, moment):
    """Sum of w * |y - median| of what a pair of trees holds, given its totals."""
    step = 1
    while 2 * step <= n:
        step *= 2
    at, weight_before, moment_before = 0, np.int64(0), np.int64(0)
    while step > 0:
        if at + step <= n and 2 * (weight_before + weights[at + step]) < weight:
            at += step
            weight_before += weights[at]
            moment_before += moments[at]
        step //= 2
    median, weight_beyond = target.by_rank[node_start + at, o] if at < n else 0.0, 2 * weight_before - weight
    moment_beyond = moment - 2 * moment_before
    if target.unit == 1.0:
        # Whole, so that a row of weight two costs to the bit what two rows cost.
        return float(np.int64(np.rint(median / target.units[o])) * weight_beyond + moment_beyond) * target.units[o]
    return median * float(weight_beyond) * target.unit + float(moment_beyond) * target.units[o]


@inline
def _median(target, node_start, weights, n):
    """Return the median of what a tree holds, of the first output, centred: the middle of two where a half ends so."""
    step, whole, values, lower = 1, np.int64(0), target.by_rank, 0.0
    while 2 * step <= n:
        step *= 2
    k = n
    while k > 0:
        whole += weights[k]
        k -= k & -k
    for edge in range(2):  # the last rank before which there is less than a half, and at most a half
        at, size, before = 0, step, np.int64(0)
        while size > 0:
            if at + size <= n and 2 * (before + weights[at + size]) < whole + edge:
                at += size
                before += weights[at]
            size //= 2
        at = min(at, n - 1)
        if edge == 0:
            lower = values[node_start + at, 0]
    return lower / 2.0 + values[node_start + at, 0] / 2.0


@inline
def _medians_fit(rule, target, feature, row, node_start, trees, n):
    sign = rule.signs[feature]
    if sign == 0:
        return True
    offset = target.y[row, 0] - target.centred[row, 0]
    left = offset + _median(target, node_start, trees[LEFT_WEIGHT], n)
    return fits(rule, sign, left, offset + _median(target, node_start, trees[RIGHT_WEIGHT], n))


def _any_medians(rule, target, feature, row, node_start, trees, n):
    return True


medians_fit = by_having("in_order", _medians_fit, _any_medians)


@inline
def _cut_costs(target, sequence, span, side, node_start, work, limits, feature):
    """Write the cost of the cut after each record, averaged over outputs; return the cost without a cut.

    A cut that a monotonic constraint forbids costs infinitely much.
    """
    start, stop, end = span
    n, n_outputs, whole = stop - start, target.y.shape[1], 0.0
    trees = work.own
    for i in range(n):
        work.costs[i] = 0.0
    for o in range(n_outputs):
        for tree in range(4):
            for k in range(n + 1):
                trees[tree, k] = 0
        weight_left = moment_left = weight_right = moment_right = np.int64(0)
        for i in range(start, stop):
            row = sequence[i] & ROW
            _move(target, row, o, 1, trees[RIGHT_WEIGHT], trees[RIGHT_MOMENT], n)
            weight_right += np.int64(target.weights[row])
            moment_right += target.moments[row, o]
        whole += _cost(target, o, node_start, trees[RIGHT_WEIGHT], trees[RIGHT_MOMENT], n, weight_right, moment_right)
        for step in range(2):
            # Missing rows cross first where they go left; no cut stands between them.
            from_, to = (end, stop if side == 1 else end) if step == 0 else (start, end)
            for i in range(from_, to):
                row = sequence[i] & ROW
                _move(target, row, o, -1, trees[RIGHT_WEIGHT], trees[RIGHT_MOMENT], n)
                _move(target, row, o, 1, trees[LEFT_WEIGHT], trees[LEFT_MOMENT], n)
                weight, moment = np.int64(target.weights[row]), target.moments[row, o]
                weight_left, moment_left = weight_left + weight, moment_left + moment
                weight_right, moment_right = weight_right - weight, moment_right - moment
                if step == 1 and (i + 1 == end or sequence[i + 1] & NEW):
                    work.costs[i - start] += _cost(
                        target, o, node_start, trees[LEFT_WEIGHT], trees[LEFT_MOMENT], n, weight_left, moment_left
                    ) + _cost(
                        target, o, node_start, trees[RIGHT_WEIGHT], trees[RIGHT_MOMENT], n, weight_right, moment_right
                    )
                    if not medians_fit(limits.monotone, target, feature, row, node_start, trees, n):
                        work.costs[i - start] = np.inf
    for i in range(n):
        work.costs[i] /= n_outputs
    return whole / n_outputs


@inline
def _note(target, sequence, span, feature, criterion, total, out, found):
    start, stop, end = span
    saved, best_i, side = found
    n_missing = stop - end
    weight = np.int64(0)
    for i in range(start, best_i + 1):
        weight += target.weights[sequence[i] & ROW]
    for i in range(end, stop if side == 1 else end):
        weight += target.weights[sequence[i] & ROW]
    share = float(weight) / float(total)
    out.gain[feature] = max(saved, 0.0) / (float(total) * target.unit)  # below zero is rounding
    out.information[feature] = information_of(criterion, share) + information_of(criterion, 1.0 - share)
    n_left = best_i + 1 - start + n_missing * side
    after = np.int64(sequence[best_i + 1] & ROW) if best_i + 1 < end else np.int64(cand.NOTHING)
    missing_left = np.int64(side) if n_missing > 0 else np.int64(2 * weight > total)
    out.where[feature, 0] = n_left
    out.where[feature, 1] = np.int64(sequence[best_i] & ROW)
    out.where[feature, 2] = after
    out.where[feature, 3] = missing_left
