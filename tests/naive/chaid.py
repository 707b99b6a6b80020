"""CHAID the slow way, by definition: tables of the rows, every pair compared anew after every merger."""

import itertools
import math

import numpy as np
from scipy import stats

CLOSE = 1e-9


class Tie(Exception):  # noqa: N818  no error: the question has no one answer
    """Two choices are as good but for rounding."""


def association(groups, statistic):
    """Return (log p, value, df, df within) of groups, each a tuple (y, w); ``statistic`` may be "f"."""
    if statistic == "f":
        return f_test(groups)
    classes = sorted({y for group in groups for y in group[0]})
    table = np.array([[group[1][group[0] == y].sum() for y in classes] for group in groups])
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    if statistic == "pearson":
        value = ((table - expected) ** 2 / expected).sum()
    else:
        there = table > 0
        value = max(2.0 * (table[there] * np.log(table[there] / expected[there])).sum(), 0.0)
    df = (len(groups) - 1) * (len(classes) - 1)
    return (stats.chi2.logsf(value, df) if df else 0.0), value, df, 0


def f_test(groups):
    weights = [w.sum() for _, w in groups]
    means = [np.average(y, weights=w) for y, w in groups]
    mean = np.average(means, weights=weights)
    between = sum(n * (m - mean) ** 2 for n, m in zip(weights, means, strict=True))
    within = sum((w * (y - m) ** 2).sum() for (y, w), m in zip(groups, means, strict=True))
    df, df_within = len(groups) - 1, sum(weights) - len(groups)
    scale = sum((w * (y - mean) ** 2).sum() for y, w in groups)
    if between <= 1e-13 * scale or df_within <= 0:
        return 0.0, 0.0, df, df_within
    if within <= 1e-11 * scale:
        raise Tie  # rounding decides how large F is
    value = between / df / (within / df_within)
    return stats.f.logsf(value, df, df_within), value, df, df_within


def partitions(c, r):
    """How many ways there are to make r sets of c things, by counting the ways the last one joins."""
    if r == 0 or r > c:
        return int(c == r)
    return r * partitions(c - 1, r) + partitions(c - 1, r - 1)


def multiplier(kind, c, r, rule):
    """Return Bonferroni's multiplier."""
    if rule is None:
        return 1
    if rule == "kass":
        if c == r:
            return 1
        if kind == "nominal":
            return partitions(c, r)
        if kind == "ordinal":
            return math.comb(c - 1, r - 1)
        return math.comb(c - 2, r - 2) + r * math.comb(c - 2, r - 1)
    if kind == "nominal":
        return c * (c * c - 1) / (6 if rule == "biggs" else 2)
    return (c - 1) ** 2 if kind == "floating" and rule == "biggs" else c * (c - 1) / 2


def first_best(choices, key, *, largest):
    """Return the first of the best choices; Tie where another one is as good but for rounding, and not equal."""
    keys = [key(choice) for choice in choices]
    best = max(keys) if largest else min(keys)
    near = [k for k, found in enumerate(keys) if abs(found - best) <= CLOSE * max(1.0, abs(best))]
    if len(near) > 1 and best < -CLOSE:
        raise Tie
    return choices[near[0]]


