"""scikit-learn's estimator protocol without scikit-learn: parameters are dataclass fields, declared once."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.errors import not_fitted
from dtnumba.labels import Labels, Values, read_labels, read_values, read_y
from dtnumba.table import Seen, Table, plain_table, read_table
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
            value = params[field.name] = getattr(self, field.name)
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
            getattr(self, name).set_params(**inner_params)
        return self

    def __repr__(self) -> str:
        """Show the parameters that differ from their defaults."""
        shown = []
        for field in fields(self):
            value = getattr(self, field.name)
            if field.default is MISSING or not _same(value, field.default):
                shown.append(f"{field.name}={value!r}")
        return f"{type(self).__name__}({', '.join(shown)})"

    def _check_params(self) -> None:
        """Check every parameter that says what is legal and is not as it was declared."""
        for field in fields(self):
            rule, value = field.metadata.get("rule"), getattr(self, field.name)
            if rule is not None and value is not field.default:
                rule.check(field.name, value, type(self).__name__)

    def _learn(self, table: Features, **learned: Any) -> Self:
        """Replace what an earlier ``fit`` has learned, all at once and last: a fit that fails changes nothing."""
        if table.names is not None:
            learned["feature_names_in_"] = table.names
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
        if type(X) is np.ndarray and "feature_names_in_" not in learned:
            plain = plain_table(X, learned["n_features_in_"])
            if plain is not None:
                return plain
        seen = Seen(learned["n_features_in_"], learned.get("feature_names_in_"))
        return read_table(X, type(self).__name__, seen)

    def __sklearn_is_fitted__(self) -> bool:
        """Tell scikit-learn's ``check_is_fitted``."""
        return "n_features_in_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        """Describe the estimator to scikit-learn; imported only when scikit-learn asks."""
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=True, multi_output=True),
            input_tags=InputTags(sparse=True, allow_nan=True),
        )


def _same(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and bool(np.all(value == default)))


class Classifier(Estimator):
    """The label side of a classifier, its score and its tags."""

    _estimator_type = "classifier"

    class_weight: Any
    predict: Any
    classes_: Any
    n_classes_: Any
    n_outputs_: int

    def _read_y(self, y: Any, n_rows: int) -> Labels:
        return read_labels(y, n_rows, type(self).__name__)

    def _weigh(self, labels: Labels, weight: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        return class_weights(self.class_weight, labels, weight)

    @staticmethod
    def _learned_from(labels: Labels) -> dict[str, Any]:
        """Return the attributes that say what the classes are: of one output, or lists of several."""
        classes, sizes, is_one = labels.classes, np.array(labels.sizes), len(labels.classes) == 1
        return {
            "n_outputs_": len(classes),
            "classes_": classes[0] if is_one else classes,
            "n_classes_": sizes[0] if is_one else sizes,
        }

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

    predict: Any
    n_outputs_: int

    def _read_y(self, y: Any, n_rows: int) -> Values:
        return read_values(y, n_rows, type(self).__name__)

    def _weigh(self, values: Values, weight: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        return weight

    @staticmethod
    def _learned_from(values: Values) -> dict[str, Any]:
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
