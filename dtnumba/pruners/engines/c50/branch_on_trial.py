# mypy: ignore-errors
"""What a branch would cost in the place of its parent: the cases of its siblings come to it, and the rest stays.

Only what changes is listed: a case that is new to a node, or of which another part comes there, as (row, weight
before, weight then). What no change comes to costs what it did. Where cases lack the value of a test, the parts in
which they go to its branches change with the cases that have it, so that they are listed, too: each node keeps its own.
"""

import numpy as np

from dtnumba.pruners.engines.c50.deal_cases import ask_ahead, child_of
from dtnumba.pruners.engines.c50.pooled_errors import is_pooled, weigh, weight_in
from dtnumba.pruners.engines.expected_errors import cost_of_leaf
from dtnumba.runtime.kernels import inline, outlined


@inline
def keep_lost(work, place):
    """Keep the cases of a place that lack the value of its test, and what the others weigh; False: there is no room.

    The cases of its children have just been listed, so ``cases.child`` tells where each goes.
    """
    state, cases, changes = work.state, work.cases, work.changes
    node, at = state.final[place], changes.n_lost[0]
    state.lost_start[node] = state.lost_stop[node] = state.lost_mark[place] = at
    if not state.has_parts[node]:
        return True
    left, fan = np.int64(work.trees.left[node]), np.int64(work.trees.right[node] - work.trees.left[node] + 1)
    for v in range(fan):
        state.known[left + v] = 0.0
    for i in range(state.start[place], state.stop[place]):
        child = cases.child[i - state.start[place]]
        if child >= 0:
            state.known[left + child] += cases.weight[i]
            continue
        if at == len(changes.lost_row):
            return False
        changes.lost_row[at], changes.lost_weight[at] = cases.row[i], cases.weight[i]
        at += 1
    state.lost_stop[node] = changes.n_lost[0] = at
    return True


@inline
def _part(work, weight, share):
    """Return the part of a case that a child of such a share gets."""
    return max((weight * share + work.grain) - work.grain, work.least) if weight > 0.0 and share > 0.0 else 0.0


@inline
def _write(work, at, row, before, then):
    """List a change; return where the next one goes."""
    work.cases.row[at], work.changes.before[at], work.cases.weight[at] = row, before, then
    return at + 1


@outlined
def _list_siblings(work, place, branch):
    """List what changes for a branch that gets all cases of its parent; return where that ends, -1: no room."""
    state, cases, changes = work.state, work.cases, work.changes
    node = state.final[place]
    left, right, has_parts = work.trees.left[node], work.trees.right[node], state.has_parts[node]
    first = at = state.used[right]
    n_listed = state.stop[right] - state.start[left]
    if at + n_listed + state.lost_stop[node] - state.lost_start[node] > work.room:
        return first, np.int64(-1)
    for sibling in range(left, right + 1):
        if sibling == branch:
            continue
        for i in range(state.start[sibling], state.stop[sibling]):
            if not has_parts or child_of(work, node, i) >= 0:
                at = _write(work, at, cases.row[i], 0.0, cases.weight[i])
    for i in range(state.lost_start[node], state.lost_stop[node]):
        weight = changes.lost_weight[i]
        at = _write(work, at, changes.lost_row[i], _part(work, weight, state.share[branch]), weight)
    return first, at


@outlined
def _deal(work, node, start, stop, used):
    """Deal changes to the children of a node as ``deal_cases`` deals cases; return how many are in use, -1: no room.

    scratch.fill[v] becomes where those of child v begin, scratch.ends[v] where they end.
    """
    state, cases, changes = work.state, work.cases, work.changes
    parts, fill, ends = work.scratch.parts, work.scratch.fill, work.scratch.ends
    fan, n_missing = np.int64(work.trees.right[node] - work.trees.left[node] + 1), np.int64(0)
    for v in range(fan):
        parts[v], ends[v] = 0.0, 0
    for i in range(start, stop):
        ask_ahead(work, node, i, stop)
        child = child_of(work, node, i)
        cases.child[i - start] = child
        if child >= 0:
            ends[child] += 1
            parts[child] += cases.weight[i] - changes.before[i]
        else:
            n_missing += 1
    lost, lost_end = state.lost_start[node], state.lost_stop[node]
    if not state.has_parts[node]:
        lost = lost_end
    at, n_apart = used, n_missing + lost_end - lost
    for v in range(fan):
        fill[v] = at
        at, ends[v] = at + ends[v] + n_apart, fill[v]
    if at > work.room:
        return np.int64(-1)
    for i in range(start, stop):
        child = cases.child[i - start]
        if child >= 0:
            ends[child] = _write(work, ends[child], cases.row[i], changes.before[i], cases.weight[i])
    if n_apart > 0:
        _deal_parts(work, node, start, stop, lost, lost_end)
        return at
    for i in range(stop - start):
        _write(work, start + i, cases.row[used + i], changes.before[used + i], cases.weight[used + i])
    for v in range(fan):
        fill[v] += start - used
        ends[v] += start - used
    return np.int64(used)


