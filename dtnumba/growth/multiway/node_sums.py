# mypy: ignore-errors
# ruff: noqa: D102
"""Statistics of rows by the kind of the target. A row of statistics: the numbers of each output, weight, rows.

Of rows, a part counts as what it is of its row.

All sums are exact, so that the order of the rows changes no bit of them: weights are multiples of one unit, of which
float64 holds as many as they sum to, and numbers are rounded to a multiple of a power of two (``grain_of``).

A kind of target has ``offsets``, where each output's numbers begin, and these methods:

add(grown, sums, k, i, weight) put the i-th row listed into sums[k]
add_by_code(grown, sums, held, codes, start, stop, one)  put rows into the sums of their codes, which are marked; all
                               rows weigh 1 if ``one``. Some sums are told from others at the end,
complete(grown, sums, k, one)  by this
add_key(work, sums, k, key, start, one)  put the row of a key in, of a node whose rows are listed from ``start``
is_pure(grown, start, stop)    whether all rows have the same target
settle(grown, node, ...)       write the value of a node, where that is a mean; what is added from now on is its rows
resume(grown, node)            the rows of a settled node are added from now on
describe(criterion, grown, node, ...)  write the impurity of a node from its rows and sums
score(criterion, sums, a, b)   what a scan maximises for the sides sums[a] and sums[b], averaged over outputs
"""

import math
from typing import NamedTuple

import numpy as np

from dtnumba.criteria.contract import NO_GAIN, gain_of, impurity_of, is_centred, loss_of, score_of
from dtnumba.growth.multiway import columns as col
from dtnumba.growth.multiway.ordered_columns import class_of, place_of
from dtnumba.runtime.kernels import by_class, by_type, inline, kernel_type, outlined

add_row, add_key = by_type("add"), by_type("add_key")
add_by_code, complete = by_type("add_by_code"), by_type("complete")
is_pure = by_type("is_pure")
describe = by_type("describe")
score_in_place = by_type("score")  # of a scan: what ``score`` says, without a call


def _nothing_to_settle(target, grown, node, start, stop):
    pass


def _as_ever(target, grown, node):
    pass


settle, resume = by_type("settle", _nothing_to_settle), by_type("resume", _as_ever)


_WORD_BITS, _IN_WORD, _ONE = np.uint64(6), np.uint64(63), np.uint64(1)


@inline
def are_equal(values, rows, start, stop):
    """Tell whether the rows at [start, stop) have one value."""
    first = values[rows[start]]
    for i in range(start + 1, stop):
        if values[rows[i]] != first:
            return False
    return True


@inline
def _agree(outputs, grown, start, stop):
    """Tell whether all rows have the same target, in every output."""
    if len(grown.outcome) > 0:
        for i in range(start + 1, stop):
            if grown.outcome[i] != grown.outcome[start]:
                return False
        return True
    for o in range(len(outputs)):
        if not are_equal(outputs[o], grown.row, start, stop):
            return False
    return True


