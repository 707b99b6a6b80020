"""ID3 the slow way: nested dicts, recursion, every gain by its definition."""

import math
from collections import Counter


def impurity(labels, measure):
    """Of a list of labels; entropy in bits."""
    shares = [n / len(labels) for n in Counter(labels).values()]
    if measure == "entropy":
        return -sum(share * math.log2(share) for share in shares)
    return 1 - sum(share**2 for share in shares) if measure == "gini" else 1 - max(shares)


def gain(rows, labels, column, measure):
    children = {}
    for row, label in zip(rows, labels, strict=True):
        children.setdefault(row[column], []).append(label)
    rest = sum(len(own) / len(labels) * impurity(own, measure) for own in children.values())
    return impurity(labels, measure) - rest


def grown(rows, labels, levels, measure="entropy", *, require_gain=True, used=()):
    """A leaf is a Counter; a node is (column, dict of level to child, its Counter)."""
    left = [c for c in range(len(levels)) if c not in used and len({row[c] for row in rows}) > 1]
    if len(set(labels)) == 1 or not left:
        return Counter(labels)
    gains = [gain(rows, labels, c, measure) for c in left]
    best = next(c for c, found in zip(left, gains, strict=True) if found > max(gains) - 1e-9)
    if require_gain and max(gains) < 1e-9:
        return Counter(labels)
    children = {}
    for level in levels[best]:
        own = [i for i, row in enumerate(rows) if row[best] == level]
        if own:
            parts = [rows[i] for i in own], [labels[i] for i in own]
            children[level] = grown(*parts, levels, measure, require_gain=require_gain, used=(*used, best))
        else:
            children[level] = Counter(labels)
    return best, children, Counter(labels)


def size(tree):
    return 1 if isinstance(tree, Counter) else 1 + sum(map(size, tree[1].values()))


def said(tree, row, classes):
    """Class shares; at a node that has no branch for the value, those of the node."""
    while not isinstance(tree, Counter):
        column, children, counts = tree
        tree = children.get(row[column], counts)
    return [tree[c] / sum(tree.values()) for c in classes]
