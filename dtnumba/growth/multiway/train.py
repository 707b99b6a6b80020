"""Multiway growth from a table to Trees: its codes, its options, and arrays that are enlarged when they are full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.criteria.contract import is_centred, is_concave, shows_away
from dtnumba.growth.columns import NO_LIMIT
from dtnumba.growth.multiway import columns as col
from dtnumba.growth.multiway.arrays import new_nodes, new_scratch, with_context
from dtnumba.growth.multiway.coded_columns import CodedColumns, coded, in_order
from dtnumba.growth.multiway.divide import divide
from dtnumba.growth.multiway.grow import grow_general
from dtnumba.growth.multiway.grow_together import grow_nodes
from dtnumba.growth.multiway.node_sums import ClassSums, NumberSums
from dtnumba.growth.multiway.nodes import (
    Calls,
    GrowerContext,
    GrowthRules,
    NodeContext,
    TestContext,
)
from dtnumba.growth.multiway.ordered_columns import divide_column, mark_classes
from dtnumba.growth.multiway.splits.category_tests import (
    find_category_split,
    find_grouped_split,
    find_merged_split,
    find_two_way_split,
)
from dtnumba.growth.multiway.splits.interval_tests import find_interval
from dtnumba.growth.multiway.splits.judge_test import judge
from dtnumba.growth.multiway.splits.number_tests import find_threshold
from dtnumba.growth.multiway.splits.range_tests import find_ranges
from dtnumba.growth.multiway.splits.surrogates import agree_with, follow_surrogates
from dtnumba.growth.multiway.to_trees import to_trees
from dtnumba.growth.policies.feature_sampling import AllFeatures, SomeFeatures
from dtnumba.growth.policies.limits import limits_of
from dtnumba.growth.settings import CATEGORICAL_SPLITS, GROUPED, MERGED, MISSING_POLICIES, NUMERIC_SPLITS, Options
from dtnumba.runtime import rng
from dtnumba.runtime.addresses import code_for, codes_for, compile_entries, entry_of
from dtnumba.runtime.progress import run_heeding

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.tables.binned_table import Features
    from dtnumba.tables.weights import Weights
    from dtnumba.trees.layout import Trees


_CATEGORICAL = CATEGORICAL_SPLITS | {MERGED: col.MERGED_CATEGORIES, GROUPED: col.GROUPED_CATEGORIES}
_NOT_OTHER = np.empty(0)
_STEPS_A_SUM = 50  # about how often a value is added to a sum


def rules_of(options: Options, criterion: Any, sums: ClassSums | NumberSums) -> GrowthRules:
    """Return the options as numbers, which kernels read."""
    is_one = len(sums.offsets) == 2
    width, of_classes = int(sums.offsets[-1]), isinstance(sums, ClassSums)
    of_one_sum = width == (1 + sums.shows_away if isinstance(sums, NumberSums) else 2)
    is_proven = is_concave(criterion) and is_one and of_one_sum
    return GrowthRules(
        missing=MISSING_POLICIES[options.missing],
        categorical=_CATEGORICAL[options.categorical_split],
        numeric=NUMERIC_SPLITS[options.numeric_split],
        empty_leaves=int(options.empty_leaves),
        two_suffice=int(options.two_suffice),
        use_surrogate=int(options.use_surrogate),
        surrogate_style=int(options.surrogate_style),
        max_surrogates=int(options.max_surrogates) if options.missing == "surrogate" else 0,
        of_classes=int(of_classes),
        proven_order=int(is_proven),
        shared_from=int(NO_LIMIT),
        apart_from=0,
        apart_below=0,
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
    if isinstance(sums, NumberSums):
        sums = sums._replace(measure=np.zeros(len(sums.measure)))  # one for each tree of a forest
    drawing: Any = SomeFeatures(limits.features_key) if limits.n_drawn < len(table.code_at) else AllFeatures()
    grown, scratch = new_nodes(table, sums, table.orders, n, rules), new_scratch(table, sums, n, rules)
    context = NodeContext(
        codes=table.codes,
        code_at=table.code_at,
        order_at=table.order_at,
        n_codes=table.n_codes,
        nominal=table.nominal,
        target=sums,
        limits=limits,
        rules=rules,
        grown=grown,
        scratch=scratch,
        calls=Calls(),
        n_rows=n,
        plain=plain,
        class_cases=_NOT_OTHER,
        halt=halt,
    )
    work = GrowerContext(TestContext(context, criterion), drawing, rng.ROOT_KEY, 0, 1)
    return with_context(work, calls=_calls_of(work))


def entries_of(work: GrowerContext) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the kernels that a fit needs by name: those that know the criterion, and the others."""
    rules = work.rules
    at_number = {col.THRESHOLD: find_threshold, col.INTERVAL: find_interval, col.RANGES: find_ranges}
    at_category = {
        col.EACH_CATEGORY: find_category_split,
        col.MERGED_CATEGORIES: find_merged_split,
        col.GROUPED_CATEGORIES: find_grouped_split,
    }.get(rules.categorical)
    seeks_surrogates = rules.missing == col.SURROGATE and rules.use_surrogate > 0 and rules.max_surrogates > 0
    of_tests: dict[str, Any] = {}
    of_nodes: dict[str, Any] = {"divide": divide}
    if (work.nominal == 0).any():
        of_tests["number"] = at_number[rules.numeric]
    if (work.nominal == 1).any():
        of_tests["category"] = at_category or find_two_way_split
    if rules.missing == col.SURROGATE:
        of_nodes["surrogates"] = follow_surrogates
    if seeks_surrogates:
        of_nodes["agree"] = agree_with
    if (work.order_at >= 0).any():
        of_nodes["columns"] = divide_column
        if rules.of_classes == 1:
            of_nodes["classes"] = mark_classes
    return of_tests | {"judge": judge}, of_nodes


