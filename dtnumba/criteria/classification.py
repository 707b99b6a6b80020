# mypy: ignore-errors
# ruff: noqa: D102
"""Criteria for classes: what they measure of the shares of classes in a node, and how they score a split."""

import math
from typing import NamedTuple

import numpy as np

from dtnumba.criteria.contract import NO_GAIN, TIE, convex, criterion
from dtnumba.runtime.kernels import inline, kernel_type


@criterion("gini")
class Gini(NamedTuple):
    """1 - sum p_k**2 (Breiman et al. 1984)."""

    target = "classes"
    concave = True
    ignores_absent = True

    def impurity(self, stats, weight):
        squares = 0.0
        for k in range(len(stats)):
            squares += stats[k] * stats[k]
        return 1.0 - squares / (weight * weight)

    @convex
    def score(self, left, right, weight_left, weight_right):
        squares_left = squares_right = 0.0
        for k in range(len(left)):
            squares_left += left[k] * left[k]
            squares_right += right[k] * right[k]
        # One division instead of two: they are most of a histogram's scan.
        return (squares_left * weight_right + squares_right * weight_left) / (weight_left * weight_right)

    def term(self, weight):
        return weight * weight

    def score_of_terms(self, left, right, one_left, one_right, weight_left, weight_right):
        return (left * weight_right + right * weight_left) / (weight_left * weight_right)

    def spread_lost(self, weight, total, reach):
        return 2.0 * weight

    def rough_gain(self, second, rows, all_second, all_rows):
        apart = second * all_rows - all_second * rows
        return apart * apart * (np.float32(2.0) / all_rows) / (rows * (all_rows - rows))


class _EntropyFields(NamedTuple):
    table: np.ndarray  # x * log2(x) of the small integers: a look-up is faster than a logarithm


@inline
def x_log_x(criterion, x):
    """Return x * log2(x), from the criterion's table where x is a whole number."""
    if x <= 0.0:
        return 0.0
    i = int(x)
    if i < len(criterion.table) and float(i) == x:
        return criterion.table[i]
    return x * math.log2(x)


@criterion("entropy", "log_loss")
class Entropy(_EntropyFields):
    """-sum p_k log2 p_k (Quinlan 1986)."""

    __slots__ = ()
    target = "classes"
    concave = True
    ignores_absent = True

    @classmethod
    def for_fit(cls, total, n_features):
        """Return the criterion with a table for integer weights that sum to ``total``."""
        x = np.arange(int(min(total, 1 << 20)) + 1, dtype=np.float64)
        x[1:] *= np.log2(x[1:])
        return cls(x)

    def spread_lost(self, weight, total, reach):
        # The last of a class in a side of all others: weight * log2(total / weight), and what these share with it.
        return weight * (math.log2(max(total / weight, 1.0)) + 1.5)

    def impurity(self, stats, weight):
        spread = x_log_x(self, weight)
        for k in range(len(stats)):
            spread -= x_log_x(self, stats[k])
        return max(spread / weight, 0.0)

    @convex
    def score(self, left, right, weight_left, weight_right):
        order = -x_log_x(self, weight_left) - x_log_x(self, weight_right)
        for k in range(len(left)):
            order += x_log_x(self, left[k]) + x_log_x(self, right[k])
        return order

    def term(self, weight):
        return x_log_x(self, weight)

    def score_of_terms(self, left, right, one_left, one_right, weight_left, weight_right):
        return left + right - one_left - one_right


@criterion("gain_ratio")
class GainRatio(Entropy):
    """Entropy gain over split information, among features of at least average gain (Quinlan 1993).

    Within a feature the cut of largest gain stands for it, as in C4.5. Where no feature gains anything the first cut
    is taken, so that XOR can be learned.
    """

    __slots__ = ()

    def information(self, share):
        return -share * math.log2(share) if share > 0.0 else 0.0

    def choose(self, gains, informations, features, n):
        total, n_gaining = 0.0, 0
        for i in range(n):
            if gains[features[i]] > 1e-10:
                total += gains[features[i]]
                n_gaining += 1
        floor = total / n_gaining - 1e-10 if n_gaining > 0 else 0.0
        best, best_ratio = -1, NO_GAIN
        for i in range(n):
            f = features[i]
            if n_gaining > 0 and gains[f] > 1e-10 and gains[f] >= floor and informations[f] > 0.0:
                ratio = gains[f] / informations[f]
                if best < 0 or ratio > best_ratio + TIE * abs(best_ratio):
                    best, best_ratio = i, ratio
        for i in range(n):
            if best < 0 and gains[features[i]] > NO_GAIN:
                best = i
        return best


