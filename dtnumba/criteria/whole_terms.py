# mypy: ignore-errors
"""Sums of a criterion's terms (see ``contract``) as integers: no order of the rows changes a bit of them.

A scan adds to them what one class changes by, so a cut does not cost all classes. They are as fine as 64 bits and the
weight of the node allow: of whole weights below two to the thirty, squares are exact.
"""

import math

import numpy as np

from dtnumba.criteria.contract import by_terms, score_of_terms, term_of
from dtnumba.runtime.kernels import inline

_BITS = 60


def _scale_by_weight(criterion, weight, n_classes):
    # A convex function is largest where all weight is of one class, and least where all classes weigh the same.
    each = weight / n_classes
    most = abs(term_of(criterion, weight)) + abs(term_of(criterion, 0.5 * weight))
    most += n_classes * (abs(term_of(criterion, each)) + abs(term_of(criterion, 0.5 * each)))
    return math.ldexp(1.0, _BITS - math.frexp(most)[1]) if 0.0 < most < np.inf else 1.0


def _no_scale(criterion, weight, n_classes):
    return 1.0


@inline
def whole_term(criterion, scale, weight):
    """Return the term of a class as an integer."""
    return np.int64(term_of(criterion, weight) * scale)


def _terms_moved(criterion, scale, left, right, weight):
    to_left = whole_term(criterion, scale, left + weight) - whole_term(criterion, scale, left)
    return to_left, whole_term(criterion, scale, right - weight) - whole_term(criterion, scale, right)


def _nothing_moved(criterion, scale, left, right, weight):
    return np.int64(0), np.int64(0)


def _sum_of_terms(criterion, scale, weights, n):
    terms = np.int64(0)
    for j in range(n):
        terms += whole_term(criterion, scale, weights[j])
    return terms


def _no_sum(criterion, scale, weights, n):
    return np.int64(0)


def _score_of_wholes(criterion, scale, terms_left, terms_right, weight_left, weight_right):
    left, right = float(terms_left) / scale, float(terms_right) / scale
    # Rounded like the others: a side of one class is pure to the last bit.
    one_left = float(whole_term(criterion, scale, weight_left)) / scale
    one_right = float(whole_term(criterion, scale, weight_right)) / scale
    return score_of_terms(criterion, left, right, one_left, one_right, weight_left, weight_right)


def _no_score(criterion, scale, terms_left, terms_right, weight_left, weight_right):
    return 0.0


# By what terms are multiplied to be integers, a power of two: of a node of this weight and so many classes.
scale_of_terms = by_terms(_scale_by_weight, _no_scale)
# The score of a cut.
score_of_wholes = by_terms(_score_of_wholes, _no_score)
# What the terms of a class on both sides change by where weight moves left.
terms_moved = by_terms(_terms_moved, _nothing_moved)
# The sum of the terms of the first n weights.
sum_of_terms = by_terms(_sum_of_terms, _no_sum)