@kernel_type
class ClassSums(NamedTuple):
    """Weight of each class of every output."""

    places: np.ndarray  # (n_outputs, n) int32: where a row's class stands among the numbers
    offsets: np.ndarray  # (n_outputs + 1,) int64

    def add(self, grown, sums, k, i, weight):
        if len(grown.outcome) > 0:
            sums[k, grown.outcome[i]] += weight
        else:
            for o in range(len(self.places)):
                sums[k, self.places[o, grown.row[i]]] += weight
        n = self.offsets[len(self.offsets) - 1]
        sums[k, n] += weight
        sums[k, n + 1] += 1.0 if len(grown.part) == 0 else grown.part[i]

    def add_by_code(self, grown, sums, held, codes, start, stop, one):
        rows, classes, weights, parts = grown.row, grown.outcome, grown.weight, grown.part
        n, is_one_output = np.uint64(self.offsets[1] + 1), len(classes) > 0
        for i in range(np.uint64(start), np.uint64(stop)):
            code = np.uint64(codes[np.uint64(rows[i])])
            held[code >> _WORD_BITS] |= _ONE << (code & _IN_WORD)
            if not is_one_output:
                add_row(self, grown, sums, np.int64(code), np.int64(i), weights[i])
            elif one:
                sums[code, np.uint64(classes[i])] += 1.0
            else:
                sums[code, np.uint64(classes[i])] += weights[i]
                sums[code, n] += 1.0 if len(parts) == 0 else parts[i]

    def complete(self, grown, sums, k, one):
        n = self.offsets[1]
        if len(grown.outcome) > 0:
            for c in range(n):
                sums[k, n] += sums[k, c]
            if one:
                sums[k, n + 1] = sums[k, n]

    def add_key(self, work, sums, k, key, start, one):
        if len(work.grown.outcome) == 0:
            at = start + place_of(work, key)
            add_row(self, work.grown, sums, k, at, work.grown.weight[at])
            return
        n, weight, part = self.offsets[1], 1.0, 1.0
        if not one:
            at = start + place_of(work, key)
            weight = work.grown.weight[at]
            part = work.grown.part[at] if len(work.grown.part) > 0 else 1.0
        sums[k, class_of(work, key, start)] += weight
        sums[k, n] += weight
        sums[k, n + 1] += part

    def is_pure(self, grown, start, stop):
        return _agree(self.places, grown, start, stop)

    def describe(self, criterion, grown, node, start, stop):
        n_outputs, n, impurity = len(self.places), self.offsets[len(self.offsets) - 1], 0.0
        sums = grown.sums[node]
        for o in range(n_outputs):
            impurity += impurity_of(criterion, sums[self.offsets[o] : self.offsets[o + 1]], sums[n])
        grown.numbers[node, col.IMPURITY] = impurity / n_outputs

    def score(self, criterion, sums, a, b):
        n_outputs, total = len(self.offsets) - 1, 0.0
        weight_a, weight_b = weight_of(self, sums, a), weight_of(self, sums, b)
        for o in range(n_outputs):
            low, high = self.offsets[o], self.offsets[o + 1]
            total += score_of(criterion, sums[a, low:high], sums[b, low:high], weight_a, weight_b)
        return total / n_outputs


# Weights that sum to more are no repeated rows, and would leave few digits to what they multiply.
_MOST_REPEATED = 2.0**31
_MOST_SUM = 1e300


@inline
def grain_of(most):
    """Return what ``to_grain`` takes to round numbers so that sums which are nowhere larger than ``most`` are exact.

    It is so large that float64 cannot tell numbers beside it which lie closer than the unit they are rounded to: 2**51
    of these are no less than ``most``. Sums that would leave float64 are not rounded.
    """
    return math.ldexp(1.5, math.frexp(most)[1] + 1) if 0.0 < most < _MOST_SUM else 0.0


@inline
def to_grain(number, grain):
    """Round a number to the unit of a grain."""
    return (number + grain) - grain


@inline
def _weighed(weight, number, grain, repeats):
    """Return weight * number in whole units; a weight that ``repeats`` is the row so many times, to the bit."""
    return weight * to_grain(number, grain) if repeats == 1.0 else to_grain(weight * number, grain)


