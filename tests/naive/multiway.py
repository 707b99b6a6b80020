"""Trees of any kind of tests, the slow way: every test of every feature, each by its definition. NumPy alone.

Rows of a node are (row, weight) pairs. A test is the child of every row that has a value; ``places`` are the ways in
which the others may be placed.
"""

import itertools
import math
from types import SimpleNamespace

import numpy as np
from naive import binary as naive

GONE, ALL, STAYS = -1, -2, -3


def splits_in_two(k):
    """Every division of k things into two sets, as arrays of 0 and 1; of a set and the rest, one."""
    for bits in range(1, 1 << (k - 1)):
        yield np.array([(bits >> g) & 1 for g in range(k)])


def tests_of(x, y, w, options, *, nominal, limits):
    """Yield every test of a feature as the child of each row that has a value."""
    known = ~np.isnan(x)
    values = np.unique(x[known])
    place = np.searchsorted(values, np.where(known, x, values[0] if len(values) else 0.0))
    k = len(values)

    def child(of_value):
        return np.where(known, np.asarray(of_value)[place], GONE)

    kind = options["categorical_split"] if nominal else options["numeric_split"]
    if k == 0:
        return
    learns = options["missing"] == "learned" and not known.all()
    many = kind == "multiway"
    alone = k == 1 and options["missing"] == "branch" and not known.all()
    if alone or (learns and not many) or (learns and k == 1 and not nominal):
        yield np.where(known, 0, GONE)
    if k == 1:
        return
    if nominal and kind == "multiway":
        yield child(np.arange(k))
    elif nominal and kind == "one_vs_rest":
        for g in range(k):
            yield child(np.where(np.arange(k) == g, 0, 1))
    elif nominal:
        for of_value in splits_in_two(k):
            yield child(of_value)
    elif kind == "threshold":
        for cut in range(1, k):
            yield child((np.arange(k) >= cut).astype(int))
    elif kind == "interval":
        for low, high in itertools.combinations(range(k + 1), 2):
            if high - low < k:
                inside = (np.arange(k) >= low) & (np.arange(k) < high)
                yield child(np.where(inside, 0, 1))
    else:
        cuts = ranges(place[known], y[known, 0], w[known], among(limits, known))
        if cuts:
            yield child(np.searchsorted(cuts, np.arange(k), side="right"))


def entropy(y, w):
    total = np.array([w[y == c].sum() for c in np.unique(y)])
    share = total / total.sum()
    return float(-(share * np.log2(share)).sum()), len(total)


def ranges(place, y, w, limits):
    """Cuts of Fayyad and Irani: the one of least entropy, if it pays, and then in both parts; ascending."""
    best = None
    whole, k = entropy(y, w) if len(y) else (0.0, 0)
    for cut in np.unique(place)[1:]:
        left = place < cut
        if min(limits.part[left].sum(), limits.part[~left].sum()) * (1 + 1e-12) < limits.min_samples_leaf:
            continue
        (below, k1), (above, k2) = entropy(y[left], w[left]), entropy(y[~left], w[~left])
        share = w[left].sum() / w.sum()
        rest = share * below + (1 - share) * above
        if best is None or rest < best[0] - 1e-12:
            pays = (
                w.sum() > 1
                and k > 1
                and (whole - rest) * w.sum()
                > math.log2(w.sum() - 1) + math.log2(3**k - 2) - (k * whole - k1 * below - k2 * above)
            )
            best = rest, cut, pays
    if best is None or not best[2]:
        return []
    left = place < best[1]
    below, above = (ranges(place[side], y[side], w[side], among(limits, side)) for side in (left, ~left))
    return [*below, best[1], *above]


def in_node(limits, part):
    """Return limits with what of its row each row of a node is: a part counts as that."""
    return SimpleNamespace(**{name: value for name, value in vars(limits).items() if name != "part"}, part=part)


def among(limits, rows):
    return in_node(limits, limits.part[rows])


