"""A tree of a stream, from blocks of rows to Trees: room for nodes, levels and classes that come later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.growth.hoeffding import stream as st
from dtnumba.growth.hoeffding.answer import SAY_ADAPTIVE, SAY_BAYES, SAY_MAJORITY
from dtnumba.growth.hoeffding.answer_many import answer_many
from dtnumba.growth.hoeffding.drift import Windows
from dtnumba.growth.hoeffding.learn import Learning, learn_rows
from dtnumba.growth.hoeffding.stream import Stream, bytes_of_node, bytes_of_slot
from dtnumba.runtime.addresses import call_entry, code_for
from dtnumba.trees.layout import LEAF, NO_MAP, Trees, starts_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

WAYS = {"majority": SAY_MAJORITY, "naive_bayes": SAY_BAYES, "adaptive": SAY_ADAPTIVE}
DEEPEST = 1000  # of a tree whose depth nothing limits
_DRIFT_DELTA = 0.002
_SHARE_OF_SLOTS = 7 / 8  # of the memory; the rest is for nodes
_BY_SLOT = ("n_points", "point", "mass", "moments", "level_mass", "owner")
_MOST_SLOTS, _LEAST_NODES = 1 << 16, 64


class StreamOptions(NamedTuple):
    """How a tree follows a stream."""

    delta: float = 1e-7
    tie_threshold: float = 0.05
    grace_period: float = 200.0
    reconsider: bool = True
    max_depth: int = DEEPEST
    answers: str = "adaptive"
    drift: str = "ignored"
    max_bytes: int = 1 << 26


class StreamTree:
    """A tree that sees every row once.

    Parameters
    ----------
    n_levels : array of int
        For each column how many levels it has, 0 of one of numbers.
    n_classes : int
        0: targets are numbers.
    criterion : criterion
        What a split gains.
    options : StreamOptions
        The rest.

    """

    def __init__(self, n_levels: NDArray[np.int64], n_classes: int, criterion: Any, options: StreamOptions) -> None:
        self.criterion, self.options, self.n_classes = criterion, options, n_classes
        self.n_levels = np.asarray(n_levels, np.int64)
        n_sums = n_classes or 3
        n_slots = self.most_slots(options, self.n_levels, n_classes)
        self.stream = Stream.new(256, n_slots, n_sums, n_classes, self.n_levels)
        self.windows = Windows.new(self._n_windows(n_slots))
        slot = int(self.stream.free[n_slots - 1])
        self.stream.link[0, st.SEEN_AT], self.stream.owner[slot] = slot, 0
        self.stream.used[st.N_FREE] -= 1
        self.drifts: list[int] = []
        self.n_seen = 0

    @staticmethod
    def most_slots(options: StreamOptions, n_levels: NDArray[np.int64], n_classes: int) -> int:
        """Return for how many nodes there may be statistics."""
        sizes = int((n_levels == 0).sum()), int(n_levels.sum()), n_classes or 3, n_classes
        each = bytes_of_slot(*sizes, watched=options.drift == "handled")
        return min(max(int(options.max_bytes * _SHARE_OF_SLOTS) // int(each), 1), _MOST_SLOTS)

    def _n_windows(self, n_slots: int) -> int:
        """Return how many windows there are: one for each slot, and the last for the tree."""
        return {"ignored": 0, "shown": 1, "handled": n_slots + 1}[self.options.drift]

    @property
    def n_idle(self) -> int:
        """How many leaves have no statistics, for want of memory, and do not split."""
        order = self._order()
        is_leaf = self.stream.link[order, st.FEATURE] < 0
        return int(np.count_nonzero(is_leaf & (self.stream.link[order, st.SEEN_AT] < 0)))

    def learn(
        self, X: NDArray[np.float64], y: NDArray[np.float64], weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """Learn rows in their order; return what each lost before it was learned (wrong: 1; or the squared error)."""
        n, errors = len(X), np.zeros(len(X))
        n_sums, done = self.stream.sums.shape[1], 0
        options = self.options
        depth = min(options.max_depth, DEEPEST)
        max_nodes = max(int(options.max_bytes * (1.0 - _SHARE_OF_SLOTS)) // bytes_of_node(n_sums), _LEAST_NODES)
        drifted = np.zeros(0 if options.drift == "ignored" else n, np.uint8)
        while done < n:
            learning = Learning(
                stream=self.stream,
                criterion=self.criterion,
                X=X,
                y=y,
                weight=np.empty(0) if weight is None else weight,
                row_sums=np.zeros(n_sums),
                scratch=np.zeros((3, n_sums)),
                tests=np.zeros(5),
                joint=np.zeros(max(self.n_classes, 1)),
                path=np.zeros(depth + 2, np.int64),
                errors=errors,
                windows=self.windows,
                drift_delta=_DRIFT_DELTA if options.drift == "handled" else 0.0,
                watch_delta=_DRIFT_DELTA,
                delta=options.delta,
                tie_threshold=options.tie_threshold,
                grace_period=options.grace_period,
                reconsiders=int(options.reconsider),
                max_depth=depth,
                max_nodes=max_nodes,
                drifted=drifted,
                way=WAYS[options.answers] if self.n_classes else SAY_MAJORITY,
            )
            learned = call_entry(code_for(learn_rows, learning), done, n, 0)
            done += learned
            if done < n or self.stream.used[st.IS_CLOGGED]:
                self._make_room(max_nodes)
        self.drifts += (self.n_seen + np.flatnonzero(drifted)).tolist()
        self.n_seen += n
        return errors

    def shares(self, X: NDArray[np.float64], workers: int = 1) -> NDArray[np.float64]:
        """Return the share of each class, in the order in which classes were met, that the tree gives rows."""
        out = np.empty((len(X), self.n_classes))
        answer_many(self.stream, X, WAYS[self.options.answers], out, workers)
        return out

    def bayes_leaves(self) -> NDArray[np.int64]:
        """Return the leaves that answer by naive Bayes, by their numbers in ``trees``."""
        if not self.n_classes:
            return np.empty(0, np.int64)
        order, way = self._order(), WAYS[self.options.answers]
        link, number = self.stream.link[order], self.stream.number[order]
        is_bayes = (link[:, st.FEATURE] < 0) & (link[:, st.SEEN_AT] >= 0) & (way != SAY_MAJORITY)
        if way != SAY_BAYES:
            is_bayes &= number[:, st.BY_BAYES] > number[:, st.BY_MAJORITY]
        return np.flatnonzero(is_bayes)

    def frozen(self) -> Stream:
        """Return what answers rows, as it is now, without room for more."""
        stream, m = self.stream, int(self.stream.used[st.NEXT_NODE])
        used = np.flatnonzero(stream.owner >= 0)
        parts = {name: getattr(stream, name)[used] for name in _BY_SLOT}
        parts |= {name: getattr(stream, name)[:m].copy() for name in ("link", "number", "sums")}
        parts["link"][parts["owner"], st.SEEN_AT] = np.arange(len(used))
        frozen: Stream = stream._replace(**parts, free=stream.free[:0].copy(), used=stream.used.copy())
        return frozen

    def _make_room(self, max_nodes: int) -> None:
        """Leave out nodes that nobody has any more, and see to room for as many again, as far as memory has it."""
        stream = self._kept()
        m = int(stream.used[st.NEXT_NODE])
        most = max(2, int(self.n_levels.max(initial=0)))
        room = min(2 * m, max(max_nodes, m)) + most * (min(self.options.max_depth, DEEPEST) + 2)
        grown: dict[str, Any] = {}
        for name in ("link", "number", "sums"):
            old = getattr(stream, name)[:m]
            new = np.zeros((room, *old.shape[1:]), old.dtype)
            new[:m] = old
            grown[name] = new
        self.stream = stream._replace(**grown)

    def _order(self) -> NDArray[np.int64]:
        """Return the nodes in the order in which Trees number them: children at their parent, left subtrees first."""
        link, order, stack = self.stream.link, [0], [0]
        while stack:
            node = stack.pop()
            if link[node, st.FEATURE] >= 0:
                first = int(link[node, st.LEFT])
                children = list(range(first, first + int(link[node, st.N_BRANCHES])))
                order += children
                stack += reversed(children)
        return np.array(order, np.int64)

    def _kept(self) -> Stream:
        stream, order = self.stream, self._order()
        number = np.zeros(len(stream.link), np.int64)
        number[order] = np.arange(len(order))
        link = stream.link[order]
        inner = link[:, st.FEATURE] >= 0
        link[inner, st.LEFT] = number[link[inner, st.LEFT]]
        used = stream.used.copy()
        used[st.NEXT_NODE], used[st.N_CLEARED] = len(order), used[st.N_REPLACED]
        used[st.IS_CLOGGED] = 0
        owner = np.full(len(stream.owner), -1, np.int32)
        has_slot = np.flatnonzero(link[:, st.SEEN_AT] >= 0)
        owner[link[has_slot, st.SEEN_AT]] = has_slot
        kept: Stream = stream._replace(
            link=link, number=stream.number[order], sums=stream.sums[order], used=used, owner=owner
        )
        return kept

    def widen(self, n_levels: NDArray[np.int64], n_classes: int) -> None:
        """Count levels and classes that come later: numbers of those known stay."""
        n_levels = np.asarray(n_levels, np.int64)
        if n_classes == self.n_classes and (n_levels == self.n_levels).all():
            return
        old, n_sums = self.stream, n_classes or 3
        n_slots = self.most_slots(self.options, n_levels, n_classes)
        new = Stream.new(len(old.link), n_slots, n_sums, n_classes, n_levels)
        k, kept = old.sums.shape[1], self._slots_kept(n_slots)
        own = np.arange(len(kept))
        new.link[:], new.number[:], new.sums[:, :k] = old.link, old.number, old.sums
        new.n_points[own], new.point[own], new.mass[own, ..., :k] = old.n_points[kept], old.point[kept], old.mass[kept]
        new.moments[own, :, : self.n_classes] = old.moments[kept]
        for j in np.flatnonzero(self.n_levels):
            first, before, m = int(new.columns.place[j]), int(old.columns.place[j]), int(self.n_levels[j])
            new.level_mass[own, first : first + m, :k] = old.level_mass[kept, before : before + m]
        # Nodes that have to give up their statistics for those of more classes do so by the same rule.
        new.link[:, st.SEEN_AT] = st.NO_SLOT
        new.link[old.owner[kept], st.SEEN_AT], new.owner[own] = own, old.owner[kept]
        new.free[: n_slots - len(kept)] = np.arange(n_slots - 1, len(kept) - 1, -1)
        new.used[:] = old.used
        new.used[st.N_FREE] = n_slots - len(kept)
        windows = Windows.new(self._n_windows(n_slots))
        if self.options.drift != "ignored":
            rows = np.append(kept, -1) if self.options.drift == "handled" else np.array([-1])
            to = np.append(own, -1) if self.options.drift == "handled" else np.array([-1])
            for part, before in zip(windows, self.windows, strict=True):
                part[to] = before[rows]
        self.stream, self.windows, self.n_levels, self.n_classes = new, windows, n_levels, n_classes

    def _slots_kept(self, n: int) -> NDArray[np.int64]:
        """Return the slots in use, the n most promising ones where they are more."""
        owner = self.stream.owner
        used = np.flatnonzero(owner >= 0)
        if len(used) > n:
            sums, number, link = (getattr(self.stream, name)[owner[used]] for name in ("sums", "number", "link"))
            promise = np.array([self._lost(one) for one in sums])
            is_inner = link[:, st.FEATURE] >= 0
            promise[is_inner] = -1.0 / (1.0 + number[is_inner, st.SEEN_WEIGHT])
            used = used[np.lexsort((owner[used], -promise))[:n]]
        return np.sort(used)

    def _lost(self, sums: NDArray[np.float64]) -> float:
        """Return what rows of these sums lose by the answer of their leaf."""
        if self.n_classes:
            return float(sums.sum() - sums.max())
        return float(sums[2] - sums[1] * sums[1] / sums[0]) if sums[0] > 0 else 0.0

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the statistics that nodes have, and not the room for those of more."""
        stream, used = self.stream, np.flatnonzero(self.stream.owner >= 0)
        parts = {name: getattr(stream, name)[used] for name in _BY_SLOT}
        m = int(stream.used[st.NEXT_NODE])
        parts |= {name: getattr(stream, name)[:m] for name in ("link", "number", "sums")}
        at = np.append(used, -1) if self.options.drift == "handled" else slice(None)
        windows = [part[at] for part in self.windows]
        own = vars(self) | {"stream": None, "windows": None}
        sizes = len(stream.link), len(stream.owner)
        return {"own": own, "parts": parts, "slots": used, "windows": windows, "used": stream.used, "sizes": sizes}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take what was pickled, and make room for more."""
        vars(self).update(state["own"])
        parts, slots, (n_nodes, n_slots) = state["parts"], state["slots"], state["sizes"]
        stream = Stream.new(n_nodes, n_slots, self.n_classes or 3, self.n_classes, self.n_levels)
        for name in _BY_SLOT:
            getattr(stream, name)[slots] = parts[name]
        for name in ("link", "number", "sums"):
            getattr(stream, name)[: len(parts[name])] = parts[name]
        free = np.setdiff1d(np.arange(n_slots), slots)[::-1]
        stream.free[: len(free)] = free
        stream.used[:] = state["used"]
        self.windows = Windows.new(self._n_windows(n_slots))
        at = np.append(slots, -1) if self.options.drift == "handled" else slice(None)
        for part, before in zip(self.windows, state["windows"], strict=True):
            part[at] = before
        self.stream = stream

    def trees(self, places: list[NDArray[np.int64] | None] | None = None, classes: Any = None) -> Trees:
        """Return the tree as Trees.

        ``places`` says of each column of levels which level each number is, ``classes`` which class each number is.
        """
        stream, order = self.stream, self._order()
        number = np.zeros(len(stream.link), np.int64)
        number[order] = np.arange(len(order))
        link, sums, m = stream.link[order], stream.sums[order], len(order)
        inner = link[:, st.FEATURE] >= 0
        left = np.where(inner, number[np.maximum(link[:, st.LEFT], 0)], LEAF).astype(np.int32)
        right = np.where(inner, left + link[:, st.N_BRANCHES] - 1, LEAF).astype(np.int32)
        feature = np.where(inner, link[:, st.FEATURE], LEAF).astype(np.int32)
        has_map = inner & (self.n_levels[np.maximum(feature, 0)] > 0)
        missing = np.where(has_map, link[:, st.MISSING_BRANCH], link[:, st.MISSING_BRANCH] == 0)
        maps, lengths = [], np.zeros(m, np.int64)
        for i in np.flatnonzero(has_map):
            n, place = int(link[i, st.N_BRANCHES]), None if places is None else places[int(feature[i])]
            branch = np.arange(n, dtype=np.int32)
            if place is not None:
                branch = np.full(int(place.max()) + 1, -1, np.int32)
                branch[place[:n]] = np.arange(n)
            maps.append(branch)
            lengths[i] = len(branch)
        if self.n_classes:
            if classes is not None:
                ordered = np.zeros((m, int(np.max(classes)) + 1))
                ordered[:, classes] = sums
                sums = ordered
            weight = sums.sum(axis=1)
            value = np.divide(
                sums, weight[:, None], out=np.full(sums.shape, 1.0 / sums.shape[1]), where=weight[:, None] > 0
            )
            impurity = np.array(
                [self.criterion.impurity(s, w) if w > 0 else 0.0 for s, w in zip(sums, weight, strict=True)]
            )
        else:
            weight = sums[:, 0]
            mean = np.divide(sums[:, 1], weight, out=np.zeros(m), where=weight > 0)
            value, impurity = mean[:, None], np.zeros(m)
            np.divide(sums[:, 2], weight, out=impurity, where=weight > 0)
            impurity = np.maximum(impurity - mean * mean, 0.0)
        threshold = np.where(inner & ~has_map, stream.number[order, st.THRESHOLD], np.nan)
        return Trees(
            np.array([0, m], np.int64),
            feature,
            threshold,
            left,
            right,
            np.where(inner, missing, 0).astype(np.uint8),
            value,
            starts_of(lengths),
            np.concatenate(maps) if maps else np.empty(0, np.int32),
            NO_MAP,
            np.empty(0),
            np.rint(weight).astype(np.int64),
            weight,
            impurity,
            np.where(inner, stream.number[order, st.BEST_GAIN], 0.0),
        )
