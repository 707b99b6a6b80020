"""Costs and priors by their definitions: loops over rows and classes. NumPy alone.

Classes are codes 0 .. K - 1, ``weight`` is what each row counts, ``costs[i][k]`` what calling class i class k costs.
"""

import numpy as np


def class_totals(y, weight, n_classes):
    """Weight of each class among rows."""
    return np.array([weight[y == i].sum() for i in range(n_classes)])


def true_weight(y, weight, priors):
    """What each row counts where class i has the share priors[i] of a total that stays as it is."""
    totals = class_totals(y, weight, len(priors))
    true = [weight[r] * priors[y[r]] / totals[y[r]] if weight[r] > 0 else 0.0 for r in range(len(y))]
    return np.array(true) * weight.sum()


def altered_weight(y, weight, costs):
    """What each row counts in growth: its weight times all that wrong labels of its class cost; the total stays."""
    altered = np.array([weight[r] * sum(costs[y[r]]) for r in range(len(y))])
    return altered * weight.sum() / altered.sum()


def shares(y, weight, n_classes):
    """Share of each class among rows."""
    totals = class_totals(y, weight, n_classes)
    return totals / totals.sum()


def best_label(share, costs):
    """The class of least expected cost, the lowest on ties."""
    best, least = 0, np.inf
    for k in range(len(share)):
        cost = sum(share[i] * costs[i][k] for i in range(len(share)))
        if cost < least - 1e-9 * abs(cost):
            best, least = k, cost
    return best


def risk(y, weight, costs):
    """What rows cost in all under the one label that costs least."""
    return min(sum(weight[r] * costs[y[r]][k] for r in range(len(y))) for k in range(len(costs)))


def mean_cost(y, predicted, weight, costs):
    """Mean cost of predictions."""
    return sum(weight[r] * costs[y[r]][predicted[r]] for r in range(len(y))) / weight.sum()


def cost_gini(y, weight, costs):
    """What labels drawn by the shares would cost, a row."""
    share = shares(y, weight, len(costs))
    return sum(costs[i][k] * share[i] * share[k] for i in range(len(costs)) for k in range(len(costs)))


def best_cut(X, y, weight, costs):
    """Largest decrease of ``cost_gini`` per unit of weight by one threshold."""
    best, whole = -np.inf, cost_gini(y, weight, costs)
    for f in range(X.shape[1]):
        for cut in np.unique(X[:, f])[:-1]:
            left = X[:, f] <= cut
            parts = [
                weight[rows].sum() / weight.sum() * cost_gini(y[rows], weight[rows], costs) for rows in (left, ~left)
            ]
            best = max(best, whole - sum(parts))
    return best
