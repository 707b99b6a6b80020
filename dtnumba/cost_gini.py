"""Gini with costs: another way for what a wrong label costs to enter growth."""

from typing import NamedTuple

import numpy as np

from dtnumba._jit import part


class _CostFields(NamedTuple):
    costs: np.ndarray  # (n_classes, n_classes) float64


@part
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
