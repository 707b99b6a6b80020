"""Where a tally says that units stay, a batch fit has chosen the same, and the rows are what it would make of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnumba.criteria.contract import resolve_criterion
from dtnumba.growth.incremental.slots import Slots, measured
from dtnumba.growth.incremental.tally import tally_of
from dtnumba.tables.labels import Values, read_labels
from dtnumba.tables.weights import fixed_weights


def held_of(slots, *, classes):
    rows = slots.outcome[slots.held]
    if not classes:
        return Values(rows.copy())
    return read_labels(rows[:, 0], len(rows), "test")


def units_of(slots, criterion, *, classes):
    outcome = held_of(slots, classes=classes)
    found, target = measured(outcome, fixed_weights(None, slots.n_rows), criterion)
    return outcome, (found, [known.tolist() for known in getattr(outcome, "classes", [])]), target


@given(
    st.integers(0, 2**30),
    st.sampled_from(["gini", "squared_error", "poisson", "friedman_mse"]),
    st.sampled_from(["normal", "whole", "far", "crowded"]),
)
@settings(max_examples=60)
def test_units_stay_where_the_tally_says_so(seed, name, kind):
    rng = np.random.default_rng(seed)
    classes = name == "gini"
    n = int(rng.integers(4, 140))
    y = {
        "normal": lambda: np.abs(rng.normal(size=400)) + 0.1,
        "whole": lambda: rng.integers(0, 5, 400) + 1.0,
        "far": lambda: rng.normal(size=400) + 1e6,
        "crowded": lambda: 1.0 + np.where(rng.random(400) < 0.5, rng.random(400) * 1e-9, rng.random(400)),
    }[kind]()
    y = rng.integers(0, 4, 400) if classes else y
    slots = Slots(1, 1, np.float64, np.int64 if classes else np.float64)
    slots.put(np.zeros((n, 1)), y[:n, None], None, np.arange(n))
    criterion = resolve_criterion(name, "classes" if classes else "numbers", 400.0, 1)
    outcome, before, target = units_of(slots, criterion, classes=classes)
    tally = tally_of(slots, outcome, target)
    for k in range(n, 398, 3):
        went = rng.permutation(slots.held)[: int(rng.integers(0, 3))]
        slots.drop(went)
        came = slots.put(np.zeros((2, 1)), y[k : k + 2, None], None, np.arange(k, k + 2))
        if tally is None or not tally.takes(came, went):
            break
        slots.release()
        _, now, target = units_of(slots, criterion, classes=classes)
        assert now == before
        rows, at = tally.rows(came), np.searchsorted(slots.held, came)
        for field, values in rows.items():
            column = getattr(target, field, np.empty(0))
            if len(column) == slots.n_rows:
                assert np.array_equal(column[at], np.broadcast_to(values, column[at].shape)), field


@pytest.mark.parametrize("weight", [2.0, 0.0, 0.5])
def test_rows_that_do_not_weigh_one_are_looked_at_with_all_others(weight):
    slots = Slots(1, 1, np.float64, np.int64)
    slots.put(np.zeros((4, 1)), np.array([[0], [1], [0], [1]]), None, np.arange(4))
    outcome, _, target = units_of(slots, resolve_criterion("gini", "classes", 4.0, 1), classes=True)
    tally = tally_of(slots, outcome, target)
    came = slots.put(np.zeros((1, 1)), np.array([[1]]), np.array([weight]), np.array([4]))
    assert not tally.takes(came if weight else came[:0], np.empty(0, np.int64))
    assert tally_of(slots, outcome, target) is None


def test_classes_that_come_and_go_change_the_units():
    slots = Slots(1, 1, np.float64, np.int64)
    slots.put(np.zeros((5, 1)), np.array([[2], [5], [2], [5], [5]]), None, np.arange(5))
    outcome, _, target = units_of(slots, resolve_criterion("gini", "classes", 4.0, 1), classes=True)
    nobody = np.empty(0, np.int64)
    for label in (3, 7):
        tally = tally_of(slots, outcome, target)
        came = slots.put(np.zeros((1, 1)), np.array([[label]]), None, np.array([5]))
        assert not tally.takes(came, nobody)
        slots.drop(came)
    tally = tally_of(slots, outcome, target)
    slots.drop(np.array([0]))
    assert tally.takes(nobody, np.array([0]))
    slots.drop(np.array([2]))
    assert not tally.takes(nobody, np.array([2]))


def test_a_tally_of_numbers_lasts_for_a_while():
    rng = np.random.default_rng(0)
    slots = Slots(1, 1, np.float64, np.float64)
    y = np.concatenate([[-9.0, 9.0], rng.normal(size=300)])[:, None]
    slots.put(np.zeros((200, 1)), y[:200], None, np.arange(200))
    outcome, _, target = units_of(slots, resolve_criterion("squared_error", "numbers", 4.0, 1), classes=False)
    tally = tally_of(slots, outcome, target)
    for k in range(200, 206):
        came = slots.put(np.zeros((1, 1)), y[k : k + 1], None, np.array([k]))
        assert tally.takes(came, np.empty(0, np.int64))
    came = slots.put(np.zeros((1, 1)), np.array([[10.0]]), None, np.array([206]))
    assert not tally.takes(came, np.empty(0, np.int64))
