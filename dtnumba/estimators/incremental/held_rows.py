"""Rows that came and have not gone: read as a fit reads them, handed on as a fit of them all would see them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.estimators.incremental.history import MOST_REMEMBERED, ReplacedSplit, replaced_splits
from dtnumba.growth.incremental.lists import LEVELS_WITH_CODES
from dtnumba.growth.incremental.slots import Slots
from dtnumba.tables.categories import GatheredLevels
from dtnumba.tables.cells import cells_of, values_of
from dtnumba.tables.labels import Labels, Values, read_labels
from dtnumba.tables.table import Seen, Table, read_table
from dtnumba.tables.weights import read_weight

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.prediction.tree_view import TreeView

_NOBODY = np.empty(0, np.int64)
Change = tuple["NDArray[np.int64]", "NDArray[np.int64]"]
_FEW = 8  # so many rows are looked for one by one, more by sorting


class MetLabels(NamedTuple):
    """The labels of an output that were met, in the order in which they were."""

    numbers: dict[Any, int]
    labels: NDArray[Any]

    def with_others(self, labels: NDArray[Any]) -> tuple[MetLabels, NDArray[np.int64]]:
        """Return the same with labels that may be new, and the numbers of these."""
        numbers = dict(self.numbers)
        found = np.array([numbers.setdefault(value, len(numbers)) for value in labels.tolist()], np.int64)
        new = labels[found >= len(self.numbers)]
        return MetLabels(numbers, _joined(self.labels, new)), found


_NO_LABELS = MetLabels({}, np.empty(0))


def _joined(labels: NDArray[Any], new: NDArray[Any]) -> NDArray[Any]:
    if len(labels) == 0 or len(new) == 0:
        return labels if len(labels) else new.copy()
    if labels.dtype.kind == new.dtype.kind or {labels.dtype.kind, new.dtype.kind} <= set("iuf"):
        return np.concatenate([labels, new])
    both = np.empty(len(labels) + len(new), object)  # labels of different kinds stay what they are
    both[:] = [*labels.tolist(), *new.tolist()]
    return both


class Came(NamedTuple):
    """Rows that were read and are not held yet."""

    values: NDArray[Any]  # (n, p): numbers, and levels by the numbers under which they were met
    outcome: NDArray[Any]  # (n, k): numbers, or classes by the numbers under which they were met
    weight: NDArray[np.float64] | None
    names: NDArray[np.object_] | None
    bits: Any  # of the floats that the caller passed
    gathered: GatheredLevels
    classes: list[MetLabels]  # by output; empty of numbers


class HeldRows:
    """The rows of one incremental tree.

    Parameters
    ----------
    caller : str
        Name of the estimator, for messages.
    categorical_features : "from_dtype", list of names or indices, boolean mask or None
        As the estimator has it.

    """

    def __init__(self, caller: str, categorical_features: Any) -> None:
        self.caller = caller
        self.names: NDArray[np.object_] | None = None
        self.n_seen = 0
        self.slots: Slots | None = None
        self.pending: list[Change] = []  # slots that came and went since the tree followed them
        self.follower: Any = None  # what follows them, where something does
        self.shown: Any = None  # the tree as somebody last looked at it
        self.history: list[ReplacedSplit] = []
        self._bits: Any = None
        self._shape: tuple[int, int] | None = None  # columns of the table and of the target, once rows came
        self._gathered = GatheredLevels(categorical_features, caller)
        self._classes: list[MetLabels] = []
        self.announced: list[NDArray[np.int64]] = []

    @property
    def n_rows(self) -> int:
        """How many rows are held."""
        return 0 if self.slots is None else self.slots.n_rows

    @property
    def n_features(self) -> int:
        """How many columns there are."""
        assert self._shape is not None
        return self._shape[0]

    @property
    def ids(self) -> NDArray[np.int64]:
        """The ids of the rows held, in the order in which they came."""
        return np.empty(0, np.int64) if self.slots is None else np.sort(self.slots.ids[self.slots.is_held])

    def read(self, X: Any, y: Any, sample_weight: Any, model: Any) -> Came:
        """Return rows as those held are; an error leaves everything as it was."""
        seen = None if self._shape is None else Seen(self.n_features, self.names)
        gathered = self._gathered.copied()
        table = read_table(X, self.caller, seen, gathered)
        values = self._values_of(table)
        model.refuse_missing(table)
        outcome = model.read_target(y, table.n_rows)
        classes, codes = list(self._classes), []
        if isinstance(outcome, Labels):
            classes = classes or [_NO_LABELS for _ in outcome.classes]
            self._check_outputs(len(outcome.classes))
            for o, labels in enumerate(outcome.classes):
                classes[o], numbers = classes[o].with_others(labels)
                codes.append(numbers[outcome.codes[:, o]])
            targets = np.stack(codes, axis=1)
        else:
            targets = outcome.y
            self._check_outputs(targets.shape[1])
        weight = read_weight(sample_weight, table.n_rows)
        return Came(values, targets, weight, table.names, table.given_bits, gathered, classes)

    def _check_outputs(self, n: int) -> None:
        if self._shape is not None and n != self._shape[1]:
            raise ValueError(f"y has {n} outputs, and the rows before had {self._shape[1]}: pass as many")

    def _values_of(self, table: Table) -> NDArray[Any]:
        if table.cells is None:
            raise TypeError(f"X is sparse, and {self.caller} keeps rows one by one: pass X.toarray()")
        values = values_of(table.cells)
        if self.slots is None or values.dtype == self.slots.values.dtype:
            return values
        if values.dtype == np.float64:
            raise ValueError(
                "X holds float64, and the first rows were float32, in which it would lose digits: pass X as float32, "
                "or begin with rows of float64"
            )
        return values.astype(np.float64)

    def note(self, came: Came) -> None:
        """Know the columns, levels and classes of rows that were read, which nobody keeps."""
        if self._shape is None:
            self._shape, self.names = (came.values.shape[1], came.outcome.shape[1]), came.names
            self._bits = came.bits
        elif self._bits != came.bits:
            self._bits = None
        self._gathered, self._classes = came.gathered, came.classes

    def change(self, came: Came | None, went: NDArray[np.int64], announced: list[NDArray[Any]] | None) -> None:
        """Hold rows that were read, and others no longer."""
        slots = _NOBODY if came is None else self._take(came)
        if announced is not None:
            self.announce(announced)
        assert self.slots is not None
        if len(went):
            self.slots.drop(went)
        weight = self.slots.weight
        self.pending = [*self.pending, (slots[weight[slots] > 0.0], went[weight[went] > 0.0])]

    def show(self, tree: TreeView) -> None:
        """Remember a tree that somebody looks at, and which tests gave way to others since the last one."""
        if self.shown is not None:
            others = replaced_splits(self.shown.trees, tree.trees, self.n_seen, self.n_rows)
            self.history = [*self.history, *others][-MOST_REMEMBERED:]
        self.shown = tree

    def let_go(self) -> None:
        """Let rows that come take the slots of those that went: the tree has followed them."""
        self.pending = []
        if self.slots is not None:
            self.slots.release()

    def _take(self, came: Came) -> NDArray[np.int64]:
        self.note(came)
        if self.slots is None:
            n_features, n_outputs = came.values.shape[1], came.outcome.shape[1]
            self.slots = Slots(n_features, n_outputs, came.values.dtype, came.outcome.dtype)
        ids = np.arange(self.n_seen, self.n_seen + len(came.values))
        slots = self.slots.put(came.values, came.outcome, came.weight, ids)
        self.n_seen += len(ids)
        return slots

    def slots_of(self, ids: Any) -> NDArray[np.int64]:
        """Return the slots of rows by their ids; an error of one that is not held."""
        listed = np.atleast_1d(np.asarray(ids))
        if len(listed) and listed.dtype.kind not in "iu":
            raise TypeError(f"forget_ids: ids are whole numbers, as ids_ lists them, and not {listed.dtype}: {ids!r}")
        if listed.ndim > 1:
            raise ValueError(f"forget_ids: pass a list of ids, not an array of shape {listed.shape}")
        assert self.slots is not None
        slots, listed = self.slots, listed.astype(np.int64)
        if len(listed) <= _FEW:
            pairs = [np.flatnonzero((slots.ids == one) & slots.is_held) for one in listed]
            is_there = np.array([len(found) > 0 for found in pairs], bool)
            places = np.array([found[0] if len(found) else 0 for found in pairs], np.int64)
        else:
            held = slots.held
            held = held[np.argsort(slots.ids[held], kind="stable")]
            at = np.minimum(np.searchsorted(slots.ids[held], listed), len(held) - 1)
            places = held[at]
            is_there = slots.ids[places] == listed
        if not is_there.all():
            raise ValueError(
                f"forget_ids: no row with id {listed[~is_there][0]} is held; ids_ lists those that are ({self.n_rows} "
                f"of {self.n_seen} that came)"
            )
        if len(np.unique(listed)) < len(listed):
            raise ValueError("forget_ids: an id stands there twice, and a row can go once: list each id once")
        return places

    def find(self, X: Any, y: Any, model: Any) -> NDArray[np.int64]:
        """Return the slots of rows by what they hold, each another one, the oldest first."""
        came = self.read(X, y, None, model)
        assert self.slots is not None
        return self.slots.find(came.values, came.outcome)

    def state(self) -> dict[str, Any]:
        """Return what ``restore`` goes back to."""
        is_held = None if self.slots is None else self.slots.is_held.copy()
        return vars(self) | {"is_held": is_held}

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the rows, without what follows them."""
        return vars(self) | {"follower": None}

    def restore(self, state: dict[str, Any]) -> None:
        """Hold the rows that were held then."""
        is_held = state.pop("is_held")
        vars(self).update(state | {"follower": None})  # which may be halfway, and is made anew
        if self.slots is not None:
            self.slots.hold(is_held)

    def announce(self, classes: list[NDArray[Any]]) -> None:
        """Count labels, of each output, among the classes, whether or not rows of them are held."""
        known = self._classes or [_NO_LABELS for _ in classes]
        if len(known) != len(classes):
            raise ValueError(f"classes are those of {len(classes)} outputs, and y has {len(known)}: list them for each")
        pairs = [one.with_others(labels) for one, labels in zip(known, classes, strict=True)]
        before = self.announced or [np.empty(0, np.int64) for _ in classes]
        self._classes = [pair[0] for pair in pairs]
        self.announced = [np.union1d(one, pair[1]) for one, pair in zip(before, pairs, strict=True)]

    @property
    def has_categories(self) -> bool:
        """Whether a column is one."""
        return self._gathered.has_categories

    def met(self) -> tuple[Any, list[Any]]:
        """Return the levels of all rows that came, in their order, and the labels met of each output."""
        return self._gathered.finish(), [known.labels for known in self._classes]

    def n_met(self) -> NDArray[np.int64]:
        """Return how many levels of each column were met; 0 of numbers."""
        found = self._gathered.finish()
        listed = [None] * self.n_features if found.levels is None else found.levels
        return np.array([0 if known is None else max(1, len(known)) for known in listed], np.int64)

    def stored(self) -> dict[str, Any]:
        """Return the rows as arrays, lists and numbers, of which ``of_stored`` makes them again."""
        assert self.slots is not None
        order = self.in_order()
        weight = self.slots.weight[order]
        return self.stored_columns() | {
            "values": np.array(self.slots.values[order], order="C"),
            "outcome": np.array(self.slots.outcome[order], order="C"),
            "weight": None if (weight == 1.0).all() else weight,
            "ids": self.slots.ids[order],
            "history": np.array(self.history, np.float64).reshape(-1, len(ReplacedSplit._fields)),
        }

    def stored_columns(self) -> dict[str, Any]:
        """Return what is known of columns and classes, whether rows are held or not."""
        return {
            "n_seen": self.n_seen,
            "bits": self._bits,
            "columns": self._gathered.stored(),
            "labels": [known.labels for known in self._classes],
            "announced": self.announced,
        }

    @classmethod
    def of_stored(cls, caller: str, categorical_features: Any, names: Any, stored: dict[str, Any]) -> HeldRows:
        """Return rows that were stored, or what ``stored_columns`` says."""
        rows = cls(caller, categorical_features)
        rows.names, rows.n_seen, rows._bits = names, stored["n_seen"], stored["bits"]
        rows._gathered.restore(stored["columns"])
        rows._classes = [_NO_LABELS.with_others(labels)[0] for labels in stored["labels"]]
        rows.announced = stored["announced"]
        if "values" not in stored:
            rows._shape = len(stored["columns"]), 1
            return rows
        values, outcome = stored["values"], stored["outcome"]
        rows._shape = values.shape[1], outcome.shape[1]
        kinds = int, int, int, int, int, float, int, float
        rows.history = [
            ReplacedSplit._make(kind(value) for kind, value in zip(kinds, one, strict=True))
            for one in stored["history"].tolist()
        ]
        rows.slots = Slots(values.shape[1], outcome.shape[1], values.dtype, outcome.dtype)
        rows.slots.put(values, outcome, stored["weight"], stored["ids"])
        return rows

    def in_order(self) -> NDArray[np.int64]:
        """Return the slots of the rows held in the order in which these came."""
        assert self.slots is not None
        held = self.slots.held
        return held[np.argsort(self.slots.ids[held], kind="stable")]

    def table(self, slots: NDArray[np.int64]) -> Table:
        """Return rows held as the Table of a batch fit."""
        assert self.slots is not None
        values = np.array(self.slots.values[slots], order="C")
        found = self._gathered.finish()
        if found.levels is None:
            return self._table_of(values)
        levels, presents = self.levels_held()
        for j, present in enumerate(presents):
            places, column = found.places[j], values[:, j]
            if present is not None and places is not None:
                there = ~np.isnan(column)
                values[there, j] = np.searchsorted(present, places[column[there].astype(np.int64)].astype(np.int64))
        return self._table_of(values, tuple(levels), found.nominal)

    def levels_held(self) -> tuple[list[NDArray[Any] | None], list[NDArray[np.int64] | None]]:
        """Return of every column the levels of the rows held, and their places among all that were met."""
        assert self.slots is not None
        found, is_held = self._gathered.finish(), self.slots.is_held
        levels: list[NDArray[Any] | None] = []
        presents: list[NDArray[np.int64] | None] = []
        for j, known in enumerate(found.levels or [None] * self.n_features):
            places, present = found.places[j] if found.levels else None, None
            if places is not None:
                column = self.slots.values[is_held, j]
                n_rows = np.bincount(column[~np.isnan(column)].astype(np.int64), minlength=len(places))
                present = np.sort(places[np.flatnonzero(n_rows)].astype(np.int64))
            levels.append(None if known is None or present is None else known[present])
            presents.append(present)
        return levels, presents

    def _table_of(self, values: NDArray[Any], levels: Any = None, nominal: Any = None) -> Table:
        return Table(
            n_rows=values.shape[0],
            n_features=values.shape[1],
            names=self.names,
            cells=cells_of(values),
            sparse=None,
            levels=levels,
            nominal=nominal,
            given_bits=self._bits,
        )

    def ranks(self) -> list[Any] | None:
        """Return of every category the place of each number met in the order of its levels; None without categories."""
        found = self._gathered.finish()
        return None if found.levels is None else found.places

    @property
    def levels_are_followed(self) -> bool:
        """Whether a tree can follow the categories: none has too many levels, or is a number that levels stand for."""
        found = self._gathered.finish()
        if found.levels is None:
            return True
        is_level = np.array([known is not None for known in found.levels])
        most = max(len(known) for known in found.levels if known is not None)
        return found.nominal is not None and bool((is_level == found.nominal).all()) and 0 < most <= LEVELS_WITH_CODES

    def weight(self, slots: NDArray[np.int64]) -> NDArray[np.float64] | None:
        """Return what rows held count, checked as those of a fit; None: one each."""
        assert self.slots is not None
        weight = self.slots.weight[slots]
        return None if (weight == 1.0).all() else read_weight(weight, len(weight))

    def outcome(self, slots: NDArray[np.int64]) -> Labels | Values:
        """Return the outcomes of rows held as those of a batch fit, of the classes held or announced."""
        assert self.slots is not None
        rows = self.slots.outcome[slots]
        if not self._classes:
            return Values(np.ascontiguousarray(rows))
        classes, codes = [], np.empty(rows.shape, np.int64)
        for o, known in enumerate(self._classes):
            present = np.bincount(rows[:, o], minlength=len(known.labels)) > 0
            if self.announced:
                present[self.announced[o]] = True
            numbers = np.flatnonzero(present)
            found = read_labels(known.labels[numbers], len(numbers), self.caller)
            place = np.empty(len(known.labels), np.int64)
            place[numbers] = found.codes[:, 0]
            classes.append(found.classes[0])
            codes[:, o] = place[rows[:, o]]
        narrow = np.uint8 if max(len(known) for known in classes) <= 256 else np.int32
        return Labels(classes, codes.astype(narrow))