@outlined
def _deal_parts(work, node, start, stop, lost, lost_end):
    """List the changes of the parts of cases that lack the value of a node's test."""
    state, cases, changes = work.state, work.cases, work.changes
    parts, ends, known = work.scratch.parts, work.scratch.ends, 0.0
    left, fan = np.int64(work.trees.left[node]), np.int64(work.trees.right[node] - work.trees.left[node] + 1)
    for v in range(fan):
        own = state.known[left + v] if state.has_parts[node] else weight_in(state.counted[state.final[left + v]])
        parts[v] += own
        known += parts[v]
    for v in range(fan):
        parts[v] = parts[v] / known if known > 0.0 else work.trees.share[left + v]
    changes.n_marks[0] += 1
    turn = changes.n_marks[0]
    for i in range(start, stop):
        if cases.child[i - start] < 0:
            changes.mark[cases.row[i]] = turn
            for v in range(fan):
                before = _part(work, changes.before[i], state.share[left + v])
                then = _part(work, cases.weight[i], parts[v])
                if before != then:
                    ends[v] = _write(work, ends[v], cases.row[i], before, then)
    for i in range(lost, lost_end):
        if changes.mark[changes.lost_row[i]] != turn:
            for v in range(fan):
                before = _part(work, changes.lost_weight[i], state.share[left + v])
                then = _part(work, changes.lost_weight[i], parts[v])
                if before != then:
                    ends[v] = _write(work, ends[v], changes.lost_row[i], before, then)


@outlined
def cost_on_trial(work, place, branch, most):
    """Return the expected errors of a branch in the place of its parent, whose children are listed; -1: no room.

    What is more than ``most`` need not be known: then it is infinite.
    """
    trees, cases, state, scratch = work.trees, work.cases, work.state, work.scratch
    stack, small, sums, total, top = scratch.stack, scratch.small, scratch.sums, 0.0, 1
    first, used = _list_siblings(work, place, branch)
    if used < 0:
        return -1.0
    stack[0] = branch
    state.trial[branch, 0], state.trial[branch, 1], state.trial[branch, 2] = first, used, -1
    while top > 0:
        at = stack[top - 1]
        node, start, stop = state.final[at], state.trial[at, 0], state.trial[at, 1]
        if state.trial[at, 2] < 0:  # nothing is known of it yet
            for k in range(len(sums)):
                sums[k] = state.counted[node, k]
            for i in range(start, stop):
                sums[cases.class_of[cases.row[i]]] += cases.weight[i] - work.changes.before[i]
            weigh(cases, sums, sums)
            if top > 1 and is_pooled(work, sums):
                for k in range(len(sums)):
                    small[top - 2, k] += sums[k]
                top -= 1
                continue
            if state.is_leaf[node] or (stop == start and top > 1):
                total += cost_of_leaf(work.costs, sums) if stop > start else state.cost[at]
                top -= 1
                if total > most:
                    return np.inf
                continue
            end = _deal(work, node, start, stop, max(used, stop))
            if end < 0:
                return -1.0
            left = np.int64(trees.left[node])
            for v in range(trees.right[node] - left + 1):
                trial = state.trial[left + v]
                trial[0], trial[1], trial[2] = scratch.fill[v], scratch.ends[v], -1
            for k in range(len(sums)):
                small[top - 1, k] = 0.0
            # Those of the children stand one behind the other: what is listed below one goes behind the last
            used = end
            state.trial[at, 2] = left
        child = state.trial[at, 2]
        if child > trees.right[node]:
            total += cost_of_leaf(work.costs, small[top - 1])
            top -= 1
            first = state.trial[trees.left[node], 0]
            used = first if first > start else used  # those of children may be a part of the node's own
            if total > most:
                return np.inf
            continue
        state.trial[at, 2] = child + 1
        stack[top] = child
        top += 1
    return total
