# mypy: ignore-errors
# ruff: noqa: D102
"""Which features a node looks at: all, or some drawn for it."""

from typing import NamedTuple

from dtnumba.runtime import rng
from dtnumba.runtime.kernels import by_type, kernel_type

draw = by_type("draw")
list_drawn = by_type("list_drawn")
put_back = by_type("put_back")  # what was drawn, where nobody reads a list of it


def _without_key(features, key):
    return features


with_key = by_type("with_key", _without_key)  # the same for the streams of another tree
side_by_side = by_type("side_by_side")  # whether features are to be looked at one by one: each leaves a candidate


@kernel_type
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


@kernel_type
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
