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


# Messages, by their definition: one node after another, and groups counted by writing all of them down


def _groupings(things):
    """Yield all ways to part things into groups of two or more."""
    if not things:
        yield []
        return
    first, rest = things[0], things[1:]
    for mask in range(1, 1 << len(rest)):
        mates = [rest[i] for i in range(len(rest)) if mask >> i & 1]
        others = [rest[i] for i in range(len(rest)) if not mask >> i & 1]
        for groups in _groupings(others):
            yield [[first, *mates], *groups]


def n_groupings(n, k):
    """Return how many ways there are to part n things into k groups of two or more."""
    if n <= 7:
        return sum(len(groups) == k for groups in _groupings(list(range(n))))
    return k * n_groupings(n - 1, k) + (n - 1) * n_groupings(n - 2, k - 1) if 0 < k <= n // 2 else 0


def message(model, X, y, weight, alpha):
    """Return (structure, tests, data) of a fitted decision graph in bits, its rows sent down again one by one."""
    trees, classes = model.trees_, model.classes_.tolist()
    is_node = trees.join < 0 if len(trees.join) else np.ones(trees.n_nodes, bool)
    own = lambda place: int(place) if is_node[place] else int(trees.join[place])  # noqa: E731
    counts = np.zeros((trees.n_nodes, len(classes)))
    for row, label, heft in zip(X, y, weight, strict=True):
        node = 0
        while True:
            counts[node, classes.index(label)] += heft
            if trees.feature[node] < 0:
                break
            node = own(trees.left[node] + _way(trees, node, row[trees.feature[node]]))
    data = sum(_labels(counts[node], alpha) for node in np.flatnonzero(is_node) if trees.feature[node] < 0)
    d = X.shape[1]
    cuts = [len(set(column[~np.isnan(column)].tolist())) - 1 for column in X.T]
    met = {int(j) for j in trees.join if j >= 0} if len(trees.join) else set()
    n_ends, joining = trees.n_nodes - 1, int((~is_node).sum()) + len(met)
    structure = tests = 0.0
    ways_to = {0: [frozenset()]}
    for node in np.flatnonzero(is_node).tolist():
        spent = frozenset.intersection(*ways_to[node])
        is_test = trees.feature[node] >= 0
        fans = [
            trees.right[p] - trees.left[p] + 1
            for p in np.flatnonzero(is_node & (trees.feature >= 0))
            for child in range(trees.left[p], trees.right[p] + 1)
            if own(child) == node
        ]
        if node == 0:
            structure += -np.log2(1 - 1 / max(d, 2)) if is_test else np.log2(max(d, 2))
        elif len(fans) > 1:
            structure += 1.0
        else:
            structure += np.log2(fans[0]) if is_test else np.log2(fans[0] / (fans[0] - 1))
        if not is_test:
            continue
        j, heft = int(trees.feature[node]), counts[node].sum()
        tests += np.log2(max(d - len(spent), 1))
        levels, branch = _part(trees, "level", node), _part(trees, "branch", node)
        if len(levels):
            tests += max(min(cuts[j] + 1, heft), len(levels))
        elif not len(branch):
            tests += np.log2(max(min(cuts[j], heft - 1), 1))
        below = spent | {j} if len(branch) or (not len(levels) and cuts[j] <= 1) else spent
        for child in range(trees.left[node], trees.right[node] + 1):
            ways_to.setdefault(own(child), []).append(below)
    structure += joining * np.log2(3) + (n_ends - joining) * np.log2(1.5)
    if joining:
        structure += np.log2(joining // 2) + np.log2(float(n_groupings(joining, len(met))))
    return structure, tests, data


def _part(trees, name, node):
    start = getattr(trees, f"{name}_start")
    return getattr(trees, name)[start[node] : start[node + 1]] if len(start) > 1 else []


def _way(trees, node, x):
    levels, branch = _part(trees, "level", node), _part(trees, "branch", node)
    if len(branch):
        known = x == x and int(x) < len(branch) and branch[int(x)] >= 0
        return int(branch[int(x)]) if known else int(trees.missing_left[node])
    goes_left = x in levels if len(levels) else x <= trees.threshold[node]
    return int(not (trees.missing_left[node] == 1 if x != x else goes_left))


def _labels(counts, alpha):
    """Return the bits of labels that are sent one by one, each by the shares of those before."""
    if not all(float(count).is_integer() for count in counts):
        raise ValueError("whole numbers only")
    bits, seen = 0.0, np.full(len(counts), float(alpha))
    for k, count in enumerate(counts):
        for _ in range(int(count)):
            bits -= np.log2(seen[k] / seen.sum())
            seen[k] += 1
    return bits
