"""Multivariate adaptive regression splines the slow way: every candidate is a least squares fit of its own.

A term is a tuple of factors (column, direction, knot): direction 1 is max(0, x - knot), -1 is max(0, knot - x), 2 is x.
"""

import itertools
import math

import numpy as np

DEFAULTS = {
    "max_degree": 1,
    "max_terms": None,
    "penalty": None,
    "threshold": 0.001,
    "minspan": 0,
    "endspan": 0,
    "adjust_endspan": 2.0,
    "newvar_penalty": 0.0,
    "fast_k": 20,
    "fast_beta": 1.0,
    "auto_linear": True,
    "linear_features": (),
    "allowed": None,
}
ALIKE, CLOSER, NEVER = 1e-10, 1e-10, 10**6


def options_of(p, **given):
    found = DEFAULTS | given
    if found["max_terms"] is None:
        found["max_terms"] = min(200, max(20, 2 * p)) + 1
    if found["penalty"] is None:
        found["penalty"] = 2.0 if found["max_degree"] == 1 else 3.0
    return found


def factor_column(x, direction, knot):
    return {1: np.maximum(0.0, x - knot), -1: np.maximum(0.0, knot - x), 2: x}[direction]


def term_column(X, term):
    column = np.ones(len(X))
    for j, direction, knot in term:
        column = column * factor_column(X[:, j], direction, knot)
    return column


def design(X, terms):
    return np.column_stack([term_column(X, term) for term in terms])


def left_over(columns, of):
    """Return what is left of columns by least squares on others, fitted twice."""
    size = np.sqrt((of**2).sum(axis=0))
    of = of / np.where(size > 0, size, 1.0)
    for _ in range(2):
        columns = columns - of @ np.linalg.lstsq(of, columns, rcond=1e-12)[0]
    return columns


def gcv(rss, n, size, penalty):
    cost = 0.0 if penalty == -1 else (size + penalty * (size - 1) / 2) / n
    return math.inf if cost >= 1 else rss / (n * (1 - cost) ** 2)


