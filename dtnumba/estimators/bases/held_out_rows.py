"""Rows that a fit holds out: to stop growth early, for a pruner, and to choose a number of leaves."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.tables.labels import Labels
from dtnumba.tables.table import Seen, Table, read_table
from dtnumba.tables.weights import class_weights
from dtnumba.validation.early_stopping import ValidationRows, losses_by_size, preferred_size
from dtnumba.validation.folds import held_out, joint_codes, k_folds
from dtnumba.validation.node_losses import predicted_by_node, target_of_rows
from dtnumba.validation.refits import Refits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.estimators.bases.fit import TrainingData
    from dtnumba.tables.binned_table import Features
    from dtnumba.validation.folds import Split


# Folds of max_leaf_nodes="cv", as in rpart; fewer where there are fewer rows.
N_FOLDS = 10


def read_validation_rows(
    model: Any,
    table: Features,
    outcome: Any,
    weight: NDArray[np.float64] | None,
    given: tuple[Any, Any],
    seed: int,
) -> tuple[NDArray[np.float64] | None, ValidationRows | None]:
    """Return what each row counts to growth, and the rows that judge its splits; None where nothing does.

    Parameters
    ----------
    model : estimator
        Whose ``validation_fraction`` and ``class_weight`` apply.
    table, outcome, weight : Table, Labels or Values, array or None
        All rows of the fit.
    given : tuple
        (X_val, y_val) as passed, or None twice.
    seed : int
        Of what is drawn.

    """
    X, y = given
    if X is None and y is None:
        if model.validation_fraction is None:
            return weight, None
        return _split_off(model, table, outcome, weight, seed)
    if X is None or y is None:
        raise ValueError(f"fit: pass both X_val and y_val, got {'y_val' if X is None else 'X_val'} alone")
    if model.validation_fraction is not None:
        raise ValueError(
            f"fit: validation_fraction={model.validation_fraction} sets rows aside, and X_val is such a set already; "
            "pass one of them"
        )
    try:
        rows, known = model.read_known(X, y, Seen(table.n_features, table.names, table.levels), outcome)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"X_val and y_val: {error}") from error
    return weight, _validation_rows(model, rows, target_of_rows(known), outcome, weight, np.ones(rows.n_rows))


def _split_off(
    model: Any, table: Features, outcome: Any, weight: NDArray[np.float64] | None, seed: int
) -> tuple[NDArray[np.float64], ValidationRows]:
    is_classes, share = isinstance(outcome, Labels), float(model.validation_fraction)
    strata = joint_codes(outcome.codes) if is_classes else None
    grows, judges = parted(f"validation_fraction={share}", share, weight, table.n_rows, seed, strata)
    return grows, _validation_rows(model, table, target_of_rows(outcome), outcome, weight, judges)


def parted(
    parameter: str,
    share: float,
    weight: NDArray[np.float64] | None,
    n_rows: int,
    seed: int,
    strata: NDArray[np.int64] | None = None,
    *,
    evenly: bool = True,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what each row counts to growth, and what it counts among the rows that a parameter sets aside."""
    counts = np.ones(n_rows) if weight is None else weight
    n_counted = np.count_nonzero(counts)
    if n_counted < 2:
        raise ValueError(
            f"{parameter}: setting rows aside needs at least 2 of positive weight, and there are {n_counted}; pass "
            "more rows, or leave it out"
        )
    is_held = np.zeros(n_rows, bool)
    is_held[held_out(n_rows, share, seed, strata=strata, weight=counts, evenly=evenly).test] = True
    return np.where(is_held, 0.0, counts), np.where(is_held, counts, 0.0)


def _validation_rows(
    model: Any,
    table: Features,
    target: NDArray[Any],
    outcome: Any,
    growing: NDArray[np.float64] | None,
    weight: NDArray[np.float64],
) -> ValidationRows:
    """Return rows as validation rows: what an error costs growth, it costs here, and classes are as common.

    ``outcome`` and ``growing`` are the targets and weights of the fit, in which classes have the shares that priors
    replace; ``weight`` is what each of the rows counts.
    """
    if not isinstance(outcome, Labels):
        return ValidationRows(table, target, weight, None)
    class_costs = model.class_costs(outcome)
    if model.class_weight is not None:
        given = "balanced" if isinstance(model.class_weight, str) else model.class_weight
        with np.errstate(divide="ignore"):  # of a class that has no row here
            weighted = class_weights(given, Labels(outcome.classes, target), weight)
        weight = weight if weighted is None else weighted
    by_priors = class_costs.by_priors(outcome, growing)
    if by_priors is not None:
        weight = weight * by_priors[target[:, 0]]
    return ValidationRows(table, target, weight, outcome.sizes, class_costs.rule)


def size_by_folds(model: Any, data: TrainingData) -> tuple[int, NDArray[np.float64]]:
    """Return the number of leaves that k-fold cross-validation prefers, and the mean loss of 1, 2, ... leaves."""
    table, outcome, weight, seed = data.table, data.outcome, data.weight, data.seed
    n_rows = table.n_rows
    counts = np.ones(n_rows) if weight is None else weight
    if np.count_nonzero(counts) < 2:
        raise ValueError("max_leaf_nodes='cv': cross-validation needs at least 2 rows; pass a number")
    unlimited = copy.copy(model).set_params(max_leaf_nodes=None, prune=None, random_state=seed)
    refits = Refits(unlimited, table, outcome, weight, model.n_jobs)
    strata = joint_codes(outcome.codes) if isinstance(outcome, Labels) else None
    folds = k_folds(n_rows, min(N_FOLDS, n_rows), seed, strata=strata)

    target = target_of_rows(outcome)
    every = _validation_rows(model, table, target, outcome, weight, counts)

    def curve(_: int, split: Split, fitted: Any) -> NDArray[np.float64]:
        features = refits.features(split.test, fitted)
        table = features if isinstance(features, Table) else read_table(features, type(model).__name__)
        validation_rows = every._replace(table=table, target=target[split.test], weight=every.weight[split.test])
        return losses_by_size(fitted.trees_, validation_rows, predicted_by_node(fitted, outcome))

    size, total = preferred_size(refits.each(folds, curve))
    return size, total / counts.sum()
