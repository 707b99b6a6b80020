"""Tables to trees by the general growth: which fits need it, the codes it reads, room that grows when it is full."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba._jit import entry_of
from dtnumba.binned_table import histogram_of
from dtnumba.bins import rank_codes
from dtnumba.criteria import CRITERIA, PoissonWithZeros
from dtnumba.frontier import AllFeatures, BestFirst, DepthFirst, SomeFeatures
from dtnumba.grow import NO_LIMIT
from dtnumba.growers import cases
from dtnumba.growers.candidates import judge
from dtnumba.growers.cases import Calls, Desk, GeneralWork, Ground, GrownNodes, GrowthRules, Scoring
from dtnumba.growers.divide import divide
from dtnumba.growers.general import grow_general
from dtnumba.growers.levels import look_at_each_level, look_at_merged_levels, look_at_two_sides
from dtnumba.growers.numeric import look_for_interval, look_for_ranges, look_for_threshold
from dtnumba.growers.options import CATEGORICAL, MERGED, MISSING, NUMERIC, Options
from dtnumba.growers.sums import ClassSums, NumberSums
from dtnumba.growers.surrogates import find_surrogates
from dtnumba.growers.to_trees import to_trees

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.binned_table import Features
    from dtnumba.trees import Trees
    from dtnumba.weights import Weights

# Criteria that are concave in the shares of two classes, or are the spread of numbers around their mean
_CONCAVE = ("gini", "entropy", "error", "twoing", "chi2", "squared_error", "poisson")
_NOT_OTHER = np.empty(0)
_MOST_TABLE = 1 << 22  # numbers in the table of a numeric feature


def rules_of(options: Options, criterion: Any, sums: ClassSums | NumberSums) -> GrowthRules:
    """Return the options in kernels' terms."""
    is_one = len(sums.offsets) == 2
    width, of_classes = int(sums.offsets[-1]), isinstance(sums, ClassSums)
    known = (*(CRITERIA[name] for name in _CONCAVE), PoissonWithZeros)
    is_proven = type(criterion) in known and is_one and width == (2 if of_classes else 1)
    return GrowthRules(
        missing=MISSING[options.missing],
        categorical=cases.MERGED if options.categorical_split == MERGED else CATEGORICAL[options.categorical_split],
        numeric=NUMERIC[options.numeric_split],
        empty_leaves=int(options.empty_leaves),
        two_suffice=int(options.two_suffice),
        use_surrogate=int(options.use_surrogate),
        surrogate_style=int(options.surrogate_style),
        max_surrogates=int(options.max_surrogates) if options.missing == "surrogate" else 0,
        of_classes=int(of_classes),
        proven_order=int(is_proven),
    )


def sums_of(known: Any, criterion: Any, kept: NDArray[np.uint32]) -> ClassSums | NumberSums:
    """Return the kind of sums for the Labels or Values of a fit."""
    if known.kind == "classes":
        offsets = np.cumsum([0, *known.sizes]).astype(np.int64)
        places = known.codes.T.astype(np.int32) + offsets[:-1, None].astype(np.int32)
        return ClassSums(np.ascontiguousarray(places), offsets)
    n_outputs, moments = known.y.shape[1], getattr(type(criterion), "moments", 1)
    centre = np.zeros(n_outputs)
    if getattr(type(criterion), "centred", False):
        low, high = known.y[kept].min(axis=0), known.y[kept].max(axis=0)
        centre = low / 2 + high / 2
    y = np.ascontiguousarray((known.y - centre).T)
    return NumberSums(y, centre, np.arange(n_outputs + 1, dtype=np.int64) * moments)


@dataclass(frozen=True, eq=False)
class Coded:
    """A table as codes, a row a column."""

    codes: NDArray[Any]  # (p, n)
    bins: Any
    nominal: NDArray[np.uint8]

    @property
    def n_codes(self) -> NDArray[np.int64]:
        """Return the number of values of each column, which is the code of a missing one."""
        return np.asarray(self.bins.n_codes, np.int64)


