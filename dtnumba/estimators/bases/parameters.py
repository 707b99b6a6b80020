"""The parameters every tree shares, each declared once, with what is legal beside it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.criteria.contract import names_for
from dtnumba.growth.binary.choose_splitter import SPLITTERS
from dtnumba.growth.policies.constraints import SHORTHANDS
from dtnumba.growth.settings import CATEGORICAL_SPLITS, MISSING_POLICIES, NUMERIC_SPLITS, UNLIMITED, Options, Settings
from dtnumba.runtime import rng
from dtnumba.runtime.tasks import n_workers
from dtnumba.tables.categories import CATEGORICAL_FEATURES_ARE, FROM_DTYPE, is_choice
from dtnumba.tables.floats import brief
from dtnumba.validation.model_protocol import ModelProtocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Legal(NamedTuple):
    """The legal values of a parameter, as a test and in words (or a function that finds the words)."""

    holds: Callable[[Any], bool]
    words: str | Callable[[], str]

    def check(self, name: str, value: Any, caller: str) -> None:
        """Raise ValueError or TypeError where a value breaks the rule; every such message is worded here."""
        if self.holds(value):
            return
        kind = ValueError if not isinstance(value, bool) and isinstance(value, (Real, str)) else TypeError
        words = self.words if isinstance(self.words, str) else self.words()
        raise kind(f"The {name!r} parameter of {caller} must be {words}. Got {brief(value)} instead.")


def parameter(default: Any, rule: Legal) -> Any:
    """Declare a parameter with its default and its rule."""
    return field(default=default, metadata={"rule": rule})


def redeclared(name: str, default: Any) -> Any:
    """Declare a shared parameter again with another default."""
    return field(default=default, metadata=TreeParams.__dataclass_fields__[name].metadata)


def yes_or_no(default: bool) -> Any:
    """Declare a parameter that is True or False."""
    return parameter(default, Legal(lambda value: isinstance(value, (bool, np.bool_)), "a bool"))


def is_int(value: Any) -> bool:
    """Tell whether a value is a whole number, and not a bool."""
    return not isinstance(value, (bool, np.bool_)) and isinstance(value, Integral)


def is_real(value: Any) -> bool:
    """Tell whether a value is a finite number, and not a bool."""
    return not isinstance(value, (bool, np.bool_)) and isinstance(value, Real) and math.isfinite(value)


def one_of(*names: str) -> Legal:
    """Accept the given names."""
    return Legal(lambda value: isinstance(value, str) and value in names, f"a str among {_listed(names)}")


def name_in(registry: Mapping[str, Any]) -> Legal:
    """Accept the names of a registry, those added later too."""
    return Legal(lambda value: isinstance(value, str) and value in registry, lambda: f"a str among {_listed(registry)}")


def _listed(names: Any) -> str:
    return "{" + ", ".join(map(repr, names)) + "}"


def integer(least: int, most: int | None = None) -> Legal:
    """Accept None, and an int from ``least`` to ``most``."""
    words = f"an int in the range [{least}, {'inf)' if most is None else f'{most}]'} or None"
    return Legal(lambda value: value is None or (is_int(value) and least <= value <= (most or value)), words)


def whole(least: int, most: int) -> Legal:
    """Accept an int from ``least`` to ``most``."""
    return Legal(lambda value: is_int(value) and least <= value <= most, f"an int in the range [{least}, {most}]")


def count_or_share(least: int, *, closed: bool) -> Legal:
    """Accept an int of at least ``least``, or a share of the rows: a float in (0, 1), with ``closed`` in (0, 1]."""

    def holds(value: Any) -> bool:
        if is_int(value):
            return bool(value >= least)
        return is_real(value) and 0.0 < value <= 1.0 and (closed or value < 1.0)

    end = "1.0]" if closed else "1.0)"
    return Legal(holds, f"an int in the range [{least}, inf) or a float in the range (0.0, {end}, a share of the rows")


def number(low: float, high: float) -> Legal:
    """Accept a finite number in [low, high]."""
    end = f"{high}]" if math.isfinite(high) else "inf)"
    return Legal(lambda value: is_real(value) and low <= value <= high, f"a float in the range [{low}, {end}")


def _is_max_features(value: Any) -> bool:
    if value is None or isinstance(value, str):
        return value in {None, "sqrt", "log2"}
    return bool(value >= 1) if is_int(value) else is_real(value) and 0.0 < value <= 1.0


MAX_FEATURES = Legal(
    _is_max_features,
    "an int in the range [1, inf), a float in the range (0.0, 1.0], a str among {'sqrt', 'log2'} or None",
)
SIGNIFICANCE = Legal(
    lambda value: value is None or (is_real(value) and 0.0 < value < 1.0), "a float in the range (0.0, 1.0) or None"
)
SHARE = Legal(lambda value: is_real(value) and 0.0 < value < 1.0, "a float in the range (0.0, 1.0)")
N_JOBS = Legal(
    lambda value: value is None or (is_int(value) and value != 0),
    "an int other than 0 (-1: all cores, -2: all but one) or None (all cores)",
)
RANDOM_STATE = Legal(
    lambda value: (
        value is None
        or isinstance(value, (np.random.RandomState, np.random.Generator))
        or (is_int(value) and 0 <= value < 1 << 64)
    ),
    "an int in the range [0, 2**64 - 1], a numpy RandomState or Generator, or None",
)
_LEAVES = integer(2)
LEAVES = Legal(
    lambda value: value == "cv" if isinstance(value, str) else _LEAVES.holds(value), f"{_LEAVES.words}, or the str 'cv'"
)


def _is_class_weight(value: Any) -> bool:
    listed = value if isinstance(value, (list, tuple)) else [value]
    return all(one is None or isinstance(one, dict) or (isinstance(one, str) and one == "balanced") for one in listed)


MONOTONIC = Legal(
    lambda value: (
        value is None or isinstance(value, dict) or (hasattr(value, "__len__") and not isinstance(value, str))
    ),
    "an array of -1, 0 or 1 for each feature, a dict of feature name to -1, 0 or 1, or None",
)
INTERACTIONS = Legal(
    lambda value: value is None or isinstance(value, (list, tuple)) or (isinstance(value, str) and value in SHORTHANDS),
    f"a list or tuple of groups of features, a str among {_listed(SHORTHANDS)} or None",
)
CLASS_WEIGHT = Legal(
    _is_class_weight, "a dict of class to weight, 'balanced', a list of these (one for each of several outputs) or None"
)
PRUNER = Legal(lambda value: value is None or _is_pruner(value), lambda: f"{_pruner_words()} or None")
CATEGORICAL_FEATURES = Legal(is_choice, CATEGORICAL_FEATURES_ARE)


def _is_pruner(value: Any) -> bool:
    from dtnumba.pruners.contract import Pruner
    from dtnumba.pruners.registry import PRUNERS

    return isinstance(value, Pruner) or (isinstance(value, str) and value in PRUNERS)


def _pruner_words() -> str:
    from dtnumba.pruners.registry import pruner_words

    return pruner_words()


def _is_table(value: Any, n_axes: int) -> bool:
    """Tell whether a value is a dict, or may be an array; its numbers and its shape are checked beside the classes."""
    if isinstance(value, (list, tuple)):
        return bool(value) and (n_axes == 1 or not isinstance(value[0], (str, bytes)))
    return isinstance(value, dict) or getattr(value, "ndim", 0) == n_axes


PRIORS = Legal(
    lambda value: value is None or _is_table(value, 1),
    "an array of one number for each class, a dict of class to prior, or None",
)
COSTS = Legal(
    lambda value: value is None or _is_table(value, 2),
    "a square array of numbers, a dict of (true, predicted) to cost, or None",
)


def criterion_for(target: str) -> Legal:
    """Accept the names of criteria for "classes" or "numbers", criterion objects and functions."""

    def holds(value: Any) -> bool:
        return value in names_for(target) if isinstance(value, str) else callable(value) or hasattr(value, "_fields")

    def words() -> str:
        return f"a str among {_listed(names_for(target))}, a criterion object or a function impurity(stats, weight)"

    return Legal(holds, words)


@dataclass(kw_only=True, eq=False, repr=False)
class GrowthParams(ModelProtocol):
    """Parameters of growth, with scikit-learn's names and meanings.

    Parameters
    ----------
    max_depth : int or None
        Longest path from the root to a leaf.
    min_samples_split : int or share of the rows
        Fewest rows of a node that is split.
    min_samples_leaf : int or share of the rows
        Fewest rows of a leaf.
    min_weight_fraction_leaf : float
        Least weight of a leaf, as a share of all weight.
    max_features : int, share, "sqrt", "log2" or None
        Features drawn as candidates at each node; drawing goes on while all drawn are constant there.
    random_state : int, generator or None
        Seed of what is drawn; the same seed gives the same bits on any number of threads.
    max_leaf_nodes : int or None
        Grow the node of largest gain first, up to so many leaves.
    min_impurity_decrease : float
        Split only where the decrease of impurity, times the node's share of the weight, is at least this. At 0 a split
        that gains nothing is taken, as XOR needs: neither input alone tells anything about ``a != b``. Anything above 0
        stops there.
    max_bins : int or None
        None: exact thresholds. A number from 2 to 255: histograms of at most so many values a feature.
    min_significance : float or None
        Split only where a split that tells nothing would look as good in at most this share of cases: by the
        chi-squared test of classes against sides, or by the F test of the means on both sides. Weights count as rows.
        Of several outputs one must pass, each at its share of the level. Not for ``criterion="absolute_error"``.
    validation_fraction : float or None
        Set this share of the rows aside, drawn by ``random_state``, of every class alike; the other rows grow the tree,
        and a branch ends where a split does not strictly improve their prediction: the weight of wrong labels (or
        what they cost), or the squared error, summed over the outputs. A split that pays only together with those below
        it is lost, XOR's first one for instance. ``fit(..., X_val=, y_val=)`` passes the set itself, of which each row
        counts one (times ``class_weight``). A forest holds out one set for all its trees, which vote on it out of bag,
        too. Limits that are shares of the rows count all of them.
    categorical_features : "from_dtype", list of names or indices, boolean mask or None
        Which columns are categories. "from_dtype": those of text and of a frame's categories. A list or a mask: those
        and no others, whatever their dtype. None: none.
    monotonic_cst : array of -1, 0 and 1, dict of feature name to these, or None
        1: predictions must not fall as the feature rises; -1: they must not rise; 0: anything. For one number, or for
        two classes, where the prediction is the probability of ``classes_[1]``.
    interaction_cst : list of groups of features, "pairwise", "no_interactions" or None
        Features, by number or by name, that may stand on one path from the root to a leaf: those of one group. Groups
        may overlap; features in none form one more. "pairwise": any two; "no_interactions": each by itself. A node
        draws its ``max_features`` from those that may follow, or looks at all of these where they are fewer.
    categorical_split : "subset", "multiway" or "one_vs_rest"
        How a category is tested: the best division of its values into two sets, a child a value, or one value against
        the rest.
    numeric_split : "threshold", "interval" or "multiway"
        How a number is tested: below or above a cut, inside or outside a range (of at most 255 groups of values a
        node), or ranges between cuts that pay for their description (Fayyad & Irani 1993; one output of classes).
    missing : "learned", "branch", "majority", "fractional", "surrogate" or "error"
        What a missing value does, in fit and in predict. "learned": goes to the child where it gains most. "branch":
        has a child of its own where the node has enough of them, else as "majority". "majority": goes to the heaviest
        child. "fractional": goes to all children, in parts as heavy as they are. "surrogate": follows the tests that
        agree best with the one it lacks. "error": is not allowed. All but the first two score a test on the rows that
        have a value, and multiply by their share. Where a node saw no missing value, later ones go to its heaviest
        child, for "fractional" and "surrogate" as said.
    use_surrogate : 2, 1 or 0
        With missing="surrogate", what a row does that no surrogate can place: 2, goes to the heavier child, and stays
        at the node where both weigh the same, as in R's rpart; 1, stays at the node. 0: no surrogates, it stays.
    surrogate_style : 0 or 1
        Agreement as a share of all rows that the test sends (0), or of those that have the surrogate's value (1).
    max_surrogates : int
        Surrogates kept at a node.
    n_jobs : int or None
        Threads; None is every core, but one inside a worker of another pool.
    ccp_alpha : float
        Prune each grown tree to the subtree that minimises impurity + ``ccp_alpha`` * leaves; 0 leaves it as it is.
        ``prune="cost_complexity"`` has folds choose it.
    prune : str, an object of ``dtnumba.pruners`` or None
        How to prune each tree once it is grown, by name or with options; None leaves it as it is. "reduced_error" sets
        a part of the rows aside for it, drawn by ``random_state``. ``model.prune(...)`` is the method that prunes a
        fitted model; ``model.prune`` not called compares, and is shown, as this parameter.

    """

    max_depth: int | None = parameter(None, integer(1))
    min_samples_split: int | float = parameter(2, count_or_share(2, closed=True))
    min_samples_leaf: int | float = parameter(1, count_or_share(1, closed=False))
    min_weight_fraction_leaf: float = parameter(0.0, number(0.0, 0.5))
    max_features: int | float | str | None = parameter(None, MAX_FEATURES)
    random_state: Any = parameter(None, RANDOM_STATE)  # noqa: RUF009  a field
    max_leaf_nodes: Any = parameter(None, integer(2))  # noqa: RUF009  a field; one tree takes "cv", too
    min_impurity_decrease: float = parameter(0.0, number(0.0, math.inf))
    max_bins: int | None = parameter(None, integer(2, 255))
    min_significance: float | None = parameter(None, SIGNIFICANCE)
    validation_fraction: float | None = parameter(None, SIGNIFICANCE)
    categorical_features: Any = parameter(FROM_DTYPE, CATEGORICAL_FEATURES)  # noqa: RUF009  a field
    monotonic_cst: Any = parameter(None, MONOTONIC)  # noqa: RUF009  a field
    interaction_cst: Any = parameter(None, INTERACTIONS)  # noqa: RUF009
    categorical_split: str = parameter("subset", one_of(*CATEGORICAL_SPLITS))
    numeric_split: str = parameter("threshold", one_of(*NUMERIC_SPLITS))
    missing: str = parameter("learned", one_of(*MISSING_POLICIES))
    use_surrogate: int = parameter(2, whole(0, 2))
    surrogate_style: int = parameter(0, whole(0, 1))
    max_surrogates: int = parameter(5, whole(0, 100))
    n_jobs: int | None = parameter(None, N_JOBS)
    ccp_alpha: float = parameter(0.0, number(0.0, math.inf))
    prune: Any = parameter(None, PRUNER)  # noqa: RUF009  a field

    grows_on_sorted_columns = False

    def _splitter(self) -> str:
        return "best"

    def growth_settings(
        self, n_rows: int, n_features: int, total_weight: float, seed: int | None = None, most_leaves: int | None = None
    ) -> Settings:
        """Return the Settings of a fit on a table of this size; ``most_leaves`` stands for ``max_leaf_nodes``."""
        leaf = _count(self.min_samples_leaf, n_rows)
        split = max(_count(self.min_samples_split, n_rows, least=2), 2 * leaf)
        return Settings(
            splitter=self._splitter(),
            max_bins=None if self.max_bins is None else int(self.max_bins),
            max_depth=_limit(self.max_depth),
            min_samples_split=split,
            min_samples_leaf=leaf,
            min_weight_leaf=float(self.min_weight_fraction_leaf) * total_weight,
            min_decrease=float(self.min_impurity_decrease),
            max_leaves=_limit(self.max_leaf_nodes if most_leaves is None else most_leaves),
            n_drawn=features_drawn(self.max_features, n_features),
            seed=rng.seed_from(self.random_state) if seed is None else seed,
            workers=n_workers(self.n_jobs),
            min_significance=None if self.min_significance is None else float(self.min_significance),
            options=Options(
                missing=self.missing,
                categorical_split=self.categorical_split,
                numeric_split=self.numeric_split,
                use_surrogate=int(self.use_surrogate),
                surrogate_style=int(self.surrogate_style),
                max_surrogates=int(self.max_surrogates),
            ),
        )


@dataclass(kw_only=True, eq=False, repr=False)
class TreeParams(GrowthParams):
    """Parameters of one tree: those of GrowthParams, the splitter, and one more way to limit leaves.

    Parameters
    ----------
    max_leaf_nodes : int, "cv" or None
        Grow the node of largest gain first, up to so many leaves. "cv": the number of leaves that loses least in
        10-fold cross-validation (the smallest on ties; wrong labels, or squared error), in a tree grown once on all
        rows. Each fold grows one tree and tries all its sizes.
    splitter : "best" or "random"
        The best cut of every candidate feature, or one drawn uniformly between its extremes at the node.

    """

    splitter: str = parameter("best", name_in(SPLITTERS))
    max_leaf_nodes: Any = parameter(None, LEAVES)  # noqa: RUF009

    def _splitter(self) -> str:
        return self.splitter

    @property
    def grows_on_sorted_columns(self) -> bool:  # type: ignore[override]
        """Whether growth reads the columns sorted, once for all nodes."""
        return self.max_bins is None and self.splitter == "best"


def _count(value: float, n_rows: int, least: int = 1) -> int:
    return min(int(value), _MANY_ROWS) if is_int(value) else max(least, math.ceil(value * n_rows))


_MANY_ROWS = 1 << 40  # more than any table has; twice as many fit into 64 bits, too


def _limit(value: Any) -> int:
    """Return a limit that fits into the 64 bits of kernels; None and anything larger limit nothing."""
    return UNLIMITED if value is None else min(int(value), UNLIMITED)


def features_drawn(max_features: float | str | None, n_features: int) -> int:
    """Return how many features a node draws; more than there are means all."""
    if max_features is None:
        return n_features
    if isinstance(max_features, str):
        root = math.sqrt(n_features) if max_features == "sqrt" else math.log2(n_features)
        return max(1, int(root))
    if is_int(max_features):
        return min(int(max_features), n_features)
    return max(1, int(max_features * n_features))
