"""Draws: known answers, independence of order, and what a random_state may be."""

import numpy as np
import pytest
from numba import njit

from dtnumba.runtime import rng

pytestmark = pytest.mark.small
MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


# The functions that kernels absorb cannot be called from Python once they are compiled.
@njit
def run_mix(key, counter, out):
    for i in range(len(out)):
        out[i] = rng.mix(key, counter + i)


@njit
def run_below(bits, n, out):
    for i in range(len(out)):
        out[i] = rng.below(bits[i], n)


@njit
def run_uniform(bits, out):
    for i in range(len(out)):
        out[i] = rng.uniform(bits[i])


@njit
def run_child_key(keys, sides, out):
    for i in range(len(out)):
        out[i] = rng.child_key(keys[i], sides[i])


def mix(key, n, counter=0):
    out = np.empty(n, np.uint64)
    run_mix(np.uint64(key), counter, out)
    return out


def below(bits, n):
    out = np.empty(len(bits), np.int64)
    run_below(np.array(bits, np.uint64), n, out)
    return out


def uniform(bits):
    out = np.empty(len(bits))
    run_uniform(np.array(bits, np.uint64), out)
    return out


def child_keys(keys, sides):
    out = np.empty(len(keys), np.uint64)
    run_child_key(np.array(keys, np.uint64), np.array(sides), out)
    return out


@pytest.mark.parametrize(
    ("seed", "outputs"),
    [
        (
            1234567,
            [
                6457827717110365317,
                3203168211198807973,
                9817491932198370423,
                4593380528125082431,
                16408922859458223821,
            ],
        ),
        (0, [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]),
    ],
)
def test_mix_is_splitmix64(seed, outputs):
    assert mix(seed, len(outputs)).tolist() == outputs


def test_mix_takes_any_key():
    for key in (0, 1, MASK, MASK - GOLDEN, 1 << 63):
        assert mix(key, 3, counter=2).tolist() == [int(rng._mixed(key, counter)) for counter in (2, 3, 4)]


def test_below_covers_its_range_evenly():
    counts = np.bincount(below(mix(1, 7000), 7), minlength=7)
    assert len(counts) == 7
    assert ((counts - 1000) ** 2 / 1000).sum() < 22.5  # 0.1 % of chi-squared with 6 degrees of freedom


def test_below_stays_below_at_the_ends():
    for n in (1, 2, 3, (1 << 32) - 1):
        assert below([0, MASK], n).tolist() == [0, n - 1]


def test_uniform_is_in_the_half_open_unit_interval():
    assert uniform([0, MASK]).tolist() == [0.0, 1.0 - 2.0**-53]


def test_streams_differ_by_seed_purpose_and_index():
    keys = {int(rng.stream(seed, purpose, index)) for seed in range(3) for purpose in range(3) for index in range(3)}
    assert len(keys) == 27


def test_a_key_is_the_path_from_the_root_while_that_fits():
    key = rng.ROOT_KEY
    for side in (0, 1, 1, 0):
        key = rng.path_key(key, side)
    assert int(key) == 0b10110


def test_keys_of_nodes_far_below_differ():
    key, keys = rng.ROOT_KEY, []
    for _ in range(200):
        keys += [int(rng.path_key(key, side)) for side in (0, 1)]
        key = rng.path_key(key, 1)
    assert len(set(keys)) == len(keys)


def test_kernels_have_the_same_keys():
    keys = [1, 2, (1 << 62) - 1, 1 << 62, MASK]
    for side in (0, 1):
        assert child_keys(keys, [side] * 5).tolist() == [int(rng.path_key(key, side)) for key in keys]


@pytest.mark.parametrize("make", [lambda: 7, lambda: np.int64(7), np.random.RandomState, np.random.default_rng])
def test_a_seed_or_a_seeded_generator_gives_one_seed(make):
    def state():
        return make() if isinstance(make(), (int, np.integer)) else make(7)

    assert rng.seed_from(state()) == rng.seed_from(state())
    assert 0 <= rng.seed_from(state()) < 1 << 64


def test_a_generator_goes_on_from_draw_to_draw():
    for state in (np.random.RandomState(0), np.random.default_rng(0)):
        assert rng.seed_from(state) != rng.seed_from(state)


def test_no_seed_is_a_new_one_each_time():
    assert rng.seed_from(None) != rng.seed_from(None)


@pytest.mark.parametrize("wrong", [-1, 1 << 64, 1.5, "seed", True])
def test_what_is_no_seed_is_refused(wrong):
    with pytest.raises((TypeError, ValueError), match="random_state"):
        rng.seed_from(wrong)


def test_many_bits_at_once_are_those_of_each_counter():
    counters = [0, 1, 12345, 2**40, 2**64 - 1]
    for key in (0, 1, MASK):
        assert rng.mix_all(key, np.array(counters, np.uint64)).tolist() == [rng._mixed(key, c) for c in counters]
