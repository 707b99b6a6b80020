# mypy: ignore-errors
"""Methods of a criterion beyond its gain: which cuts are candidates, what a cut costs, what a category is chosen by.

A criterion that has these methods decides; for the others all cuts are candidates, and free.

is_parted(feature, last, following) -> bool
    Whether a cut between two codes of a number is a candidate. Its cuts are found by ``entropy_cut``, and the criterion
    the terms of entropy.
surely_parted(feature) -> int
    Codes so far apart are parted; where these are far from each other in memory, ``is_parted`` is not asked.
least_side(weight, feature) -> float
    Weight that each side of a candidate must have, of a node where rows of this weight have a value.
min_margin(weight) -> float
    Margin of score by which a cut must beat the best one so far, at a node of this weight; ties and near-ties keep the
    first one.
penalised_gain(gain, n_allowed, weight, feature, codes) -> float
    The gain of the best of so many cuts, less what it costs; NO_GAIN where nothing is left. The codes are the least of
    the node, those on both sides of the cut, and the largest.
selection_score(score, below, above, weight_below, weight_above, weight) -> float
    What one category against the rest is chosen by, given its score and the weight of the node.
is_finished(counts, weight) -> bool
    Whether a node of these weights of the classes is to be a leaf though its rows would allow a split.
choose_test(work, weight, n) -> int
    Which of the first n listed features has the test of a node of this weight, as ``choose`` says it; for a criterion
    that looks at more than gains and informations.
"""

import numpy as np

from dtnumba.criteria.contract import choose
from dtnumba.runtime.kernels import by_type


def _every_cut(criterion, feature, last, following):
    return True


def _all_codes(criterion, feature):
    return np.int64(1)


def _any_weight(criterion, weight, feature):
    return 0.0


def _no_lead(criterion, weight):
    return 0.0


def _free(criterion, gain, n_allowed, weight, feature, codes):
    return gain


def _score_alone(criterion, score, below, above, weight_below, weight_above, weight):
    return score


def _never(criterion, counts, weight):
    return False


def _by_gains(criterion, work, weight, n):
    return choose(criterion, work.scratch.gain, work.scratch.information, work.scratch.listed, n)


is_parted, surely_parted = by_type("is_parted", _every_cut), by_type("surely_parted", _all_codes)
least_side = by_type("least_side", _any_weight)
min_margin = by_type("min_margin", _no_lead)
penalised_gain = by_type("penalised_gain", _free)
selection_score = by_type("selection_score", _score_alone)
is_finished = by_type("is_finished", _never)
choose_test = by_type("choose_test", _by_gains)
