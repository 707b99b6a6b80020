"""Dask collections as partitions: of each, the rows, their target and their weights, read by whoever works on them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence


class Parts(NamedTuple):
    """Partitions of the rows, in order."""

    each: list[tuple[Any, Any, Any]]  # X, y and weight, delayed; y and weight may be None
    weighted: bool


def parts_of(X: Any, y: Any, sample_weight: Any, client: Any, caller: str) -> Parts:
    """Return the partitions of a table, its target and its weights.

    Parameters
    ----------
    X : Dask array or frame, or list of delayed partitions
        Partitions of rows; each is anything that the local ``fit`` takes.
    y, sample_weight : the same, or an array, a series or None
        As many partitions of as many rows; what is in memory here is cut as X is. A weight may be a number, too.
    client : distributed.Client
        Counts rows where what is in memory here has to be cut.
    caller : str
        Name of the estimator, for messages.

    """
    own, lengths = _delayed(X, "X", caller)
    if own is None:
        raise TypeError(
            f"X is a {type(X).__name__}: dtnumba.dask.{caller} takes a Dask array, a Dask frame or a list of delayed "
            f"partitions; a table in memory is fitted by dtnumba.{caller}, or cut by dask.array.from_array"
        )
    columns: list[list[Any]] = [own]
    for given, name in ((y, "y"), (sample_weight, "sample_weight")):
        if given is None or (name == "sample_weight" and isinstance(given, (int, float, np.number))):
            columns.append([given] * len(own))
            continue
        found, own_lengths = _delayed(_cut_alike(given, X), name, caller)
        if found is None:
            lengths = _lengths(own, client) if lengths is None else lengths
            found = _cut(given, lengths, name)
        elif len(found) != len(own) or (lengths and own_lengths and lengths != own_lengths):
            raise ValueError(
                f"{name} has {_said(found, own_lengths)}, and X has {_said(own, lengths)}: both must be cut alike; "
                f"for arrays {name}.rechunk(X.chunks[0]), for frames take both from one frame"
            )
        columns.append(found)
    return Parts(list(zip(*columns, strict=True)), sample_weight is not None)


def table_parts(X: Any, caller: str) -> list[Any]:
    """Return the partitions of a table, delayed."""
    own, _ = _delayed(X, "X", caller)
    if own is None:
        raise TypeError(
            f"X is a {type(X).__name__}: dtnumba.dask.{caller} takes Dask arrays, Dask frames and lists of delayed "
            f"partitions; a table in memory goes to dtnumba.{caller}, or is cut by dask.array.from_array"
        )
    return own


def _said(parts: Sequence[Any], lengths: Any) -> str:
    shown = [] if lengths is None else [*map(str, lengths[:6]), *(["..."] if len(lengths) > 6 else [])]
    rows = f" of {', '.join(shown)} rows" if shown else ""
    return f"{len(parts)} partitions{rows}"


def _cut_alike(given: Any, X: Any) -> Any:
    """Return an array of Dask cut as X is, where the lengths of both are known."""
    chunks, own = getattr(X, "chunks", None), getattr(given, "chunks", None)
    if not (chunks and own) or chunks[0] == own[0] or np.isnan([*chunks[0], *own[0]]).any():
        return given
    return given.rechunk({0: chunks[0]}) if sum(chunks[0]) == sum(own[0]) else given


def _delayed(given: Any, name: str, caller: str) -> tuple[list[Any] | None, list[int] | None]:
    """Return the delayed partitions of a collection and their lengths, where known; (None, None) of anything else."""
    from dask.delayed import Delayed, delayed

    if isinstance(given, (list, tuple)) and given:
        are_futures = [hasattr(part, "key") and hasattr(part, "client") for part in given]
        if all(isinstance(part, Delayed) or is_one for part, is_one in zip(given, are_futures, strict=True)):
            parts = [delayed(part) if is_one else part for part, is_one in zip(given, are_futures, strict=True)]
            return parts, None
    if not hasattr(given, "__dask_graph__") or isinstance(given, Delayed):
        return None, None
    if hasattr(given, "chunks"):
        if given.ndim == 2 and len(given.chunks[1]) > 1:
            given = given.rechunk({1: -1})
        lengths = None if np.isnan(given.chunks[0]).any() else [int(n) for n in given.chunks[0]]
        return list(given.to_delayed().ravel()), lengths
    if hasattr(given, "to_delayed"):
        return list(given.to_delayed()), None
    raise TypeError(f"{name} is a {type(given).__name__}: {caller} takes Dask arrays, frames and lists of delayed ones")


def _rows_in(part: Any) -> int:
    return int(part.shape[0]) if hasattr(part, "shape") else len(part)


def _lengths(parts: Sequence[Any], client: Any) -> list[int]:
    from dask.delayed import delayed

    count = delayed(_rows_in, pure=False)
    lengths: list[int] = client.gather(client.compute([count(part) for part in parts]))
    return lengths


def _cut(given: Any, lengths: Sequence[int], name: str) -> list[Any]:
    n = _rows_in(given) if hasattr(given, "shape") or hasattr(given, "__len__") else None
    if n != sum(lengths):
        raise ValueError(f"{name} has {n} rows, and X has {sum(lengths)}: pass one value for each row")
    ends = np.concatenate([[0], np.cumsum(lengths)])
    rows = given.iloc if hasattr(given, "iloc") else given
    return [rows[start:stop] for start, stop in pairwise(ends.tolist())]
