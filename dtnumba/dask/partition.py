# mypy: ignore-errors
"""Trees whose rows stay where they are: parts fill tables, tables are added up, one place picks the splits.

Every step is a function of what other steps returned, and changes none of it: whatever a lost worker held is made anew.
"""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np

from dtnumba.dask.levels import GATHERED, Answer, Prices, TreeInParts, Wanted, n_bins_of
from dtnumba.dask.parts import Part, as_fitted, with_codes
from dtnumba.growth import columns as col
from dtnumba.growth.binary.grow_in_parallel import numbers_of
from dtnumba.growth.binary.grow_subtree import calls_of, kernels_of, most_nodes, new_scratch
from dtnumba.growth.forest.arena import new_arena, trees_of_arena
from dtnumba.growth.forest.grow import task_of
from dtnumba.growth.forest.parts import FillTables, GrowRoots, KnownLeaves, ListedLevels, PutTogether
from dtnumba.growth.nodes import Growing, Job, Subtree, new_growing
from dtnumba.growth.policies.interactions import feature_policy
from dtnumba.growth.policies.limits import limits_of
from dtnumba.growth.splitters.histogram import DrawnHistogram
from dtnumba.growth.splitters.random_histogram import RandomBins
from dtnumba.growth.targets.contract import n_kept_of, own_arrays
from dtnumba.growth.targets.leaf_values import Summary
from dtnumba.growth.targets.reach import restored
from dtnumba.growth.targets.regression import OneNumber
from dtnumba.runtime.addresses import compile_entries
from dtnumba.runtime.instructions.column_blocks import SPARE
from dtnumba.runtime.memory import sparse_empty
from dtnumba.runtime.records import worker_part
from dtnumba.runtime.tasks import launch_beside

_BLOCK = 1 << 16  # rows that NumPy looks up at once


class TreeRows(NamedTuple):
    """The rows of a part that a tree counts, in the order of its nodes."""

    rows: np.ndarray  # (n,) uint32
    counts: np.ndarray  # of all rows of the part, as drawn
    spans: dict[int, tuple[int, int]]  # of the nodes whose rows may be asked for


def begun(part: Part, wanted: list[Wanted]) -> tuple[list[TreeRows], list[Answer]]:
    """Return the rows of trees, and the tables of their roots."""
    plan, states = part.plan, []
    for one in wanted:
        counts = part.counts(one.tree)
        rows = listed(counts)
        states.append(TreeRows(rows, counts, {0: (0, len(rows))}))
    return states, [_filled(plan, state, one, is_first=True) for state, one in zip(states, wanted, strict=True)]


def listed(counts: np.ndarray) -> np.ndarray:
    """Return the rows that count; block by block, as NumPy numbers rows by eight bytes."""
    rows, at = np.empty(np.count_nonzero(counts), np.uint32), 0
    for start in range(0, len(counts), _BLOCK):
        own = np.flatnonzero(counts[start : start + _BLOCK])
        np.add(own, start, out=rows[at : at + len(own)], casting="unsafe")
        at += len(own)
    return rows


def _filled(plan: Any, state: TreeRows, wanted: Wanted, *, is_first: bool = False) -> Answer:
    source, n_sums = numbers_of(plan.splitter), n_kept_of(plan.target) if is_first else 0
    if isinstance(source, RandomBins):
        cells = n_bins_of(source), source.width, source.counted
        source = DrawnHistogram(source.codes, source.n_codes, source.rows, 0, 1, *cells)
    cells = source.n_bins * source.width
    k, n_drawn = wanted.features.shape
    tables, sums = np.zeros(k * n_drawn * cells, np.int64), np.zeros(n_sums, np.int64)
    spans = np.array([state.spans[node] for node in wanted.filled.tolist()], np.int64).reshape(-1, 2)
    if len(state.rows) and (k or is_first):
        own = worker_part(own_arrays(plan.target, 1, 0, len(state.counts)), 0)
        work = np.zeros(plan.target.n_stats, np.int64)
        starts, stops = np.ascontiguousarray(spans[:, 0]), np.ascontiguousarray(spans[:, 1])
        if k == 0:
            starts = stops = np.zeros(0, np.int64)
        narrow = np.maximum(wanted.features, 0)  # a node that draws fewer fills the first one's table again, unread
        data = plan.sampling, plan.target, own, source, state.counts.copy(), state.rows
        launch_beside(FillTables(*data, starts, stops, narrow, tables, work, sums), 1)
    n = len(state.rows) if is_first else 0
    return Answer(np.zeros(0, np.int64), tables, sums, n, _ends_of(plan.target, state.rows, spans))


