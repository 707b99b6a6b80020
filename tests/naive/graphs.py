"""Decision graphs by definition: what subtrees say, written out, and the diagrams of boolean functions."""

import numpy as np


def reduced(spec):
    """Return a nested description as nested tuples, in which a test whose children are equal is the child."""
    if not isinstance(spec, dict):
        return spec
    children = tuple(reduced(child) for child in spec["children"])
    if all(child == children[0] for child in children):
        return children[0]
    parts = sorted((name, part) for name, part in spec.items() if name != "children")
    return tuple((name, tuple(part) if isinstance(part, list) else part) for name, part in parts), children


def distinct(spec):
    """Return the set of the different subtrees of a nested description, leaves among them."""
    found, waiting = set(), [reduced(spec)]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += one[1] if isinstance(one, tuple) else ()
    return found


def diagram_sizes(truth):
    """Return how many inner nodes and leaves the reduced diagram of a truth table has, its columns asked in order.

    A node is a function that is left when the first columns are known, and that the next one makes a difference to.
    """
    inner, leaves, waiting = set(), set(), [tuple(truth)]
    while waiting:
        table = waiting.pop()
        while len(table) > 1 and table[: len(table) // 2] == table[len(table) // 2 :]:
            table = table[: len(table) // 2]
        if len(table) == 1:
            leaves.add(table[0])
        elif table not in inner:
            inner.add(table)
            waiting += [table[: len(table) // 2], table[len(table) // 2 :]]
    return len(inner), len(leaves)


def complete_tree(truth, feature=0):
    """Return the complete tree of a truth table as a nested description, the columns asked in order, 0 to the left."""
    if len(truth) == 1:
        return float(truth[0])
    half = len(truth) // 2
    children = [complete_tree(part, feature + 1) for part in (truth[:half], truth[half:])]
    return {"feature": feature, "threshold": 0.5, "missing": 1, "children": children}


def rows_of(n_columns):
    """Return all rows of so many boolean columns, in the order of truth tables."""
    return (np.arange(1 << n_columns)[:, None] >> np.arange(n_columns)[::-1] & 1).astype(np.float64)


def longest_way(trees, node=0):
    """Return the tests on the longest way from a node."""
    if trees.feature[node] < 0:
        return 0
    return 1 + max(longest_way(trees, child) for child in range(trees.left[node], trees.right[node] + 1))
