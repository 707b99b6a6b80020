"""Whether what a file says of rows is what ``HeldRows.stored`` says of some: a file may lie."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.estimators.incremental.history import ReplacedSplit
from dtnumba.growth.hoeffding.stored_stream import is_stream

if TYPE_CHECKING:
    from numpy.typing import NDArray


def are_rows(stored: Any, learned: Any) -> bool:
    """Tell whether what a file says of rows is what ``stored`` says of some; the file may lie."""
    if isinstance(stored, dict) and "stream" in stored:
        return _are_of_stream(stored, learned)
    if not isinstance(stored, dict) or set(stored) != _STORED:
        return False
    values, outcome, weight, ids = (stored[name] for name in ("values", "outcome", "weight", "ids"))
    n, k = len(ids), learned["n_outputs_"]
    fits = _is_array(values, "f", (n, learned["n_features_in_"])) and values.dtype.itemsize in {4, 8} and n > 0
    fits = fits and (weight is None or (_is_array(weight, "f", (n,)) and bool(np.isfinite(weight).all())))
    fits = fits and (weight is None or bool((weight >= 0).all() and (weight > 0).any()))
    fits = fits and _is_array(ids, "i", (n,)) and bool((np.diff(ids) > 0).all() and ids[0] >= 0)
    fits = fits and type(stored["n_seen"]) is int and ids[-1] < stored["n_seen"] < 1 << 62
    fits = fits and _are_columns(stored["columns"], values) and _are_labels(stored, outcome, k)
    fits = fits and _is_history(stored["history"])
    is_outcome = _is_array(outcome, "i" if "classes_" in learned else "f", (n, k)) and outcome.dtype.itemsize == 8
    return bool(fits and is_outcome and ("classes_" in learned) == bool(stored["labels"]))


_COLUMNS = {"n_seen", "bits", "columns", "labels", "announced"}
_STORED = _COLUMNS | {"values", "outcome", "weight", "ids", "history"}


def _are_of_stream(stored: Any, learned: Any) -> bool:
    """Tell whether this is what is known of the columns and classes of a stream, and its tree one of these."""
    if set(stored) != _COLUMNS | {"stream"} or learned["n_outputs_"] != 1:
        return False
    no_values = np.empty((0, learned["n_features_in_"]))
    no_outcome = np.empty((0, 1), np.int64 if "classes_" in learned else np.float64)
    fits = type(stored["n_seen"]) is int and 0 <= stored["n_seen"] < 1 << 62
    fits = fits and _are_columns(stored["columns"], no_values) and _are_labels(stored, no_outcome, 1)
    if not fits or ("classes_" in learned) != bool(stored["labels"]):
        return False
    n_classes = len(stored["labels"][0]) if stored["labels"] else 0
    if n_classes and n_classes != learned["n_classes_"]:
        return False
    n_levels = np.array([max(1, len(one["met"])) if "met" in one else 0 for one in stored["columns"]], np.int64)
    return is_stream(stored["stream"], n_levels, n_classes)


def _is_history(value: Any) -> bool:
    fits = isinstance(value, np.ndarray) and _is_array(value, "f", (len(value), len(ReplacedSplit._fields)))
    return fits and bool(np.isfinite(value[:, [0, 1, 2, 3, 4, 6]]).all())


def _is_array(value: Any, kind: str, shape: tuple[int, ...]) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == kind and value.shape == shape


def _are_labels(stored: Any, outcome: Any, n_outputs: int) -> bool:
    """Tell whether classes of rows are among the labels of each output, and those announced, too; numbers have none."""
    labels, announced = stored["labels"], stored["announced"]
    if not isinstance(labels, list) or not isinstance(announced, list) or len(announced) not in {0, len(labels)}:
        return False
    if not labels:
        return bool(np.isfinite(outcome).all())
    if len(labels) != n_outputs:
        return False
    for o, known in enumerate(labels):
        if not isinstance(known, np.ndarray) or known.ndim != 1 or len(set(known.tolist())) != len(known):
            return False
        numbers = np.concatenate([outcome[:, o], announced[o] if announced else np.empty(0, np.int64)])
        if numbers.dtype != np.int64 or not ((numbers >= 0) & (numbers < len(known))).all():
            return False
    return True


def _are_columns(stored: Any, values: NDArray[Any]) -> bool:
    """Tell whether this is what ``GatheredLevels.stored`` says of columns, whose levels the values number."""
    if not isinstance(stored, list) or len(stored) != values.shape[1]:
        return False
    for one, column in zip(stored, values.T, strict=True):
        if isinstance(one, dict) and set(one) == {"number"}:
            continue
        if not isinstance(one, dict) or set(one) != {"met", "order", "is_ordered"}:
            return False
        if type(one["is_ordered"]) is not bool:
            return False
        lists = [one["met"]] if one["order"] is None else [one["met"], one["order"]]
        if not all(isinstance(known, np.ndarray) and known.ndim == 1 for known in lists):
            return False
        if any(len(set(known.tolist())) != len(known) for known in lists):
            return False
        there = column[~np.isnan(column)]
        if not ((there >= 0) & (there < len(one["met"])) & (there == np.floor(there))).all():
            return False
        if one["order"] is not None and not set(one["met"].tolist()) <= set(one["order"].tolist()):
            return False
    return True
