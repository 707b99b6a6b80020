"""What is wrong with collections and known before any of it is read."""

from __future__ import annotations

from typing import Any

import numpy as np

from dtnumba.tables.floats import to_floats
from dtnumba.tables.frames import column_names
from dtnumba.tables.table import MOST_ROWS


def check_collections(X: Any, y: Any, sample_weight: Any, caller: str) -> None:
    """Raise where collections cannot be rows, their target and their weights, as far as Dask knows them.

    Parameters
    ----------
    X, y, sample_weight : what ``fit`` is given
        Nothing of it is computed.
    caller : str
        Name of the estimator, for messages.

    """
    if y is None:
        raise ValueError(f"{caller} requires y to be passed, but the target y is None")
    if hasattr(X, "__dask_graph__"):
        check_table(X, caller)
    for given, name, most in ((y, "y", 2), (sample_weight, "sample_weight", 1)):
        ndim = getattr(given, "ndim", None)
        if hasattr(given, "__dask_graph__") and ndim is not None and not 1 <= ndim <= most:
            shape = "one column" if most == 1 else "one column, or a column an output"
            raise ValueError(f"{name} should be of {shape}; it is a Dask {type(given).__name__} of {ndim} dimensions")
        _check_lengths(X, given, name)
        _check_divisions(X, given, name)


def check_table(X: Any, caller: str) -> None:
    """Raise where a collection cannot be rows of columns."""
    ndim = getattr(X, "ndim", None)
    if ndim in {1, 2}:
        n_rows = _length(X)
        if n_rows is not None and n_rows > MOST_ROWS:
            raise ValueError(
                f"X has {n_rows} rows: at most {MOST_ROWS} have numbers of their own in one fit; train on a sample of "
                "them"
            )
    if ndim is not None and ndim != 2:
        raise ValueError(
            f"Expected 2D array, got a Dask {type(X).__name__} of {ndim} dimensions: {caller} takes rows of columns; "
            "X.to_frame() or X.reshape(-1, 1) makes one of a single column"
        )
    if hasattr(X, "columns"):
        if not len(X.columns):
            raise ValueError(f"X has no columns: {caller} needs at least one")
        column_names(X)
    elif ndim == 2:
        if X.shape[1] == 0:
            raise ValueError(f"Found array with 0 feature(s) (shape={X.shape}) while a minimum of 1 is required")
        if X.dtype.kind not in "OUST":
            to_floats(np.zeros((1, 1), X.dtype))


def _length(given: Any) -> int | None:
    """Return how many rows something has, None where that is not known without reading it."""
    if hasattr(given, "chunks"):
        lengths = given.chunks[0]
        return None if any(n != n for n in lengths) else int(sum(lengths))  # NaN: not known
    if hasattr(given, "__dask_graph__") or given is None or np.isscalar(given):
        return None
    is_delayed = isinstance(given, (list, tuple)) and any(hasattr(one, "key") for one in given)
    return None if is_delayed else int(given.shape[0]) if hasattr(given, "shape") else len(given)


def _check_lengths(X: Any, given: Any, name: str) -> None:
    own, other = _length(X), _length(given)
    if own is not None and other is not None and own != other:
        raise ValueError(f"{name} has {other} rows, and X has {own}: pass one value for each row")


def _check_divisions(X: Any, given: Any, name: str) -> None:
    """Raise where both are frames that say which rows are where, and do not say the same."""
    both = [getattr(one, "divisions", None) for one in (X, given)]
    if None in both or not (X.known_divisions and given.known_divisions) or both[0] == both[1]:
        return
    raise ValueError(
        f"{name} and X are cut at other values of the index: {name} at {_some(both[1])}, X at {_some(both[0])}; take "
        f"both from one frame, or {name} = {name}.repartition(divisions=X.divisions)"
    )


def _some(divisions: Any) -> str:
    shown = ", ".join(map(str, divisions[:4]))
    return f"{shown}, ..." if len(divisions) > 4 else shown
