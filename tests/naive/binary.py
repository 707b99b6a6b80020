"""What the package computes, the slow way: every cut of every feature, each by its definition. NumPy alone.

Targets are (n, outputs); ``n_classes`` holds the number of classes of each output and is empty for numbers. Sets of
rows are boolean arrays (m, n), a row a set, so that all the cuts of a feature are scored in one go. Rows of weight 0
must have been left out.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from naive import description_length as naive_mdl

CLASS_CRITERIA = {"gini", "entropy", "log_loss", "gain_ratio", "error", "twoing", "chi2", "mdl"}
NUMBER_CRITERIA = {"squared_error", "friedman_mse", "poisson", "absolute_error"}
LOGARITHMIC = {"entropy", "log_loss", "gain_ratio"}
MEANS = {"squared_error", "friedman_mse"}
# Gains of the package and of this file agree to so much of a node's impurity; of the root's, where this file rounds. Of
# means they agree to what one integer for each target resolves.
OF_NODE, OF_ROOT = 1e-9, 1e-12


@dataclass(frozen=True)
class Limits:
    """When growth stops; weights in the caller's units."""

    max_depth: float = math.inf
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_weight_leaf: float = 0.0
    min_decrease: float = 0.0


@dataclass(frozen=True)
class Cuts:
    """The legal ways to divide a node by one feature."""

    left: np.ndarray  # (m, n)
    threshold: np.ndarray
    missing_left: np.ndarray
    gain: np.ndarray
    information: np.ndarray


def shares(y, w, rows, n_classes):
    """Share of each class of one output in every set of rows."""
    weights = (rows * w) @ (y[:, None] == np.arange(n_classes))
    return weights / weights.sum(axis=1, keepdims=True)


def centres(criterion, y, w, rows):
    """Mean, or median, of one output in every set of rows."""
    weights = rows * w
    if criterion != "absolute_error":
        low, high = np.where(rows, y, math.inf).min(axis=1), np.where(rows, y, -math.inf).max(axis=1)
        return np.clip(weights @ y / weights.sum(axis=1), low, high)
    return np.array([median(y[own], w[own]) for own in rows])


def median(y, w):
    """Weighted median; the middle between two values where half of the weight ends between them."""
    order = np.argsort(y)
    y, below = y[order], np.cumsum(w[order])
    i = int(np.argmax(2 * below >= below[-1]))
    if 2 * below[i] == below[-1]:
        return y[i] / 2 + y[i + 1] / 2
    return y[i]


def losses(criterion, y, value):
    """Loss of every row in a leaf of a value."""
    if criterion == "absolute_error":
        return np.abs(y - value)
    if criterion == "poisson":
        # A value of 0 stands only for rows outside the set in hand.
        inside = (y > 0) & (value > 0)
        return np.where(inside, y * np.log(np.where(inside, y, 1) / np.where(inside, value, 1)), 0.0) - y + value
    return (y - value) ** 2


def impurities(criterion, y, w, rows, n_classes=()):
    """Impurity of every set of rows, averaged over the outputs."""
    total = np.zeros(len(rows))
    for o in range(y.shape[1]):
        if n_classes:
            p = shares(y[:, o], w, rows, n_classes[o])
            if criterion in LOGARITHMIC:
                total -= (p * np.log2(np.where(p > 0, p, 1))).sum(axis=1)
            elif criterion == "mdl":
                total += [naive_mdl.impurity(naive_mdl.counts_of(y[:, o], w, own, n_classes[o])) for own in rows]
            elif criterion == "error":
                total += 1 - p.max(axis=1)
            else:
                total += 1 - (p * p).sum(axis=1)
        else:
            value = centres(criterion, y[:, o], w, rows)
            loss = losses(criterion, y[None, :, o], value[:, None])
            total += (rows * w * loss).sum(axis=1) / (rows * w).sum(axis=1)
    return total / y.shape[1]


def whole(values):
    """Numbers as whole ones of a common unit, a power of two, without a limit to their size; and that unit."""
    parts = [Fraction(float(value)) for value in values.ravel()]
    unit = math.lcm(*(part.denominator for part in parts))
    integers = np.array([int(part * unit) for part in parts] + [None], dtype=object)[:-1]
    return integers.reshape(values.shape), Fraction(1, unit)


def gains_of_means(y, w, left):
    """Decrease of variance by every division, rounded once: what is equal, is equal here."""
    (whole_y, unit), (whole_w, _) = whole(y), whole(w)
    sides = left.astype(object)
    weights = sides @ whole_w
    total, weight = whole_w @ whole_y, whole_w.sum()
    found = []
    for own, sums in zip(weights, sides @ (whole_w[:, None] * whole_y), strict=True):
        away = sum((part * weight - whole * own) ** 2 for part, whole in zip(sums, total, strict=True))
        found.append(float(Fraction(away, own * (weight - own) * weight**2) * unit**2 / y.shape[1]))
    return np.array(found)


