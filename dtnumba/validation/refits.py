"""One model fitted again and again to parts of one table, which is read, coded and sorted once for all of them.

Each fit sees its rows alone: labels, weights, class weights and shares of the rows are those of the part. What the fits
share does not look at y: the histogram edges where ``max_bins`` is set, and the order of every column where it is not
(a part of an order is the order of the part, so exact trees are those of a fit by itself, to the bit).
"""

from __future__ import annotations

import copy
import threading
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from dtnumba.runtime import rng
from dtnumba.runtime.tasks import n_workers
from dtnumba.tables.binned_table import BinnedTable, histogram_of
from dtnumba.tables.categories import LearnedLevels
from dtnumba.tables.costs import read_costs, read_priors
from dtnumba.tables.frames import refuse_lazy
from dtnumba.tables.labels import Labels, Values, codes_of, read_labels, read_values
from dtnumba.tables.presort import Presorting, presort
from dtnumba.tables.table import Table, read_table, rows_of_table
from dtnumba.tables.weights import read_weight
from dtnumba.validation.model_protocol import ModelProtocol
from dtnumba.validation.on_cluster import Refitting, cluster_of, done_on_cluster

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from dtnumba.validation.folds import Split, Splits


def unpruned(model: Any) -> Any:
    """Return a fresh model that grows the same trees and does not prune them."""
    whole = fresh(model)
    whole.prune, whole.ccp_alpha = None, 0.0
    return whole


Answer = TypeVar("Answer")


def fresh(model: Any) -> Any:
    """Return a model with the same parameters that has learned nothing."""
    if not hasattr(model, "get_params"):
        return copy.deepcopy(model)
    if hasattr(model, "__sklearn_clone__"):
        return model.__sklearn_clone__()
    params = {name: _fresh_value(value) for name, value in model.get_params(deep=False).items()}
    return type(model)(**params)


def _fresh_value(value: Any) -> Any:
    is_model = hasattr(value, "get_params") and not isinstance(value, type)
    return fresh(value) if is_model else copy.deepcopy(value)


def is_classifier(model: Any, y: Any) -> bool:
    """Tell whether a model predicts classes: as it says itself, else by what y holds."""
    kind = getattr(model, "_estimator_type", None)
    if kind is None and hasattr(model, "__sklearn_tags__"):
        kind = model.__sklearn_tags__().estimator_type
    if kind is None:
        return hasattr(model, "predict_proba") or np.asarray(y).dtype.kind not in "fc"
    return bool(kind == "classifier")


