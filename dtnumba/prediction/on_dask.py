"""Answers of fitted models to Dask collections: lazy ones, block by block, with the model sent once to each worker.

The model is one key of the graph, which workers hand to each other. It leaves as bytes, which are opened by the first
task of a worker, after the versions of both ends were held against each other. So a scheduler need not build it, and a
worker of another version says so instead of answering otherwise. Dask is imported where a collection of it came.
"""

from __future__ import annotations

import copy
import hashlib
import pickle
import sys
import threading
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.runtime.cluster import demand_version, versions
from dtnumba.tables.cells import cells_of
from dtnumba.tables.frames import is_dask
from dtnumba.tables.table import Table, read_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

ANSWERS = ("predict", "predict_proba", "predict_log_proba", "apply", "decision_function", "transform")
_OF_ROWS_IN_FIT = ("estimators_", "oob_score_", "oob_decision_function_", "oob_prediction_")
_PLAIN = (bool, int, float, str, list, tuple, dict, type(None), np.ndarray, np.generic)


def also_lazily(method: Callable[..., Any]) -> Callable[..., Any]:
    """Make a method that answers rows answer a Dask collection by a lazy one."""
    name = method.__name__

    @wraps(method)
    def answer(self: Any, X: Any, *args: Any, **options: Any) -> Any:
        if type(X) is np.ndarray or type(X) is Table or not is_dask(X):
            return method(self, X, *args, **options)
        return lazy_answer(self.check_fitted(), name, X)

    return answer


def lazy_answer(model: Any, name: str, X: Any) -> Any:
    """Return what a method of a fitted model says of a Dask array or frame, as Dask's arrays, series or frames.

    An array is answered by arrays, a frame by a series or a frame of the same index and divisions. Nothing is computed
    but the answer to one row of zeros, which says what answers look like.
    """
    is_frame = _is_a(X, "dask.dataframe", "DataFrame")
    if not is_frame and not _is_a(X, "dask.array", "Array"):
        raise TypeError(
            f"X is a {type(X).__module__.partition('.')[0]} {type(X).__name__}: {name} takes a Dask array or frame; of "
            "delayed partitions, dask.dataframe.from_delayed or dask.array.from_delayed makes one"
        )
    if is_frame:
        read_table(X._meta.reindex([0]), type(model).__name__, model.columns_seen)  # noqa: SLF001  no public name
    else:
        X = _whole_rows(model, X)
    rows = Table.block(cells_of(np.zeros((1, model.n_features_in_))))
    asked = LazyQuestion(name, getattr(model, name)(rows), model)
    return _of_frame(asked, X) if is_frame else _of_array(asked, X)


def _is_a(X: Any, module: str, name: str) -> bool:
    there = sys.modules.get(module)  # imported by whoever made such a collection
    return there is not None and isinstance(X, getattr(there, name))


def _whole_rows(model: Any, X: Any) -> Any:
    """Return a Dask array whose blocks hold whole rows; raise where it is known to be no table of this model."""
    caller = type(model).__name__
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got a Dask array of {X.ndim} dimensions: {caller} answers rows of "
            f"{model.n_features_in_} columns"
        )
    if X.shape[1] == X.shape[1]:  # not NaN: known
        shape = 1, X.shape[1]
        row = np.full(shape, None, object) if X.dtype.kind in "OUST" else np.zeros(shape, X.dtype)
        read_table(row, caller, model.columns_seen)
    return X.rechunk({1: -1}) if X.numblocks[1] > 1 else X


def brought_here(answers: Any, *others: Any) -> list[Any]:
    """Return answers as an array, and what else is asked for; what of it is lazy is computed, all at once."""
    if not any(map(is_dask, (answers, *others))):
        return [answers, *others]
    from dask import compute

    found, *rest = compute(answers, *others)
    return [np.asarray(found), *rest]


class Form(NamedTuple):
    """What the answers of a method look like."""

    name: str
    dtypes: tuple[np.dtype[Any], ...]  # of each output
    widths: tuple[int | None, ...]  # columns of each output; None: a number or a label a row


class LazyQuestion:
    """A question to a model: the method, what its answers look like, and the model as the graph holds it."""

    def __init__(self, name: str, sample: Any, model: Any) -> None:
        from dask.delayed import delayed

        parts = [np.asarray(part) for part in (sample if isinstance(sample, list) else [sample])]
        widths = tuple(part.shape[1] if part.ndim > 1 else None for part in parts)
        self.form = Form(name, tuple(part.dtype for part in parts), widths)
        self.is_list = isinstance(sample, list)
        self.names = _names_of_columns(model, name, parts)
        sent = SentModel.of(model)
        self.sent = delayed(sent, name=f"{type(model).__name__}-{sent.digest}", pure=True, traverse=False)


def _names_of_columns(model: Any, name: str, parts: list[NDArray[Any]]) -> list[Any]:
    """Return what the columns of answers are called in a frame: classes, or numbers."""
    if name in {"predict_proba", "predict_log_proba"}:
        return [classes.tolist() for classes in model.class_lists()]
    if name == "transform":
        return [list(model.get_feature_names_out())]
    return [list(range(part.shape[1])) if part.ndim > 1 else None for part in parts]


def _of_array(asked: LazyQuestion, X: Any) -> Any:
    form = asked.form
    if not asked.is_list:
        return _mapped(X, asked.sent, form)
    # Of several outputs a block is answered once, and the answers are parts of it.
    whole, ends = _mapped(X, asked.sent, form), np.cumsum([int(width or 1) for width in form.widths])
    return [whole[:, end - int(width or 1) : end] for end, width in zip(ends, form.widths, strict=True)]