def gains(criterion, y, w, left, n_classes=()):
    """Decrease of impurity by every division of the rows into left and the others."""
    if criterion in MEANS:
        return gains_of_means(y, w, left)
    if criterion in {"twoing", "chi2"}:
        columns = zip(y.T, n_classes, strict=True)
        return np.mean([_contrast(criterion, column, w, left, k) for column, k in columns], axis=0)
    if criterion == "mdl":
        columns = [(y[:, o], k) for o, k in enumerate(n_classes)]
        return np.mean([[_saved(column, w, own, k) for own in left] for column, k in columns], axis=0)
    share = left @ w / w.sum()
    whole = impurities(criterion, y, w, np.ones((1, len(w)), bool), n_classes)
    left_impurity, right_impurity = (impurities(criterion, y, w, rows, n_classes) for rows in (left, ~left))
    gain = whole - share * left_impurity - (1 - share) * right_impurity
    if criterion == "poisson":
        gain[((left @ y == 0) | (~left @ y == 0)).any(axis=1)] = -math.inf
    return gain


def _saved(y, w, left, n_classes):
    return naive_mdl.gain(*(naive_mdl.counts_of(y, w, rows, n_classes) for rows in (left, ~left)))


def _contrast(criterion, y, w, left, n_classes):
    here, there = shares(y, w, left, n_classes), shares(y, w, ~left, n_classes)
    share = left @ w / w.sum()
    if criterion == "twoing":
        return share * (1 - share) / 4 * np.abs(here - there).sum(axis=1) ** 2
    p = shares(y, w, np.ones((1, len(w)), bool), n_classes)
    here, there, p = here[:, p[0] > 0], there[:, p[0] > 0], p[:, p[0] > 0]
    statistic = share[:, None] * (here - p) ** 2 / p + (1 - share[:, None]) * (there - p) ** 2 / p
    return statistic.sum(axis=1)


def midpoint(below, above):
    """Halfway, but below the right neighbour whatever the rounding."""
    with np.errstate(all="ignore"):
        middle = np.float64(below) / 2 + np.float64(above) / 2
    return float(middle) if below <= middle < above and np.isfinite(middle) else float(below)


def divisions(x, w):
    """Every way to divide rows by a feature: (left, threshold, missing_left), missing values on either side.

    Where there are none, later ones go to the heavier child.
    """
    missing = np.isnan(x)
    values = np.unique(x[~missing]).astype(float)
    found = []
    for side in (False, True) if missing.any() else (None,):
        above = [*values[1:], math.nan] if side is False else values[1:]
        for below, after in zip(values, above, strict=False):
            left = (x <= below) | (missing & bool(side))
            to_left = side if side is not None else w[left].sum() > w[~left].sum()
            found.append((left, math.inf if np.isnan(after) else midpoint(below, after), to_left))
    return found


def cuts(criterion, x, y, w, n_classes, limits):
    """Score the legal divisions of a node by one feature; None where there are none."""
    found = []
    for left, threshold, missing_left in divisions(x, w):
        fewest = min(left.sum(), (~left).sum())
        # A hair below the limit is legal: weights are summed otherwise here.
        lightest = min(w[left].sum(), w[~left].sum()) * (1 + 1e-12)
        if fewest >= limits.min_samples_leaf and lightest >= limits.min_weight_leaf:
            found.append((left, threshold, missing_left))
    if not found:
        return None
    left, threshold, missing_left = (np.array(part) for part in zip(*found, strict=True))
    gain = gains(criterion, y, w, left, n_classes)
    p = left @ w / w.sum()
    information = -p * np.log2(p) - (1 - p) * np.log2(1 - p)
    keep = gain > -math.inf
    if not keep.any():
        return None
    return Cuts(left[keep], threshold[keep], missing_left[keep], gain[keep], information[keep])


def all_cuts(criterion, X, y, w, n_classes, limits):
    """Cuts of every feature that has any."""
    found = {f: cuts(criterion, X[:, f], y, w, n_classes, limits) for f in range(X.shape[1])}
    if criterion == "mdl":  # every column has its price
        for one in filter(None, found.values()):
            one.gain[:] -= math.log2(X.shape[1]) / w.sum()
    return {f: one for f, one in found.items() if one is not None}


