"""MARS: multivariate adaptive regression splines, for numbers and for classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.estimators.bases.docs import documented
from dtnumba.estimators.bases.estimator import Classifier, Regressor
from dtnumba.estimators.bases.parameters import CLASS_WEIGHT, parameter
from dtnumba.estimators.bases.splines import SplineModel
from dtnumba.estimators.spline_parameters import SplineParams
from dtnumba.runtime.tasks import n_workers
from dtnumba.trees.hinges import Splines

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.growth.mars.forward import Grown
    from dtnumba.tables.labels import Labels, Values
    from dtnumba.tables.table import Table
    from dtnumba.trees.hinges import Hinges


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class MARSRegressor(SplineModel, Regressor, SplineParams):
    """Multivariate adaptive regression splines (Friedman 1991), as R's earth fits them.

    A prediction is a sum of terms, each a product of hinges such as ``max(0, x - 3)``. The forward pass adds the pair
    of terms that explains most of what is left over, again and again; then terms are taken away while the generalized
    cross-validation falls. Several targets at once share their terms. A category is one column for each level but the
    first.

    A weight is that of a row in least squares; how many rows there are, GCV and knots count without weights. Equal
    weights are none.

    Examples
    --------
    >>> import numpy as np
    >>> from dtnumba import MARSRegressor
    >>> X = np.linspace(0.0, 10.0, 101)[:, None]
    >>> model = MARSRegressor().fit(X, 1.0 + np.maximum(X[:, 0] - 4.0, 0.0))
    >>> [str(term) for term in model.terms_], model.predict([[2.0], [7.0]]).round(6).tolist()
    (['(Intercept)', 'h(x0-4)'], [1.0, 4.0])

    """

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the predicted value of every row; of several outputs, a column each."""
        sums = self._sums(X)
        return sums[:, 0] if self.n_outputs_ == 1 else sums

    def _targets(self, outcome: Values) -> NDArray[np.float64]:
        return outcome.y

    def _coefficients(
        self, table: Table, outcome: Values, hinges: Hinges, found: NDArray[np.float64], weight: Any
    ) -> dict[str, Any]:
        return {"splines_": Splines(hinges, found)}

    def _squares(self, grown: Grown, kept: NDArray[np.int64], scale: float) -> dict[str, Any]:
        from dtnumba.growth.mars.subsets import squares_of

        return {"_by_output": np.stack([squares_of(grown, kept), grown.null_rss]) / scale / scale}


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class MARSClassifier(SplineModel, Classifier, SplineParams):
    """Splines for classes: the terms of ``MARSRegressor``, found for 0 and 1, and a logistic regression on them.

    Of two classes the terms are those of the second one's 0 and 1; of more they are shared by a column for each class.
    The coefficients are then those of the logarithm of the odds, against those of the first class, which are zero.
    Where terms part the classes, these have no finite coefficients, and those of the 25th of Newton's steps stand.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        Weight of each class, multiplied into the rows' weights.

    Attributes
    ----------
    deviance_, null_deviance_ : float
        Minus twice the logarithm of how likely the labels are: to the model, and to the shares of the classes.
    n_steps_ : int
        Newton's steps.
    converged_ : bool
        Whether the last one changed next to nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from dtnumba import MARSClassifier
    >>> X = np.linspace(-2.0, 2.0, 200)[:, None]
    >>> y = np.where((np.abs(X[:, 0]) > 1) ^ (np.arange(200) % 10 == 0), "out", "in")
    >>> MARSClassifier().fit(X, y).predict([[-1.9], [0.0], [1.9]]).tolist()
    ['out', 'in', 'out']

    """

    class_weight: Any = parameter(None, CLASS_WEIGHT)  # noqa: RUF009  a field

    _is_of_one_output = True

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithm of the odds of the second class; of more than two, of each class against the first."""
        sums = self._sums(X)
        return sums[:, 0] if sums.shape[1] == 1 else sums

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class, a column each."""
        return self._answers(X)[1]

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the likeliest label of every row, the first on ties."""
        codes = self._answers(X)[0]
        return np.asarray(self.classes_[codes])

    def _answers(self, X: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        from dtnumba.growth.mars.logistic import codes_and_shares

        return codes_and_shares(self._sums(X), int(self.n_classes_))

    def _targets(self, outcome: Labels) -> NDArray[np.float64]:
        codes, k = outcome.codes[:, 0], outcome.sizes[0]
        return np.asarray(codes[:, None] == (np.arange(k) if k > 2 else np.ones(1)), np.float64)

    def _coefficients(
        self, table: Table, outcome: Labels, hinges: Hinges, found: NDArray[np.float64], weight: Any
    ) -> dict[str, Any]:
        from dtnumba.growth.mars.logistic import fit_logistic
        from dtnumba.prediction.splines import terms_of

        terms = terms_of(table, hinges, n_workers(self.n_jobs))
        k = outcome.sizes[0]
        fitted = fit_logistic(terms, outcome.codes[:, 0].astype(np.int64), k, weight)
        coefficients = fitted.coefficients if k > 2 else fitted.coefficients[:, -1:]
        return {
            "splines_": Splines(hinges, np.ascontiguousarray(coefficients)),
            "deviance_": fitted.deviance,
            "null_deviance_": fitted.null_deviance,
            "n_steps_": fitted.n_steps,
            "converged_": fitted.converged,
        }
