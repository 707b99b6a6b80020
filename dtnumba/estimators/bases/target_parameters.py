"""Parameters that depend on what is predicted: classes or numbers, by one tree or by a forest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dtnumba.estimators.bases.forest_parameters import FOREST_CLASS_WEIGHT
from dtnumba.estimators.bases.parameters import (
    CLASS_WEIGHT,
    COSTS,
    MAX_FEATURES,
    PRIORS,
    criterion_for,
    one_of,
    parameter,
)
from dtnumba.validation.model_protocol import ModelProtocol


@dataclass(kw_only=True, eq=False, repr=False)
class OfClasses(ModelProtocol):
    """Parameters of a tree for classes.

    Parameters
    ----------
    criterion : str, criterion object or function
        "gini", "entropy", "log_loss", "gain_ratio", "error", "twoing", "chi2", "mdl"; or your own (see
        ``dtnumba.criteria``).
    class_weight : dict, list of dict, "balanced" or None
        Weight of each class, multiplied into the rows' weights.
    priors : array of shape (classes,), dict of class to prior, or None
        How common each class truly is, in the order of the sorted classes; None: as common as its weight among the
        rows. They sum to one.
    costs : array of shape (classes, classes), dict or None
        What it costs to call a row of one class (row) another (column), in the order of the sorted classes; or a dict
        of (true, predicted) to cost, or of true to a dict of predicted to cost, in which a pair left out costs 1. None:
        every wrong label costs 1.

    """

    criterion: Any = parameter("gini", criterion_for("classes"))  # noqa: RUF009  a field
    class_weight: Any = parameter(None, CLASS_WEIGHT)  # noqa: RUF009
    priors: Any = parameter(None, PRIORS)  # noqa: RUF009
    costs: Any = parameter(None, COSTS)  # noqa: RUF009


@dataclass(kw_only=True, eq=False, repr=False)
class OfNumbers(ModelProtocol):
    """Parameters of a tree for numbers.

    Parameters
    ----------
    criterion : str, criterion object or function
        "squared_error", "friedman_mse", "absolute_error", "poisson"; or your own (see ``dtnumba.criteria``).

    """

    criterion: Any = parameter("squared_error", criterion_for("numbers"))  # noqa: RUF009  a field


@dataclass(kw_only=True, eq=False, repr=False)
class ForestOfClasses(OfClasses):
    """Parameters of a forest for classes.

    Parameters
    ----------
    max_features : int, share, "sqrt", "log2" or None
        Features drawn as candidates at each node.
    class_weight : dict, list of dict, "balanced", "balanced_subsample" or None
        Weight of each class; "balanced_subsample" balances the rows that each tree drew.
    priors : array of shape (classes,), dict of class to prior, or None
        As in DecisionTreeClassifier. With ``bootstrap`` they say, as all weights do, how likely a row is drawn.
    costs : array of shape (classes, classes), dict or None
        As in DecisionTreeClassifier, and likewise.
    voting : "soft" or "hard"
        Average the shares of the classes, of which the label is made, or count the trees' votes for their labels.

    """

    max_features: int | float | str | None = parameter("sqrt", MAX_FEATURES)
    class_weight: Any = parameter(None, FOREST_CLASS_WEIGHT)  # noqa: RUF009  a field
    voting: str = parameter("soft", one_of("soft", "hard"))


@dataclass(kw_only=True, eq=False, repr=False)
class ForestOfNumbers(OfNumbers):
    """Parameters of a forest for numbers.

    Parameters
    ----------
    max_features : int, share, "sqrt", "log2" or None
        Features drawn as candidates at each node; all by default, as in scikit-learn. A third is often better.

    """

    max_features: int | float | str | None = parameter(1.0, MAX_FEATURES)