def is_worth(criterion, by_feature, feature, cut, slack):
    """Whether a cut (an index into its feature's) may win: no other gains more, or has the better gain ratio."""
    best = {f: found.gain.max() for f, found in by_feature.items()}
    gain = by_feature[feature].gain[cut]
    if criterion != "gain_ratio":
        return gain >= max(best.values()) - slack
    gaining = [g for g in best.values() if g > 1e-10 + slack]
    if gain < best[feature] - slack or not gaining:
        return gain >= best[feature] - slack
    average = np.mean(gaining)
    rivals = [0.0]
    for f, found in by_feature.items():
        if best[f] > average + slack:
            alike = found.gain >= best[f] - slack
            rivals.append((found.gain[alike] / found.information[alike]).min())
    enough = gain >= average - slack - 1e-10 or best[feature] <= 1e-10 + slack
    return enough and gain / by_feature[feature].information[cut] >= max(rivals) * (1 - 1e-9) - slack


def must_stop(y, w, depth, limits):
    """Whether a node is a leaf before any split is looked at."""
    n_rows = getattr(limits, "part", np.ones(len(y))).sum() * (1 + 1e-12)
    too_small = n_rows < max(limits.min_samples_split, 2 * limits.min_samples_leaf)
    too_light = w.sum() * (1 + 1e-12) < 2 * limits.min_weight_leaf
    return too_small or too_light or depth >= limits.max_depth or bool((y == y[0]).all())


def leaf_value(criterion, y, w, n_classes=()):
    """Class shares of all outputs end to end, means, or medians."""
    rows = np.ones((1, len(w)), bool)
    if n_classes:
        return np.concatenate([shares(y[:, o], w, rows, k)[0] for o, k in enumerate(n_classes)])
    return np.concatenate([centres(criterion, y[:, o], w, rows) for o in range(y.shape[1])])


def grow(criterion, X, y, w, n_classes=(), limits=None, depth=0, total=None):
    """Grow a tree by recursion, as nested dicts; the first feature and the first cut win ties."""
    limits, total = limits or Limits(), total or w.sum()
    node = {"value": leaf_value(criterion, y, w, n_classes), "n": len(y)}
    if must_stop(y, w, depth, limits):
        return node
    by_feature = all_cuts(criterion, X, y, w, n_classes, limits)
    tops = {f: int(found.gain.argmax()) for f, found in by_feature.items()}
    feature = next((f for f, k in tops.items() if is_worth(criterion, by_feature, f, k, 1e-12)), None)
    if feature is None or by_feature[feature].gain[tops[feature]] * w.sum() / total + 1e-15 < limits.min_decrease:
        return node
    found, k = by_feature[feature], tops[feature]
    node |= {"feature": feature, "threshold": found.threshold[k], "missing_left": bool(found.missing_left[k])}
    for name, rows in (("left", found.left[k]), ("right", ~found.left[k])):
        node[name] = grow(criterion, X[rows], y[rows], w[rows], n_classes, limits, depth + 1, total)
    return node


def predict(node, x):
    """Walk one row to its leaf; return the leaf's value."""
    while "feature" in node:
        value = x[node["feature"]]
        goes_left = node["missing_left"] if np.isnan(value) else value <= node["threshold"]
        node = node["left" if goes_left else "right"]
    return node["value"]


def tested(trees, node, x):
    """What a node compares with its threshold: a value of a row, or a sum over several."""
    linear = trees.linear
    if not trees.has_sums or linear.start[node] == linear.start[node + 1]:
        return x[trees.feature[node]]
    terms, total = range(linear.start[node], linear.start[node + 1]), 0.0
    for k in terms:
        value = x[linear.column[k]]
        total += float(linear.weight[k]) * float(linear.stand_in[k] if np.isnan(value) else value)
    return np.nan if all(np.isnan(x[linear.column[k]]) for k in terms) else total


def votes(trees, X, says):
    """Walk every row through every tree, and return the mean of ``says`` of its leaves, added in the trees' order."""
    out = np.full((len(X), says.shape[1]), -0.0)
    for row, x in enumerate(X.astype(np.float64)):
        for node in trees.root[:-1]:
            while trees.feature[node] >= 0:
                value = tested(trees, node, x)
                goes_left = trees.missing_left[node] == 1 if np.isnan(value) else value <= trees.threshold[node]
                node = trees.left[node] + (0 if goes_left else 1)
            out[row] += says[node]
    return out / trees.n_trees