def is_large(rows, w, limits):
    is_long = limits.part[rows].sum() * (1 + 1e-12) >= limits.min_samples_leaf
    return is_long and w[rows].sum() * (1 + 1e-12) >= limits.min_weight_leaf


def gain_of(criterion, y, w, children, parts, n_classes):
    """Decrease of impurity, or how differently the children are composed; ``parts`` are their shares of the weight."""
    everyone = np.ones((1, len(y)), bool)
    if criterion not in {"twoing", "chi2"}:
        whole = naive.impurities(criterion, y, w, everyone, n_classes)[0]
        return whole - parts @ naive.impurities(criterion, y, w, children, n_classes)
    composed = naive.shares(y[:, 0], w, children, n_classes[0])
    if criterion == "twoing":
        pairs = itertools.combinations(range(len(parts)), 2)
        return sum(parts[u] * parts[v] * np.abs(composed[u] - composed[v]).sum() ** 2 / 4 for u, v in pairs)
    all_of_them = naive.shares(y[:, 0], w, everyone, n_classes[0])[0]
    there = all_of_them > 0
    return parts @ ((composed - all_of_them)[:, there] ** 2 / all_of_them[there]).sum(axis=1)


def judged(criterion, child, y, w, n_classes, options, limits):
    """Yield (final child of each row, gain, information) of a test, for every place of its missing values."""
    gone, n, policy = child == GONE, int(child.max()) + 1, options["missing"]
    places = [child]
    if gone.any() and policy == "learned":
        places = [np.where(gone, v, child) for v in range(n)] if n > 1 else [np.where(gone, 1, child)]
    elif gone.any() and policy == "branch" and is_large(gone, w, limits):
        places = [np.where(gone, n, child)]
    for final in places:
        scored = final != GONE
        children = [final == v for v in range(int(final.max()) + 1)]
        if len(children) < 2 or not all(is_large(rows, w, limits) for rows in children):
            continue
        share = w[scored].sum() / w.sum()
        own = np.array([rows[scored] for rows in children])
        parts = own @ w[scored] / w[scored].sum()
        gain = gain_of(criterion, y[scored], w[scored], own, parts, n_classes)
        # What a side without events costs is defined where rows may stay above, as in rpart.
        has_void = any((y[rows].sum(axis=0) == 0).any() for rows in children)
        if criterion == "poisson" and policy != "surrogate" and has_void:
            continue
        with_unknown = np.array([*(parts * share), 1 - share]) if policy == "fractional" else parts
        positive = with_unknown[with_unknown > 1e-15]
        yield final, gain * share, float(-(positive * np.log2(positive)).sum())


def candidates(criterion, X, y, w, n_classes, options, nominal, limits):
    """Return, by feature, gains and informations and the final children of all legal tests."""
    found = {}
    for f in range(X.shape[1]):
        tests = tests_of(X[:, f], y, w, options, nominal=nominal[f], limits=limits)
        rows = [one for child in tests for one in judged(criterion, child, y, w, n_classes, options, limits)]
        if rows:
            final, gain, information = zip(*rows, strict=True)
            found[f] = SimpleNamespace(
                final=final, gain=np.array(gain), information=np.maximum(np.array(information), 1e-300)
            )
    return found


def way(trees, node, x):
    """Number of the child that a value goes to, GONE for a missing value or an unknown category."""
    cuts = trees.cut[slice(*trees.cut_start[node : node + 2])] if len(trees.cut_start) > 1 else []
    ways = trees.branch[slice(*trees.branch_start[node : node + 2])] if len(trees.branch_start) > 1 else []
    levels = trees.level[slice(*trees.level_start[node : node + 2])] if len(trees.level_start) > 1 else []
    if np.isnan(x):
        return GONE
    if len(cuts):
        place = sum(cut < x for cut in cuts)
        return int(ways[place]) if len(ways) else place
    if len(ways):
        return int(ways[int(x)]) if x < len(ways) else GONE
    if len(levels):
        return 0 if x in levels else 1
    return 0 if x <= trees.threshold[node] else 1