def _ends_of(target: Any, rows: np.ndarray, spans: np.ndarray) -> np.ndarray:
    """Return the smallest and the largest target of each node, by which nodes are pure; nothing of classes."""
    if not hasattr(target, "n_moments"):
        return np.zeros((2, len(spans), 0), np.int64)
    y = target.moments if isinstance(target, OneNumber) else target.y  # as ``is_pure`` compares rows
    most = np.inf if y.dtype.kind == "f" else np.iinfo(y.dtype).max
    ends = np.stack([np.full((len(spans), y.shape[1]), sign * most, y.dtype) for sign in (1, -1)])
    for k, (start, stop) in enumerate(spans.tolist()):
        for first in range(start, stop, _BLOCK):
            own = y[rows[first : min(first + _BLOCK, stop)]]
            np.minimum(ends[0, k], own.min(axis=0), out=ends[0, k])
            np.maximum(ends[1, k], own.max(axis=0), out=ends[1, k])
    return ends


def advanced(part: Part, states: list[TreeRows], wanted: list[Wanted]) -> tuple[list[TreeRows], list[Answer]]:
    """Return the rows with the nodes divided that were split, and the tables of their children."""
    plan, found, told = part.plan, [], []
    for state, one in zip(states, wanted, strict=True):
        state, n_left = _divided(plan.splitter, state, one)
        found.append(state)
        told.append(_filled(plan, state, one)._replace(n_left=n_left))
    return found, told


def _divided(splitter: Any, state: TreeRows, wanted: Wanted) -> tuple[TreeRows, np.ndarray]:
    rows, spans, n_left = state.rows.copy(), dict(state.spans), np.zeros(len(wanted.nodes), np.int64)
    for k, (node, left) in enumerate(zip(wanted.nodes.tolist(), wanted.left.tolist(), strict=True)):
        start, stop = spans[node]
        side, codes = wanted.sides[k].astype(bool), splitter.codes[:, wanted.tested[k]]
        blocks = [(a, min(a + _BLOCK, stop)) for a in range(start, stop, _BLOCK)]
        goes_left = np.empty(stop - start, bool)
        for a, b in blocks:
            goes_left[a - start : b - start] = side[codes[state.rows[a:b]]]
        n_left[k] = np.count_nonzero(goes_left)
        border = start + int(n_left[k])
        i, j = start, border
        for a, b in blocks:
            own, chosen = state.rows[a:b], goes_left[a - start : b - start]
            n = np.count_nonzero(chosen)
            rows[i : i + n], rows[j : j + len(own) - n] = own[chosen], own[~chosen]
            i, j = i + n, j + len(own) - n
        spans[left], spans[left + 1] = (start, border), (border, stop)
    return TreeRows(rows, state.counts, spans), n_left


Large = tuple[list[TreeInParts], list[Wanted]]  # trees, and what they ask next


def begin_trees(plan: Any, first: int, stop: int, prices: Prices, by_rows: bool = False) -> Large:
    """Return trees without nodes, and what they ask first."""
    trees = [TreeInParts(plan, tree, prices, by_rows) for tree in range(first, stop)]
    return trees, [tree.wanted() for tree in trees]


def picked(before: Large, told: list[Answer]) -> Large:
    """Return the trees with the splits of one more level, and what they ask next."""
    trees = copy.deepcopy(before[0])
    for tree, wanted, answer in zip(trees, before[1], told, strict=True):
        tree.take(wanted, answer)
    return trees, [tree.wanted() for tree in trees]


def are_done(state: Large) -> bool:
    """Tell whether all trees have no more large nodes."""
    return all(tree.is_done for tree in state[0])


class Left(NamedTuple):
    """What is left to be done of a tree once its large nodes are split: nodes, each with its number of rows."""

    gathered: list[tuple[int, int]]  # nodes whose rows are to be brought together
    leaves: list[tuple[int, int]]  # leaves of which rows say more than sums do
    n_tables: int  # that were asked for


def gathered_of(state: Large) -> list[Left]:
    """Return what is left to be done of each tree."""
    return [
        Left(*([(node, tree.rows_of(node)) for node in own] for own in (tree.gathered, tree.leaves_by_rows)),
             tree.n_tables)
        for tree in state[0]
    ]  # fmt: skip


