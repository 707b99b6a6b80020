# mypy: ignore-errors
"""FollowedNodes and lists of rows that stay between the changes of a tree.

Children lie side by side, as everywhere. A pair that is given up is used again. Every leaf has a list of its rows, in
any order; an inner node may have one, in the order of the column that it tests, as presorted records.
"""

from typing import NamedTuple

import numpy as np

from dtnumba.growth import columns as col
from dtnumba.runtime.kernels import inline, outlined

NO_LIST = -1
# Columns of FollowedNodes.link
FEATURE, LEFT, PARENT_NODE, NODE_DEPTH, MISSING_LEFT, DIRTY, OWN_TABLE = range(7)
N_NODE_LINKS = 7
NO_SLOT = -1
# Columns of FollowedNodes.number
THRESHOLD, BEST_GAIN, SHIFT = range(3)  # the threshold is NaN where levels decide
N_NODE_NUMBERS = 3
# Entries of FollowedNodes.used
NEXT_NODE, N_FREE, NEXT_PLACE, N_FREE_TABLES = range(4)


class FollowedNodes(NamedTuple):
    """FollowedNodes of a tree, and the rows of each."""

    link: np.ndarray  # (m, N_NODE_LINKS) int32
    number: np.ndarray  # (m, N_NODE_NUMBERS) float64
    n_rows: np.ndarray  # (m,) int64
    place: np.ndarray  # (m, 2) int64: where a list begins, or NO_LIST; how many rows it has room for
    sums: np.ndarray  # (m, n_sums) int64: exact statistics of the rows
    ceiling: np.ndarray  # (m, p) float64: see ``ceilings``
    free: np.ndarray  # (m,) int32: pairs given up
    levels: np.ndarray  # (m, 4) uint64, a bit a level: which go left; (m, 0) without categories
    pool: np.ndarray  # uint32: the lists
    used: np.ndarray  # (4,) int64
    tables: (
        np.ndarray
    )  # (n_slots, p, N_CODES, n_sums + 1) int64: of large nodes, sums of the rows of each code, and their number
    inside: np.ndarray  # (n_slots, p, N_CODES) float64: of large nodes, what cuts inside each code can be worth
    lost: np.ndarray  # (n_slots, p) float64: of large nodes, by how much more than SHIFT a column's cuts may have risen
    free_slots: np.ndarray  # (n_slots,) int32

    @classmethod
    def new(cls, capacity, n_sums, p, n_places, n_slots, n_words):
        """Return room for so many nodes and places in lists; the root is a leaf without rows."""
        link = np.zeros((capacity, N_NODE_LINKS), np.int32)
        link[0, FEATURE] = link[0, LEFT] = link[0, PARENT_NODE] = col.LEAF
        link[0, OWN_TABLE] = NO_SLOT
        place = np.zeros((capacity, 2), np.int64)
        return cls(
            link,
            np.zeros((capacity, N_NODE_NUMBERS)),
            np.zeros(capacity, np.int64),
            place,
            np.zeros((capacity, n_sums), np.int64),
            np.zeros((capacity, p)),
            np.zeros(capacity, np.int32),
            np.zeros((capacity, n_words), np.uint64),
            np.zeros(n_places, np.uint32),
            np.array([1, 0, 0, n_slots], np.int64),
            np.empty((n_slots, p, 256, n_sums + 1), np.int64),
            np.empty((n_slots, p, 256)),
            np.zeros((n_slots, p)),
            np.arange(n_slots, dtype=np.int32),
        )

    def with_room(self, capacity):
        """Return the same nodes with room for so many."""
        grown = {}
        for name in ("link", "number", "n_rows", "place", "sums", "ceiling", "free", "levels"):
            old = getattr(self, name)
            new = np.zeros((capacity, *old.shape[1:]), old.dtype)
            new[: len(old)] = old
            grown[name] = new
        return self._replace(**grown)


@inline
def take_pair(nodes):
    """Return two places side by side for nodes; there is room, as whoever calls has seen to."""
    used = nodes.used
    if used[N_FREE] > 0:
        used[N_FREE] -= 1
        return np.int64(nodes.free[used[N_FREE]])
    used[NEXT_NODE] += 2
    return used[NEXT_NODE] - 2


@inline
def give_up_table(nodes, node):
    """Let another node have the table of this one, if it has one."""
    slot = nodes.link[node, OWN_TABLE]
    if slot >= 0:
        for c in range(nodes.ceiling.shape[1]):
            nodes.ceiling[node, c] += nodes.lost[slot, c]
        nodes.free_slots[nodes.used[N_FREE_TABLES]] = slot
        nodes.used[N_FREE_TABLES] += 1
        nodes.link[node, OWN_TABLE] = NO_SLOT


@outlined
def free_below(nodes, node, stack):
    """Give up everything below a node, which becomes a leaf; its own list stays."""
    link, top = nodes.link, np.int64(0)
    if link[node, LEFT] >= 0:
        stack[0], top = link[node, LEFT], np.int64(1)
    while top > 0:
        top -= 1
        pair = np.int64(stack[top])
        nodes.free[nodes.used[N_FREE]] = pair
        nodes.used[N_FREE] += 1
        for child in range(pair, pair + 2):
            give_up_table(nodes, child)
            if link[child, LEFT] >= 0:
                stack[top] = link[child, LEFT]
                top += 1
    link[node, FEATURE] = link[node, LEFT] = col.LEAF


@inline
def new_list(nodes, node, n, slack, reserve):
    """Give a node a list with room for n rows and some more; return whether the pool had room.

    ``reserve`` places of the pool are kept for others.
    """
    start, room = nodes.used[NEXT_PLACE], n + slack
    if start + room + reserve > len(nodes.pool):
        return False
    nodes.place[node, 0], nodes.place[node, 1] = start, room
    nodes.used[NEXT_PLACE] = start + room
    return True


@outlined
def gather_rows(nodes, node, stack, out):
    """Write the rows of a node, those of its leaves, to ``out``; return how many."""
    from_pool, link, n, top = nodes.pool, nodes.link, np.int64(0), np.int64(1)
    stack[0] = node
    while top > 0:
        top -= 1
        at = np.int64(stack[top])
        if link[at, LEFT] >= 0:
            stack[top], stack[top + 1] = link[at, LEFT] + 1, link[at, LEFT]
            top += 2
        else:
            start = nodes.place[at, 0]
            for i in range(start, start + nodes.n_rows[at]):
                out[n] = from_pool[i]
                n += 1
    return n


def compact(nodes, room, n_slots):
    """Return the nodes with the lists of their leaves side by side in a new pool, and so many places behind them."""
    # Lists of inner nodes are made again where they are wanted.
    leaves = [v for v in range(int(nodes.used[NEXT_NODE])) if nodes.link[v, LEFT] < 0]
    pool = np.zeros(int(sum(nodes.n_rows[v] * 2 + 2 for v in leaves)) + 2 * room + 4 * n_slots, np.uint32)
    at = 0
    free = set(nodes.free[: int(nodes.used[N_FREE])].tolist())
    for v in range(int(nodes.used[NEXT_NODE])):
        if nodes.link[v, LEFT] < 0 and not ({v, v - 1} & free):
            n, start = int(nodes.n_rows[v]), int(nodes.place[v, 0])
            pool[at : at + n] = nodes.pool[start : start + n]
            nodes.place[v] = at, n + n // 4 + 2
            at += n + n // 4 + 2
        else:
            nodes.place[v] = NO_LIST, 0
    nodes.used[NEXT_PLACE] = at
    return nodes._replace(pool=pool)
