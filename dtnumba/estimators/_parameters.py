"""The parameters every tree shares, each declared once, with what is legal beside it."""

import math
from dataclasses import dataclass, field
from numbers import Integral, Real

import numpy as np

from dtnumba import _jit, rng
from dtnumba.criteria import names_for
from dtnumba.training import UNLIMITED, Settings


def parameter(default, check):
    """Declare a parameter with its default and its check, a function of (name, value)."""
    return field(default=default, metadata={"check": check})


def _refuse(name, value, rule):
    kind = ValueError if isinstance(value, (Integral, Real, str)) and not isinstance(value, bool) else TypeError
    msg = f"{name}={value!r}: must be {rule}"
    raise kind(msg)


def _is_int(value):
    return isinstance(value, Integral) and not isinstance(value, (bool, np.bool_))


def _is_real(value):
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_)) and math.isfinite(value)


def one_of(*names):
    """Accept the given names."""

    def check(name, value):
        if not (isinstance(value, str) and value in names):
            _refuse(name, value, f"one of {list(names)}")

    return check


def integer(least, most=None, *, none=False):
    """Accept an int from ``least`` to ``most``, and None if told."""
    rule = f"an int of at least {least}" if most is None else f"an int from {least} to {most}"

    def check(name, value):
        if none and value is None:
            return
        if not _is_int(value) or value < least or (most is not None and value > most):
            _refuse(name, value, rule + (", or None" if none else ""))

    return check


def count_or_share(least, *, closed):
    """Accept an int of at least ``least``, or a float in (0, 1) (with ``closed``: (0, 1]) as a share of the rows."""

    def check(name, value):
        if _is_int(value):
            legal = value >= least
        else:
            legal = _is_real(value) and 0.0 < value and (value <= 1.0 if closed else value < 1.0)
        if not legal:
            _refuse(name, value, f"an int of at least {least}, or a float in (0.0, 1.0{']' if closed else ')'} as a share of the rows")

    return check


def number(low, high):
    """Accept a finite number in [low, high]."""

    def check(name, value):
        if not _is_real(value) or not low <= value <= high:
            _refuse(name, value, f"a number in [{low}, {high}]" if math.isfinite(high) else f"a number of at least {low}")

    return check


def _check_max_features(name, value):
    if value is None or (isinstance(value, str) and value in ("sqrt", "log2")):
        return
    if not (value >= 1 if _is_int(value) else _is_real(value) and 0.0 < value <= 1.0):
        _refuse(name, value, "an int of at least 1, a float in (0.0, 1.0], 'sqrt', 'log2', or None")


def _check_n_jobs(name, value):
    if value is not None and (not _is_int(value) or value == 0):
        _refuse(name, value, "an int other than 0 (negative: all cores but -1 - n_jobs), or None for all cores")


def check_class_weight(name, value):
    """Accept a dict, 'balanced', a list of these, or None."""
    listed = value if isinstance(value, (list, tuple)) else [value]
    if value is not None and not all(isinstance(one, dict) or (isinstance(one, str) and one == "balanced") for one in listed):
        _refuse(name, value, "a dict of class to weight, 'balanced', a list of these for several outputs, or None")


def criterion_of(target):
    """Accept the names of criteria for a kind of target, criterion objects and functions."""

    def check(name, value):
        if isinstance(value, str):
            if value not in names_for(target):
                _refuse(name, value, f"one of {names_for(target)}, or a criterion object")
        elif not callable(value) and not hasattr(value, "_fields"):
            _refuse(name, value, f"one of {names_for(target)}, a criterion object, or a function impurity(stats, weight)")

    return check


@dataclass(kw_only=True, eq=False, repr=False)
class TreeParams:
    """Parameters of growth, with scikit-learn's names and meanings.

    Parameters
    ----------
    splitter : "best" or "random"
        The best cut of every candidate feature, or one drawn uniformly between its extremes at the node.
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

    splitter: str = parameter("best", one_of("best", "random"))
    max_depth: int | None = parameter(None, integer(1, none=True))
    min_samples_split: int | float = parameter(2, count_or_share(2, closed=True))
    min_samples_leaf: int | float = parameter(1, count_or_share(1, closed=False))
    min_weight_fraction_leaf: float = parameter(0.0, number(0.0, 0.5))
    max_features: int | float | str | None = parameter(None, _check_max_features)
    random_state: object = None
    max_leaf_nodes: int | None = parameter(None, integer(2, none=True))
    min_impurity_decrease: float = parameter(0.0, number(0.0, math.inf))
    max_bins: int | None = parameter(None, integer(2, 255, none=True))
    n_jobs: int | None = parameter(None, _check_n_jobs)

    def _resolve(self, n_rows, n_features, total_weight):
        """Return the Settings of a fit on a table of this size."""
        leaf = _count(self.min_samples_leaf, n_rows)
        split = max(_count(self.min_samples_split, n_rows, least=2), 2 * leaf)
        return Settings(
            splitter=self.splitter,
            max_bins=None if self.max_bins is None else int(self.max_bins),
            max_depth=UNLIMITED if self.max_depth is None else int(self.max_depth),
            min_samples_split=split,
            min_samples_leaf=leaf,
            min_weight_leaf=float(self.min_weight_fraction_leaf) * total_weight,
            min_decrease=float(self.min_impurity_decrease),
            max_leaves=UNLIMITED if self.max_leaf_nodes is None else int(self.max_leaf_nodes),
            n_drawn=features_drawn(self.max_features, n_features),
            seed=rng.seed_from(self.random_state),
            workers=_jit.n_workers(self.n_jobs),
        )


def _count(value, n_rows, least=1):
    return int(value) if _is_int(value) else max(least, math.ceil(value * n_rows))


def features_drawn(max_features, n_features):
    """Return how many features a node draws; more than there are means all."""
    if max_features is None:
        return n_features
    if max_features == "sqrt":
        return max(1, int(math.sqrt(n_features)))
    if max_features == "log2":
        return max(1, int(math.log2(n_features)))
    if _is_int(max_features):
        return min(int(max_features), n_features)
    return max(1, int(max_features * n_features))
