# mypy: ignore-errors
# ruff: noqa: D102
"""The best knot of a parent and a predictor: one walk down the sorted rows for each pair of columns of the basis.

Of every knot a few numbers are kept, of the hinge that begins there, without what the basis explains of it: its square,
its product with the hinge that begins at the least value (which is the linear term), and its products with the targets.
A new pair of columns changes them by what it explains; the hinge's product with a column follows the knot down, as
Friedman (1991, section 3.9) updates it. So a step costs by its new columns, and not by all there are.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.runtime.kernels import inline, outlined
from dtnumba.runtime.tasks import each_item

# Numbers of an item
OF_PARENT, COLUMN, CELL, AT, SEEN, FIRST_GAP, GAP, END, KIND = range(9)
N_ITEM_NUMBERS = 9
# Kinds of columns
KNOTS, ONLY_LINE, ONLY_LEVELS = range(3)
# What is kept of a knot: its square without the constant, its square without the basis, its product with the line;
# then one with each target.
OWN, REST, CROSS, GOAL = range(4)
# What was found
NO_KNOT, LINEAR, PAIR, ONE_HINGE = range(4)

ALIKE = 1e-10  # share of its square that a linear term must add
CLOSER = 1e-10  # share by which one gain must exceed another, so that rounding chooses nothing


class ScannedColumns(NamedTuple):
    """The predictors in order, and what their products are taken with."""

    order: np.ndarray  # (p, n) uint32: rows by ascending value
    values: np.ndarray  # (p, n) in that order
    parents: np.ndarray  # (m, n), times the root of the weight
    constant: np.ndarray  # (n,)
    targets: np.ndarray  # (n, outputs), without their means
    basis: np.ndarray  # (pairs, n, 2)
    of_targets: np.ndarray  # (pairs, 2, outputs)
    is_unit: int  # whether parent 0 is one everywhere


class Kept(NamedTuple):
    """What is kept of the knots of every parent and predictor, a cell."""

    numbers: np.ndarray  # (entries, GOAL + outputs)
    places: np.ndarray  # (entries + 1,) int32: of the knot in the order
    sizes: np.ndarray  # (cells,) entries: the knots and the line; or the levels


@each_item
class Scan(NamedTuple):
    """Bring the knots of parents and predictors up to the basis, and find the best of each."""

    columns: ScannedColumns
    kept: Kept
    items: np.ndarray  # (items, N_ITEM_NUMBERS) int64
    shares: np.ndarray  # (items,) by which the gain of a predictor is multiplied
    n_pairs: int
    tolerance: np.ndarray  # (2,) share of its square that a hinge must add: alone, and beside a line
    most: float  # gain that is too good to be true
    found: np.ndarray  # (items, 3) out: gain, what, and the place of the knot
    scratch: np.ndarray  # (workers, 1, most entries, 2)
    sums: np.ndarray  # (workers, 1, 2, outputs)
    counter: np.ndarray

    def n_items(self):
        return len(self.items)

    def do_item(self, k, worker):
        item, mine, sums = self.items[k], self.scratch[worker, 0], self.sums[worker, 0]
        if item[SEEN] < 0:
            if item[KIND] == ONLY_LEVELS:
                _survey_levels(self.columns, self.kept, item, sums)
            else:
                _survey_numbers(self.columns, self.kept, item, mine, sums)
        for pair in range(max(item[SEEN], 0), self.n_pairs):
            if item[KIND] == ONLY_LEVELS:
                _products_of_levels(self.columns, self.kept, item, pair, mine)
            else:
                _products_of_knots(self.columns, self.kept, item, pair, mine)
            _take(self.columns, self.kept, item, pair, mine)
        if item[KIND] == ONLY_LEVELS:
            gain, what, place = _best_level(self.kept, item)
        else:
            gain, what, place = _best_knot(self, item, self.shares[k])
        self.found[k, 0], self.found[k, 1], self.found[k, 2] = gain * self.shares[k], what, place


@outlined
def _survey_numbers(columns, kept, item, mine, sums):
    """Choose the knots, and keep what they are without the constant."""
    order, x = columns.order[item[COLUMN]], columns.values[item[COLUMN]]
    parent, constant, targets, least = columns.parents[item[OF_PARENT]], columns.constant, columns.targets, x[0]
    is_unit, n_outputs = columns.is_unit != 0 and item[OF_PARENT] == 0, targets.shape[1]
    only_line, end = item[KIND] == ONLY_LINE, item[END]
    entry, first, left = item[AT], item[AT], item[FIRST_GAP]
    square = hinge = hinge_square = with_constant = level = 0.0
    for o in range(n_outputs):
        sums[0, o] = sums[1, o] = 0.0
    for r in range(len(order) - 2, -1, -1):
        i, step = order[r + 1], x[r + 1] - x[r]
        b = 1.0 if is_unit else parent[i]
        # All sums are of the rows above the knot x[r]: of parts that do not cancel, and grow with it.
        square += b * b
        hinge_square += step * (2.0 * hinge + step * square)
        hinge += step * square
        with_constant += b * constant[i]
        level += step * with_constant
        for o in range(n_outputs):
            sums[0, o] += b * targets[i, o]
            sums[1, o] += step * sums[0, o]
        is_knot = False
        if r >= end and b > 0.0 and (hinge_square > 0.0 or columns.is_unit == 0) and not only_line:
            left -= 1
            is_knot = left == 0
        if is_knot or r == 0:
            left = item[GAP]
            own = hinge_square - level * level
            mine[entry - first, 0] = level
            kept.places[entry] = r
            kept.numbers[entry, OWN] = own
            kept.numbers[entry, REST] = own
            kept.numbers[entry, CROSS] = hinge_square + (x[r] - least) * hinge
            for o in range(n_outputs):
                kept.numbers[entry, GOAL + o] = sums[1, o]
            entry += 1
    for e in range(first, entry):
        kept.numbers[e, CROSS] -= mine[e - first, 0] * level
    kept.sizes[item[CELL]] = entry - first


@outlined
def _survey_levels(columns, kept, item, sums):
    """Keep what the levels of a category are without the constant: all but the first."""
    order, x = columns.order[item[COLUMN]], columns.values[item[COLUMN]]
    parent, constant, targets = columns.parents[item[OF_PARENT]], columns.constant, columns.targets
    is_unit, n_outputs = columns.is_unit != 0 and item[OF_PARENT] == 0, targets.shape[1]
    entry, first, n = item[AT], item[AT], len(order)
    square = level = 0.0
    for o in range(n_outputs):
        sums[0, o] = 0.0
    for r in range(n):
        i = order[r]
        b = 1.0 if is_unit else parent[i]
        if x[r] > 0.0:
            square += b * b
            level += b * constant[i]
            for o in range(n_outputs):
                sums[0, o] += b * targets[i, o]
        if x[r] > 0.0 and (r == n - 1 or x[r + 1] != x[r]):
            own = square - level * level
            kept.places[entry] = r
            kept.numbers[entry, OWN] = own
            kept.numbers[entry, REST] = own
            kept.numbers[entry, CROSS] = 0.0
            for o in range(n_outputs):
                kept.numbers[entry, GOAL + o] = sums[0, o]
                sums[0, o] = 0.0
            square = level = 0.0
            entry += 1
    kept.sizes[item[CELL]] = entry - first


@outlined
def _products_of_knots(columns, kept, item, pair, mine):
    """Write the products of every hinge with a pair of columns of the basis."""
    order, x, at = columns.order[item[COLUMN]], columns.values[item[COLUMN]], item[AT]
    parent, basis = columns.parents[item[OF_PARENT]], columns.basis[pair]
    is_unit = columns.is_unit != 0 and item[OF_PARENT] == 0
    a = b = c = d = 0.0
    k, n = 0, len(order)
    place = kept.places[at]
    if is_unit:
        for r in range(n - 2, -1, -1):
            i, step = order[r + 1], x[r + 1] - x[r]
            a += basis[i, 0]
            b += basis[i, 1]
            c += step * a
            d += step * b
            if r == place:
                mine[k, 0] = c
                mine[k, 1] = d
                k += 1
                place = kept.places[at + k]
        return
    for r in range(n - 2, -1, -1):
        i, step = order[r + 1], x[r + 1] - x[r]
        above = parent[i]
        a += above * basis[i, 0]
        b += above * basis[i, 1]
        c += step * a
        d += step * b
        if r == place:
            mine[k, 0] = c
            mine[k, 1] = d
            k += 1
            place = kept.places[at + k]


@outlined
def _products_of_levels(columns, kept, item, pair, mine):
    """Write the products of every level with a pair of columns of the basis."""
    order, x = columns.order[item[COLUMN]], columns.values[item[COLUMN]]
    parent, basis = columns.parents[item[OF_PARENT]], columns.basis[pair]
    is_unit = columns.is_unit != 0 and item[OF_PARENT] == 0
    a = b = 0.0
    k, n = 0, len(order)
    for r in range(n):
        if x[r] > 0.0:
            i = order[r]
            above = 1.0 if is_unit else parent[i]
            a += above * basis[i, 0]
            b += above * basis[i, 1]
            if r == n - 1 or x[r + 1] != x[r]:
                mine[k, 0] = a
                mine[k, 1] = b
                a = b = 0.0
                k += 1


@inline
def _take(columns, kept, item, pair, mine):
    """Take what a pair of columns explains from every hinge of a cell."""
    at, size, of_targets = item[AT], kept.sizes[item[CELL]], columns.of_targets[pair]
    c, d = mine[size - 1, 0], mine[size - 1, 1]
    for k in range(size):
        a, b = mine[k, 0], mine[k, 1]
        kept.numbers[at + k, REST] -= a * a + b * b
        kept.numbers[at + k, CROSS] -= a * c + b * d
        for o in range(of_targets.shape[1]):
            kept.numbers[at + k, GOAL + o] -= a * of_targets[0, o] + b * of_targets[1, o]


@inline
def _gain(numbers, e):
    """Return what a column gains by itself."""
    gain = 0.0
    if numbers[e, REST] > ALIKE * numbers[e, OWN]:
        for o in range(numbers.shape[1] - GOAL):
            gain += numbers[e, GOAL + o] ** 2 / numbers[e, REST]
    return gain


@outlined
def _best_level(kept, item):
    best, what, place = 0.0, NO_KNOT, -1
    for e in range(item[AT], item[AT] + kept.sizes[item[CELL]]):
        gain = _gain(kept.numbers, e)
        if gain > best * (1.0 + CLOSER):
            best, what, place = gain, LINEAR, kept.places[e]
    return best, what, place


@outlined
def _best_knot(task, item, share):
    numbers, places = task.kept.numbers, task.kept.places
    at, line = item[AT], item[AT] + task.kept.sizes[item[CELL]] - 1
    n_outputs, rest_of_line = numbers.shape[1] - GOAL, numbers[line, REST]
    has_line = rest_of_line > ALIKE * numbers[line, OWN]
    linear = _gain(numbers, line)
    best, what, place = linear, LINEAR if linear > 0.0 else NO_KNOT, 0
    tolerance = task.tolerance[1 if has_line else 0]
    for e in range(at, line):
        rest, along = numbers[e, REST], 0.0
        if has_line:
            along = numbers[e, CROSS] / rest_of_line
            rest -= along * numbers[e, CROSS]
        if not rest > tolerance * numbers[e, OWN]:
            continue
        gain = linear
        for o in range(n_outputs):
            gain += (numbers[e, GOAL + o] - along * numbers[line, GOAL + o]) ** 2 / rest
        if gain > best * (1.0 + CLOSER) and gain * share < task.most:
            best, what, place = gain, PAIR if has_line else ONE_HINGE, places[e]
    return best, what, place