def coded(table: Features, kept: NDArray[np.uint32], max_bins: int | None, workers: int) -> Coded:
    """Return a table as codes: exact ones, or those of a histogram."""
    if max_bins is None:
        codes, bins = rank_codes(table, kept, workers)
    else:
        codes, bins = histogram_of(table, kept, max_bins, workers)
    nominal = getattr(table, "nominal", None)
    nominal = np.zeros(table.n_features, np.uint8) if nominal is None else np.asarray(nominal).astype(np.uint8)
    width = np.uint32 if codes.dtype == np.uint32 else np.uint16
    return Coded(np.ascontiguousarray(codes.T, dtype=width), bins, nominal)


def _table_size(table: Coded, n_stats: int, n: int, rules: GrowthRules) -> int:
    """Return how many groups the table of a node has room for."""
    numeric = table.n_codes[table.nominal == 0]
    small = numeric[(numeric * n_stats <= _MOST_TABLE) & (numeric <= 2 * n + 2)]
    size = max([0, *small.tolist(), *table.n_codes[table.nominal == 1].tolist()])
    if rules.numeric == cases.INTERVAL:
        size = max([size, *numeric.tolist()])
    return int(max(size, 256 if rules.numeric != cases.RANGES else 1024)) + 3


def new_desk(table: Coded, n_stats: int, n: int, rules: GrowthRules) -> Desk:
    """Allocate what the work on a node needs."""
    p, t = len(table.codes), _table_size(table, n_stats, n, rules)
    levels = max([0, *table.n_codes[table.nominal == 1].tolist()]) + 2
    floats = np.empty
    return Desk(
        sides=np.zeros((8, n_stats)),
        table=floats((t, n_stats)),
        shares=floats(t),
        code=np.empty(t, np.int64),
        keys=np.empty(n, np.uint64),
        other_keys=np.empty(n, np.uint64),
        digits=np.empty(256, np.int64),
        way=np.empty(n, np.int32),
        row=np.empty(n, np.uint32),
        weight=floats(n),
        child=np.zeros(levels, np.int32),
        cut=np.zeros((t, 2), np.int64),
        ranges=np.zeros(t, np.int32),
        fill=np.empty(t + 2, np.int64),
        order=np.empty(t, np.int64),
        place=floats(t),
        axes=floats((3, n_stats)),
        test=np.zeros(cases.N_TEST, np.int64),
        votes=floats((levels, 4)),
        features=np.arange(p),
        drawn=np.empty(p, np.int64),
        listed=np.empty(p, np.int64),
        gain=np.zeros(p),
        information=np.zeros(p),
    )


def new_grown(table: Coded, n_stats: int, n_values: int, n: int, rules: GrowthRules) -> GrownNodes:
    """Allocate room for a tree; what no node touches costs no memory."""
    widest = int(max([0, *table.n_codes[table.nominal == 1].tolist()]))
    m, wide = 2 * n + widest + 2, _table_size(table, n_stats, n, rules)
    entries = 4 * n + 4 * (widest + 2) * (1 + rules.max_surrogates) + wide
    return GrownNodes(
        nodes=np.empty((m, cases.N_COLUMNS), np.int64),
        numbers=np.empty((m, 3)),
        keys=np.empty(m, np.uint64),
        sums=np.empty((m, n_stats)),
        value=np.empty((m, n_values)),
        frontier=np.empty(m, np.int64),
        state=np.zeros(cases.N_STATE, np.int64),
        row=np.empty(2 * n + 2, np.uint32),
        weight=np.empty(2 * n + 2),
        cuts=np.empty((2 * n + wide, 2), np.int64),
        branch=np.empty(entries, np.int32),
        level=np.empty(2 * n + wide, np.int32),
        surrogates=np.empty(((n + 2) * rules.max_surrogates, 6), np.int64),
        agreements=np.empty(((n + 2) * rules.max_surrogates, 2)),
    )


_FULL = {
    cases.NODES_FULL: ("nodes", "numbers", "keys", "sums", "value", "frontier"),
    cases.CASES_FULL: ("row", "weight"),
    cases.RAGGED_FULL: ("cuts", "branch", "level", "surrogates", "agreements"),
}


