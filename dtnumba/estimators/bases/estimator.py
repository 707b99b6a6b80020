"""The base of every estimator: what ``fit`` has learned, how rows are read, and the error of one not fitted yet."""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dtnumba.criteria.classification import CostGini
from dtnumba.criteria.contract import resolve_criterion
from dtnumba.criteria.regression import PoissonWithZeros
from dtnumba.estimators.bases.metadata import TakesMetadata
from dtnumba.estimators.bases.named_parameters import NamedParameters
from dtnumba.estimators.bases.shown import ShowsItself
from dtnumba.prediction.on_dask import ANSWERS, also_lazily, brought_here
from dtnumba.tables.costs import NO_COSTS, ClassCosts, LeastCost, class_costs_of
from dtnumba.tables.labels import Labels, Values, read_labels, read_values, read_y
from dtnumba.tables.table import Seen, Table, first_missing, plain_table, read_table
from dtnumba.tables.weights import class_weights, read_weight
from dtnumba.validation.scoring import r_squared

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray
    from typing_extensions import Self

    from dtnumba.tables.binned_table import Features


_VERSION = "_dtnumba_version"  # in what is pickled


class NotFittedError(ValueError, AttributeError):
    """Raised when a model is asked something before ``fit``; caught by handlers of either parent, as scikit-learn's."""

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by the message, so that it also comes out of a worker that has loaded other packages."""
        return not_fitted, self.args


def not_fitted(message: str) -> NotFittedError:
    """Return the exception; where scikit-learn is loaded, one that its users' handlers catch too."""
    theirs = sys.modules.get("sklearn.exceptions")
    return NotFittedError(message) if theirs is None else _for_both(theirs.NotFittedError)(message)


@cache
def _for_both(theirs: type[Exception]) -> type[NotFittedError]:
    return type("NotFittedError", (NotFittedError, theirs), {"__module__": __name__})


