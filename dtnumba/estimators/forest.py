"""Forests: RandomForest and ExtraTrees, for classes and for numbers."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dtnumba.estimators.bases.docs import documented
from dtnumba.estimators.bases.estimator import Classifier, Regressor
from dtnumba.estimators.bases.forest import Forest
from dtnumba.estimators.bases.forest_parameters import FOREST_CLASS_WEIGHT, WAYS_TO_DRAW, ForestParams
from dtnumba.estimators.bases.parameters import MAX_FEATURES, one_of, parameter
from dtnumba.estimators.decision_tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
    OfClasses,
    OfNumbers,
)
from dtnumba.estimators.forest_steps.forgetting import Forgets
from dtnumba.tables.costs import NO_COSTS, ClassCosts, LeastCost, likeliest
from dtnumba.tables.weights import class_weights
from dtnumba.validation.scoring import r_squared

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _some(classes: NDArray[Any]) -> str:
    shown = ", ".join(map(repr, classes[:8].tolist()))
    return f"[{shown}, ... ({len(classes)} in all)]" if len(classes) > 8 else f"[{shown}]"


class ForestClassifier(Forest, Classifier):
    """The label side of forests.

    Attributes
    ----------
    oob_score_, oob_decision_function_ : float, array
        Score and class shares of every row by the trees that did not see it; NaN where all did.

    """

    def _is_balanced(self) -> bool:
        is_balanced = isinstance(self.class_weight, str) and self.class_weight == "balanced_subsample"
        return is_balanced and bool(self.bootstrap)

    def _demand_same_classes(self, outcome: Any) -> None:
        for o, (before, now) in enumerate(zip(self.class_lists(), outcome.classes, strict=True)):
            if before.tolist() != now.tolist():
                of = f" of output {o}" if len(outcome.classes) > 1 else ""
                raise ValueError(
                    f"warm_start=True: the classes{of} were {_some(before)} in the first fit and are {_some(now)} now; "
                    "the trees that are kept know the first ones only: pass a y with the same classes, or set "
                    "warm_start=False, which fits anew"
                )

    def row_weights(self, labels: Any, weight: Any, class_costs: ClassCosts = NO_COSTS) -> Any:
        """Return what each row counts, as ``Classifier`` does; "balanced_subsample" balances what a tree has drawn."""
        if isinstance(self.class_weight, str):
            if self.warm_start:
                warnings.warn(
                    'class_weight presets "balanced" or "balanced_subsample" are not recommended for warm_start if the '
                    "fitted data differs from the full dataset: the weights are those of the data at hand.",
                    UserWarning,
                    stacklevel=3,
                )
            if self._is_balanced():
                if class_costs.priors is not None or class_costs.factors is not None:
                    raise ValueError(
                        "class_weight='balanced_subsample' makes the classes weigh the same in every tree, whatever "
                        "priors and costs make of them: pass class_weight=None and priors of 1 / classes each"
                    )
                return weight
        given = "balanced" if isinstance(self.class_weight, str) else self.class_weight
        return class_costs.weigh(labels, weight, class_weights(given, labels, weight))

    def _scored_out_of_bag(self, labels: Any, mean: Any, seen: Any, rule: LeastCost | None) -> dict[str, Any]:
        parts = np.split(mean, np.cumsum(labels.sizes)[:-1], axis=1)
        codes = np.stack([_codes(np.nan_to_num(part), rule) for part in parts], axis=1)
        truth = np.stack([classes[code] for classes, code in zip(labels.classes, labels.codes.T, strict=True)], axis=1)
        guess = np.stack([classes[code] for classes, code in zip(labels.classes, codes.T, strict=True)], axis=1)
        if not seen.any():
            score = float("nan")
        elif callable(self.oob_score):
            one = truth.shape[1] == 1
            score = self.oob_score(truth[seen][:, 0] if one else truth[seen], guess[seen][:, 0] if one else guess[seen])
        else:
            score = float((truth[seen] == guess[seen]).all(axis=1).mean())
        if len(parts) > 1:
            widest = max(labels.sizes)
            function = np.full((len(mean), widest, len(parts)), np.nan)
            for o, part in enumerate(parts):
                function[:, : part.shape[1], o] = part
            return {"oob_score_": score, "oob_decision_function_": function}
        return {"oob_score_": score, "oob_decision_function_": mean}

    def _learned_by_trees(self) -> dict[str, Any]:
        names = ("n_outputs_", "classes_", "n_classes_", "_rule")
        return {name: vars(self)[name] for name in names}

    def predict_proba(self, X: Any) -> Any:
        """Return the mean share of each class over the trees (``voting="hard"``: the share of the trees' votes)."""
        table = self.table_of(X)
        shares = self.forest_.means(table, self._voting(), self.n_jobs)
        parts = np.split(shares, np.cumsum(self.forest_.n_classes)[:-1], axis=1)
        return parts[0] if len(parts) == 1 else parts

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of largest share, or of least expected cost, for every row, the first on ties."""
        shares = self.predict_proba(X)
        shares = [shares] if self.n_outputs_ == 1 else shares
        rule = self._rule_of_votes(self.label_rule)
        labels = [classes[_codes(share, rule)] for classes, share in zip(self.class_lists(), shares, strict=True)]
        return labels[0] if len(labels) == 1 else np.stack(labels, axis=1)


def _codes(shares: NDArray[np.float64], rule: LeastCost | None) -> NDArray[np.int64]:
    """Return the class for every row of shares."""
    return likeliest(shares) if rule is None else rule.codes(shares)


class ForestRegressor(Forest, Regressor):
    """The target side of forests.

    Attributes
    ----------
    oob_score_, oob_prediction_ : float, array
        R squared and mean of every row by the trees that did not see it; NaN where all did.

    """

    voting = "soft"

    def _scored_out_of_bag(self, values: Any, mean: Any, seen: Any, rule: None) -> dict[str, Any]:
        truth = values.y
        if not seen.any():
            score = float("nan")
        elif callable(self.oob_score):
            one = truth.shape[1] == 1
            score = self.oob_score(truth[seen][:, 0] if one else truth[seen], mean[seen][:, 0] if one else mean[seen])
        else:
            score = r_squared(truth[seen], mean[seen], None)
        return {"oob_score_": score, "oob_prediction_": mean[:, 0] if mean.shape[1] == 1 else mean}

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the mean of the trees' values for every row."""
        table = self.table_of(X)
        values = self.forest_.means(table, self.voting, self.n_jobs)
        return values[:, 0] if self.n_outputs_ == 1 else values


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


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class RandomForestClassifier(Forgets, ForestClassifier, ForestOfClasses, ForestParams):
    """A random forest for classes (Breiman 2001)."""

    _tree_class: ClassVar[Any] = DecisionTreeClassifier


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class RandomForestRegressor(Forgets, ForestRegressor, ForestOfNumbers, ForestParams):
    """A random forest for numbers.

    Numbers may lie far apart: they are told apart down to 2**-400 of the largest one.
    """

    _tree_class: ClassVar[Any] = DecisionTreeRegressor


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class ExtraTreesClassifier(RandomForestClassifier):
    """Extremely randomised trees for classes (Geurts 2006): random thresholds, and all rows in every tree."""

    bootstrap: bool | str = parameter(False, WAYS_TO_DRAW)
    _tree_class: ClassVar[Any] = ExtraTreeClassifier


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class ExtraTreesRegressor(RandomForestRegressor):
    """Extremely randomised trees for numbers."""

    bootstrap: bool | str = parameter(False, WAYS_TO_DRAW)
    _tree_class: ClassVar[Any] = ExtraTreeRegressor