@kernel_type
class NumberSums(NamedTuple):
    """Sums of w * y of every output, and of w * y * y, or of w * (y - origin), where the criterion asks for these.

    Where the criterion must not depend on it, y is measured from the origin: the mean of the node in hand, so that rows
    which hardly differ beside those of other nodes are told apart.
    """

    y: np.ndarray  # (n_outputs, n) float64
    # (n_outputs + n_numbers + 1,) float64 of the node in hand: the origins, zero where these do not move; the grain of
    # each number; 1 where weights are how often rows are repeated, else 0
    measure: np.ndarray
    moves: int  # 1: the origin does
    shows_away: int  # 1: the second number is the sum of w * (y - origin), and the first is that of w * y
    offsets: np.ndarray  # (n_outputs + 1,) int64

    def add(self, grown, sums, k, i, weight):
        at, n_outputs = np.int64(0), len(self.y)
        repeats = self.measure[len(self.measure) - 1]
        for o in range(n_outputs):
            y = grown.outcome[i] if len(grown.outcome) > 0 else self.y[o, grown.row[i]]
            grain, away = self.measure[n_outputs + at], y - self.measure[o]
            sums[k, at] += _weighed(weight, y if self.shows_away == 1 else away, grain, repeats)
            if self.offsets[1] == 2:
                grain = self.measure[n_outputs + at + 1]
                sums[k, at + 1] += _weighed(weight, away if self.shows_away == 1 else away * away, grain, repeats)
            at += self.offsets[1]
        sums[k, at] += weight
        sums[k, at + 1] += 1.0 if len(grown.part) == 0 else grown.part[i]

    def add_by_code(self, grown, sums, held, codes, start, stop, one):
        for i in range(start, stop):
            code = np.uint64(codes[grown.row[i]])
            held[code >> _WORD_BITS] |= _ONE << (code & _IN_WORD)
            add_row(self, grown, sums, code, i, grown.weight[i])

    def complete(self, grown, sums, k, one):
        pass

    def add_key(self, work, sums, k, key, start, one):
        at = start + place_of(work, key)
        add_row(self, work.grown, sums, k, at, work.grown.weight[at])

    def is_pure(self, grown, start, stop):
        return _agree(self.y, grown, start, stop)

    def settle(self, grown, node, start, stop):
        """Write the mean of each output, in two passes to round well, and what sums are measured in."""
        n_outputs, total, repeats = len(self.y), 0.0, 1.0
        for i in range(start, stop):
            weight = grown.weight[i]
            total += weight
            if weight != np.floor(weight):
                repeats = 0.0
        repeats = repeats if total <= _MOST_REPEATED else 0.0
        for o in range(n_outputs):
            low = high = self.y[o, grown.row[start]]
            for i in range(start, stop):
                y = self.y[o, grown.row[i]]
                low, high = min(low, y), max(high, y)
            grain, above, rest = grain_of((high - low) * total), 0.0, 0.0
            for i in range(start, stop):
                above += _weighed(grown.weight[i], self.y[o, grown.row[i]] - low, grain, repeats)
            mean = low + above / total
            for i in range(start, stop):
                rest += _weighed(grown.weight[i], self.y[o, grown.row[i]] - mean, grain, repeats)
            grown.value[node, o] = min(max(mean + rest / total, low), high)
            _write_measure(self, grown, node, o, low, high, total, grain)
        grown.measure[node, len(self.measure) - 1] = repeats
        resume(self, grown, node)

    def resume(self, grown, node):
        for k in range(len(self.measure)):
            self.measure[k] = grown.measure[node, k]

    def describe(self, criterion, grown, node, start, stop):
        n_outputs, n, impurity = len(self.y), self.offsets[len(self.offsets) - 1], 0.0
        sums, total, repeats = grown.sums[node], grown.sums[node, n], self.measure[len(self.measure) - 1]
        for o in range(n_outputs):
            value = grown.value[node, o]
            if loss_of(criterion, value, value) < 0.0:
                impurity += impurity_of(criterion, sums[self.offsets[o] : self.offsets[o + 1]], total)
            elif not are_equal(self.y[o], grown.row, start, stop):
                loss = largest = 0.0
                for i in range(start, stop):
                    largest = max(largest, loss_of(criterion, self.y[o, grown.row[i]], value))
                grain = grain_of(largest * total)
                for i in range(start, stop):
                    own = loss_of(criterion, self.y[o, grown.row[i]], value)
                    loss += _weighed(grown.weight[i], own, grain, repeats)
                impurity += loss / total
        grown.numbers[node, col.IMPURITY] = impurity / n_outputs

    def score(self, criterion, sums, a, b):
        n_outputs, total = len(self.offsets) - 1, 0.0
        weight_a, weight_b = weight_of(self, sums, a), weight_of(self, sums, b)
        for o in range(n_outputs):
            low, high = self.offsets[o], self.offsets[o + 1]
            total += _score_sides(criterion, sums, a, b, low, high, weight_a, weight_b)
        return total / n_outputs


