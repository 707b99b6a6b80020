# mypy: ignore-errors
"""Splits on categories: a child for each, the best subset against the rest, one against the rest, merged groups."""

import numpy as np

from dtnumba.criteria.contract import NO_GAIN, TIE
from dtnumba.growth.categories.ordering import normalise
from dtnumba.growth.categories.subset_search import MOST_TRIED
from dtnumba.growth.multiway import columns as col
from dtnumba.growth.multiway.node_sums import add_sums, are_equal, clear, copy_sums, rows_of, score, subtract, weight_of
from dtnumba.growth.multiway.splits.criterion_hooks import min_margin, selection_score
from dtnumba.growth.multiway.splits.group_categories import group_categories
from dtnumba.growth.multiway.splits.group_rows import groups_of
from dtnumba.growth.multiway.splits.judge_test import is_large
from dtnumba.growth.multiway.splits.merge_categories import merge_groups
from dtnumba.runtime.addresses import call_at
from dtnumba.runtime.kernels import entry, inline, outlined

_STEPS = 60  # of the power iteration; it stops where an axis moves no more
_STILL = 1e-12


@entry
def find_category_split(work, feature, node, _):
    """Write the split with a child for each category, its gain and information; return 1 where it varies, else 0."""
    copy_sums(work.grown.sums, node, work.scratch.sides, col.WHOLE)
    start, stop = work.grown.nodes[node, col.START], work.grown.nodes[node, col.STOP]
    if are_equal(work.codes[work.code_at[feature]], work.grown.row, start, stop):
        work.scratch.gain[feature], work.scratch.information[feature] = NO_GAIN, 0.0
        return np.int64(0)
    n, n_values = _begin(work, feature, node)
    if n_values > 0:
        _split_all(work, feature, n)
    return np.int64(n_values > 0)


@entry
def find_two_way_split(work, feature, node, _):
    """Write the best binary split of the categories, its gain and information; return 1 where it varies, else 0."""
    copy_sums(work.grown.sums, node, work.scratch.sides, col.WHOLE)
    n, n_values, is_sought = _begin_groups(work, feature, node)
    if is_sought:
        learns = work.rules.missing == col.LEARNED and rows_of(work.target, work.scratch.sides, col.MISSING_SUMS) > 0.0
        if _best_binary_split(work, n, learns):
            call_at(work.calls.judge, work, feature, np.int64(2), np.int64(learns))
    return np.int64(n_values > 0)


@entry
def find_merged_split(work, feature, node, _):
    """Write the split into merged groups of categories, its gain and information; return 1 where it varies, else 0."""
    copy_sums(work.grown.sums, node, work.scratch.sides, col.WHOLE)
    n, n_values, is_sought = _begin_groups(work, feature, node)
    if is_sought:
        n_children = merge_groups(work, n)
        if n_children > 0:
            call_at(work.calls.judge, work, feature, n_children, np.int64(0))
    return np.int64(n_values > 0)


@entry
def find_grouped_split(work, feature, node, _):
    """Write the split into groups of categories that pay for their number; return 1 where it varies, else 0.

    A column of two categories is split into these.
    """
    copy_sums(work.grown.sums, node, work.scratch.sides, col.WHOLE)
    n, n_values, is_sought = _begin_groups(work, feature, node)
    if is_sought and work.n_codes[feature] <= 2:
        _split_all(work, feature, n)
        work.scratch.fan[feature] = 3
    elif is_sought:
        group_categories(work, feature, n)
    return np.int64(n_values > 0)


@inline
def _begin(work, feature, node):
    """Return how many categories a node has, and 2 for several, 1 for one and missing values, 0 for nothing to split.

    Their sums are in scratch.table, their codes in scratch.code.
    """
    scratch, rules = work.scratch, work.rules
    scratch.gain[feature], scratch.information[feature], scratch.test[col.TESTED] = NO_GAIN, 0.0, feature
    scratch.test[col.N_TEST_CUTS] = 0
    n = scratch.test[col.N_GROUPS] = groups_of(work.context, feature, node)
    is_value = rows_of(work.target, scratch.sides, col.MISSING_SUMS) > 0.0 and (
        rules.missing in (col.LEARNED, col.BRANCH)
    )
    return n, np.int64(2 if n > 1 else n == 1 and is_value)


