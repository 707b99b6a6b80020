"""C5.0's soft cuts in plain Python: how far from each cut rows go both ways, and what is said of rows then."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

EVEN = 1e-7


class Softener:
    """The soft cuts of a Grower's tree."""

    def __init__(self, grower):
        self.g, self.found = grower, {}
        w = grower.w if grower.factors is None else grower.w / grower.factors[grower.y]
        rows = np.flatnonzero(w > 0)
        self.scan(grower.root, rows, w[rows])

    def label_below(self, node, row):
        sums = np.zeros(self.g.K)
        self.g.mix(node, self.g.X[row], 1.0, sums, node.counts)
        return int(np.argmax(sums > sums.max() - EVEN))

    def scan(self, node, rows, w):
        if node.is_leaf:
            return
        x = self.g.X[rows, node.feature]
        if self.g.kinds[node.feature] == "numeric":
            known = ~np.isnan(x)
            below = [(v, r, p) for v, r, p in zip(x, rows, w, strict=True) if v <= node.threshold]
            above = [(v, r, p) for v, r, p in zip(x, rows, w, strict=True) if v > node.threshold]
            if below and above:
                n, e = w[known].sum(), node.errors()
                borne = math.sqrt(max(e * (n - e), 0.0) / n)
                middle = (max(v for v, _, _ in below) + min(v for v, _, _ in above)) / 2
                low = self.reach(sorted({v for v, _, _ in below}, reverse=True), below, node.children, borne)
                high = self.reach(sorted({v for v, _, _ in above}), above, node.children[::-1], borne)
                self.found[id(node)] = low, middle, high
        branch = node.branch_of(x)
        for v, child in enumerate(node.children):
            here = (branch == v) | ((branch < 0) & (node.shares[v] > 0))
            part = np.where(branch < 0, w * node.shares[v], w)
            self.scan(child, rows[here], part[here])

    def reach(self, values, cases, children, borne):
        bound, own, other = values[0], 0.0, 0.0
        for value, following in pairwise(values):
            for v, row, part in cases:
                if v == value:
                    own += part * (self.label_below(children[0], row) != self.g.y[row])
                    other += part * (self.label_below(children[1], row) != self.g.y[row])
            if other > 2 * own + 1 + 1e-9 or other - own > borne + 1e-9:
                break
            bound = following
        return bound

    def cuts(self):
        """Return (column, low, middle, high) of all tests, sorted."""

        def below(node):
            own = [(node.feature, *self.found[id(node)])] if id(node) in self.found else []
            return own + [one for child in node.children for one in below(child)]

        return sorted(below(self.g.root))

    def shares_of(self, X):
        g, out = self.g, np.zeros((len(X), self.g.K))
        for i, x in enumerate(X):
            mixed = np.zeros(g.K)
            size = self.mix(g.root, x, 1.0, mixed, g.root.counts)
            out[i] = (size * mixed + g.prior) / (size + 1.0)
        return out

    def mix(self, node, x, share, sums, parent):
        n = node.counts.sum()
        if node.is_leaf:
            sums += share * (node.counts / n if n > EVEN else parent / parent.sum())
            return share * n
        v = x[node.feature]
        parts = node.shares
        if not math.isnan(v):
            parts = np.zeros(len(node.children))
            parts[int(node.branch_of(np.array([v]))[0])] = 1.0
            if id(node) in self.found:
                low, middle, high = self.found[id(node)]
                left = float(np.interp(v, [low, middle, high], [1.0, 0.5, 0.0]))
                parts = np.array([left, 1.0 - left])
        size = 0.0
        for child, part in zip(node.children, parts, strict=True):
            if part > 0:
                size += self.mix(child, x, share * part, sums, node.counts)
        return size
