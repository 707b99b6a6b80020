"""How good a split is. Adding a criterion is one small class here, registered once; nothing else changes.

The contract
------------
A criterion is a NamedTuple class (its fields are its options, often none) with some of these methods. ``stats`` is a
short sequence of float64, to be read as ``stats[k]`` for ``k in range(len(stats))``:

* ``target = "classes"``: the weight of each class (of one output; several outputs are scored one by one and averaged);
* ``target = "numbers"``: ``(sum of w*y,)``, or ``(sum of w*y, sum of w*y*y)`` where the class says ``moments = 2``;
  with ``centred = True`` y is measured from an offset that the criterion must not depend on (better rounding);
* ``target = "ranks"``: no sums at all; the criterion looks at the order of the targets (``absolute_error``). On
  histogram codes such a criterion sees the rows of a node in the order of their codes, equal codes in one step.

impurity(stats, weight) -> float
    Impurity of a node, 0 where it is pure. The only method a criterion must have, and for most the only one.
score(left, right, weight_left, weight_right) -> float
    What the scan over the cuts of one feature maximises: any increasing function of the gain while the node stays
    the same. Left out: ``-(weight_left * impurity(left) + weight_right * impurity(right))``.
rough_gain(second, rows, all_second, all_rows) -> float32
    For two classes of whole counts: by how much the score of a split, at most the rows of the node, exceeds that of
    none; in float32, and within half a millionth for fewer than 4096 rows. ``rows`` go left, ``second`` of these are of
    class 1. With it, single precision chooses the few cuts of a small node that are worth scoring. Left out: all are.
gain(parent, children, weights) -> float
    Decrease of impurity by a split into V >= 2 children, per unit of the node's weight. ``children[v]`` are stats.
    It may be negative where a test has its price (``mdl``); such a split is not taken.
    Left out: ``impurity(parent) - sum of share * impurity(child)``.
information(share) -> float
    Split information of a child that receives this share of the weight; summed over the children. Left out: 0.
choose(gains, informations, features, n) -> int
    Which of the n candidate features wins, as an index into ``features``; ``gains[f]`` is -inf where a feature offers
    nothing, and -1 means no split, as does the choice of such a feature. Left out: the largest gain, on (near-)ties
    the feature that was drawn first.
loss(y, value) -> float
    For numbers: the loss of one row in a leaf with this value; its mean is the impurity shown for a node. Left out:
    ``impurity`` of the node's statistics.

A score or a gain of NaN says that the criterion knows no answer: such a cut is never taken, and where no other is left
the node is a leaf. An impurity of NaN makes the gains of all cuts NaN that need it.

The value of a leaf is the share of each class, the mean, or (for ranks) the median; its label is the lowest index among
the largest values. Misclassification costs and priors enter at these two places and in the weights of the rows.

A user's own class follows the same contract and is passed as an object, or as a plain function
``impurity(stats, weight)``: ``DecisionTreeClassifier(criterion=MyCriterion())``. Its methods are compiled, so they make
no arrays or lists, and they must not raise: in a thread of the pool an exception cannot be passed on.
"""

import math
from typing import NamedTuple

import numpy as np

from dtnumba._jit import by_class, by_having, by_type, inline, part
from dtnumba.cost_gini import CostGini  # noqa: F401  offered here, beside the criteria that have names
from dtnumba.description_length import DescriptionLength
from dtnumba.user_criterion import part_of, part_of_function

CRITERIA = {}
TARGETS = ("classes", "numbers", "ranks")
NO_GAIN = -math.inf
# Two gains closer than this share of them are a tie, decided by the order in which the features were drawn.
TIE = 1e-12


def criterion(*names):
    """Register a criterion under its names; parameter checks, documentation and tests read the registry."""

    def register(cls):
        for name in names:
            CRITERIA[name] = cls
        return part(cls)

    return register


_CONVEX = set()


def convex(score):
    """Mark a score of two classes that is convex in the weights on the left, given those of the node.

    So between two cuts of a feature none scores more than the rows between them could, sorted by class.
    """
    _CONVEX.add(score)
    return score


def _no_impurity(criterion, stats, weight):
    return 0.0  # never shown: a criterion without impurity has a loss


