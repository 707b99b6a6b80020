"""Tests on a category: a child a level, the best of all two-way divisions of the levels, one level against the rest."""

import numpy as np

from dtnumba._jit import call_at, inline, kernel
from dtnumba.criteria import NO_GAIN, TIE
from dtnumba.growers.candidates import is_large
from dtnumba.growers.cases import (
    ABOVE,
    BELOW,
    BEST_BELOW,
    BRANCH,
    GONE,
    KNOWN,
    LEARNED,
    MISSING_CHILD,
    N_GROUPS,
    N_TEST_CUTS,
    ONE_VS_REST,
    TESTED,
    WHOLE,
)
from dtnumba.growers.groups import groups_of
from dtnumba.growers.merging import merge_levels
from dtnumba.growers.prices import lead, worth
from dtnumba.growers.sums import add_sums, clear, copy_sums, rows_of, score, subtract, weight_of

# Up to so many levels at a node all divisions are tried where no order of the levels is proven to hold the best.
EXHAUSTIVE = 8
_STEPS = 60  # of the power iteration; it stops where an axis moves no more
_STILL = 1e-12


@kernel
def look_at_each_level(work, feature, start, stop):
    """Write the test with a child a level, its gain and its information; return 1 where the category varies, else 0."""
    if _is_one_level(work, feature, start, stop):
        work.desk.gain[feature], work.desk.information[feature] = NO_GAIN, 0.0
        return np.int64(0)
    n, n_values = _begin(work, feature, start, stop)
    if n_values > 0:
        _part_all(work, feature, n)
    return np.int64(n_values > 0)


@kernel
def look_at_two_sides(work, feature, start, stop):
    """Do as ``look_at_each_level`` for the best division of the levels into two sides."""
    n, n_values = _begin(work, feature, start, stop)
    if n_values == 1 and work.rules.missing == BRANCH:
        _part_all(work, feature, n)
    elif n_values > 0:
        learns = work.rules.missing == LEARNED and rows_of(work.target, work.desk.sides, GONE) > 0.0
        if _two_way(work, n, learns):
            call_at(work.calls.judge, work, feature, np.int64(2), np.int64(learns))
    return np.int64(n_values > 0)


@kernel
def look_at_merged_levels(work, feature, start, stop):
    """Do as ``look_at_each_level`` for groups of levels."""
    n, n_values = _begin(work, feature, start, stop)
    if n_values == 1 and work.rules.missing == BRANCH:
        _part_all(work, feature, n)
    elif n_values > 0:
        n_children = merge_levels(work, n)
        if n_children > 0:
            call_at(work.calls.judge, work, feature, n_children, np.int64(0))
    return np.int64(n_values > 0)


@inline
def _begin(work, feature, start, stop):
    """Sum up the levels; return their number, and whether there are two, one and missing values (1), or no test."""
    desk, rules = work.desk, work.rules
    desk.gain[feature], desk.information[feature], desk.test[TESTED] = NO_GAIN, 0.0, feature
    desk.test[N_TEST_CUTS] = 0
    n = desk.test[N_GROUPS] = groups_of(work.ground, feature, start, stop)
    is_value = rows_of(work.target, desk.sides, GONE) > 0.0 and (rules.missing in (LEARNED, BRANCH))
    return n, np.int64(2 if n > 1 else n == 1 and is_value)


@inline
def _part_all(work, feature, n):
    for g in range(n):
        work.desk.child[work.desk.code[g]] = g
    call_at(work.calls.judge, work, feature, n, np.int64(0))


@inline
def _is_one_level(work, feature, start, stop):
    """Tell whether all rows have one level, as they do below a node that has parted it: quicker than to sum them."""
    codes, rows = work.codes, work.grown.row
    first = codes[feature, rows[start]]
    for i in range(start + 1, stop):
        if codes[feature, rows[i]] != first:
            return False
    return True


@kernel
def _two_way(work, n, learns):
    """Choose the levels of the left child: as a bit set, a prefix of an order, or one level; tell whether any may."""
    desk, sides, target, rules = work.desk, work.desk.sides, work.target, work.rules
    whole = WHOLE if learns else KNOWN
    is_single = rules.categorical == ONE_VS_REST
    in_order = not is_single and (rules.proven_order == 1 or n > EXHAUSTIVE)
    ahead = lead(work.criterion, 1.0) if is_single else 0.0
    for g in range(n):
        desk.order[g] = g
    if in_order:
        _order_groups(work, n)
    # Of each pair of a set and what it leaves, one is looked at; all levels against the missing values are one more.
    n_tried = n if in_order or is_single else np.int64(1) << (n - 1)
    if is_single and learns and n > 1:
        n_tried += 1
    bar, scale, best, with_gone = NO_GAIN, 0.0, np.int64(-1), False
    for turn in range(2 if learns else 1):
        clear(sides, BELOW)
        for k in range(n_tried):
            if not in_order or k == 0:
                clear(sides, BELOW)
                if turn == 1:
                    copy_sums(sides, GONE, sides, BELOW)
            is_all = n in (1, k) if is_single else k == (n - 1 if in_order else 0)
            if k < n or not is_single:
                _put_levels(desk, n, k, in_order, is_single)
            if is_all and not in_order:
                copy_sums(sides, KNOWN, sides, BELOW)
            if is_all and (not learns or turn == 1):
                continue
            subtract(sides, whole, BELOW, ABOVE)
            if is_all:
                copy_sums(sides, GONE, sides, ABOVE)
            if not is_large(work, sides, BELOW) or not is_large(work, sides, ABOVE):
                continue
            found = score(target, work.criterion, sides, BELOW, ABOVE)
            if is_single:
                found = _worth_of(work, found)
            if found > bar:
                scale = max(scale, abs(found))
                bar, best, with_gone = found + max(TIE * scale, ahead), np.int64(k), turn == 1
                copy_sums(sides, BELOW, sides, BEST_BELOW)
    if best >= 0:
        _write_two_way(work, n, best, in_order, is_single, whole, learns, with_gone)
    return best >= 0


