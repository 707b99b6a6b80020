"""Rules a row and a test at a time: what holds, who answers, what a subset costs, the shortest formula."""

import itertools
import math

import numpy as np


def passes(test, x):
    """Whether one value passes a condition."""
    if math.isnan(x):
        return bool(test.missing)
    if test.kind == 2:
        return x in test.levels
    inside = not (x <= test.low) and x <= test.high
    return inside if test.kind == 0 else not inside


def answer(bodies, row):
    """Number of the first rule that holds for a row, their number where none does."""
    for r, body in enumerate(bodies):
        if all(passes(test, row[test.feature]) for test in body):
            return r
    return len(bodies)


def votes(bodies, label, confidence, row, n_classes):
    """Sum of confidences by class of the rules that hold."""
    total = [0.0] * n_classes
    for body, k, sure in zip(bodies, label, confidence, strict=True):
        if all(passes(test, row[test.feature]) for test in body):
            total[k] += sure
    return total


def exception_bits(n, fires, wrong, missed):
    """Bits that name the exceptions of a subset of rules (algorithm of C4.5rules)."""

    def part(n, errors, expected):
        if expected <= 1e-6:
            return 0.0 if errors == 0 else 1e6
        if expected >= n - 1e-6:
            return 0.0 if errors == n else 1e6
        return -errors * math.log2(expected / n) - (n - errors) * math.log2(1 - expected / n)

    half = 0.5 * (wrong + missed)
    if fires > n / 2:
        return math.log2(n) + part(fires, wrong, half) + part(n - fires, missed, missed)
    return math.log2(n) + part(fires, wrong, wrong) + part(n - fires, missed, half)


def subset_bits(covers, bits, is_class, subset):
    """Bits of a subset of the rules of one class, with its exceptions."""
    n = len(is_class)
    covered = np.zeros(n, bool)
    for r in subset:
        covered |= covers[r]
    theory = sum(bits[r] for r in subset) - math.log2(math.factorial(len(subset)))
    return 0.5 * theory + exception_bits(n, covered.sum(), (covered & ~is_class).sum(), (is_class & ~covered).sum())


def shortest_subset(covers, bits, is_class):
    """Least bits of all subsets."""
    rules = range(len(covers))
    subsets = itertools.chain.from_iterable(itertools.combinations(rules, k) for k in range(len(covers) + 1))
    return min(subset_bits(covers, bits, is_class, subset) for subset in subsets)


def fewest_terms(truth):
    """Terms and tests of the shortest "or" of "and"s of a truth table over n bits, by trying all."""
    n = truth.ndim
    rows = list(itertools.product((0, 1), repeat=n))
    on = {row for row in rows if truth[row]}
    implicants = []
    for term in itertools.product((0, 1, 2), repeat=n):
        cover = {row for row in rows if all(t in {2, x} for t, x in zip(term, row, strict=True))}
        if cover <= on:
            implicants.append((sum(t != 2 for t in term), cover))
    for k in range(len(on) + 1):
        found = [
            sum(size for size, _ in chosen)
            for chosen in itertools.combinations(implicants, k)
            if set().union(*(cover for _, cover in chosen)) == on
        ]
        if found:
            return k, min(found)
    return None