@inline
def _begin_groups(work, feature, node):
    """Return (categories of the node, 2, 1 or 0 as ``_begin`` says, whether their groups are still to be found).

    One category and missing values that have a child of their own are one split, which is judged here.
    """
    n, n_values = _begin(work, feature, node)
    if n_values == 1 and work.rules.missing == col.BRANCH:
        _split_all(work, feature, n)
        return n, n_values, False
    return n, n_values, n_values > 0


@inline
def _split_all(work, feature, n):
    """Give each of the n categories a child of its own, and judge that split."""
    for g in range(n):
        work.scratch.category_child[work.scratch.code[g]] = g
    call_at(work.calls.judge, work, feature, n, np.int64(0))


@outlined
def _best_binary_split(work, n, learns):
    """Write the best binary split of n categories; return False where none is legal.

    Candidate k on the left is a set of bits, the first k + 1 of an order, or category k alone.
    """
    scratch, sides, target, rules = work.scratch, work.scratch.sides, work.target, work.rules
    whole = col.WHOLE if learns else col.PRESENT_SUMS
    is_single = rules.categorical == col.ONE_CATEGORY
    in_order = not is_single and (rules.proven_order == 1 or n > MOST_TRIED)
    ahead = min_margin(work.criterion, 1.0) if is_single else 0.0
    for g in range(n):
        scratch.order[g] = g
    if in_order:
        _order_groups(work, n)
    # Of a set and its complement one is a candidate; all categories against the missing values are one more.
    n_tried = n if in_order or is_single else np.int64(1) << (n - 1)
    if is_single and learns and n > 1:
        n_tried += 1
    bar, scale, best, missing_is_left = NO_GAIN, 0.0, np.int64(-1), False
    for turn in range(2 if learns else 1):
        clear(sides, col.BELOW)
        for k in range(n_tried):
            if not in_order or k == 0:
                clear(sides, col.BELOW)
                if turn == 1:
                    copy_sums(sides, col.MISSING_SUMS, sides, col.BELOW)
            is_all = n in (1, k) if is_single else k == (n - 1 if in_order else 0)
            if k < n or not is_single:
                _add_candidate(scratch, n, k, in_order, is_single)
            if is_all and not in_order:
                copy_sums(sides, col.PRESENT_SUMS, sides, col.BELOW)
            if is_all and (not learns or turn == 1):
                continue
            subtract(sides, whole, col.BELOW, col.ABOVE)
            if is_all:
                copy_sums(sides, col.MISSING_SUMS, sides, col.ABOVE)
            if not is_large(work, sides, col.BELOW) or not is_large(work, sides, col.ABOVE):
                continue
            found = score(target, work.criterion, sides, col.BELOW, col.ABOVE)
            if is_single:
                found = _worth_of(work, found)
            if found > bar:
                scale = max(scale, abs(found))
                bar, best, missing_is_left = found + max(TIE * scale, ahead), np.int64(k), turn == 1
                copy_sums(sides, col.BELOW, sides, col.BEST_BELOW)
    if best >= 0:
        _write_binary_split(work, n, best, in_order, is_single, whole, learns, missing_is_left)
    return best >= 0


@inline
def _worth_of(work, found):
    """Return the selection score of one category against the rest, averaged over outputs."""
    scratch, sides, target, total = work.scratch, work.scratch.sides, work.target, 0.0
    below, above = weight_of(target, sides, col.BELOW), weight_of(target, sides, col.ABOVE)
    n_outputs, weight = len(target.offsets) - 1, weight_of(target, sides, col.WHOLE)
    for o in range(n_outputs):
        low, high = target.offsets[o], target.offsets[o + 1]
        own, rest = scratch.sides[col.BELOW, low:high], scratch.sides[col.ABOVE, low:high]
        total += selection_score(work.criterion, found, own, rest, below, above, weight)
    return total / n_outputs


@inline
def _add_candidate(scratch, n, k, in_order, is_single):
    """Add the categories of candidate k to the left side; in order, that is one more than the candidate before had."""
    if in_order or is_single:
        add_sums(scratch.table, scratch.order[k], scratch.sides, col.BELOW)
        return
    for g in range(n - 1):
        if (k >> g) & 1:
            add_sums(scratch.table, g, scratch.sides, col.BELOW)


