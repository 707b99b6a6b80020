# mypy: ignore-errors
"""Which open node is divided next: the last one, or the one of largest gain where the number of leaves is limited.

The limit says it to kernels, not a type: one code serves both, and what it costs is an ``if`` a node.
"""

from dtnumba.growth import columns as col
from dtnumba.runtime.kernels import inline, outlined


@inline
def is_best_first(limits):
    """Tell whether the largest gain comes first, then the smaller key: a heap. Else the last node does: a stack."""
    return limits.max_leaves < col.NO_LIMIT


@inline
def push(limits, growing, frontier, n, node):
    """Add a node to a frontier of n."""
    if is_best_first(limits):
        _push_on_heap(growing.numbers, growing.keys, frontier, n, node)
    else:
        frontier[n] = node


@inline
def pop(limits, growing, frontier, n):
    """Take the next node off a frontier of n."""
    return _pop_off_heap(growing.numbers, growing.keys, frontier, n) if is_best_first(limits) else frontier[n - 1]


@outlined
def _push_on_heap(numbers, keys, frontier, n, node):
    i = n
    while i > 0 and _before(numbers, keys, node, frontier[(i - 1) // 2]):
        frontier[i] = frontier[(i - 1) // 2]
        i = (i - 1) // 2
    frontier[i] = node


@outlined
def _pop_off_heap(numbers, keys, frontier, n):
    top, last, i = frontier[0], frontier[n - 1], 0
    while 2 * i + 1 < n - 1:
        child = 2 * i + 1
        child += child + 1 < n - 1 and _before(numbers, keys, frontier[child + 1], frontier[child])
        if not _before(numbers, keys, frontier[child], last):
            break
        frontier[i] = frontier[child]
        i = child
    frontier[i] = last
    return top


@inline
def _before(numbers, keys, a, b):
    larger = numbers[a, col.PRIORITY] > numbers[b, col.PRIORITY]
    return larger or (numbers[a, col.PRIORITY] == numbers[b, col.PRIORITY] and keys[a] < keys[b])
