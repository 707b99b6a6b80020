"""What a criterion may ask of tests beyond their gain: which cuts are looked at, and what a cut costs.

A criterion that has these methods decides; for the others all cuts are candidates, and free.

allows(feature, last, following, below, above) -> bool
    Whether a cut between two codes of a number is a candidate, with these weights on its sides. Its cuts are found by
    ``entropy_cut``, which asks for x_log_x(x) -> float as well.
lead(weight) -> float
    How much better (in ``score``) a later cut of a feature must be than an earlier one, at a node of this weight.
charged(gain, n_allowed, weight) -> float
    The gain of the best of so many cuts, less what it costs; NO_GAIN where nothing is left.
worth(score, below, above, weight_below, weight_above, weight) -> float
    What one category against the rest is chosen by, given its score and the weight of the node.
"""

from dtnumba._jit import by_type


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


allows = by_type("allows", _every_cut)
x_log_x = by_type("x_log_x", _no_term)
lead = by_type("lead", _no_lead)
charged = by_type("charged", _free)
worth = by_type("worth", _score_alone)