def _no_loss(criterion, y, value):
    return -1.0  # no loss is negative: this says that the criterion has none


impurity_of = by_type("impurity", _no_impurity)


def _weighted_impurity(criterion, left, right, weight_left, weight_right):
    left_sum = weight_left * impurity_of(criterion, left, weight_left)
    return -(left_sum + weight_right * impurity_of(criterion, right, weight_right))


def _additive_gain(criterion, parent, children, weights):
    weight = 0.0
    for v in range(len(weights)):
        weight += weights[v]
    impurity = impurity_of(criterion, parent, weight)
    gain = impurity
    for v in range(len(weights)):
        gain -= weights[v] / weight * impurity_of(criterion, children[v], weights[v])
    # What rounding leaves below zero is nothing gained, and no reason to stop; above zero, and no reason to win.
    return 0.0 if -1e-12 * impurity < gain < 1e-15 * impurity else gain


def _no_rough_gain(criterion, second, rows, all_second, all_rows):
    return rows  # nobody asks


def _no_information(criterion, share):
    return 0.0


def _largest_gain(criterion, gains, informations, features, n):
    best = -1
    for i in range(n):
        gain = gains[features[i]]
        if gain > NO_GAIN and (best < 0 or gain > gains[features[best]] + TIE * abs(gains[features[best]])):
            best = i
    return best


def _yes(criterion):
    return True


def _no(criterion):
    return False


score_of = by_type("score", _weighted_impurity)
rough_gain = by_type("rough_gain", _no_rough_gain)
gain_of = by_type("gain", _additive_gain)
information_of = by_type("information", _no_information)
choose = by_type("choose", _largest_gain)
chooses_by_more = by_having("choose", _yes, _no)  # than the gain
loss_of = by_type("loss", _no_loss)


def _scores_as_it_rounds(cls):
    first = [next((c for c in cls.__mro__ if name in vars(c)), None) for name in ("rough_gain", "score")]
    return first[0] is not None and first[0] is first[1]


# A class that comes with a score of its own is asked anew, whatever it inherits from.
has_rough_gain = by_class(_scores_as_it_rounds, _yes, _no)
has_convex_score = by_class(lambda cls: getattr(cls, "score", None) in _CONVEX, _yes, _no)


@criterion("gini")
class Gini(NamedTuple):
    """1 - sum p_k**2 (Breiman et al. 1984)."""

    target = "classes"

    def impurity(self, stats, weight):
        squares = 0.0
        for k in range(len(stats)):
            squares += stats[k] * stats[k]
        return 1.0 - squares / (weight * weight)

    @convex
    def score(self, left, right, weight_left, weight_right):
        squares_left = squares_right = 0.0
        for k in range(len(left)):
            squares_left += left[k] * left[k]
            squares_right += right[k] * right[k]
        # One division instead of two: they are most of a histogram's scan.
        return (squares_left * weight_right + squares_right * weight_left) / (weight_left * weight_right)

    def rough_gain(self, second, rows, all_second, all_rows):
        apart = second * all_rows - all_second * rows
        return apart * apart * (np.float32(2.0) / all_rows) / (rows * (all_rows - rows))


class _EntropyFields(NamedTuple):
    table: np.ndarray  # x * log2(x) of the small integers: a logarithm costs 5 times a look-up


@inline
def x_log_x(criterion, x):
    """Return x * log2(x), from the criterion's table where x is a whole number."""
    if x <= 0.0:
        return 0.0
    i = int(x)
    if i < len(criterion.table) and float(i) == x:
        return criterion.table[i]
    return x * math.log2(x)


@criterion("entropy", "log_loss")
class Entropy(_EntropyFields):
    """-sum p_k log2 p_k (Quinlan 1986)."""

    __slots__ = ()
    target = "classes"

    @classmethod
    def for_fit(cls, total, n_features):
        """Return the criterion with a table for integer weights that sum to ``total``."""
        x = np.arange(int(min(total, 1 << 20)) + 1, dtype=np.float64)
        x[1:] *= np.log2(x[1:])
        return cls(x)

    def impurity(self, stats, weight):
        spread = x_log_x(self, weight)
        for k in range(len(stats)):
            spread -= x_log_x(self, stats[k])
        return max(spread / weight, 0.0)

    @convex
    def score(self, left, right, weight_left, weight_right):
        order = -x_log_x(self, weight_left) - x_log_x(self, weight_right)
        for k in range(len(left)):
            order += x_log_x(self, left[k]) + x_log_x(self, right[k])
        return order