def spans(n, p, degree, n_above, options):
    """Return the rows before the first knot from above, between knots, and after the last."""
    end = options["endspan"] or math.floor(3 + math.log2(p / 0.05))
    if degree >= 2:
        end += math.floor(options["adjust_endspan"] * end + 0.5)
    end = max(1, min(end, n // 2 - 1))
    gap = options["minspan"]
    if gap < 0:
        gap = math.ceil(n / (1 - gap))
        start = gap
        while start < end:
            start += gap
        return max(1, start - 1), gap, end
    if gap == 0:
        gap = math.trunc(-math.log2(-math.log(0.95) / (p * n_above)) / 2.5) if n_above else 1
    gap = max(1, gap)
    room = max(0, n - 2 * end)
    start = room // 2
    if room > gap:
        start = gap // 2 if room % gap == 0 else room % gap // 2
    return max(1, end + start), gap, end


def knots_of(x, parent, is_weighted, start, gap, end):
    """Return the values that may be knots, from above."""
    order = np.argsort(x, kind="stable")
    found, left = [], start
    for at in range(len(x) - 2, end - 1, -1):
        knot, above = x[order[at]], order[at + 1]
        if parent[above] > 0 and (is_weighted or (parent * np.maximum(0.0, x - knot)).any()):
            left -= 1
            if left == 0:
                left = gap
                found.append(knot)
    return found


class Queue:
    """Parents in the order in which they are looked at: by what they gained last, behind for being old.

    The n-th place of the queue belongs to slot n. A pair takes two places and two slots, a single term one place and
    two slots, so that after a single term the newest terms wait until later ones make room for them.
    """

    def __init__(self, total, most, ageing):
        self.gains, self.when, self.most, self.ageing = [total], [1], most if most > 0 else NEVER, ageing
        self.most = max(self.most, 3)
        self.sort(1)

    def add(self, n_terms, slot):
        self.gains += [math.inf] * n_terms
        self.when += [slot] * n_terms
        self.sort(slot)

    def sort(self, slot):
        ranked = sorted(range(len(self.gains)), key=lambda k: (-self.gains[k], k))
        if self.ageing > 0:
            age = {k: rank + self.ageing * (slot - self.when[k]) for rank, k in enumerate(ranked)}
            ranked = sorted(ranked, key=lambda k: (age[k], -self.gains[k], k))
        self.ranked = ranked

    def next(self):
        return self.ranked[: self.most]


def may_follow(term, j, options):
    columns = [factor[0] for factor in term]
    if j in columns:
        return False
    return options["allowed"] is None or not columns or any({j, *columns} <= set(g) for g in options["allowed"])


def forward(X, y, weight=None, **given):
    """Return the terms by slot, None where a slot is empty."""
    n, p = X.shape
    y = y.reshape(n, -1)
    options = options_of(p, **given) | {"weighted": weight is not None}
    root = np.ones(n) if weight is None else np.sqrt(weight)
    goal = (y - np.average(y, axis=0, weights=weight)) * root[:, None]
    total = (goal**2).sum()
    slots, most = [()], options["max_terms"]
    if most < 3 or total <= 1e-20 * (y**2).sum():
        return slots
    queue, rss, drop = Queue(total, options["fast_k"], options["fast_beta"]), total, total
    null, threshold = gcv(total, n, 1, options["penalty"]), options["threshold"]
    void = set()
    while True:
        used = [term for term in slots if term is not None]
        basis = design(X, used) * root[:, None]
        residual = left_over(goal, basis)
        most_legal = min(1.01 * rss, 10 * drop)
        best, pair_before = (0.0,), False
        for k in queue.next():
            parent = slots[k] if k < len(slots) else None
            if k in void:
                queue.gains[k], queue.when[k] = 0.0, len(slots)
            if parent is None or len(parent) >= options["max_degree"]:
                continue
            gains, before = [-1.0], best
            for j in range(p):
                if may_follow(parent, j, options):
                    found = best_of(X, j, parent, basis, residual, root, len(slots), most_legal, used, options)
                    gains.append(found[0])
                    if found[0] > best[0] * (1 + CLOSER):
                        best = found
                        pair_before = {"pair": True, "single": False, "linear": pair_before}[best[4]]
            if best is not before and best[5]:  # what a new column paid is given back before the next parent
                best = (best[0] * (1 + options["newvar_penalty"]), *best[1:])
            queue.gains[k], queue.when[k] = max(gains), len(slots)
        if best[0] <= 0:
            break
        drop, j, parent, knot, kind, _ = best
        pair = [(*parent, (j, 1, knot)), (*parent, (j, -1, knot))]
        if kind == "linear":
            is_line = options["auto_linear"] or j in options["linear_features"]
            pair = [(*parent, (j, 2, knot)) if is_line else pair[0], None]
        elif kind == "single":
            pair[1] = None
        size = len(used) + 2 - pair.count(None)
        before, rss = rss, max(0.0, rss - drop)
        if threshold and (before - rss) / total < threshold:
            break
        if threshold and 1 - gcv(rss, n, size, options["penalty"]) / null < -10:
            break
        is_void = kind == "linear" and not is_line and pair_before
        void |= {len(slots) + 1} if is_void else set()
        queue.add(2 if is_void else 2 - pair.count(None), len(slots))
        slots += pair
        if rss <= threshold * total or len(slots) >= most - 1:
            break
    return slots


def best_of(X, j, parent, basis, residual, root, slot, most_legal, used, options):
    """Return (gain, column, parent, knot, kind, is new) of a parent and a column."""
    x, above = X[:, j], term_column(X, parent)
    is_new = all(factor[0] != j for term in used for factor in term)
    share = 1 / (1 + options["newvar_penalty"] * is_new)
    centred = root[:, None] / np.sqrt((root**2).sum())
    linear = (above * (x - x.min()) * root)[:, None]
    rest = left_over(linear, basis)
    adds = (rest**2).sum() > ALIKE * (left_over(linear, centred) ** 2).sum()
    gain = ((rest.T @ residual) ** 2).sum() / (rest**2).sum() if adds else 0.0
    best = (share * gain, j, parent, x.min(), "linear", is_new)
    if j in options["linear_features"]:
        return best
    full = np.hstack([basis, linear]) if adds else basis
    is_weighted = options["weighted"]
    knots = knots_of(
        x, above * root, is_weighted, *spans(len(x), X.shape[1], len(parent) + 1, int((above > 0).sum()), options)
    )
    if not knots:
        return best
    hinges = np.column_stack([above * np.maximum(0.0, x - knot) for knot in knots]) * root[:, None]
    left, own = left_over(hinges, full), left_over(hinges, centred)
    last = slot + 1 if adds else slot
    for k, knot in enumerate(knots):
        size = (left[:, k] ** 2).sum()
        if size <= (1e-9 if is_weighted else 0.01 if last < 15 else 1e-5) * (own[:, k] ** 2).sum():
            continue
        worth = share * (gain + ((left[:, k] @ residual) ** 2).sum() / size)
        if best[0] * (1 + CLOSER) < worth < (math.inf if is_weighted else most_legal):
            best = (worth, j, parent, knot, "pair" if adds else "single", is_new)
    return best


def rss_of(X, y, terms, weight=None):
    root = np.ones(len(X)) if weight is None else np.sqrt(weight)
    return (left_over(y.reshape(len(X), -1) * root[:, None], design(X, terms) * root[:, None]) ** 2).sum()


def backward(X, y, terms, weight=None):
    """Return the best terms of every size among the beginnings of all orders on the way.

    The term that matters least is moved behind those that are left, again and again.
    """
    order, best = list(range(len(terms))), {}

    def report():
        for size in range(1, len(terms) + 1):
            rss = rss_of(X, y, [terms[k] for k in order[:size]], weight)
            if size not in best or rss < best[size][0] * (1 - 1e-12):
                best[size] = rss, sorted(order[:size])

    report()
    for left in range(len(terms), 1, -1):
        without = [[k for k in order[:left] if k != gone] for gone in order[1:left]]
        least = min(without, key=lambda some: rss_of(X, y, [terms[k] for k in some], weight))
        order = least + [k for k in order if k not in least]
        report()
    return [best[size][1] for size in range(1, len(terms) + 1)]


def exhaustive(X, y, terms, weight=None):
    """Return the best terms of every size."""
    found = []
    for size in range(len(terms)):
        sets = [[0, *some] for some in itertools.combinations(range(1, len(terms)), size)]
        found.append(min(sets, key=lambda some: rss_of(X, y, [terms[k] for k in some], weight)))
    return found


def fit(X, y, weight=None, prune=backward, **given):
    """Return terms in the model, their coefficients, and RSS and GCV of every size."""
    options = options_of(X.shape[1], **given)
    terms = [term for term in forward(X, y, weight, **given) if term is not None]
    sets = prune(X, y, terms, weight)
    rss = np.array([rss_of(X, y, [terms[k] for k in some], weight) for some in sets])
    scores = np.array([gcv(r, len(X), k + 1, options["penalty"]) for k, r in enumerate(rss)])
    chosen = [terms[k] for k in sets[int(scores.argmin())]]
    root = np.ones(len(X)) if weight is None else np.sqrt(weight)
    made = design(X, chosen) * root[:, None]
    size = np.sqrt((made**2).sum(axis=0))
    coefficients = np.linalg.lstsq(made / size, y.reshape(len(X), -1) * root[:, None], rcond=1e-12)[0] / size[:, None]
    return chosen, coefficients, rss, scores, terms