def default(trees, node):
    """Number of the child that a missing value goes to."""
    missing = int(trees.missing_left[node])
    if missing == 255:
        return STAYS
    has_map = len(trees.branch_start) > 1 and trees.branch_start[node + 1] > trees.branch_start[node]
    has_cuts = len(trees.cut_start) > 1 and trees.cut_start[node + 1] > trees.cut_start[node]
    return missing if has_map or has_cuts else 1 - missing


def by_surrogates(trees, node, row):
    """Side to which the first surrogate that can tell sends a row, GONE where none can."""
    own = trees.surrogates
    if len(own.start) == 1:
        return GONE
    for s in range(own.start[node], own.start[node + 1]):
        x = row[own.feature[s]]
        if np.isnan(x):
            continue
        if not np.isnan(own.threshold[s]):
            return int((x <= own.threshold[s]) != (own.below_left[s] == 1))
        sides = own.branch[own.branch_start[s] : own.branch_start[s + 1]]
        if sides[int(x)] >= 0:
            return int(sides[int(x)])
    return GONE


def step(trees, node, row):
    """Number of the child a row goes to, ALL, or STAYS."""
    way_there = way(trees, node, row[trees.feature[node]])
    if way_there == GONE and trees.policy == 1:
        return ALL
    if way_there == GONE:
        way_there = by_surrogates(trees, node, row)
    return default(trees, node) if way_there == GONE else way_there


def predict(trees, row, node=0):
    """What a row is told: the value of its leaf, or a mixture of several."""
    if trees.feature[node] < 0:
        return trees.value[node]
    child = step(trees, node, row)
    if child == ALL:
        below = range(trees.left[node], trees.right[node] + 1)
        return sum(trees.share[v] * predict(trees, row, v) for v in below)
    return trees.value[node] if child == STAYS else predict(trees, row, trees.left[node] + child)


def surrogates_of(X, w, sent, feature, nominal, options):
    """Return (feature, agreement, adjusted) of the best surrogates of a test, the best first."""
    total, heavier, found = w[sent >= 0].sum(), max(w[sent == 0].sum(), w[sent == 1].sum()), []
    for f in range(X.shape[1]):
        x = X[:, f]
        seen = ~np.isnan(x) & (sent >= 0)
        if f == feature or not seen.any():
            continue
        majority = max(w[seen & (sent == 0)].sum(), w[seen & (sent == 1)].sum())
        agree = majority
        if nominal[f]:
            levels = [seen & (x == c) for c in np.unique(x[seen])]
            sums = np.array([[w[own & (sent == side)].sum() for side in (0, 1)] for own in levels])
            agree = sums.max(axis=1).sum()
        else:
            for cut in np.unique(x[~np.isnan(x)])[1:]:
                below = seen & (x < cut)
                if min(below.sum(), (seen & ~below).sum()) >= 2:
                    same = w[seen & (below == (sent == 0))].sum()
                    agree = max(agree, same, w[seen].sum() - same)
        whole, most = (total, heavier) if options["surrogate_style"] == 0 else (w[seen].sum(), majority)
        if whole > most and (agree - most) / (whole - most) > 1e-10:
            found.append((f, agree / whole, (agree - most) / (whole - most)))
    return sorted(found, key=lambda one: -one[1])[: options["max_surrogates"]]


