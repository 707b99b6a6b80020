"""The .632 and .632+ bootstrap: a loss on rows that were not drawn, mixed with the loss on rows that were."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dtnumba.runtime import rng
from dtnumba.validation.folds import Resamples, Split
from dtnumba.validation.held_out_predictions import (
    check_measure,
    demand_count,
    each_model,
    predictions_on,
    strata_of,
    targets_for,
)
from dtnumba.validation.refits import Refits
from dtnumba.validation.scoring import no_information, resolve_scoring, standard_error, weighted_mean


@dataclass(frozen=True, eq=False)
class BootstrapScores:
    """The loss of a model, estimated by samples drawn with replacement (Efron and Tibshirani 1997).

    Parameters
    ----------
    scoring : str
        The loss.
    train : float
        Loss on the very rows the model was fitted to: too low.
    out_of_bag : float
        Mean over the rows of the mean loss by the models that did not draw the row: too high, because each of them saw
        63.2 % of the rows.
    no_information : float
        Loss if targets and predictions had nothing to do with each other.
    overfitting : float
        How far ``out_of_bag`` is on the way from ``train`` to ``no_information``: 0 to 1.
    loss_632 : float
        .368 train + .632 out_of_bag.
    loss_632_plus : float
        The same with more weight on ``out_of_bag`` the larger ``overfitting`` is.
    standard_error : float
        Of ``out_of_bag``, over rows.
    n_never : int
        Rows that every sample drew, which have no part in ``out_of_bag``.

    """

    scoring: str
    train: float
    out_of_bag: float
    no_information: float
    overfitting: float
    loss_632: float
    loss_632_plus: float
    standard_error: float
    n_never: int

    def __str__(self) -> str:
        """Say the .632+ estimate and the standard error."""
        return f"{self.scoring} {self.loss_632_plus:.4g} +- {self.standard_error:.2g} (.632+)"


def bootstrap(
    model: Any, X: Any, y: Any, n_samples: int = 100, *, scoring: Any = None, sample_weight: Any = None,
    random_state: Any = 0, n_jobs: int | None = None, client: Any = None,
) -> BootstrapScores:  # fmt: skip
    """Return a model's loss by the .632 and .632+ bootstrap.

    Samples are drawn with replacement. The loss of the models on rows that they did not draw is mixed with the loss of
    one model on the very rows it was fitted to.

    Parameters
    ----------
    model, X, y, sample_weight, n_jobs, client
        As in ``cross_validate``.
    n_samples : int
        How many samples are drawn, each of as many rows as there are. Each costs a fit.
    scoring : str, optional
        "error" (the default), "log_loss" or "brier" for classes, "mse" (the default) or "mae" for numbers.
    random_state : int, generator or None
        Seed of the samples.

    """
    demand_count("n_samples", n_samples, 1)
    refits = Refits(model, X, y, sample_weight, n_jobs, client)
    measure = resolve_scoring(scoring or ("error" if refits.is_classes else "mse"), is_classes=refits.is_classes)
    if measure.rows is None or not measure.is_loss:
        raise ValueError(
            f"scoring={scoring!r}: .632 mixes losses of rows; use 'error', 'log_loss' or 'brier' for classes, 'mse' or "
            "'mae' for numbers"
        )
    check_measure(refits, measure)
    n, rows_loss, truth = refits.n_rows, measure.rows, targets_for(refits, measure)

    def work(index: int, split: Split, fitted: Any) -> tuple[Any, Any]:
        if not len(split.test):
            return split.test, np.empty(0)
        return split.test, rows_loss(truth[split.test], predictions_on(refits, measure, fitted, split.test))

    total, count = np.zeros(n), np.zeros(n, np.int64)
    for test, losses in refits.each(Resamples(n, n_samples, rng.seed_from(random_state)), work):
        total[test] += losses
        count[test] += 1
    everything = np.arange(n)
    ((predicted, _),) = each_model([refits], Split(everything, everything), measure)
    seen = count > 0
    if not seen.any():
        raise ValueError(f"n_samples={n_samples}: every sample drew every row; draw more samples")
    weight = None if refits.weight is None else refits.weight[seen]
    mean_loss = total[seen] / count[seen]
    train, out = weighted_mean(rows_loss(truth, predicted), refits.weight), weighted_mean(mean_loss, weight)
    strata = strata_of(refits) if refits.is_classes else None
    none = no_information(measure, truth, predicted, refits.weight, strata)
    rate, mixed, plus = mixed_632(train, out, none)
    error = standard_error(mean_loss, weight)
    return BootstrapScores(measure.name, train, out, none, rate, mixed, plus, error, int(n - seen.sum()))


def mixed_632(train: float, out: float, none: float) -> tuple[float, float, float]:
    """Return (overfitting rate, .632, .632+) of a loss in training, out of bag and without information."""
    mixed = 0.368 * train + 0.632 * out
    capped = min(out, none)
    rate = (capped - train) / (none - train) if capped > train else 0.0
    share = 0.632 / (1.0 - 0.368 * rate)
    return rate, mixed, (1.0 - share) * train + share * (capped if capped > train else out)