@criterion("gain_ratio")
class GainRatio(Entropy):
    """Entropy gain over split information, among features of at least average gain (Quinlan 1993).

    Within a feature the cut of largest gain stands for it, as in C4.5. Where no feature gains anything the first cut
    is taken, so that XOR can be learned.
    """

    __slots__ = ()

    def information(self, share):
        return -share * math.log2(share) if share > 0.0 else 0.0

    def choose(self, gains, informations, features, n):
        total, n_gaining = 0.0, 0
        for i in range(n):
            if gains[features[i]] > 1e-10:
                total += gains[features[i]]
                n_gaining += 1
        floor = total / n_gaining - 1e-10 if n_gaining > 0 else 0.0
        best, best_ratio = -1, NO_GAIN
        for i in range(n):
            f = features[i]
            if n_gaining > 0 and gains[f] > 1e-10 and gains[f] >= floor and informations[f] > 0.0:
                ratio = gains[f] / informations[f]
                if best < 0 or ratio > best_ratio + TIE * abs(best_ratio):
                    best, best_ratio = i, ratio
        for i in range(n):
            if best < 0 and gains[features[i]] > NO_GAIN:
                best = i
        return best


@criterion("error")
class TrainError(NamedTuple):
    """1 - max p_k: the training error (Shalev-Shwartz & Ben-David 2014, 18.2.1)."""

    target = "classes"

    def impurity(self, stats, weight):
        largest = 0.0
        for k in range(len(stats)):
            largest = max(largest, stats[k])
        return 1.0 - largest / weight


@criterion("twoing")
class Twoing(NamedTuple):
    """How differently the two sides are composed (Breiman et al. 1984); for V children, summed over pairs."""

    target = "classes"

    def impurity(self, stats, weight):
        squares = 0.0
        for k in range(len(stats)):
            squares += stats[k] * stats[k]
        return 1.0 - squares / (weight * weight)

    def score(self, left, right, weight_left, weight_right):
        apart = 0.0
        for k in range(len(left)):
            apart += abs(left[k] / weight_left - right[k] / weight_right)
        return weight_left * weight_right * apart * apart

    def gain(self, parent, children, weights):
        weight = gain = 0.0
        for v in range(len(weights)):
            weight += weights[v]
        for v in range(len(weights)):
            for u in range(v):
                apart = 0.0
                for k in range(len(parent)):
                    apart += abs(children[v][k] / weights[v] - children[u][k] / weights[u])
                gain += weights[v] * weights[u] * apart * apart
        return gain / (4.0 * weight * weight)


@criterion("chi2")
class ChiSquared(NamedTuple):
    """Pearson's statistic of the classes x children table, per unit of weight; shown impurity: gini."""

    target = "classes"

    def impurity(self, stats, weight):
        squares = 0.0
        for k in range(len(stats)):
            squares += stats[k] * stats[k]
        return 1.0 - squares / (weight * weight)

    def score(self, left, right, weight_left, weight_right):
        # sum of (l_k - e_k)**2 / e_k over both sides, which share |l_k - e_k|
        share_left = weight_left / (weight_left + weight_right)
        statistic = 0.0
        for k in range(len(left)):
            total = left[k] + right[k]
            if total > 0.0:
                away = left[k] - share_left * total
                statistic += away * away / total
        return statistic / (share_left * (1.0 - share_left))

    def gain(self, parent, children, weights):
        weight = 0.0
        for v in range(len(weights)):
            weight += weights[v]
        statistic = 0.0
        for v in range(len(weights)):
            for k in range(len(parent)):
                expected = weights[v] * parent[k] / weight
                if expected > 0.0:
                    away = children[v][k] - expected
                    statistic += away * away / expected
        return statistic / weight


criterion("mdl")(DescriptionLength)