class Package(NamedTuple):
    """Rows of a part that belong to some nodes of a tree."""

    codes: np.ndarray  # none where only leaves are described
    counts: np.ndarray
    columns: dict[str, np.ndarray]  # of the target
    lengths: list[int]  # rows of each node


def package(part: Part, states: list[TreeRows], place: int, nodes: list[int], are_leaves: bool = False) -> Package:
    """Return the rows of nodes of one of the trees."""
    plan, state = part.plan, states[place]
    spans = [state.spans[node] for node in nodes]
    rows = np.concatenate([state.rows[a:b] for a, b in spans] or [state.rows[:0]])
    columns = {name: getattr(plan.target, name)[rows] for name in part.names}
    codes = plan.splitter.codes[:0] if are_leaves else plan.splitter.codes[rows]
    return Package(codes, state.counts[rows], columns, [b - a for a, b in spans])


class GrownBelow(NamedTuple):
    """What was grown below some nodes of a tree."""

    roots: list[int]  # the nodes, of which the k-th is row k here
    nodes: np.ndarray
    numbers: np.ndarray
    sums: np.ndarray
    leaves: tuple[np.ndarray, ...]  # values, weights and impurities of nodes that are leaves; none of classes
    levels: np.ndarray  # categories that go left, by node
    level_stop: np.ndarray  # where those of each node end; empty where there are no categories


def grown_below(
    plan: Any, state: Any, place: int, nodes: list[int], are_leaves: bool, *packages: Package
) -> GrownBelow:
    """Grow what is below some nodes of a tree, of whose rows every part has sent its own; or describe leaves."""
    tree = state[0][place]
    lengths = np.array([one.lengths for one in packages], np.int64)  # parts x nodes
    ends = np.cumsum(lengths, axis=1)
    order = np.concatenate([
        np.arange(ends[i, k] - lengths[i, k], ends[i, k]) + int(lengths[:i].sum())
        for k in range(len(nodes)) for i in range(len(packages))
    ])  # fmt: skip
    n, p = len(order), plan.n_features
    codes = np.zeros((n + SPARE, p), plan.splitter.codes.dtype)
    if not are_leaves:
        codes[:n] = np.concatenate([one.codes for one in packages])[order]
    counts = np.concatenate([one.counts for one in packages])[order]
    columns = {name: np.concatenate([one.columns[name] for one in packages])[order] for name in packages[0].columns}
    target, splitter = plan.target._replace(**columns), with_codes(plan.splitter, codes)
    limits = limits_of(plan.settings, 1.0)
    if are_leaves:
        limits = limits._replace(min_samples_split=n + 1)
    stops = np.cumsum(lengths.sum(axis=0))
    starts = stops - lengths.sum(axis=0)
    growing = new_growing(most_nodes(n, limits) + len(nodes), n_kept_of(target), 1, False, False)
    features = feature_policy(limits, p, None)
    job = Job(splitter, target, plan.criterion, limits, growing, features, p, plan.n_per_output, plan.small)
    scratch = worker_part(new_scratch(job, n, 1), 0)
    kernels = kernels_of(Subtree(job, scratch))
    compile_entries([*kernels.values()])
    job = job._replace(calls=calls_of(kernels))
    own = worker_part(own_arrays(target, 1, 0, n), 0)
    rows, there = np.arange(n, dtype=np.uint32), tree.growing
    at = np.array(nodes, np.int64)
    depths, least = there.nodes[at, col.DEPTH].astype(np.int64), plan.settings.min_weight_leaf
    m = len(growing.nodes) if hasattr(target, "describe_inner") else 0
    summary = Summary(*np.zeros((3, m), np.int64), np.zeros((m, plan.width)), *np.zeros((2, m)))
    summary = summary._replace(left=np.zeros(m, np.int32))
    known = starts, stops, depths, there.keys[at], there.sums[at, 0], least, tree.total, np.uint64(tree.seed)
    has_levels = hasattr(splitter, "is_level")
    levels = sparse_empty(64 * n * has_levels, np.int32)
    level_stop = np.zeros(len(growing.nodes) * has_levels, np.int64)
    found = summary, levels, level_stop, tree.by_rows
    launch_beside(GrowRoots(job, scratch, plan.sampling, own, counts, rows, *known, *found), 1)
    used = max(int(scratch.place[0]), len(nodes))
    leaves = tuple(array[:used].copy() for array in summary[3:]) if m else ()
    parts = growing.nodes[:used].copy(), growing.numbers[:used].copy(), growing.sums[:used].copy()
    level_stop = level_stop[:used].copy()
    return GrownBelow(nodes, *parts, leaves, levels[: int(level_stop[-1]) if has_levels else 0].copy(), level_stop)


