"""C4.5 the slow way, by its definition: lists of (row, weight), recursion, every cut scored by itself. NumPy alone."""

import itertools
import math
from types import SimpleNamespace

import numpy as np

J48 = SimpleNamespace(margin=1e-6, least=1e-6, bar=1e-6)
RELEASE_8 = SimpleNamespace(margin=0.0, least=1e-3, bar=-1e-3)


def entropy(counts):
    share = counts[counts > 0] / counts.sum()
    return float(-(share * np.log2(share)).sum())


def sums(y, w, k):
    return np.bincount(y, weights=w, minlength=k)


def scored(children, gone, y, w, k):
    """Gain and split information of a test, given the rows of its children and those without a value."""
    total, known = w.sum(), w[~gone].sum()
    rest = sum(w[rows].sum() / known * entropy(sums(y[rows], w[rows], k)) for rows in children if w[rows].sum() > 0)
    gain = known / total * (entropy(sums(y[~gone], w[~gone], k)) - rest)
    shares = np.array([*(w[rows].sum() for rows in children), w[gone].sum()]) / total
    shares = shares[shares > 0]
    return gain, float(-(shares * np.log2(shares)).sum())


def best_cut(x, y, w, k, m, rules):
    """(gain less its charge, information, cut) of a column of numbers, or None."""
    gone = np.isnan(x)
    values, known = np.unique(x[~gone]), w[~gone].sum()
    least = 0.1 * known / k
    least = m if least <= m else min(least, 25)
    best, n_tried = None, 0
    for low, high in itertools.pairwise(values):
        left, right = x <= low, x >= high
        if high <= low + 1e-5 or min(w[left].sum(), w[right].sum()) < least - 1e-6:
            continue
        n_tried += 1
        gain, information = scored([left, right], gone, y, w, k)
        if best is None or gain > best[0] + max(rules.margin, 1e-12):
            best = gain, information, low / 2 + high / 2
    if best is None:
        return None
    gain = best[0] - math.log2(n_tried) / w.sum()
    return (gain, *best[1:]) if gain > rules.margin else None


def best_test(X, y, w, nominal, n_levels, k, m, rules, is_wide):
    """(feature, cut or None) of a node, or None."""
    found = {}
    for f in range(X.shape[1]):
        x = X[:, f]
        if not nominal[f]:
            one = best_cut(x, y, w, k, m, rules)
            if one is not None:
                found[f] = one
            continue
        children = [x == level for level in range(n_levels[f])]
        if sum(w[rows].sum() >= m - 1e-9 for rows in children) >= 2:
            found[f] = (*scored(children, np.isnan(x), y, w, k), None)
    averaged = [one[0] for f, one in found.items() if not is_wide[f]]
    if not averaged:
        return None
    floor, best, bar = np.mean(averaged) - 1e-3, None, rules.bar
    for f, (gain, information, cut) in found.items():
        if gain >= floor and information > rules.least and gain / information > bar:
            best, bar = (f, cut), gain / information + max(rules.margin, 1e-12 * gain / information)
    return best


def grown(X, y, w, nominal, n_levels, k, m, rules=J48):
    """A tree as nested namespaces: counts, and where there is a test its feature, cut and children."""
    is_wide = [nominal[f] and n_levels[f] >= 0.3 * len(X) for f in range(X.shape[1])]
    if all(is_wide):
        is_wide = [False] * len(is_wide)
    table = X

    def node(rows, w, above):
        counts = sums(y[rows], w, k)
        leaf = SimpleNamespace(counts=counts, says=counts / counts.sum() if len(rows) else above, feature=None)
        if len(rows) == 0 or len(set(y[rows])) == 1 or w.sum() < 2 * m - 1e-9:
            return leaf
        test = best_test(X[rows], y[rows], w, nominal, n_levels, k, m, rules, is_wide)
        if test is None:
            return leaf
        f, cut = test
        x, gone = X[rows, f], np.isnan(X[rows, f])
        if cut is None:
            ways = [x == level for level in range(n_levels[f])]
        else:
            values = table[:, f][~np.isnan(table[:, f])]
            cut = values[values <= cut].max()
            ways = [x <= cut, x > cut]
        shares = [w[way].sum() / w[~gone].sum() for way in ways]
        leaf.feature, leaf.cut, leaf.shares, leaf.children = f, cut, shares, []
        for way, share in zip(ways, shares, strict=True):
            goes = way | (gone & (share > 0))
            leaf.children.append(node(rows[goes], np.where(gone, w * share, w)[goes], leaf.says))
        return leaf

    return node(np.arange(len(X)), w, None)


