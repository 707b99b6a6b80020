"""scikit-learn's estimator protocol without scikit-learn: parameters are dataclass fields, declared once."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dtnumba.cost_gini import CostGini
from dtnumba.costs import NO_STAKES, LeastCost, Stakes, stakes_of
from dtnumba.criteria import PoissonWithZeros, resolve_criterion
from dtnumba.errors import not_fitted
from dtnumba.labels import Labels, Values, read_labels, read_values, read_y
from dtnumba.table import Seen, Table, first_missing, plain_table, read_table
from dtnumba.weights import class_weights, read_weight

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self

    from dtnumba.binned_table import Features


@dataclass(eq=False, repr=False)
class Estimator:
    """Parameters with their checks and their display, and what ``fit`` has learned."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; with ``deep``, those of nested estimators too."""
        params = {}
        for field in fields(self):
            value = params[field.name] = vars(self)[field.name]
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                params |= {f"{field.name}__{name}": nested for name, nested in value.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name (``nested__name`` reaches into an estimator); return the estimator."""
        legal = {field.name for field in fields(self)}
        nested: dict[str, dict[str, Any]] = {}
        for key, value in params.items():
            name, _, inner = key.partition("__")
            if name not in legal:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self!r}. Valid parameters are: {sorted(legal)}."
                )
            if inner:
                nested.setdefault(name, {})[inner] = value
            else:
                setattr(self, name, value)
        for name, inner_params in nested.items():
            vars(self)[name].set_params(**inner_params)
        return self

    def __repr__(self) -> str:
        """Show the parameters that differ from their defaults."""
        shown = []
        for field in fields(self):
            value = vars(self)[field.name]
            if field.default is MISSING or not _same(value, field.default):
                shown.append(f"{field.name}={value!r}")
        return f"{type(self).__name__}({', '.join(shown)})"

    def _check_params(self) -> None:
        """Check every parameter that says what is legal and is not as it was declared."""
        for field in fields(self):
            rule, value = field.metadata.get("rule"), vars(self)[field.name]
            if rule is not None and value is not field.default:
                rule.check(field.name, value, type(self).__name__)

    def _learn(self, table: Features, **learned: Any) -> Self:
        """Replace what an earlier ``fit`` has learned, all at once and last: a fit that fails changes nothing."""
        if table.names is not None:
            learned["feature_names_in_"] = table.names
        if table.levels is not None:
            learned["categories_"] = list(table.levels)
        learned["n_features_in_"] = table.n_features
        stale = [name for name in vars(self) if name.endswith("_") and name not in learned]
        for name in stale:
            delattr(self, name)
        vars(self).update(learned)
        return self

    def _fitted(self) -> Self:
        """Return the estimator if it is fitted."""
        if not self.__sklearn_is_fitted__():
            raise not_fitted(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before "
                "using this estimator."
            )
        return self

    def _table(self, X: Any) -> Table:
        """Return the Table of rows to predict, of the columns seen in ``fit``."""
        learned = vars(self._fitted())
        if type(X) is Table:
            return X
        if type(X) is np.ndarray and "feature_names_in_" not in learned and "categories_" not in learned:
            plain = plain_table(X, learned["n_features_in_"])
            if plain is not None:
                self._refuse_missing(plain)
                return plain
        seen = Seen(learned["n_features_in_"], learned.get("feature_names_in_"), learned.get("categories_"))
        table = read_table(X, type(self).__name__, seen)
        self._refuse_missing(table)
        return table

    def _refuse_missing(self, table: Any) -> None:
        """Raise ValueError where ``missing="error"`` and a value is missing."""
        if getattr(self, "missing", "") != "error":
            return
        found = first_missing(table)
        if found is not None:
            row, column = found
            name = f"column {column}" if table.names is None else f"column {table.names[column]!r}"
            raise ValueError(
                f"missing='error': row {row} of {name} has no value (or one not seen in fit); fill it in, leave the "
                "row out, or choose what missing values do, e.g. missing='learned'"
            )

    def __sklearn_is_fitted__(self) -> bool:
        """Tell scikit-learn's ``check_is_fitted``."""
        return "n_features_in_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        """Describe the estimator to scikit-learn; imported only when scikit-learn asks."""
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=True, multi_output=True),
            input_tags=InputTags(sparse=True, allow_nan=True, string=True),
        )


def _same(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and bool(np.all(value == default)))


class Classifier(Estimator):
    """The label side of a classifier, its score and its tags."""

    _estimator_type = "classifier"
    _rule: ClassVar[LeastCost | None] = None  # of labels, where costs make one

    class_weight: Any
    priors: Any
    costs: Any
    criterion: Any
    predict: Any
    classes_: Any
    n_classes_: Any
    n_outputs_: int

    def _read_y(self, y: Any, n_rows: int) -> Labels:
        return y if isinstance(y, Labels) else read_labels(y, n_rows, type(self).__name__)

    def _stakes(self, labels: Labels) -> Stakes:
        """Return what costs and priors do to a fit."""
        if self.costs is None and self.priors is None:
            return NO_STAKES
        return stakes_of(self.priors, self.costs, labels, alters=not self._reads_costs)

    @property
    def _reads_costs(self) -> bool:
        """Whether the criterion reads costs, so that they must not weigh the rows as well."""
        return isinstance(self.criterion, CostGini) or self.criterion is CostGini

    def _resolve_criterion(self, labels: Labels, total: float, n_features: int, stakes: Stakes) -> Any:
        """Return the criterion object; CostGini is given the costs."""
        if not self._reads_costs:
            return resolve_criterion(self.criterion, labels.kind, total, n_features)
        given = self.criterion
        if given is CostGini:
            if stakes.rule is None:
                raise ValueError("criterion=CostGini reads the parameter costs, which is not set: pass costs=")
            given = CostGini(stakes.rule.costs)
        k = len(given.costs)
        if labels.sizes != [k]:
            raise ValueError(
                f"criterion=CostGini(...) has costs for {k} classes of one output, and y has {labels.sizes} classes: "
                "pass criterion=CostGini and costs=, which may be a dict"
            )
        return given

    def _weigh(
        self, labels: Labels, weight: NDArray[np.float64] | None, stakes: Stakes = NO_STAKES
    ) -> NDArray[np.float64] | None:
        return stakes.weigh(labels, weight, class_weights(self.class_weight, labels, weight))

    @staticmethod
    def _learned_from(labels: Labels, stakes: Stakes = NO_STAKES) -> dict[str, Any]:
        """Return what says what the classes are, of one output or lists of several, and how a row is labelled."""
        classes, sizes, is_one = labels.classes, np.array(labels.sizes), len(labels.classes) == 1
        return {
            "n_outputs_": len(classes),
            "classes_": classes[0] if is_one else classes,
            "n_classes_": sizes[0] if is_one else sizes,
            "_rule": stakes.rule,
        }

    @property
    def costs_(self) -> NDArray[np.float64] | None:
        """What it costs to call a row of a class (row) another (column); None where every wrong label costs one."""
        rule = vars(self._fitted())["_rule"]
        return None if rule is None else rule.costs.copy()

    def expected_cost(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the mean cost of what is predicted; without costs, the share of wrong labels.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (rows, features)
            What to predict from.
        y : array of shape (rows,) or (rows, outputs)
            The true labels.
        sample_weight : array of shape (rows,), optional
            What each row counts.

        """
        rule: LeastCost | None = vars(self._fitted())["_rule"]
        if rule is None:
            return 1.0 - self.score(X, y, sample_weight)
        predicted = self.predict(X)
        truth = read_y(y, len(predicted), type(self).__name__)[:, 0].tolist()
        places = {value: k for k, value in enumerate(self.classes_.tolist())}
        unknown = [value for value in truth if value not in places]
        if unknown:
            raise ValueError(
                f"expected_cost: y holds the label {unknown[0]!r}, for which there are no costs: it was not in y in fit"
            )
        codes = [np.array([places[value] for value in values], np.int64) for values in (truth, predicted.tolist())]
        return rule.mean(codes[0], codes[1], read_weight(sample_weight, len(truth)))

    def _classes(self) -> list[NDArray[Any]]:
        """Return the classes of each output."""
        return [self.classes_] if self.n_outputs_ == 1 else self.classes_

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows whose label (whose every label) is predicted.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (rows, features)
            What to predict from.
        y : array of shape (rows,) or (rows, outputs)
            The true labels.
        sample_weight : array of shape (rows,), optional
            What each row counts.

        """
        predicted = self.predict(X)
        y = read_y(y, len(predicted), type(self).__name__)
        right = (predicted.reshape(y.shape) == y).all(axis=1)
        return float(np.average(right, weights=read_weight(sample_weight, len(right))))

    def __sklearn_tags__(self) -> Any:
        """Describe the classifier to scikit-learn."""
        from sklearn.utils import ClassifierTags

        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier"
        tags.classifier_tags = ClassifierTags(multi_class=True)
        return tags


class Regressor(Estimator):
    """The target side of a regressor, its score and its tags."""

    _estimator_type = "regressor"

    criterion: Any
    predict: Any
    n_outputs_: int

    def _read_y(self, y: Any, n_rows: int) -> Values:
        return y if isinstance(y, Values) else read_values(y, n_rows, type(self).__name__)

    def _stakes(self, values: Values) -> Stakes:
        return NO_STAKES

    def _resolve_criterion(self, values: Values, total: float, n_features: int, stakes: Stakes) -> Any:
        is_as_rpart = self.criterion == "poisson" and vars(self).get("missing") == "surrogate"
        return resolve_criterion(PoissonWithZeros if is_as_rpart else self.criterion, values.kind, total, n_features)

    def _weigh(
        self, values: Values, weight: NDArray[np.float64] | None, stakes: Stakes = NO_STAKES
    ) -> NDArray[np.float64] | None:
        return weight

    @staticmethod
    def _learned_from(values: Values, stakes: Stakes = NO_STAKES) -> dict[str, Any]:
        return {"n_outputs_": values.width}

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R squared, averaged over outputs; of a constant target 1.0 where it is met, 0.0 where it is missed.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (rows, features)
            What to predict from.
        y : array of shape (rows,) or (rows, outputs)
            The true values.
        sample_weight : array of shape (rows,), optional
            What each row counts.

        """
        predicted = self.predict(X)
        y = read_values(y, len(predicted), type(self).__name__).y
        given = read_weight(sample_weight, len(y))
        weight = np.ones(len(y)) if given is None else given
        missed = weight @ (y - predicted.reshape(y.shape)) ** 2
        spread = weight @ (y - np.average(y, axis=0, weights=weight)) ** 2
        ratio = np.divide(missed, spread, out=(missed > 0).astype(np.float64), where=spread > 0)
        return float(np.mean(1.0 - ratio))

    def __sklearn_tags__(self) -> Any:
        """Describe the regressor to scikit-learn."""
        from sklearn.utils import RegressorTags

        tags = super().__sklearn_tags__()
        tags.estimator_type = "regressor"
        tags.regressor_tags = RegressorTags()
        return tags
