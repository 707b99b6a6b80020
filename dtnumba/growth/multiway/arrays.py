"""The arrays of multiway growth: scratch for the work on a node, room for nodes, made where there is none left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.growth.columns import START, STOP
from dtnumba.growth.multiway import columns as col
from dtnumba.growth.multiway.node_sums import ClassSums, NumberSums
from dtnumba.growth.multiway.nodes import MOST_PAIRED, GrowerContext, GrownNodes, GrowthRules, NodeScratch
from dtnumba.runtime.memory import sparse_empty

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.growth.multiway.coded_columns import CodedColumns


_FIRST_NODES = 1 << 12  # for which there is room at first: of very many classes each takes kilobytes
_MOST_TABLE = 1 << 22  # numbers in the table of a numeric feature


def _table_size(table: CodedColumns, n_stats: int, n: int, rules: GrowthRules) -> int:
    """Return for how many groups the table of a node needs room."""
    numeric = table.n_codes[(table.nominal == 0) & (table.code_at >= 0)]
    small = numeric[(numeric * n_stats <= _MOST_TABLE) & (numeric <= 2 * n + 2)]
    size = max([0, *small.tolist(), *table.n_codes[table.nominal == 1].tolist()])
    return int(max(size, 256 if rules.numeric != col.RANGES else 1024)) + 3


def new_scratch(table: CodedColumns, sums: Any, n: int, rules: GrowthRules) -> NodeScratch:
    """Return the scratch for the work on one node."""
    n_stats = int(sums.offsets[-1]) + 2
    sorts = (table.order_at < 0).any() or rules.numeric == col.INTERVAL
    p, t = len(table.code_at), _table_size(table, n_stats, n, rules)
    levels = max([0, *table.n_codes[table.nominal == 1].tolist()]) + 2
    floats = np.empty
    paired = min(levels, MOST_PAIRED) if rules.categorical == col.GROUPED_CATEGORIES else 0
    return NodeScratch(
        sides=np.zeros((8, n_stats)),
        table=floats((t, n_stats)),
        group_weight=floats(t),
        code=np.empty(t, np.int64),
        by_code=np.zeros((t, n_stats)),
        held=np.zeros(t // 64 + 1, np.uint64),
        keys=np.empty(n if sorts else 1, np.uint64),
        other_keys=np.empty(n, np.uint64),
        digits=np.empty(256, np.int64),
        row_child=np.empty(n, np.int32),
        side=np.empty(n if rules.max_surrogates > 0 else 0, np.uint8),
        new_place=np.empty(n, np.uint32),
        child_start=np.empty(t + 2, np.int64),
        n_whole=np.empty(t + 2, np.int64),
        dealt=np.zeros(3, np.int64),
        row=np.empty(n, np.uint32),
        weight=floats(n),
        part=floats(n if rules.missing == col.FRACTIONAL else 0),
        outcome=_outcome_of(sums, n),
        category_child=np.zeros(levels, np.int32),
        cut=np.zeros((t, 2), np.int64),
        range_child=np.zeros(t, np.int32),
        fill=np.empty(t + 2, np.int64),
        order=np.empty(t, np.int64),
        place=floats(t),
        axes=floats((3, n_stats)),
        terms=np.empty((2, n_stats), np.int64),
        test=np.zeros(col.N_TEST, np.int64),
        votes=floats((levels, 4)),
        pairs=floats((paired, paired, 2)),
        agreed=floats((p, 3)),
        agreed_cut=np.empty((p, 3), np.int64),
        features=np.arange(p),
        drawn=np.empty(p, np.int64),
        listed=np.empty(p, np.int64),
        gain=np.zeros(p),
        information=np.zeros(p),
        fan=np.zeros(p, np.int64),
    )


def _outcome_of(sums: ClassSums | NumberSums, n: int) -> NDArray[Any]:
    """Return room for what n rows listed say, where a target has one output."""
    kind = np.int32 if isinstance(sums, ClassSums) else np.float64
    return np.empty(n if len(sums.offsets) == 2 else 0, kind)


def new_nodes(table: CodedColumns, sums: Any, orders: NDArray[np.uint64], n: int, rules: GrowthRules) -> GrownNodes:
    """Return arrays for the nodes of a tree; memory that no node writes to is not taken."""
    n_stats, n_values = int(sums.offsets[-1]) + 2, 0 if isinstance(sums, ClassSums) else len(sums.y)
    n_cases = orders.shape[1] if len(orders) else 2 * n + 2
    bits = max(n - 1, 1).bit_length()
    if not isinstance(sums, ClassSums) or len(sums.offsets) > 2 or int(sums.offsets[-1]) << bits > 1 << 32:
        bits = 32  # a key has no room for a class
    widest = int(max([0, *table.n_codes[table.nominal == 1].tolist()]))
    m, wide = min(2 * n, _FIRST_NODES) + widest + 2, _table_size(table, n_stats, n, rules)
    entries = 4 * n + 4 * (widest + 2) * (1 + rules.max_surrogates) + wide
    return GrownNodes(
        nodes=sparse_empty((m, col.N_MULTIWAY_COLUMNS), np.int64),
        numbers=sparse_empty((m, 3), np.float64),
        keys=sparse_empty(m, np.uint64),
        sums=sparse_empty((m, n_stats), np.float64),
        value=sparse_empty((m, n_values), np.float64),
        measure=sparse_empty((m, n_values + n_stats - 1 if n_values else 0), np.float64),
        frontier=sparse_empty(m, np.int64),
        state=np.zeros(col.N_STATE, np.int64),
        row=np.empty(n_cases, np.uint32),
        weight=np.empty(n_cases),
        part=np.empty(n_cases if rules.missing == col.FRACTIONAL else 0),
        outcome=_outcome_of(sums, n_cases),
        orders=orders,
        place_bits=np.uint64(bits),
        place_mask=np.uint64((1 << min(bits, 31)) - 1),
        cuts=sparse_empty((2 * n + wide, 2), np.int64),
        branch=sparse_empty(entries, np.int32),
        level=sparse_empty(2 * n + wide, np.int32),
        surrogates=sparse_empty(((n + 2) * rules.max_surrogates, 6), np.int64),
        agreements=sparse_empty(((n + 2) * rules.max_surrogates, 2), np.float64),
    )


_FULL = {
    col.NODES_FULL: ("nodes", "numbers", "keys", "sums", "value", "measure", "frontier"),
    col.CASES_FULL: ("row", "weight", "part", "outcome", "orders"),
    col.RAGGED_FULL: ("cuts", "branch", "level", "surrogates", "agreements"),
}


def with_room(grown: GrownNodes, *, keeps_order: bool) -> GrownNodes:
    """Return a tree under construction with room in what is full: where lists are done with, or else twice as much.

    ``keeps_order``: nodes are divided one behind the other, which leaves no list that is done with before an open one.
    """
    if not keeps_order and grown.state[col.STATUS] == col.CASES_FULL and _closed_up(grown):
        return grown
    return _enlarged(grown)


def _closed_up(grown: GrownNodes) -> bool:
    """Move the lists of the nodes that wait to the front, if that halves what is listed; tell whether it did."""
    waiting = grown.frontier[: grown.state[col.N_FRONTIER]]
    waiting = waiting[np.argsort(grown.nodes[waiting, START])]
    if 2 * int((grown.nodes[waiting, STOP] - grown.nodes[waiting, START]).sum()) > grown.state[col.N_CASES]:
        return False
    names, end = set(_FULL[col.CASES_FULL]) - ({"part"} if grown.part is grown.weight else set()), 0
    for node in waiting:
        start, stop = grown.nodes[node, START], grown.nodes[node, STOP]
        begin, end = end, int(end + stop - start)
        for name in names:
            column = getattr(grown, name)
            for one in column if name == "orders" else [column] * (len(column) > 0):
                one[begin:end] = one[start:stop]
        grown.nodes[node, START], grown.nodes[node, STOP] = begin, end
    grown.state[col.N_CASES] = end
    return True


def _enlarged(grown: GrownNodes) -> GrownNodes:
    larger: dict[str, Any] = {}
    for name in _FULL[int(grown.state[col.STATUS])]:
        column = getattr(grown, name)
        if name == "orders":
            larger[name] = np.empty((len(column), 2 * column.shape[1] + 16), column.dtype)
            larger[name][:, : column.shape[1]] = column
        elif len(column):
            larger[name] = np.empty((2 * len(column) + 16, *column.shape[1:]), column.dtype)
            larger[name][: len(column)] = column
    if grown.part is grown.weight:
        larger |= {"part": larger["weight"]} if "weight" in larger else {}
    return grown._replace(**larger)


def with_context(work: GrowerContext, **changed: Any) -> GrowerContext:
    """Return the arguments of growth with other arrays."""
    test_context = work.test_context
    return work._replace(test_context=test_context._replace(context=test_context.context._replace(**changed)))
