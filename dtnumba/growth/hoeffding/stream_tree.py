"""A tree of a stream, from blocks of rows to Trees: room for nodes, levels and classes that come later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.growth.hoeffding import stream as st
from dtnumba.growth.hoeffding.answer import SAY_ADAPTIVE, SAY_BAYES, SAY_MAJORITY, answer_rows
from dtnumba.growth.hoeffding.drift import Windows
from dtnumba.growth.hoeffding.learn import Learning, learn_rows
from dtnumba.growth.hoeffding.stream import Stream
from dtnumba.runtime.addresses import call_entry, code_for
from dtnumba.trees.layout import LEAF, NO_MAP, Trees, starts_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

WAYS = {"majority": SAY_MAJORITY, "naive_bayes": SAY_BAYES, "adaptive": SAY_ADAPTIVE}
_DEEPEST = 1000  # of a tree whose depth nothing limits


class StreamOptions(NamedTuple):
    """How a tree follows a stream."""

    delta: float = 1e-7
    tie_threshold: float = 0.05
    grace_period: float = 200.0
    reconsider: bool = True
    max_depth: int = _DEEPEST
    answers: str = "adaptive"
    drift_delta: float = 0.0
    max_slots: int = 1024


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
        self.stream = Stream.new(256, options.max_slots, n_sums, n_classes, self.n_levels)
        self.windows = Windows.new(options.max_slots if options.drift_delta > 0.0 else 0)
        self.stream.link[0, st.SEEN_AT] = self.stream.free[options.max_slots - 1]
        self.stream.used[st.N_FREE] -= 1
        self.drifts: list[int] = []
        self.n_seen = 0

    def learn(
        self, X: NDArray[np.float64], y: NDArray[np.float64], weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """Learn rows in their order; return what each lost before it was learned (wrong: 1; or the squared error)."""
        n, errors = len(X), np.zeros(len(X))
        n_sums, done = self.stream.sums.shape[1], 0
        options = self.options
        depth = min(options.max_depth, _DEEPEST)
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
                drift_delta=options.drift_delta,
                delta=options.delta,
                tie_threshold=options.tie_threshold,
                grace_period=options.grace_period,
                reconsiders=int(options.reconsider),
                max_depth=depth,
                way=WAYS[options.answers] if self.n_classes else SAY_MAJORITY,
            )
            learned = call_entry(code_for(learn_rows, learning), done, n, 0)
            done += learned
            if done < n:
                self._make_room()
        self.n_seen += n
        return errors

    def shares(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the share of each class, in the order in which classes were met, that the tree gives rows."""
        out = np.empty((len(X), self.n_classes))
        answer_rows(self.stream, X, WAYS[self.options.answers], out)
        return out

    def _make_room(self) -> None:
        """Leave out nodes that nobody has any more, and see to room for as many again."""
        stream = self._kept()
        m = int(stream.used[st.NEXT_NODE])
        most = max(2, int(self.n_levels.max(initial=0)))
        room = 2 * m + most * (min(self.options.max_depth, _DEEPEST) + 2)
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
        used[st.NEXT_NODE] = len(order)
        kept: Stream = stream._replace(link=link, number=stream.number[order], sums=stream.sums[order], used=used)
        return kept

    def widen(self, n_levels: NDArray[np.int64], n_classes: int) -> None:
        """Count levels and classes that come later: numbers of those known stay."""
        n_levels = np.asarray(n_levels, np.int64)
        if n_classes == self.n_classes and (n_levels == self.n_levels).all():
            return
        old, n_sums = self.stream, n_classes or 3
        new = Stream.new(len(old.link), len(old.n_points), n_sums, n_classes, n_levels)
        k = old.sums.shape[1]
        new.link[:], new.number[:], new.sums[:, :k] = old.link, old.number, old.sums
        new.n_points[:], new.point[:], new.mass[..., :k] = old.n_points, old.point, old.mass
        new.moments[:, :, : self.n_classes] = old.moments
        for j in np.flatnonzero(self.n_levels):
            first, before, m = int(new.columns.place[j]), int(old.columns.place[j]), int(self.n_levels[j])
            new.level_mass[:, first : first + m, :k] = old.level_mass[:, before : before + m]
        new.free[:], new.used[:] = old.free, old.used
        self.stream, self.n_levels, self.n_classes = new, n_levels, n_classes

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
