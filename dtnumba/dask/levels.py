# mypy: ignore-errors
"""The nodes of trees whose rows lie in parts: what one place knows of them, and what it asks of the parts.

Trees of a block grow level by level. Each part divides the rows of the nodes that were split, and fills the tables of
their children; tables are added up, and here the local code picks the splits. A node of few rows is left to those who
bring its rows together (GATHERED).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dtnumba.growth import columns as col
from dtnumba.growth.binary.grow_in_parallel import numbers_of
from dtnumba.growth.binary.grow_subtree import LikeOthers, add_node, new_scratch
from dtnumba.growth.forest.summed_tables import FindSplits, SummedCategories, SummedCuts, SummedTables
from dtnumba.growth.nodes import Growing, Job, Subtree, SubtreeKernels
from dtnumba.growth.policies.interactions import feature_policy
from dtnumba.growth.policies.limits import limits_of
from dtnumba.growth.splitters.candidates import NOTHING
from dtnumba.growth.splitters.histogram import DrawnHistogram, Histogram
from dtnumba.growth.splitters.random_histogram import RandomBins
from dtnumba.growth.targets.contract import n_kept_of
from dtnumba.growth.targets.regression import OneNumber
from dtnumba.runtime import rng
from dtnumba.runtime.addresses import codes_for, compile_entries, entry_of
from dtnumba.runtime.records import worker_part
from dtnumba.runtime.tasks import launch_beside

GATHERED = -3  # in the column FEATURE: the rows of the node are brought together
_FEW = 512  # rows that scratch is made for; nobody sorts any here, but there is room for the codes of a feature
# A node of so few rows is brought together whatever that costs, where there are categories or drawn cuts: of two rows
# the first feature that parts them is taken, for which rows are looked at.
_FEWEST = 64


class Wanted(NamedTuple):
    """What one tree asks of every part: first nodes to be divided, then tables to be filled."""

    tree: int
    nodes: np.ndarray  # (d,) int64: nodes that have a split; their children are ``left`` and the one behind it
    left: np.ndarray  # (d,) int64
    tested: np.ndarray  # (d,) int64: the feature of each
    sides: np.ndarray  # (d, n_bins) uint8: which of its codes go left
    filled: np.ndarray  # (k,) int64: nodes whose tables are wanted
    features: np.ndarray  # (k, n_drawn) int64


class Prices(NamedTuple):
    """What decides which nodes are gathered, which changes no bit."""

    most_rows: int  # of a node that is gathered
    row_bytes: int
    table_bytes: int  # of the tables of a node, from all parts


class Answer(NamedTuple):
    """What a part, or several together, answer."""

    n_left: np.ndarray  # (d,) int64: rows that go left
    tables: np.ndarray  # (k * n_drawn * cells,) int64
    sums: np.ndarray  # of all rows of the tree, where it begins; else empty
    n_rows: int  # likewise
    ends: np.ndarray  # (2, k, m): smallest and largest targets of each node, where these are numbers; else m is 0


def added(one: list[Answer], other: list[Answer]) -> list[Answer]:
    """Return the answers of two sets of parts as those of both together."""
    return [
        Answer(
            a.n_left + b.n_left,
            a.tables + b.tables,
            a.sums + b.sums,
            a.n_rows + b.n_rows,
            np.stack([np.minimum(a.ends[0], b.ends[0]), np.maximum(a.ends[1], b.ends[1])]),
        )
        for a, b in zip(one, other, strict=True)
    ]


class TreeInParts:
    """A tree as one place knows it.

    Parameters
    ----------
    plan : ForestPlan
        Of the forest, without rows.
    tree : int
        Its number.
    prices : Prices
        What it costs to bring rows together, and to add tables up.
    by_rows : bool
        Whether inner nodes of numbers are described by their rows, as those of one tree are, and not by their children.

    """

    def __init__(self, plan: Any, tree: int, prices: Prices, by_rows: bool = False) -> None:
        self.plan, self.tree, self.prices, self.by_rows = plan, tree, prices, by_rows
        self.seed = rng.seed_of_tree(plan.settings.seed, tree)
        self.growing = _room_for(plan, 64)
        self.n_nodes, self.n_rows, self.total, self.n_tables = 1, 0, 0.0, 0
        self.growing.keys[0] = rng.ROOT_KEY
        self._waiting: list[int] = [0]  # nodes whose tables are asked for
        self._divided: list[int] = []  # nodes that have a split, and whose rows are not divided yet
        self._all: set[int] = set()  # nodes that ask for the tables of all features
        self._left: dict[int, np.ndarray] = {}  # of nodes that test a category, which codes go left
        self._fewest = 0 if isinstance(plan.splitter, DrawnHistogram | Histogram) else _FEWEST

    @property
    def is_done(self) -> bool:
        """Whether every node is a leaf, split or gathered."""
        return not self._waiting and not self._divided

    @property
    def gathered(self) -> list[int]:
        """The nodes whose rows are to be brought together."""
        return self._of_kind(GATHERED)

    @property
    def leaves_by_rows(self) -> list[int]:
        """The leaves of which rows say more than sums do: those of numbers; and so inner nodes."""
        if not hasattr(self.plan.target, "describe_inner"):
            return []
        return [node for node in range(self.n_nodes) if self._is_described(int(self.growing.nodes[node, col.FEATURE]))]

    def _is_described(self, feature: int) -> bool:
        return feature == col.LEAF or (self.by_rows and feature >= 0)

    def rows_of(self, node: int) -> int:
        """Return how many rows a node has."""
        return int(self.growing.nodes[node, col.STOP])

    def _of_kind(self, kind: int) -> list[int]:
        return [int(k) for k in np.flatnonzero(self.growing.nodes[: self.n_nodes, col.FEATURE] == kind)]

    def wanted(self) -> Wanted:
        """Return what is asked of the parts next."""
        nodes, divided = self.growing.nodes, np.array(self._divided, np.int64)
        tested = nodes[divided, col.FEATURE].astype(np.int64)
        sides = np.array([self._side(node) for node in self._divided], np.uint8).reshape(len(divided), self._n_bins)
        features = [self._features(node) for node in self._waiting]
        table = np.full((len(features), max(map(len, features), default=0)), -1, np.int64)
        for row, own in zip(table, features, strict=True):
            row[: len(own)] = own
        left = nodes[divided, col.LEFT].astype(np.int64)
        return Wanted(self.tree, divided, left, tested, sides, np.array(self._waiting, np.int64), table)

    @property
    def _n_bins(self) -> int:
        return n_bins_of(self.plan.splitter)

    def _side(self, node: int) -> np.ndarray:
        """Return which codes go left at a node."""
        if node in self._left:
            return self._left[node]
        feature, last_left, missing_left = self.growing.nodes[node][[col.FEATURE, col.LAST_LEFT, col.MISSING_LEFT]]
        side = (np.arange(self._n_bins) <= last_left).astype(np.uint8)
        side[numbers_of(self.plan.splitter).n_codes[feature]] = missing_left
        return side

    def levels_left(self) -> dict[int, np.ndarray]:
        """Return the categories that go left, of the nodes that test one."""
        nodes, n_levels = self.growing.nodes, getattr(self.plan.splitter, "n_levels", ())
        return {
            node: np.flatnonzero(side[: n_levels[nodes[node, col.FEATURE]]])
            for node, side in self._left.items()
            if nodes[node, col.FIRST_RIGHT] != NOTHING
        }

    def _features(self, node: int) -> list[int]:
        """Return the features that a node draws first, in their order; or all."""
        p, n_drawn, features = self.plan.n_features, self.plan.settings.n_drawn, list(range(self.plan.n_features))
        if node in self._all or n_drawn >= p:
            return features
        stream = rng.mix_all(self._features_key, self.growing.keys[node])[0]
        for i, bits in enumerate(rng.mix_all(stream, np.arange(n_drawn)).tolist()):
            j = i + (((bits >> 32) * (p - i)) >> 32)
            features[i], features[j] = features[j], features[i]
        return features[:n_drawn]

    @property
    def _features_key(self) -> Any:
        return rng.stream(self.seed, rng.FEATURES)

    def take(self, wanted: Wanted, told: Answer) -> None:
        """Take in what the parts told, and pick the splits of the nodes whose tables are there."""
        growing, nodes = self.growing, self.growing.nodes
        if len(told.sums):
            self.n_rows, self.total = told.n_rows, self._weight(told.sums)
            self._add(0, self.n_rows, 0, told.sums)
            self._gather_few(0)
        for node, n_left in zip(wanted.nodes.tolist(), told.n_left.tolist(), strict=True):
            left, n, depth = (int(nodes[node, one]) for one in (col.LEFT, col.STOP, col.DEPTH))
            for side, n_side in ((0, n_left), (1, n - n_left)):
                self._add(left + side, n_side, depth + 1, growing.sums[left + side, 0].copy())
                if nodes[left + side, col.FEATURE] == col.OPEN and left + side not in self._waiting:
                    nodes[left + side, col.FEATURE] = GATHERED
                self._gather_few(left + side)
        places = {node: k for k, node in enumerate(wanted.filled.tolist())}
        self.n_tables += wanted.features.size
        lowest, highest = told.ends
        for node, k in places.items() if lowest.shape[1] else ():
            if nodes[node, col.FEATURE] == col.OPEN and (lowest[k] == highest[k]).all():
                nodes[node, col.FEATURE] = col.LEAF
        open_ones = [node for node in places if nodes[node, col.FEATURE] == col.OPEN]
        self._all = self._find_splits(wanted, told, open_ones, [places[node] for node in open_ones])
        self._divided = [node for node in open_ones if nodes[node, col.FEATURE] >= 0 and node not in self._all]
        self._waiting = sorted(self._all)
        for node in self._waiting:
            nodes[node, col.FEATURE] = col.OPEN
        for node in self._divided:
            self._foresee_children(node)

    def _gather_few(self, node: int) -> None:
        nodes = self.growing.nodes
        if nodes[node, col.FEATURE] == col.OPEN and nodes[node, col.STOP] <= self._fewest:
            nodes[node, col.FEATURE] = GATHERED

    def _add(self, node: int, n: int, depth: int, sums: np.ndarray) -> None:
        growing = self.growing
        add_node(growing, self._limits(), node, 0, n, depth, growing.keys[node])
        growing.sums[node, 0, :] = sums

    def _weight(self, sums: np.ndarray) -> float:
        """Return the weight of rows of these sums, as ``weight_of`` does in kernels."""
        target = self.plan.target
        if hasattr(target, "n_moments"):
            return float(sums[0]) * (1.0 if isinstance(target, OneNumber) else target.unit)
        return float(sums[: target.offsets[1]].sum()) * target.unit

    def _limits(self) -> Any:
        settings = self.plan.settings
        limits = limits_of(settings, self.total)
        cuts_key = rng.stream(self.seed, rng.CUTS)
        least = settings.min_weight_leaf * self.total
        return limits._replace(min_weight_leaf=least, features_key=self._features_key, cuts_key=cuts_key)

    def _find_splits(self, wanted: Wanted, told: Answer, nodes: list[int], at: list[int]) -> set[int]:
        """Write the splits of nodes; return those that need the tables of all features."""
        if not nodes:
            return set()
        plan, limits, p = self.plan, self._limits(), self.plan.n_features
        drawn = np.full((len(wanted.filled), p), -1, np.int64)
        for row, own in zip(drawn, wanted.features, strict=True):
            row[own[own >= 0]] = np.flatnonzero(own >= 0)
        source, place = numbers_of(plan.splitter), np.zeros(2, np.int64)
        # Two rows of different targets: whoever asks whether a node has but one is told at once. Parts have told.
        rows, tables = (np.arange(2, dtype=np.uint32), 0, 1), (told.tables, drawn, wanted.features.shape[1], place)
        features = feature_policy(limits, p, None)
        rest = limits, self.growing, features, p, plan.n_per_output, LikeOthers()
        if isinstance(source, RandomBins):
            summed: Any = SummedCuts(*source[:-3], *rows, self._n_bins, *tables)
        else:
            cells = source.n_bins, source.width, source.counted
            summed = SummedTables(source.codes[:0], source.n_codes, *rows, *cells, *tables)
        if source is not plan.splitter:
            summed = SummedCategories(*plan.splitter._replace(inner=summed, codes=plan.splitter.codes[:0]))
        job = Job(summed, plan.target, plan.criterion, *rest)
        scratch = worker_part(new_scratch(job, _FEW, 1), 0)
        if source is not plan.splitter:
            kernels = codes_for({"levels": summed.kernel}, Subtree(job, scratch))
            compile_entries([*kernels.values()])
            job = job._replace(calls=SubtreeKernels(levels=entry_of(kernels["levels"])))
        missed, sides = np.zeros(len(nodes), np.uint8), np.zeros((len(nodes), self._n_bins), np.uint8)
        asked = np.array(nodes, np.int64), np.array(at, np.int64)
        launch_beside(FindSplits(job, scratch, place, *asked, missed, sides), 1)
        for node, side in zip(nodes, sides, strict=True):
            feature = self.growing.nodes[node, col.FEATURE]
            if feature >= 0 and source is not plan.splitter and plan.splitter.is_level[feature]:
                self._left[node] = side
        return {node for node, is_missed in zip(nodes, missed.tolist(), strict=True) if is_missed}

    def _foresee_children(self, node: int) -> None:
        """Number the children of a node that has a split; those of many rows are waited for."""
        left, self.n_nodes = self.n_nodes, self.n_nodes + 2
        if self.n_nodes > len(self.growing.nodes):
            self.growing = _room_for(self.plan, 2 * self.n_nodes, self.growing)
        growing = self.growing
        growing.nodes[node, col.LEFT] = left
        growing.sums[left, 0] = growing.sums[node, 1]
        growing.sums[left + 1, 0] = growing.sums[node, 0] - growing.sums[node, 1]
        levels = self.plan.settings.max_depth - int(growing.nodes[node, col.DEPTH]) - 1  # below the children
        for child in (left, left + 1):
            growing.keys[child] = rng.path_key(growing.keys[node], child - left)
            growing.nodes[child, col.FEATURE] = col.LEAF
            # Weights tell about how many rows there are.
            n = self._weight(growing.sums[child, 0]) / self.total * self.n_rows
            tables = (2 ** min(levels, 40) - 1) * self.prices.table_bytes
            is_gathered = n <= self.prices.most_rows and n * self.prices.row_bytes <= tables
            if levels > 0 and not is_gathered:
                self._waiting.append(child)


def n_bins_of(splitter: Any) -> int:
    """Return how many codes a feature has at most, the missing one included."""
    return int(numbers_of(splitter).n_codes.max()) + 1


def _room_for(plan: Any, n: int, before: Any = None) -> Any:
    """Return room for n nodes, with those of before."""
    kept = n_kept_of(plan.target)
    growing = Growing(
        np.zeros((n, col.N_COLUMNS), np.int32),
        np.zeros((n, col.N_NUMBERS)),
        np.zeros(n, np.uint64),
        np.zeros((n, 2, kept), np.int64),
        np.zeros(2, np.int64),
        np.zeros((n, 0)),
        np.zeros(1, np.int64),
    )
    if before is not None:
        for new, old in zip(growing[:4], before[:4], strict=True):
            new[: len(old)] = old
    return growing
