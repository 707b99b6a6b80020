# mypy: ignore-errors
"""Methods of a criterion beyond its gain: which cuts are candidates, what a cut costs, what a category is chosen by.

A criterion that has these methods decides; for the others all cuts are candidates, and free.

is_candidate(feature, last, following, below, above) -> bool
    Whether a cut between two codes of a number is a candidate, with these weights on its sides. Its cuts are found by
    ``entropy_cut``, which asks for x_log_x(x) -> float as well.
min_margin(weight) -> float
    Margin of score by which a cut must beat the best one so far, at a node of this weight; ties and near-ties keep the
    first one.
penalised_gain(gain, n_allowed, weight) -> float
    The gain of the best of so many cuts, less what it costs; NO_GAIN where nothing is left.
selection_score(score, below, above, weight_below, weight_above, weight) -> float
    What one category against the rest is chosen by, given its score and the weight of the node.
"""

from dtnumba.runtime.kernels import by_type


def _every_cut(criterion, feature, last, following, below, above):
    return True


def _no_term(criterion, x):
    return 0.0


def _no_lead(criterion, weight):
    return 0.0


def _free(criterion, gain, n_allowed, weight):
    return gain


def _score_alone(criterion, score, below, above, weight_below, weight_above, weight):
    return score


is_candidate, x_log_x = by_type("is_candidate", _every_cut), by_type("x_log_x", _no_term)
min_margin = by_type("min_margin", _no_lead)
penalised_gain = by_type("penalised_gain", _free)
selection_score = by_type("selection_score", _score_alone)
