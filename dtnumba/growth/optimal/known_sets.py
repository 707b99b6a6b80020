# mypy: ignore-errors
"""Sets of rows that were solved, by name: a table that forgets instead of growing, and the last ones, to compare.

A set loses no less than another one, but for what the rows that only the other has can lose. Columns that say nearly
the same part rows nearly alike, so that much of what one of them showed holds for the next one.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.growth.optimal.crew import MOST_TOGETHER
from dtnumba.runtime.instructions.bits import bit_count, lowest_bit
from dtnumba.runtime.kernels import inline, outlined

MOST_KNOWN, KNOWN_BYTES = 256, 1 << 24  # sets of a level that are compared, and the bytes of those of all levels
OF_LEVELS = 2 * MOST_TOGETHER
_ONE, _WORD = np.uint64(1), np.uint64(64)
# What a set loses at least, and what trees that is about
K_LOW, K_DEPTH, K_TESTS, K_SPENT = range(4)


class Known(NamedTuple):
    """Bounds of sets of rows that were solved: a table in which new ones overwrite, and the last two of each level."""

    key: np.ndarray  # (places, 2) uint64
    bound: np.ndarray  # (places,) int64
    is_exact: np.ndarray  # (places,) uint8
    rows: np.ndarray  # (levels, 2, words) uint64
    recent: np.ndarray  # (levels, 2, 3) int64: bound, depth, tests
    turn: np.ndarray  # (levels,) int64
    worst: np.ndarray  # (groups,) int64: what one row can lose at most; empty where nobody can say
    # (words,) uint64, (64 * words,) int64: one row of those that no test parts, and what they lose together
    alike: np.ndarray
    lost: np.ndarray


@inline
def _mix(h, x):
    h = (h ^ x) * np.uint64(0x9E3779B97F4A7C15)
    return h ^ (h >> np.uint64(29))


@outlined
def name_set(seen, key):
    """Write two words that name a set of rows."""
    a, b = np.uint64(1), np.uint64(77)
    for w in range(np.uint64(len(seen))):
        a = _mix(a, seen[w])
        b = _mix(b, seen[w] ^ np.uint64(0xD1B54A32D192ED03))
    key[0], key[1] = a, b


@inline
def _key(name, depth, tests):
    """Return two words that name a set of rows and what is asked of it."""
    asked = np.uint64(depth * 1024 + tests)
    return _mix(name[0] + asked, name[1]), _mix(name[1] ^ asked, name[0])


@outlined
def look_up(known, name, depth, tests):
    """Return a bound on the loss of a set of rows, and whether it is the loss itself."""
    a, b = _key(name, depth, tests)
    place = a % np.uint64(len(known.bound))
    if known.key[place, 0] == a and known.key[place, 1] == b:
        return known.bound[place], known.is_exact[place] != 0
    return np.int64(0), False


@outlined
def note(known, name, depth, tests, bound, is_exact):
    """Keep a bound of a set of rows, in the place of whatever stands where its name falls."""
    a, b = _key(name, depth, tests)
    place = a % np.uint64(len(known.bound))
    if known.key[place, 0] == a and known.key[place, 1] == b and known.bound[place] >= bound:
        return
    known.key[place, 0], known.key[place, 1] = a, b
    known.bound[place], known.is_exact[place] = bound, is_exact


@outlined
def like(known, rows, level, seen, depth, tests):
    """Return a bound by the sets last solved: what they have and this one has not cannot lose more than its worst."""
    found = np.int64(0)
    for k in range(2):
        bound = known.recent[level, k, 0]
        if bound <= found or known.recent[level, k, 1] != depth or known.recent[level, k, 2] < tests:
            continue
        for g in range(len(known.worst)):
            apart = np.int64(0)
            for w in range(np.uint64(rows.start[0, g]), np.uint64(rows.start[0, g + 1])):
                apart += np.int64(bit_count(known.rows[level, k, w] & ~seen[w]))
            bound -= apart * known.worst[g]
        found = max(found, bound)
    return found


@outlined
def always_lost(known, seen):
    """Return what rows of a set lose that no test parts, whatever its tree."""
    total = np.int64(0)
    for w in range(np.uint64(len(known.alike))):
        x = seen[w] & known.alike[w]
        while x:
            total += known.lost[w * _WORD + lowest_bit(x)]
            x &= x - _ONE
    return total


@outlined
def remember(known, level, seen, depth, tests, bound):
    """Keep a set just solved, of the last two of its level."""
    if len(known.worst) == 0:
        return
    k = known.turn[level]
    known.turn[level] = 1 - k
    for w in range(np.uint64(len(seen))):
        known.rows[level, k, w] = seen[w]
    known.recent[level, k, 0], known.recent[level, k, 1], known.recent[level, k, 2] = bound, depth, tests


class SolvedSets(NamedTuple):
    """The last sets of each level, and what they lose at least."""

    rows: np.ndarray  # (levels, sets, words) uint64
    told: np.ndarray  # (levels, sets, 4) int64: columns K_LOW ...
    turn: np.ndarray  # (levels,) int64
    own: np.ndarray  # (OF_LEVELS + levels, words) uint64: sets that are asked about: both of each item, of each level


@outlined
def lost_between(rows, level, side, column, start, stop):
    """Return what rows between two places in the order of a column lose that no test parts, whatever their tree."""
    total = np.int64(0)
    if len(rows.lost) > 0:
        order = rows.row[level, side, column]
        for t in range(start, stop):
            total += rows.lost[order[t]]
    return total


@outlined
def bound_by_like(known, level, rows, slot, side, asked, upper, own):
    """Return whether a set, asked for (depth, tests, spent), cannot lose less than ``upper`` because of one like it.

    Or because of its rows that no test parts. It is rows[slot, side]; its rows are written to ``own`` as bits.
    """
    told, order = known.told[level], rows.row[slot, side, 0]
    depth, tests, spent = asked
    for w in range(np.uint64(len(own))):
        own[w] = np.uint64(0)
    for t in range(np.uint64(rows.size[slot, side])):
        r = np.uint64(order[t])
        own[r // _WORD] |= _ONE << (r % _WORD)
    if len(rows.lost) > 0 and lost_between(rows, slot, side, 0, 0, rows.size[slot, side]) >= upper:
        return True
    for k in range(len(told)):
        room = told[k, K_LOW] - upper
        if room < 0 or told[k, K_DEPTH] < depth or told[k, K_TESTS] < tests or told[k, K_SPENT] < spent:
            continue
        for w in range(np.uint64(len(own))):
            x = known.rows[level, k, w] & ~own[w]
            while x and room >= 0:
                room -= rows.worst[w * _WORD + lowest_bit(x)] if len(rows.worst) > 0 else room + 1
                x &= x - _ONE
            if room < 0:
                break
        if room >= 0:
            return True
    return False


@outlined
def remember_set(known, level, own, asked, low):
    """Keep what a set loses at least, in the place of the oldest one."""
    k = known.turn[level]
    known.turn[level] = (k + 1) % len(known.told[level])
    for w in range(np.uint64(len(own))):
        known.rows[level, k, w] = own[w]
    known.told[level, k, K_LOW] = low
    known.told[level, k, K_DEPTH], known.told[level, k, K_TESTS], known.told[level, k, K_SPENT] = asked