def _mapped(X: Any, sent: Any, form: Form) -> Any:
    options = {"dtype": form.dtypes[0], "name": _key(X, sent, form)}
    if form.widths[0] is None:
        meta = np.empty(0, form.dtypes[0])
        return X.map_blocks(answer_block, sent, form, drop_axis=1, meta=meta, **options)
    chunks = (X.chunks[0], (sum(int(width or 1) for width in form.widths),))
    meta = np.empty((0, 0), form.dtypes[0])
    return X.map_blocks(answer_block, sent, form, chunks=chunks, meta=meta, **options)


def _key(X: Any, sent: Any, form: Form) -> str:
    """Return the name of answers: of the model, the method and the rows, so that equal questions are asked once."""
    digest = hashlib.sha256(f"{X.name} {sent.key} {form}".encode()).hexdigest()[:32]
    return f"{form.name}-{digest}"


def _of_frame(asked: LazyQuestion, X: Any) -> Any:
    import pandas as pd

    form = asked.form
    if form.widths[0] is None:
        meta = pd.Series(np.empty(0, form.dtypes[0]))
        return X.map_partitions(answer_frame, asked.sent, form, None, meta=meta)
    names = [name for part in asked.names for name in part]
    spread = list(range(len(names))) if asked.is_list else names  # outputs may share labels
    meta = pd.DataFrame(np.empty((0, len(names)), form.dtypes[0]), columns=spread)
    whole = X.map_partitions(answer_frame, asked.sent, form, spread, meta=meta)
    if not asked.is_list:
        return whole
    parts, end = [], 0
    for own in asked.names:
        start, end = end, end + len(own)
        parts.append(whole[spread[start:end]].rename(columns=dict(zip(spread[start:end], own, strict=True))))
    return parts


def answer_block(block: Any, sent: SentModel, form: Form, block_id: Any = None) -> NDArray[Any]:
    """Return what the model says of the rows of a block, outputs side by side; of none, as much."""
    if not block.shape[0]:
        widths = [width for width in form.widths if width is not None]
        return np.empty((0, sum(widths)) if widths else 0, form.dtypes[0])
    model = sent.opened()
    try:
        found = getattr(model, form.name)(block)
    except (ValueError, TypeError) as error:
        where = "" if block_id is None else f"block {block_id[0]} of X: "
        raise type(error)(f"{where}{error}") from error
    return np.hstack(found) if isinstance(found, list) else np.asarray(found)


def answer_frame(frame: Any, sent: SentModel, form: Form, columns: Any, partition_info: Any = None) -> Any:
    """Return what the model says of the rows of a pandas frame, with their index."""
    import pandas as pd

    at = None if partition_info is None else (partition_info["number"],)
    found = answer_block(frame, sent, form, at)
    if columns is None:
        return pd.Series(found, index=frame.index)
    return pd.DataFrame(found, index=frame.index, columns=columns)


class SentModel:
    """A fitted model on its way to workers: bytes, and the versions whose answers it stands for.

    In the process that made it, it is the model itself. A fit after that does not change it.

    Parameters
    ----------
    made_by : dict
        The versions that it is answered by.
    stream, buffers : bytes and list of buffers
        The model, pickled; its arrays stand in the buffers, which are not copied.

    """

    def __init__(self, made_by: dict[str, str], stream: bytes, buffers: list[Any]) -> None:
        self._made_by, self._stream, self._buffers = made_by, stream, buffers
        self._model: Any = None
        self._lock = threading.Lock()

    @classmethod
    def of(cls, model: Any) -> SentModel:
        """Return a fitted model as it is sent."""
        import cloudpickle

        lean = _lean(model)
        buffers: list[Any] = []
        stream = cloudpickle.dumps(lean, protocol=5, buffer_callback=buffers.append)
        sent = cls(versions(), stream, buffers)
        sent._model = lean
        return sent

    @property
    def digest(self) -> str:
        """A name of what is sent: of equal models the same."""
        found = hashlib.blake2b(self._stream, digest_size=16)
        for buffer in self._buffers:
            found.update(memoryview(buffer).cast("B"))
        return found.hexdigest()

    @property
    def n_bytes(self) -> int:
        """How much is sent to each worker."""
        return len(self._stream) + sum(memoryview(buffer).nbytes for buffer in self._buffers)

    def __sizeof__(self) -> int:
        """Tell Dask how much memory a worker spends on it."""
        return self.n_bytes

    def __reduce__(self) -> tuple[Any, ...]:
        """Send what was packed."""
        return SentModel, (self._made_by, self._stream, [pickle.PickleBuffer(buffer) for buffer in self._buffers])

    def opened(self) -> Any:
        """Return the model; raise where this process would answer otherwise than the one that sent it."""
        with self._lock:  # threads of a worker share one
            if self._model is None:
                demand_version(self._made_by, "This worker")
                # Kernels are compiled for arrays that may be written to, and bytes that came in may not.
                own = [buffer if not memoryview(buffer).readonly else bytearray(buffer) for buffer in self._buffers]
                self._model, self._buffers = pickle.loads(self._stream, buffers=own), own  # noqa: S301  sent by Dask
            return self._model


def _lean(model: Any) -> Any:
    """Return a model that answers alike, without what only explains forests, and without its user's own objects."""
    lean = copy.copy(model)
    held = vars(lean.compact() if "forest_" in vars(lean) else lean)
    for name in _OF_ROWS_IN_FIT:
        held.pop(name, None)
    if "_drawing" in held:
        held["_drawing"] = None
    for name in lean.get_params(deep=False):
        if not isinstance(held.get(name), _PLAIN):
            held[name] = None
    return lean
