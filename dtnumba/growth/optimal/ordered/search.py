# mypy: ignore-errors
"""The search over ordered columns: cuts are halved, and whole ranges of them skipped.

Along one column, the left set of a cut only grows and the right one only shrinks, and with them what they lose. So the
cuts between two that are known lose at least what the left side of the first and the right side of the last one lose.
A range is divided only where that is less than what the best tree so far loses.

Where leaves must have several rows, a smaller set may have fewer trees and lose more. Then bounds are those of trees
whose leaves may have any rows; these are what ``S_LOW`` and ``low`` are about, and else the loss itself.
"""

import numpy as np

from dtnumba.growth.optimal.known_sets import OF_LEVELS, bound_by_like, remember_set
from dtnumba.growth.optimal.losses.contract import BIG, spends, spread, test_price
from dtnumba.growth.optimal.ordered.batches import (
    I_COLUMN,
    I_CUT,
    I_GOT,
    I_IS_LIKE,
    I_LEVEL,
    I_LOW,
    I_PLACE,
    I_ROOT,
    n_together,
    try_together,
)
from dtnumba.growth.optimal.ordered.ranges import bound_of_range, cut_of, use_bounds
from dtnumba.growth.optimal.ordered.rows import loss_of_set, part
from dtnumba.growth.optimal.ordered.two_levels import (
    R_COLUMN,
    R_COST,
    R_FROM,
    R_LEFT,
    R_PRICE,
    R_RIGHT,
    R_SEED,
    R_SIZE,
    R_TO,
    R_WAY,
    TWO_COLUMN,
    TWO_CUT,
    TWO_LOW,
    TWO_SPENT,
    TWO_UPPER,
    VALUE,
)
from dtnumba.growth.optimal.rule import (
    ALL_TESTS,
    ENDED,
    GO_ON,
    HALTED,
    N_PARTS,
    NEXT_TEST,
    ONE_SIDE,
    OTHER_SIDE,
    S_BEFORE,
    S_BEFORE_LOW,
    S_BEST,
    S_BOUND,
    S_BUDGET,
    S_CUT,
    S_DEPTH,
    S_GOT,
    S_GOT_LOW,
    S_HEAD,
    S_LEVEL,
    S_LOW,
    S_OWN,
    S_PHASE,
    S_SIDE,
    S_SPENT,
    S_START,
    S_TAIL,
    S_TESTS,
    S_TRIED,
    S_UPPER,
    limit_tests,
    note_best,
    sort_by,
    take_up,
)
from dtnumba.runtime.addresses import call_at
from dtnumba.runtime.kernels import by_type, entry, inline, outlined
from dtnumba.runtime.records import own_copy


@outlined
def _graft_pairs(tree, depth, side, below):
    """Put a tree of ``depth`` levels below the root of another one."""
    for level in range(depth):
        width = np.int64(1) << level
        for k in range(width):
            for c in range(2):
                tree[2 * width - 1 + side * width + k, c] = below[width - 1 + k, c]


