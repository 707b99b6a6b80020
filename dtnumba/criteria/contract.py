# mypy: ignore-errors
"""How good a split is. Adding a criterion is one small class here, registered once; nothing else changes.

The contract
------------
A criterion is a NamedTuple class (its fields are its options, often none) with some of these methods. ``stats`` is a
short sequence of float64, to be read as ``stats[k]`` for ``k in range(len(stats))``:

* ``target = "classes"``: the weight of each class (of one output; several outputs are scored one by one and averaged);
* ``target = "numbers"``: ``(sum of w*y,)``, or ``(sum of w*y, sum of w*y*y)`` where the class says ``moments = 2``;
  with ``centred = True`` y is measured from the mean of the node, which the criterion must not depend on: sums of rows
  that differ by little agree in most digits, but not from there. A criterion that needs the sums, too, says
  ``shows_away = True`` instead, and gets ``(sum of w*y, sum of w*(y - c))``, where c is near the mean of the node;
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
degree = 2
    Said by a criterion for numbers whose impurity grows by this power of the targets, so that it may be given these in
    another unit where float64 could not hold the impurity.
term(weight) -> float, score_of_terms(left, right, one_left, one_right, weight_left, weight_right) -> float
    For classes: ``score`` in two steps, from the sums over each side's classes of a convex function that is 0 at 0, and
    what these were if all of a side were one class. With them a row costs the scan of very many classes one class, and
    not all of them. Left out: every cut is scored by ``score``.
loss(y, value) -> float
    For numbers: the loss of one row in a leaf with this value; its mean is the impurity shown for a node. Left out:
    ``impurity`` of the node's statistics.

concave = True
    Said by a class whose best division of categories into two is always one cut of their order: for two classes by the
    share of the second one, for one number by its mean. That holds where ``weight * impurity(stats, weight)`` is a
    concave function of the statistics and the score is, as if left out, the gain of the children's impurities. Growth
    then scores the cuts of that order alone; where a class does not say it, all subsets of up to eight categories. The
    default is False, also for a subclass with a method of its own above ``loss``, until it says it again.

spread_lost(weight, total, reach) -> float
    Said by a concave criterion: the most that rows of this weight, when they go, take from weight times impurity of a
    set of rows of weight ``total`` at most, whose targets lie within ``reach`` of each other. With it, trees that
    follow their rows need not look at every column again. Left out: they do.

ignores_absent = True
    Said by a class for which classes without weight change no bit of an impurity, a score or a gain, however many there
    are. Where classes are many it is shown those of the node alone. The default is False, as above.

A score or a gain of NaN says that the criterion knows no answer: such a cut is never taken, and where no other is left
the node is a leaf. An impurity of NaN makes the gains of all cuts NaN that need it.

The value of a leaf is the share of each class, the mean, or (for ranks) the median; its label is the lowest index among
the largest values. Misclassification costs and priors enter at these two places and in the weights of the rows.

A user's own class follows the same contract and is passed as an object, or as a plain function
``impurity(stats, weight)``: ``DecisionTreeClassifier(criterion=MyCriterion())``. Its methods are compiled, so they make
no arrays or lists, and they must not raise: in a thread of the pool an exception cannot be passed on.
"""

import math

from dtnumba.criteria.user_criterion import part_of, part_of_function
from dtnumba.runtime.kernels import by_class, by_having, by_type, kernel_type

CRITERIA = {}
TARGETS = ("classes", "numbers", "ranks")
NO_GAIN = -math.inf
# Two gains closer than this share of them are a tie, decided by the order in which the features were drawn.
TIE = 1e-12


def criterion(*names):
    """Register a criterion under its names; parameter checks, documentation and tests read the registry."""

    def register(cls):
        if getattr(cls, "target", None) not in TARGETS:
            raise TypeError(
                f"{cls.__name__}: a criterion with a name says what it is for: add target = 'classes', or 'numbers' or "
                "'ranks', to the class"
            )
        for name in names:
            CRITERIA[name] = cls
        return kernel_type(cls)

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


def _no_terms(criterion, left, right, one_left, one_right, weight_left, weight_right):
    return 0.0  # never asked


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


def _definer(cls, name):
    """Return the class, of a class and its bases, that an attribute is taken from; None where there is none."""
    return next((base for base in cls.__mro__ if name in vars(base)), None)


def _scores_as_it_rounds(cls):
    definer = _definer(cls, "rough_gain")
    return definer is not None and definer is _definer(cls, "score")


def is_centred(cls):
    """Tell whether a class of criteria sees numbers as measured from the mean of the node."""
    return getattr(cls, "centred", False)


def shows_away(cls):
    """Tell whether a class of criteria sees sums of numbers and, beside them, how far they are from the mean's."""
    return getattr(cls, "shows_away", False)


def is_concave(criterion):
    """Tell whether a criterion says ``concave``, in its class or in a base that defines all that splits depend on."""
    cls = type(criterion)
    return bool(getattr(cls, "concave", False)) and _says_with(cls, "concave", "information", "choose")


def bounds_spread(criterion):
    """Tell whether a criterion says ``spread_lost`` in the class that defines what splits are judged by, or below."""
    return _says_with(type(criterion), "spread_lost", "information", "choose")


def _says_with(cls, name, *others):
    """Tell whether what defines ``name`` of a class defines what splits are judged by, too, or has a base that does."""
    said_by = _definer(cls, name)
    methods = [_definer(cls, method) for method in ("impurity", "score", "gain", *others)]
    return said_by is not None and all(by is None or issubclass(said_by, by) for by in methods)


def _ignores_absent(cls):
    return bool(getattr(cls, "ignores_absent", False)) and _says_with(cls, "ignores_absent")


def _has_terms(cls):
    return _says_with(cls, "term") and _says_with(cls, "score_of_terms")


def by_terms(having, lacking):
    """Make ``f(criterion, *args)`` that runs ``having`` where a criterion's score is one of terms, else ``lacking``."""
    return by_class(_has_terms, having, lacking)


has_terms = by_terms(_yes, _no)
term_of, score_of_terms = by_type("term"), by_type("score_of_terms", _no_terms)
ignores_absent = by_class(_ignores_absent, _yes, _no)
# A class that comes with a score of its own is asked anew, whatever it inherits from.
has_rough_gain = by_class(_scores_as_it_rounds, _yes, _no)
has_convex_score = by_class(lambda cls: getattr(cls, "score", None) in _CONVEX, _yes, _no)


def names_for(target):
    """Return the names of the registered criteria for class labels (``"classes"``) or for numbers."""
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
