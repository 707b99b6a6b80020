# mypy: ignore-errors
"""What a loss says of rows, as whole numbers: the type of the loss picks the code.

Losses are counted in units so fine that none is lost, and rounded down, so that bounds compare whole numbers. A set of
rows never loses less than a part of it: all bounds of the search rest on this. Where losses are no sums of whole
numbers (gini, squares), it holds but for the last digit of a float64.
"""

import numpy as np

from dtnumba.runtime.kernels import by_type, inline

BIG = np.int64(1) << np.int64(60)  # more than any loss; a few of them can be added

leaf = by_type("leaf")  # (loss, sums) -> int64


@inline
def _two_leaves(loss, a, b):
    return leaf(loss, a) + leaf(loss, b)


@inline
def _one_price(loss, rule, column, spent, sums):
    return np.int64(rule.price)


@inline
def _spends_nothing(loss, column):
    return np.int64(0)


two_leaves = by_type("two_leaves", _two_leaves)  # (loss, sums, sums) -> int64: of both sides of a test
# (loss, rule, column, spent, sums): the price of a test on a column, below so many that are spent, at rows of such sums
test_price = by_type("test_price", _one_price)
spends = by_type("spends", _spends_nothing)  # (loss, column): 1 if a test spends its column, which changes prices below
spread = by_type("spread")  # (loss, sums) -> float64: how mixed rows are, by which columns are ordered


@inline
def fill_each(loss, pair, ones, total, i, low, high, cells):
    """Fill cells one by one; ``pair`` holds a column more than the others, where the sums of a cell are made."""
    n, here = len(total), pair[:, pair.shape[1] - 1]
    for j in range(low, high):
        for k in range(n):
            here[k] = pair[k, j]
        cells[0, j] = leaf(loss, here)
        for k in range(n):
            here[k] = ones[k, i] - pair[k, j]
        cells[1, j] = leaf(loss, here)
        for k in range(n):
            here[k] = ones[k, j] - pair[k, j]
        cells[2, j] = leaf(loss, here)
        for k in range(n):
            here[k] = total[k] - ones[k, i] - ones[k, j] + pair[k, j]
        cells[3, j] = leaf(loss, here)


# (loss, pair, ones, total, i, low, high, cells): cells[c, j] is the loss of cell c (both, i alone, j alone, neither)
fill_cells = by_type("fill_cells", fill_each)


@inline
def gini_of(sums):
    """Return weight times gini impurity."""
    total = squares = 0.0
    for k in range(len(sums)):
        total += sums[k]
        squares += float(sums[k]) * sums[k]
    return total - squares / total if total > 0 else 0.0


@inline
def note_cuts(rows, order, codes, n, lanes):
    """Write what the first rows of a column lose at worst, each so many, and where the value changes next."""
    if len(rows.worst) > 0:
        total = np.int64(0)
        lanes.worst[0] = 0
        for t in range(np.uint64(n)):
            total += rows.worst[order[t]]
            lanes.worst[t + np.uint64(1)] = total
    lanes.following[n] = n
    for t in range(n - 1, 0, -1):
        lanes.following[t] = t if codes[t] != codes[t - 1] else lanes.following[t + 1]
    lanes.following[0] = lanes.following[1] if n > 0 else 0