def _enlarged(grown: GrownNodes) -> GrownNodes:
    """Return a tree under construction with twice the room in what is full."""
    larger = {}
    for name in _FULL[int(grown.state[cases.STATUS])]:
        column = getattr(grown, name)
        larger[name] = np.empty((2 * len(column) + 16, *column.shape[1:]), column.dtype)
        larger[name][: len(column)] = column
    return grown._replace(**larger)


def work_on(
    table: Coded,
    sums: Any,
    criterion: Any,
    limits: Any,
    rules: GrowthRules,
    n: int,
    plain: NDArray[np.float64] = _NOT_OTHER,
) -> GeneralWork:
    """Return all that growth over n rows needs, its rows not listed yet."""
    n_stats, n_values = int(sums.offsets[-1]) + 2, 0 if isinstance(sums, ClassSums) else len(sums.centre)
    order: Any = BestFirst() if limits.max_leaves < NO_LIMIT else DepthFirst()
    drawing: Any = SomeFeatures(limits.features_key) if limits.n_drawn < len(table.codes) else AllFeatures()
    grown, desk = new_grown(table, n_stats, n_values, n, rules), new_desk(table, n_stats, n, rules)
    codes, n_codes, calls = table.codes, table.n_codes, Calls(0, 0, 0, 0, 0)
    ground = Ground(codes, n_codes, table.nominal, sums, limits, rules, grown, desk, calls, plain)
    scoring = Scoring(ground, criterion)
    ground = ground._replace(calls=_calls_of(scoring))
    return GeneralWork(scoring._replace(ground=ground), order, drawing)


def _calls_of(scoring: Scoring) -> Calls:
    """Return the kernels that a fit needs, compiled where need be."""
    nominal, rules = scoring.nominal, scoring.rules
    at_number = {cases.THRESHOLD: look_for_threshold, cases.INTERVAL: look_for_interval, cases.RANGES: look_for_ranges}
    at_category = {cases.MULTIWAY: look_at_each_level, cases.MERGED: look_at_merged_levels}.get(rules.categorical)
    seeks_surrogates = rules.missing == cases.SURROGATE and rules.use_surrogate > 0 and rules.max_surrogates > 0
    return Calls(
        number=entry_of(at_number[rules.numeric], scoring) if (nominal == 0).any() else 0,
        category=entry_of(at_category or look_at_two_sides, scoring) if (nominal == 1).any() else 0,
        judge=entry_of(judge, scoring),
        divide=entry_of(divide, scoring.ground),
        surrogates=entry_of(find_surrogates, scoring.ground) if seeks_surrogates else 0,
    )


def grow_rows(work: GeneralWork, rows: NDArray[np.uint32], weights: NDArray[np.float64], bins: Any) -> Trees:
    """Grow a tree over the given rows of positive weight."""
    n = len(rows)
    work.grown.row[:n], work.grown.weight[:n] = rows, weights
    while True:
        grow_general(work, n)
        if work.grown.state[cases.STATUS] == cases.DONE:
            break
        ground = work.ground._replace(grown=_enlarged(work.grown))
        work = work._replace(scoring=work.scoring._replace(ground=ground))
    is_fractional = work.rules.missing == cases.FRACTIONAL
    trees: Trees = to_trees(work.grown, work.target, bins, is_fractional=is_fractional)
    return trees


def train_general(table: Features, known: Any, criterion: Any, weights: Weights, settings: Any) -> Trees:
    """Grow one tree over the rows of positive weight."""
    kept = weights.kept
    sums = sums_of(known, criterion, kept)
    own = coded(table, kept, settings.max_bins, settings.workers)
    rules = rules_of(settings.options, criterion, sums)
    plain = _NOT_OTHER if weights.plain is None else weights.plain
    work = work_on(own, sums, criterion, settings.limits(weights.total), rules, len(kept), plain)
    weight = np.asarray(weights.integers[kept] * weights.unit, np.float64)
    return grow_rows(work, kept, weight, own.bins)
