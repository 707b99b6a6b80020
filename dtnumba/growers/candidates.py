"""From the children of a test to its gain and information, whatever its missing values do."""

import numpy as np

from dtnumba._jit import inline, kernel
from dtnumba.criteria import NO_GAIN, TIE, information_of
from dtnumba.growers.cases import (
    ABOVE,
    BELOW,
    BRANCH,
    FRACTIONAL,
    GONE,
    KNOWN,
    LEARNED,
    MISSING_CHILD,
    N_CHILDREN,
    SPARE,
    WHOLE,
)
from dtnumba.growers.sums import add_sums, copy_sums, gain, rows_of, score, weight_of

# More children than this are not tried one by one as the place of missing values: these go to the heaviest.
_MOST_TRIED = 256
# Weights are sums of floats: one that lacks so small a share of a limit meets it.
_HAIR = 1.0 + 1e-12


@inline
def is_large(work, sums, k):
    """Tell whether sums[k] may be a leaf."""
    limits, target = work.limits, work.target
    heavy = weight_of(target, sums, k) * _HAIR >= limits.min_weight_leaf
    return heavy and rows_of(target, sums, k) >= limits.min_samples_leaf


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
    sides = work.desk.sides
    if work.rules.of_classes == 1:
        return True
    for v in range(n):
        copy_sums(kids, v, sides, BELOW)
        for s in range(sides.shape[1]):
            sides[ABOVE, s] = sides[whole, s] - sides[BELOW, s]
        if score(work.target, work.criterion, sides, BELOW, ABOVE) == NO_GAIN:
            return False
    return True


@kernel
def judge(work, feature, n, is_placed):
    """Write gain and information of a test with the children table[:n], and tell whether it is legal (1 or 0).

    ``is_placed`` (1 or 0): missing values are in the children already, in number MISSING_CHILD. Otherwise the children
    hold rows with values, and this places the others as the rules say.
    """
    desk, rules, target = work.desk, work.rules, work.target
    kids, sides, test, whole = desk.table, desk.sides, desk.test, WHOLE
    gone, share, of_unknown = weight_of(target, sides, GONE), 1.0, 0.0
    test[N_CHILDREN] = n
    desk.gain[feature] = NO_GAIN
    n_small, last_small = _n_small(work, kids, n)
    if is_placed == 1:
        pass
    elif gone > 0.0 and rules.missing == LEARNED:
        chosen = _best_place(work, kids, n, n_small, last_small)
        if chosen < 0:
            return np.int64(0)
        test[MISSING_CHILD] = chosen
        add_sums(sides, GONE, kids, chosen)
        n_small -= n_small > 0 and is_large(work, kids, chosen) and last_small == chosen
    elif gone > 0.0 and rules.missing == BRANCH and is_large(work, sides, GONE):
        copy_sums(sides, GONE, kids, n)
        test[MISSING_CHILD] = n
        n += 1
        test[N_CHILDREN] = n
    else:
        test[MISSING_CHILD] = heaviest_of(target, kids, n)
        whole = KNOWN
        share = weight_of(target, sides, KNOWN) / weight_of(target, sides, WHOLE)
        if rules.missing == FRACTIONAL:
            of_unknown = gone / weight_of(target, sides, WHOLE)
    if n < 2 or not _is_legal(work, n, n_small) or not _no_side_is_void(work, kids, n, whole):
        return np.int64(0)
    found = gain(target, work.criterion, sides, whole, kids, desk.shares, n) * share
    total = weight_of(target, sides, whole)
    information = information_of(work.criterion, of_unknown)
    for v in range(n):
        part_of = desk.shares[v] / total
        information += information_of(work.criterion, part_of * share if of_unknown > 0.0 else part_of)
    desk.gain[feature], desk.information[feature] = found, information
    return np.int64(1)


@inline
def _best_place(work, kids, n, n_small, last_small):
    """Return the child with which missing values gain most, -1 where none makes the test legal."""
    desk, sides, best, bar = work.desk, work.desk.sides, np.int64(-1), NO_GAIN
    only = heaviest_of(work.target, kids, n) if n > _MOST_TRIED else np.int64(-1)
    for v in range(n):
        if only >= 0 and v != only:
            continue
        copy_sums(kids, v, sides, SPARE)
        was_small = not is_large(work, kids, v)
        add_sums(sides, GONE, kids, v)
        still = n_small - np.int64(was_small and is_large(work, kids, v))
        if _is_legal(work, n, still):
            found = gain(work.target, work.criterion, sides, WHOLE, kids, desk.shares, n)
            is_better = found > NO_GAIN and (best < 0 or found > bar + TIE * abs(bar))
            if is_better and (n < 2 or _no_side_is_void(work, kids, n, WHOLE)):
                best, bar = np.int64(v), found
        copy_sums(sides, SPARE, kids, v)
    return best
