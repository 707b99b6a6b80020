# mypy: ignore-errors
"""Splits of a node on a number: the best threshold, and what intervals and ranges have in common with it."""

from typing import NamedTuple

import numpy as np

from dtnumba.criteria.contract import NO_GAIN, TIE, score_of
from dtnumba.growth.multiway import columns as col
from dtnumba.growth.multiway.node_sums import (
    ClassSums,
    add_key,
    add_sums,
    clear,
    copy_sums,
    rows_of,
    score,
    score_in_place,
    subtract,
    weight_of,
)
from dtnumba.growth.multiway.ordered_columns import class_of, code_of, place_of
from dtnumba.growth.multiway.splits.criterion_hooks import penalised_gain
from dtnumba.growth.multiway.splits.entropy_cut import best_entropy_cut
from dtnumba.growth.multiway.splits.group_rows import fill_table, fits_table, in_order
from dtnumba.growth.multiway.splits.judge_test import is_heavy, is_large, is_long
from dtnumba.runtime.addresses import call_at
from dtnumba.runtime.kernels import by_class, by_having, entry, inline, outlined


class Line(NamedTuple):
    """What the cuts of a number at a node lie between: groups in ``scratch.table``, or else keys in order."""

    keys: np.ndarray
    first: int  # where those of the node begin
    n: int  # groups, or keys of rows that have a value
    in_table: bool
    start: int  # where the rows of the node are listed
    are_one: bool  # their weights


@entry
def find_threshold(work, feature, node, _):
    """Write the best threshold at a node, its gain and its information; return 1 where the number varies, else 0."""
    copy_sums(work.grown.sums, node, work.scratch.sides, col.WHOLE)
    start, stop = work.grown.nodes[node, col.START], work.grown.nodes[node, col.STOP]
    keys, first, in_table = work.scratch.keys, np.int64(0), fits_table(work.context, feature, stop - start)
    if in_table:
        n = fill_table(work.context, feature, node)
    else:
        keys, first, n = in_order(work.context, feature, node)
    line = Line(keys, first, n, in_table, start, work.grown.nodes[node, col.ARE_ONE] == 1)
    n_values = begin_line(work, feature, line)
    found = _threshold(work.criterion, work, line) if n_values == 2 else np.int64(0)
    return judge_line(work, feature, n_values, found, line)


@inline
def begin_line(work, feature, line):
    """Return 2 where a feature has several values, 1 for one and missing ones, else 0; no split is found yet."""
    scratch, rules, n = work.scratch, work.rules, line.n
    scratch.gain[feature], scratch.information[feature], scratch.test[col.TESTED] = NO_GAIN, 0.0, feature
    scratch.test[col.N_ALLOWED] = 0
    if n == 0:
        return np.int64(0)
    has_two = n > 1
    if not line.in_table:
        has_two = code_of(line.keys[line.first]) != code_of(line.keys[line.first + n - 1])
    is_value = rows_of(work.target, scratch.sides, col.MISSING_SUMS) > 0.0 and (
        rules.missing in (col.LEARNED, col.BRANCH)
    )
    return np.int64(2 if has_two else is_value)


@inline
def judge_line(work, feature, n_values, found, line):
    """Write gain and information of the split found; return 1 where the number varies, else 0."""
    if n_values == 1:
        code = work.scratch.code[0] if line.in_table else code_of(line.keys[line.first])
        found = _split_off_missing(work, code)
    if found != 0:
        call_at(work.calls.judge, work, feature, abs(found), np.int64(found < 0))
        scratch, weight = work.scratch, weight_of(work.target, work.scratch.sides, col.WHOLE)
        least = work.scratch.code[0] if line.in_table else code_of(line.keys[line.first])
        most = work.scratch.code[line.n - 1] if line.in_table else code_of(line.keys[line.first + line.n - 1])
        codes = least, scratch.cut[0, 0], scratch.cut[0, 1], most
        scratch.gain[feature] = penalised_gain(
            work.criterion, scratch.gain[feature], scratch.test[col.N_ALLOWED], weight, feature, codes
        )
    return np.int64(n_values > 0)