@outlined
def _write_binary_split(work, n, best, in_order, is_single, whole, learns, missing_is_left):
    """Write the children of candidate ``best``; the lighter one comes first, but one category comes before the rest."""
    scratch, sides, target = work.scratch, work.scratch.sides, work.target
    subtract(sides, whole, col.BEST_BELOW, col.ABOVE)
    has_all = n in (1, best) if is_single else best == (n - 1 if in_order else 0)
    is_all = learns and has_all and not missing_is_left
    swaps = (
        not is_single and not is_all and weight_of(target, sides, col.BEST_BELOW) > weight_of(target, sides, col.ABOVE)
    )
    inside = np.int32(1 if swaps else 0)
    for k in range(n):
        if in_order:
            is_in = k <= best
        elif is_single:
            is_in = is_all or k == best
        else:
            is_in = is_all or (k < n - 1 and (best >> k) & 1 == 1)
        scratch.category_child[scratch.code[scratch.order[k]]] = inside if is_in else 1 - inside
    copy_sums(sides, col.BEST_BELOW, scratch.table, inside)
    copy_sums(sides, col.ABOVE, scratch.table, 1 - inside)
    if learns:
        scratch.test[col.MISSING_CHILD] = inside if missing_is_left else 1 - inside


@outlined
def _order_groups(work, n):
    """Order the groups by the share of the second class or by the mean; for more numbers, by their first component."""
    scratch, target = work.scratch, work.target
    first = np.int64(target.offsets[len(target.offsets) - 1])
    if first <= 2 and len(target.offsets) == 2:
        k = 1 if work.rules.of_classes == 1 else 0
        for g in range(n):
            scratch.place[g] = scratch.table[g, k] / scratch.table[g, first]
    else:
        _project(work, n, first)
    _sort_places(scratch, n)


@inline
def _project(work, n, width):
    """Write to scratch.place where the groups' shares (or means) lie along the axis on which they differ most.

    ``categories.ordering`` has this axis of integer sums, and stops elsewhere: other bits, so two kernels.
    """
    scratch, sides = work.scratch, work.scratch.sides
    centre, axis, moved = scratch.axes[0], scratch.axes[1], scratch.axes[2]
    for k in range(width):
        centre[k] = sides[col.PRESENT_SUMS, k] / sides[col.PRESENT_SUMS, width]
    # The axis to the group that is farthest out is a start that no symmetry keeps from the answer.
    farthest, most = np.int64(0), -1.0
    for g in range(n):
        away = 0.0
        for k in range(width):
            gap = scratch.table[g, k] / scratch.table[g, width] - centre[k]
            away += gap * gap
        if away * scratch.table[g, width] > most:
            farthest, most = np.int64(g), away * scratch.table[g, width]
    for k in range(width):
        axis[k] = scratch.table[farthest, k] / scratch.table[farthest, width] - centre[k]
    for _ in range(_STEPS):
        if work.halt[0] != 0:
            return
        for k in range(width):
            moved[k] = 0.0
        for g in range(n):
            along, weight = 0.0, scratch.table[g, width]
            for k in range(width):
                along += (scratch.table[g, k] / weight - centre[k]) * axis[k]
            for k in range(width):
                moved[k] += weight * along * (scratch.table[g, k] / weight - centre[k])
        if not normalise(moved, width):
            break
        change = 0.0
        for k in range(width):
            change += abs(moved[k] - axis[k])
            axis[k] = moved[k]
        if change < _STILL:
            break
    for g in range(n):
        along = 0.0
        for k in range(width):
            along += (scratch.table[g, k] / scratch.table[g, width] - centre[k]) * axis[k]
        scratch.place[g] = along


@inline
def _sort_places(scratch, n):
    """Sort order[:n] by place, equal places by category: Shell's sort, few lines to compile."""
    gap = np.int64(1)
    while gap < n:
        gap = gap * 9 // 4 + 1
    while gap > 0:
        for i in range(gap, n):
            place, group, j = scratch.place[i], scratch.order[i], np.int64(i)
            while j >= gap and (
                scratch.place[j - gap] > place or (scratch.place[j - gap] == place and scratch.order[j - gap] > group)
            ):
                scratch.place[j], scratch.order[j] = scratch.place[j - gap], scratch.order[j - gap]
                j -= gap
            scratch.place[j], scratch.order[j] = place, group
        gap = gap * 4 // 9
