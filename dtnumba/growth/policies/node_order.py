# mypy: ignore-errors
# ruff: noqa: D102
"""Which open node is divided next: the last one, or the one of largest gain."""

from typing import NamedTuple

from dtnumba.growth import columns as col
from dtnumba.runtime.kernels import by_type, inline, kernel_type

push = by_type("push")
pop = by_type("pop")


def _without_key(features, key):
    return features


with_key = by_type("with_key", _without_key)


@kernel_type
class DepthFirst(NamedTuple):
    """The last one first: a stack."""

    def push(self, growing, frontier, n, node):
        frontier[n] = node

    def pop(self, growing, frontier, n):
        return frontier[n - 1]


@kernel_type
class BestFirst(NamedTuple):
    """The largest gain first, then the smaller key: a heap."""

    def push(self, growing, frontier, n, node):
        numbers, keys, i = growing.numbers, growing.keys, n
        while i > 0 and _before(numbers, keys, node, frontier[(i - 1) // 2]):
            frontier[i] = frontier[(i - 1) // 2]
            i = (i - 1) // 2
        frontier[i] = node

    def pop(self, growing, frontier, n):
        numbers, keys = growing.numbers, growing.keys
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
