# mypy: ignore-errors
"""The best cut of each feature at a node: when a cut is legal, when one is better than another, how it is written."""

import numpy as np

from dtnumba.criteria.contract import NO_GAIN, TIE, information_of
from dtnumba.growth.policies.monotonic import in_order, is_free
from dtnumba.growth.targets.contract import rest, split_gain, store, weight_of
from dtnumba.runtime.kernels import inline
from dtnumba.tables.presort import NEW

# What a feature offers: all of the node's rows say the same; they vary, but no cut is legal; a cut.
CONSTANT, BARREN, FOUND = 0, 1, 2
# Columns of Candidates.where
N_LEFT, LAST_BELOW, FIRST_ABOVE, MISSING_BELOW = 0, 1, 2, 3
NOTHING = -1  # FIRST_ABOVE where only missing values go right


@inline
def record_split(out, feature, target, criterion, left, right, work, where):
    """Write the best cut of a feature among the candidates."""
    gain = split_gain(target, criterion, left, right, work)
    if gain != gain:  # a user's criterion that knows no answer here; no comparison with NaN would rule it out later
        gain = NO_GAIN
    weight_left, weight_right = weight_of(target, left), weight_of(target, right)
    share = weight_left / (weight_left + weight_right)
    out.gain[feature] = gain
    out.information[feature] = information_of(criterion, share) + information_of(criterion, 1.0 - share)
    for k in range(4):
        out.where[feature, k] = where[k]
    store(target, left, out.sums[feature])


@inline
def name_codes(where, codes, feature):
    """Replace the rows on both sides of a feature's best cut by their codes."""
    where[feature, LAST_BELOW] = np.int64(codes[where[feature, LAST_BELOW], feature])
    if where[feature, FIRST_ABOVE] != NOTHING:
        where[feature, FIRST_ABOVE] = np.int64(codes[where[feature, FIRST_ABOVE], feature])


@inline
def bar_above(score, scale):
    """Return what a later cut must exceed: nearly equal scores are a tie, and the first cut keeps it.

    So a criterion written with another rounding grows the same tree. ``scale`` is the size of the largest score so far:
    what weights and targets are measured in must not matter, and the score of a perfect split may be all rounding.
    """
    return score + TIE * scale


@inline
def varies(sequence, start, end):
    """Tell whether records [start, end) of a sequence hold more than one value."""
    for i in range(start + 1, end):
        if sequence[i] & NEW:
            return True
    return False


@inline
def is_heavier(target, left, right):
    """Where a node has no missing value, later ones go to the heavier child."""
    return np.int64(weight_of(target, left) > weight_of(target, right))


@inline
def heavy_enough(target, left, right, least):
    """Tell whether both children have the least weight of a leaf."""
    return least <= 0.0 or (weight_of(target, left) >= least and weight_of(target, right) >= least)


@inline
def all_are_legal(limits):
    """Tell whether every cut that parts the rows of a node is legal."""
    return limits.min_samples_leaf <= 1 and limits.min_weight_leaf <= 0.0 and is_free(limits.monotone)


@inline
def is_legal(target, limits, feature, left, right):
    """Tell whether a cut of a feature leaves children that may be: heavy enough, and in the order asked for."""
    if not heavy_enough(target, left, right, limits.min_weight_leaf):
        return False
    return in_order(limits.monotone, target, feature, left, right)


@inline
def record_cut(target, splitter, job, total, work, out, feature, left, split):
    """Write the best cut as that of its feature; ``after`` is the missing bin where all values go left."""
    n_left, code, after, missing_left, has_missing = split
    right = rest(target, total, left, work.right)
    if not has_missing:
        missing_left = is_heavier(target, left, right)
    if after == splitter.n_codes[feature]:
        after = np.int64(NOTHING)
    record_split(out, feature, target, job.criterion, left, right, work, (n_left, code, after, missing_left))
