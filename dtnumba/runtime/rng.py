# mypy: ignore-errors
"""Random numbers without state: a draw is a function of seed, purpose, node and index, so nothing depends on order.

SplitMix64's finaliser (Steele, Lea & Flood 2014) over a running key. Threads, growth order and the number of trees
cannot change a draw, because none of them is part of its key.
"""

import numpy as np

from dtnumba.runtime.kernels import COMPILED, inline

# What a stream of draws is for; streams of different purposes are independent.
BOOTSTRAP, FEATURES, CUTS, PERMUTATION, FOLDS, DIRECTIONS, TIES, WINDOW, SAMPLE, TREE, COPIES, SUBSETS = range(12)
_MASK = (1 << 64) - 1
ROOT_KEY = 1


def _mixed(key, counter):
    """Return the ``counter``-th 64 random bits of stream ``key``."""
    z = (int(key) + (int(counter) + 1) * 0x9E3779B97F4A7C15) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return np.uint64(z ^ (z >> 31))


def mix_all(key, counters):
    """Return the counter-th 64 random bits of stream ``key``, for arrays of keys, of counters, or of both."""
    z = np.asarray(key, np.uint64) + (np.atleast_1d(counters).astype(np.uint64) + np.uint64(1)) * np.uint64(
        0x9E3779B97F4A7C15
    )
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def path_key(key, side):
    """Key of child ``side`` (0 left, 1 right): the path from the root while that fits, a hash of it below."""
    if int(key) < 1 << 62:
        return np.uint64(2 * int(key) + int(side))
    return _mixed(key, side)


if COMPILED:
    _GOLDEN = np.uint64(0x9E3779B97F4A7C15)

    _FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)

    _30, _27, _31, _1, _11, _32 = (np.uint64(k) for k in (30, 27, 31, 1, 11, 32))

    _LOW = np.uint64(0xFFFFFFFF)

    _PATH_END = np.uint64(1 << 62)

    @inline
    def mix(key, counter):
        """Return the ``counter``-th 64 random bits of stream ``key``, in kernels."""
        z = np.uint64(key) + (np.uint64(counter) + _1) * _GOLDEN
        z = (z ^ (z >> _30)) * _FIRST
        z = (z ^ (z >> _27)) * _SECOND
        return z ^ (z >> _31)

    @inline
    def below(bits, n):
        """Map 64 random bits to 0 <= integer < n (n < 2**32) without division; the bias is at most n / 2**32."""
        return np.int64(((bits >> _32) * np.uint64(n)) >> _32)

    @inline
    def uniform(bits):
        """Map 64 random bits to 0 <= x < 1."""
        return np.float64(bits >> _11) * (1.0 / 9007199254740992.0)

    @inline
    def child_key(key, side):
        """Return the key of child ``side``, in kernels."""
        if key < _PATH_END:
            return (key << _1) + np.uint64(side)
        return mix(key, side)

else:
    mix = _mixed

    child_key = path_key

    def below(bits, n):
        """Map 64 random bits to 0 <= integer < n."""
        return ((int(bits) >> 32) * int(n)) >> 32

    def uniform(bits):
        """Map 64 random bits to 0 <= x < 1."""
        return float(int(bits) >> 11) * (1.0 / 9007199254740992.0)


def stream(seed, purpose, index=0):
    """Key of an independent stream, e.g. the feature draws of tree ``index``."""
    return _mixed(streams_key(seed, purpose), index)


def streams_key(seed, purpose):
    """Key of all streams of a purpose: ``mix(key, k)`` is the key of stream k."""
    return _mixed(_mixed(seed, 0), purpose)


@inline
def first_stream(seed, purpose):
    """Key of a purpose's first stream, in kernels."""
    return mix(mix(mix(seed, 0), purpose), 0)


def seed_of_tree(seed, tree):
    """Seed of one tree of a forest: a tree that is grown by itself from this seed draws what this one does."""
    return int(stream(seed, TREE, tree))


def seed_from(random_state):
    """Turn scikit-learn's ``random_state`` into a 64-bit seed: None draws one, an int is one, a generator gives one."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        if not 0 <= random_state < 1 << 64:
            msg = f"random_state={random_state}: must be between 0 and 2**64 - 1, a generator, or None"
            raise ValueError(msg)
        return int(random_state)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(0, 1 << 31)) << 31 | int(random_state.randint(0, 1 << 31))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, 1 << 63))
    msg = f"random_state={random_state!r}: must be an int, a numpy RandomState or Generator, or None"
    raise ValueError(msg)
