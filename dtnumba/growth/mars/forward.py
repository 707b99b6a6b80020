"""The forward pass: terms are added, a pair at a time, while they gain enough."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.growth.mars import scan
from dtnumba.growth.mars.orthonormal import Basis
from dtnumba.growth.mars.parents import Parents
from dtnumba.growth.mars.scan import Kept, Scan, ScannedColumns
from dtnumba.growth.mars.settings import ForwardSettings, gcv_of, spans_of
from dtnumba.runtime.memory import per_worker
from dtnumba.runtime.progress import launch_beside_heeding
from dtnumba.trees.hinges import DOWN, OF_LEVEL, STRAIGHT, UP, Factor

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from dtnumba.growth.mars.predictors import Predictor, SortedPredictors


_PARALLEL_CELLS = 50_000
_WORST_GRSQ = -10.0
_CONSTANT = 1e-28  # share of the square of a target below which what varies is rounding
_EARLY_SLOTS, _EARLY, _LATE = 15, 0.01, 1e-5  # what share of a hinge must be new while there are few terms, and later
_LEAST, _MOST = 1e-290, 1e290
_WEIGHTED = 1e-9  # with weights
_DRIFT = 1e-6  # share of all there is to explain by which a gain may miss what was foretold

# Why the pass ended
NO_ROOM, LOW_GRSQ, SMALL_GAIN, HIGH_RSQ, NO_TERM, ALL_TERMS = 1, 3, 4, 5, 6, 7


class Grown(NamedTuple):
    """The terms of a forward pass, and the least squares problem that they are."""

    terms: list[list[Factor]]
    triangle: NDArray[np.float64]  # (terms, terms) upper: their scaled columns in an orthonormal basis
    goals: NDArray[np.float64]  # (terms, outputs): the targets in it
    rss: NDArray[np.float64]  # (outputs,) left over by all terms
    null_rss: NDArray[np.float64]  # (outputs,) by the constant alone
    scales: NDArray[np.float64]  # (terms,): a column is scale times what its factors say
    ended: int
    n_rows: int
    n_rebuilt: int  # times that what is kept of knots had drifted and was made anew


class _Slot(NamedTuple):
    factors: list[Factor]
    predictors: frozenset[int]
    row: int  # of ScannedColumns.parents; -1: it is no parent
    column: int  # of the basis
    scale: float


class ForwardPass:
    """Terms under construction."""

    def __init__(
        self,
        predictors: SortedPredictors,
        y: NDArray[np.float64],
        weight: NDArray[np.float64] | None,
        settings: ForwardSettings,
        may_join: Callable[[frozenset[int], int], bool],
        workers: int,
    ) -> None:
        self._predictors, self._settings, self._may_join = predictors, settings, may_join
        n, p = len(y), len(predictors.each)
        self._n, self._workers = n, workers
        root = np.ones(n) if weight is None else np.sqrt(weight)
        length = math.sqrt(float((root * root).sum()))
        constant = root / length
        means = (y * (root * constant)[:, None]).sum(axis=0) / length
        targets = y - means
        rounding = (targets * (root * constant)[:, None]).sum(axis=0) / length  # of means that are far from zero
        targets = np.ascontiguousarray((targets - rounding) * root[:, None])
        means += rounding
        self._most_pairs = max(0, min((settings.max_terms - 1) // 2, n))  # a step adds one column of n, or two
        self._basis = Basis(constant, targets, self._most_pairs, workers)
        self._basis.made_of[0, 0], self._basis.of_targets[0] = length, means * length
        self._null_rss = self._basis.rss.copy()
        self._is_constant = self._null_rss <= _CONSTANT * ((y * root[:, None]) ** 2).sum(axis=0)
        n_parents = 1 if settings.max_degree == 1 else 1 + 2 * self._most_pairs
        parents = np.empty((n_parents, n))
        parents[0] = root
        self._n_parents = 1
        self._slots: list[_Slot | None] = [_Slot([], frozenset(), 0, 0, 1.0)]
        self._columns = ScannedColumns(
            predictors.order, predictors.values, parents, constant, targets, self._basis.pairs,
            np.zeros((self._most_pairs, 2, y.shape[1])), int(weight is None),
        )  # fmt: skip
        self._void: set[int] = set()  # slots of terms that are zero
        self._last_was_pair = False  # whether the last knot that was the best so far, in a step, made a pair
        self._used: set[tuple[int, int]] = set()
        self._first = np.full((n_parents, p), -1, np.int64)  # entry of a cell
        self._seen = np.full(n_parents, -1, np.int64)  # pairs of columns that the cells of a parent have been told of
        self._spans: dict[int, Any] = {}
        self._kept = Kept(
            np.empty((0, scan.GOAL + y.shape[1])), np.zeros(1, np.int32), np.zeros(n_parents * p, np.int64)
        )
        self._n_entries, self._most_entries, self._n_rebuilt = 0, 1, 0

    def run(self) -> Grown:
        """Add terms until one of the limits holds."""
        return self._grown(self._add_terms())

    def _add_terms(self) -> int:
        s, total = self._settings, float(self._null_rss.sum())
        if self._most_pairs == 0 or self._n < 2:
            return NO_ROOM
        if self._is_constant.all():
            return NO_TERM
        queue, drop, n_terms = Parents(total, s.fast_k, s.fast_beta), total, 1
        null = gcv_of(total, self._n, 1, s.penalty)
        while True:
            before = float(self._basis.rss.sum())
            found = self._best(queue, min(1.01 * before, 10.0 * drop))
            if found is None:
                return NO_TERM
            gain, what, slot, c, place = found
            rss, size = max(0.0, before - gain), n_terms + (2 if what == scan.PAIR else 1)
            if s.threshold != 0 and gain < s.threshold * total:
                return SMALL_GAIN
            if s.threshold != 0 and 1.0 - gcv_of(rss, self._n, size, s.penalty) / null < _WORST_GRSQ:
                return LOW_GRSQ
            at = len(self._slots)
            n_added = self._add(slot, c, what, place)
            if n_added == 0:
                return NO_TERM
            queue.add(n_added, at)
            n_terms, drop = size, gain
            self._check_drift(before - gain, total)
            if float(self._basis.rss.sum()) <= s.threshold * total:
                return HIGH_RSQ
            if len(self._slots) >= s.max_terms - 1:
                return ALL_TERMS

    def _best(self, queue: Parents, most: float) -> Any:
        """Return gain, kind, parent's slot, predictor and place of the best candidate."""
        looked: list[tuple[int, int]] = []
        items: list[list[int]] = []
        shares: list[float] = []
        owners: list[tuple[int, int]] = []
        for slot in queue.next():
            parent = self._slots[slot] if slot < len(self._slots) else None
            if slot in self._void:
                queue.looked_at(slot, 0.0, len(self._slots))
            if parent is None or parent.row < 0:
                continue
            looked.append((slot, len(items)))
            for c, predictor in enumerate(self._predictors.each):
                if self._may_follow(parent, predictor):
                    items.append(self._item(parent, slot, c))
                    owners.append((slot, c))
                    is_new = (predictor.feature, predictor.level) not in self._used
                    shares.append(1.0 / (1.0 + self._settings.newvar_penalty * is_new))
            self._seen[parent.row] = self._basis.n_pairs
        if not items:
            return None
        found = self._scan(np.array(items, np.int64), np.array(shares), most)
        best, value = -1, 0.0
        self._last_was_pair = False
        ends = [start for _, start in looked[1:]] + [len(items)]
        for (slot, start), end in zip(looked, ends, strict=True):
            before = best
            for k in range(start, end):
                if found[k, 0] > value * (1.0 + scan.CLOSER):
                    value, best = found[k, 0], k
                    if found[k, 1] >= scan.PAIR:
                        self._last_was_pair = bool(found[k, 1] == scan.PAIR)
            if best != before:  # what a new column paid is given back, and the parents to come have to beat that
                value /= shares[best]
            queue.looked_at(slot, float(found[start:end, 0].max(initial=-1.0)), len(self._slots))
        if best < 0:
            return None
        return value, int(found[best, 1]), *owners[best], int(found[best, 2])

    def _may_follow(self, parent: _Slot, predictor: Predictor) -> bool:
        if not parent.predictors:
            return True
        if predictor.feature in parent.predictors or not _LEAST < parent.scale * predictor.scale < _MOST:
            return False  # their product would leave float64
        return self._may_join(parent.predictors, predictor.feature)

    def _item(self, parent: _Slot, slot: int, c: int) -> list[int]:
        kind, row = self._predictors.each[c].kind, parent.row
        spans = self._spans.get(row)
        if spans is None:
            n_positive = int((self._columns.parents[row] > 0).sum())
            spans = (
                spans_of(self._n, self._predictors.n_columns, len(parent.factors) + 1, n_positive, self._settings),
                n_positive,
            )
            self._spans[row] = spans
        span, n_positive = spans
        if self._first[row, c] < 0:
            if kind == scan.ONLY_LEVELS:
                predictor = self._predictors.each[c]
                room = max(1, self._predictors.table.n_levels(predictor.feature))
            else:
                room = 2 + (0 if kind == scan.ONLY_LINE else max(0, n_positive - span.start) // span.gap)
            self._first[row, c] = self._n_entries
            self._n_entries += room
            self._most_entries = max(self._most_entries, room)
        cell = row * len(self._predictors.each) + c
        return [row, c, cell, int(self._first[row, c]), int(self._seen[row]), *span, kind]

    def _scan(self, items: NDArray[np.int64], shares: NDArray[np.float64], most: float) -> NDArray[np.float64]:
        self._make_room()
        n_outputs, n_pairs = self._columns.targets.shape[1], self._basis.n_pairs
        workers = self._workers if self._n * len(items) >= _PARALLEL_CELLS else 1
        at = len(self._slots)
        tolerance = np.array([_EARLY if slot < _EARLY_SLOTS else _LATE for slot in (at, at + 1)])
        if not self._columns.is_unit:  # as R's earth, which fits every candidate anew where there are weights
            tolerance, most = np.full(2, _WEIGHTED), math.inf
        found = np.empty((len(items), 3))
        task = Scan(
            self._columns, self._kept, items, shares, n_pairs, tolerance, most, found,
            per_worker(workers, (self._most_entries, 2)), per_worker(workers, (2, n_outputs)), np.zeros(1, np.int64),
        )  # fmt: skip
        steps = self._n * int((n_pairs - items[:, scan.SEEN]).sum())
        launch_beside_heeding(task, min(workers, len(items)), steps, steps=steps)
        return found

    def _make_room(self) -> None:
        have = len(self._kept.numbers)
        if self._n_entries <= have:
            return
        room = self._n_entries if have == 0 else max(self._n_entries, have + have // 2)
        numbers, places = np.empty((room, self._kept.numbers.shape[1])), np.zeros(room + 1, np.int32)
        numbers[:have], places[: have + 1] = self._kept.numbers, self._kept.places
        self._kept = self._kept._replace(numbers=numbers, places=places)

    def _add(self, slot: int, c: int, what: int, place: int) -> int:
        """Add the terms of a candidate; return how many."""
        parent, predictor = self._slots[slot], self._predictors.each[c]
        assert parent is not None
        value, k = float(self._predictors.values[c, place]), self._basis.n_pairs
        self._used.add((predictor.feature, predictor.level))
        above, column = self._columns.parents[parent.row], self._predictors.column(c, value)
        if predictor.kind == scan.ONLY_LEVELS:
            made: list[Any] = [
                (Factor(predictor.feature, predictor.level, value if predictor.level == OF_LEVEL else 0.0), column),
                None,
            ]
        elif what == scan.LINEAR and (self._settings.auto_linear or predictor.is_line):
            made = [(Factor(predictor.feature, STRAIGHT, 0.0), column), None]
        else:
            knot = float(self._predictors.table.column(predictor.feature)[self._predictors.order[c, place]])
            made = [(Factor(predictor.feature, UP, knot), np.maximum(column - value, 0.0))]
            made.append(
                (Factor(predictor.feature, DOWN, knot), np.maximum(value - column, 0.0)) if what == scan.PAIR else None
            )
        columns = [None if one is None else above * one[1] for one in made]
        is_line = made[0][0].direction == STRAIGHT
        least = float(self._predictors.values[c, 0])
        first = above * (column - least) if is_line else columns[0]
        is_new = self._basis.add(first, columns[1])
        if is_line:  # the basis was given what is left of the line beside its parent
            self._basis.made_of[:, 2 * k + 1] += least * self._basis.made_of[:, parent.column]
        self._columns.of_targets[k] = self._basis.of_targets[2 * k + 1 : 2 * k + 3]
        for side, one in enumerate(made):
            if one is None or not is_new[side]:
                self._slots.append(None)
                continue
            row = -1
            if len(parent.factors) + 1 < self._settings.max_degree:
                row, self._n_parents = self._n_parents, self._n_parents + 1
                self._columns.parents[row] = columns[side]
            features = parent.predictors | {predictor.feature}
            scale = parent.scale * predictor.scale
            self._slots.append(_Slot([*parent.factors, one[0]], features, row, 2 * k + 1 + side, scale))
        n_made = sum(one is not None for one in made) if is_new.any() else 0
        if what == scan.LINEAR and not is_line and self._last_was_pair and predictor.kind != scan.ONLY_LEVELS:
            # The hinge on the other side of the least value is nothing. It waits in the queue all the same.
            self._void.add(len(self._slots) - 1)
            return 2
        return n_made

    def _check_drift(self, foretold: float, total: float) -> None:
        """Where a gain was not what was foretold, what is kept of knots has drifted: make it anew."""
        if abs(float(self._basis.rss.sum()) - foretold) > _DRIFT * total:
            self._seen[:] = -1
            self._n_rebuilt += 1

    def _grown(self, ended: int) -> Grown:
        slots = [slot for slot in self._slots if slot is not None]
        at = [slot.column for slot in slots]
        rss, null = (np.where(self._is_constant, 0.0, squares) for squares in (self._basis.rss, self._null_rss))
        return Grown(
            [slot.factors for slot in slots], self._basis.made_of[np.ix_(at, at)], self._basis.of_targets[at],
            rss, null, np.array([slot.scale for slot in slots]), ended, self._n, self._n_rebuilt,
        )  # fmt: skip
