"""How well a model does on rows that it has not seen: folds, leave-one-out, bootstrap, three parts, and curves.

Any estimator of this library serves, and any other object with ``fit`` and ``predict``. The fits of one call run on all
cores, one a thread, with the same bits on any number of them. They share what does not look at y: histogram edges
(where ``max_bins`` is set) are found once, from the features of all rows, held-out ones included; labels, weights and
class weights are those of the rows that a fit sees. Exact trees (``max_bins=None``) are the bits of a plain loop.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.runtime import rng
from dtnumba.validation.folds import Folds, Split, given_folds, held_out, k_folds, one_a_row
from dtnumba.validation.held_out_predictions import (
    demand_count,
    each_model,
    predictions_of,
    score_of,
    strata_of,
    targets_for,
)
from dtnumba.validation.refits import Refits
from dtnumba.validation.scoring import resolve_scoring, standard_error

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from dtnumba.validation.held_out_predictions import HeldOut
    from dtnumba.validation.scoring import Measure


def cross_validate(
    model: Any, X: Any, y: Any, k: int = 10, *, cv: Any = None, stratify: bool | None = None, groups: Any = None,
    repeats: int = 1, scoring: Any = None, sample_weight: Any = None, random_state: Any = 0,
    n_jobs: int | None = None, client: Any = None,
) -> Scores:  # fmt: skip
    """Fit a model k times, each time without one of k parts of the rows, and score it on that part.

    Parameters
    ----------
    model : estimator
        Anything with ``fit`` and ``predict``; it stays as it is.
    X, y : arrays
        As ``fit`` takes them.
    k : int
        Number of parts.
    cv : array of int, list of pairs, splitter or "loo", optional
        Folds of your own in place of k: the number of the fold of each row (below zero: never held out), pairs (rows to
        fit, rows to try), an object with ``split(X, y, groups)``, or "loo" for one row a fold.
    stratify : bool, optional
        Whether each fold gets its share of every class; by default where the model predicts classes.
    groups : array of shape (rows,), optional
        Rows of one group are held out together.
    repeats : int
        How often the rows are dealt anew.
    scoring : str or function, optional
        "accuracy" (the default), "error", "log_loss" or "brier" for classes; "r2" (the default), "mse" or "mae" for
        numbers; or a function of (y_true, y_pred). Losses are reported as losses.
    sample_weight : array of shape (rows,), optional
        What a row counts, in the fit and in the score.
    random_state : int, generator or None
        Seed of the folds. The default is the same folds in every call, so that models can be compared.
    n_jobs : int or None
        Threads.
    client : distributed.Client, optional
        A Dask cluster whose workers fit, in place of threads here; the numbers are the same.

    Returns
    -------
    Scores
        Each fold's score, their mean with its standard error, and the predictions.

    Examples
    --------
    >>> from dtnumba import DecisionTreeClassifier, validation
    >>> X = [[i % 10, i % 7] for i in range(200)]
    >>> y = ["yes" if i % 10 > 4 else "no" for i in range(200)]
    >>> validation.cross_validate(DecisionTreeClassifier(max_depth=2), X, y, k=5).mean
    1.0

    """
    refits = Refits(model, X, y, sample_weight, n_jobs, client)
    folds: list[Split] | Folds
    if cv is None:
        demand_count("k", k, 2)
        demand_count("repeats", repeats, 1)
        strata = strata_of(refits) if stratify or (stratify is None and refits.is_classes) else None
        if stratify and not refits.is_classes:
            raise ValueError("stratify=True: the target is numbers, which have no classes; pass stratify=None")
        seed = rng.seed_from(random_state)
        folds = k_folds(refits.n_rows, k, seed, strata=strata, groups=groups, repeats=repeats)
    elif isinstance(cv, str) and cv == "loo":
        return leave_one_out(model, X, y, scoring=scoring, sample_weight=sample_weight, n_jobs=n_jobs, client=client)
    else:
        folds = given_folds(cv, refits.n_rows, X, y, groups)
    measure = resolve_scoring(scoring, is_classes=refits.is_classes)
    predicted = predictions_of(refits, folds, measure)
    scores = _fold_scores(refits, measure, predicted)
    sizes = folds.n_folds if isinstance(folds, Folds) else [len(folds)]
    return Scores(
        measure.name,
        scores,
        predicted.n_test,
        float(np.nanmean(scores)),
        _error_of_folds(scores, sizes),
        score_of(refits, measure, predicted.rows, predicted.predicted),
        _in_place(refits.n_rows, predicted, sizes[0]),
    )


def leave_one_out(
    model: Any, X: Any, y: Any, *, scoring: Any = None, sample_weight: Any = None, n_jobs: int | None = None,
    client: Any = None,
) -> Scores:  # fmt: skip
    """Fit a model to all rows but one, for every row, and score its prediction for that row.

    Parameters
    ----------
    model, X, y, scoring, sample_weight, n_jobs, client
        As in ``cross_validate``.

    Returns
    -------
    Scores
        ``scores`` has a number a row, whose mean is ``mean`` and ``pooled``. R squared is taken over all rows: a row's
        number is 1 minus its squared error over the variance. A function is called once, with all rows, and its
        result has no standard error.

    """
    refits = Refits(model, X, y, sample_weight, n_jobs, client)
    measure = resolve_scoring(scoring, is_classes=refits.is_classes)
    predicted = predictions_of(refits, one_a_row(refits.n_rows), measure)
    pooled = score_of(refits, measure, predicted.rows, predicted.predicted)
    weight = refits.weight
    if measure.rows is not None:
        scores = measure.rows(targets_for(refits, measure), predicted.predicted)
    elif measure.name == "r2":
        truth = targets_for(refits, measure).reshape(refits.n_rows, -1)
        centre = np.average(truth, axis=0, weights=weight)
        spread = np.average((truth - centre) ** 2, axis=0, weights=weight)
        missed = (truth - predicted.predicted.reshape(truth.shape)) ** 2
        scores = 1.0 - np.divide(missed, spread, out=(missed > 0).astype(np.float64), where=spread > 0).mean(axis=1)
    else:
        scores = np.array([pooled])
    return Scores(
        measure.name, scores, predicted.n_test, pooled, standard_error(scores, weight), pooled, predicted.predicted
    )


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores of folds, or of rows left out one by one.

    Parameters
    ----------
    scoring : str
        What was measured.
    scores : array of shape (fits,)
        The score of each fit on its held-out rows, repetition by repetition.
    n_test : array of int
        Held-out rows of each fit.
    mean : float
        The mean of ``scores``, each fold alike.
    standard_error : float
        Of the mean: the standard deviation of the scores of a repetition over the root of their number, the squares
        averaged over repetitions. Repeating makes the mean depend less on how the rows fell, but brings no new rows, so
        it does not shrink this. NaN where there is one score.
    pooled : float
        The score of all held-out predictions together, each row alike: where folds differ in size it differs from
        ``mean``.
    predictions : array of shape (rows,) or (rows, outputs)
        Predictions for each row by the model that did not see it, in the first repetition. Rows that were never held
        out are masked.

    """

    scoring: str
    scores: NDArray[np.float64]
    n_test: NDArray[np.int64]
    mean: float
    standard_error: float
    pooled: float
    predictions: Any

    def __str__(self) -> str:
        """Say the mean and its standard error."""
        return f"{self.scoring} {self.mean:.4g} +- {self.standard_error:.2g} ({len(self.scores)} fits)"


