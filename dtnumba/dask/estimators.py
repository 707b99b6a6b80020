"""Forests and trees that are fitted on a Dask cluster; all else they do as their local twins, which they are."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dtnumba.dask.binned import BinnedCollection
from dtnumba.dask.checks import check_collections
from dtnumba.dask.columns import Sealed
from dtnumba.dask.fitting import cells_of_all, one_of, read_rows, reads_codes_alone
from dtnumba.dask.in_parts import BYTE_LEVELS, Threads, in_parts_of, most_levels, obstacle
from dtnumba.dask.parts import tree_facts_of
from dtnumba.dask.reading import parts_of
from dtnumba.dask.replicate import (
    bags_of,
    facts_of,
    forest_of,
    measured_by,
    one_tree,
    replica_of_codes,
    replica_of_values,
    trees_of,
    votes_of,
)
from dtnumba.dask.running import Tasks, threads_of
from dtnumba.dask.strategy import GrownInParts, bytes_partition, bytes_replicate, choose, extent_of, memory_limits
from dtnumba.estimators import decision_tree, forest
from dtnumba.estimators.bases.docs import documented
from dtnumba.estimators.bases.fit import TrainingData
from dtnumba.estimators.bases.forest import raise_failure
from dtnumba.estimators.bases.parameters import one_of as one_among
from dtnumba.estimators.bases.parameters import parameter, redeclared
from dtnumba.prediction.forest_view import ForestView
from dtnumba.prediction.tree_view import TreeView
from dtnumba.runtime.cluster import check_versions, client_of
from dtnumba.runtime.progress import Monitor
from dtnumba.tables.binned_table import read_features
from dtnumba.trees.layout import joined

if TYPE_CHECKING:
    import os

    from typing_extensions import Self

    from dtnumba.dask.fitting import RowsInParts
    from dtnumba.trees.layout import Trees

STRATEGY = one_among("auto", "replicate", "partition")
_OWN = ("strategy",)
_BLOCKS_A_THREAD = 4  # of trees: what is lost with a worker, or at the end of the time, is no more than a block
_LARGE = 1 << 62  # a size that no monitor takes for small


class OnCluster:
    """A model whose rows lie on a Dask cluster while it is fitted.

    Parameters
    ----------
    strategy : "auto", "replicate" or "partition"
        "replicate": every worker gathers the codes of all rows, a byte a value, and grows its share of the trees.
        "partition": rows stay where they are; the sums of what every worker tells of its rows split the large nodes,
        and the rows of small ones are brought together. "auto": the first where it fits into the workers' memory.

    Attributes
    ----------
    strategy_ : str
        The way that was chosen.
    worker_bytes_ : int
        What it took of a worker's memory at most, as told before it started.
    sent_bytes_ : int
        What workers sent each other, by the formula of ``dtnumba.dask.strategy`` for what was grown; of forests.

    """

    _local: ClassVar[Any]  # the ordinary class

    strategy: str

    def to_local(self) -> Any:
        """Return the ordinary estimator of the same parameters, fitted as this one is."""
        given = self.get_params(deep=False)  # type: ignore[attr-defined]
        local = self._local(**{name: value for name, value in given.items() if name not in _OWN})
        extra = {*given, "strategy_", "worker_bytes_", "sent_bytes_"}
        vars(local).update({name: value for name, value in vars(self).items() if name not in extra})
        return local

    def save(self, path: str | os.PathLike[str], *, compact: bool = False) -> None:
        """Write the fitted model to a file, from which ``dtnumba.load`` reads the ordinary estimator."""
        self.check_fitted()  # type: ignore[attr-defined]
        self.to_local().save(path, compact=compact)

    def _for_workers(self, seed: int) -> Any:
        """Return the ordinary estimator that workers use: of one thread, and silent."""
        local = self.to_local()
        model = type(local)(**local.get_params(deep=False))
        own = {"random_state": seed, "n_jobs": 1, "verbose": 0, "max_seconds": None, "warm_start": False}
        known = type(model).__dataclass_fields__
        return model.set_params(**{name: value for name, value in own.items() if name in known})

    def _read_on(
        self, tasks: Tasks, given: tuple[Any, Any, Any], held_out: tuple[Any, Any], seed: int, monitor: Monitor
    ) -> tuple[RowsInParts, Any, dict[str, Any]]:
        """Return the rows, a future of the replica, and what is learned of the way that was chosen."""
        client, caller = tasks.client, type(self).__name__
        check_collections(*given, caller)
        model = self._for_workers(seed)
        binned = given[0] if isinstance(given[0], BinnedCollection) else None
        if binned is not None:
            _check_binned(binned, model, held_out, caller)
            given = binned.parts(), *given[1:]
        parts = parts_of(*given, client, caller)
        rows = read_rows(tasks, model, parts, held_out, monitor, binned)
        codes = binned is not None or reads_codes_alone(model, held_out)
        n_levels = most_levels(rows.columns)
        code_bytes = 1 if n_levels <= BYTE_LEVELS else 2 if n_levels < 1 << 16 else 4
        cell_bytes = code_bytes if codes else rows.columns.dtype.itemsize
        value_bytes = rows.columns.dtype.itemsize if codes and binned is None else 0
        extent = extent_of(rows.columns, cell_bytes, parts.weighted, value_bytes)
        threads = client.nthreads()
        is_plain = reads_codes_alone(model, held_out)
        rows = rows._replace(extent=in_parts_of(extent, model, rows.columns) if is_plain else extent)
        extent = rows.extent
        why_not = obstacle(model, rows) if is_plain else "parameters that read values, and not their codes alone"
        chosen = choose(self.strategy, extent, threads, memory_limits(client), why_not)
        learned = {"strategy_": chosen.strategy, "worker_bytes_": chosen.worker_bytes}
        if chosen.strategy == "partition":
            return rows, Threads(tasks, rows, threads_of(client), monitor), learned
        own = (rows.model, rows.sealed, rows.edges if codes else Sealed(held_out), rows.target)
        cells = cells_of_all(tasks, rows)
        replica = tasks.send(replica_of_codes if codes else replica_of_values, *own, *cells, name="replica")
        tasks.forget(cells)
        return rows, replica, learned


def _check_binned(binned: BinnedCollection, model: Any, held_out: tuple[Any, Any], caller: str) -> None:
    """Raise where codes do not serve a model."""
    read_features(binned.rowless(), caller, model.max_bins, model.categorical_features)
    if any(one is not None for one in held_out):
        raise ValueError(
            f"X_val has values, and {binned!r} codes alone: pass {caller}.fit the collection that bin_batches was given"
        )


class ForestOnCluster(OnCluster):
    """A forest of which every worker grows a share."""

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        client: Any = None,
    ) -> Self:
        """Grow the trees on a cluster: the same bits as the local fit of the rows end to end.

        Parameters
        ----------
        X : Dask array or frame, list of delayed partitions, or what ``bin_batches`` returned
            Numbers and categories, as the local ``fit`` takes them.
        y : the same, or an array in memory
            Labels of any hashable kind for a classifier, finite numbers for a regressor; cut as X is.
        sample_weight : the same, or a number, optional
            With ``bootstrap`` how likely a row is drawn, otherwise what it counts.
        X_val, y_val : arrays in memory, optional
            Rows that growth does not see: a branch ends where a split does not strictly improve their prediction.
        client : distributed.Client, optional
            Of the cluster; by default the one that was started last.

        Returns
        -------
        estimator
            The estimator itself. After Ctrl-C it holds the trees of the blocks that were finished before the first one
            that was not; after any other error it is as it was. Nothing stays on the cluster.

        """
        model: Any = self
        model.check_params()
        seed, client = model._seed(), client_of(client)
        check_versions(client)
        monitor = Monitor(model.verbose, model.max_seconds, int(model.n_estimators), _LARGE)
        with Tasks(client) as tasks:
            rows, replica, learned = self._read_on(tasks, (X, y, sample_weight), (X_val, y_val), seed, monitor)
            growth = _Growth(model, tasks, rows, replica, monitor, seed)
            learned |= growth.grown()
        model._learn(rows.columns, **learned)
        if monitor.error is not None:
            raise monitor.error
        return self


class _Growth:
    """The steps of a fit that follow once the rows are ready."""

    def __init__(self, model: Any, tasks: Tasks, rows: RowsInParts, place: Any, monitor: Monitor, seed: int) -> None:
        self.model, self.tasks, self.rows, self.monitor = model, tasks, rows, monitor
        self.parts = place if isinstance(place, Threads) else None
        self.replica = place if self.parts is None else self.parts.whole  # who knows the plan
        self.seed, self.threads = seed, threads_of(tasks.client)
        columns = rows.columns
        self.data = TrainingData(columns, columns.target, (None, None, None), seed, None, None, None, None, None)  # type: ignore[arg-type]

    def grown(self) -> dict[str, Any]:
        """Return what the forest learns."""
        model, monitor, columns = self.model, self.monitor, self.rows.columns
        earlier = model._earlier_trees(self.data)
        measured = model._earlier_importances(columns, earlier)
        n_trees, first = int(model.n_estimators), 0 if earlier is None else earlier.n_trees
        monitor.total = n_trees - first + (0 if measured is None else n_trees - measured.n_trees)
        facts = self.tasks.send(facts_of, self.replica, name="facts")
        if self.parts is not None and not model.oob_score:
            self.tasks.forget([self.replica])  # the targets of all rows are at the parts
        if self.parts is None:
            sent, found = self._in_blocks(trees_of, first, n_trees)
        else:
            sent, found = self.parts.trees(first, n_trees)
        raise_failure(monitor)
        trees = joined([part for part in (earlier, *found) if part is not None])
        if trees is None:
            raise monitor.error or model._nothing_finished(monitor)
        learned: dict[str, Any] = self.tasks.client.gather(facts)
        if not monitor.stopped:
            monitor.done = n_trees - first
            monitor.report()
        forest = ForestView(trees, columns.n_features, columns.target.sizes)
        learned |= {"forest_": forest, "n_estimators_": trees.n_trees, "seed_": self.seed}
        there: Any = None
        if model.oob_score or measured is not None:
            there = self.tasks.send(forest_of, Sealed(earlier), *sent[: len(found)], name="forest")
        learned |= {"sent_bytes_": self._sent(trees)}
        learned |= self._out_of_bag(facts, learned.get("_rule"), there, trees)
        learned |= self._measured(measured, there, trees)
        return learned

    def _in_blocks(self, function: Any, first: int, stop: int, *args: Any) -> tuple[list[Any], list[Any]]:
        """Send a task for each block of trees; return the futures, and the results before the first one missing."""
        n_blocks = min(stop - first, _BLOCKS_A_THREAD * len(self.threads))
        sizes = [len(part) for part in np.array_split(np.arange(stop - first), n_blocks)]  # the larger ones first
        blocks = list(pairwise([first, *(first + np.cumsum(sizes)).tolist()]))
        sent = [
            self.tasks.send(function, self.replica, *args, a, b, worker=self.threads[k % len(self.threads)])
            for k, (a, b) in enumerate(blocks)
        ]
        return sent, self.tasks.results(sent, self.monitor, [b - a for a, b in blocks])

    def _sent(self, trees: Trees) -> int:
        """Return the bytes that workers sent each other."""
        extent, n_workers = self.rows.extent, len(set(self.threads))
        if self.parts is None:
            return bytes_replicate(extent, n_workers, 0)
        target, model = self.rows.columns.target, self.rows.model.content
        sums = max(1, target.width - 1 if target.width == 2 else target.width)
        sums = sums if target.kind == "classes" else 1 + target.width
        bins = max(model.max_bins, most_levels(self.rows.columns)) + 1
        sent = self.parts.sent
        away = sent.away / max(sent.gathered, 1)
        grown = GrownInParts(sent.tables, sent.gathered, sent.leaves, trees.n_nodes, away, self.parts.dealt)
        return bytes_partition(extent, n_workers, grown, bins=bins, sums=sums)

    def _is_interrupted(self) -> bool:
        return self.monitor.error is not None

    def _out_of_bag(self, facts: Any, rule: Any, there: Any, trees: Trees) -> dict[str, Any]:
        """Return the out-of-bag results by their attributes; the votes are counted where the values are."""
        model, rows, tasks, monitor = self.model, self.rows, self.tasks, self.monitor
        if not model.oob_score or self._is_interrupted():
            return {}
        monitor.stage = "out of bag"
        bags = tasks.send(bags_of, self.replica, trees.n_trees, rows.columns.starts, name="bags")
        each = [(tasks.send(one_of, bags, k),) for k in range(len(rows.parts.each))]
        sent = tasks.send_each(votes_of, rows.parts.each, rows.model, rows.sealed, facts, there, each=each)
        found = tasks.results(sent, monitor)
        raise_failure(monitor)
        if self._is_interrupted():
            return {}
        counted = None
        if len(found) == len(sent):
            full = [part for part in found if len(part[1])]
            counted = np.concatenate([votes for votes, _ in full]), np.concatenate([n for _, n in full])
        outcome = tasks.client.gather(rows.target)[0]
        scored: dict[str, Any] = model._scored_from(counted, outcome, rule)
        return scored

    def _measured(self, earlier: Any, there: Any, trees: Trees) -> dict[str, Any]:
        """Return the importances of features by their attribute; nothing where the trees themselves hold them."""
        if earlier is None:
            return {}
        found, monitor = earlier, self.monitor
        if not monitor.stopped and earlier.n_trees < trees.n_trees:
            monitor.stage = "importances"
            _, parts = self._in_blocks(measured_by, earlier.n_trees, trees.n_trees, there)
            found = earlier.with_trees(row for part in parts for row in part)
        return self.model._told_importances(found, monitor)  # type: ignore[no-any-return]


def _tree_in_parts(tasks: Tasks, rows: RowsInParts, parts: Threads, monitor: Monitor) -> dict[str, Any]:
    """Return what a model of one tree learns, whose rows stay where they are."""
    facts = tasks.send(tree_facts_of, parts.whole, name="facts")
    found = parts.trees(0, 1)[1]
    raise_failure(monitor)
    if not found:
        raise monitor.error or TimeoutError("the work was stopped before the tree was grown")
    learned: dict[str, Any] = tasks.client.gather(facts)
    return learned | {"tree_": TreeView(found[0], rows.columns.n_features, rows.columns.target.sizes)}


class TreeOnCluster(OnCluster):
    """One tree, grown by one worker, or by all where rows stay where they are."""

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        check_input: bool = True,
        *,
        X_val: Any = None,
        y_val: Any = None,
        client: Any = None,
    ) -> Self:
        """Grow the tree on a cluster: the same bits as the local fit of the rows end to end.

        Parameters
        ----------
        X, y, sample_weight : Dask collections, or lists of delayed partitions
            As for the forests of ``dtnumba.dask``.
        check_input : bool
            Accepted for scikit-learn's sake; input is always checked.
        X_val, y_val : arrays in memory, optional
            Rows that growth does not see: a branch ends where a split does not strictly improve their prediction.
        client : distributed.Client, optional
            Of the cluster; by default the one that was started last.

        Returns
        -------
        estimator
            The estimator itself; as it was if anything fails. Nothing stays on the cluster.

        """
        model: Any = self
        model.check_params()
        client, monitor = client_of(client), Monitor(0, None, 1, _LARGE)
        check_versions(client)
        with Tasks(client) as tasks:
            given = X, y, sample_weight
            rows, replica, learned = self._read_on(tasks, given, (X_val, y_val), model._seed(), monitor)
            if isinstance(replica, Threads):
                found = _tree_in_parts(tasks, rows, replica, monitor)
            else:
                (found,) = tasks.all_results([tasks.send(one_tree, replica, name="tree")], monitor)
        model._learn(rows.columns, **found, **learned)
        return self


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class RandomForestClassifier(ForestOnCluster, forest.RandomForestClassifier):
    """A random forest for classes, grown on a Dask cluster; the bits of ``dtnumba.RandomForestClassifier``."""

    strategy: str = parameter("auto", STRATEGY)
    _local: ClassVar[Any] = forest.RandomForestClassifier


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class RandomForestRegressor(ForestOnCluster, forest.RandomForestRegressor):
    """A random forest for numbers, grown on a Dask cluster; the bits of ``dtnumba.RandomForestRegressor``."""

    strategy: str = parameter("auto", STRATEGY)
    _local: ClassVar[Any] = forest.RandomForestRegressor


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class ExtraTreesClassifier(ForestOnCluster, forest.ExtraTreesClassifier):
    """Extremely randomised trees for classes, grown on a Dask cluster; the bits of ``dtnumba.ExtraTreesClassifier``."""

    strategy: str = parameter("auto", STRATEGY)
    _local: ClassVar[Any] = forest.ExtraTreesClassifier


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class ExtraTreesRegressor(ForestOnCluster, forest.ExtraTreesRegressor):
    """Extremely randomised trees for numbers, grown on a Dask cluster; the bits of ``dtnumba.ExtraTreesRegressor``."""

    strategy: str = parameter("auto", STRATEGY)
    _local: ClassVar[Any] = forest.ExtraTreesRegressor


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class DecisionTreeClassifier(TreeOnCluster, decision_tree.DecisionTreeClassifier):
    """A tree for classes, of rows on a Dask cluster; the bits of ``dtnumba.DecisionTreeClassifier(max_bins=255)``."""

    max_bins: int | None = redeclared("max_bins", 255)
    strategy: str = parameter("auto", STRATEGY)
    _local: ClassVar[Any] = decision_tree.DecisionTreeClassifier


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class DecisionTreeRegressor(TreeOnCluster, decision_tree.DecisionTreeRegressor):
    """A tree for numbers, of rows on a Dask cluster; the bits of ``dtnumba.DecisionTreeRegressor(max_bins=255)``."""

    max_bins: int | None = redeclared("max_bins", 255)
    strategy: str = parameter("auto", STRATEGY)
    _local: ClassVar[Any] = decision_tree.DecisionTreeRegressor