@inline
def write_one_cut(scratch, last, following):
    """Write the split at one threshold, between two codes; what lies below goes to child 0."""
    scratch.test[col.N_TEST_CUTS] = 1
    scratch.cut[0, 0], scratch.cut[0, 1] = last, following
    scratch.range_child[0], scratch.range_child[1] = 0, 1


@inline
def _split_off_missing(work, code):
    """Split the rows with the only value from those without; return how many children, 0 where that is not legal.

    The number is negative where the missing values are in the children already.
    """
    scratch = work.scratch
    write_one_cut(scratch, code, col.NOTHING)
    copy_sums(scratch.sides, col.PRESENT_SUMS, scratch.table, 0)
    if work.rules.missing == col.LEARNED:
        copy_sums(scratch.sides, col.MISSING_SUMS, scratch.table, 1)
        scratch.test[col.MISSING_CHILD] = 1
        return np.int64(-2 if score_of_kids(work) > NO_GAIN else 0)
    return np.int64(1)


@outlined
def score_of_kids(work):
    """Return the score of the first two children."""
    return score(work.target, work.criterion, work.scratch.table, 0, 1)


@outlined
def _best_with_missing(work, line):
    """Write the threshold of largest score, the first of equals, and on which side missing values are for it.

    Returns -2, as these are in both children already, or 0 where no threshold is legal.
    """
    scratch, sides, target = work.scratch, work.scratch.sides, work.target
    keys, first, n, in_table, start, one = line
    bar, scale, missing, is_found = NO_GAIN, 0.0, np.int64(0), False
    for turn in range(2):
        clear(sides, col.BELOW)
        if turn == 1:
            copy_sums(sides, col.MISSING_SUMS, sides, col.BELOW)
        i = np.int64(0)
        while i < n:
            if in_table:
                add_sums(scratch.table, i, sides, col.BELOW)
                last = scratch.code[i]
                i += 1
                following = scratch.code[i] if i < n else np.int64(col.NOTHING)
            else:
                last = following = code_of(keys[first + i])
                while following == last:
                    add_key(target, work, sides, col.BELOW, keys[first + i], start, one)
                    i += 1
                    following = code_of(keys[first + i]) if i < n else np.int64(col.NOTHING)
            if i == n:
                if turn == 1:
                    break
                copy_sums(sides, col.MISSING_SUMS, sides, col.ABOVE)
            else:
                subtract(sides, col.WHOLE, col.BELOW, col.ABOVE)
            if not is_large(work, sides, col.BELOW) or not is_large(work, sides, col.ABOVE):
                continue
            found = score(target, work.criterion, sides, col.BELOW, col.ABOVE)
            if found > bar:
                scale = max(scale, abs(found))
                bar, missing, is_found = found + TIE * scale, np.int64(1 - turn), True
                copy_sums(sides, col.BELOW, sides, col.BEST_BELOW)
                write_one_cut(scratch, last, following)
    if is_found:
        copy_sums(sides, col.BEST_BELOW, scratch.table, 0)
        for s in range(sides.shape[1]):
            scratch.table[1, s] = sides[col.WHOLE, s] - sides[col.BEST_BELOW, s]
        scratch.test[col.MISSING_CHILD] = missing
        return np.int64(-2)
    return np.int64(0)