@inline
def _worth_of(work, found):
    """Return what a level against the rest is chosen by, averaged over outputs."""
    desk, sides, target, total = work.desk, work.desk.sides, work.target, 0.0
    below, above = weight_of(target, sides, BELOW), weight_of(target, sides, ABOVE)
    n_outputs, weight = len(target.offsets) - 1, weight_of(target, sides, WHOLE)
    for o in range(n_outputs):
        low, high = target.offsets[o], target.offsets[o + 1]
        own, rest = desk.sides[BELOW, low:high], desk.sides[ABOVE, low:high]
        total += worth(work.criterion, found, own, rest, below, above, weight)
    return total / n_outputs


@inline
def _put_levels(desk, n, k, in_order, is_single):
    """Add to the left side the levels of candidate k: in order one more, else those of its bits."""
    if in_order or is_single:
        add_sums(desk.table, desk.order[k], desk.sides, BELOW)
        return
    for g in range(n - 1):
        if (k >> g) & 1:
            add_sums(desk.table, g, desk.sides, BELOW)


@kernel
def _write_two_way(work, n, best, in_order, is_single, whole, learns, with_gone):
    """Write the children of the best division; the lighter one comes first, but for one level against the rest."""
    desk, sides, target = work.desk, work.desk.sides, work.target
    subtract(sides, whole, BEST_BELOW, ABOVE)
    has_all = n in (1, best) if is_single else best == (n - 1 if in_order else 0)
    is_all = learns and has_all and not with_gone
    swaps = not is_single and not is_all and weight_of(target, sides, BEST_BELOW) > weight_of(target, sides, ABOVE)
    inside = np.int32(1 if swaps else 0)
    for k in range(n):
        if in_order:
            is_in = k <= best
        elif is_single:
            is_in = is_all or k == best
        else:
            is_in = is_all or (k < n - 1 and (best >> k) & 1 == 1)
        desk.child[desk.code[desk.order[k]]] = inside if is_in else 1 - inside
    copy_sums(sides, BEST_BELOW, desk.table, inside)
    copy_sums(sides, ABOVE, desk.table, 1 - inside)
    if learns:
        desk.test[MISSING_CHILD] = inside if with_gone else 1 - inside


@kernel
def _order_groups(work, n):
    """Order the groups by the share of the second class or by the mean, of more numbers by their first component."""
    desk, target = work.desk, work.target
    first = np.int64(target.offsets[len(target.offsets) - 1])
    if first <= 2 and len(target.offsets) == 2:
        k = 1 if work.rules.of_classes == 1 else 0
        for g in range(n):
            desk.place[g] = desk.table[g, k] / desk.table[g, first]
    else:
        _project(work, n, first)
    _sort_places(desk, n)


@inline
def _project(work, n, width):
    """Write where the groups' shares (or means) lie along the axis on which they differ most."""
    desk, sides = work.desk, work.desk.sides
    centre, axis, moved = desk.axes[0], desk.axes[1], desk.axes[2]
    for k in range(width):
        centre[k] = sides[KNOWN, k] / sides[KNOWN, width]
    # The axis to the group that is farthest out is a start that no symmetry keeps from the answer.
    farthest, most = np.int64(0), -1.0
    for g in range(n):
        away = 0.0
        for k in range(width):
            gap = desk.table[g, k] / desk.table[g, width] - centre[k]
            away += gap * gap
        if away * desk.table[g, width] > most:
            farthest, most = np.int64(g), away * desk.table[g, width]
    for k in range(width):
        axis[k] = desk.table[farthest, k] / desk.table[farthest, width] - centre[k]
    for _ in range(_STEPS):
        for k in range(width):
            moved[k] = 0.0
        for g in range(n):
            along, weight = 0.0, desk.table[g, width]
            for k in range(width):
                along += (desk.table[g, k] / weight - centre[k]) * axis[k]
            for k in range(width):
                moved[k] += weight * along * (desk.table[g, k] / weight - centre[k])
        length, change = 0.0, 0.0
        for k in range(width):
            length += moved[k] * moved[k]
        if length <= 0.0:
            break
        length = np.sqrt(length)
        for k in range(width):
            change += abs(moved[k] / length - axis[k])
            axis[k] = moved[k] / length
        if change < _STILL:
            break
    for g in range(n):
        along = 0.0
        for k in range(width):
            along += (desk.table[g, k] / desk.table[g, width] - centre[k]) * axis[k]
        desk.place[g] = along


@inline
def _sort_places(desk, n):
    """Sort order[:n] by place, equal places by level: Shell's sort."""
    gap = np.int64(1)
    while gap < n:
        gap = gap * 9 // 4 + 1
    while gap > 0:
        for i in range(gap, n):
            place, group, j = desk.place[i], desk.order[i], np.int64(i)
            while j >= gap and (
                desk.place[j - gap] > place or (desk.place[j - gap] == place and desk.order[j - gap] > group)
            ):
                desk.place[j], desk.order[j] = desk.place[j - gap], desk.order[j - gap]
                j -= gap
            desk.place[j], desk.order[j] = place, group
        gap = gap * 4 // 9
