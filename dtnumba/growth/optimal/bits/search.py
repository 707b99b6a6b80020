# mypy: ignore-errors
"""The search over columns of 0 and 1: branch and bound above the solver of two levels.

A level is a set of rows that waits for the trees of its two sides. Tests are tried in a fixed order, and one takes the
place of another only where it is strictly better; what is skipped could not be. So the tree that is found is the first
optimal one in that order, whatever bounds were known on the way.
"""

import numpy as np

from dtnumba.growth.optimal.bits.ahead import (
    I_BELOW,
    I_FIRST,
    I_LEVEL,
    I_SOLVED,
    I_TEST,
    I_VALUE,
    found_ahead,
    solve_ahead,
)
from dtnumba.growth.optimal.bits.rows import descend
from dtnumba.growth.optimal.bits.two_levels import count_sums
from dtnumba.growth.optimal.crew import LEAST_WORK, MOST_TOGETHER, is_helped
from dtnumba.growth.optimal.known_sets import always_lost, like, look_up, name_set, note, remember
from dtnumba.growth.optimal.losses.contract import BIG, leaf, spread
from dtnumba.growth.optimal.rule import (
    ALL_TESTS,
    ENDED,
    GO_ON,
    HALTED,
    NEXT_TEST,
    ONE_SIDE,
    OTHER_SIDE,
    S_ASKED,
    S_AT,
    S_BEFORE,
    S_BEST,
    S_BOUND,
    S_BUDGET,
    S_DEPTH,
    S_GOT,
    S_LEVEL,
    S_LIMIT,
    S_LOW,
    S_OTHER,
    S_PHASE,
    S_SIDE,
    S_START,
    S_TESTS,
    S_UPPER,
    limit_tests,
    note_best,
    sort_by,
    take_up,
)
from dtnumba.runtime.addresses import call_at
from dtnumba.runtime.kernels import entry, inline, outlined
from dtnumba.runtime.records import own_copy
from dtnumba.runtime.threads.board import look_at

_UNKNOWN = -2  # in the place of a test: of a set that was solved before, and whose tests must be found again


@outlined
def _open(job, level, depth, tests, upper, budget):
    """Begin with the rows of a level: its best tree so far is a leaf, if that is good enough."""
    frames, rows, pairs = job.frames, job.rows, job.pairs
    n = rows.n_columns[level]
    state = frames.state[level]
    count_sums(job, level, rows.valid[level])
    state[S_AT], state[S_PHASE], state[S_DEPTH], state[S_TESTS] = 0, NEXT_TEST, depth, tests
    state[S_START], state[S_UPPER], state[S_LIMIT] = upper, upper, min(n, budget + 1)
    state[S_BUDGET] = budget
    frames.ahead[0] = 0
    here, frames_leaf = pairs.pair[:, pairs.pair.shape[1] - 1], frames.leaf[level]
    for j in range(n):
        for k in range(len(here)):
            here[k] = pairs.ones[k, j]
        frames_leaf[1, j], frames.score[j] = leaf(job.loss, here), spread(job.loss, here)
        for k in range(len(here)):
            here[k] = pairs.total[k] - pairs.ones[k, j]
        frames_leaf[0, j] = leaf(job.loss, here)
        frames.score[j] += spread(job.loss, here)
        frames.order[level, j] = j
    sort_by(frames.order[level], frames.score, n)
    as_leaf = leaf(job.loss, pairs.total)
    state[S_LOW] = as_leaf
    if as_leaf < upper:
        state[S_BEST] = state[S_UPPER] = as_leaf
        for k in range(frames.best.shape[1]):
            frames.best[level, k] = -1


@outlined
def _part(job, level, j):
    """Write the rows of both sides of a test."""
    frames, rows = job.frames, job.rows
    mask, seen = frames.mask[level], frames.seen[level]
    for w in range(np.uint64(rows.start[level, rows.start.shape[1] - 1])):
        x = rows.bits[level, w, np.uint64(j)]
        mask[0, w], mask[1, w] = rows.valid[level, w] & ~x, x
    column = np.uint64(rows.column[level, j])
    for w in range(np.uint64(seen.shape[1])):
        # A level's own rows are those that its parent's side has seen.
        x = rows.valid[0, w] if level == 0 else frames.seen[level - 1, np.uint64(frames.state[level - 1, S_SIDE]), w]
        y = frames.all_bits[column, w]
        seen[0, w], seen[1, w] = x & ~y, x & y
    for side in range(2):
        name_set(seen[side], frames.key[level, side])


