"""C5.0's rules in plain NumPy: from the nodes of a tree to a set that votes; nothing is done to make it quick.

A condition is (feature, threshold, side) of a number, side 0 below and 1 above, or (feature, levels) of a category.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

THEORY = 0.23  # what a bit of a rule counts against a bit of the labels
LEAST_LIFT = 0.95


def log2_factorial(n):
    return math.lgamma(n + 1) / math.log(2)


@dataclass
class Rule:
    conditions: tuple
    label: int
    cover: float
    correct: float
    bits: float = 0.0

    @property
    def vote(self):
        """What the rule counts, in thousandths."""
        return math.floor(1000 * (self.correct + 1) / (self.cover + 2) + 0.5)

    def fires(self, X):
        out = np.ones(len(X), bool)
        for one in self.conditions:
            out &= holds(one, X)
        return out


def holds(condition, X):
    """Return for which rows a condition holds; a missing value never does."""
    x = X[:, condition[0]]
    known = ~np.isnan(x)
    out = np.zeros(len(x), bool)
    if len(condition) == 3:
        _, cut, side = condition
        out[known] = (x[known] <= cut) if side == 0 else (x[known] > cut)
    else:
        out[known] = np.isin(x[known].astype(int), condition[1])
    return out


class RuleMaker:
    """The rules of one tree of a Grower, with the weights of its cases; ``cases`` are those before any trial."""

    def __init__(self, grower, cases=None):
        g = self.g = grower
        self.X, self.y, self.K, self.min_cases = g.X, g.y, g.K, g.min_cases
        self.dear = g.w  # what cases weigh by their costs
        self.w = g.w if g.factors is None else g.w / g.factors[g.y]
        self.N, self.freq = self.w.sum(), np.bincount(self.y, self.w, self.K)
        self.prior = self.freq / self.N
        self.branch_bits, cases = np.zeros(self.X.shape[1]), self.w if cases is None else cases
        known = ~np.isnan(self.X) & (cases > 0)[:, None]
        for f in range(self.X.shape[1]):
            x = self.X[:, f]
            values = np.unique(x[known[:, f]])
            counts = np.array([cases[x == value].sum() for value in values])
            p = counts / max(counts.sum(), 1)
            if g.kinds[f] == "numeric":
                self.branch_bits[f] = 1 + 0.5 * math.log2(len(values)) if len(values) > 1 else 0.0
            else:
                self.branch_bits[f] = -(p * np.log2(p)).sum()
        share = self.branch_bits[self.branch_bits > 0] / max(self.branch_bits.sum(), 1e-9)
        self.feature_bits = float(-(share * np.log2(share)).sum())

    # --- one rule ---------------------------------------------------------------------------------------------------

    def condition_bits(self, condition):
        f = condition[0]
        if len(condition) == 2 and len(condition[1]) > 1 and self.g.kinds[f] == "nominal":
            return self.feature_bits + len(condition[1])
        return self.feature_bits + self.branch_bits[f]

    def rule_bits(self, conditions):
        m = len(conditions)
        return sum(self.condition_bits(c) for c in conditions) + math.log2(m) - log2_factorial(m)

    def candidates(self):
        """Return the generalised rules of all nodes but the root, each once."""
        found, rows = {}, np.flatnonzero(self.w > 0)
        self.scan(self.g.root, (), found, rows, self.dear[rows])
        return list(found.values())

    def scan(self, node, path, found, rows, w):
        if not node.is_leaf:
            f = node.feature
            parts = self.g.divide(node, rows, w)
            for v, child in enumerate(node.children):
                if len(parts[v][0]) == 0:
                    continue
                if node.group is None:
                    below = (*path, (f, float(node.threshold), v))
                else:  # the deeper test of categories says all that the ones above it say
                    own = (f, tuple(np.flatnonzero(node.group == v).tolist()))
                    below = (*(one for one in path if one[0] != f), own)
                self.scan(child, below, found, *parts[v])
        if path:  # categories that none of these cases has are left out
            sizes = np.bincount(self.y[rows], w, self.K) / (1.0 if self.g.factors is None else self.g.factors)
            label = sizes.argmax() if self.g.costs is None else (np.array(self.g.costs) @ sizes).argmin()
            rule = self.generalise([self.narrowed(c, rows) for c in path], int(label))
            if rule is not None:
                found.setdefault((rule.label, frozenset(rule.conditions)), rule)

    def narrowed(self, c, rows):
        return c if len(c) == 3 else (c[0], tuple(u for u in c[1] if (self.X[rows, c[0]] == u).any()))

    def generalise(self, conditions, label):
        """Return the rule that is left when conditions that do not help are dropped one by one, or None."""
        wrong = np.where(self.y == label, 0.0, self.w)
        while conditions:
            S = np.array([holds(c, self.X) for c in conditions])
            n_failed = (~S).sum(axis=0)
            total, errors = np.empty((2, len(conditions) + 1))
            for d in range(len(conditions) + 1):
                rows = n_failed == 0
                if d:
                    rows |= (n_failed == 1) & ~S[d - 1]
                total[d], errors[d] = self.w[rows].sum(), wrong[rows].sum()
            rate = (errors + 1) / (total + 2)
            best = 1
            for d in range(2, len(rate)):
                if rate[d] <= rate[best] + 1e-12:
                    best = d
            tests = self.rule_bits(conditions) - len(conditions) * self.feature_bits  # without naming the features
            pays = THEORY * tests <= self.saved(total[0], total[0] - errors[0], label)
            if rate[best] <= rate[0] + 1e-12 or not pays:
                conditions.pop(best - 1)
                continue
            rule = Rule(tuple(sorted(conditions)), label, total[0], total[0] - errors[0], self.rule_bits(conditions))
            return rule if (rule.correct + 1) / (rule.cover + 2) >= LEAST_LIFT * self.prior[label] else None
        return None

    def saved(self, cover, correct, label):
        """Return the bits that a rule saves on saying which cases are of its class."""

        def spent(n, k):
            return -sum(part * math.log2(part / n) for part in (k, n - k) if part > 1e-9)

        n, k = self.N, self.freq[label]
        return spent(n, k) - spent(cover, correct) - spent(n - cover, k - correct)

    # --- the set ----------------------------------------------------------------------------------------------------

    def cover_classes(self, rules, fires):
        """Return which rules the search begins with: of each class those of the best votes that win new cases."""
        kept = np.zeros(len(rules), bool)
        for c in range(self.K):
            open_rows, is_c = np.ones(len(self.y), bool), self.y == c
            for r in sorted(range(len(rules)), key=lambda r: -rules[r].vote):
                if rules[r].label != c:
                    continue
                new = fires[r] & open_rows
                if self.dear[new & is_c].sum() - self.dear[new & ~is_c].sum() > self.min_cases + 1e-9:
                    kept[r], open_rows = True, open_rows & ~fires[r]
        return kept

    def cost(self, bits, n_rules, errors):
        """Return the bits of a set of rules and of the labels it gets wrong."""
        right, wrong = -math.log2(1 - self.rate), -math.log2(self.rate)
        others = math.log2(self.K - 1) if self.K > 2 else 0.0
        theory = max(0.0, bits - log2_factorial(n_rules))
        return THEORY * theory + errors * (wrong + others) + (self.N - errors) * right

    def select(self, rules):
        """Return which rules are kept: one is added or dropped as long as that shortens the code."""
        R, fires = len(rules), [r.fires(self.X) for r in rules]
        kept = self.cover_classes(rules, fires)
        sums = np.zeros((len(self.y), self.K), int)
        for r in np.flatnonzero(kept):
            sums[fires[r], rules[r].label] += rules[r].vote
        bits = np.array([r.bits for r in rules])

        def wrong(rows, sums):  # a case without votes is wrong
            return self.dear[rows][(sums.max(axis=1) == 0) | (sums.argmax(axis=1) != self.y[rows])].sum()

        every = np.arange(len(self.y))
        while R:
            errors, own_bits = wrong(every, sums), bits[kept].sum()
            best, least = -1, self.cost(own_bits, kept.sum(), errors) - 1e-9
            for r in range(R):
                rows, sign = every[fires[r]], -1 if kept[r] else 1
                new = sums[rows]
                before = wrong(rows, new)
                new[:, rules[r].label] += sign * rules[r].vote
                after = errors - before + wrong(rows, new)
                cost = self.cost(own_bits + sign * bits[r], kept.sum() + sign, after)
                if cost < least:
                    best, least = r, cost
            if best < 0:
                break
            sums[fires[best], rules[best].label] += (-1 if kept[best] else 1) * rules[best].vote
            kept[best] = ~kept[best]
        return kept

    def fit(self):
        g = self.g
        if g.costs is None:
            self.tree_errors = g.root.errors()
        else:
            self.tree_errors = self.w[g.labels_while_weighed[0] != self.y].sum()
            if 2 * self.tree_errors >= self.w.sum():
                self.tree_errors = self.dear[g.labels_while_weighed[1] != self.y].sum()
        self.rate = (self.tree_errors + self.K - 1) / (self.N + self.K)
        self.all = self.candidates()
        kept = self.select(self.all)
        self.rules = [rule for rule, is_kept in zip(self.all, kept, strict=True) if is_kept]
        covered = np.zeros(len(self.y), bool)
        for rule in self.rules:
            covered |= rule.fires(self.X)
        left = np.bincount(self.y[~covered], self.dear[~covered], self.K)
        self.default = int(np.bincount(self.y, self.dear, self.K).argmax())
        if left.max() - left[self.default] >= self.min_cases - 1e-7:  # no few cases make it another class
            self.default = int(left.argmax())
        self.rules.sort(key=lambda rule: (rule.label, -rule.vote))
        return self

    def by_utility(self):
        """Return the rules with the most useful first: the least useful of those left is put last, again and again.

        A case without votes is wrong here, too.
        """
        left, out = list(self.rules), []
        while left:
            errors = []
            for i in range(len(left)):
                rest = left[:i] + left[i + 1 :]
                sums = self.sums_of(self.X, rest)
                errors.append(self.w[(sums.max(axis=1) == 0) | (sums.argmax(axis=1) != self.y)].sum())
            worst = min(range(len(left)), key=lambda i: (errors[i], left[i].vote))
            out.insert(0, left.pop(worst))
        return out

    # --- answers ----------------------------------------------------------------------------------------------------

    def sums_of(self, X, rules=None):
        sums = np.zeros((len(X), self.K), int)
        for r in self.rules if rules is None else rules:
            sums[r.fires(X), r.label] += r.vote
        return sums

    def labels_of(self, X, rules=None):
        sums = self.sums_of(X, rules)
        return np.where(sums.max(axis=1) > 0, sums.argmax(axis=1), self.default)

    def shares_of(self, X):
        """Return the probability of each class: its most specific rule's vote, that of a class that loses in parts.

        Where no rule fires, all classes are as likely.
        """
        out, labels = np.zeros((len(X), self.K)), self.labels_of(X)
        least, n_fired = np.full(out.shape, np.inf), np.zeros(len(X), int)
        for r in self.rules:
            rows = np.flatnonzero(r.fires(X))
            n_fired[rows] += 1
            nearer = rows[r.cover < least[rows, r.label]]
            least[nearer, r.label], out[nearer, r.label] = r.cover, r.vote
        lost = np.arange(self.K) != labels[:, None]
        out = np.where(lost, out / np.maximum(n_fired, 1)[:, None], out)
        out[n_fired == 0] = 1.0
        return out / out.sum(axis=1, keepdims=True)

    def confidences_of(self, X):
        """Return the label of each row and how sure it is, one half of the default class.

        That is the vote of the label's most specific rule, or the average vote of all rules that hold where those of
        other classes count nothing, whichever is more.
        """
        labels = self.labels_of(X)
        first, least, total, n_fired = np.zeros(len(X)), np.full(len(X), np.inf), np.zeros(len(X)), np.zeros(len(X))
        for r in self.rules:
            fires = r.fires(X)
            n_fired += fires
            rows = np.flatnonzero(fires & (labels == r.label))
            total[rows] += r.vote
            nearer = rows[r.cover < least[rows]]
            least[nearer], first[nearer] = r.cover, r.vote
        return labels, np.where(n_fired > 0, np.maximum(first, total / np.maximum(n_fired, 1)) / 1000, 0.5)

    def text(self, names, levels, classes, rules=None):
        lines = []
        for i, r in enumerate(self.rules if rules is None else rules, 1):
            wrong = r.cover - r.correct
            lift = (r.correct + 1) / (r.cover + 2) / self.prior[r.label]
            lines.append(f"Rule {i}: ({r.cover:.4g}{f'/{wrong:.4g}' if wrong else ''}, lift {lift:.1f})")
            for c in r.conditions:
                if len(c) == 3:
                    lines.append(f"\t{names[c[0]]} {'<=' if c[2] == 0 else '>'} {c[1]:g}")
                else:
                    lines.append(f"\t{names[c[0]]} in {{{','.join(str(levels[c[0]][k]) for k in c[1])}}}")
            lines.append(f"\t->  class {classes[r.label]}  [{r.vote / 1000:.3f}]")
        return lines