def errors(tree):
    return tree.counts.sum() - tree.counts.max()


def leaves(tree):
    return [tree] if tree.feature is None else [leaf for child in tree.children for leaf in leaves(child)]


def collapse(tree):
    """J48: a node whose leaves err as much as it would itself becomes one, from the root down."""
    if tree.feature is None:
        return
    if sum(map(errors, leaves(tree))) >= errors(tree) - 1e-3:
        tree.feature = None
        return
    for child in tree.children:
        collapse(child)


def said(tree, x):
    """Class shares of a row."""
    if tree.feature is None:
        return tree.says
    value = x[tree.feature]
    if np.isnan(value):
        parts = [share * said(child, x) for share, child in zip(tree.shares, tree.children, strict=True) if share > 0]
        return np.sum(parts, axis=0)
    way = int(value) if tree.cut is None else int(value > tree.cut)
    return said(tree.children[way], x)


def expected(counts, extra):
    """Errors of a leaf and what a confidence level adds; ``extra(n, errors)`` is that."""
    n = counts.sum()
    return 0.0 if n <= 0 else n - counts.max() + float(extra(n, n - counts.max()))


def recount(tree, X, y, rows, w, k):
    """Let the rows of a list, and no others, pass a tree."""
    tree.counts = sums(y[rows], w, k)
    if len(rows):
        tree.says = tree.counts / tree.counts.sum()
    if tree.feature is None:
        return
    x = X[rows, tree.feature]
    gone = np.isnan(x)
    by_level = tree.cut is None
    ways = [x == level for level in range(len(tree.children))] if by_level else [x <= tree.cut, x > tree.cut]
    if w[~gone].sum() > 0:
        tree.shares = [w[way].sum() / w[~gone].sum() for way in ways]
    for way, share, child in zip(ways, tree.shares, tree.children, strict=True):
        goes = way | (gone & (share > 0))
        child.says = tree.says
        recount(child, X, y, rows[goes], np.where(gone, w * share, w)[goes], k)


def copied(tree):
    made = SimpleNamespace(**vars(tree))
    if tree.feature is not None:
        made.children = [copied(child) for child in tree.children]
    return made


def prune(tree, X, y, rows, w, k, extra, *, raises=True):
    """Error-based pruning with raising, in place; the rows of the node are given."""
    recount(tree, X, y, rows, w, k)
    _prune(tree, X, y, rows, w, k, extra, raises)


def _prune(tree, X, y, rows, w, k, extra, raises):
    if tree.feature is None:
        return
    x = X[rows, tree.feature]
    gone = np.isnan(x)
    for v, child in enumerate(tree.children):
        way = (x == v) if tree.cut is None else ((x > tree.cut) == bool(v)) & ~gone
        goes = way | (gone & (tree.shares[v] > 0))
        _prune(child, X, y, rows[goes], np.where(gone, w * tree.shares[v], w)[goes], k, extra, raises)
    weights = [child.counts.sum() for child in tree.children]
    heaviest = max(v for v in range(len(weights)) if weights[v] >= max(weights) * (1 - 1e-9))
    branch = np.inf
    if raises:
        trial = copied(tree.children[heaviest])
        recount(trial, X, y, rows, w, k)
        branch = sum(expected(leaf.counts, extra) for leaf in leaves(trial))
    kept = sum(expected(leaf.counts, extra) for leaf in leaves(tree))
    leaf = expected(tree.counts, extra)
    if leaf <= min(branch, kept) + 0.1 + 1e-9:
        tree.feature = None
    elif branch <= kept + 0.1 + 1e-9:
        raised = tree.children[heaviest]
        vars(tree).update(vars(raised))
        prune(tree, X, y, rows, w, k, extra, raises=raises)