def _calls_of(work: GrowerContext) -> Calls:
    """Return the addresses of the kernels that a fit needs, compiled where need be."""
    test_context, context = work.test_context, work.context
    of_tests, of_nodes = entries_of(work)
    wanted = codes_for(of_tests, test_context) | codes_for(of_nodes, context)
    longest_first = sorted(wanted, key=lambda name: (name != "divide", name == "judge"))
    compile_entries([code_for(grow_general, work), *(wanted[name] for name in longest_first)])
    return Calls(**{name: entry_of(code) for name, code in wanted.items()})


def grow_rows(
    work: GrowerContext, table: CodedColumns, rows: NDArray[np.uint32], weights: NDArray[np.float64], workers: int
) -> Trees:
    """Grow a tree over the given rows of positive weight; Ctrl-C ends that at once."""
    grown: list[Trees | None] = []
    levels = int((work.n_codes * work.nominal).max(initial=0))
    size = _STEPS_A_SUM * max(len(rows) * len(work.n_codes), levels * levels) * work.grown.sums.shape[1]
    run_heeding(lambda _: grown.append(grow_until(work, table, rows, weights, workers)), size, work.halt)
    assert grown[0] is not None
    return grown[0]


def grow_until(
    work: GrowerContext, table: CodedColumns, rows: NDArray[np.uint32], weights: NDArray[np.float64], workers: int = 1
) -> Trees | None:
    """Grow a tree over the given rows of positive weight; return None where it was stopped before it was whole."""
    if work.rules.missing == col.FRACTIONAL and (weights == 1.0).all():
        grown, scratch = work.grown, work.scratch
        own = {"grown": grown._replace(part=grown.weight), "scratch": scratch._replace(part=scratch.weight)}
        work = with_context(work, **own)
    list_rows(work, rows, weights)
    grown = grow_nodes(work, table, len(rows), workers, entries_of(work))
    if grown is None:
        return None
    trees: Trees = to_trees(grown, work.target, table.bins, is_fractional=work.rules.missing == col.FRACTIONAL)
    return trees


def list_rows(work: GrowerContext, rows: NDArray[np.uint32], weights: NDArray[np.float64]) -> None:
    """Write the rows of the root."""
    n, grown, target = len(rows), work.grown, work.target
    grown.row[:n], grown.weight[:n] = rows, weights
    grown.part[:n] = 1.0
    if len(grown.outcome):
        grown.outcome[:n] = (target.places if isinstance(target, ClassSums) else target.y)[0, rows]


def train_general(table: Features, outcome: Any, criterion: Any, weights: Weights, settings: Any) -> Trees:
    """Grow one tree over the rows of positive weight."""
    kept = weights.kept
    sums = sums_of(outcome, criterion)
    is_exact = settings.max_bins is None and settings.n_drawn >= table.n_features
    if is_exact:
        own = in_order(table, kept, settings.workers, in_parts=settings.options.missing == "fractional")
    else:
        own = coded(table, kept, settings.max_bins, settings.workers)
    rules = rules_of(settings.options, criterion, sums)
    plain = _NOT_OTHER if weights.plain is None else weights.plain
    work = work_on(own, sums, criterion, limits_of(settings, weights.total), rules, len(kept), plain)
    weight = np.asarray(weights.integers[kept] * weights.unit, np.float64)
    return grow_rows(work, own, kept, weight, settings.workers)