@dataclass(eq=False, repr=False)
class Estimator(NamedParameters, TakesMetadata, ShowsItself):
    """Parameters with their checks and their display, and what ``fit`` has learned.

    Attributes
    ----------
    n_features_in_ : int
        Columns of the table in ``fit``.
    feature_names_in_ : array of str
        Names of the columns; only where all of them are text.
    categories_ : list of array or None
        The levels of each column, None of one of numbers; only where there are categories.

    """

    _is_of_one_output = False
    _instead_of_error = "learned"
    predict: ClassVar[Any]
    _score_of: ClassVar[Any]

    def __init_subclass__(cls, **options: Any) -> None:
        """Let what answers rows answer Dask collections, too."""
        super().__init_subclass__(**options)
        for name in ANSWERS:
            if name in vars(cls):
                setattr(cls, name, also_lazily(vars(cls)[name]))

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

    def check_fitted(self) -> Self:
        """Return the estimator if it is fitted."""
        if not self.__sklearn_is_fitted__():
            raise not_fitted(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before "
                "using this estimator."
            )
        return self

    def table_of(self, X: Any) -> Table:
        """Return the Table of rows to predict, of the columns seen in ``fit``."""
        learned = vars(self.check_fitted())
        if type(X) is Table:
            return X
        if type(X) is np.ndarray and "feature_names_in_" not in learned and "categories_" not in learned:
            plain = plain_table(X, learned["n_features_in_"])
            if plain is not None:
                self.refuse_missing(plain)
                return plain
        table = read_table(X, type(self).__name__, self.columns_seen)
        self.refuse_missing(table)
        return table

    @property
    def columns_seen(self) -> Seen:
        """The columns of the table in ``fit``: how many there were, their names and their categories."""
        learned = vars(self)
        return Seen(learned["n_features_in_"], learned.get("feature_names_in_"), learned.get("categories_"))

    @property
    def label_rule(self) -> LeastCost | None:
        """The rule by which a fitted model labels shares of classes; None: the commonest class, or it has no labels."""
        rule: LeastCost | None = vars(self).get("_rule")
        return rule

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return how well rows are predicted; of collections of Dask, what is predicted comes here for it.

        For a classifier that is the share of rows whose label (whose every label) is predicted. For a regressor it is R
        squared, averaged over outputs; of a constant target 1.0 where it is met, 0.0 where it is missed.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (rows, features)
            What to predict from.
        y : array of shape (rows,) or (rows, outputs)
            The true labels or values.
        sample_weight : array of shape (rows,), optional
            What each row counts.

        """
        return float(self._score_of(*brought_here(self.predict(X), y, sample_weight)))

    def save(self, path: str | os.PathLike[str], *, compact: bool = False) -> None:
        """Write the fitted model to a file, which ``dtnumba.load(path)`` reads in any process and on any machine.

        The file holds numbers and text, no code. It is written whole or not at all: where anything fails, what was
        there before stays. Parameters that are functions or classes of your own are named in it, and are needed again
        only to fit.

        Parameters
        ----------
        path : str or path
            Where to write; a file there is replaced.
        compact : bool
            Leave out what only explains the model, as ``compact`` does; the model in hand keeps it.

        """
        from dtnumba.estimators.model_file import save_model

        save_model(self, path, compact=compact)

    def stored(self) -> dict[str, Any]:
        """Return what a file may hold: parameters, and what was learned."""
        return vars(self)

    def take_stored(self, learned: dict[str, Any]) -> None:
        """Know what a file held."""
        vars(self).update(learned)

    def refuse_missing(self, table: Any) -> None:
        """Raise ValueError where ``missing="error"`` and a value is missing."""
        if getattr(self, "missing", "") != "error":
            return
        found = first_missing(table)
        if found is not None:
            row, column = found
            name = f"column {column}" if table.names is None else f"column {table.names[column]!r}"
            raise ValueError(
                f"missing='error': row {row} of {name} has no value (NaN, or one not seen in fit); fill it in, "
                f"leave the row out, or choose what missing values do, e.g. missing={self._instead_of_error!r}"
            )

    def __getstate__(self) -> dict[str, Any]:
        """Pickle what there is, and the version that wrote it."""
        return {**vars(self), _VERSION: version()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take what was pickled; warn where another version wrote it."""
        state = dict(state)
        written, own = state.pop(_VERSION, version()), version()
        vars(self).update(state)
        if written != own:
            warnings.warn(
                f"This {type(self).__name__} was pickled by dtnumba {written} and is read by dtnumba {own}, which may "
                "answer otherwise or fail: fit it again, or read it with the version that wrote it",
                UserWarning,
                stacklevel=2,
            )

    def __sklearn_is_fitted__(self) -> bool:
        """Tell scikit-learn's ``check_is_fitted``."""
        return "n_features_in_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        """Describe the estimator to scikit-learn; imported only when scikit-learn asks."""
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=True, multi_output=not self._is_of_one_output),
            input_tags=InputTags(sparse=True, allow_nan=True, string=True),
        )


def version() -> str:
    """Return the version of the package."""
    return str(sys.modules["dtnumba"].__version__)


class Classifier(Estimator):
    """The label side of a classifier, its score and its tags.

    Attributes
    ----------
    classes_ : array, or a list of one for each of several outputs
        The labels, sorted.
    n_classes_ : int, or array of one for each of several outputs
        How many there are.
    n_outputs_ : int
        Columns of the target in ``fit``.
    costs_ : array of shape (classes, classes) or None
        What it costs to call a row of a class (row) another (column); None where every wrong label costs one.

    """

    _estimator_type = "classifier"

    class_weight: Any
    priors: Any
    costs: Any
    criterion: Any
    predict_proba: Any
    classes_: Any
    n_classes_: Any
    n_outputs_: int

    def read_target(self, y: Any, n_rows: int) -> Labels:
        """Return the labels of so many rows as codes of their classes."""
        return y if isinstance(y, Labels) else read_labels(y, n_rows, type(self).__name__)

    def class_costs(self, labels: Labels) -> ClassCosts:
        """Return what costs and priors do to a fit."""
        if self.costs is None and self.priors is None:
            return NO_COSTS
        return class_costs_of(self.priors, self.costs, labels, alters=not self._reads_costs)

    @property
    def _reads_costs(self) -> bool:
        """Whether the criterion reads costs, so that they must not weigh the rows as well."""
        return isinstance(self.criterion, CostGini) or self.criterion is CostGini

    def _resolve_criterion(self, labels: Labels, total: float, n_features: int, class_costs: ClassCosts) -> Any:
        """Return the criterion object; CostGini is given the costs."""
        if not self._reads_costs:
            return resolve_criterion(self.criterion, labels.kind, total, n_features)
        given = self.criterion
        if given is CostGini:
            if class_costs.rule is None:
                raise ValueError("criterion=CostGini reads the parameter costs, which is not set: pass costs=")
            given = CostGini(class_costs.rule.costs)
        k = len(given.costs)
        if labels.sizes != [k]:
            raise ValueError(
                f"criterion=CostGini(...) has costs for {k} classes of one output, and y has {labels.sizes} classes: "
                "pass criterion=CostGini and costs=, which may be a dict"
            )
        return given

    def row_weights(
        self, labels: Labels, weight: NDArray[np.float64] | None, class_costs: ClassCosts = NO_COSTS
    ) -> NDArray[np.float64] | None:
        """Return what each row counts with the weight, the priors and the costs of its class; None: one."""
        return class_costs.weigh(labels, weight, class_weights(self.class_weight, labels, weight))

    @staticmethod
    def _learned_from(labels: Labels, class_costs: ClassCosts = NO_COSTS) -> dict[str, Any]:
        """Return what says what the classes are, of one output or lists of several, and how a row is labelled."""
        classes, sizes, is_one = labels.classes, np.array(labels.sizes), len(labels.classes) == 1
        return {
            "n_outputs_": len(classes),
            "classes_": classes[0] if is_one else classes,
            "n_classes_": sizes[0] if is_one else sizes,
            "_rule": class_costs.rule,
        }

    @property
    def costs_(self) -> NDArray[np.float64] | None:
        """The cost of calling a row of a class (row) another (column); None where every wrong label costs one."""
        rule = self.check_fitted().label_rule
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
        rule = self.check_fitted().label_rule
        if rule is None:
            return 1.0 - self.score(X, y, sample_weight)
        predicted, y, sample_weight = brought_here(self.predict(X), y, sample_weight)
        truth = read_y(y, len(predicted), type(self).__name__)[:, 0].tolist()
        places = {value: k for k, value in enumerate(self.classes_.tolist())}
        unknown = [value for value in truth if value not in places]
        if unknown:
            raise ValueError(
                f"expected_cost: y holds the label {unknown[0]!r}, for which there are no costs: it was not in y in fit"
            )
        codes = [np.array([places[value] for value in values], np.int64) for values in (truth, predicted.tolist())]
        return rule.mean(codes[0], codes[1], read_weight(sample_weight, len(truth)))

    @property
    def target_seen(self) -> Labels:
        """The classes of each output in ``fit``, without rows."""
        return Labels(self.class_lists(), np.empty((0, self.n_outputs_), np.int64))

    def class_lists(self) -> list[NDArray[Any]]:
        """Return the classes of each output."""
        return [self.classes_] if self.n_outputs_ == 1 else self.classes_

    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithm of ``predict_proba``."""
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return np.log(shares) if self.n_outputs_ == 1 else [np.log(share) for share in shares]

    def _score_of(self, predicted: NDArray[Any], y: Any, sample_weight: Any) -> float:
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
    """The target side of a regressor, its score and its tags.

    Attributes
    ----------
    n_outputs_ : int
        Columns of the target in ``fit``.

    """

    _estimator_type = "regressor"

    criterion: Any
    n_outputs_: int

    def read_target(self, y: Any, n_rows: int) -> Values:
        """Return the values of so many rows."""
        return y if isinstance(y, Values) else read_values(y, n_rows, type(self).__name__)

    @property
    def target_seen(self) -> Values:
        """As many outputs as in ``fit``, without rows."""
        return Values(np.empty((0, self.n_outputs_)))

    def class_costs(self, values: Values) -> ClassCosts:
        """Return what costs and priors do to a fit: nothing."""
        return NO_COSTS

    def _resolve_criterion(self, values: Values, total: float, n_features: int, class_costs: ClassCosts) -> Any:
        is_as_rpart = self.criterion == "poisson" and vars(self).get("missing") == "surrogate"
        return resolve_criterion(PoissonWithZeros if is_as_rpart else self.criterion, values.kind, total, n_features)

    def row_weights(
        self, values: Values, weight: NDArray[np.float64] | None, class_costs: ClassCosts = NO_COSTS
    ) -> NDArray[np.float64] | None:
        """Return what each row counts; None: one."""
        return weight

    @staticmethod
    def _learned_from(values: Values, class_costs: ClassCosts = NO_COSTS) -> dict[str, Any]:
        return {"n_outputs_": values.width}

    def _score_of(self, predicted: NDArray[np.float64], y: Any, sample_weight: Any) -> float:
        y = read_values(y, len(predicted), type(self).__name__).y
        return r_squared(y, predicted, read_weight(sample_weight, len(y)))

    def __sklearn_tags__(self) -> Any:
        """Describe the regressor to scikit-learn."""
        from sklearn.utils import RegressorTags

        tags = super().__sklearn_tags__()
        tags.estimator_type = "regressor"
        tags.regressor_tags = RegressorTags()
        return tags