class Predictor:
    """One predictor of one node: a list of groups, each a sorted list of categories; missing values are math.inf."""

    def __init__(self, codes, y, w, kind, options):
        self.codes, self.y, self.w, self.options = codes, y, w, options
        self.categories = sorted(set(codes.tolist()))
        self.kind = "floating" if kind == "ordinal" and math.inf in self.categories else kind

    def test(self, groups):
        rows = [np.isin(self.codes, group) for group in groups]
        return association([(self.y[at], self.w[at]) for at in rows], self.options["statistic"])

    def allowed(self, groups):
        """Pairs of groups that may join, in the order of their first categories."""
        for a, b in itertools.combinations(sorted(groups), 2):
            between = [group for group in groups if a[0] < group[0] < b[0]]
            if self.kind == "nominal" or b == [math.inf] or not between:
                yield a, b

    def most_alike(self, groups, among=None):
        pairs = [pair for pair in self.allowed(groups) if among is None or among in pair]
        return first_best(pairs, lambda pair: self.test(pair)[0], largest=True)

    @staticmethod
    def joined(groups, pair):
        return sorted([group for group in groups if group not in pair] + [sorted(pair[0] + pair[1])])

    def is_small(self, group):
        return self.w[np.isin(self.codes, group)].sum() < self.options["min_child"] * (1 - 1e-12)

    def merged(self, groups, fewest):
        divided = 0
        while len(groups) > fewest:
            pair = self.most_alike(groups)
            alike = self.test(pair)[0]
            limit = math.log(self.options["alpha_merge"])
            if abs(alike - limit) < CLOSE:
                raise Tie
            if alike <= limit:
                break
            groups = self.joined(groups, pair)
            parts = self.divided(sorted(pair[0] + pair[1])) if self.options["resplit"] else None
            if parts is not None:
                if divided == len(self.categories):
                    raise Tie
                divided += 1
                groups = sorted([group for group in groups if group[0] != min(pair[0][0], pair[1][0])] + parts)
        return groups

    def divided(self, group):
        """Return the two parts of a compound that differ most, if significantly."""
        if len(group) < 3:
            return None
        orders = [group]
        if self.kind == "nominal":
            orders = [sorted(group, key=lambda c: (self.share(c, k), c)) for k in self.measures()]
        cuts = {tuple(map(tuple, sorted([sorted(o[:k]), sorted(o[k:])]))) for o in orders for k in range(1, len(o))}
        cuts = [[list(part) for part in cut] for cut in sorted(cuts)]
        best = first_best(cuts, lambda cut: self.test(cut)[0], largest=False)
        return best if self.test(best)[0] <= math.log(self.options["alpha_merge"]) else None

    def measures(self):
        return [None] if self.options["statistic"] == "f" else sorted(set(self.y.tolist()))

    def share(self, category, k):
        at = self.codes == category
        value = np.average(self.y[at] if k is None else self.y[at] == k, weights=self.w[at])
        return round(value, 12)

    def absorbed(self, groups):
        while len(groups) > 2 and any(map(self.is_small, groups)):
            small = min(filter(self.is_small, groups), key=lambda group: self.w[np.isin(self.codes, group)].sum())
            groups = self.joined(groups, self.most_alike(groups, among=small))
        return groups

    def groups(self):
        groups = [[category] for category in self.categories]
        if self.options["exhaustive"]:
            return self.absorbed(self.best_stage(groups))
        if self.kind != "floating":
            return self.absorbed(self.merged(groups, 2))
        ordered = self.merged(groups[:-1], 1)
        alone = [*ordered, [math.inf]]
        if len(alone) > 2:
            joined = self.joined(alone, self.most_alike(alone, among=[math.inf]))
            difference = self.test(joined)[0] - self.test(alone)[0]
            if abs(difference) < CLOSE:
                raise Tie
            alone = joined if difference < 0 else alone
        return self.absorbed(alone)

    def best_stage(self, groups):
        stages = [groups]
        while len(groups) > 2:
            groups = self.joined(groups, self.most_alike(groups))
            stages.append(groups)
        large = [stage for stage in stages if not any(map(self.is_small, stage))]
        return first_best(large or stages, lambda stage: self.test(stage)[0], largest=False)

    def result(self):
        """Return (adjusted log p, log p, value, df, groups), or None where there is no split."""
        if len(self.categories) < 2:
            return None
        groups = self.groups()
        if any(map(self.is_small, groups)):
            return None
        log_p, value, df, _ = self.test(groups)
        rule = None
        if self.options["bonferroni"]:
            rule = self.options["exhaustive_multiplier"] if self.options["exhaustive"] else "kass"
        times = multiplier(self.kind, len(self.categories), len(groups), rule)
        return min(log_p + math.log(times), 0.0), log_p, value, df, groups


def grow(codes, kinds, y, w, options, depth=0):
    """Return a nested dict: "n", and of an inner node "feature", "groups", "log_p", "children"."""
    node = {"n": len(y)}
    if depth == options["max_depth"] or len(set(y.tolist())) == 1:
        return node
    if w.sum() * (1 + 1e-12) < max(options["min_parent"], 2 * options["min_child"]):
        return node
    found = [(f, Predictor(codes[:, f], y, w, kind, options).result()) for f, kind in enumerate(kinds)]
    found = [(f, result) for f, result in found if result is not None]
    if not found:
        return node
    ranked = sorted(found, key=lambda one: (one[1][0], -one[1][2]))
    best, limit = ranked[0][1], math.log(options["alpha_split"])
    is_near = len(ranked) > 1 and abs(ranked[1][1][0] - best[0]) <= CLOSE * max(1.0, abs(best[0]))
    if abs(best[0] - limit) < CLOSE or (is_near and best[0] < limit):
        raise Tie
    node["log_p"], node["statistic"], node["df"] = best[1], best[2], best[3]
    if best[0] > limit:
        if is_near:
            del node["log_p"]  # either may be shown
        return node
    f, groups = ranked[0][0], sorted(best[4])
    rows = [np.isin(codes[:, f], group) for group in groups]
    children = [grow(codes[at], kinds, y[at], w[at], options, depth + 1) for at in rows]
    return node | {"feature": f, "groups": groups, "children": children}


def bins(values, w, most):
    """Return the bin of each row of a column of numbers without missing values, by definition."""
    distinct = sorted(set(values.tolist()))
    if len(distinct) <= most:
        return np.array([distinct.index(x) for x in values])
    weight = [w[values == x].sum() for x in distinct]
    heavy = [own * most >= w.sum() for own in weight]
    for shared, apart in [(most - sum(heavy) - k, heavy) for k in range(most - sum(heavy))] + [
        (most, [False] * len(weight))
    ]:
        light = sum(own for own, alone in zip(weight, apart, strict=True) if not alone)
        labels, below = [], 0.0
        for own, alone in zip(weight, apart, strict=True):
            below += 0.0 if alone else own
            labels.append(("alone", len(labels)) if alone else ("shared", math.ceil(round(shared * below / light, 9))))
        runs = [len(list(run)) for _, run in itertools.groupby(labels)]
        if len(runs) <= most:
            break
    number = np.repeat(np.arange(len(runs)), runs)
    return np.array([number[distinct.index(x)] for x in values])