@criterion("error")
class TrainError(NamedTuple):
    """1 - max p_k: the training error (Shalev-Shwartz & Ben-David 2014, 18.2.1)."""

    target = "classes"
    concave = True
    ignores_absent = True

    def impurity(self, stats, weight):
        largest = 0.0
        for k in range(len(stats)):
            largest = max(largest, stats[k])
        return 1.0 - largest / weight


@criterion("twoing")
class Twoing(NamedTuple):
    """How differently the two sides are composed (Breiman et al. 1984); for V children, summed over pairs."""

    target = "classes"
    concave = True  # of two classes it is half the gain of gini
    ignores_absent = True

    impurity = Gini.impurity

    def score(self, left, right, weight_left, weight_right):
        apart = 0.0
        for k in range(len(left)):
            apart += abs(left[k] / weight_left - right[k] / weight_right)
        return weight_left * weight_right * apart * apart

    def gain(self, parent, children, weights):
        weight = gain = 0.0
        for v in range(len(weights)):
            weight += weights[v]
        for v in range(len(weights)):
            for u in range(v):
                apart = 0.0
                for k in range(len(parent)):
                    apart += abs(children[v][k] / weights[v] - children[u][k] / weights[u])
                gain += weights[v] * weights[u] * apart * apart
        return gain / (4.0 * weight * weight)


@criterion("chi2")
class ChiSquared(NamedTuple):
    """Pearson's statistic of the classes x children table, per unit of weight; shown impurity: gini."""

    target = "classes"
    concave = True  # of two classes it is the gain of gini as a share of the impurity of the node
    ignores_absent = True

    impurity = Gini.impurity

    def score(self, left, right, weight_left, weight_right):
        # sum of (l_k - e_k)**2 / e_k over both sides, which share |l_k - e_k|
        share_left = weight_left / (weight_left + weight_right)
        statistic = 0.0
        for k in range(len(left)):
            total = left[k] + right[k]
            if total > 0.0:
                away = left[k] - share_left * total
                statistic += away * away / total
        return statistic / (share_left * (1.0 - share_left))

    def gain(self, parent, children, weights):
        weight = 0.0
        for v in range(len(weights)):
            weight += weights[v]
        statistic = 0.0
        for v in range(len(weights)):
            for k in range(len(parent)):
                expected = weights[v] * parent[k] / weight
                if expected > 0.0:
                    away = children[v][k] - expected
                    statistic += away * away / expected
        return statistic / weight


class _CostFields(NamedTuple):
    costs: np.ndarray  # (n_classes, n_classes) float64


@kernel_type
class CostGini(_CostFields):
    """sum of cost(i, k) p_i p_k: what labels drawn by the shares of a node cost (Breiman et al. 1984).

    Passed as an object with a square matrix of costs, a row for each true class; or as the class itself, which reads
    the estimator's ``costs``. Either way costs do not weigh the rows as well; labels and ``expected_cost`` go by the
    estimator's ``costs`` alone. cost(i, k) counts with cost(k, i), so of two classes it picks the splits of gini. A cut
    is scored in the square of the number of classes.

    Examples
    --------
    >>> from dtnumba import DecisionTreeClassifier
    >>> from dtnumba.criteria import CostGini
    >>> costs = {("ill", "well"): 10}
    >>> tree = DecisionTreeClassifier(criterion=CostGini, costs=costs, max_depth=1)
    >>> tree.fit([[1], [2], [3], [4]], ["well", "well", "well", "ill"]).predict([[1], [4]]).tolist()
    ['well', 'ill']

    """

    __slots__ = ()
    target = "classes"

    def __new__(cls, costs):
        """Check the costs and make them an array of its own."""
        matrix = np.array(costs, dtype=np.float64, order="C")
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f"CostGini: costs has the shape {matrix.shape}; pass a square matrix, a row a true class")
        if not (np.isfinite(matrix) & (matrix >= 0)).all() or matrix.diagonal().any():
            raise ValueError("CostGini: every cost must be a finite number >= 0, and those on the diagonal 0")
        return super().__new__(cls, matrix)

    def impurity(self, stats, weight):
        cost = 0.0
        for i in range(len(stats)):
            if stats[i] > 0.0:
                row = 0.0
                for k in range(len(stats)):
                    row += self.costs[i, k] * stats[k]
                cost += stats[i] * row
        return cost / (weight * weight)
