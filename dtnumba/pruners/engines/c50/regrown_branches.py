# mypy: ignore-errors
"""C5.0's local pruning: subtrees become leaves, or their heaviest branch takes their place and is grown anew.

One pass over the tree from its leaves up, each node with the list of its cases, which are (row, weight) pairs. A branch
that takes the place of its parent gets all cases of it. Where these are clearly more, what hangs below its test is
grown again over them: the kernel stops, the caller grows, and the kernel goes on from there. It stops as well where an
array is full, and goes on once that is larger.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.pruners.engines.c50.branch_on_trial import cost_on_trial, keep_lost
from dtnumba.pruners.engines.c50.deal_cases import PooledCases, deal_cases
from dtnumba.pruners.engines.c50.pooled_errors import (
    PooledPruning,
    new_changes,
    new_pooled_scratch,
    new_pooled_state,
    pooled_cost,
    weigh,
    weight_in,
)
from dtnumba.pruners.engines.case_lists import (
    ENTERED,
    FRESH,
    RoutingColumns,
    lines_of,
    sum_cases,
    unit_of,
)
from dtnumba.pruners.engines.expected_errors import Costs, cost_of_leaf
from dtnumba.pruners.engines.fractional_subtree_raising import counted_anew
from dtnumba.runtime.addresses import caller_of, code_for
from dtnumba.runtime.kernels import entry, inline
from dtnumba.runtime.progress import run_heeding
from dtnumba.runtime.records import own_copy
from dtnumba.trees.assemble import in_canonical_order
from dtnumba.trees.layout import LEAF, NO_LEVELS, NO_MAP, Trees

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


_FULL, _DONE, _REGROW, _STOPPED = range(4)
_SAME = 1e-9  # weights of two branches that differ by this share are equal
_LEAST_RAISED = 0.1  # of the cases of a node, that a branch must have to take its place
_CLEARLY_MORE = 1.05  # times the cases that a branch had: then it is grown anew
_ROOM, _MORE = 4, 1024  # times all cases, and beyond that, for the lists
_NODES = 64  # beyond twice those of a tree, that there is room for


@inline
def _arrive(work, place):
    """Count the cases of a place and list those of its children; return False where there is no room."""
    trees, state = work.trees, work.state
    node, start, stop = state.final[place], state.start[place], state.stop[place]
    counts = state.counts[node]
    sum_cases(work.cases, start, stop, state.counted[node])
    weigh(work.cases, state.counted[node], counts)
    state.n_rows[node] = stop - start
    state.is_leaf[node] |= stop == start
    if not state.is_leaf[node]:
        end = deal_cases(work, node, start, stop, state.used[place])
        if end < 0 or not keep_lost(work, place):
            return False
        left, fill = np.int64(trees.left[node]), work.scratch.fill
        for v in range(trees.right[node] - left + 1):
            child = left + v
            state.start[child], state.stop[child], state.used[child] = fill[v], fill[v + 1], end
            # Below a branch that was grown anew none is once more, which could go on without end
            state.phase[child], state.may_regrow[child] = FRESH, state.may_regrow[place]
        state.next_child[place] = left
    state.cost[place], state.phase[place] = cost_of_leaf(work.costs, counts), ENTERED
    return True


@inline
def _heaviest_branch(work, node, weight):
    """Return the heaviest child that may take the place of a node, the later one of equals; -1 where none may."""
    trees, state, best, most = work.trees, work.state, np.int64(-1), 0.0
    for child in range(trees.left[node], trees.right[node] + 1):
        stands = state.final[child]
        own, feature = weight_in(state.counts[stands]), np.int64(trees.feature[node])
        is_same = work.is_number[feature] and trees.feature[stands] == feature
        if state.is_leaf[stands] or is_same or own < _LEAST_RAISED * weight * (1.0 - _SAME):
            continue
        if own >= most * (1.0 - _SAME):
            best, most = np.int64(child), own
    return best


@inline
def _decide(work, place):
    """Choose a leaf, a branch or the subtree for a place: return _DONE, FRESH for a branch, _REGROW; _FULL: no room."""
    state, costs = work.state, work.costs
    node = state.final[place]
    weight, leaf = weight_in(state.counts[node]), state.cost[place]
    kept, branch, big = pooled_cost(work, node), np.inf, np.int64(-1)
    allowed = costs.slack + 1e-12 * kept
    if costs.raises:
        big = _heaviest_branch(work, node, weight)
    if big >= 0:
        branch = cost_on_trial(work, place, big, kept + allowed)
        if branch < 0.0:
            return np.int64(_FULL)
    if leaf <= min(branch, kept) + allowed:
        state.is_leaf[node] = True
        work.changes.n_lost[0] = state.lost_mark[place]  # nobody asks for those at the place and below it any more
    elif branch <= kept + allowed:
        gains = _CLEARLY_MORE * weight_in(state.counts[state.final[big]]) < weight
        anew = gains and state.may_regrow[place] and work.regrows
        work.changes.n_lost[0] = state.lost_mark[place]
        state.final[place], state.phase[place], state.may_regrow[place] = state.final[big], FRESH, False
        return np.int64(_REGROW if anew else -1)
    else:
        state.cost[place] = kept
    return np.int64(_DONE)


@entry
def prune_pooled(given, _, __, ___):
    """Go on deciding about places, those below first; return _DONE, _REGROW for the last one of the path, or _FULL."""
    work = own_copy(given)
    trees, state, path = work.trees, work.state, work.state.path
    while state.depth[0] > 0:
        if work.halt[0] != 0:
            return np.int64(_STOPPED)
        place = path[state.depth[0] - 1]
        node = state.final[place]
        if state.phase[place] == FRESH:
            if not _arrive(work, place):
                return np.int64(_FULL)
        elif state.is_leaf[node]:
            state.depth[0] -= 1
        elif state.next_child[place] <= trees.right[node]:
            path[state.depth[0]] = state.next_child[place]
            state.next_child[place] += 1
            state.depth[0] += 1
        else:
            outcome = _decide(work, place)
            if outcome in (_FULL, _REGROW):
                return outcome
            if outcome == _DONE:
                state.depth[0] -= 1
    return np.int64(_DONE)


@entry
def list_below(work, place, _, __):
    """Deal the cases of what stands at a place to its children; return how many are in use, -1: there is no room."""
    state = work.state
    node, start, stop = state.final[place], state.start[place], state.stop[place]
    return deal_cases(work, node, start, stop, state.used[place])


_TESTS = ("feature", "threshold", "left", "right", "missing_left", "gain", "impurity")
_CHILDREN = ("left", "right")


class _GrowingTree:
    """One tree with its state, in arrays that have room for nodes to come."""

    def __init__(self, trees: Trees, n_classes: int, *, has_costs: bool) -> None:
        self.has_costs = has_costs
        self.n, self.n_branches = trees.n_nodes, len(trees.branch)
        starts = trees.branch_start if len(trees.branch_start) > 1 else np.zeros(self.n + 1, np.int64)
        room = 2 * self.n + _NODES
        self.given = trees
        self.columns = {name: _with_room(getattr(trees, name), room) for name in _TESTS}
        self.columns["branch_start"] = _with_room(starts, room + 1)
        self.columns["branch"] = _with_room(trees.branch, 2 * self.n_branches + _NODES)
        self.state = new_pooled_state(room, n_classes, has_costs=has_costs)
        self.scratch = new_pooled_scratch(room, n_classes)
        self.state.is_leaf[: self.n] = trees.feature == LEAF

    def routing(self) -> Any:
        """Return the columns that say where a row goes."""
        own = {name: self.columns[name] for name in ("feature", "threshold", "left", "right", "branch_start", "branch")}
        return RoutingColumns(
            **own, cut_start=NO_MAP, cut=np.empty(0), level_start=NO_MAP, level=NO_LEVELS, share=self.state.share
        )

    def _take_room(self, n: int, n_branches: int) -> bool:
        room, is_larger = len(self.columns["feature"]), False
        if self.n + n > room:
            room, is_larger = 2 * (self.n + n), True
            for name in (*_TESTS, "branch_start"):
                self.columns[name] = _with_room(self.columns[name], room + (name == "branch_start"))
            own = self.state
            fresh = new_pooled_state(room, own.counts.shape[1], has_costs=self.has_costs)
            for old, new in zip(own, fresh, strict=True):
                new[: len(old)] = old
            self.state, self.scratch = fresh, new_pooled_scratch(room, own.counts.shape[1])
        if self.n_branches + n_branches > len(self.columns["branch"]):
            self.columns["branch"] = _with_room(self.columns["branch"], 2 * (self.n_branches + n_branches))
            is_larger = True
        return is_larger

    def hang(self, node: int, given: Trees) -> bool:
        """Put what hangs below the root of a tree, in canonical numbers, in the place of the children of a node.

        Returns whether there are other arrays then.
        """
        n, n_branches = given.n_nodes - 1, len(given.branch)
        is_larger = self._take_room(n, n_branches)
        shift, here = self.n - 1, slice(self.n, self.n + n)
        self.columns["left"][node], self.columns["right"][node] = given.left[0] + shift, given.right[0] + shift
        for name in _TESTS:
            column = getattr(given, name)[1:]
            self.columns[name][here] = np.where(column == LEAF, LEAF, column + shift) if name in _CHILDREN else column
        self.state.is_leaf[here] = given.feature[1:] == LEAF
        starts = given.branch_start[2:] if n_branches else np.zeros(n, np.int64)
        self.columns["branch_start"][self.n + 1 : self.n + 1 + n] = self.n_branches + starts
        self.columns["branch"][self.n_branches : self.n_branches + n_branches] = given.branch
        self.n, self.n_branches = self.n + n, self.n_branches + n_branches
        return is_larger

    def trees(self) -> Trees:
        """Return the whole tree, that was never asked about the cases of its nodes."""
        m, blank = self.n, np.zeros(self.n)
        own = {name: self.columns[name][:m] for name in _TESTS}
        given = self.given
        value = np.zeros((m, given.value.shape[1]))
        value[: given.n_nodes] = given.value
        own |= {"weight": blank.copy(), "n_samples": np.zeros(m, np.int64), "value": value, "share": blank.copy()}
        own["weight"][: given.n_nodes] = given.weight
        starts = self.columns["branch_start"][: m + 1]
        own["branch_start"], own["branch"] = starts, self.columns["branch"][: self.n_branches]
        if not self.n_branches:
            own["branch_start"] = NO_MAP
        return given._replace(root=np.array([0, m], np.int64), **own)


def _with_room(column: NDArray[Any], room: int) -> NDArray[Any]:
    larger = np.zeros((room, *column.shape[1:]), column.dtype)
    larger[: len(column)] = column
    return larger


def pruned_with_regrowth(
    trees: Trees,
    cells: Any,
    codes: NDArray[np.int64],
    weight: NDArray[np.float64],
    is_number: NDArray[np.bool_],
    costs: Costs,
    min_cases: float,
    regrow: Callable[[list[Any]], Trees] | None,
    dearer: NDArray[np.float64] | None = None,
) -> Trees:
    """Return one tree pruned, and counted anew with all rows.

    Parameters
    ----------
    trees : Trees
        Of one tree, which tests thresholds, at values of floats like those of the cells, and maps of categories.
    cells : Cells
        The table.
    codes, weight : arrays of shape (rows,)
        The class of each row, and what it counts.
    is_number : array of bool
        Of each column, whether its tests are cuts of numbers.
    costs : Costs
        The expected errors of a leaf, and what may take the place of what.
    min_cases : float
        Branches of a node that have fewer count as one leaf.
    regrow : function (list of (rows, weights)) -> Trees, or None
        Returns a tree whose root has a subtree grown over each list; None: raised branches stay as they are.
    dearer : array of shape (classes,), optional
        What a case of each class weighs beyond ``weight``, by which cases that lack a value are shared out.

    """
    kept, n_classes = np.flatnonzero(weight), trees.value.shape[1]
    grain, least = unit_of(weight)
    n, room = len(kept), _ROOM * len(kept) + _MORE
    tree, halt = _GrowingTree(trees, n_classes, has_costs=dearer is not None), np.zeros(1, np.int64)
    own_dearer = np.empty(0) if dearer is None else np.asarray(dearer, np.float64)
    lists = np.empty(room, np.int32), np.empty(room), np.empty(n, np.int32)
    cases = PooledCases(*lists, np.asarray(codes, np.int64), own_dearer)
    changes = new_changes(room, n + _MORE, len(cases.class_of))
    cases.row[:n], exact = kept, cases.weight[:n]
    np.take(weight, kept, out=exact)
    exact += grain
    exact -= grain
    np.maximum(exact, least, out=exact)
    del kept, exact
    tree.state.stop[0] = tree.state.used[0] = n
    tree.state.depth[0] = 1

    def work() -> PooledPruning:
        of_table = tree.routing(), cells, lines_of(cells)[0], cases, changes, tree.state, tree.scratch, is_number
        return PooledPruning(*of_table, len(cases.row), costs, min_cases, regrow is not None, grain, least, halt)

    def take_room() -> None:
        # One list after another, so that no two are held twice
        nonlocal cases, changes
        changes = changes._replace(before=np.empty(0))
        for name in _LISTS:
            cases = cases._replace(**{name: _with_room(getattr(cases, name), 2 * len(getattr(cases, name)))})
        for name in _OF_CHANGES:
            changes = changes._replace(**{name: _with_room(getattr(changes, name), 2 * len(getattr(changes, name)))})
        changes = changes._replace(before=np.empty(len(cases.row)))

    def bound() -> tuple[PooledPruning, Callable[..., int], Callable[..., int]]:
        now = work()
        return now, caller_of(code_for(prune_pooled, now)), caller_of(code_for(list_below, now))

    def go(_: bool) -> None:
        now, prune, list_cases = bound()
        while True:
            outcome = prune(0, 0, 0)
            if outcome in (_DONE, _STOPPED):
                return
            if outcome == _FULL:
                del now, prune, list_cases
                take_room()
                now, prune, list_cases = bound()
                continue
            place = int(tree.state.path[tree.state.depth[0] - 1])
            while list_cases(place, 0, 0) < 0:
                del now, prune, list_cases
                take_room()
                now, prune, list_cases = bound()
            assert regrow is not None
            if tree.hang(int(tree.state.final[place]), regrow(_lists_below(now, tree, place))):
                now, prune, list_cases = bound()

    run_heeding(go, 20 * n * trees.n_nodes, halt)
    whole = tree.trees()
    state = tree.state._replace(**{name: getattr(tree.state, name)[: tree.n] for name in _OF_NODES})
    return in_canonical_order(counted_anew(whole, state))


_LISTS = "row", "weight"
_OF_CHANGES = "lost_row", "lost_weight"
_OF_NODES = "is_leaf", "final", "counts", "n_rows", "share"


def _lists_below(work: PooledPruning, tree: _GrowingTree, place: int) -> list[Any]:
    """Return the cases, rows and their weights, of each child of what stands at a place, which are listed."""
    node, fill = int(tree.state.final[place]), work.scratch.fill
    fan = int(tree.columns["right"][node] - tree.columns["left"][node]) + 1
    lists = [slice(int(fill[v]), int(fill[v + 1])) for v in range(fan)]
    return [(work.cases.row[at], work.cases.weight[at]) for at in lists]