@criterion("squared_error", "friedman_mse")
class SquaredError(NamedTuple):
    """Variance. Friedman's improvement score picks the same split, so it is the same class under both names."""

    target = "numbers"
    centred = True

    def score(self, left, right, weight_left, weight_right):
        return left[0] * left[0] / weight_left + right[0] * right[0] / weight_right

    def gain(self, parent, children, weights):
        weight = gain = 0.0
        for v in range(len(weights)):
            weight += weights[v]
        mean = parent[0] / weight
        for v in range(len(weights)):
            away = children[v][0] / weights[v] - mean
            gain += weights[v] * away * away
        return gain / weight

    def loss(self, y, value):
        return (y - value) * (y - value)


@criterion("poisson")
class Poisson(NamedTuple):
    """Half Poisson deviance of a count or rate; no side of a split may sum to zero."""

    target = "numbers"

    def score(self, left, right, weight_left, weight_right):
        if left[0] <= 0.0 or right[0] <= 0.0:
            return NO_GAIN
        return left[0] * math.log(left[0] / weight_left) + right[0] * math.log(right[0] / weight_right)

    def gain(self, parent, children, weights):
        weight = 0.0
        for v in range(len(weights)):
            weight += weights[v]
        mean, gain = parent[0] / weight, 0.0
        for v in range(len(weights)):
            if children[v][0] > 0.0:
                gain += children[v][0] * math.log(children[v][0] / weights[v] / mean)
        return max(gain, 0.0) / weight

    def loss(self, y, value):
        return y * math.log(y / value) - y + value if y > 0.0 else value


@part
class PoissonWithZeros(Poisson):
    """Half Poisson deviance where a side of a split may sum to zero: what R's rpart makes of "poisson"."""

    __slots__ = ()

    def score(self, left, right, weight_left, weight_right):
        found = left[0] * math.log(left[0] / weight_left) if left[0] > 0.0 else 0.0
        return found + (right[0] * math.log(right[0] / weight_right) if right[0] > 0.0 else 0.0)


@criterion("absolute_error")
class AbsoluteError(NamedTuple):
    """Mean absolute deviation from the median; leaves hold the median (the middle of the two halves' edges)."""

    target = "ranks"

    def loss(self, y, value):
        return abs(y - value)


def names_for(target):
    """Names of the registered criteria for class labels (``"classes"``) or for numbers."""
    return [name for name, cls in CRITERIA.items() if (cls.target == "classes") == (target == "classes")]


def resolve_criterion(given, target, total_weight, n_features=1):
    """Return the criterion object for a name, an object, a class, or a function of (stats, weight).

    ``total_weight`` and ``n_features`` are those of the table; a criterion class may want them (``for_fit``).
    """
    if isinstance(given, str):
        legal = names_for(target)
        if given not in legal:
            msg = f"criterion={given!r}: must be one of {legal}, or a criterion object"
            raise ValueError(msg)
        found = CRITERIA[given]
    elif isinstance(given, tuple) and hasattr(given, "_fields"):
        return part_of(_checked(given, target))
    elif isinstance(given, type) and issubclass(given, tuple):
        found = given
    elif callable(given):
        return part_of_function(given, target)
    else:
        names = names_for(target)
        msg = f"criterion={given!r}: must be one of {names}, a NamedTuple with an impurity method, or a function"
        raise TypeError(msg)
    made = found.for_fit(total_weight, n_features) if hasattr(found, "for_fit") else found()
    return part_of(_checked(made, target))


def _checked(made, target):
    kind = getattr(type(made), "target", "classes" if target == "classes" else "numbers")
    if kind not in TARGETS or getattr(type(made), "moments", 1) not in (1, 2):
        msg = f"criterion={made!r}: its target must be one of {TARGETS}, its moments 1 or 2 (see dtnumba.criteria)"
        raise ValueError(msg)
    if (kind == "classes") != (target == "classes"):
        msg = f"criterion={made!r}: is for {kind}, but the target holds {target}; use one of {names_for(target)}"
        raise ValueError(msg)
    if kind != "ranks" and not (hasattr(made, "impurity") or (hasattr(made, "score") and hasattr(made, "gain"))):
        msg = f"criterion={made!r}: needs a method impurity(stats, weight), or score and gain (see dtnumba.criteria)"
        raise TypeError(msg)
    return made
