"""The parameters every tree shares, each declared once, with what is legal beside it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba import _jit, rng
from dtnumba.criteria import names_for
from dtnumba.training import UNLIMITED, Settings

if TYPE_CHECKING:
    from collections.abc import Callable


class Rule(NamedTuple):
    """What values of a parameter are legal, as a test and in words (or a function that finds them)."""

    holds: Callable[[Any], bool]
    words: str | Callable[[], str]

    def check(self, name: str, value: Any, caller: str) -> None:
        """Raise ValueError or TypeError where a value breaks the rule; every such message is worded here."""
        if self.holds(value):
            return
        kind = ValueError if not isinstance(value, bool) and isinstance(value, (Real, str)) else TypeError
        words = self.words if isinstance(self.words, str) else self.words()
        raise kind(f"The {name!r} parameter of {caller} must be {words}. Got {value!r} instead.")


def parameter(default: Any, rule: Rule) -> Any:
    """Declare a parameter with its default and its rule."""
    return field(default=default, metadata={"rule": rule})


def redeclared(name: str, default: Any) -> Any:
    """Declare a shared parameter again with another default."""
    return field(default=default, metadata=TreeParams.__dataclass_fields__[name].metadata)


def yes_or_no(default: bool) -> Any:
    """Declare a parameter that is True or False."""
    return parameter(default, Rule(lambda value: isinstance(value, (bool, np.bool_)), "a bool"))


def is_int(value: Any) -> bool:
    """Tell whether a value is a whole number, and not a bool."""
    return not isinstance(value, (bool, np.bool_)) and isinstance(value, Integral)


def is_real(value: Any) -> bool:
    """Tell whether a value is a finite number, and not a bool."""
    return not isinstance(value, (bool, np.bool_)) and isinstance(value, Real) and math.isfinite(value)


def one_of(*names: str) -> Rule:
    """Accept the given names."""
    return Rule(lambda value: isinstance(value, str) and value in names, f"a str among {_listed(names)}")


def _listed(names: Any) -> str:
    return "{" + ", ".join(map(repr, names)) + "}"


def integer(least: int, most: int | None = None) -> Rule:
    """Accept None, and an int from ``least`` to ``most``."""
    words = f"an int in the range [{least}, {'inf)' if most is None else f'{most}]'} or None"
    return Rule(lambda value: value is None or (is_int(value) and least <= value <= (most or value)), words)


def count_or_share(least: int, *, closed: bool) -> Rule:
    """Accept an int of at least ``least``, or a share of the rows: a float in (0, 1), with ``closed`` in (0, 1]."""

    def holds(value: Any) -> bool:
        if is_int(value):
            return bool(value >= least)
        return is_real(value) and 0.0 < value <= 1.0 and (closed or value < 1.0)

    end = "1.0]" if closed else "1.0)"
    return Rule(holds, f"an int in the range [{least}, inf) or a float in the range (0.0, {end}, a share of the rows")


def number(low: float, high: float) -> Rule:
    """Accept a finite number in [low, high]."""
    end = f"{high}]" if math.isfinite(high) else "inf)"
    return Rule(lambda value: is_real(value) and low <= value <= high, f"a float in the range [{low}, {end}")


def _is_max_features(value: Any) -> bool:
    if value is None or isinstance(value, str):
        return value in {None, "sqrt", "log2"}
    return bool(value >= 1) if is_int(value) else is_real(value) and 0.0 < value <= 1.0


MAX_FEATURES = Rule(
    _is_max_features,
    "an int in the range [1, inf), a float in the range (0.0, 1.0], a str among {'sqrt', 'log2'} or None",
)
N_JOBS = Rule(
    lambda value: value is None or (is_int(value) and value != 0),
    "an int other than 0 (-1: all cores, -2: all but one) or None (all cores)",
)


def _is_class_weight(value: Any) -> bool:
    listed = value if isinstance(value, (list, tuple)) else [value]
    return all(one is None or isinstance(one, dict) or (isinstance(one, str) and one == "balanced") for one in listed)


CLASS_WEIGHT = Rule(
    _is_class_weight, "a dict of class to weight, 'balanced', a list of these (one for each of several outputs) or None"
)


def criterion_for(target: str) -> Rule:
    """Accept the names of criteria for "classes" or "numbers", criterion objects and functions."""

    def holds(value: Any) -> bool:
        return value in names_for(target) if isinstance(value, str) else callable(value) or hasattr(value, "_fields")

    def words() -> str:
        return f"a str among {_listed(names_for(target))}, a criterion object or a function impurity(stats, weight)"

    return Rule(holds, words)


@dataclass(kw_only=True, eq=False, repr=False)
class GrowthParams:
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
    n_jobs : int or None
        Threads; None is every core, but one inside a worker of another pool.

    """

    max_depth: int | None = parameter(None, integer(1))
    min_samples_split: int | float = parameter(2, count_or_share(2, closed=True))
    min_samples_leaf: int | float = parameter(1, count_or_share(1, closed=False))
    min_weight_fraction_leaf: float = parameter(0.0, number(0.0, 0.5))
    max_features: int | float | str | None = parameter(None, MAX_FEATURES)
    random_state: Any = None
    max_leaf_nodes: int | None = parameter(None, integer(2))
    min_impurity_decrease: float = parameter(0.0, number(0.0, math.inf))
    max_bins: int | None = parameter(None, integer(2, 255))
    n_jobs: int | None = parameter(None, N_JOBS)

    def _splitter(self) -> str:
        return "best"

    def _resolve(self, n_rows: int, n_features: int, total_weight: float, seed: int | None = None) -> Settings:
        """Return the Settings of a fit on a table of this size."""
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
            max_leaves=_limit(self.max_leaf_nodes),
            n_drawn=features_drawn(self.max_features, n_features),
            seed=rng.seed_from(self.random_state) if seed is None else seed,
            workers=_jit.n_workers(self.n_jobs),
        )


@dataclass(kw_only=True, eq=False, repr=False)
class TreeParams(GrowthParams):
    """Parameters of one tree: those of GrowthParams, and the splitter.

    Parameters
    ----------
    splitter : "best" or "random"
        The best cut of every candidate feature, or one drawn uniformly between its extremes at the node.

    """

    splitter: str = parameter("best", one_of("best", "random"))

    def _splitter(self) -> str:
        return self.splitter


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