class Refits:
    """Fits a model to parts of one table.

    Parameters
    ----------
    model : estimator
        Of this library, or anything with ``fit`` and ``predict``; it stays as it is.
    X, y, sample_weight : arrays
        As ``fit`` takes them.
    n_jobs : int or None
        Threads in all.
    client : distributed.Client, optional
        Of a cluster whose workers fit.

    Attributes
    ----------
    is_classes : bool
        Whether the model predicts classes.
    outcome : Labels or Values
        The target of all rows.
    weight : array or None
        What each row counts.
    n_rows : int
        Rows of the table.

    """

    def __init__(
        self, model: Any, X: Any, y: Any, sample_weight: Any = None, n_jobs: int | None = None, client: Any = None
    ) -> None:
        if isinstance(model, type):
            raise TypeError(
                f"model={model.__name__} is a class, and only a model is fitted: pass {model.__name__}(...)"
            )
        if not (hasattr(model, "fit") and hasattr(model, "predict")):
            raise TypeError(f"model={model!r}: must have fit and predict")
        refuse_lazy(X, "X")
        self.client = None if client is None else cluster_of(client, n_jobs)
        self.model, self.workers = model, n_workers(n_jobs)
        self.is_ours = isinstance(model, ModelProtocol)
        name = type(model).__name__
        self._source, self._y = X, y
        self.is_classes = is_classifier(model, y)
        if self.is_ours:
            model.check_params()
            self._unfitted = fresh(model)
            self._read_features(model, X, name)
        self.n_rows = self._features.n_rows if self.is_ours else _n_rows(X)
        read = read_labels if self.is_classes else read_values
        self.outcome: Labels | Values = y if isinstance(y, (Labels, Values)) else read(y, self.n_rows, name)
        self.weight = read_weight(sample_weight, self.n_rows)
        self.is_one_output = len(self.outcome.sizes) == 1
        state = getattr(model, "random_state", None)
        # A generator would be drawn from in the order in which threads come.
        self._seed = rng.seed_from(state) if self.is_ours and not isinstance(state, (int, np.integer)) else None

    def __getstate__(self) -> dict[str, Any]:
        """Send what fits read: not what was read to make it."""
        state = {**vars(self), "client": None}
        return state | {"_source": None, "_y": None} if self.is_ours else state

    def _read_features(self, model: Any, X: Any, name: str) -> None:
        table = X
        if not isinstance(X, (Table, BinnedTable)):
            declared = getattr(model, "takes_declared_levels", False)
            table = read_table(X, name, categories=LearnedLevels(model.categorical_features, name, declared=declared))
        self._table, self._features, self._sorted = table, table, None
        everything = np.arange(table.n_rows, dtype=np.uint32)
        if isinstance(table, BinnedTable):
            return
        if model.max_bins is not None and vars(model).get("prune") is None:
            codes, bins = histogram_of(table, everything, model.max_bins, self.workers)
            dtype = table.sparse.dtype if table.cells is None else table.cells.flat.dtype
            names, levels = table.names, table.levels
            self._features = BinnedTable(codes, bins, model.max_bins, dtype, names, levels, table.nominal)
        elif model.grows_on_sorted_columns:
            self._sorted = presort(table, everything, table.n_features, self.workers)

    @property
    def names(self) -> NDArray[Any] | None:
        """The names of the columns, where the model is of this library and they have some."""
        found: NDArray[Any] | None = self._table.names if self.is_ours else None
        return found

    def fitted(self, split: Split, index: int = 0, *, threads: int = 1) -> Any:
        """Return a fresh model fitted to the rows of a split; ``index`` is the number of the fit, of which it draws."""
        rows = split.train
        weight = None if self.weight is None else self.weight[rows]
        if not self.is_ours:
            y = _rows_of(self._y, rows)
            given = {} if weight is None else {"sample_weight": weight}
            model = fresh(self.model)
            return model.fit(_rows_of(self._source, rows), y, **given) or model
        model = copy.copy(self._unfitted)
        model.n_jobs = threads
        if self._seed is not None:
            model.random_state = int(rng.stream(self._seed, rng.TREE, index))
        part = rows_of_target(self.outcome, rows)
        if part.sizes != self.outcome.sizes:
            _restrict(model, self.outcome, part)
        model.fit(self._part(rows), part, sample_weight=weight)
        model.unmet_levels = self._unmet_by(rows)
        return model

    def _part(self, rows: NDArray[np.int64]) -> Table | BinnedTable:
        if isinstance(self._features, BinnedTable):
            return self._features.rows(rows)
        order = None if self._sorted is None else Presorting(self._sorted, self.n_rows, rows)
        return rows_of_table(self._features, rows, order)

    def features(self, rows: NDArray[np.int64], fitted: Any = None) -> Any:
        """Return the features of some rows, in which levels that a fitted model has not met are missing."""
        if not self.is_ours:
            return _rows_of(self._source, rows)
        if isinstance(self._table, BinnedTable):
            return self._table.values(rows)
        part = rows_of_table(self._table, rows)
        for column, is_unmet in () if fitted is None else fitted.unmet_levels:
            cells = part.whole[:, column]  # of a copy
            is_there = np.flatnonzero(~np.isnan(cells))
            cells[is_there[is_unmet[cells[is_there].astype(np.int64)]]] = np.nan
        return part

    def _unmet_by(self, rows: NDArray[np.int64]) -> list[tuple[int, NDArray[np.bool_]]]:
        """Return the columns of categories of which some rows lack levels, and which levels these are."""
        table, found = self._table, []
        if isinstance(table, BinnedTable) or table.cells is None:
            return []
        for column, levels in enumerate(table.levels or ()):
            if levels is not None:
                cells = table.whole[rows, column]
                is_unmet = np.ones(len(levels), bool)
                is_unmet[cells[~np.isnan(cells)].astype(np.int64)] = False
                if is_unmet.any():
                    found.append((column, is_unmet))
        return found

    def each(self, splits: Splits, work: Callable[[int, Split, Any], Answer]) -> list[Answer]:
        """Return ``work(index, split, fitted)`` of every split, in their order.

        Splits are dealt to threads one at a time, so that not all of them are in memory at once.
        """
        if self.client is not None:
            return done_on_cluster(self.client, [Refitting(self, splits, work)])[0]
        n_splits = len(splits)
        threads = max(1, self.workers // max(n_splits, 1))

        def job(index: int, split: Split) -> Answer:
            return work(index, split, self.fitted(split, index, threads=threads))

        return dealt(splits, job, min(self.workers, n_splits))


def dealt(splits: Iterable[Split], job: Callable[[int, Split], Answer], workers: int) -> list[Answer]:
    """Return ``job(index, split)`` of every split, in their order; each thread takes the next one when it is free."""
    if workers <= 1:
        return [job(index, split) for index, split in enumerate(splits)]
    waiting, lock = enumerate(splits), threading.Lock()
    answers: dict[int, Answer] = {}
    stop = threading.Event()

    def labour() -> None:
        while not stop.is_set():
            with lock:
                item = next(waiting, None)
            if item is None:
                return
            try:
                answers[item[0]] = job(*item)
            except BaseException:
                stop.set()
                raise

    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(workers) as pool:
        hands = [pool.submit(labour) for _ in range(workers)]
        try:
            for hand in hands:
                hand.result()
        finally:  # after Ctrl-C, too, the others finish what they have in hand
            stop.set()
    return [answers[index] for index in range(len(answers))]


def _restrict(model: Any, outcome: Any, part: Any) -> None:
    """Leave a model the costs and the priors of the classes that a part of the rows has."""
    costs, priors = getattr(model, "costs", None), getattr(model, "priors", None)
    if costs is None and priors is None:
        return
    is_there = np.isin(np.arange(outcome.sizes[0]), codes_of(part, outcome.classes)[:, 0])
    matrix, shares = read_costs(costs, outcome), read_priors(priors, outcome)
    model.costs = None if matrix is None else matrix[np.ix_(is_there, is_there)]
    model.priors = None if shares is None or not shares[is_there].any() else shares[is_there] / shares[is_there].sum()


def rows_of_target(outcome: Labels | Values, rows: NDArray[np.int64]) -> Labels | Values:
    """Return the target of some rows as if no other rows had been read: classes that they lack are gone."""
    if isinstance(outcome, Values):
        return Values(outcome.y[rows])
    codes, classes = outcome.codes[rows], list(outcome.classes)
    for o, own in enumerate(outcome.classes):
        is_there = np.bincount(codes[:, o], minlength=len(own)) > 0
        if not is_there.all():
            classes[o] = own[is_there]
            codes[:, o] = (np.cumsum(is_there) - 1)[codes[:, o]]
    return Labels(classes, codes)


def _n_rows(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _rows_of(X: Any, rows: NDArray[np.int64]) -> Any:
    """Return some rows of whatever a foreign model takes: a frame stays one."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "column_names"):
        return X.take(rows)
    if hasattr(X, "tocsr"):
        return X.tocsr()[rows]
    if isinstance(X, BinnedTable):
        return X.rows(rows)
    if isinstance(X, (list, tuple)):  # as an array, numbers beside text would become text
        return [X[row] for row in rows]
    return X[rows] if hasattr(X, "columns") else np.asarray(X)[rows]
