"""Rows that came and have not gone: read as a fit reads them, and handed on as a batch fit of them all would see them."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.growth.incremental.slots import Slots
from dtnumba.tables.categories import GatheredLevels
from dtnumba.tables.cells import cells_of, values_of
from dtnumba.tables.labels import Labels, Values, read_labels
from dtnumba.tables.table import Seen, Table, read_table
from dtnumba.tables.weights import read_weight

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Known(NamedTuple):
    """The labels of an output that were met, in the order in which they were."""

    numbers: dict[Any, int]
    labels: NDArray[Any]

    def with_others(self, labels: NDArray[Any]) -> tuple[Known, NDArray[np.int64]]:
        """Return the same with labels that may be new, and the numbers of these."""
        numbers = dict(self.numbers)
        found = np.array([numbers.setdefault(value, len(numbers)) for value in labels.tolist()], np.int64)
        new = labels[found >= len(self.numbers)]
        known = np.concatenate([self.labels, new]) if len(self.labels) else labels.copy()
        return Known(numbers, known), found


_NO_LABELS = Known({}, np.empty(0))


class Came(NamedTuple):
    """Rows that were read and are not held yet."""

    values: NDArray[Any]  # (n, p): numbers, and levels by the numbers under which they were met
    outcome: NDArray[Any]  # (n, k): numbers, or classes by the numbers under which they were met
    weight: NDArray[np.float64] | None
    names: NDArray[np.object_] | None
    gathered: GatheredLevels
    classes: list[Known]  # by output; empty of numbers


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
        self._shape: tuple[int, int] | None = None  # columns of the table and of the target, once rows came
        self._gathered = GatheredLevels(categorical_features, caller)
        self._classes: list[Known] = []
        self._announced: list[NDArray[np.int64]] = []
        self._places: dict[bytes, list[int]] | None = None  # the slots of rows by what they hold, once somebody asked
        self._slot_of: dict[int, int] = {}

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

    def read(self, X: Any, y: Any, sample_weight: Any, read_target: Any) -> Came:
        """Return rows as those held are; an error leaves everything as it was."""
        seen = None if self._shape is None else Seen(self.n_features, self.names)
        gathered = copy.deepcopy(self._gathered)
        table = read_table(X, self.caller, seen, gathered)
        values = self._values_of(table)
        outcome = read_target(y, table.n_rows)
        classes, codes = list(self._classes), []
        if isinstance(outcome, Labels):
            classes = classes or [_NO_LABELS for _ in outcome.classes]
            if len(classes) != len(outcome.classes):
                raise ValueError(f"y has {len(outcome.classes)} outputs, and the rows held have {len(classes)}")
            for o, labels in enumerate(outcome.classes):
                classes[o], numbers = classes[o].with_others(labels)
                codes.append(numbers[outcome.codes[:, o]])
            targets = np.stack(codes, axis=1)
        else:
            targets = outcome.y
            if self._shape is not None and targets.shape[1] != self._shape[1]:
                raise ValueError(f"y has {targets.shape[1]} outputs, and the rows before had {self._shape[1]}")
        return Came(values, targets, read_weight(sample_weight, table.n_rows), table.names, gathered, classes)

    def _values_of(self, table: Table) -> NDArray[Any]:
        if table.cells is None:
            raise TypeError(f"X is sparse, and {self.caller} keeps rows one by one: pass X.toarray()")
        values = values_of(table.cells)
        if self.slots is None or values.dtype == self.slots.values.dtype:
            return values
        if values.dtype == np.float64:
            raise ValueError(
                "X holds float64, and the first rows were float32, in which it would lose digits: pass X as float32, or "
                "begin with rows of float64"
            )
        return values.astype(np.float64)

    def note(self, came: Came) -> None:
        """Know the columns, levels and classes of rows that were read, which nobody keeps."""
        if self._shape is None:
            self._shape, self.names = (came.values.shape[1], came.outcome.shape[1]), came.names
        self._gathered, self._classes = came.gathered, came.classes

    def take(self, came: Came) -> NDArray[np.int64]:
        """Hold rows that were read; return their slots."""
        self.note(came)
        if self.slots is None:
            n_features, n_outputs = came.values.shape[1], came.outcome.shape[1]
            self.slots = Slots(n_features, n_outputs, came.values.dtype, came.outcome.dtype)
        ids = np.arange(self.n_seen, self.n_seen + len(came.values))
        slots = self.slots.put(came.values, came.outcome, came.weight, ids)
        self.n_seen += len(ids)
        self._slot_of.update(zip(ids.tolist(), slots.tolist(), strict=True))
        if self._places is not None:
            self._enter(slots)
        return slots

    def slots_of(self, ids: Any) -> NDArray[np.int64]:
        """Return the slots of rows by their ids; an error of one that is not held."""
        listed = np.atleast_1d(np.asarray(ids)).tolist()
        missing = [one for one in listed if one not in self._slot_of]
        if missing:
            raise ValueError(
                f"forget_ids: no row with id {missing[0]!r} is held; ids_ lists those that are ({self.n_rows} of "
                f"{self.n_seen} that came)"
            )
        if len(set(listed)) < len(listed):
            raise ValueError("forget_ids: an id stands there twice, and a row can go once: list each id once")
        return np.array([self._slot_of[one] for one in listed], np.int64)

    def find(self, X: Any, y: Any, read_target: Any) -> NDArray[np.int64]:
        """Return the slots of rows by what they hold, each another one, the oldest first."""
        came = self.read(X, y, None, read_target)
        assert self.slots is not None
        if self._places is None:
            held = np.flatnonzero(self.slots.is_held)
            self._places = {}
            self._enter(held[np.argsort(self.slots.ids[held], kind="stable")])
        places = self._places
        found: list[int] = []
        taken: dict[bytes, int] = {}
        for row, key in enumerate(_keys(came.values, came.outcome)):
            known = places.get(key, [])
            k = taken.get(key, 0)
            if k >= len(known):
                what = "was never given" if not known else f"is held {len(known)} times and is to go once more"
                raise ValueError(
                    f"forget: row {row} of X with its y {what}; pass rows as partial_fit had them, or use forget_ids"
                )
            taken[key] = k + 1
            found.append(known[k])
        return np.array(found, np.int64)

    def _enter(self, slots: NDArray[np.int64]) -> None:
        assert self.slots is not None
        assert self._places is not None
        keys = _keys(self.slots.values[slots], self.slots.outcome[slots])
        for key, slot in zip(keys, slots.tolist(), strict=True):
            self._places.setdefault(key, []).append(slot)

    def drop(self, slots: NDArray[np.int64]) -> None:
        """Hold some rows no longer."""
        assert self.slots is not None
        if self._places is not None:
            keys = _keys(self.slots.values[slots], self.slots.outcome[slots])
            for key, slot in zip(keys, slots.tolist(), strict=True):
                self._places[key].remove(slot)
                if not self._places[key]:
                    del self._places[key]
        for one in self.slots.ids[slots].tolist():
            del self._slot_of[one]
        self.slots.drop(slots)

    def state(self) -> dict[str, Any]:
        """Return what ``restore`` goes back to."""
        kept = {name: getattr(self, name) for name in ("names", "n_seen", "slots", "_shape", "_gathered", "_classes", "_announced")}
        return kept | {"is_held": None if self.slots is None else self.slots.is_held.copy()}

    def restore(self, state: dict[str, Any]) -> None:
        """Hold the rows that were held then."""
        is_held = state.pop("is_held")
        vars(self).update(state)
        self._places, self._slot_of = None, {}
        if self.slots is not None:
            self.slots.hold(is_held)
            held = np.flatnonzero(self.slots.is_held)
            self._slot_of = dict(zip(self.slots.ids[held].tolist(), held.tolist(), strict=True))

    def announce(self, classes: list[NDArray[Any]]) -> None:
        """Count labels, of each output, among the classes, whether or not rows of them are held."""
        known = self._classes or [_NO_LABELS for _ in classes]
        pairs = [one.with_others(labels) for one, labels in zip(known, classes, strict=True)]
        self._classes, self._announced = [pair[0] for pair in pairs], [pair[1] for pair in pairs]

    @property
    def has_categories(self) -> bool:
        """Whether a column is one."""
        return self._gathered.finish().levels is not None

    def levels(self) -> Any:
        """Return the levels of the rows held, of each column; None where there are no categories."""
        return self.table().levels if self.has_categories else None

    def met(self) -> tuple[Any, list[Any]]:
        """Return the levels of all rows that came, in their order, and the labels met of each output."""
        return self._gathered.finish(), [known.labels for known in self._classes]

    def n_met(self) -> NDArray[np.int64]:
        """Return how many levels of each column were met; 0 of numbers."""
        found = self._gathered.finish()
        listed = [None] * self.n_features if found.levels is None else found.levels
        return np.array([0 if known is None else max(1, len(known)) for known in listed], np.int64)

    def table(self) -> Table:
        """Return the rows held as the Table of a batch fit."""
        assert self.slots is not None
        held = self.slots.held
        values = np.array(self.slots.values[held], order="C")
        found = self._gathered.finish()
        if found.levels is None:
            return _named(values, self.names)
        levels: list[NDArray[Any] | None] = []
        for j, known in enumerate(found.levels):
            if known is None:
                levels.append(None)
                continue
            places = found.places[j]
            assert places is not None
            column = values[:, j]
            there = ~np.isnan(column)
            at = places[column[there].astype(np.int64)].astype(np.int64)
            present = np.unique(at)
            values[there, j] = np.searchsorted(present, at)
            levels.append(known[present])
        return _named(values, self.names, tuple(levels), found.nominal)

    def outcome(self) -> Labels | Values:
        """Return the outcomes of the rows held as those of a batch fit, of the classes held or announced."""
        assert self.slots is not None
        rows = self.slots.outcome[self.slots.held]
        if not self._classes:
            return Values(np.ascontiguousarray(rows))
        classes, codes = [], np.empty(rows.shape, np.int64)
        for o, known in enumerate(self._classes):
            present = np.bincount(rows[:, o], minlength=len(known.labels)) > 0
            if self._announced:
                present[self._announced[o]] = True
            numbers = np.flatnonzero(present)
            found = read_labels(known.labels[numbers], len(numbers), self.caller)
            place = np.empty(len(known.labels), np.int64)
            place[numbers] = found.codes[:, 0]
            classes.append(found.classes[0])
            codes[:, o] = place[rows[:, o]]
        narrow = np.uint8 if max(len(known) for known in classes) <= 256 else np.int32
        return Labels(classes, codes.astype(narrow))


def _named(values: Any, names: Any, levels: Any = None, nominal: Any = None) -> Table:
    return Table(*values.shape, names, cells_of(values), None, None, levels, nominal)


def _keys(values: NDArray[Any], outcome: NDArray[Any]) -> list[bytes]:
    """Return rows as bytes, in which equal values are equal: every NaN is one, and zero has no sign."""
    plain = np.ascontiguousarray(values) + values.dtype.type(0)
    plain[np.isnan(plain)] = np.nan
    targets = np.ascontiguousarray(outcome) + outcome.dtype.type(0)
    width = plain.shape[1] * plain.itemsize
    return [a.tobytes()[:width] + b.tobytes() for a, b in zip(plain, targets, strict=True)]