@outlined
def _open(job, level, depth, tests, upper, budget):
    """Begin with a set: its best tree so far is a leaf, if that is good enough; the cuts of its columns wait."""
    rows, levels, lanes, least = job.rows, job.levels, job.lanes, job.rule.least
    state = levels.state[level]
    side = state[S_OWN]
    n = rows.size[level, side]
    state[S_PHASE], state[S_DEPTH], state[S_TESTS], state[S_BUDGET] = NEXT_TEST, depth, tests, budget
    state[S_UPPER] = state[S_START] = upper
    state[S_HEAD] = state[S_TAIL] = state[S_TRIED] = 0
    state[S_LOW] = 0 if n < 2 * least else upper
    as_leaf = loss_of_set(job.loss, rows, level, side, lanes)
    if as_leaf < upper:
        state[S_BEST] = state[S_UPPER] = as_leaf
        for k in range(levels.best.shape[1]):
            levels.best[level, k, 0] = levels.best[level, k, 1] = -1
    is_whole, n_columns = budget >= ALL_TESTS, rows.row.shape[2]
    parts = 1 if is_whole else N_PARTS
    for i in range(n_columns * parts):
        levels.order[i] = i
        begin, end = n * (i % parts) // parts, n * (i % parts + 1) // parts
        levels.score[i], levels.seed[i] = np.inf, 0
        if job.halt[0] == 0:
            levels.score[i], levels.seed[i] = _seed(job.loss, job, level, side, i // parts, begin, end)
    sort_by(levels.order, levels.score, n_columns * parts)
    cap = (np.int64(1) << (depth - 1)) - 1
    lowest, highest = max(np.int64(0), tests - 1 - cap), min(tests - 1, cap)
    for k in range(min(budget + 1, n_columns * parts)):
        f, seed = levels.order[k] // parts, levels.seed[levels.order[k]]
        if seed == 0 and not is_whole:
            break
        for way in range(lowest, highest + 1):
            at = state[S_TAIL]
            one = levels.ranges[level, at]
            for c in range(R_SIZE):
                one[c] = 0
            one[R_COLUMN], one[R_FROM], one[R_TO], one[R_WAY] = f, least - 1, n - least + 1, way
            if not is_whole:
                one[R_FROM], one[R_TO], one[R_COST] = seed - 1, seed + 1, k
            one[R_SEED] = seed
            one[R_PRICE] = test_price(job.loss, job.rule, f, state[S_SPENT], lanes.sums[2])
            state[S_TAIL] += 1


@outlined
def _seed_by_sums(loss, job, level, side, f, begin, end):
    """Return how mixed the sides of a column's best cut in (begin, end] are, and that cut; 0 where there is none."""
    rows, sums, least = job.rows, job.lanes.sums, job.rule.least
    order, codes, n = rows.row[level, side, f], rows.code[level, side, f], rows.size[level, side]
    for k in range(sums.shape[1]):
        sums[0, k], sums[1, k] = 0, sums[2, k]
    best, at = np.inf, np.int64(0)
    for t in range(n - 1):
        r = order[t]
        for k in range(sums.shape[1]):
            sums[0, k] += rows.value[r, k]
            sums[1, k] -= rows.value[r, k]
        if begin <= t < end and codes[t] != codes[t + 1] and t + 1 >= least and n - t - 1 >= least:
            found = spread(loss, sums[0]) + spread(loss, sums[1])
            if found < best:
                best, at = found, np.int64(t + 1)
    return best, at


# (loss, job, level, side, column, begin, end): how mixed the sides of the best cut in (begin, end] are, and that cut
_seed = by_type("seed", _seed_by_sums)


@outlined
def _ask(job, level, side, depth, tests, spent, upper, budget):
    """Solve one side of a cut; return False where that takes a level of its own, which is opened."""
    levels = job.levels
    state = levels.state[level]
    state[S_SIDE] = side
    asked, own = (depth, tests, spent), job.known.own[OF_LEVELS + level + 1]
    if bound_by_like(job.known, level + 1, job.rows, level + 1, side, asked, upper, own):
        state[S_GOT] = state[S_GOT_LOW] = upper
        return True
    if depth <= 2:
        levels.two[TWO_UPPER], levels.two[TWO_SPENT] = upper, spent
        call_at(job.two_at, job, level + 1, side, tests)
        state[S_GOT], state[S_GOT_LOW] = levels.two[VALUE], levels.two[TWO_LOW]
        kept = levels.kept[level, side]
        kept[0, 0], kept[0, 1] = levels.two[TWO_COLUMN], levels.two[TWO_CUT]  # written out if it is wanted
        if job.halt[0] == 0:
            remember_set(job.known, level + 1, own, asked, state[S_GOT_LOW])
        return True
    levels.state[level + 1, S_OWN], levels.state[level + 1, S_SPENT] = side, spent
    _open(job, level + 1, depth, tests, upper, budget)
    return False


@inline
def _left(state, one):
    """Return the budget of discrepancies that is left below a cut."""
    return state[S_BUDGET] if state[S_BUDGET] >= ALL_TESTS else state[S_BUDGET] - one[R_COST]


@outlined
def _bound_others(job):
    """Write a bound on the loss of all trees, of a whole search that was halted."""
    levels = job.levels
    state, bound = levels.state[0], levels.state[0, S_UPPER]
    for k in range(state[S_HEAD], state[S_TAIL]):
        one = levels.ranges[0, k % levels.ranges.shape[1]]
        bound = min(bound, bound_of_range(job.rows, 0, state[S_OWN], one))
    state[S_BOUND] = bound


@entry
def search_sorted(job, upper, budget, n_sets):
    """Look for a tree that loses less than ``upper``; levels.best[0] and state[0, S_BEST] say what was found.

    Where ``budget`` is less than ``ALL_TESTS``, nothing is proven: it is how often a path, above its last two levels,
    may take another cut than the most promising one; the next one takes one of it, the one after that two. It ends
    early where ``n_sets`` sets of rows have been looked at, in all searches of this job.
    """
    job = own_copy(job)
    rows, levels, rule = job.rows, job.levels, job.rule
    price = rule.price
    levels.state[0, S_BEST] = BIG
    depth, tests = limit_tests(rule.depth, rule.most)
    if depth <= 2:
        levels.two[TWO_UPPER], levels.two[TWO_SPENT] = upper, 0
        call_at(job.two_at, job, 0, 0, tests)
        levels.state[0, S_UPPER] = levels.two[VALUE]
        if levels.two[VALUE] < upper:
            levels.state[0, S_BEST] = levels.two[VALUE]
            call_at(job.two_at, job, 0, 0, tests + 4)
        return ENDED if job.halt[0] == 0 else HALTED
    level = np.int64(0)
    if budget == GO_ON:
        level = take_up(levels.state[0], upper)
    else:
        levels.state[0, S_OWN] = levels.state[0, S_SPENT] = 0
        _open(job, 0, depth, tests, upper, budget)
    while True:
        if job.halt[0] != 0 or levels.explored[0] >= n_sets:
            _bound_others(job)
            levels.state[0, S_LEVEL] = level
            return HALTED
        state = levels.state[level]
        depth, tests = state[S_DEPTH], state[S_TESTS]
        places = levels.ranges.shape[1]
        if state[S_PHASE] == NEXT_TEST:
            if state[S_HEAD] == state[S_TAIL] or state[S_UPPER] <= price:
                if level == 0:
                    return ENDED
                above = levels.state[level - 1]
                above[S_GOT], above[S_GOT_LOW] = state[S_UPPER], min(state[S_LOW], state[S_UPPER])
                if budget >= ALL_TESTS:
                    asked = depth, tests, state[S_SPENT]
                    remember_set(job.known, level, job.known.own[OF_LEVELS + level], asked, above[S_GOT_LOW])
                if state[S_UPPER] < state[S_START]:
                    kept = levels.kept[level - 1, above[S_SIDE]]
                    for k in range(len(kept)):
                        kept[k, 0], kept[k, 1] = levels.best[level, k, 0], levels.best[level, k, 1]
                level -= 1
                continue
            if depth <= 3:
                _next_together(job, level, budget)
                continue
            one = levels.ranges[level, state[S_HEAD] % places]
            cut = cut_of(job, level, one)
            if cut < 0:
                state[S_HEAD] += 1
                continue
            f, state[S_CUT] = one[R_COLUMN], cut
            part(rows, level, state[S_OWN], f, cut, job.lanes, level + 1)
            levels.explored[2] += 1
            as_left = loss_of_set(job.loss, rows, level + 1, 0, job.lanes)
            side = np.int64(loss_of_set(job.loss, rows, level + 1, 1, job.lanes) > as_left)
            given = one[R_WAY] if side == 0 else tests - 1 - one[R_WAY]
            d, t = limit_tests(depth - 1, given)
            state[S_PHASE] = ONE_SIDE
            # What the other side loses at the far end of the range: if this one loses so much more, half of the range
            # is skipped.
            most = state[S_UPPER] - one[R_PRICE] - (one[R_RIGHT] if side == 0 else one[R_LEFT])
            if not _ask(job, level, side, d, t, state[S_SPENT] + spends(job.loss, f), most, _left(state, one)):
                level += 1
            continue
        one = levels.ranges[level, state[S_HEAD] % places]
        f, way, cut = one[R_COLUMN], one[R_WAY], state[S_CUT]
        if state[S_PHASE] == ONE_SIDE:
            state[S_BEFORE], state[S_BEFORE_LOW] = state[S_GOT], state[S_GOT_LOW]
            side = 1 - state[S_SIDE]
            given = way if side == 0 else tests - 1 - way
            d, t = limit_tests(depth - 1, given)
            state[S_PHASE] = OTHER_SIDE
            most = state[S_UPPER] - one[R_PRICE] - (one[R_RIGHT] if side == 0 else one[R_LEFT])
            if not _ask(job, level, side, d, t, state[S_SPENT] + spends(job.loss, f), most, _left(state, one)):
                level += 1
            continue
        total = state[S_BEFORE] + state[S_GOT] + one[R_PRICE]
        if total < state[S_UPPER]:
            note_best(rule, state, level, total)
            _write_tree(job, level, f, cut, way)
        left, right = state[S_BEFORE_LOW], state[S_GOT_LOW]
        if state[S_SIDE] == 0:
            left, right = right, left
        use_bounds(job, level, one, cut, left, right, budget)
        state[S_HEAD] += 1
        state[S_PHASE] = NEXT_TEST


@outlined
def _next_together(job, level, budget):
    """Try the next cuts of a set of three levels, as many as are tried at a time, and use in order what was found."""
    levels, item = job.levels, job.crew.item
    state, places = levels.state[level], levels.ranges.shape[1]
    most, work = n_together(job.rows, level, state[S_OWN], state[S_TRIED])
    head, n = state[S_HEAD], np.int64(0)
    while head < state[S_TAIL] and n < most:
        place = head % places
        cut = cut_of(job, level, levels.ranges[level, place])
        head += 1
        if cut >= 0:
            item[n, I_LEVEL], item[n, I_PLACE], item[n, I_CUT] = level, place, cut
            n += 1
    try_together(job, level, n, work)
    if job.halt[0] != 0:
        return  # what was found may not be all: these cuts still wait
    state[S_HEAD] = head
    state[S_TRIED] += n
    for k in range(n):
        one, cut = levels.ranges[level, item[k, I_PLACE]], item[k, I_CUT]
        total = item[k, I_GOT] + item[k, I_GOT + 1] + one[R_PRICE]
        spent = state[S_SPENT] + spends(job.loss, one[R_COLUMN])
        for side in range(2):
            if item[k, I_IS_LIKE + side] == 0:
                given = one[R_WAY] if side == 0 else state[S_TESTS] - 1 - one[R_WAY]
                d, t = limit_tests(state[S_DEPTH] - 1, given)
                own = job.known.own[2 * k + side]
                remember_set(job.known, level + 1, own, (d, t, spent), item[k, I_LOW + side])
        if total < state[S_UPPER]:
            note_best(job.rule, state, level, total)
            part(job.rows, level, state[S_OWN], one[R_COLUMN], cut, job.lanes, level + 1)
            for side in range(2):
                kept = levels.kept[level, side]
                kept[0, 0], kept[0, 1] = item[k, I_COLUMN + side], item[k, I_ROOT + side]
            _write_tree(job, level, one[R_COLUMN], cut, one[R_WAY])
        use_bounds(job, level, one, cut, item[k, I_LOW], item[k, I_LOW + 1], budget)


@outlined
def _write_tree(job, level, f, cut, way):
    """Write a level's best tree: a cut, and the trees of both sides."""
    rows, levels = job.rows, job.levels
    state, best = levels.state[level], levels.best[level]
    for k in range(len(best)):
        best[k, 0] = best[k, 1] = -1
    best[0, 0], best[0, 1] = f, rows.code[level, state[S_OWN], f, cut - 1]
    for side in range(2):
        kept = levels.kept[level, side]
        given = way if side == 0 else state[S_TESTS] - 1 - way
        d, t = limit_tests(state[S_DEPTH] - 1, given)
        if d <= 2:
            levels.two[TWO_SPENT] = state[S_SPENT] + spends(job.loss, f)
            call_at(job.two_at, job, level + 1, side, t + 4)
        _graft_pairs(best, max(d, 1), side, kept)
