"""scikit-learn's estimator protocol without scikit-learn: parameters are dataclass fields, declared once."""

from dataclasses import MISSING, fields

import numpy as np

from dtnumba.errors import NotFittedError


class Estimator:
    """Parameters, their checks and their display."""

    @classmethod
    def _parameters(cls):
        return [field for field in fields(cls) if field.init]

    def get_params(self, deep=True):
        """Return the parameters by name; with ``deep``, those of nested estimators too."""
        params = {}
        for field in self._parameters():
            value = params[field.name] = getattr(self, field.name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                params |= {f"{field.name}__{name}": nested for name, nested in value.get_params().items()}
        return params

    def set_params(self, **params):
        """Set parameters by name (``nested__name`` reaches into an estimator); return the estimator."""
        legal = {field.name for field in self._parameters()}
        nested = {}
        for key, value in params.items():
            name, _, inner = key.partition("__")
            if name not in legal:
                msg = f"Invalid parameter {name!r} for estimator {self!r}. Valid parameters are: {sorted(legal)}."
                raise ValueError(msg)
            if inner:
                nested.setdefault(name, {})[inner] = value
            else:
                setattr(self, name, value)
        for name, inner in nested.items():
            getattr(self, name).set_params(**inner)
        return self

    def __repr__(self):
        """Show the parameters that differ from their defaults."""
        shown = []
        for field in self._parameters():
            value = getattr(self, field.name)
            if field.default is MISSING or not _same(value, field.default):
                shown.append(f"{field.name}={value!r}")
        return f"{type(self).__name__}({', '.join(shown)})"

    def _check_params(self):
        """Check every parameter that says in its metadata what is legal."""
        for field in self._parameters():
            check = field.metadata.get("check")
            if check is not None:
                check(field.name, getattr(self, field.name))

    def _check_fitted(self):
        if not hasattr(self, "trees_"):
            msg = (
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before using "
                "this estimator."
            )
            raise NotFittedError(msg)

    def __sklearn_is_fitted__(self):
        """Tell scikit-learn's ``check_is_fitted``."""
        return hasattr(self, "trees_")

    def __sklearn_tags__(self):
        """Describe the estimator to scikit-learn; imported only when scikit-learn asks."""
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=True, multi_output=True),
            input_tags=InputTags(sparse=True, allow_nan=True),
        )

    def __getstate__(self):
        """Leave out what is rebuilt on demand: the packed predictor."""
        return {name: value for name, value in self.__dict__.items() if not name.startswith("_packed")}


def _same(value, default):
    return value is default or (type(value) is type(default) and bool(np.all(value == default)))


class Classifier:
    """Scoring and tags of a classifier."""

    _estimator_type = "classifier"

    def score(self, X, y, sample_weight=None):
        """Return the share of rows whose label (whose every label) is predicted."""
        from dtnumba.labels import read_weight, read_y

        predicted = self.predict(X)
        y = read_y(y, len(predicted), type(self).__name__)
        right = predicted == y
        right = right if right.ndim == 1 else right.all(axis=1)
        weight = read_weight(sample_weight, len(right))
        return float(np.average(right, weights=weight))

    def __sklearn_tags__(self):
        """Describe the classifier to scikit-learn."""
        from sklearn.utils import ClassifierTags

        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier"
        tags.classifier_tags = ClassifierTags(multi_class=True)
        return tags


class Regressor:
    """Scoring and tags of a regressor."""

    _estimator_type = "regressor"

    def score(self, X, y, sample_weight=None):
        """Return R squared, averaged over outputs; 0.0 for a constant target that is missed, 1.0 for one that is met."""
        from dtnumba.labels import read_numbers, read_weight

        predicted = self.predict(X)
        y, _ = read_numbers(y, len(predicted), type(self).__name__)
        predicted = predicted.reshape(y.shape)
        weight = read_weight(sample_weight, len(y))
        weight = np.ones(len(y)) if weight is None else weight
        missed = weight @ (y - predicted) ** 2
        spread = weight @ (y - np.average(y, axis=0, weights=weight)) ** 2
        ratio = np.divide(missed, spread, out=(missed > 0).astype(float), where=spread > 0)
        return float(np.mean(1.0 - ratio))

    def __sklearn_tags__(self):
        """Describe the regressor to scikit-learn."""
        from sklearn.utils import RegressorTags

        tags = super().__sklearn_tags__()
        tags.estimator_type = "regressor"
        tags.regressor_tags = RegressorTags()
        return tags
