"""C5.0's single tree in plain NumPy: growth, local and global pruning, answers; nothing is done to make it quick.

A table is a float matrix with NaN for a missing value, ``kinds`` says of each column "numeric", "ordered" or "nominal"
(these two hold the numbers of levels). Rows that lack the value of a test go down its branches in parts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

HAIR = 1e-7
TAILS = (0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.0)
DEVIATES = (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.0)
LEAST_GAIN = 1e-4  # a case, of a test that counts
SAME_SHARES = 1e-3  # of the classes, that make two categories one
MOST_OF_GAIN = 0.95  # of single categories, that mergers by ratio leave
SLACK = 0.1  # errors by which a smaller tree may be worse


@dataclass
class Node:
    """A node of the tree."""

    counts: np.ndarray
    feature: int = -1
    threshold: float = math.nan
    group: np.ndarray | None = None  # branch of each level
    children: list[Node] = field(default_factory=list)
    shares: np.ndarray | None = None

    @property
    def is_leaf(self):
        return self.feature < 0

    def make_leaf(self):
        self.feature, self.children, self.group, self.shares = -1, [], None, None

    def become(self, other):
        self.__dict__.update(other.__dict__)

    def branch_of(self, x):
        """Return the branch of each value, -1 of a missing one."""
        known = ~np.isnan(x)
        out = np.full(len(x), -1)
        if self.group is None:
            out[known] = x[known] > self.threshold
        else:
            out[known] = self.group[x[known].astype(int)]
        return out

    def n_leaves(self):
        """Return the number of leaves that have cases."""
        if self.is_leaf:
            return int(self.counts.sum() > HAIR)
        return sum(child.n_leaves() for child in self.children)

    def n_within_reach(self, kept=None):
        """Return the number of leaves that have cases, or levels that a row may still have there."""
        if self.is_leaf:
            return 1
        kept, n = kept or {}, 0
        for v, child in enumerate(self.children):
            own = kept
            if self.group is not None:
                levels = set(np.flatnonzero(self.group == v)) & kept.get(self.feature, set(range(len(self.group))))
                own = {**kept, self.feature: levels}
                if child.is_leaf and child.counts.sum() <= HAIR and not levels:
                    continue
            n += child.n_within_reach(own)
        return n

    def errors(self):
        """Return the weight of the cases that the leaves below label wrongly."""
        if self.is_leaf:
            return self.counts.sum() - self.counts.max()
        return sum(child.errors() for child in self.children)


def xlogx(x):
    return np.where(x > 0, x * np.log2(np.where(x > 0, x, 1.0)), 0.0)


def total_info(counts, axis=-1):
    """Return weight times entropy."""
    return xlogx(counts.sum(axis=axis)) - xlogx(counts).sum(axis=axis)


def stirling(n):
    """Return log2 of the numbers of partitions of n things into k sets, k = 0 .. n."""
    row = [1]
    for m in range(1, n + 1):
        row = [0, *[k * row[k] + row[k - 1] if k < m else 1 for k in range(1, m + 1)]]
    return [math.log2(one) if one else -math.inf for one in row]


@dataclass
class Test:
    feature: int
    gain: float
    info: float
    fan: int
    threshold: float = math.nan
    group: np.ndarray | None = None


class Grower:
    """C5.0 for one table."""

    def __init__(self, X, y, kinds, n_levels, n_classes, *, weight=None, subset=True, min_cases=2.0, confidence=0.25,
                 global_pruning=True, costs=None, leaves_per_case=math.inf, regrows=True, for_rules=False):  # fmt: skip
        self.leaves_per_case, self.regrows, self.for_rules = leaves_per_case, regrows, for_rules
        self.X, self.y, self.kinds, self.n_levels, self.K = X, y, kinds, n_levels, n_classes
        self.w = np.ones(len(y)) if weight is None else np.asarray(weight, float)
        self.subset, self.min_cases, self.global_pruning = subset, float(min_cases), global_pruning
        self.N, self.costs, self.factors = self.w.sum(), costs, None
        if costs is not None and n_classes == 2:  # rows count as what it costs to take them for the other class
            share = self.counts_of(np.arange(len(y)), self.w) / self.w.sum()
            each = np.array([costs[1][0], costs[0][1]], float)
            self.factors = each / (share @ each)
            self.w = self.w * self.factors[y]
            self.min_cases *= min(self.factors)
        self.log_confidence = math.log(confidence)
        self.confidence = confidence
        self.z = float(np.interp(confidence, TAILS, DEVIATES))
        per_class = self.N / n_classes
        u = min(max((per_class - 500) / 500, 0.0), 1.0)
        self.min_gain = (1.0 - u, 0.9 * u)
        self.values = [np.unique(X[~np.isnan(X[:, f]), f]) for f in range(X.shape[1])]
        self.logs = {}
        self.n_regrown = self.n_raised = 0

    # --- growth ---------------------------------------------------------------------------------------------------

    def counts_of(self, rows, w):
        return np.bincount(self.y[rows], w, self.K)

    def grow(self, rows, w, used=frozenset()):
        node = Node(self.counts_of(rows, w))
        W = node.counts.sum()
        if node.counts.max() >= 0.999 * W or 2 * self.min_cases - HAIR > W or self.leaves_per_case * W < 1.5:
            return node
        test = self.choose(rows, w, used)
        if test is None:
            return node
        node.feature, node.threshold, node.group = test.feature, test.threshold, test.group
        if self.kinds[test.feature] == "numeric":
            values = self.values[test.feature]
            node.threshold = values[np.searchsorted(values, test.threshold, side="right") - 1]
        self.grow_below(node, rows, w, used)
        if sum(child.errors() for child in node.children) >= W - node.counts.max() - 1e-3:
            node.make_leaf()
        return node

    def grow_below(self, node, rows, w, used):
        if self.kinds[node.feature] == "nominal" and not self.subset:
            used = used | {node.feature}
        node.children = []
        parts = self.divide(node, rows, w, keep=True)
        for own_rows, own_w in parts:
            if len(own_rows) == 0:
                node.children.append(Node(np.zeros(self.K)))
            else:
                node.children.append(self.grow(own_rows, own_w, used))

    def n_branches(self, node):
        return 2 if node.group is None else int(node.group.max()) + 1

    def divide(self, node, rows, w, keep=False):
        """Return the cases of each branch; rows without the value go to all that have cases, in parts."""
        branch, V = node.branch_of(self.X[rows, node.feature]), self.n_branches(node)
        counted = w if self.factors is None else w / self.factors[self.y[rows]]  # as many cases as they are
        known = np.bincount(branch[branch >= 0], counted[branch >= 0], V)
        shares = known / known.sum() if known.sum() > 0 else node.shares
        if keep:
            node.shares = shares
        out = []
        for v in range(V):
            here = branch == v
            if shares[v] > 0:
                here |= branch < 0
            own_w = np.where(branch[here] < 0, w[here] * shares[v], w[here])
            out.append((rows[here], own_w))
        return out

    def choose(self, rows, w, used):
        W, tests = w.sum(), []
        for f in range(self.X.shape[1]):
            test = None if f in used else self.test_of(f, rows, w)
            if test is None or test.fan - 1 > self.leaves_per_case * W + 0.5 + HAIR:
                continue  # of more branches than leaves
            if test.gain > LEAST_GAIN and test.info > 0:
                tests.append(test)
        if not tests:
            return None
        is_wide = [self.kinds[t.feature] == "nominal" and self.n_levels[t.feature] >= 0.3 * self.N for t in tests]
        narrow = [t for t, wide in zip(tests, is_wide, strict=True) if not wide] or tests
        a, b = self.min_gain
        floor = a * sum(t.gain for t in narrow) / len(narrow) + b * math.log2(len(tests)) / W
        best = None
        for t in tests:
            if t.gain < 0.999 * floor:
                continue
            if best is None:
                best = t
                continue
            mine, theirs = t.gain / t.info, best.gain / best.info
            if mine > theirs * (1 + 1e-12) or (
                mine > 0.999 * theirs and (t.fan < best.fan or (t.fan == best.fan and t.gain > best.gain * (1 + 1e-9)))
            ):
                best = t
        return best

    def test_of(self, f, rows, w):
        x = self.X[rows, f]
        known = ~np.isnan(x)
        W, Wk = w.sum(), w[known].sum()
        if Wk <= 0:
            return None
        if self.kinds[f] == "numeric":
            return self.number_test(f, x[known], self.y[rows[known]], w[known], W, Wk)
        table = np.zeros((self.n_levels[f], self.K))
        np.add.at(table, (x[known].astype(int), self.y[rows[known]]), w[known])
        if self.kinds[f] == "ordered":
            return self.ordered_test(f, table, W, Wk)
        return self.nominal_test(f, table, W, Wk)

    def info_of(self, sizes, W):
        sizes = np.append(sizes, max(W - sizes.sum(), 0.0))
        return float((xlogx(W) - xlogx(sizes).sum()) / W)

    def best_cut(self, below, whole, least):
        """Return (index of the best cut or -1, its gain in weight, number of legal cuts)."""
        size, Wk = below.sum(axis=1), whole.sum()
        legal = (size >= least - HAIR) & (Wk - size >= least - HAIR)
        if not legal.any():
            return -1, 0.0, 0
        spent = total_info(below) + total_info(whole - below)
        gain = np.where(legal, total_info(whole) - spent, -np.inf)
        return int(np.argmax(gain > gain.max() - 1e-9)), float(gain.max()), int(legal.sum())

    def number_test(self, f, x, y, w, W, Wk):
        least = max(self.min_cases, min(25.0, 0.1 * Wk / self.K))
        if Wk < 2 * least - HAIR:
            return None
        order = np.argsort(x, kind="stable")
        x, y, w = x[order], y[order], w[order]
        each = np.zeros((len(x), self.K))
        each[np.arange(len(x)), y] = w
        cuts = np.flatnonzero(x[1:] > x[:-1])
        if len(cuts) == 0:
            return None
        below = np.cumsum(each, axis=0)
        k, gain, T = self.best_cut(below[cuts], below[-1], least)
        if k < 0:
            return None
        at = cuts[k]
        low, high = x[at], x[at + 1]
        cost = min(math.log2(T), math.log2((x[-1] - x[0]) / (high - low))) if T > 1 else 0.0
        size = below[at].sum()
        info = self.info_of(np.array([size, Wk - size]), W)
        return Test(f, (gain - cost) / W, info, 3, threshold=(low + high) / 2)

    def ordered_test(self, f, table, W, Wk):
        below = np.cumsum(table, axis=0)[:-1]
        is_new = table.sum(axis=1)[1:] > 0  # a cut in front of each level that has cases
        cuts = np.flatnonzero(is_new & (below.sum(axis=1) > 0))
        if len(cuts) == 0:
            return None
        k, gain, T = self.best_cut(below[cuts], table.sum(axis=0), self.min_cases)
        if k < 0:
            return None
        at = cuts[k]
        size = below[at].sum()
        info = self.info_of(np.array([size, Wk - size]), W)
        group = (np.arange(len(table)) > at).astype(int)
        return Test(f, (gain - math.log2(T)) / W, info, 3, group=group)

    def nominal_test(self, f, table, W, Wk):
        sizes = table.sum(axis=1)
        whole = total_info(table.sum(axis=0))
        if not self.subset or len(table) <= 2:
            if (sizes >= self.min_cases - HAIR).sum() < 2:
                return None
            gain = (whole - total_info(table).sum()) / W
            return Test(f, float(gain), self.info_of(sizes, W), len(table) + 1, group=np.arange(len(table)))
        present = np.flatnonzero(sizes > 0)
        if not (sizes >= self.min_cases - HAIR).any():
            return None
        groups = [[int(v)] for v in present]
        sums = [table[v].copy() for v in present]
        logs = stirling(len(groups))
        best = self.scored(groups, sums, whole, logs, W, None)
        i = 0
        while i < len(groups):  # values of the same shares
            j = i + 1
            while j < len(groups):
                n_large = sum(one.sum() >= self.min_cases - HAIR for one in sums)
                both = min(sums[i].sum(), sums[j].sum()) >= self.min_cases - HAIR
                if (
                    np.abs(sums[i] / sums[i].sum() - sums[j] / sums[j].sum()).max() <= SAME_SHARES
                    and len(groups) > 2
                    and not (both and n_large <= 2)
                ):
                    groups[i] += groups.pop(j)
                    sums[i] = sums[i] + sums.pop(j)
                else:
                    j += 1
            i += 1
        best = self.scored(groups, sums, whole, logs, W, best)
        alone = whole - total_info(table).sum()
        while len(groups) > 2:
            each = np.array(sums)
            size, own, by_ratio, by_loss = each.sum(axis=1), total_info(each), None, None
            gain, bits, charge = whole - own.sum(), self.info_of(size, W) * W, logs[len(groups) - 1]
            is_large = size >= self.min_cases - HAIR
            for a in range(len(groups)):
                losses = total_info(each[a] + each[a + 1 :]) - own[a] - own[a + 1 :]
                spread = xlogx(size[a] + size[a + 1 :]) - xlogx(size[a]) - xlogx(size[a + 1 :])
                for d, loss in enumerate(losses):
                    b = a + 1 + d
                    if is_large[a] and is_large[b] and is_large.sum() <= 2:
                        continue
                    if by_loss is None or loss < by_loss[0] - 1e-9:
                        by_loss = loss, a, b
                    kept, left = gain - loss, bits - spread[d]
                    if kept < MOST_OF_GAIN * alone - 1e-9 or left <= 0:
                        continue
                    ratio = (kept - charge) / left
                    if by_ratio is None or ratio > by_ratio[0] + 1e-12:
                        by_ratio = ratio, a, b
            pick = by_ratio or by_loss
            if pick is None:
                break
            _, a, b = pick
            groups[a] += groups.pop(b)
            sums[a] = sums[a] + sums.pop(b)
            best = self.scored(groups, sums, whole, logs, W, best)
        if best is None:
            return None
        _, gain, info, groups = best
        group = np.full(len(table), -1)
        for v, levels in enumerate(groups):
            group[levels] = v
        if (group < 0).any():  # levels without cases have a branch of their own
            group[group < 0] = len(groups)
        return Test(f, float(gain), info, len(groups) + 1, group=group)

    def scored(self, groups, sums, whole, logs, W, best):
        """Return (score, gain, information, groups) of a grouping, or of the best one before it."""
        each = np.array(sums)
        sizes = each.sum(axis=1)
        info = self.info_of(sizes, W)
        if info <= 0:
            return best
        gain = (whole - total_info(each).sum()) / W - logs[len(groups)] / W
        if best is None or gain / info >= best[0] - 1e-12:
            return gain / info, gain, info, [list(g) for g in groups]
        return best

    # --- pruning --------------------------------------------------------------------------------------------------

    def extra_errors(self, n, e):
        if n <= 0:
            return 0.0
        none = -n * math.expm1(self.log_confidence / n)
        if e < 1e-6:
            return none
        if e < 0.9999:
            return none + e * (self.extra_errors(n, 1.0) - none)
        if e + 0.5 >= n:
            return 0.67 * (n - e)
        z2 = self.z * self.z
        pr = (e + 0.5 + z2 / 2 + math.sqrt(z2 * ((e + 0.5) * (1 - (e + 0.5) / n) + z2 / 4))) / (n + z2)
        return n * pr - e

    def leaf_cost(self, counts):
        n = counts.sum()
        e = n - counts.max() if n > 0 else 0.0
        return e + self.extra_errors(n, e)

    def pooled(self, parts):
        """Return the expected errors of subtrees, given (counts, errors, cost); small ones are one leaf."""
        total, small = 0.0, np.zeros(self.K)
        for counts, _, cost in parts:
            if counts.sum() < self.min_cases - HAIR:
                small += counts
            else:
                total += cost
        return total + (self.leaf_cost(small) if small.sum() > 0 else 0.0)

    def cost_through(self, node, rows, w):
        """Return (counts, errors, expected errors) of a subtree with these cases."""
        counts = self.counts_of(rows, w)
        n = counts.sum()
        if node.is_leaf or n <= 0:
            e = n - counts.max() if n > 0 else 0.0
            return counts, e, (e + self.extra_errors(n, e) if n > 0 else 0.0)
        parts = [
            self.cost_through(c, r, v) for c, (r, v) in zip(node.children, self.divide(node, rows, w), strict=True)
        ]
        return counts, sum(p[1] for p in parts), self.pooled(parts)

    def prune(self, node, rows, w, used=frozenset(), again=True):
        """Prune a subtree with these cases; return (counts, errors, expected errors)."""
        node.counts = self.counts_of(rows, w)
        W = node.counts.sum()
        if node.is_leaf or W <= 0:
            node.make_leaf()
            e = W - node.counts.max() if W > 0 else 0.0
            return node.counts, e, self.leaf_cost(node.counts) if W > 0 else 0.0
        below = used | {node.feature} if self.kinds[node.feature] == "nominal" and not self.subset else used
        cases = self.divide(node, rows, w, keep=True)
        parts = [self.prune(c, r, v, below, again) for c, (r, v) in zip(node.children, cases, strict=True)]
        tree, leaf = self.pooled(parts), self.leaf_cost(node.counts)
        sizes = np.array([p[0].sum() for p in parts])
        big, branch = -1, math.inf
        for v, child in enumerate(node.children):
            same = child.feature == node.feature and self.kinds[node.feature] == "numeric"
            if child.is_leaf or sizes[v] < 0.1 * W or same:
                continue
            if big < 0 or sizes[v] >= sizes[big]:
                big = v
        child = node.children[big]
        if big >= 0:
            branch = self.cost_through(child, rows, w)[2]
        if leaf <= min(branch, tree) + SLACK:
            node.make_leaf()
            return node.counts, W - node.counts.max(), leaf
        if branch <= tree + SLACK:
            self.n_raised += 1
            gained = 1.05 * sizes[big] < W
            node.become(child)
            node.counts = self.counts_of(rows, w)
            if gained and again and self.regrows:
                self.n_regrown += 1
                self.grow_below(node, rows, w, used)
            return self.prune(node, rows, w, used, again=False)
        return node.counts, sum(p[1] for p in parts), tree

    def join(self, node):
        """Make one leaf of the leaves of the same class below each test of categories."""
        for child in node.children:
            self.join(child)
        if node.is_leaf or self.kinds[node.feature] != "nominal":
            return
        number, kept, shares, place = np.arange(len(node.children)), [], [], {}
        for v, child in enumerate(node.children):
            is_empty = child.counts.sum() <= HAIR
            own = int((node if is_empty else child).counts.argmax()), is_empty and not self.subset
            if child.is_leaf and own in place:
                first = place[own]
                kept[first].counts = kept[first].counts + child.counts
                shares[first] += node.shares[v]
                number[v] = first
                continue
            if child.is_leaf:
                place[own] = len(kept)
            number[v] = len(kept)
            kept.append(child)
            shares.append(node.shares[v])
        node.children, node.shares, node.group = kept, np.array(shares), number[node.group]

    def prune_globally(self, root):
        base = root.errors()
        N = root.counts.sum()
        allowed = math.sqrt(max(base * (1 - base / N), 0.0))
        extra = 0.0
        while not root.is_leaf:
            found = []

            def look(node, found=found):
                if node.is_leaf:
                    return
                for c in node.children:
                    look(c)
                n = node.n_leaves()
                own = node.counts.sum() - node.counts.max()
                more = own - node.errors()
                found.append((more / max(n - 1, 1e-9), more, node))

            look(root)
            found = [one for one in found if extra + one[1] <= allowed + HAIR]
            if not found:
                break
            least = min(one[0] for one in found)
            ties = [one for one in found if one[0] <= least + 1e-6]
            chosen, inside = [], set()
            for _, more, node in reversed(ties):
                if id(node) not in inside:
                    chosen.append((more, node))
                    stack = list(node.children)
                    while stack:
                        n = stack.pop()
                        inside.add(id(n))
                        stack += n.children
            if extra + sum(more for more, _ in chosen) > allowed + HAIR:
                break
            for more, node in chosen:
                extra += more
                node.make_leaf()

    def fit(self):
        rows = np.flatnonzero(self.w > 0)
        w = self.w[rows]
        self.root = self.grow(rows, w)
        self.prune(self.root, rows, w)
        if self.global_pruning and (self.costs is None or self.for_rules):
            self.prune_globally(self.root)
        self.join(self.root)
        self.prior = self.root.counts / self.root.counts.sum()
        if self.for_rules and self.costs is not None:
            self.labels_while_weighed = self.labels_of(self.X), self.shares_of(self.X).argmax(axis=1)
        if self.factors is not None:
            self.recount(self.root, rows, w)
            self.prior = self.root.counts / self.root.counts.sum()
        return self

    def recount(self, node, rows, w):
        """Count the cases of a subtree without their costs."""
        node.counts = self.counts_of(rows, w) / self.factors
        if not node.is_leaf:
            for child, (own_rows, own_w) in zip(node.children, self.divide(node, rows, w, keep=True), strict=True):
                self.recount(child, own_rows, own_w)

    def labels_of(self, X):
        """Return the likeliest class of each row, or that of least cost."""
        shares = self.shares_of(X)
        return shares.argmax(axis=1) if self.costs is None else (shares @ np.array(self.costs).T).argmin(axis=1)

    # --- answers --------------------------------------------------------------------------------------------------

    def shares_of(self, X):
        """Return the probabilities of each class for each row."""
        out = np.zeros((len(X), self.K))
        for i, x in enumerate(X):
            mixed = np.zeros(self.K)
            size = self.mix(self.root, x, 1.0, mixed, self.root.counts)
            out[i] = (size * mixed + self.prior) / (size + 1.0)
        return out

    def plain_labels_of(self, X):
        """Return the likeliest class of each row by the mixed leaves alone, as boosting and winnowing ask."""
        mixed = self.plain_shares_of(X)
        return np.argmax(mixed > mixed.max(axis=1, keepdims=True) - 1e-7, axis=1)

    def plain_shares_of(self, X):
        """Return the mixed leaves of each row, without what the classes have in all."""
        out = np.zeros((len(X), self.K))
        for i, x in enumerate(X):
            self.mix(self.root, x, 1.0, out[i], self.root.counts)
        return out

    def mix(self, node, x, share, sums, parent):
        """Add the shares of the leaves that a row comes to; return what these weigh."""
        n = node.counts.sum()
        if node.is_leaf:
            sums += share * (node.counts / n if n > HAIR else parent / parent.sum())
            return share * n
        b = int(node.branch_of(x[node.feature : node.feature + 1])[0])
        if b >= 0:
            return self.mix(node.children[b], x, share, sums, node.counts)
        size = 0.0
        for child, part in zip(node.children, node.shares, strict=True):
            if part > 0:
                size += self.mix(child, x, share * part, sums, node.counts)
        return size

    def text(self, names, levels, classes, node=None, depth=0):
        """Return the tree as lines, for the eye."""
        node = node or self.root
        lines = []
        if node.is_leaf:
            return []
        for v, child in enumerate(node.children):
            n = child.counts.sum()
            if node.group is None:
                what = f"{names[node.feature]} {'<=' if v == 0 else '>'} {node.threshold:g}"
            else:
                own = [levels[node.feature][k] for k in np.flatnonzero(node.group == v)]
                what = f"{names[node.feature]} in {{{','.join(own)}}}"
            tail = ""
            if child.is_leaf:
                tail = f": {classes[int(np.argmax(child.counts))]} ({n:.1f}/{n - child.counts.max():.1f})"
            lines.append("|   " * depth + what + tail)
            lines += self.text(names, levels, classes, child, depth + 1) if not child.is_leaf else []
        return lines
