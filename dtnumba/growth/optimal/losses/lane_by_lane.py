# mypy: ignore-errors
"""The best cut of a column on both sides of many cuts of another one, for losses that one lane at a time is known of.

one_by_one    any loss of sums
along_tables  losses that tables tell: of the weight, less that of each class
along_counts  whichever of the two there is
"""

import numpy as np

from dtnumba.growth.optimal.losses.contract import BIG, test_price, two_leaves
from dtnumba.runtime.instructions.running_losses import running_tables
from dtnumba.runtime.kernels import inline, outlined


@inline
def fill_wholes(lanes, n, n_lanes):
    """Write the sums of both sides of each lane's cut; 0 for lanes of no cut."""
    for k in range(len(lanes.before)):
        lanes.whole[k] = 0
        for w in range(n_lanes):
            left = lanes.before[k, lanes.cut[w]]
            lanes.whole[k, 0, w], lanes.whole[k, 1, w] = left, lanes.before[k, n] - left


@outlined
def one_by_one(loss, rows, level, side, g, rule, least, lanes, n_lanes):
    """Any loss: lane by lane, all sums at each place."""
    n, n_sums = rows.size[level, side], lanes.sums.shape[1]
    order, codes = rows.row[level, side, g], rows.code[level, side, g]
    sums = lanes.sums
    for w in range(n_lanes):
        cut = lanes.cut[w]
        for s in range(2):
            for k in range(n_sums):
                sums[0, k] = 0
                sums[2, k] = lanes.before[k, cut] if s == 0 else lanes.before[k, n] - lanes.before[k, cut]
                sums[1, k] = sums[2, k]
            n_here, n_all = 0, cut if s == 0 else n - cut
            price = test_price(loss, rule, g, lanes.spent[1], sums[2])
            best = lanes.split[s, w]
            for t in range(n):
                r = order[t]
                if (lanes.place[r] < cut) == (s == 0):
                    n_here += 1
                    for k in range(n_sums):
                        sums[0, k] += rows.value[r, k]
                        sums[1, k] -= rows.value[r, k]
                if n_here >= least and n_all - n_here >= least and (t + 1 == n or codes[t + 1] != codes[t]):
                    best = min(best, two_leaves(loss, sums[0], sums[1]) + price)
            lanes.split[s, w] = best


@inline
def leaf_by_tables(loss, sums):
    """Return what a table says of the weight, less what one says of each class."""
    total = found = np.int64(0)
    for k in range(min(loss.n_classes, len(sums))):
        total += sums[k]
        found -= loss.of_class[sums[k]]
    return found + loss.of_size[total]


@outlined
def along_tables(loss, rows, level, side, g, rule, least, lanes, n_lanes):
    """Follow what tables say of both parts of both sides of each cut along a column; a row is of one class."""
    n, best, whole = np.int64(rows.size[level, side]), lanes.best, lanes.whole
    order, codes, cut = rows.row[level, side, g], rows.code[level, side, g], lanes.cut
    fill_wholes(lanes, n, n_lanes)
    best[:] = BIG
    counts, classes = lanes.counts[: 2 * loss.n_classes], whole[: loss.n_classes]
    scratch = loss.of_class, loss.of_size, counts, classes, best
    running_tables(order, lanes.place, rows.label, rows.delta, codes, n, cut, np.int64(least), *scratch)
    for s in range(2):
        for w in range(n_lanes):
            if best[s, w] < BIG:
                price = test_price(loss, rule, g, lanes.spent[1], whole[:, s, w])
                lanes.split[s, w] = min(lanes.split[s, w], best[s, w] + price)


@inline
def along_counts(loss, rows, level, side, g, rule, least, lanes, n_lanes):
    """Tell what the sides of cuts of a column lose: by tables where sums are whole and few, else one by one."""
    if len(loss.of_size) > 0:
        along_tables(loss, rows, level, side, g, rule, least, lanes, n_lanes)
    else:
        one_by_one(loss, rows, level, side, g, rule, least, lanes, n_lanes)