def put_together(plan: Any, state: Any, place: int, *parts: GrownBelow) -> Any:
    """Return the Trees of one tree: its large nodes, and what was grown below the others."""
    tree = state[0][place]
    top = tree.growing
    n_all = tree.n_nodes + sum(len(part.nodes) for part in parts)
    nodes = np.concatenate([top.nodes[: tree.n_nodes], *[part.nodes for part in parts]])
    numbers = np.concatenate([top.numbers[: tree.n_nodes], *[part.numbers for part in parts]])
    sums = np.concatenate([top.sums[: tree.n_nodes], *[part.sums for part in parts]])
    nodes[: tree.n_nodes, col.SLOT] = col.NO_SLOT
    start, leaves = tree.n_nodes, ()
    if hasattr(plan.target, "describe_inner"):
        leaves = np.zeros((n_all, plan.width)), np.zeros(n_all), np.zeros(n_all)
    for part in parts:
        own = nodes[start : start + len(part.nodes)]
        own[own[:, col.LEFT] >= 0, col.LEFT] += start
        for k, root in enumerate(part.roots):
            if nodes[root, col.FEATURE] < 0:  # else it has been divided, and was only described
                nodes[root], numbers[root], sums[root] = own[k], numbers[start + k], sums[start + k]
        for known, found in zip(leaves, part.leaves, strict=True):
            known[start : start + len(found)] = found
            known[part.roots] = found[: len(part.roots)]
        start += len(part.nodes)
    nodes[:, col.STOP] -= nodes[:, col.START]
    nodes[:, col.START] = 0
    splitter, n_levels = plan.splitter, 0
    if hasattr(splitter, "is_level"):
        # Each node begins at its own number, by which the categories of a left child are found.
        nodes[:, col.START] = np.arange(n_all)
        nodes[:, col.STOP] += nodes[:, col.START]
        splitter = _listed(nodes, tree.levels_left(), tree.n_nodes, parts)
        n_levels = len(splitter.levels)
    else:
        splitter = splitter._replace(rows=np.zeros(1, np.uint32), n_rows=1)
    assert not (nodes[: tree.n_nodes, col.FEATURE] == GATHERED).any()
    keys, rest = np.zeros(n_all, np.uint64), (np.zeros(2, np.int64), np.zeros((n_all, 0)), np.zeros(1, np.int64))
    growing = Growing(nodes, numbers, keys, sums, *rest)
    small = plan._replace(most_rows=max(2, n_all, n_levels), n_table_rows=0)
    task = task_of(small, 0, 1, 1)
    task = task._replace(arena=new_arena(n_all, 1, plan.width, n_levels))
    room = worker_part(task.room, 0)._replace(ids=np.zeros((5, n_all), np.int32))
    forest = KnownLeaves(task.job, task.ends, task.arena, *leaves, tree.by_rows) if leaves else task
    launch_beside(PutTogether(forest, splitter, plan.target, worker_part(task.scratches, 0), room, growing), 1)
    return restored(trees_of_arena(task.arena), plan.criterion, plan.power)


def whole_tree(model: Any, decisions: Any, plan: Any, state: Any, place: int, *parts: GrownBelow) -> Any:
    """Return the Trees of one tree as a fit keeps them, put together where most of it is."""
    return as_fitted(model, decisions, put_together(plan, state, place, *parts))


def _listed(nodes: np.ndarray, top: dict[int, np.ndarray], n_top: int, parts: tuple[GrownBelow, ...]) -> ListedLevels:
    """Return the categories that go left at the nodes of a tree, by their left children."""
    listed, found, at, start = np.zeros((len(nodes), 2), np.int64), [np.zeros(0, np.int32)], 0, n_top
    own = list(top.items())
    for part in parts:
        stops = part.level_stop.tolist()
        for k, (a, b) in enumerate(zip([0, *stops], stops, strict=False)):
            if b > a:
                own.append((part.roots[k] if k < len(part.roots) else start + k, part.levels[a:b]))
        start += len(part.nodes)
    for node, levels in own:
        listed[nodes[node, col.LEFT]] = at, len(levels)
        found.append(levels.astype(np.int32))
        at += len(levels)
    return ListedLevels(np.zeros(len(nodes), np.uint32), listed, np.concatenate(found))
