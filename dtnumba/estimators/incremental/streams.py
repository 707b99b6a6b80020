"""The tree of a stream behind an estimator: nobody keeps its rows; levels and classes go by the order they came in."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.criteria.contract import resolve_criterion
from dtnumba.estimators.incremental.stream_predictor import StreamPredictor, as_met, numbers_met
from dtnumba.growth.hoeffding.stored_stream import of_stored, stored
from dtnumba.growth.hoeffding.stream_tree import WAYS, StreamOptions, StreamTree
from dtnumba.prediction.tree_view import TreeView
from dtnumba.runtime.tasks import n_workers
from dtnumba.tables.cells import values_of
from dtnumba.tables.labels import read_labels, warn_of_column

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.estimators.incremental.held_rows import HeldRows
    from dtnumba.tables.labels import Labels
    from dtnumba.tables.table import Table

# Parameters of batch trees that the tree of a stream knows, too
_KNOWN = {"criterion", "max_depth", "categorical_features", "n_jobs", "random_state"}
_DEEPEST = 1000
_USUAL_WEIGHT = 4096.0  # of the rows that a node has seen when it splits: tables of logarithms reach so far


def refuse_of_batches(model: Any) -> None:
    """Raise where a parameter is set that only a tree of rows held heeds."""
    for one in fields(model._batch):  # noqa: SLF001  its class
        value = vars(model)[one.name]
        if one.name not in _KNOWN and value is not one.default and value != one.default:
            raise ValueError(
                f"approximate=True keeps no rows, and {one.name}={value!r} asks for them: leave it at {one.default!r}, "
                "or use approximate=False"
            )


def learned_stream(
    model: Any, rows: HeldRows, stream: StreamTree | None, given: tuple[Any, Any, Any], announced: Any
) -> StreamTree:
    """Learn rows as passed by the caller; return what knows them."""
    came = rows.read(given[0], given[1], given[2], model)
    if came.outcome.shape[1] > 1:
        raise ValueError(f"approximate=True learns one output, and y has {came.outcome.shape[1]}: fit a model for each")
    warn_of_column(given[1])
    rows.note(came)
    if announced is not None:
        rows.announce(announced)
    labels = rows.met()[1]
    n_classes = len(labels[0]) if labels else 0
    if stream is None or stream.criterion is None:
        kind = "classes" if n_classes else "numbers"
        criterion = resolve_criterion(model.criterion, kind, _USUAL_WEIGHT, rows.n_features)
        if stream is None:
            stream = StreamTree(rows.n_met(), n_classes, criterion, _options_of(model))
        stream.criterion = criterion
    stream.widen(rows.n_met(), n_classes)
    counts = slice(None) if came.weight is None else came.weight > 0.0
    values, weight = np.ascontiguousarray(came.values[counts], np.float64), came.weight
    stream.learn(values, came.outcome[counts, 0].astype(np.float64), None if weight is None else weight[counts])
    rows.n_seen += len(came.values)
    return stream


def _options_of(model: Any) -> StreamOptions:
    return StreamOptions(
        delta=float(model.delta),
        tie_threshold=float(model.tie_threshold),
        grace_period=float(model.grace_period),
        reconsider=bool(model.reconsider),
        max_depth=_DEEPEST if model.max_depth is None else int(model.max_depth),
        answers=model.leaf_prediction,
        drift=model.drift,
        max_bytes=int(model.max_bytes),
    )


def settled_stream(stream: StreamTree, rows: HeldRows, model: Any) -> dict[str, Any]:
    """Return what is learned, by the names of attributes: levels and classes in their order."""
    found, labels = rows.met()
    places = [None if one is None else one.astype(np.int64) for one in found.places] or None
    learned: dict[str, Any] = {"n_outputs_": 1, "max_features_": rows.n_features}
    order = None
    if labels:
        coded = read_labels(labels[0], len(labels[0]), type(model).__name__)
        order = class_order(coded)
        learned |= model._learned_from(coded)  # noqa: SLF001  what fit asks
    learned["_class_order"], learned["_bayes_leaves"] = order, stream.bayes_leaves()
    if found.levels is not None:
        learned["categories_"] = list(found.levels)
    sizes = [1] if order is None else [len(order)]
    learned["tree_"] = TreeView(stream.trees(places, order), rows.n_features, sizes)
    return learned


def class_order(coded: Labels) -> NDArray[np.int64]:
    """Return which class each label is, of labels in the order in which they were met."""
    return coded.codes[:, 0].astype(np.int64)


def stored_stream(model: Any) -> dict[str, Any]:
    """Return what a file holds of a stream: its tree, its columns and its classes."""
    rows: HeldRows = vars(model)["_held_rows"]
    return rows.stored_columns() | {"stream": stored(vars(model)["_stream"])}


def known_stream(model: Any, rows: HeldRows, said: dict[str, Any]) -> dict[str, Any]:
    """Return what a model knows of a stream that was stored, by the names of attributes."""
    labels, order = rows.met()[1], None
    if labels:
        order = class_order(read_labels(labels[0], len(labels[0]), type(model).__name__))
    # The criterion may be known to the program that saved the model alone: it is asked for when rows come.
    stream = of_stored(said["stream"], None)
    return {"_stream": stream, "_class_order": order, "_bayes_leaves": stream.bayes_leaves()}


def stream_shares(model: Any, table: Table) -> NDArray[np.float64]:
    """Return the share of each class that the leaves of a stream's tree give rows."""
    held, stream, order = (vars(model)[name] for name in ("_held_rows", "_stream", "_class_order"))
    assert table.cells is not None
    values = as_met(np.array(values_of(table.cells), np.float64), numbers_met(held.met()[0].places))
    shares = np.empty((len(values), len(order)))
    shares[:, order] = stream.shares(values, n_workers(model.n_jobs))
    return shares


def predictor_of_stream(model: Any) -> StreamPredictor:
    """Return the tree of a stream as it answers now, as a function of one row."""
    held, stream, order = (vars(model)[name] for name in ("_held_rows", "_stream", "_class_order"))
    return StreamPredictor(stream.frozen(), WAYS[stream.options.answers], held.met()[0].places, order)
