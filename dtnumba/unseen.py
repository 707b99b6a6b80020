"""What models say of rows that they were not fitted to, and how good that is."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.folds import joint_codes
from dtnumba.scoring import r_squared, weighted_mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.folds import Split
    from dtnumba.refits import Refits
    from dtnumba.scoring import Measure


class HeldOut(NamedTuple):
    """Predictions of held-out rows, fit by fit."""

    rows: NDArray[np.int64]
    said: NDArray[Any]
    n_test: NDArray[np.int64]  # rows of each fit


def predictions_of(refits: Refits, splits: Any, measure: Measure) -> HeldOut:
    """Return what the model of every split says of the rows that the split holds out."""

    def work(_: int, split: Split, fitted: Any) -> tuple[NDArray[np.int64], Any]:
        return split.test, said_of(refits, measure, fitted, split.test)

    check_measure(refits, measure)
    parts = refits.each(splits, work, len(splits))
    n_test = np.array([len(rows) for rows, _ in parts])
    return HeldOut(np.concatenate([rows for rows, _ in parts]), np.concatenate([said for _, said in parts]), n_test)


def check_measure(refits: Refits, measure: Measure) -> None:
    """Raise where a model cannot say what a measure reads."""
    if measure.reads != "predict_proba":
        return
    if not hasattr(refits.model, "predict_proba"):
        raise ValueError(f"scoring={measure.name!r}: {type(refits.model).__name__} has no predict_proba")
    if not refits.is_one_output:
        raise ValueError(f"scoring={measure.name!r}: is defined for one output, y has {len(refits.known.sizes)}")


def said_of(refits: Refits, measure: Measure, fitted: Any, rows: NDArray[np.int64]) -> Any:
    """Return what a fitted model says of some rows: labels, numbers, or a share for every class of all rows."""
    features = refits.features(rows, fitted)
    if measure.reads == "predict":
        return np.asarray(fitted.predict(features))
    known = getattr(refits.known, "classes")[0]  # noqa: B009  Values have none, and come with other measures
    shares = np.asarray(fitted.predict_proba(features))
    if len(fitted.classes_) == len(known):
        return shares
    place = {label: k for k, label in enumerate(known.tolist())}
    whole = np.zeros((len(shares), len(known)))  # a class that the fit did not see has no share
    whole[:, [place[label] for label in fitted.classes_.tolist()]] = shares
    return whole


def truth_of(refits: Refits, measure: Measure) -> NDArray[Any]:
    """Return the target of all rows as a measure reads it: codes where it reads shares, else as predicted."""
    known: Any = refits.known
    if not refits.is_classes:
        return np.asarray(known.y[:, 0] if refits.is_one_output else known.y)
    if measure.reads == "predict_proba":
        return np.asarray(known.codes[:, 0], np.int64)
    labels = [classes[codes] for classes, codes in zip(known.classes, known.codes.T, strict=True)]
    return np.asarray(labels[0] if refits.is_one_output else np.stack(labels, axis=1))


def score_of(refits: Refits, measure: Measure, rows: NDArray[np.int64], said: Any) -> float:
    """Return the score of what was said of some rows, taken together."""
    truth = truth_of(refits, measure)[rows]
    weight = None if refits.weight is None else refits.weight[rows]
    if measure.rows is not None:
        return weighted_mean(measure.rows(truth, said), weight)
    if measure.whole is None:
        return r_squared(truth, said, weight)
    found = measure.whole(truth, said)
    if isinstance(found, (str, bytes)) or np.ndim(found) or not isinstance(found, (Real, np.number, np.ndarray)):
        raise TypeError(
            f"scoring={measure.name}: it returned {found!r:.80}; a function of (y_true, y_pred) must return one number"
        )
    return float(found)


def strata_of(refits: Refits) -> NDArray[np.int64]:
    """Return the class of every row as one code; of several outputs, a code for each combination."""
    codes: NDArray[Any] = getattr(refits.known, "codes")  # noqa: B009  of classes
    return joint_codes(codes)


def demand_count(name: str, value: Any, least: int) -> None:
    """Raise where a parameter is not a whole number of at least so much."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name}={value!r}: must be an int of at least {least}")
    if value < least:
        raise ValueError(f"{name}={value!r}: must be an int of at least {least}")
