"""The choice of a test in C4.5 (Quinlan 1993, release 8 of 1996), and in Weka's version of it, J48.

Of a number, the cut of largest gain stands for the column, and pays for having been chosen among others. Of the
columns whose gain is average or more, the one of largest gain ratio wins.
"""

import math
from typing import NamedTuple

import numpy as np

from dtnumba._jit import part
from dtnumba.criteria import NO_GAIN, TIE, Entropy, x_log_x

_GAP = 1e-5  # values no farther apart are not parted
_HAIR = 1e-6  # sums of weights are compared with so much play
_BELOW_AVERAGE = 1e-3  # a gain may lack so much of the average
_LEAST_SHARE, _MOST_OF_CUT = 0.1, 25.0  # of the rows of an average class; a side of a cut never needs more rows


class _QuinlanFields(NamedTuple):
    table: np.ndarray  # as in Entropy
    values: np.ndarray  # the values of all columns end to end, ascending in each
    first_code: np.ndarray  # (p + 1,) int64: where those of a column begin
    is_wide: np.ndarray  # (p,) bool: columns of so many categories that they are no part of the average
    min_objects: float
    n_classes: int
    is_charged: bool  # whether a cut pays for the choice among cuts
    has_floor: bool  # whether a gain below average disqualifies
    margin: float  # by which a later gain, or ratio, must be larger
    least_information: float
    bar: float  # a gain ratio must be above it


@part
class QuinlanRatio(_QuinlanFields):
    """Gain ratio among columns of at least average gain, the cuts of numbers charged."""

    __slots__ = ()
    target = "classes"
    by_address = True
    impurity = Entropy.impurity
    score = Entropy.score

    def x_log_x(self, x):
        return x_log_x(self, x)

    def information(self, share):
        return -share * math.log2(share) if share > 0.0 else 0.0

    def allows(self, feature, last, following, below, above):
        first = self.first_code[feature]
        if self.values[first + following] <= self.values[first + last] + _GAP:
            return False
        least = _LEAST_SHARE * (below + above) / self.n_classes
        least = self.min_objects if least <= self.min_objects else min(least, _MOST_OF_CUT)
        return below >= least - _HAIR and above >= least - _HAIR

    def lead(self, weight):
        return self.margin * weight

    def charged(self, gain, n_allowed, weight):
        if gain == NO_GAIN:
            return gain
        if self.is_charged and n_allowed > 1:
            gain -= math.log2(n_allowed) / weight
        return gain if gain > self.margin else NO_GAIN

    def worth(self, score, below, above, weight_below, weight_above, weight):
        known, whole = weight_below + weight_above, 0.0
        for k in range(len(below)):
            both = below[k] + above[k]
            whole += both * math.log2(both) if both > 0.0 else 0.0
        gain = (score - whole + known * math.log2(known)) / weight
        information = 0.0
        for part_of in (weight_below, weight_above, weight - known):
            if part_of > 0.0:
                information -= part_of / weight * math.log2(part_of / weight)
        return gain / information if information > self.least_information else 0.0

    def choose(self, gains, informations, features, n):
        total, n_counted, floor = 0.0, 0, NO_GAIN
        for i in range(n):
            if gains[features[i]] > NO_GAIN and not self.is_wide[features[i]]:
                total += gains[features[i]]
                n_counted += 1
        if self.has_floor:
            if n_counted == 0:
                return -1
            floor = total / n_counted - _BELOW_AVERAGE
        best, bar = -1, self.bar
        for i in range(n):
            f = features[i]
            if gains[f] > NO_GAIN and gains[f] >= floor and informations[f] > self.least_information:
                ratio = gains[f] / informations[f]
                if ratio > bar:
                    best, bar = i, ratio + max(self.margin, TIE * abs(ratio))
        return best


def quinlan_ratio(bins, nominal, n_rows, total, n_classes, options):
    """Return the criterion for a table as codes: ``n_rows`` of weight ``total``, and the options of a C45Classifier."""
    is_j48 = options.variant == "j48"
    # Columns of three values to ten rows say little by gaining much; where all are such, they must do.
    is_wide = nominal & (bins.n_codes >= 0.3 * n_rows)
    if is_wide.all():
        is_wide[:] = False
    return QuinlanRatio(
        table=Entropy.for_fit(total, len(nominal)).table,
        values=bins.low.astype(np.float64),
        first_code=np.asarray(bins.first_code, np.int64),
        is_wide=is_wide,
        min_objects=float(options.min_objects),
        n_classes=n_classes,
        is_charged=bool(options.mdl_correction),
        has_floor=bool(options.average_gain_rule),
        margin=1e-6 if is_j48 else 0.0,
        least_information=1e-6 if is_j48 else 1e-3,
        bar=1e-6 if is_j48 else -1e-3,
    )