@inline
def _cut_of_two(target, work, line):
    """Do as ``_cut_of_any`` for two classes: what changes from key to key are three numbers, not written to memory."""
    keys, first, n, in_table, start, one = line
    sides, limits, weights, table = work.scratch.sides, work.limits, work.grown.weight, work.scratch.table
    bar, scale, best, parts = NO_GAIN, 0.0, np.int64(-1), work.grown.part
    best_below, best_ones, best_rows = 0.0, 0.0, 0.0
    zeros, ones, rows = sides[col.PRESENT_SUMS, 0], sides[col.PRESENT_SUMS, 1], 0.0
    in_all, ones_below, below, all_rows = zeros + ones, 0.0, 0.0, rows_of(target, sides, col.PRESENT_SUMS)
    in_parts = len(parts) > 0 and not one
    for i in range(n - 1):
        if in_table:
            below += table[i, 2]
            rows += table[i, 3]
            ones_below += table[i, 1]
        else:
            key, weight, part = keys[first + i], 1.0, 1.0
            if not one:
                weight = weights[start + place_of(work, key)]
            if in_parts:
                part = parts[start + place_of(work, key)]
            below += weight
            rows += part
            ones_below += weight * class_of(work, key, start)
            if code_of(key) == code_of(keys[first + i + 1]):
                continue
        above, zeros_below = in_all - below, below - ones_below
        if not is_long(limits, rows) or not is_long(limits, all_rows - rows):
            continue
        if not is_heavy(limits, below) or not is_heavy(limits, above):
            continue
        others = (zeros - zeros_below, ones - ones_below)
        found = score_of(work.criterion, (zeros_below, ones_below), others, below, above)
        if found > bar:
            scale = max(scale, abs(found))
            bar, best = found + TIE * scale, np.int64(i)
            best_below, best_ones, best_rows = below, ones_below, rows
    own = sides[col.BELOW]
    own[0], own[1], own[2], own[3] = best_below - best_ones, best_ones, best_below, best_rows
    return best


@inline
def _cut_of_any(target, work, line):
    """Return the last group or key below the best cut, -1 where none is legal; side BELOW becomes its sums."""
    sides = work.scratch.sides
    keys, first, n, in_table, start, one = line
    bar, scale, best = NO_GAIN, 0.0, np.int64(-1)
    clear(sides, col.BELOW)
    for i in range(n - 1):
        if in_table:
            add_sums(work.scratch.table, i, sides, col.BELOW)
        else:
            add_key(target, work, sides, col.BELOW, keys[first + i], start, one)
            if code_of(keys[first + i]) == code_of(keys[first + i + 1]):
                continue
        for s in range(sides.shape[1]):
            sides[col.ABOVE, s] = sides[col.PRESENT_SUMS, s] - sides[col.BELOW, s]
        if not is_large(work, sides, col.BELOW) or not is_large(work, sides, col.ABOVE):
            continue
        found = score_in_place(target, work.criterion, sides, col.BELOW, col.ABOVE)
        if found > bar:
            scale = max(scale, abs(found))
            bar, best = found + TIE * scale, np.int64(i)
    clear(sides, col.BELOW)
    for i in range(best + 1):
        if in_table:
            add_sums(work.scratch.table, i, sides, col.BELOW)
        else:
            add_key(target, work, sides, col.BELOW, keys[first + i], start, one)
    return best


_cut_of_classes = by_class(lambda cls: cls is ClassSums, _cut_of_two, _cut_of_any)


@outlined
def _best_of_present(work, line):
    """Write the threshold of largest score for the rows that have a value; return 2, or 0 where none is legal."""
    scratch, sides, target = work.scratch, work.scratch.sides, work.target
    keys, first, _, in_table, _, _ = line
    is_two = work.rules.of_classes == 1 and len(target.offsets) == 2 and target.offsets[1] == 2
    best = _cut_of_classes(target, work, line) if is_two else _cut_of_any(target, work, line)
    if best < 0:
        return np.int64(0)
    if in_table:
        write_one_cut(scratch, scratch.code[best], scratch.code[best + 1])
    else:
        write_one_cut(scratch, code_of(keys[first + best]), code_of(keys[first + best + 1]))
    copy_sums(sides, col.BELOW, scratch.table, 0)
    for s in range(sides.shape[1]):
        scratch.table[1, s] = sides[col.PRESENT_SUMS, s] - sides[col.BELOW, s]
    return np.int64(2)


def _by_rows(criterion, work, line):
    return best_entropy_cut(work, line)


def _by_score(criterion, work, line):
    learns = work.rules.missing == col.LEARNED and rows_of(work.target, work.scratch.sides, col.MISSING_SUMS) > 0.0
    return _best_with_missing(work, line) if learns else _best_of_present(work, line)


_threshold = by_having("is_parted", _by_rows, _by_score)
