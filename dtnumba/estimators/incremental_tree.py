"""IncrementalTreeClassifier and IncrementalTreeRegressor: trees that take rows, give rows back, and stay the batch tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.estimators.bases.docs import documented
from dtnumba.estimators.bases.estimator import Regressor
from dtnumba.estimators.bases.fit import train_tree
from dtnumba.estimators.bases.one_tree import ClassTree, OneTree
from dtnumba.estimators.bases.parameters import (
    CATEGORICAL_FEATURES,
    N_JOBS,
    SHARE,
    count_or_share,
    criterion_for,
    integer,
    number,
    one_of,
    parameter,
    whole,
    yes_or_no,
)
from dtnumba.estimators.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
from dtnumba.estimators.incremental_steps.held_rows import HeldRows
from dtnumba.growth.choose_growth import for_binary_growth, with_policy
from dtnumba.criteria.contract import resolve_criterion
from dtnumba.growth.hoeffding.stream_tree import StreamOptions, StreamTree
from dtnumba.growth.incremental.follow_rows import RowTree
from dtnumba.growth.settings import MISSING_POLICIES
from dtnumba.growth.targets.reach import in_reach
from dtnumba.prediction.tree_view import TreeView
from dtnumba.tables.categories import FROM_DTYPE
from dtnumba.tables.cells import values_of
from dtnumba.tables.labels import read_labels
from dtnumba.tables.weights import fixed_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self


_DEEPEST = 1000
_LEARNED_OF_ROWS = ("tree_", "classes_", "n_classes_", "n_outputs_", "categories_", "_rule")


class IncrementalTree(OneTree):
    """A tree that follows its rows.

    Attributes
    ----------
    ids_ : array of int
        Ids of the rows held, in the order in which they came: the first row that ever came is 0.
    n_seen_ : int
        How many rows came.

    """

    _batch: Any  # the class of the batch tree
    _reads_classes = False

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget all rows, and take these in; see ``partial_fit``."""
        self.check_params()
        rows = HeldRows(type(self).__name__, self.categorical_features)
        if self.approximate:
            return self._learn_stream(rows, None, X, y, None, sample_weight)
        came = rows.read(X, y, sample_weight, self.read_target)
        return self._change(rows, came, np.empty(0, np.int64), is_first=True)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Take rows in.

        Parameters
        ----------
        X : array or frame of shape (rows, features)
            As in ``fit``; the columns are those of the first call.
        y : array of shape (rows,)
            Labels, of new classes too, or numbers.
        classes : array, optional
            Labels that count among ``classes_`` before rows of them come.
        sample_weight : array of shape (rows,) or number, optional
            What each row counts.

        Returns
        -------
        estimator
            The estimator itself; as it was if anything fails.

        """
        self.check_params()
        rows = self._rows()
        if self.approximate:
            return self._learn_stream(rows, vars(self).get("_stream"), X, y, classes, sample_weight)
        came = rows.read(X, y, sample_weight, self.read_target)
        return self._change(rows, came, np.empty(0, np.int64), classes=classes)

    def forget(self, X: Any, y: Any) -> Self:
        """Give rows back, each the oldest held of those that are alike; an error if one of them was never given."""
        self.check_params()
        rows = self._held()
        return self._change(rows, None, rows.find(X, y, self.read_target))

    def forget_ids(self, ids: Any) -> Self:
        """Give rows back by their ids, as ``ids_`` lists them."""
        self.check_params()
        rows = self._held()
        return self._change(rows, None, rows.slots_of(ids))

    def _learn_stream(self, rows: Any, stream: Any, X: Any, y: Any, classes: Any, sample_weight: Any) -> Self:
        """Learn rows of a stream; an error leaves the model as it was, an interrupt the rows learned so far."""
        announced = None if classes is None else self._read_announced(classes)
        came = rows.read(X, y, sample_weight, self.read_target)
        if came.outcome.shape[1] > 1:
            raise ValueError(f"approximate=True learns one output, and y has {came.outcome.shape[1]}")
        rows.note(came)
        if announced is not None:
            rows.announce(announced)
        n_classes = len(rows.met()[1][0]) if rows.met()[1] else 0
        if stream is None:
            kind = "classes" if n_classes else "numbers"
            criterion = resolve_criterion(self.criterion, kind, float(len(came.values)), rows.n_features)
            stream = StreamTree(rows.n_met(), n_classes, criterion, self._stream_options())
        stream.widen(rows.n_met(), n_classes)
        values = np.ascontiguousarray(came.values, np.float64)
        stream.learn(values, came.outcome[:, 0].astype(np.float64), came.weight)
        rows.n_seen += len(values)
        state = vars(self)
        for name in _LEARNED_OF_ROWS:
            state.pop(name, None)
        state |= {"_held_rows": rows, "_stream": stream, "_pending": [], "n_seen_": rows.n_seen}
        state["n_features_in_"] = rows.n_features
        if rows.names is not None:
            state["feature_names_in_"] = rows.names
        return self

    def _stream_options(self) -> StreamOptions:
        return StreamOptions(
            delta=float(self.delta),
            tie_threshold=float(self.tie_threshold),
            grace_period=float(self.grace_period),
            reconsider=bool(self.reconsider),
            max_depth=_DEEPEST if self.max_depth is None else int(self.max_depth),
            answers=self.leaf_prediction,
            drift_delta=0.002 if self.drift == "handled" else 0.0,
        )

    def _settle_stream(self) -> None:
        state, rows = vars(self), self._held_rows
        found, labels = rows.met()
        places = [None if one is None else one.astype(np.int64) for one in found.places] or None
        order = None
        if labels:
            coded = read_labels(labels[0], len(labels[0]), type(self).__name__)
            order = coded.codes[:, 0].astype(np.int64)
            state |= self._learned_from(coded)
            sizes = [len(order)]
        else:
            state |= {"n_outputs_": 1}
            sizes = [1]
        state["_class_order"] = order
        if found.levels is not None:
            state["categories_"] = list(found.levels)
        state["tree_"] = TreeView(self._stream.trees(places, order), rows.n_features, sizes)

    def _rows(self) -> HeldRows:
        found = vars(self).get("_held_rows")
        return HeldRows(type(self).__name__, self.categorical_features) if found is None else found

    def _held(self) -> HeldRows:
        if self.approximate:
            raise ValueError(
                "approximate=True keeps no rows, so none can be forgotten: use approximate=False, or drift='handled', which "
                "lets go of what no longer holds"
            )
        rows = self._rows()
        if rows.slots is None or rows.n_rows == 0:
            raise ValueError(f"This {type(self).__name__} holds no rows, so none can be forgotten: call partial_fit first")
        return rows

    def _change(self, rows: Any, came: Any, went: Any, *, classes: Any = None, is_first: bool = False) -> Self:
        """Hold rows that came, drop others; an error or an interrupt leaves all as it was."""
        announced = None if classes is None else self._read_announced(classes)
        before, held = dict(vars(self)), rows.state()
        before["_pending"] = list(before.get("_pending", ()))
        try:
            return self._changed(rows, came, went, announced, is_first=is_first)
        except BaseException:
            rows.restore(held)
            vars(self).clear()
            # What follows the rows may be halfway: it is made anew from those held.
            vars(self).update({name: value for name, value in before.items() if name != "_row_tree"})
            raise

    def _changed(self, rows: Any, came: Any, went: Any, announced: Any, *, is_first: bool) -> Self:
        state = vars(self)
        slots = rows.take(came) if came is not None else np.empty(0, np.int64)
        if announced is not None:
            rows.announce(announced)
        if len(went):
            rows.drop(went)
        for name in _LEARNED_OF_ROWS:
            state.pop(name, None)
        if is_first:
            state.pop("_row_tree", None)
            state["_pending"] = []
        weight = rows.slots.weight
        pending = state.setdefault("_pending", [])
        pending.append((slots[weight[slots] > 0.0], went[weight[went] > 0.0]))
        state |= {"_held_rows": rows, "n_seen_": rows.n_seen}
        if rows.n_rows == 0:
            pending.clear()
            rows.slots.release()
            for name in ("n_features_in_", "feature_names_in_", "_row_tree"):
                state.pop(name, None)
            return self
        state["n_features_in_"] = rows.n_features
        if rows.names is not None:
            state["feature_names_in_"] = rows.names
        if self.restructure == "eager":
            self._follow()
        return self

    def _read_announced(self, classes: Any) -> list[NDArray[Any]]:
        array = np.asarray(classes)
        found: list[NDArray[Any]] = read_labels(array, len(array), type(self).__name__).classes
        return found

    def _batch_tree(self) -> Any:
        names = ("criterion", "max_depth", "min_samples_split", "min_samples_leaf", "missing", "n_jobs")
        return self._batch(**{name: getattr(self, name) for name in names})

    def _follow(self) -> None:
        """Let the tree follow what came and went since it was last asked to."""
        state, rows = vars(self), self._held_rows
        pending = state["_pending"]
        came = np.concatenate([one for one, _ in pending]) if pending else np.empty(0, np.int64)
        went = np.concatenate([one for _, one in pending]) if pending else np.empty(0, np.int64)
        short = np.intersect1d(came, went)  # came and went in between: nobody has seen them
        came, went = np.setdiff1d(came, short), np.setdiff1d(went, short)
        outcome, held = rows.outcome(), rows.slots.held
        weight = rows.slots.weight[held]
        weights = fixed_weights(None if (weight == 1.0).all() else weight, len(held))
        batch = self._batch_tree()
        criterion = batch._resolve_criterion(outcome, weights.total, rows.n_features, None)
        settings = batch.growth_settings(len(held), rows.n_features, weights.total, 0)
        row_tree = state.get("_row_tree") or RowTree(rows.slots)
        _, _, power = in_reach(outcome, weights.kept, criterion, settings)
        table = None
        follows = power == 0 and not rows.has_categories
        if follows and not settings.options.are_plain:
            table = rows.table()
            follows = for_binary_growth(settings, table) is not None
        follows = follows and row_tree.change(came, went, outcome, weights, criterion, settings)
        state["_row_tree"] = row_tree if follows else None
        if follows:
            trees = None
        else:
            table = rows.table() if table is None else table
            trees = train_tree(table, outcome, criterion, weights, settings)
        state |= {"_grown": trees, "_outcome": outcome.__class__, "_settings": settings, "_of": outcome}
        rows.slots.release()
        pending.clear()

    def _settle(self) -> None:
        """See to it that what was learned of the rows is there."""
        state = vars(self)
        if "tree_" in state or "_held_rows" not in state or "n_features_in_" not in state:
            return
        if self.approximate:
            self._settle_stream()
            return
        if state["_pending"]:
            self._follow()
        outcome, trees = state["_of"], state["_grown"]
        if trees is None:
            trees = with_policy(state["_row_tree"].trees(outcome.width), state["_settings"].options)
        state |= self._learned_from(outcome)
        levels = self._held_rows.levels()
        if levels is not None:
            state["categories_"] = list(levels)
        state["tree_"] = TreeView(trees, self.n_features_in_, outcome.sizes)

    def check_fitted(self) -> Self:
        """Return the estimator if it is fitted."""
        self._settle()
        return super().check_fitted()

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the tree and the rows; what follows these is made anew of them."""
        self._settle()
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_row_tree"}

    def __getattr__(self, name: str) -> Any:
        """Learn from the rows what is asked for."""
        if name in _LEARNED_OF_ROWS:
            self._settle()
            if name in vars(self):
                return vars(self)[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def ids_(self) -> NDArray[np.int64]:
        """Ids of the rows held, in the order in which they came."""
        ids: NDArray[np.int64] = self._rows().ids
        return ids


@dataclass(kw_only=True, eq=False, repr=False)
class IncrementalParams:
    """Parameters of incremental trees.

    Parameters
    ----------
    restructure : "eager" or "lazy"
        When the tree follows its rows: with each call, or when somebody asks.

    """

    max_depth: int | None = parameter(None, integer(1))
    min_samples_split: int | float = parameter(2, count_or_share(2, closed=True))
    min_samples_leaf: int | float = parameter(1, count_or_share(1, closed=False))
    categorical_features: Any = parameter(FROM_DTYPE, CATEGORICAL_FEATURES)  # noqa: RUF009  a field
    missing: str = parameter("learned", one_of(*MISSING_POLICIES))
    restructure: str = parameter("eager", one_of("eager", "lazy"))
    approximate: bool = yes_or_no(False)
    delta: float = parameter(1e-7, SHARE)
    tie_threshold: float = parameter(0.05, number(0.0, 1.0))
    grace_period: int = parameter(200, whole(1, 1 << 40))
    reconsider: bool = yes_or_no(True)
    leaf_prediction: str = parameter("adaptive", one_of("adaptive", "majority", "naive_bayes"))
    drift: str = parameter("ignored", one_of("ignored", "handled"))
    n_jobs: int | None = parameter(None, N_JOBS)


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class IncrementalTreeClassifier(IncrementalTree, ClassTree, IncrementalParams):
    """A tree of classes that takes rows, gives rows back, and stays the tree of a batch fit."""

    criterion: Any = parameter("gini", criterion_for("classes"))  # noqa: RUF009  a field
    _batch = DecisionTreeClassifier

    def predict_proba(self, X: Any) -> Any:
        """Return the share of each class in every row's leaf; of a stream's tree, as its leaves answer."""
        if not self.approximate:
            return super().predict_proba(X)
        table = self.table_of(X)
        values = np.array(values_of(table.cells), np.float64)
        found = self._held_rows.met()[0]
        for j, place in enumerate(found.places):
            if place is not None:  # levels by the numbers under which they were met
                known = ~np.isnan(values[:, j])
                values[known, j] = np.argsort(place)[values[known, j].astype(np.int64)]
        shares = np.empty((len(values), self.n_classes_))
        shares[:, self._class_order] = self._stream.shares(values)
        return shares

    def predict(self, X: Any, check_input: bool = True) -> NDArray[Any]:
        """Return the label of every row."""
        if not self.approximate:
            return super().predict(X)
        shares = self.predict_proba(X)
        labels: NDArray[Any] = self.classes_[shares.argmax(axis=1)]
        return labels


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class IncrementalTreeRegressor(IncrementalTree, Regressor, IncrementalParams):
    """A tree of numbers that takes rows, gives rows back, and stays the tree of a batch fit."""

    criterion: Any = parameter("squared_error", criterion_for("numbers"))  # noqa: RUF009  a field
    _batch = DecisionTreeRegressor

    def predict(self, X: Any, check_input: bool = True) -> NDArray[np.float64]:
        """Return the value of every row's leaf."""
        table = self.table_of(X)
        values = self.tree_.numbers(table, self.n_jobs)
        return values[:, 0] if self.n_outputs_ == 1 else values
