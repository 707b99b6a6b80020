"""Multiway growth from a table to Trees: its codes, its options, and arrays that are enlarged when they are full."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.criteria.contract import is_centred, is_concave, shows_away
from dtnumba.growth.multiway import columns as col
from dtnumba.growth.multiway.category_tests import find_category_split, find_merged_split, find_two_way_split
from dtnumba.growth.multiway.divide import divide
from dtnumba.growth.multiway.grow import grow_general
from dtnumba.growth.multiway.judge_test import judge
from dtnumba.growth.multiway.node_sums import ClassSums, NumberSums
from dtnumba.growth.multiway.nodes import (
    Calls,
    GrowerContext,
    GrownNodes,
    GrowthRules,
    NodeContext,
    NodeScratch,
    TestContext,
)
from dtnumba.growth.multiway.number_tests import find_interval, find_ranges, find_threshold
from dtnumba.growth.multiway.surrogates import find_surrogates
from dtnumba.growth.multiway.to_trees import to_trees
from dtnumba.growth.policies.feature_sampling import AllFeatures, SomeFeatures
from dtnumba.growth.policies.limits import limits_of
from dtnumba.growth.settings import CATEGORICAL_SPLITS, MERGED, MISSING_POLICIES, NUMERIC_SPLITS, Options
from dtnumba.runtime.addresses import call_entry, code_for, codes_for, compile_entries, entry_of
from dtnumba.runtime.progress import run_heeding
from dtnumba.tables.binned_table import histogram_of
from dtnumba.tables.bins import rank_codes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.tables.binned_table import Features
    from dtnumba.tables.weights import Weights
    from dtnumba.trees.layout import Trees


_NOT_OTHER = np.empty(0)
_STEPS_A_SUM = 50  # about how often a value is added to a sum
_FIRST_NODES = 1 << 12  # for which there is room at first: of very many classes each takes kilobytes
_MOST_TABLE = 1 << 22  # numbers in the table of a numeric feature


def rules_of(options: Options, criterion: Any, sums: ClassSums | NumberSums) -> GrowthRules:
    """Return the options as numbers, which kernels read."""
    is_one = len(sums.offsets) == 2
    width, of_classes = int(sums.offsets[-1]), isinstance(sums, ClassSums)
    of_one_sum = width == (1 + sums.shows_away if isinstance(sums, NumberSums) else 2)
    is_proven = is_concave(criterion) and is_one and of_one_sum
    return GrowthRules(
        missing=MISSING_POLICIES[options.missing],
        categorical=col.MERGED_CATEGORIES
        if options.categorical_split == MERGED
        else CATEGORICAL_SPLITS[options.categorical_split],
        numeric=NUMERIC_SPLITS[options.numeric_split],
        empty_leaves=int(options.empty_leaves),
        two_suffice=int(options.two_suffice),
        use_surrogate=int(options.use_surrogate),
        surrogate_style=int(options.surrogate_style),
        max_surrogates=int(options.max_surrogates) if options.missing == "surrogate" else 0,
        of_classes=int(of_classes),
        proven_order=int(is_proven),
    )


def sums_of(outcome: Any, criterion: Any) -> ClassSums | NumberSums:
    """Return ClassSums or NumberSums for the Labels or Values of a fit."""
    if outcome.kind == "classes":
        offsets = np.cumsum([0, *outcome.sizes]).astype(np.int64)
        places = outcome.codes.T.astype(np.int32) + offsets[:-1, None].astype(np.int32)
        return ClassSums(np.ascontiguousarray(places), offsets)
    n_outputs, kind = outcome.y.shape[1], type(criterion)
    shows_both = shows_away(kind)
    width = 2 if shows_both else getattr(kind, "moments", 1)
    offsets = np.arange(n_outputs + 1, dtype=np.int64) * width
    y, moves = np.ascontiguousarray(outcome.y.T), int(is_centred(kind) or shows_both)
    return NumberSums(y, np.zeros(n_outputs * (1 + width) + 1), moves, int(shows_both), offsets)


@dataclass(frozen=True, eq=False)
class CodedColumns:
    """A table as codes, a row a column."""

    codes: NDArray[Any]  # (p, n)
    bins: Any
    nominal: NDArray[np.uint8]

    @property
    def n_codes(self) -> NDArray[np.int64]:
        """Return the number of values of each column, which is the code of a missing one."""
        return np.asarray(self.bins.n_codes, np.int64)


def coded(table: Features, kept: NDArray[np.uint32], max_bins: int | None, workers: int) -> CodedColumns:
    """Return a table as codes: exact ones, or those of a histogram."""
    if max_bins is None:
        codes, bins = rank_codes(table, kept, workers)
    else:
        codes, bins = histogram_of(table, kept, max_bins, workers)
    nominal = getattr(table, "nominal", None)
    nominal = np.zeros(table.n_features, np.uint8) if nominal is None else np.asarray(nominal).astype(np.uint8)
    width = np.uint32 if codes.dtype == np.uint32 else np.uint16
    return CodedColumns(np.ascontiguousarray(codes.T, dtype=width), bins, nominal)


def _table_size(table: CodedColumns, n_stats: int, n: int, rules: GrowthRules) -> int:
    """Return for how many groups the table of a node needs room."""
    numeric = table.n_codes[table.nominal == 0]
    small = numeric[(numeric * n_stats <= _MOST_TABLE) & (numeric <= 2 * n + 2)]
    size = max([0, *small.tolist(), *table.n_codes[table.nominal == 1].tolist()])
    if rules.numeric == col.INTERVAL:
        size = max([size, *numeric.tolist()])
    return int(max(size, 256 if rules.numeric != col.RANGES else 1024)) + 3


def new_scratch(table: CodedColumns, n_stats: int, n: int, rules: GrowthRules) -> NodeScratch:
    """Return the scratch for the work on one node."""
    p, t = len(table.codes), _table_size(table, n_stats, n, rules)
    levels = max([0, *table.n_codes[table.nominal == 1].tolist()]) + 2
    floats = np.empty
    return NodeScratch(
        sides=np.zeros((8, n_stats)),
        table=floats((t, n_stats)),
        group_weight=floats(t),
        code=np.empty(t, np.int64),
        keys=np.empty(n, np.uint64),
        other_keys=np.empty(n, np.uint64),
        digits=np.empty(256, np.int64),
        row_child=np.empty(n, np.int32),
        row=np.empty(n, np.uint32),
        weight=floats(n),
        category_child=np.zeros(levels, np.int32),
        cut=np.zeros((t, 2), np.int64),
        range_child=np.zeros(t, np.int32),
        fill=np.empty(t + 2, np.int64),
        order=np.empty(t, np.int64),
        place=floats(t),
        axes=floats((3, n_stats)),
        test=np.zeros(col.N_TEST, np.int64),
        votes=floats((levels, 4)),
        features=np.arange(p),
        drawn=np.empty(p, np.int64),
        listed=np.empty(p, np.int64),
        gain=np.zeros(p),
        information=np.zeros(p),
    )


def new_nodes(table: CodedColumns, n_stats: int, n_values: int, n: int, rules: GrowthRules) -> GrownNodes:
    """Return arrays for the nodes of a tree; memory that no node writes to is not taken."""
    widest = int(max([0, *table.n_codes[table.nominal == 1].tolist()]))
    m, wide = min(2 * n, _FIRST_NODES) + widest + 2, _table_size(table, n_stats, n, rules)
    entries = 4 * n + 4 * (widest + 2) * (1 + rules.max_surrogates) + wide
    return GrownNodes(
        nodes=np.empty((m, col.N_MULTIWAY_COLUMNS), np.int64),
        numbers=np.empty((m, 3)),
        keys=np.empty(m, np.uint64),
        sums=np.empty((m, n_stats)),
        value=np.empty((m, n_values)),
        measure=np.empty((m, n_values + n_stats - 1 if n_values else 0)),
        frontier=np.empty(m, np.int64),
        state=np.zeros(col.N_STATE, np.int64),
        row=np.empty(2 * n + 2, np.uint32),
        weight=np.empty(2 * n + 2),
        cuts=np.empty((2 * n + wide, 2), np.int64),
        branch=np.empty(entries, np.int32),
        level=np.empty(2 * n + wide, np.int32),
        surrogates=np.empty(((n + 2) * rules.max_surrogates, 6), np.int64),
        agreements=np.empty(((n + 2) * rules.max_surrogates, 2)),
    )


_FULL = {
    col.NODES_FULL: ("nodes", "numbers", "keys", "sums", "value", "measure", "frontier"),
    col.CASES_FULL: ("row", "weight"),
    col.RAGGED_FULL: ("cuts", "branch", "level", "surrogates", "agreements"),
}


def _enlarged(grown: GrownNodes) -> GrownNodes:
    """Return a tree under construction with twice the room in what is full."""
    larger = {}
    for name in _FULL[int(grown.state[col.STATUS])]:
        column = getattr(grown, name)
        larger[name] = np.empty((2 * len(column) + 16, *column.shape[1:]), column.dtype)
        larger[name][: len(column)] = column
    return grown._replace(**larger)


def work_on(
    table: CodedColumns,
    sums: Any,
    criterion: Any,
    limits: Any,
    rules: GrowthRules,
    n: int,
    plain: NDArray[np.float64] = _NOT_OTHER,
    halt: NDArray[np.int64] | None = None,
) -> GrowerContext:
    """Return the arguments of growth over n rows, which are not listed yet; it stops where ``halt[0]`` is not 0."""
    halt = np.zeros(1, np.int64) if halt is None else halt
    n_stats, n_values = int(sums.offsets[-1]) + 2, 0 if isinstance(sums, ClassSums) else len(sums.y)
    if isinstance(sums, NumberSums):
        sums = sums._replace(measure=np.zeros(len(sums.measure)))  # one for each tree of a forest
    drawing: Any = SomeFeatures(limits.features_key) if limits.n_drawn < len(table.codes) else AllFeatures()
    grown, scratch = new_nodes(table, n_stats, n_values, n, rules), new_scratch(table, n_stats, n, rules)
    codes, n_codes, calls = table.codes, table.n_codes, Calls()
    context = NodeContext(codes, n_codes, table.nominal, sums, limits, rules, grown, scratch, calls, plain, halt)
    test_context = TestContext(context, criterion)
    context = context._replace(calls=_calls_of(GrowerContext(test_context, drawing)))
    return GrowerContext(test_context._replace(context=context), drawing)


def _calls_of(work: GrowerContext) -> Calls:
    """Return the kernels that a fit needs, compiled where need be."""
    test_context, context, rules = work.test_context, work.context, work.rules
    at_number = {col.THRESHOLD: find_threshold, col.INTERVAL: find_interval, col.RANGES: find_ranges}
    at_category = {col.EACH_CATEGORY: find_category_split, col.MERGED_CATEGORIES: find_merged_split}.get(
        rules.categorical
    )
    seeks_surrogates = rules.missing == col.SURROGATE and rules.use_surrogate > 0 and rules.max_surrogates > 0
    of_tests: dict[str, Any] = {}
    of_nodes: dict[str, Any] = {"divide": divide}
    if (work.nominal == 0).any():
        of_tests["number"] = at_number[rules.numeric]
    if (work.nominal == 1).any():
        of_tests["category"] = at_category or find_two_way_split
    if seeks_surrogates:
        of_nodes["surrogates"] = find_surrogates
    of_tests["judge"] = judge
    wanted = codes_for(of_tests, test_context) | codes_for(of_nodes, context)
    compile_entries([code_for(grow_general, work), *wanted.values()])  # what takes longest comes first
    return Calls(**{name: entry_of(code) for name, code in wanted.items()})


def grow_rows(work: GrowerContext, rows: NDArray[np.uint32], weights: NDArray[np.float64], bins: Any) -> Trees:
    """Grow a tree over the given rows of positive weight; Ctrl-C ends that at once."""
    grown: list[Trees | None] = []
    levels = int((work.n_codes * work.nominal).max(initial=0))
    size = _STEPS_A_SUM * max(len(rows) * len(work.n_codes), levels * levels) * work.grown.sums.shape[1]
    run_heeding(lambda _: grown.append(grow_until(work, rows, weights, bins)), size, work.halt)
    assert grown[0] is not None
    return grown[0]


def grow_until(work: GrowerContext, rows: NDArray[np.uint32], weights: NDArray[np.float64], bins: Any) -> Trees | None:
    """Grow a tree over the given rows of positive weight; return None where it was stopped before it was whole."""
    n = len(rows)
    work.grown.row[:n], work.grown.weight[:n] = rows, weights
    while True:
        call_entry(code_for(grow_general, work), n, 0, 0)
        if work.grown.state[col.STATUS] == col.STOPPED:
            return None
        if work.grown.state[col.STATUS] == col.DONE:
            break
        context = work.context._replace(grown=_enlarged(work.grown))
        work = work._replace(test_context=work.test_context._replace(context=context))
    is_fractional = work.rules.missing == col.FRACTIONAL
    trees: Trees = to_trees(work.grown, work.target, bins, is_fractional=is_fractional)
    return trees


def train_general(table: Features, outcome: Any, criterion: Any, weights: Weights, settings: Any) -> Trees:
    """Grow one tree over the rows of positive weight."""
    kept = weights.kept
    sums = sums_of(outcome, criterion)
    own = coded(table, kept, settings.max_bins, settings.workers)
    rules = rules_of(settings.options, criterion, sums)
    plain = _NOT_OTHER if weights.plain is None else weights.plain
    work = work_on(own, sums, criterion, limits_of(settings, weights.total), rules, len(kept), plain)
    weight = np.asarray(weights.integers[kept] * weights.unit, np.float64)
    return grow_rows(work, kept, weight, own.bins)