@inline
def _write_measure(target, grown, node, o, low, high, total, grain):
    """Write where an output is measured from at a node, and the grains of its numbers."""
    measure, at, origin = grown.measure, len(target.y) + target.offsets[o], 0.0
    if target.moves == 1:
        # In whole units, too: targets that are lose nothing then
        origin = grown.value[node, o]
        origin = to_grain(origin, grain) if abs(origin) < grain else origin
    farthest = max(high - origin, origin - low)
    measure[node, o] = origin
    measure[node, at] = grain_of(max(high, -low) * total) if target.shows_away == 1 else grain_of(farthest * total)
    if target.offsets[1] == 2:
        measure[node, at + 1] = grain_of((farthest if target.shows_away == 1 else farthest * farthest) * total)


@inline
def _sides_as_they_are(criterion, sums, a, b, low, high, weight_a, weight_b):
    return score_of(criterion, sums[a, low:high], sums[b, low:high], weight_a, weight_b)


@inline
def _sides_from_their_mean(criterion, sums, a, b, low, high, weight_a, weight_b):
    """Score sums measured from the mean of both sides, which is the node's only where no value is missing."""
    away = sums[a, low] - (sums[a, low] + sums[b, low]) * (weight_a / (weight_a + weight_b))
    return score_of(criterion, (away,), (-away,), weight_a, weight_b)


def _has_one_moment(cls):
    return is_centred(cls) and getattr(cls, "moments", 1) == 1


_score_sides = by_class(_has_one_moment, _sides_from_their_mean, _sides_as_they_are)


@inline
def weight_of(target, sums, k):
    """Return the weight in sums[k]."""
    return sums[k, target.offsets[len(target.offsets) - 1]]


@inline
def rows_of(target, sums, k):
    """Return the rows in sums[k]."""
    return sums[k, target.offsets[len(target.offsets) - 1] + 1]


@outlined
def clear(sums, k):
    """Set sums[k] to zero."""
    for s in range(sums.shape[1]):
        sums[k, s] = 0.0


@outlined
def copy_sums(sums, k, other, j):
    """Write sums[k] to other[j]."""
    for s in range(sums.shape[1]):
        other[j, s] = sums[k, s]


@outlined
def add_sums(sums, k, other, j):
    """Add sums[k] to other[j]."""
    for s in range(sums.shape[1]):
        other[j, s] += sums[k, s]


@outlined
def subtract(sums, whole, taken, to):
    """Write sums[whole] - sums[taken] to sums[to]."""
    for s in range(sums.shape[1]):
        sums[to, s] = sums[whole, s] - sums[taken, s]


@outlined
def score(target, criterion, sums, a, b):
    """Return what a scan maximises for the sides sums[a] and sums[b], averaged over outputs."""
    return score_in_place(target, criterion, sums, a, b)


@outlined
def gain(target, criterion, sums, whole, kids, shares, n):
    """Return the gain of a split of sums[whole] into kids[:n], averaged over outputs; ``shares`` get their weights."""
    n_outputs, total = len(target.offsets) - 1, 0.0
    for v in range(n):
        shares[v] = weight_of(target, kids, v)
    for o in range(n_outputs):
        low, high = target.offsets[o], target.offsets[o + 1]
        total += gain_of(criterion, sums[whole, low:high], kids[:n, low:high], shares[:n])
    return total / n_outputs if total > NO_GAIN else NO_GAIN