def audit(trees, criterion, X, y, w, n_classes=(), limits=None, *, best=True, complete=True):
    """Assert that every node of a fitted tree is what its rows make it.

    ``best``: its split is the best there is, and not just legal. ``complete``: it is a leaf only where it must be.
    """
    # In float64, or NumPy would round thresholds to the float32 of a table.
    X, limits, rows, depth = X.astype(np.float64), limits or Limits(), {0: np.arange(len(y))}, {0: 0}
    root = impurities(criterion, y, w, np.ones((1, len(w)), bool), n_classes)[0]
    for node in range(len(trees.feature)):
        own = rows.pop(node)
        y_own, w_own = y[own], w[own]
        impurity = impurities(criterion, y_own, w_own, np.ones((1, len(own)), bool), n_classes)[0]
        slack = OF_NODE * impurity + rounding(criterion, y, root, impurity)
        assert trees.n_samples[node] == len(own), node
        assert np.isclose(trees.weight[node], w_own.sum(), rtol=1e-12, atol=0), node
        assert abs(trees.impurity[node] - impurity) <= slack, (node, trees.impurity[node], impurity)
        value = leaf_value(criterion, y_own, w_own, n_classes)
        assert np.allclose(trees.value[node], value, rtol=1e-9, atol=1e-12 * np.ptp(y_own)), (node, value)
        stops = must_stop(y_own, w_own, depth[node], limits)
        by_feature = {} if stops else all_cuts(criterion, X[own], y_own, w_own, n_classes, limits)
        share = w_own.sum() / w.sum()
        feature = int(trees.feature[node])
        if feature < 0:
            assert trees.gain[node] == 0, node
            worth = max((found.gain.max() for found in by_feature.values()), default=-math.inf)
            assert not complete or worth == -math.inf or worth * share < limits.min_decrease + slack, (node, worth)
            continue
        assert not stops, (node, "must be a leaf")
        x, threshold = X[own, feature], float(trees.threshold[node])
        if trees.has_sums and trees.linear.start[node] < trees.linear.start[node + 1]:  # one candidate more
            x, feature = np.array([tested(trees, node, row) for row in X[own]]), -1
            by_feature[feature] = cuts(criterion, x, y_own, w_own, n_classes, limits)
        left = np.where(np.isnan(x), trees.missing_left[node] == 1, x <= threshold)
        found = by_feature[feature]
        same = np.flatnonzero((found.left == left).all(axis=1))
        assert len(same), (node, "not a legal split")
        k = same[0]
        assert abs(trees.gain[node] - found.gain[k]) <= slack, (node, trees.gain[node], found.gain[k])
        assert trees.gain[node] * share >= limits.min_decrease - slack, node
        assert trees.missing_left[node] == found.missing_left[k], node
        if best:
            assert threshold == found.threshold[k], (node, threshold, found.threshold[k])
            assert is_worth(criterion, by_feature, feature, k, slack), (node, trees.gain[node])
        else:
            drawn = np.nanmin(x) <= threshold < np.nanmax(x) or threshold == math.inf
            assert drawn, (node, threshold)
        for child, side in ((trees.left[node], left), (trees.right[node], ~left)):
            rows[int(child)], depth[int(child)] = own[side], depth[node] + 1
    assert not rows


def rounding(criterion, y, root, impurity):
    """What a gain may be wrong by at a node, beside a share of its impurity."""
    if criterion not in MEANS:
        return OF_ROOT * max(root, 1e-300)
    unit = np.abs(y).max() * 2.0 ** (len(y).bit_length() - 59)
    return unit * math.sqrt(impurity) + unit * unit


def leaves(trees, t, X):
    """Leaf of every row in tree t."""
    found = []
    for x in X:
        node = trees.root[t]
        while trees.feature[node] >= 0:
            value = tested(trees, node, x)
            left = trees.missing_left[node] if np.isnan(value) else value <= trees.threshold[node]
            node = trees.left[node] if left else trees.right[node]
        found.append(node)
    return np.array(found, np.int64)


def shuffled_losses(trees, t, X, says, truth, order, *, is_label):
    """What shuffling each column of the rows X adds to the mean loss of tree t; order(f) is the order of column f."""

    def loss(rows):
        gap = says[leaves(trees, t, rows)] - truth
        return ((gap != 0) if is_label else gap**2).mean()

    rises = []
    for f in range(X.shape[1]):
        shuffled = X.copy()
        shuffled[:, f] = X[order(f), f]
        rises.append(loss(shuffled) - loss(X))
    return np.array(rises)


def proximity(trees, X, Y):
    """Share of the trees in which rows of X and of Y fall into one leaf."""
    pairs = [leaves(trees, t, X)[:, None] == leaves(trees, t, Y) for t in range(trees.n_trees)]
    return np.mean(pairs, axis=0)
