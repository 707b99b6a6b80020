# mypy: ignore-errors
"""Gain and information of a split from the sums of its children, whatever its missing values do."""

import numpy as np

from dtnumba.criteria.contract import NO_GAIN, TIE, information_of
from dtnumba.growth.multiway import columns as col
from dtnumba.growth.multiway.node_sums import add_sums, copy_sums, gain, rows_of, score, weight_of
from dtnumba.runtime.kernels import entry, inline

# More children than this are not tried one by one as the place of missing values: these go to the heaviest.
_MOST_TRIED = 256
# Weights are sums of floats: one that lacks so small a share of a limit meets it.
_HAIR = 1.0 + 1e-12


@inline
def is_heavy(limits, weight):
    """Tell whether a leaf may have such a weight."""
    return weight * _HAIR >= limits.min_weight_leaf


@inline
def is_long(limits, rows):
    """Tell whether a leaf may have so many rows, of which parts count as what they are."""
    return rows * _HAIR >= limits.min_samples_leaf


@inline
def is_large(work, sums, k):
    """Tell whether sums[k] may be a leaf."""
    limits, target = work.limits, work.target
    return is_heavy(limits, weight_of(target, sums, k)) and is_long(limits, rows_of(target, sums, k))


@inline
def _n_small(work, kids, n):
    """Return how many of kids[:n] may not be leaves, and the last one of them."""
    small, last = np.int64(0), np.int64(-1)
    for v in range(n):
        if not is_large(work, kids, v):
            small += 1
            last = np.int64(v)
    return small, last


@inline
def _is_legal(work, n, n_small):
    return n - n_small >= 2 if work.rules.two_suffice else n_small == 0


@inline
def heaviest_of(target, kids, n):
    """Return the heaviest of kids[:n], the last one of equals."""
    heaviest = np.int64(0)
    for v in range(1, n):
        if weight_of(target, kids, v) >= weight_of(target, kids, heaviest):
            heaviest = np.int64(v)
    return heaviest


@inline
def _no_side_is_void(work, kids, n, whole):
    """Tell whether the criterion allows each child against the others: of counts, none may sum to zero."""
    sides = work.scratch.sides
    if work.rules.of_classes == 1:
        return True
    for v in range(n):
        copy_sums(kids, v, sides, col.BELOW)
        for s in range(sides.shape[1]):
            sides[col.ABOVE, s] = sides[whole, s] - sides[col.BELOW, s]
        if score(work.target, work.criterion, sides, col.BELOW, col.ABOVE) == NO_GAIN:
            return False
    return True


@entry
def judge(work, feature, n, is_placed):
    """Write gain and information of a split with the children table[:n]; return 1 where it is legal, else 0.

    ``is_placed`` (1 or 0): missing values are in the children already, in number MISSING_CHILD. Otherwise the children
    hold rows with values, and this places the others as the rules say.
    """
    scratch, rules, target = work.scratch, work.rules, work.target
    kids, sides, test, whole = scratch.table, scratch.sides, scratch.test, col.WHOLE
    gone, share, of_unknown = weight_of(target, sides, col.MISSING_SUMS), 1.0, 0.0
    test[col.N_CHILDREN] = n
    scratch.gain[feature] = NO_GAIN
    n_small, last_small = _n_small(work, kids, n)
    if is_placed == 1:
        pass
    elif gone > 0.0 and rules.missing == col.LEARNED:
        chosen = _best_place(work, kids, n, n_small, last_small)
        if chosen < 0:
            return np.int64(0)
        test[col.MISSING_CHILD] = chosen
        add_sums(sides, col.MISSING_SUMS, kids, chosen)
        n_small -= n_small > 0 and is_large(work, kids, chosen) and last_small == chosen
    elif gone > 0.0 and rules.missing == col.BRANCH and is_large(work, sides, col.MISSING_SUMS):
        copy_sums(sides, col.MISSING_SUMS, kids, n)
        test[col.MISSING_CHILD] = n
        n += 1
        test[col.N_CHILDREN] = n
    else:
        test[col.MISSING_CHILD] = heaviest_of(target, kids, n)
        whole = col.PRESENT_SUMS
        share = weight_of(target, sides, col.PRESENT_SUMS) / weight_of(target, sides, col.WHOLE)
        if rules.missing == col.FRACTIONAL:
            of_unknown = gone / weight_of(target, sides, col.WHOLE)
    if n < 2 or not _is_legal(work, n, n_small) or not _no_side_is_void(work, kids, n, whole):
        return np.int64(0)
    found = gain(target, work.criterion, sides, whole, kids, scratch.group_weight, n) * share
    total = weight_of(target, sides, whole)
    information = information_of(work.criterion, of_unknown)
    for v in range(n):
        part_of = scratch.group_weight[v] / total
        information += information_of(work.criterion, part_of * share if of_unknown > 0.0 else part_of)
    scratch.gain[feature], scratch.information[feature] = found, information
    return np.int64(1)


@inline
def _best_place(work, kids, n, n_small, last_small):
    """Return the child with which missing values gain most, -1 where none makes the test legal."""
    scratch, sides, best, bar = work.scratch, work.scratch.sides, np.int64(-1), NO_GAIN
    only = heaviest_of(work.target, kids, n) if n > _MOST_TRIED else np.int64(-1)
    for v in range(n):
        if only >= 0 and v != only:
            continue
        copy_sums(kids, v, sides, col.ASIDE)
        was_small = not is_large(work, kids, v)
        add_sums(sides, col.MISSING_SUMS, kids, v)
        still = n_small - np.int64(was_small and is_large(work, kids, v))
        if _is_legal(work, n, still):
            found = gain(work.target, work.criterion, sides, col.WHOLE, kids, scratch.group_weight, n)
            is_better = found > NO_GAIN and (best < 0 or found > bar + TIE * abs(bar))
            if is_better and (n < 2 or _no_side_is_void(work, kids, n, col.WHOLE)):
                best, bar = np.int64(v), found
        copy_sums(sides, col.ASIDE, kids, v)
    return best
