"""Rows keep their slots while they are held, and are found by what they hold."""

import numpy as np
import pytest

from dtnumba.growth.incremental import slots as module
from dtnumba.growth.incremental.slots import Slots


def slots_of(values, outcome):
    made = Slots(values.shape[1], 1, values.dtype, np.float64)
    made.put(values, np.asarray(outcome, float)[:, None], None, np.arange(len(values)))
    return made


def test_slots_of_rows_that_went_are_taken_again_once_they_are_released():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    slots = slots_of(X[:60], X[:60, 0])
    slots.drop(np.array([5, 7]))
    others = slots.put(X[60:62], X[60:62, :1], None, np.array([60, 61]))
    assert not {5, 7} & set(others.tolist())
    assert slots.values[5].tolist() == X[5].tolist()  # whoever follows the rows still reads it
    slots.release()
    again = slots.put(X[62:64], X[62:64, :1], None, np.array([62, 63]))
    assert set(again.tolist()) == {5, 7}
    assert slots.n_rows == len(slots.held) == 62
    for slot in slots.held:
        assert slots.values[slot].tolist() == X[slots.ids[slot]].tolist()


def test_columns_lie_in_one_piece_however_often_the_table_grows():
    slots = slots_of(np.zeros((3, 2)), np.zeros(3))
    for k in range(3, 300, 7):
        slots.put(np.full((7, 2), float(k)), np.zeros((7, 1)), None, np.arange(k, k + 7))
    assert slots.values.flags.f_contiguous
    assert slots.values.shape == (len(slots), 2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_are_found_by_value_the_oldest_first(dtype):
    X = np.array([[1, 2], [np.nan, 0], [1, 2], [np.nan, -0.0], [1, 2]], dtype)
    slots = slots_of(X, [0, 1, 0, 1, 5])
    assert slots.find(X[[0, 3, 2]], np.array([[0.0], [1], [0]])).tolist() == [0, 1, 2]
    assert slots.find(X[[4]], np.array([[5.0]])).tolist() == [4]
    slots.drop(np.array([0]))
    assert slots.find(X[[0]], np.array([[0.0]])).tolist() == [2]
    with pytest.raises(ValueError, match=r"row 1 .* is held 1 times, and asked for once more"):
        slots.find(X[[0, 0]], np.zeros((2, 1)))
    with pytest.raises(ValueError, match=r"row 0 .* was never given"):
        slots.find(X[[0]], np.ones((1, 1)))


def test_rows_with_one_key_are_told_apart(monkeypatch):
    X = np.arange(12.0).reshape(6, 2)
    slots = slots_of(X, np.zeros(6))
    slots.key[:] = 7
    monkeypatch.setattr(module, "_keys", lambda values, outcome: np.full(len(values), 7, np.uint64))
    assert slots.find(X[[4, 1]], np.zeros((2, 1))).tolist() == [4, 1]
    with pytest.raises(ValueError, match="never given"):
        slots.find(X[:1] + 1, np.zeros((1, 1)))


def test_what_was_held_is_held_again():
    X = np.arange(20.0).reshape(10, 2)
    slots = slots_of(X, np.zeros(10))
    before = slots.is_held.copy()
    slots.drop(np.array([1, 2]))
    slots.put(np.ones((200, 2)), np.zeros((200, 1)), None, np.arange(10, 210))
    slots.hold(before)
    assert slots.held.tolist() == list(range(10))
    assert slots.n_rows == 10
    assert slots.put(np.ones((1, 2)), np.zeros((1, 1)), None, np.array([10])).tolist() == [10]