def audit(trees, criterion, X, y, w, n_classes, options, nominal, limits, *, best=True):
    """Assert that every node is what its rows make it, and that its test is legal, and the best."""
    lists, depth = {0: (np.arange(len(y)), w)}, {0: 0}
    root = naive.impurities(criterion, y, w, np.ones((1, len(w)), bool), n_classes)[0]
    for node in range(trees.n_nodes):
        rows, weight = lists.pop(node)
        y_own, X_own = y[rows], X[rows]
        assert trees.n_samples[node] == len(rows), node
        assert np.isclose(trees.weight[node], weight.sum(), rtol=1e-9), node
        everyone = np.ones((1, len(rows)), bool)
        impurity = naive.impurities(criterion, y_own, weight, everyone, n_classes)[0]
        slack = 1e-9 * max(impurity, root * 1e-3, 1e-300)
        assert abs(trees.impurity[node] - impurity) <= slack, (node, trees.impurity[node], impurity)
        value = naive.leaf_value(criterion, y_own, weight, n_classes)
        assert np.allclose(trees.value[node], value, rtol=1e-9, atol=1e-12 * (np.ptp(y) + 1)), (node, value)
        own = in_node(limits, weight / w[rows])
        stops = naive.must_stop(y_own, weight, depth[node], own)
        found = {} if stops else candidates(criterion, X_own, y_own, weight, n_classes, options, nominal, own)
        share = weight.sum() / w.sum()
        feature = int(trees.feature[node])
        if feature < 0:
            worth = max((one.gain.max() for one in found.values()), default=-math.inf)
            assert not best or worth == -math.inf or worth * share < limits.min_decrease + slack, (node, worth)
            continue
        assert not stops, node
        sent = np.array([way(trees, node, x) for x in X_own[:, feature]])
        final = np.where((sent == GONE) & (options["missing"] in {"learned", "branch"}), default(trees, node), sent)
        if options["missing"] == "branch" and default(trees, node) in sent:  # too few for a child: scored without
            final = sent
        own = found[feature]
        same = [k for k, one in enumerate(own.final) if is_same_division(one, final)]
        assert same, (node, feature, "not a legal test", sent)
        k = same[0]
        assert abs(trees.gain[node] - own.gain[k]) <= slack, (node, trees.gain[node], own.gain[k])
        assert not best or naive.is_worth(criterion, found, feature, k, slack), (node, trees.gain[node])
        if options["missing"] == "surrogate":
            check_surrogates(trees, node, X_own, weight, sent, nominal, options)
        deal(trees, node, rows, weight, X_own, lists)
        for child in range(trees.left[node], trees.right[node] + 1):
            depth[child] = depth[node] + 1
    assert not lists


def is_same_division(a, b):
    """Whether two assignments of children are one but for the names of the children."""
    pairs = set(zip(a.tolist(), b.tolist(), strict=True))
    n_a, n_b = len({x for x, _ in pairs}), len({x for _, x in pairs})
    return len(pairs) == n_a == n_b and all((x == GONE) == (z == GONE) for x, z in pairs)


def check_surrogates(trees, node, X, w, sent, nominal, options):
    own = trees.surrogates
    wanted = surrogates_of(X, w, sent, int(trees.feature[node]), nominal, options) if options["use_surrogate"] else []
    span = slice(own.start[node], own.start[node + 1]) if len(own.start) > 1 else slice(0)
    assert own.feature[span].tolist() == [f for f, _, _ in wanted], node
    assert np.allclose(own.agreement[span], [agree for _, agree, _ in wanted]), node
    assert np.allclose(own.adjusted[span], [adjusted for _, _, adjusted in wanted]), node


def deal(trees, node, rows, weight, X, lists):
    """Write the lists of the children."""
    first, last = int(trees.left[node]), int(trees.right[node])
    go = np.array([step(trees, node, x) for x in X])
    known = np.array([weight[go == v].sum() for v in range(last - first + 1)])
    if (go == ALL).any() or trees.policy == 1:
        assert np.allclose(trees.share[first : last + 1], known / known.sum())
    for v, child in enumerate(range(first, last + 1)):
        part = np.where(go == v, 1.0, np.where(go == ALL, known[v] / known.sum(), 0.0))
        lists[child] = rows[part > 0], (weight * part)[part > 0]
