"""A table to the best tree: columns, loss, searches under a time limit, and what they found."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from dtnumba.growth.optimal.columns import has_many_levels, is_binary, n_cuts
from dtnumba.growth.optimal.engines import MUCH, BitEngine, SortedEngine
from dtnumba.growth.optimal.greedy import Greedy, Tree, same_rows
from dtnumba.growth.optimal.objectives import priced
from dtnumba.growth.optimal.rule import ALL_TESTS, TreeRule

if TYPE_CHECKING:
    from collections.abc import Callable

    from dtnumba.growth.optimal.columns import OrderedColumn
    from dtnumba.growth.optimal.engines import Engine
    from dtnumba.growth.optimal.greedy import Grower
    from dtnumba.growth.optimal.objectives import Objective
    from dtnumba.runtime.progress import Monitor

Number = TypeVar("Number", int, float)

_FEW_CUTS = 400  # up to which all are columns of 0 and 1
_SHALLOW, _DEEPEST = 4, 10  # levels that small tables are searched in without a greedy tree first, and at most
_A_WHILE = 2_000_000_000  # steps of some nanoseconds, of a search that others follow
_AT_ONCE = 0.05  # seconds that need no thread to wait in
_SOON = 1.0  # seconds that anybody waits for a first greedy tree
_A_LOOK = 100e-9  # seconds that a row of a column takes to be put in order
_SHARES = (1 / 8, 1 / 4, 1 / 2, 3 / 4)  # of the best loss, below which is looked for trees to raise the bound
_LESS = 4  # of the steps are for each bound between the one that is known and the least that took too long


def add_step(history: list[tuple[float, Number, Number]], seconds: float, upper: Number, lower: Number) -> bool:
    """Append a loss and a bound to a history where one is better than what stands there; tell whether it is."""
    lower = min(lower, upper)
    if history:
        upper, lower = min(upper, history[-1][1]), max(lower, history[-1][2])
        if (upper, lower) == history[-1][1:]:
            return False
    history.append((seconds, upper, lower))
    return True


@dataclass
class Found:
    """The best tree of a search, and how good it may be."""

    tree: Tree | None  # None: none loses less than is of interest
    upper: int  # its loss, tests included
    lower: int = 0  # what every tree loses
    explored: int = 0
    history: list[tuple[float, int, int]] = field(default_factory=list)  # seconds, loss, bound
    tell: Callable[[float, int, int], None] | None = None  # what is called with each of these

    def take(self, tree: Tree, upper: int) -> None:
        """Keep a tree that loses less."""
        if upper < self.upper:
            self.tree, self.upper = tree, upper

    def note(self, seconds: float, upper: int) -> None:
        """Append to the history what is better than what stands there."""
        if add_step(self.history, seconds, upper, self.lower) and self.tell is not None:
            self.tell(*self.history[-1])


class SearchLimits(NamedTuple):
    """Which trees are allowed, and when the search may end."""

    depth: int
    tests: int
    least: int  # rows of a leaf
    memory: int  # bytes
    gap: float = 0.0  # how much better another tree may be, as a share
    start: str | None = "greedy"  # look for good trees first; None: do not
    upper: int | None = None  # only trees that lose less are of interest; None: all
    tell: Callable[[float, int, int], None] | None = None  # called with seconds, loss and bound as they get better
    workers: int = 1  # threads
    grower: Grower | None = None  # of greedy trees
    is_whole: bool = True  # whether the columns are all that there are: they are not where time ended before


AS_BEFORE = 0  # as many steps as the search before it took


class Pass(NamedTuple):
    """One search of several."""

    budget: int  # of discrepancies; ALL_TESTS: of all trees
    share: float = 1.0  # only trees that lose less than this share of the best one so far
    steps: int = MUCH  # after which the next one has its turn


def passes(depth: int, start: str | None, *, of_bits: bool) -> list[Pass]:
    """Return the searches, one after another: trees along promising tests, then all, and bounds between them.

    Over ordered columns, the bound rises while ranges of the root's cuts are divided.
    """
    if start is None or depth <= 2:
        return [Pass(ALL_TESTS)]
    bounds = [Pass(ALL_TESTS, share, _A_WHILE) for share in _SHARES]
    if depth <= _SHALLOW:
        between = [Pass(ALL_TESTS, 1.0, _A_WHILE), *bounds] if of_bits else []
        return [Pass(0), Pass(2), *between, Pass(ALL_TESTS)]
    found = [Pass(0)]
    for budget in (1, 2, 4, 8, 16, 32):
        found += [Pass(budget), Pass(ALL_TESTS, 1.0, AS_BEFORE)]
        if budget == 4:
            found += bounds
    return [*found, Pass(ALL_TESTS)]


def find_tree(columns: list[OrderedColumn], goal: Objective, limits: SearchLimits, monitor: Monitor) -> Found:
    """Look for the best tree until it is proven or the monitor stops the search.

    Its tree is None where none loses less than ``limits.upper``. Columns may be appended to those given.
    """
    depth, most, least = limits[:3]
    found = Found({}, goal.root, tell=limits.tell)
    if limits.upper is not None and goal.root >= limits.upper:
        found = Found(None, limits.upper, tell=limits.tell)
    found.note(monitor.seconds_of_work(), found.upper)
    searched = min(depth, _DEEPEST)
    rule = TreeRule(searched, min(most, (1 << searched) - 1), least, goal.price, limits.gap, np.zeros(0))
    if not limits.is_whole:
        return found
    if not columns or depth == 0 or most == 0 or goal.root <= goal.price:
        found.lower = found.upper
        found.note(monitor.seconds_of_work(), found.upper)
        return found
    begins = searched > _SHALLOW or any(map(has_many_levels, columns))
    has_trees = begins or (limits.upper is None and comes_first(columns, goal, limits, monitor))
    if has_trees:
        _take_greedy(columns, goal, limits, monitor, found)
        if begins:
            _bound_alike(columns, goal, limits, monitor, found)
        goal = priced(goal, columns)
    ready = partial(made_ready, takes_long=takes_long(len(columns), len(goal.values)), monitor=monitor)
    one = ready(partial(_engine, columns, goal, rule, limits, lambda: bool(monitor.stopped)))
    if one is not None:
        one.compile()
        try:
            _search(one, found, limits, monitor, ready, is_whole=searched == depth)
        finally:
            one.close()
    if found.lower < found.upper and not has_trees:
        _take_greedy(columns, goal, limits, monitor, found)
    if found.lower < found.upper and not begins:
        _bound_alike(columns, goal, limits, monitor, found)
    if searched < depth:
        _extend(columns, goal, limits, monitor, found)
    found.note(monitor.seconds_of_work(), found.upper)
    return found


def _engine(
    columns: list[OrderedColumn], goal: Objective, rule: TreeRule, limits: SearchLimits, is_over: Callable[[], bool]
) -> Engine | None:
    for column in columns:  # each is looked at once, and knows then
        if is_over():
            return None
        _ = column.last_code
    is_bits = goal.is_sum and (is_binary(columns) or n_cuts(columns) <= _FEW_CUTS)
    return (BitEngine if is_bits else SortedEngine)(columns, goal, rule, limits.memory, limits.workers)


def made_ready(make: Callable[[], Any], *, takes_long: bool, monitor: Monitor) -> Any:
    """Return what a function makes, or None where the monitor stops that, as it may if it takes long."""
    if not takes_long:
        return make()
    return None if monitor.stopped else monitor.in_background(make)


def takes_long(n_columns: int, n_rows: int) -> bool:
    """Tell whether one look at all columns takes long enough to be stopped."""
    return n_columns * n_rows * _A_LOOK > 2 * _AT_ONCE


def _search(
    one: Engine,
    found: Found,
    limits: SearchLimits,
    monitor: Monitor,
    ready: Callable[[Callable[[], Engine]], Engine | None],
    *,
    is_whole: bool,
) -> None:
    """Search pass by pass, until the best tree is proven, or good enough, or the monitor stops it."""
    twin: Engine | None = None
    now, steps, too_high = one, 0, 0  # below which a search for a bound did not end

    def watch() -> int:
        if now.is_running:
            found.note(monitor.seconds_of_work(), min(found.upper, now.loss_so_far()))
        return 0

    for step in passes(one.depth, limits.start, of_bits=isinstance(one, BitEngine)):
        better = found.upper - (int(limits.gap * found.upper) if one.depth > 2 else 0)
        target = better if step.share == 1.0 else int(step.share * found.upper)
        if found.lower >= better or monitor.stopped:
            break
        # Where a search for a bound did not end, one for a higher bound would not, either; one for a lower bound may.
        if step.share < 1.0 and too_high > 0:
            target, step = (found.lower + too_high) // 2, step._replace(steps=step.steps // _LESS)
        if step.share < 1.0 and target <= found.lower:
            continue
        is_last = step.budget == ALL_TESTS and step.share == 1.0
        now = one
        if not is_last and one.has_begun:  # which shall go on later
            if twin is None:
                twin = ready(one.twin)
                if twin is None:
                    break
                twin.compile()
            now = twin
            twin.has_begun = False
        begun, before = int(now.explored_at[0]), found.upper
        most = max(steps, _A_WHILE // 4) if step.steps == AS_BEFORE else step.steps
        halted = monitor.run_function(partial(now.search, target, step.budget, most), now.job.halt, watch)
        steps = (int(now.explored_at[0]) - begun) * now.steps
        if now.loss_so_far() < found.upper:
            found.take(now.tree(), now.loss_so_far())
        if step.budget == ALL_TESTS and is_whole:
            found.lower = max(found.lower, _proven(now, found, target, before, limits.gap))
        found.note(monitor.seconds_of_work(), found.upper)
        if step.share < 1.0 and not now.ended:
            too_high = target
        if halted or (is_last and now.ended):
            break
    found.explored = sum(int(each.explored_at[0]) for each in (one, twin) if each is not None)


def _proven(one: Engine, found: Found, target: int, before: int, gap: float) -> int:
    """Return what every tree loses, after a search of all trees that lose less than ``target``."""
    if not one.ended:
        return one.bound(found.upper)
    if found.upper < before:  # the best of all, or good enough
        return found.upper - (int(gap * found.upper) if one.depth > 2 else 0)
    return target


def _take_greedy(
    columns: list[OrderedColumn], goal: Objective, limits: SearchLimits, monitor: Monitor, found: Found
) -> None:
    """Note the greedy trees: what of them is there before time is up."""
    for tree, upper in greedy_trees(columns, goal, limits, monitor):
        found.take(tree, upper)
    found.lower = min(found.lower, found.upper)
    found.note(monitor.seconds_of_work(), found.upper)


def _bound_alike(
    columns: list[OrderedColumn], goal: Objective, limits: SearchLimits, monitor: Monitor, found: Found
) -> None:
    """Note what rows lose that are alike, where this takes less time than is left."""
    lower = made_ready(partial(same_rows, columns, goal), takes_long=not _is_quick(limits, goal), monitor=monitor)
    found.lower = min(max(found.lower, lower or 0), found.upper)
    found.note(monitor.seconds_of_work(), found.upper)


def greedy_trees(
    columns: list[OrderedColumn], goal: Objective, limits: SearchLimits, monitor: Monitor
) -> list[tuple[Tree, int]]:
    """Return the greedy trees to begin with, and what they lose: those that are grown before time is up.

    Their divisions of categories that have many levels are appended to the columns.
    """
    if limits.start is None or not limits.is_whole:
        return []

    n_columns = len(columns)
    grown: list[tuple[Tree, int, list[OrderedColumn]]] = []
    left = _SOON if monitor.max_seconds is None else (monitor.max_seconds - monitor.seconds_of_work()) / 2
    # Where the time may be up before a whole tree is grown, its upper levels come first: a sum of halves is no more.
    depths = [limits.depth]
    while depths[0] > 1 and _seconds(limits, goal) > max(left, _AT_ONCE):
        depths.insert(0, depths[0] // 2)

    def grow() -> None:
        greedy = Greedy(columns, goal, limits.grower)
        for depth in depths:
            for tree, upper in greedy.trees(depth, limits.tests):
                grown.append((tree, upper, greedy.columns[n_columns:]))

    made_ready(grow, takes_long=not _is_quick(limits, goal), monitor=monitor)
    found = grown.copy()  # where time is up, the thread goes on with its own
    if found:
        columns += found[-1][2]
    return [(tree, upper) for tree, upper, _ in found]


def comes_first(columns: list[OrderedColumn], goal: Objective, limits: SearchLimits, monitor: Monitor) -> bool:
    """Tell whether greedy trees are grown before a search of few levels.

    They are where nobody may wait for them once a limit or Ctrl-C has ended the search; but not before a search that
    takes less time than they do.
    """
    if limits.start is None or _is_quick(limits, goal):
        return False
    if limits.depth > 2 or monitor.max_seconds is not None or monitor.verbose:
        return True
    steps = len(columns) ** 2 * len(goal.values)
    return limits.depth == 2 and steps > _A_WHILE * (64 if is_binary(columns) else 1)


def _is_quick(limits: SearchLimits, goal: Objective) -> bool:
    return _seconds(limits, goal) < _AT_ONCE


def _seconds(limits: SearchLimits, goal: Objective) -> float:
    """Return about how long greedy trees take."""
    return 0.0 if limits.grower is None else limits.grower.seconds(len(goal.values), limits.depth)


def _extend(
    columns: list[OrderedColumn], goal: Objective, limits: SearchLimits, monitor: Monitor, found: Found
) -> None:
    """Grow the tree that was found greedily to the depth that was asked for."""
    if not found.tree or (monitor.stopped and not _is_quick(limits, goal)):
        return
    given = dict(found.tree)

    def grow() -> tuple[Tree, int, list[OrderedColumn]]:
        greedy = Greedy(columns, goal, limits.grower)
        tree = greedy.extended(given, limits.depth, limits.tests, lambda: bool(monitor.stopped))
        return tree, greedy.prune(tree), greedy.columns[len(columns) :]

    grown = monitor.in_background(grow)
    if grown is not None:
        columns += grown[2]
        found.take(*grown[:2])


def count_tests(tree: Tree) -> int:
    """Return how many tests a tree has."""
    return len(tree)


def loss_of_leaves(tree: Tree, columns: list[OrderedColumn], goal: Objective) -> int:
    """Return what the leaves of a tree lose, without its tests, where sums say so."""
    lost, waiting = 0, [(0, np.ones(len(goal.values), bool))]
    while waiting:
        k, rows = waiting.pop()
        if k not in tree:
            lost += int(type(goal.loss).leaf(goal.loss, goal.values[rows].sum(axis=0)))
            continue
        goes_left = columns[tree[k][0]].codes <= tree[k][1]
        waiting += [(2 * k + 1, rows & goes_left), (2 * k + 2, rows & ~goes_left)]
    return lost


class BestTree(NamedTuple):
    """The best tree of a fit, in the caller's units."""

    tree: Tree
    loss: float
    objective: float
    lower: float
    explored: int
    history: list[tuple[float, float, float]]


def say_step(unit: float, seconds: float, upper: float, lower: float) -> None:
    """Write how good the best tree is, and how good any could be."""
    sys.stderr.write(f"{seconds:.2f} s: {upper * unit:.6g}, at least {lower * unit:.6g}\n")
    sys.stderr.flush()


def unrounded(best: BestTree, loss: float) -> BestTree:
    """Return what a tree loses that the search, which rounds down what is no whole number, found to lose a bit less."""
    objective = best.objective + max(0.0, loss - best.loss)
    lower = objective if best.lower >= best.objective else best.lower
    history = [
        (seconds, max(one, objective), lower if bound == best.lower else bound) for seconds, one, bound in best.history
    ]
    return best._replace(loss=loss, objective=objective, lower=lower, history=history)
