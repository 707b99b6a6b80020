"""How good predictions are, row by row where the measure is a mean over rows, so that any part of the rows has one.

Losses are better the lower, scores the higher. A row counts with its weight.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


_SMALLEST = float(np.finfo(np.float64).eps)  # a share of 0 counts as this, as in scikit-learn: its logarithm is finite


class Measure(NamedTuple):
    """A way to score."""

    name: str
    of: str  # "classes", "numbers" or "both"
    reads: str  # "predict" or "predict_proba"
    rows: Callable[[Any, Any], NDArray[np.float64]] | None  # (truth, predicted) -> one number a row; None: not a mean
    is_loss: bool
    whole: Callable[[Any, Any], Any] | None = None  # a caller's function of all rows


def _matches(truth: NDArray[Any], predicted: NDArray[Any]) -> NDArray[np.float64]:
    same = np.asarray(truth == predicted)
    return np.asarray(same if same.ndim == 1 else same.all(axis=1), np.float64)


def _misses(truth: NDArray[Any], predicted: NDArray[Any]) -> NDArray[np.float64]:
    return np.asarray(1.0 - _matches(truth, predicted))


def _over_outputs(losses: NDArray[np.float64]) -> NDArray[np.float64]:
    return losses if losses.ndim == 1 else losses.mean(axis=1)


def squared_errors(truth: NDArray[np.float64], predicted: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the squared error of every row, a mean over the outputs."""
    return _over_outputs((truth - predicted) ** 2)


def absolute_errors(truth: NDArray[np.float64], predicted: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the absolute error of every row, a mean over the outputs."""
    return _over_outputs(np.abs(truth - predicted))


def log_losses(codes: NDArray[np.int64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return minus the logarithm of the share that each row's own class was given."""
    own: NDArray[np.float64] = shares[np.arange(len(codes)), codes]
    return -np.log(np.clip(own, _SMALLEST, 1.0 - _SMALLEST))


def brier_losses(codes: NDArray[np.int64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the squared distance of the shares from the truth; half of it for two classes, as Brier's is quoted."""
    distance = shares.copy()
    distance[np.arange(len(codes)), codes] -= 1.0
    squares: NDArray[np.float64] = (distance**2).sum(axis=1)
    return squares / 2 if shares.shape[1] <= 2 else squares


MEASURES = {
    measure.name: measure
    for measure in (
        Measure("accuracy", "classes", "predict", _matches, False),
        Measure("error", "classes", "predict", _misses, True),
        Measure("log_loss", "classes", "predict_proba", log_losses, True),
        Measure("brier", "classes", "predict_proba", brier_losses, True),
        Measure("r2", "numbers", "predict", None, False),
        Measure("mse", "numbers", "predict", squared_errors, True),
        Measure("mae", "numbers", "predict", absolute_errors, True),
    )
}


def resolve_scoring(scoring: Any, *, is_classes: bool) -> Measure:
    """Return the Measure of a name, of None (accuracy or R squared), or of a function of (y_true, y_pred)."""
    if scoring is None:
        return MEASURES["accuracy" if is_classes else "r2"]
    target = "classes" if is_classes else "numbers"
    if isinstance(scoring, str) and scoring in MEASURES and MEASURES[scoring].of == target:
        return MEASURES[scoring]
    if callable(scoring):
        return Measure(getattr(scoring, "__name__", type(scoring).__name__), "both", "predict", None, False, scoring)
    names = [name for name, measure in MEASURES.items() if measure.of == target]
    kind = ValueError if isinstance(scoring, str) else TypeError
    raise kind(f"scoring={scoring!r}: must be one of {names} for {target}, a function of (y_true, y_pred) or None")


def weighted_mean(losses: NDArray[np.float64], weight: NDArray[np.float64] | None) -> float:
    """Return the mean of rows that count what their weights say; NaN where none counts."""
    if weight is None:
        return float(losses.mean())
    total = weight.sum()
    return float(losses @ weight / total) if total > 0 else float("nan")


def r_squared(truth: NDArray[np.float64], predicted: NDArray[np.float64], weight: NDArray[np.float64] | None) -> float:
    """Return R squared, averaged over outputs; of a constant truth 1.0 where it is met, 0.0 where it is missed."""
    truth = truth.reshape(len(truth), -1)
    w = np.ones(len(truth)) if weight is None else weight
    if not w.any():
        return float("nan")
    missed = w @ (truth - predicted.reshape(truth.shape)) ** 2
    spread = w @ (truth - w @ truth / w.sum()) ** 2
    ratio = np.divide(missed, spread, out=(missed > 0).astype(np.float64), where=spread > 0)
    return float(np.mean(1.0 - ratio))


def standard_error(scores: NDArray[np.float64], weight: NDArray[np.float64] | None) -> float:
    """Return the standard error of the mean of rows that count what their weights say; NaN of fewer than two."""
    w = np.ones(len(scores)) if weight is None or len(weight) != len(scores) else weight
    n = np.count_nonzero(w)
    if n < 2:
        return float("nan")
    spread = w @ (w * (scores - w @ scores / w.sum()) ** 2)
    return float(np.sqrt(spread * n / (n - 1)) / w.sum())


def no_information(
    measure: Measure,
    truth: NDArray[Any],
    predicted: NDArray[Any],
    weight: NDArray[np.float64] | None,
    strata: NDArray[np.int64] | None,
) -> float:
    """Return the loss of every prediction against every truth, as if they had nothing to do with each other.

    ``strata`` holds a code for each different truth, where these are classes.
    """
    w = np.ones(len(truth)) if weight is None else weight
    w = w / w.sum()
    if strata is None:
        columns = zip(truth.reshape(len(w), -1).T, predicted.reshape(len(w), -1).T, strict=True)
        pairs = _mean_square if measure.name == "mse" else _mean_distance
        return float(np.mean([pairs(y, column, w) for y, column in columns]))
    assert measure.rows is not None
    total, first = 0.0, np.unique(strata, return_index=True)[1]
    for row in first:
        same = np.repeat(truth[row : row + 1], len(truth), axis=0)
        total += float(w[strata == strata[row]].sum() * (w @ measure.rows(same, predicted)))
    return total


def _mean_square(y: NDArray[np.float64], predicted: NDArray[np.float64], w: NDArray[np.float64]) -> float:
    centre = w @ y
    return float(w @ (y - centre) ** 2 + w @ (predicted - centre) ** 2)


def _mean_distance(y: NDArray[np.float64], predicted: NDArray[np.float64], w: NDArray[np.float64]) -> float:
    """Sum |y_i - said_j| over all pairs by sorting: O(n log n)."""
    order = np.argsort(y)
    y, weight = y[order], np.concatenate([[0.0], np.cumsum(w[order])])
    moment = np.concatenate([[0.0], np.cumsum(w[order] * y)])
    below = np.searchsorted(y, predicted)
    return float(w @ (predicted * (2 * weight[below] - weight[-1]) + moment[-1] - 2 * moment[below]))
