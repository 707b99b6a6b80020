"""Which waiting node is divided next, and which features a node looks at: policies of growth, chosen by type."""

from typing import NamedTuple

from dtnumba import rng
from dtnumba._jit import by_type, inline, part
from dtnumba.growing import PRIORITY

push = by_type("push")
pop = by_type("pop")
draw = by_type("draw")
list_drawn = by_type("list_drawn")
put_back = by_type("put_back")  # what was drawn, where nobody reads a list of it
side_by_side = by_type("side_by_side")  # whether features are to be looked at one by one: each leaves a candidate


def _without_key(features, key):
    return features


with_key = by_type("with_key", _without_key)


@part
class DepthFirst(NamedTuple):
    """The last one first: a stack."""

    def push(self, growing, frontier, n, node):
        frontier[n] = node

    def pop(self, growing, frontier, n):
        return frontier[n - 1]


@part
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
    larger = numbers[a, PRIORITY] > numbers[b, PRIORITY]
    return larger or (numbers[a, PRIORITY] == numbers[b, PRIORITY] and keys[a] < keys[b])


@part
class AllFeatures(NamedTuple):
    """Every node looks at every feature, in order."""

    def draw(self, scratch, key, first, last):
        pass

    def side_by_side(self):
        return True

    def list_drawn(self, scratch, k):
        for i in range(k):
            scratch.listed[i] = scratch.features[i]

    def put_back(self, scratch, k):
        pass


@part
class SomeFeatures(NamedTuple):
    """Every node draws features without replacement (Fisher-Yates over a permutation that is put back after use)."""

    stream: int  # uint64

    def with_key(self, key):
        return SomeFeatures(key)

    def side_by_side(self):
        return False  # one worker looks at all features of a node, in the order of the draw

    def draw(self, scratch, key, first, last):
        features, stream = scratch.features, rng.mix(self.stream, key)
        for i in range(first, last):
            j = i + rng.below(rng.mix(stream, i), len(features) - i)
            scratch.drawn[i] = j
            features[i], features[j] = features[j], features[i]

    def list_drawn(self, scratch, k):
        """List the k drawn features in the order of the draw: the first one wins a tie, whatever its number."""
        features = scratch.features
        for i in range(k):
            scratch.listed[i] = features[i]
        put_back(self, scratch, k)

    def put_back(self, scratch, k):
        features = scratch.features
        for i in range(k - 1, -1, -1):
            j = scratch.drawn[i]
            features[i], features[j] = features[j], features[i]