@outlined
def _bound(job, level, side, j, depth, tests):
    """Return a bound of one side's loss, and whether it is the loss itself."""
    as_leaf = job.frames.leaf[level, side, j]
    if tests == 0 or as_leaf <= job.rule.price:
        return as_leaf, True
    seen = job.frames.seen[level, side]
    bound, is_exact = look_up(job.known, job.frames.key[level, side], depth, tests)
    if not is_exact:
        bound = max(bound, always_lost(job.known, seen) + job.rule.price)
        if len(job.known.worst) > 0:
            bound = max(bound, like(job.known, job.rows, level, seen, depth, tests))
    return min(bound, as_leaf), is_exact


@outlined
def _ask(job, level, side, j, depth, tests, upper, budget):
    """Solve one side of a test; return False where that takes a level of its own, which is opened."""
    frames, state = job.frames, job.frames.state[level]
    state[S_ASKED] = upper
    if tests == 0 or frames.leaf[level, side, j] <= job.rule.price:
        state[S_GOT] = frames.leaf[level, side, j]
        return True
    bound, is_exact = _bound(job, level, side, j, depth, tests)
    if is_exact or bound >= upper:
        state[S_GOT] = bound
        frames.two[level, side, 0] = _UNKNOWN
        if depth <= 2 or bound >= upper:
            return True
        upper = bound + 1  # its tree has to be found again
    frames.explored[0] += 1
    seen, key = frames.seen[level, side], frames.key[level, side]
    if depth <= 2:
        is_ahead = np.int64(0)
        if state[S_DEPTH] == 3 and is_helped(job.crew):
            is_ahead = call_at(job.crew.share_at[0], job, level, side, j)
        if is_ahead == 0:
            call_at(job.two_at, job, level, side, tests)
        state[S_GOT] = job.pairs.value[tests]
        if job.halt[0] != 0:
            return True  # of no use: nobody will look at it
        if is_ahead != 0:
            frames.two[level, side, 0] = _UNKNOWN
        elif state[S_GOT] < upper:
            call_at(job.two_at, job, level, side, tests + 8)
            for k in range(3):
                frames.two[level, side, k] = frames.tests[k]
        if job.rule.most < (np.int64(1) << job.rule.depth) - 1:
            for k in range(1, tests):
                d, t = limit_tests(depth, np.int64(k))
                note(job.known, key, d, t, job.pairs.value[k], True)
        note(job.known, key, depth, tests, state[S_GOT], True)
        remember(job.known, level, seen, depth, tests, state[S_GOT])
        return True
    state[S_SIDE] = side
    descend(job.sums, job.rows, level, frames.mask[level, side], frames.counts, job.rule.least)
    _open(job, level + 1, depth, tests, upper, budget)
    return False


@outlined
def _graft(tree, depth, side, below):
    """Put a tree of ``depth`` levels below the root of another one."""
    for level in range(depth):
        width = np.int64(1) << level
        for k in range(width):
            tree[2 * width - 1 + side * width + k] = below[width - 1 + k]


@outlined
def _write_side(job, level, side, j, depth, tests, tree, below):
    """Write one side's tree into a level's best; that of two levels is found here."""
    frames = job.frames
    if tests == 0 or frames.leaf[level, side, j] <= job.rule.price:
        for k in range(len(frames.kept[level])):
            below[k] = -1
    elif depth <= 2:
        if frames.two[level, side, 0] == _UNKNOWN:
            call_at(job.two_at, job, level, side, tests + 4)
            for k in range(3):
                frames.two[level, side, k] = frames.tests[k]
        for k in range(3):
            below[k] = frames.two[level, side, k]
        for k in range(3, len(below)):
            below[k] = -1
    _graft(tree, depth if depth > 0 else 1, side, below)


@outlined
def _close(job, level, is_whole):
    """Hand the answer of a level to the level above."""
    frames = job.frames
    state = frames.state[level]
    found = state[S_UPPER] < state[S_START]
    answer = state[S_UPPER] if found else max(state[S_START], state[S_LOW])
    if level == 0:
        return
    above = frames.state[level - 1]
    above[S_GOT] = answer
    if is_whole:
        seen = frames.seen[level - 1, above[S_SIDE]]
        note(job.known, frames.key[level - 1, above[S_SIDE]], state[S_DEPTH], state[S_TESTS], answer, found)
        remember(job.known, level - 1, seen, state[S_DEPTH], state[S_TESTS], answer)


