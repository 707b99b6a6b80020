"""Predictions of models for rows that they were not fitted to, and the scores of these predictions."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.runtime import rng
from dtnumba.validation.folds import given_folds, joint_codes, k_folds, one_a_row
from dtnumba.validation.on_cluster import Refitting, done_on_cluster
from dtnumba.validation.scoring import r_squared, weighted_mean

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from dtnumba.validation.folds import Folds, Split
    from dtnumba.validation.refits import Refits
    from dtnumba.validation.scoring import Measure


class HeldOut(NamedTuple):
    """Predictions of held-out rows, fit by fit."""

    rows: NDArray[np.int64]
    predicted: NDArray[Any]
    n_test: NDArray[np.int64]  # rows of each fit


def predictions_of(refits: Refits, splits: Any, measure: Measure) -> HeldOut:
    """Return the predictions of the model of every split for the rows that the split holds out."""

    def work(_: int, split: Split, fitted: Any) -> tuple[NDArray[np.int64], Any]:
        return split.test, predictions_on(refits, measure, fitted, split.test)

    check_measure(refits, measure)
    parts = refits.each(splits, work)
    n_test = np.array([len(rows) for rows, _ in parts])
    return HeldOut(
        np.concatenate([rows for rows, _ in parts]), np.concatenate([predicted for _, predicted in parts]), n_test
    )


def each_model(several: list[Refits], split: Split, measure: Measure, *, keep: bool = False) -> list[tuple[Any, Any]]:
    """Return (predictions of the rows held out, the model if it is kept) of several models fitted to one split."""

    def work_of(refits: Refits) -> Callable[[int, Split, Any], tuple[Any, Any]]:
        return lambda _, split, fitted: (predictions_on(refits, measure, fitted, split.test), fitted if keep else None)

    jobs = [Refitting(refits, [split], work_of(refits)) for refits in several]
    client = several[0].client
    if client is None:
        return [job.refits.each(job.splits, job.work)[0] for job in jobs]
    return [found[0] for found in done_on_cluster(client, jobs)]


def check_measure(refits: Refits, measure: Measure) -> None:
    """Raise where a model cannot predict what a measure reads."""
    if measure.reads != "predict_proba":
        return
    if not hasattr(refits.model, "predict_proba"):
        raise ValueError(f"scoring={measure.name!r}: {type(refits.model).__name__} has no predict_proba")
    if not refits.is_one_output:
        raise ValueError(f"scoring={measure.name!r}: is defined for one output, y has {len(refits.outcome.sizes)}")


def predictions_on(refits: Refits, measure: Measure, fitted: Any, rows: NDArray[np.int64]) -> Any:
    """Return the predictions of a fitted model for some rows: labels, numbers, or a share for every known class."""
    features = refits.features(rows, fitted)
    if measure.reads == "predict":
        return np.asarray(fitted.predict(features))
    outcome = getattr(refits.outcome, "classes")[0]  # noqa: B009  Values have none, and come with other measures
    shares = np.asarray(fitted.predict_proba(features))
    if len(fitted.classes_) == len(outcome):
        return shares
    place = {label: k for k, label in enumerate(outcome.tolist())}
    whole = np.zeros((len(shares), len(outcome)))  # a class that the fit did not see has no share
    whole[:, [place[label] for label in fitted.classes_.tolist()]] = shares
    return whole


def targets_for(refits: Refits, measure: Measure) -> NDArray[Any]:
    """Return the target of all rows as a measure reads it: codes where it reads shares, else as predicted."""
    outcome: Any = refits.outcome
    if not refits.is_classes:
        return np.asarray(outcome.y[:, 0] if refits.is_one_output else outcome.y)
    if measure.reads == "predict_proba":
        return np.asarray(outcome.codes[:, 0], np.int64)
    labels = [classes[codes] for classes, codes in zip(outcome.classes, outcome.codes.T, strict=True)]
    return np.asarray(labels[0] if refits.is_one_output else np.stack(labels, axis=1))


def score_of(refits: Refits, measure: Measure, rows: NDArray[np.int64], predicted: Any) -> float:
    """Return the score of the predictions for some rows, taken together."""
    truth = targets_for(refits, measure)[rows]
    weight = None if refits.weight is None else refits.weight[rows]
    if measure.rows is not None:
        return weighted_mean(measure.rows(truth, predicted), weight)
    if measure.whole is None:
        return r_squared(truth, predicted, weight)
    found = measure.whole(truth, predicted)
    if isinstance(found, (str, bytes)) or np.ndim(found) or not isinstance(found, (Real, np.number, np.ndarray)):
        raise TypeError(
            f"scoring={measure.name}: it returned {found!r:.80}; a function of (y_true, y_pred) must return one number"
        )
    return float(found)


def strata_of(refits: Refits) -> NDArray[np.int64]:
    """Return the class of every row as one code; of several outputs, a code for each combination."""
    codes: NDArray[Any] = getattr(refits.outcome, "codes")  # noqa: B009  of classes
    return joint_codes(codes)


def demand_count(name: str, value: Any, least: int) -> None:
    """Raise where a parameter is not a whole number of at least so much."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name}={value!r}: must be an int of at least {least}")
    if value < least:
        raise ValueError(f"{name}={value!r}: must be an int of at least {least}")


def folds_of(cv: Any, refits: Refits, X: Any, y: Any) -> list[Split] | Folds:
    """Return the folds that ``cv`` stands for; numbers of folds are dealt by the model's seed, classes alike."""
    if isinstance(cv, str):
        if cv != "loo":
            raise ValueError(f"cv={cv!r}: must be a number of folds, 'loo' or folds")
        return one_a_row(refits.n_rows)
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
        state = refits.model.random_state
        seed = rng.seed_from(state) if isinstance(state, (int, np.integer)) else 0
        if cv > refits.n_rows:
            raise ValueError(f"cv={cv}: must be at most the number of rows, which is {refits.n_rows}; pass fewer folds")
        return k_folds(refits.n_rows, int(cv), seed, strata=strata_of(refits) if refits.is_classes else None)
    return given_folds(cv, refits.n_rows, X, y)