@dataclass(frozen=True, eq=False)
class ThreeParts:
    """The result of training, choosing and testing on three parts of the rows.

    Parameters
    ----------
    scoring : str
        What was measured.
    validation_scores : dict
        Score of every candidate on the validation rows, by its name or number.
    best : str or int
        The candidate with the best of these; the first one of several.
    model : estimator
        The best one, fitted again to the training and the validation rows.
    test_score : float
        Its score on the test rows, which took no part in fitting or choosing.
    standard_error : float
        Of ``test_score``; NaN where the score is not a mean over rows.
    train, validation, test : array of int
        The rows of the parts.

    """

    scoring: str
    validation_scores: dict[Any, float]
    best: Any
    model: Any
    test_score: float
    standard_error: float
    train: NDArray[np.int64]
    validation: NDArray[np.int64]
    test: NDArray[np.int64]

    def __str__(self) -> str:
        """Say the choice and its score."""
        return f"{self.best!r}: {self.scoring} {self.test_score:.4g} +- {self.standard_error:.2g} on test rows"


def train_validation_test(
    models: Any, X: Any, y: Any, shares: tuple[float, float, float] = (0.6, 0.2, 0.2), *,
    stratify: bool | None = None, groups: Any = None, scoring: Any = None, sample_weight: Any = None,
    random_state: Any = 0, n_jobs: int | None = None, client: Any = None,
) -> ThreeParts:  # fmt: skip
    """Fit candidates to one part of the rows, choose by a second part, and score the choice on the third.

    Parameters
    ----------
    models : estimator, list of estimators or dict of name to estimator
        The candidates: different parameters, or different learners.
    shares : three numbers
        Of the rows to train, to validate and to test, summing to one.
    X, y, stratify, groups, scoring, sample_weight, random_state, n_jobs, client
        As in ``cross_validate``. Of a function, more is better.

    """
    if len(shares) != 3 or not all(share > 0 for share in shares) or abs(sum(shares) - 1.0) > 1e-9:
        raise ValueError(f"shares={shares!r}: must be three numbers above 0 that sum to 1, e.g. (0.6, 0.2, 0.2)")
    candidates: Mapping[Any, Any] = (
        models
        if isinstance(models, dict)
        else dict(enumerate(models if isinstance(models, (list, tuple)) else [models]))
    )
    if not candidates:
        raise ValueError("models: must hold at least one model")
    trials = {name: Refits(model, X, y, sample_weight, n_jobs, client) for name, model in candidates.items()}
    first = next(iter(trials.values()))
    if len({trial.is_classes for trial in trials.values()}) > 1:
        raise ValueError("models: must be all classifiers or all regressors, because they are held against each other")
    measure = resolve_scoring(scoring, is_classes=first.is_classes)
    parts = _three_parts(first, shares, rng.seed_from(random_state), stratify, groups)
    held_out_by = each_model([*trials.values()], Split(parts[0], parts[1]), measure)
    scores = {
        name: score_of(trial, measure, parts[1], predicted)
        for (name, trial), (predicted, _) in zip(trials.items(), held_out_by, strict=True)
    }
    sign = -1.0 if measure.is_loss else 1.0
    best = max(scores, key=lambda name: sign * scores[name])
    trial = trials[best]
    ((predicted, model),) = each_model([trial], Split(np.sort(np.concatenate(parts[:2])), parts[2]), measure, keep=True)
    error = float("nan")
    if measure.rows is not None:
        weight = None if trial.weight is None else trial.weight[parts[2]]
        error = standard_error(measure.rows(targets_for(trial, measure)[parts[2]], predicted), weight)
    return ThreeParts(measure.name, scores, best, model, score_of(trial, measure, parts[2], predicted), error, *parts)