@inline
def _left(state, ways):
    """Return the budget of discrepancies that is left below the test in hand."""
    return state[S_BUDGET] if state[S_BUDGET] >= ALL_TESTS else state[S_BUDGET] - state[S_AT] // ways


@outlined
def _bound_others(job):
    """Write a bound on the loss of all trees, of a whole search that was halted."""
    state, order, price = job.frames.state[0], job.frames.order[0], job.rule.price
    depth, tests = limit_tests(job.rule.depth, job.rule.most)
    cap = (np.int64(1) << (depth - 1)) - 1
    lowest = max(np.int64(0), tests - 1 - cap)
    ways = min(tests - 1, cap) - lowest + 1
    bound = min(state[S_LOW], state[S_UPPER])
    for k in range(state[S_AT] // ways, state[S_LIMIT]):
        j = order[k]
        _part(job, 0, j)
        d, t = limit_tests(depth - 1, min(tests - 1, cap))
        bound0, _ = _bound(job, 0, 0, j, d, t)
        bound1, _ = _bound(job, 0, 1, j, d, t)
        bound = min(bound, bound0 + bound1 + price)
    state[S_BOUND] = bound
    if state[S_AT] < ways * state[S_LIMIT]:
        _part(job, 0, order[state[S_AT] // ways])  # the test in hand, with which the search may go on


@entry
def search(job, upper, budget, n_sets):
    """Look for a tree that loses less than ``upper``; frames.best[0] and state[0, S_BEST] say what was found.

    ``budget`` is that of ``search_sorted``, tests being its cuts. The search ends early where ``n_sets`` sets of rows
    have been looked at, in all searches of this job.
    """
    job = own_copy(job)
    rows, frames, rule = job.rows, job.frames, job.rule
    frames.state[0, S_BEST] = BIG
    is_whole = budget >= ALL_TESTS
    depth, tests = limit_tests(rule.depth, rule.most)
    if depth <= 2:
        call_at(job.two_at, job, 0, -1, tests)
        frames.state[0, S_UPPER] = upper
        if job.pairs.value[tests] < upper:
            frames.state[0, S_BEST] = frames.state[0, S_UPPER] = job.pairs.value[tests]
            call_at(job.two_at, job, 0, -1, tests + 8)
            for k in range(frames.best.shape[1]):
                frames.best[0, k] = frames.tests[k] if k < 3 else np.int64(-1)
        return ENDED if job.halt[0] == 0 else HALTED
    level = np.int64(0)
    if budget == GO_ON:
        level = take_up(frames.state[0], upper)
    else:
        _open(job, 0, depth, tests, upper, budget)
    while True:
        if job.halt[0] != 0 or frames.explored[0] >= n_sets:
            _bound_others(job)
            frames.state[0, S_LEVEL] = level
            return HALTED
        state = frames.state[level]
        depth, tests = state[S_DEPTH], state[S_TESTS]
        cap = (np.int64(1) << (depth - 1)) - 1
        lowest = max(np.int64(0), tests - 1 - cap)
        ways = min(tests - 1, cap) - lowest + 1
        if state[S_PHASE] == NEXT_TEST:
            if state[S_AT] >= ways * state[S_LIMIT] or state[S_UPPER] <= rule.price:
                if state[S_UPPER] <= rule.price:
                    state[S_LOW] = min(state[S_LOW], state[S_UPPER])
                _close(job, level, is_whole)
                if level == 0:
                    return ENDED
                level -= 1
                continue
            j = frames.order[level, state[S_AT] // ways]
            if state[S_AT] % ways == 0:
                _part(job, level, j)
            frames.explored[1] += 1
            in_zero = lowest + state[S_AT] % ways
            d0, t0 = limit_tests(depth - 1, in_zero)
            d1, t1 = limit_tests(depth - 1, tests - 1 - in_zero)
            bound0, _ = _bound(job, level, 0, j, d0, t0)
            bound1, _ = _bound(job, level, 1, j, d1, t1)
            both = bound0 + bound1 + rule.price
            if both >= state[S_UPPER]:
                state[S_LOW] = min(state[S_LOW], both)
                state[S_AT] += 1
                continue
            side = np.int64(frames.leaf[level, 1, j] > frames.leaf[level, 0, j])
            state[S_SIDE] = side
            state[S_OTHER] = bound0 if side == 1 else bound1
            d, t = (d1, t1) if side == 1 else (d0, t0)
            state[S_PHASE] = ONE_SIDE
            if not _ask(job, level, side, j, d, t, state[S_UPPER] - rule.price - state[S_OTHER], _left(state, ways)):
                level += 1
            continue
        j = frames.order[level, state[S_AT] // ways]
        in_zero = lowest + state[S_AT] % ways
        d0, t0 = limit_tests(depth - 1, in_zero)
        d1, t1 = limit_tests(depth - 1, tests - 1 - in_zero)
        if state[S_PHASE] == ONE_SIDE:
            if state[S_GOT] >= state[S_ASKED]:
                state[S_LOW] = min(state[S_LOW], state[S_GOT] + state[S_OTHER] + rule.price)
                state[S_AT] += 1
                state[S_PHASE] = NEXT_TEST
                continue
            state[S_BEFORE] = state[S_GOT]
            other = 1 - state[S_SIDE]
            d, t = (d1, t1) if state[S_SIDE] == 1 else (d0, t0)
            if d > 2:
                for k in range(frames.kept.shape[1]):
                    frames.kept[level, k] = frames.best[level + 1, k]
            d, t = (d1, t1) if other == 1 else (d0, t0)
            state[S_PHASE], state[S_SIDE] = OTHER_SIDE, other
            if not _ask(job, level, other, j, d, t, state[S_UPPER] - rule.price - state[S_BEFORE], _left(state, ways)):
                level += 1
            continue
        total = state[S_GOT] + state[S_BEFORE] + rule.price
        if total < state[S_UPPER]:
            note_best(rule, state, level, total)
            side = state[S_SIDE]
            for k in range(frames.best.shape[1]):
                frames.best[level, k] = -1
            d, t = (d1, t1) if side == 1 else (d0, t0)
            _write_side(job, level, side, j, d, t, frames.best[level], frames.best[level + 1])
            side = 1 - side
            d, t = (d1, t1) if side == 1 else (d0, t0)
            _write_side(job, level, side, j, d, t, frames.best[level], frames.kept[level])
            frames.best[level, 0] = rows.column[level, j]
        else:
            state[S_LOW] = min(state[S_LOW], total)
        state[S_AT] += 1
        state[S_PHASE] = NEXT_TEST


@outlined
def _look_ahead(job, level, here):
    """Solve the next tests of a level, from the one in hand on."""
    frames, rows, item, price = job.frames, job.rows, job.crew.item, job.rule.price
    state, n_columns = frames.state[level], rows.n_columns[level]
    work = rows.start[level, rows.start.shape[1] - 1] * n_columns * n_columns
    most = min(2 * (1 + np.int64(look_at(job.crew.present))), np.int64(MOST_TOGETHER))
    frames.ahead[0] = 0
    if most * work < LEAST_WORK:
        return
    at = np.int64(0)
    while frames.order[level, at] != here:
        at += 1
    n = np.int64(0)
    d, t = limit_tests(state[S_DEPTH] - 1, state[S_TESTS] - 1)
    while at < state[S_LIMIT] and n < most:
        j = frames.order[level, at]
        _part(job, level, j)
        bound0, is_exact0 = _bound(job, level, 0, j, d, t)
        bound1, is_exact1 = _bound(job, level, 1, j, d, t)
        if bound0 + bound1 + price < state[S_UPPER]:
            side = np.int64(frames.leaf[level, 1, j] > frames.leaf[level, 0, j])
            item[n, I_LEVEL], item[n, I_TEST], item[n, I_FIRST] = level, j, side
            item[n, I_BELOW] = state[S_UPPER] - price - (bound0 if side == 1 else bound1)
            item[n, I_SOLVED], item[n, I_SOLVED + 1] = np.int64(is_exact0), np.int64(is_exact1)
            n += 1
        at += 1
    _part(job, level, here)
    solve_ahead(job, level, n, n * work)


@entry
def take_ahead(job, level, side, j):
    """Write what a side loses, where that is found ahead, as its solver does; return whether it is.

    Compiled once others are there to help.
    """
    job = own_copy(job)
    item = job.crew.item
    k = found_ahead(job, level, j)
    if k < 0:
        _look_ahead(job, level, j)
        k = found_ahead(job, level, j)
    if k < 0 or item[k, I_SOLVED + side] != 2:
        return np.int64(0)
    for n in range(4):
        job.pairs.value[n] = item[k, I_VALUE + 4 * side + n]
    return np.int64(1)
