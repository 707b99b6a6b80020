"""The base of models made of splines: the pipeline of their fit, their terms, and what features are worth."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.estimators.bases.fit import Learner
from dtnumba.estimators.bases.parameters import is_int
from dtnumba.growth.mars.settings import ForwardSettings
from dtnumba.rules.text import names_of
from dtnumba.runtime.tasks import n_workers
from dtnumba.tables.categories import listed_columns
from dtnumba.tables.cells import values_of
from dtnumba.tables.table import rows_of_table
from dtnumba.trees.hinges import Splines, Term, check_finite, hinges_of, shown_factors, term_texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.estimators.bases.fit import TrainingData
    from dtnumba.growth.mars.forward import Grown
    from dtnumba.tables.table import Table
    from dtnumba.trees.hinges import Hinges, SplinePath

    _OfColumns = tuple[NDArray[np.float64], NDArray[np.float64]]


_FOLD_SEED = 0
_ROWS = 1 << 16  # looked at together
_TAME = 200  # powers of two of targets whose squares are no trouble
WORTHS = ("n_subsets", "gcv", "rss")


class SplineModel(Learner):
    """A model made of terms of hinges.

    Attributes
    ----------
    splines_ : Splines
        The terms and their coefficients as arrays.
    rss_, gcv_, rsq_, grsq_ : float
        Of the least squares fit of the terms to the rows of ``fit``: the squares left over, the generalized
        cross-validation, and what share of those of the mean they explain. Of several outputs, the sums.
    path_ : SplinePath
        The best model of every size: its ``rss``, ``gcv`` and ``terms``, numbers of ``forward_terms_``.
    cv_rsq_ : array of shape (sizes,)
        Mean R squared of each size on held-out folds; only with ``prune="cv"``.
    feature_importances_ : array of shape (features,)
        What each column is worth by ``importance``, as shares that sum to one.

    """

    _instead_of_error = "indicator"

    # From SplineParams
    max_degree: int
    max_terms: int | None
    penalty: float | None
    threshold: float
    minspan: int
    endspan: int
    adjust_endspan: float
    newvar_penalty: float
    fast_k: int
    fast_beta: float
    auto_linear: bool
    linear_features: Any
    allowed: Any
    prune: str | None
    max_pruned_terms: int | None
    n_folds: int
    importance: str
    missing: str

    splines_: Splines
    path_: SplinePath
    rss_: float
    gcv_: float
    rsq_: float
    grsq_: float
    _forward: Hinges

    def _targets(self, outcome: Any) -> NDArray[np.float64]:
        """Return the numbers that terms are looked for with, a column each."""
        raise NotImplementedError

    def _coefficients(
        self, table: Table, outcome: Any, hinges: Hinges, found: NDArray[np.float64], weight: Any
    ) -> dict[str, Any]:
        """Return what is learned of the coefficients of the terms that are kept."""
        raise NotImplementedError

    def _squares(self, grown: Grown, kept: NDArray[np.int64], scale: float) -> dict[str, Any]:
        """Return what is learned of the squares that are left over."""
        return {}

    def _settings(self, n_columns: int) -> ForwardSettings:
        most = min(200, max(20, 2 * n_columns)) + 1 if self.max_terms is None else int(self.max_terms)
        return ForwardSettings(
            max_degree=int(self.max_degree),
            max_terms=most,
            penalty=(2.0 if self.max_degree == 1 else 3.0) if self.penalty is None else float(self.penalty),
            threshold=float(self.threshold),
            minspan=int(self.minspan),
            endspan=int(self.endspan),
            adjust_endspan=float(self.adjust_endspan),
            newvar_penalty=float(self.newvar_penalty),
            fast_k=int(self.fast_k),
            fast_beta=float(self.fast_beta),
            auto_linear=bool(self.auto_linear),
        )

    def _learned(self, data: TrainingData) -> dict[str, Any]:
        from dtnumba.growth.mars.settings import gcv_of
        from dtnumba.growth.mars.subsets import coefficients_of, path_of

        table, outcome, weight = data.table, data.outcome, self.row_weights(data.outcome, data.weight)
        y = self._targets(outcome)
        if weight is not None and (weight <= 0).any():
            rows = np.flatnonzero(weight > 0)
            table, y, weight = rows_of_table(table, rows), y[rows], weight[rows]
            outcome = _rows_of(outcome, rows)
        if weight is not None and (weight == weight[0]).all():
            weight = None
        scale = _scale_of(y)
        y = y * scale
        grown, (fill, reach), penalty = self._grown(table, y, weight)
        forward = hinges_of(grown.terms, fill)
        path, more = path_of(grown, self._method, penalty), {}
        size = self._size(path.gcv)
        if self.prune == "cv":
            scores = self._scores_of_folds(table, y, weight, outcome, forward.n_terms)
            more["cv_rsq_"], size = scores, 1 + int(scores[: self._most(len(scores))].argmax())
        kept = path.terms[size - 1]
        null, rss = float(grown.null_rss.sum()), float(path.rss[size - 1])
        gcv, null_gcv = float(path.gcv[size - 1]), gcv_of(null, grown.n_rows, 1, penalty)
        hinges = forward.some(kept)
        with np.errstate(over="ignore", under="ignore"):
            found = coefficients_of(grown, kept) / scale
            fitted = self._coefficients(table, outcome, hinges, found, weight)
            path = path._replace(rss=path.rss / scale / scale, gcv=path.gcv / scale / scale)
        check_finite(fitted["splines_"], names_of(table.n_features, table.names))
        return {
            **self._learned_from(data.outcome, *([data.class_costs] if hasattr(data.outcome, "codes") else [])),
            **fitted,
            **self._squares(grown, kept, scale),
            **more,
            "path_": path,
            "rss_": float(path.rss[size - 1]),
            "gcv_": float(path.gcv[size - 1]),
            "rsq_": 1.0 - rss / null if null > 0 else 1.0,
            "grsq_": 1.0 - gcv / null_gcv if null_gcv > 0 and math.isfinite(gcv) else 0.0,
            "_forward": forward,
            "_kept": kept,
            "_reach": reach,
            "_ended": int(grown.ended),
            "_n_rows": int(grown.n_rows),
            "_penalty": penalty,
        }

    @property
    def _method(self) -> str:
        return self.prune if self.prune in ("exhaustive", "forward", "seqrep") else "backward"

    def _most(self, n_terms: int) -> int:
        return n_terms if self.max_pruned_terms is None else min(n_terms, int(self.max_pruned_terms))

    def _size(self, gcv: NDArray[np.float64]) -> int:
        most = self._most(len(gcv))
        return most if self.prune is None else 1 + int(gcv[:most].argmin())

    def _grown(self, table: Table, y: NDArray[np.float64], weight: Any) -> tuple[Grown, _OfColumns, float]:
        """Return a forward pass, what missing values are read as and what columns reach, and the price of a knot."""
        from dtnumba.growth.mars.forward import ForwardPass
        from dtnumba.growth.mars.predictors import read_predictors

        workers, caller, p = n_workers(self.n_jobs), type(self).__name__, table.n_features
        wanted = [] if self.linear_features is None else self.linear_features
        linear = listed_columns(wanted, p, table.names, caller, "linear_features")
        groups = self._groups(table)
        predictors = read_predictors(table, linear, self.missing == "indicator", caller, workers)
        settings = self._settings(predictors.n_columns)
        for name in ("minspan", "endspan"):
            if getattr(settings, name) > table.n_rows:
                raise ValueError(
                    f"{name}={getattr(settings, name)} is more than the {table.n_rows} rows of X that count; pass 0 to "
                    "have it chosen"
                )
        grown = ForwardPass(predictors, y, weight, settings, groups, workers).run()
        return grown, (predictors.fill, predictors.reach), settings.penalty

    def _groups(self, table: Table) -> Any:
        if self.allowed is None:
            return lambda features, feature: True
        caller, masks = type(self).__name__, []
        for at, group in enumerate(self.allowed):
            if isinstance(group, (str, bytes)) or not hasattr(group, "__iter__"):
                raise TypeError(
                    f"allowed[{at}] must be a list, tuple or set of columns, by number or by name; got {group!r}"
                )
            listed = list(group)
            if any(isinstance(one, bool) or not (isinstance(one, str) or is_int(one)) for one in listed):
                raise TypeError(f"allowed[{at}]={listed!r} must hold numbers or names of columns")
            masks.append(listed_columns(listed, table.n_features, table.names, caller, f"allowed[{at}]"))
        return lambda features, feature: any(mask[feature] and mask[list(features)].all() for mask in masks)

    def _scores_of_folds(
        self, table: Table, y: NDArray[np.float64], weight: Any, outcome: Any, n_sizes: int
    ) -> NDArray[np.float64]:
        """Return the mean R squared of every size on held-out folds; of a fold of fewer terms, that of all of them."""
        from dtnumba.growth.mars.subsets import coefficients_of, path_of
        from dtnumba.prediction.splines import sums_of
        from dtnumba.validation.folds import k_folds

        strata = outcome.codes[:, 0] if hasattr(outcome, "codes") else None
        if self.n_folds > table.n_rows:
            raise ValueError(f"n_folds={self.n_folds} is more than the {table.n_rows} rows that count")
        scores = []
        for train, test in k_folds(table.n_rows, int(self.n_folds), _FOLD_SEED, strata=strata):
            own = None if weight is None else weight[train]
            grown, (fill, _), penalty = self._grown(rows_of_table(table, train), y[train], own)
            path, held_out = path_of(grown, "backward", penalty), rows_of_table(table, test)
            counts = np.ones(len(test)) if weight is None else weight[test]
            mean = np.average(y[test], axis=0, weights=counts)
            total = float((counts[:, None] * (y[test] - mean) ** 2).sum())
            row = []
            for terms in path.terms[:n_sizes]:
                some = hinges_of([grown.terms[t] for t in terms], fill)
                said = sums_of(held_out, some, coefficients_of(grown, terms), 1)
                left = float((counts[:, None] * (y[test] - said) ** 2).sum())
                row.append(1.0 - left / total if total > 0 else float(left == 0))
            scores.append(row + [row[-1]] * (n_sizes - len(row)))
        return np.asarray(np.mean(scores, axis=0))

    def table_of(self, X: Any) -> Table:
        """Return the Table of rows to predict; infinite values are an error, as in ``fit``."""
        table = super().table_of(X)
        if type(X) is type(table):
            return table
        for first, cells in table.row_blocks():
            values = values_of(cells)
            for start in range(0, len(values), _ROWS):
                found = np.argwhere(np.isinf(values[start : start + _ROWS]))
                if len(found):
                    row, j = first + start + int(found[0, 0]), int(found[0, 1])
                    name = f"column {j}" if table.names is None else f"column {table.names[j]!r}"
                    raise ValueError(
                        f"{name} holds an infinity in row {row}: a hinge at infinity is none, so {type(self).__name__} "
                        "takes finite numbers; leave the row out, or put a bound on the column"
                    )
        return table

    def __sklearn_tags__(self) -> Any:
        """Describe the model to scikit-learn."""
        from sklearn.utils import TransformerTags

        tags = super().__sklearn_tags__()
        tags.transformer_tags = TransformerTags(preserves_dtype=[])
        tags.input_tags.allow_nan = self.missing == "indicator"
        return tags

    # What a fitted model says

    @property
    def n_terms_(self) -> int:
        """How many terms the model has, the constant too."""
        return self.check_fitted().splines_.hinges.n_terms

    @property
    def terms_(self) -> list[Term]:
        """The terms of the model: each with its factors (column, name, direction, knot) and its coefficient."""
        shown = self._shown(self.check_fitted().splines_.hinges)
        by = self.splines_.coefficients
        each = by[:, 0].tolist() if by.shape[1] == 1 else list(by)
        return [Term(factors, one) for factors, one in zip(shown, each, strict=True)]

    @property
    def forward_terms_(self) -> list[Term]:
        """The terms of the forward pass, in their order; the coefficient of one that was not kept is 0."""
        self.check_fitted()
        shown, by = self._shown(self._forward), self.splines_.coefficients
        whole = np.zeros((len(shown), by.shape[1]))
        whole[self._kept] = by
        each = whole[:, 0].tolist() if by.shape[1] == 1 else list(whole)
        return [Term(factors, one) for factors, one in zip(shown, each, strict=True)]

    _kept: NDArray[np.int64]

    def _shown(self, hinges: Hinges, names: list[str] | None = None) -> Any:
        seen = self.columns_seen
        levels = [None] * seen.n_features if seen.levels is None else seen.levels
        return shown_factors(hinges, names or names_of(seen.n_features, seen.names), levels)

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the terms of every row, a column each; ``transform(X) @ splines_.coefficients`` is the prediction."""
        from dtnumba.prediction.splines import terms_of

        table = self.table_of(X)
        return np.asarray(terms_of(table, self.splines_.hinges, n_workers(self.n_jobs)))

    def fit_transform(self, X: Any, y: Any, sample_weight: Any = None) -> NDArray[np.float64]:
        """Fit the model to rows and return their terms; see ``fit`` and ``transform``."""
        return self.fit(X, y, sample_weight).transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return what the columns of ``transform`` are called: their terms, such as ``h(age-30)``.

        ``input_features`` are names of the columns of X where those of ``fit`` had none.
        """
        hinges, seen = self.check_fitted().splines_.hinges, self.columns_seen
        given = None if input_features is None else [str(name) for name in input_features]
        if given is not None and len(given) != (p := seen.n_features):
            raise ValueError(f"input_features should have length equal to number of features ({p}), got {len(given)}")
        if given is not None and seen.names is not None and given != names_of(p, seen.names):
            raise ValueError(f"input_features is not equal to feature_names_in_: {list(seen.names)[:9]}; or pass None")
        return np.array(term_texts(self._shown(hinges, given), 7), object)

    def derivative(self, X: Any) -> NDArray[np.float64]:
        """Return how what the terms sum up to rises with each column: of a classifier, the logarithm of the odds.

        The shape is (rows, features), and with several outputs (rows, features, outputs). A category has no slope, nor
        has a missing value: 0 is returned. At a knot it is the slope of the side where the hinge is 0.
        """
        from dtnumba.prediction.splines import slopes_of

        table, splines = self.table_of(X), self.splines_
        slopes = np.asarray(slopes_of(table, splines.hinges, splines.coefficients, n_workers(self.n_jobs)))
        return slopes[:, :, 0] if slopes.shape[2] == 1 else slopes

    def _sums(self, X: Any) -> NDArray[np.float64]:
        from dtnumba.prediction.splines import sums_of

        table, splines = self.table_of(X), self.splines_
        return np.asarray(sums_of(table, splines.hinges, splines.coefficients, n_workers(self.n_jobs)))

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """What each column is worth by ``importance``, as shares that sum to one."""
        worth = self.worth_of_features(self.importance)
        total = worth.sum()
        return worth / total if total > 0 else worth

    def worth_of_features(self, measure: str) -> NDArray[np.float64]:
        """Return what each column is worth, as R's ``evimp`` counts it.

        Parameters
        ----------
        measure : "n_subsets", "gcv" or "rss"
            The number of the best models, up to the size kept, that use the column; or what these gain on the next
            smaller ones, on a scale where the best column has 100.

        """
        if measure not in WORTHS:
            raise ValueError(f"measure={measure!r}: must be one of {', '.join(map(repr, WORTHS))}")
        path, uses = self.check_fitted().path_, self._forward.uses()
        sizes = range(1, len(self._kept))
        used = [uses[path.terms[k]].any(axis=0) for k in sizes]
        if measure == "n_subsets":
            return np.sum(used, axis=0, dtype=np.float64) if used else np.zeros(uses.shape[1])
        column = path.gcv if measure == "gcv" else path.rss
        worth = np.zeros(uses.shape[1])
        for k, one in zip(sizes, used, strict=True):
            if math.isfinite(column[k]):
                worth[one] += column[k - 1] - column[k]
        worth = np.sqrt(np.maximum(worth, 0.0))
        return worth * (100.0 / worth.max()) if worth.max() > 0 else worth

    def summary(self, *, digits: int = 7) -> str:  # type: ignore[override]
        """Return the fitted model in words, as R's ``summary.earth`` prints it.

        Parameters
        ----------
        digits : int
            Significant digits of numbers.

        """
        from dtnumba.export.splines.summary import summary

        return summary(self.check_fitted(), digits)

    def plot(self, **options: Any) -> Any:
        """Draw every main effect and every interaction of two columns; see ``plot.terms``."""
        from dtnumba.figures.plot import plot

        return plot.terms(self.check_fitted(), **options)


def _scale_of(y: NDArray[np.float64]) -> float:
    """Return one, or the power of two that keeps the squares of very small or large targets within float64."""
    power = int(np.frexp(np.abs(y).max(initial=0.0))[1])
    return 1.0 if abs(power) < _TAME else math.ldexp(1.0, -power)


def _rows_of(outcome: Any, rows: NDArray[np.int64]) -> Any:
    """Return some rows of a target."""
    if hasattr(outcome, "codes"):
        return type(outcome)(outcome.classes, outcome.codes[rows])
    return type(outcome)(outcome.y[rows])
