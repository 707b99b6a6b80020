"""Pruning by recursion over nested nodes, with every number made anew where it is asked for: slow and obvious."""

import math
from dataclasses import dataclass, field, replace

import numpy as np


@dataclass
class Node:
    """A node with the weight of each class among its rows; a test as (feature, threshold, missing, cuts, map)."""

    id: int
    counts: np.ndarray
    gain: float
    n_rows: int
    test: tuple = ()
    children: list = field(default_factory=list)

    @property
    def weight(self):
        return float(self.counts.sum())

    @property
    def errors(self):
        return float(self.counts.sum() - self.counts.max())


def nested(trees, node=0):
    """Return tree arrays as nested nodes."""
    counts = trees.value[node] * trees.weight[node]
    found = Node(node, np.round(counts, 9), float(trees.gain[node]), int(trees.n_samples[node]))
    if trees.feature[node] >= 0:
        ragged = []
        for start, column in ((trees.cut_start, trees.cut), (trees.branch_start, trees.branch)):
            ragged.append(tuple(column[start[node] : start[node + 1]].tolist()) if len(start) > 1 else ())
        threshold = None if np.isnan(trees.threshold[node]) else float(trees.threshold[node])
        found.test = (int(trees.feature[node]), threshold, int(trees.missing_left[node]), *ragged)
        found.children = [nested(trees, k) for k in range(trees.left[node], trees.right[node] + 1)]
    return found


def outline(node):
    """Return what two trees must have in common: tests, and the weights of the classes in every node."""
    return (node.test, tuple(np.round(node.counts, 6).tolist()), tuple(outline(child) for child in node.children))


def tests_of(node):
    """Return the tests alone."""
    return (node.test, tuple(tests_of(child) for child in node.children))


def child_of(node, row):
    """Return the number of the child that a row goes to."""
    feature, threshold, missing, cuts, ways = node.test
    x = row[feature]
    if threshold is not None:
        return (0 if missing else 1) if np.isnan(x) else int(x > threshold)
    place = sum(cut < x for cut in cuts) if cuts else x
    ways = ways or tuple(range(len(cuts) + 1))
    return missing if np.isnan(x) or not 0 <= place < len(ways) else ways[int(place)]


def leaves(node):
    return [node] if not node.children else [leaf for child in node.children for leaf in leaves(child)]


def nodes(node):
    """Return all nodes, children before parents."""
    return [found for child in node.children for found in nodes(child)] + [node]


def as_leaf(node):
    return replace(node, test=(), children=[])


def cheapest(node, cost, test_cost=lambda node: 0.0, slack=0.0):
    """Return (cost, tree) of the template where costs add up over leaves and tests."""
    if not node.children:
        return cost(node), node
    found = [cheapest(child, cost, test_cost, slack) for child in node.children]
    kept = test_cost(node) + sum(each for each, _ in found)
    if cost(node) <= kept + slack + 1e-12 * abs(kept):
        return cost(node), as_leaf(node)
    return kept, replace(node, children=[child for _, child in found])


def pessimistic(node):
    """Go over the tree once, from the root."""
    if not node.children:
        return node
    within = sum(leaf.errors + 0.5 for leaf in leaves(node))
    spread = within * max(node.weight - within, 0.0) / node.weight if node.weight else 0.0
    if node.errors + 0.5 <= within + math.sqrt(spread):
        return as_leaf(node)
    return replace(node, children=[pessimistic(child) for child in node.children])


def critical(node, value):
    if all(each.gain < value for each in nodes(node) if each.children):
        return as_leaf(node)
    return replace(node, children=[critical(child, value) for child in node.children])


def n_prunings(node):
    """Return how many trees cutting can make."""
    return 1 + (math.prod(n_prunings(child) for child in node.children) if node.children else 0)


def prunings(node):
    """Return all trees that cutting can make."""
    found = [as_leaf(node)]
    if node.children:
        ways = [[]]
        for child in node.children:
            ways = [[*way, each] for way in ways for each in prunings(child)]
        found += [replace(node, children=way) for way in ways]
    return found


def held_out_errors(node, X, codes, weight):
    """Weight of rows that get another label from a tree."""
    total = 0.0
    for row, code, w in zip(X, codes, weight, strict=True):
        at = node
        while at.children:
            at = at.children[child_of(at, row)]
        total += w * (int(at.counts.argmax()) != code)
    return total


def through(node, X, codes, weight):
    """Return a subtree counted anew with other rows."""
    counts = np.bincount(codes, weights=weight, minlength=len(node.counts))
    found = replace(node, counts=counts, n_rows=len(codes), children=[])
    if node.children:
        side = np.array([child_of(node, row) for row in X], int)
        parts = [side == k for k in range(len(node.children))]
        found.children = [
            through(child, X[rows], codes[rows], weight[rows]) for child, rows in zip(node.children, parts, strict=True)
        ]
    return found


def error_based(node, rows, expected, slack=0.1):
    """Return (errors, tree) as release 8 prunes with raising; ``expected(counts)`` is what a leaf costs."""
    X, codes, weight = rows
    node = through(node, *rows)
    leaf = expected(node.counts)
    if not node.children:
        return leaf, node
    side = np.array([child_of(node, row) for row in X], int)
    found = []
    for k, child in enumerate(node.children):
        at = side == k
        found.append(error_based(child, (X[at], codes[at], weight[at]), expected, slack))
    kept = sum(each for each, _ in found)
    heaviest = max(range(len(found)), key=lambda k: (found[k][1].weight, k))
    branch = found[heaviest][1]
    raised = sum(expected(each.counts) for each in leaves(through(branch, *rows))) if branch.children else math.inf
    tie = 1e-12 * abs(kept)
    if leaf <= min(raised, kept) + slack + tie:
        return leaf, as_leaf(node)
    if raised <= kept + slack + tie:
        return error_based(branch, rows, expected, slack)
    return kept, replace(node, children=[child for _, child in found])


def by_whole(root, f, rows=None):
    """Go once over the template in postorder where ``f(subtree, whole)`` may look at the whole tree.

    With rows, children that are no leaves may be raised. Returns the tree.
    """
    order = [node for node in nodes(root) if node.children]
    holder = Node(-1, root.counts, 0.0, 0, (), [root])
    for node in order:
        parent, k = _place_of(holder, node.id)
        own = rows_at(holder.children[0], node.id, *rows) if rows is not None else None
        options = [as_leaf(node)]
        if rows is not None:
            options += [through(child, *own) for child in node.children if child.children]
        options.append(node)
        values = []
        for option in options:
            parent.children[k] = option
            values.append(f(option, holder.children[0]))
        best = 0
        for i, value in enumerate(values):
            if value < values[best] - 1e-12 * abs(values[best]):
                best = i
        parent.children[k] = options[best]
    return holder.children[0]


def _place_of(node, wanted):
    for k, child in enumerate(node.children):
        if child.id == wanted:
            return node, k
        found = _place_of(child, wanted)
        if found:
            return found
    return None


def rows_at(node, wanted, X, codes, weight):
    """Return the rows that reach a node."""
    if node.id == wanted:
        return X, codes, weight
    side = np.array([child_of(node, row) for row in X], int) if node.children else None
    for k, child in enumerate(node.children):
        found = rows_at(child, wanted, X[side == k], codes[side == k], weight[side == k])
        if found is not None:
            return found
    return None
