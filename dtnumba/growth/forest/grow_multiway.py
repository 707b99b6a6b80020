"""Forests by the general growth: a tree is one serial kernel, and threads take the next tree until none is left."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.growth.forest.bootstrap_rows import draw_rows
from dtnumba.growth.multiway.coded_columns import CodedColumns, coded
from dtnumba.growth.multiway.train import grow_until, rules_of, sums_of, work_on
from dtnumba.growth.policies.feature_sampling import SomeFeatures
from dtnumba.growth.policies.limits import limits_of
from dtnumba.growth.targets.reach import restored
from dtnumba.runtime import rng
from dtnumba.trees.layout import joined

if TYPE_CHECKING:
    from dtnumba.growth.forest.grow import ForestPlan
    from dtnumba.runtime.progress import Monitor
    from dtnumba.tables.weights import Weights
    from dtnumba.trees.layout import Trees


class General(NamedTuple):
    """Table, sums and weights that the trees of a forest share."""

    table: CodedColumns
    sums: Any
    weights: Weights  # of rows, where trees do not draw any


def plan_general(table: Any, outcome: Any, criterion: Any, weights: Weights, settings: Any) -> General:
    """Return what the trees of a forest share."""
    own = coded(table, weights.kept, settings.max_bins, settings.workers)
    return General(own, sums_of(outcome, criterion), weights)


def _rows_of_tree(plan: ForestPlan, tree: int, halt: Any) -> tuple[Any, Any]:
    """Return the rows that a tree sees, ascending, and their weights."""
    weights: Weights = plan.general.weights
    if plan.n_table_rows == 0:
        return weights.kept, weights.integers[weights.kept] * weights.unit
    counts, totals = np.zeros(plan.n_table_rows, plan.count_type), np.empty(plan.width)
    draw_rows(plan.sampling, tree, counts, totals, halt)
    rows = np.flatnonzero(counts).astype(np.uint32)
    return rows, counts[rows] * float(plan.target.unit)


def _one_tree(plan: ForestPlan, tree: int, halt: Any) -> Trees | None:
    settings, general = plan.settings, plan.general
    seed = rng.seed_of_tree(settings.seed, tree)
    features_key, cuts_key = rng.stream(seed, rng.FEATURES), rng.stream(seed, rng.CUTS)
    rows, weights = _rows_of_tree(plan, tree, halt)
    total = float(weights.sum())
    limits = limits_of(settings, total)._replace(
        min_weight_leaf=settings.min_weight_leaf * total, features_key=features_key, cuts_key=cuts_key
    )
    rules = rules_of(settings.options, plan.criterion, general.sums)
    work = work_on(general.table, general.sums, plan.criterion, limits, rules, len(rows), halt=halt)
    if isinstance(work.drawing, SomeFeatures):
        work = work._replace(drawing=SomeFeatures(features_key))
    return grow_until(work, general.table, rows, weights)


def grow_many(plan: ForestPlan, first: int, n_trees: int, monitor: Monitor) -> Trees | None:
    """Grow trees first .. n_trees - 1 and return the longest finished prefix of these, or None."""
    done: dict[int, Trees] = {}
    halt, tickets = np.zeros(1, np.int64), itertools.count(first)

    def work() -> None:
        for tree in tickets:
            if tree >= n_trees or halt[0] != 0:
                return
            grown = _one_tree(plan, tree, halt)
            if grown is not None and halt[0] == 0:  # else not all of its rows may have been drawn
                done[tree] = grown

    def go(_: bool) -> None:
        workers = min(plan.settings.workers, n_trees - first)
        if workers == 1:
            work()
            return
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(workers) as pool:
            for future in [pool.submit(work) for _ in range(workers)]:
                future.result()

    monitor.run_function(go, halt, lambda: len(done))
    finished = itertools.takewhile(lambda tree: tree in done, range(first, n_trees))
    grown = joined([done[tree] for tree in finished])
    return None if grown is None else restored(grown, plan.criterion, plan.power)
