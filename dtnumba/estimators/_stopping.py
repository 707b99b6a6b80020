"""What trees and forests share to stop early: rows that judge splits, and the size that cross-validation prefers."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.folds import held_out, joint_codes, k_folds
from dtnumba.labels import Labels, codes_of, read_labels, read_values
from dtnumba.node_losses import says_by_node
from dtnumba.refits import Refits
from dtnumba.stopping import Judges, losses_by_size, preferred_size
from dtnumba.table import Seen, Table, read_table
from dtnumba.weights import class_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.binned_table import Features
    from dtnumba.folds import Split

# Folds of max_leaf_nodes="cv", as in rpart; fewer where there are fewer rows.
N_FOLDS = 10


def read_judges(
    model: Any,
    table: Features,
    known: Any,
    weight: NDArray[np.float64] | None,
    given: tuple[Any, Any],
    seed: int,
) -> tuple[NDArray[np.float64] | None, Judges | None]:
    """Return what each row counts to growth, and the rows that judge its splits; None where nothing does.

    Parameters
    ----------
    model : estimator
        Whose ``validation_fraction`` and ``class_weight`` apply.
    table, known, weight : Table, Labels or Values, array or None
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
        return _split_off(model, table, known, weight, seed)
    if X is None or y is None:
        raise ValueError(f"fit: pass both X_val and y_val, got {'y_val' if X is None else 'X_val'} alone")
    if model.validation_fraction is not None:
        raise ValueError(
            f"fit: validation_fraction={model.validation_fraction} sets rows aside, and X_val is such a set already; "
            "pass one of them"
        )
    try:
        rows, target = _read_given(type(model).__name__, table, known, X, y)
        model._refuse_missing(rows)  # noqa: SLF001
    except ValueError as error:
        raise ValueError(f"X_val and y_val: {error}") from error
    return weight, _judges(model, rows, target, known, weight, np.ones(rows.n_rows))


def _read_given(name: str, table: Features, known: Any, X: Any, y: Any) -> tuple[Table, NDArray[Any]]:
    """Return the features of given rows, and their target in the codes of the training rows."""
    rows = read_table(X, name, Seen(table.n_features, table.names, table.levels))
    if isinstance(known, Labels):
        return rows, codes_of(read_labels(y, rows.n_rows, name), known.classes)
    target = read_values(y, rows.n_rows, name).y
    if target.shape[1] != known.width:
        raise ValueError(f"y has {target.shape[1]} outputs, and that of the training rows {known.width}")
    return rows, target


def _split_off(
    model: Any, table: Features, known: Any, weight: NDArray[np.float64] | None, seed: int
) -> tuple[NDArray[np.float64], Judges]:
    counts = np.ones(table.n_rows) if weight is None else weight
    rows = np.flatnonzero(counts)
    if len(rows) < 2:
        raise ValueError(
            f"validation_fraction={model.validation_fraction}: setting rows aside needs at least 2 of positive weight, "
            f"and there are {len(rows)}; pass more rows, or leave it out"
        )
    strata = joint_codes(known.codes[rows]) if isinstance(known, Labels) else None
    is_held = np.zeros(table.n_rows, bool)
    is_held[rows[held_out(len(rows), float(model.validation_fraction), seed, strata=strata).test]] = True
    target = known.codes if isinstance(known, Labels) else known.y
    return np.where(is_held, 0.0, counts), _judges(model, table, target, known, weight, np.where(is_held, counts, 0.0))


def _judges(
    model: Any,
    table: Features,
    target: NDArray[Any],
    known: Any,
    growing: NDArray[np.float64] | None,
    weight: NDArray[np.float64],
) -> Judges:
    """Return rows as judges: what an error costs growth, it costs here, and classes are as common.

    ``known`` and ``growing`` are the targets and weights of the fit, in which classes have the shares that priors
    replace; ``weight`` is what each of the rows counts.
    """
    if not isinstance(known, Labels):
        return Judges(table, target, weight, None)
    stakes = model._stakes(known)  # noqa: SLF001
    if model.class_weight is not None:
        given = "balanced" if isinstance(model.class_weight, str) else model.class_weight
        with np.errstate(divide="ignore"):  # of a class that has no row here
            weighted = class_weights(given, Labels(known.classes, target), weight)
        weight = weight if weighted is None else weighted
    by_priors = stakes.by_priors(known, growing)
    if by_priors is not None:
        weight = weight * by_priors[target[:, 0]]
    return Judges(table, target, weight, known.sizes, stakes.rule)


def size_by_folds(
    model: Any, table: Features, known: Any, weight: NDArray[np.float64] | None, seed: int
) -> tuple[int, NDArray[np.float64]]:
    """Return the number of leaves that k-fold cross-validation prefers, and the mean loss of 1, 2, ... leaves."""
    n_rows = table.n_rows
    counts = np.ones(n_rows) if weight is None else weight
    if np.count_nonzero(counts) < 2:
        raise ValueError("max_leaf_nodes='cv': cross-validation needs at least 2 rows; pass a number")
    unlimited = copy.copy(model).set_params(max_leaf_nodes=None, prune=None, random_state=seed)
    refits = Refits(unlimited, table, known, weight, model.n_jobs)
    strata = joint_codes(known.codes) if isinstance(known, Labels) else None
    folds = k_folds(n_rows, min(N_FOLDS, n_rows), seed, strata=strata)

    target = known.codes if isinstance(known, Labels) else known.y
    every = _judges(model, table, target, known, weight, counts)

    def curve(_: int, split: Split, fitted: Any) -> NDArray[np.float64]:
        features = refits.features(split.test, fitted)
        table = features if isinstance(features, Table) else read_table(features, type(model).__name__)
        judges = every._replace(table=table, target=target[split.test], weight=every.weight[split.test])
        classes = fitted._classes() if isinstance(known, Labels) else None  # noqa: SLF001
        says = says_by_node(fitted.trees_, classes, known, vars(fitted).get("_rule"))
        return losses_by_size(fitted.trees_, judges, says)

    size, total = preferred_size(refits.each(folds, curve, len(folds)))
    return size, total / counts.sum()
