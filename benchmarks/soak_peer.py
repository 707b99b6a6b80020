"""Trees held against scikit-learn's: the gain at each of its nodes, and the score on rows held out.

Gains are computed here in NumPy, from the rows on both sides of each split, so that neither library's arithmetic is
trusted.
"""

import numpy as np
import sklearn.ensemble
import sklearn.tree
from soak_checks import demand

import dtnumba

SLACK = 1e-9
MOST_NODES, MOST_ROWS = 60, 3_000
N_SEEDS = 3
# A score may be lower by so many standard errors of the rows held out, and by so much for the luck of one tree.
ERRORS, LUCK = 4.0, {"Tree": 0.08, "Forest": 0.04, "Trees": 0.04}


def impurity(criterion, y, weight):
    """Return the impurity of rows by its definition."""
    if criterion in {"gini", "entropy", "log_loss"}:
        shares = np.bincount(y, weights=weight) / weight.sum()
        shares = shares[shares > 0]
        return 1 - (shares**2).sum() if criterion == "gini" else -(shares * np.log2(shares)).sum()
    if criterion == "absolute_error":
        order = np.argsort(y)
        below = np.cumsum(weight[order])
        return np.average(np.abs(y - y[order][np.searchsorted(below, below[-1] / 2)]), weights=weight)
    mean = np.average(y, weights=weight)
    if criterion != "poisson":
        return np.average((y - mean) ** 2, weights=weight)
    ratio = np.where(y > 0, y, 1) / mean if mean > 0 else np.ones(len(y))
    return np.average(np.where(y > 0, y * np.log(ratio), 0), weights=weight)


def gain(criterion, y, weight, goes_left):
    """Return the decrease of impurity by dividing rows, per unit of their weight."""
    decrease = impurity(criterion, y, weight)
    for side in (goes_left, ~goes_left):
        decrease -= weight[side].sum() / weight.sum() * impurity(criterion, y[side], weight[side])
    return decrease


def left_of(tree, node, X):
    """Return which rows a node of ``tree_`` sends left."""
    column = X[:, tree.feature[node]]
    return np.where(np.isnan(column), tree.missing_go_to_left[node] == 1, column <= tree.threshold[node])


def splits_of(tree, X, weight):
    """Yield (rows, which of them go left) of every inner node; rows of weight 0 do not count."""
    stack = [(0, np.flatnonzero(weight))]
    while stack:
        node, rows = stack.pop()
        if tree.children_left[node] < 0:
            continue
        goes_left = left_of(tree, node, X[rows])
        yield rows, goes_left
        stack += [(tree.children_left[node], rows[goes_left]), (tree.children_right[node], rows[~goes_left])]


def gains(case, model):
    """At scikit-learn's nodes, our best split of the same rows gains as much."""
    name, given = case.kind.name, case.kind.parameters
    is_compared = case.kind.plain and name.startswith("DecisionTree") and case.y.ndim == 1 and len(case.X) <= MOST_ROWS
    if not is_compared or "max_features" in given or given.get("max_leaf_nodes") is not None:
        return
    criterion = given.get("criterion", "gini" if case.kind.of_classes else "squared_error")
    if criterion not in {"gini", "entropy", "squared_error", "poisson", "absolute_error"}:
        return
    if criterion == "absolute_error" and np.isnan(case.X).any():
        return  # scikit-learn takes none there
    y = np.unique(case.y, return_inverse=True)[1] if case.kind.of_classes else case.y
    weight = np.ones(len(y)) if case.weight is None else case.weight
    peer = getattr(sklearn.tree, name)(**given).fit(case.X, y, weight)
    stump = getattr(dtnumba, name)(
        criterion=criterion, max_depth=1, min_samples_leaf=given.get("min_samples_leaf", 1), n_jobs=1
    )
    for looked, (rows, goes_left) in enumerate(splits_of(peer.tree_, case.X, weight)):
        if looked == MOST_NODES:
            break
        own_y, own_weight = y[rows], weight[rows]
        if isinstance(given.get("min_samples_leaf"), float):
            stump.min_samples_leaf = int(np.ceil(given["min_samples_leaf"] * len(case.X)))
        tree = stump.fit(case.X[rows], own_y, own_weight).tree_
        best = gain(criterion, own_y, own_weight, left_of(tree, 0, case.X[rows])) if tree.node_count > 1 else 0.0
        theirs = gain(criterion, own_y, own_weight, goes_left)
        size = 1.0 if case.kind.of_classes else np.abs(own_y).max()  # shares round, of a pure node, too
        slack = SLACK * impurity(criterion, own_y, own_weight) + 1e-13 * size
        demand(best >= theirs - slack,
               f"of {len(rows)} rows scikit-learn's split gains {theirs!r}, our best {best!r}")  # fmt: skip


def held_out(case, model):
    """The score on rows held out is scikit-learn's, within noise; heavy-tailed targets count by their logarithm."""
    n = len(case.X)
    if not case.kind.plain or n < 400 or case.y.ndim > 1 or not hasattr(model, "trees_"):
        return
    name, given = case.kind.name, case.kind.parameters
    if given.get("criterion") in {"friedman_mse", "absolute_error"} and n > MOST_ROWS:
        return
    order = np.random.default_rng(case.seed).permutation(n)
    train, test = order[: n // 2], order[n // 2 :]
    if len(np.unique(case.y[train])) < 2 or (given.get("criterion") == "absolute_error" and np.isnan(case.X).any()):
        return
    library = sklearn.tree if name.endswith(("TreeClassifier", "TreeRegressor")) else sklearn.ensemble
    weight = None if case.weight is None else case.weight[train]
    losses = []
    for make in (getattr(dtnumba, name), getattr(library, name)):
        said = [
            make(**(given | {"random_state": seed})).fit(case.X[train], case.y[train], weight).predict(case.X[test])
            for seed in range(N_SEEDS)
        ]
        losses.append(np.mean([_losses(case, one, test) for one in said], axis=0))
    excess = losses[0] - losses[1]
    error = excess.std() / np.sqrt(len(excess))
    luck = next(value for ending, value in LUCK.items() if name.removesuffix("Classifier").removesuffix("Regressor")
                .endswith(ending))  # fmt: skip
    shown = f"ours {losses[0].mean():.4f}, scikit-learn's {losses[1].mean():.4f}"
    demand(excess.mean() <= ERRORS * error + luck, f"loss on {len(test)} rows held out: {shown}")


def _losses(case, said, rows):
    """Return the loss of each row: wrong labels, or squared errors as a share of the variance, of what is predicted."""
    if case.kind.of_classes:
        return (said != case.y[rows]).astype(float)
    truth = case.y[rows]
    if case.kind.target == "tails":
        tiny = np.finfo(float).tiny
        truth, said = np.log(truth), np.log(np.maximum(said, tiny))
    variance = truth.std() or 1.0
    return np.minimum(((said - truth) / variance) ** 2, 4.0)  # no row counts for more than four


PEER_CHECKS = (gains, held_out)