def _three_parts(
    refits: Refits, shares: tuple[float, float, float], seed: int, stratify: bool | None, groups: Any
) -> list[NDArray[np.int64]]:
    strata = strata_of(refits) if groups is None and (stratify or (stratify is None and refits.is_classes)) else None
    rest, test = held_out(refits.n_rows, shares[2], seed, strata=strata, groups=groups)
    share = shares[1] / (shares[0] + shares[1])
    inner = held_out(
        len(rest),
        share,
        seed,
        strata=None if strata is None else strata[rest],
        groups=None if groups is None else np.asarray(groups)[rest],
        repeat=1,
    )
    return [rest[inner.train], rest[inner.test], test]


def _fold_scores(refits: Refits, measure: Measure, predicted: HeldOut) -> NDArray[np.float64]:
    starts = np.cumsum(predicted.n_test) - predicted.n_test
    if measure.rows is None:
        ends = starts + predicted.n_test
        parts = zip(starts, ends, strict=True)
        return np.array([score_of(refits, measure, predicted.rows[a:b], predicted.predicted[a:b]) for a, b in parts])
    losses = measure.rows(targets_for(refits, measure)[predicted.rows], predicted.predicted)
    weight = np.ones(len(losses)) if refits.weight is None else refits.weight[predicted.rows]
    with np.errstate(invalid="ignore"):
        return np.asarray(np.add.reduceat(losses * weight, starts) / np.add.reduceat(weight, starts))


def _error_of_folds(scores: NDArray[np.float64], sizes: Sequence[int] | NDArray[np.int64]) -> float:
    squares, start = [], 0
    for size in sizes:
        own = scores[start : start + size]
        own = own[~np.isnan(own)]
        squares.append(own.var(ddof=1) / len(own) if len(own) > 1 else float("nan"))
        start += size
    return float(np.sqrt(np.mean(squares)))


def _in_place(n_rows: int, predicted: HeldOut, n_splits: int) -> Any:
    """Return the predictions of the first splits in the order of the rows, masked where there are none."""
    n = int(predicted.n_test[:n_splits].sum())
    found = np.zeros((n_rows, *predicted.predicted.shape[1:]), predicted.predicted.dtype)
    found[predicted.rows[:n]] = predicted.predicted[:n]
    is_missing = np.ones(found.shape, bool)
    is_missing[predicted.rows[:n]] = False
    return np.ma.masked_array(found, is_missing) if is_missing.any() else found
