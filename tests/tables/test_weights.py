import numpy as np
import pytest

from dtnumba.tables.labels import read_labels
from dtnumba.tables.weights import class_weights, fixed_weights, read_weight, weight_in_rows

LABELS = read_labels(["a", "b", "b"], 3, "Tree")
PAIRS = read_labels([[0, 1], [1, 1], [0, 0]], 3, "Tree")


@pytest.mark.parametrize(
    "given",
    [[1, 0, 2], np.array([1, 0, 2], np.int8), np.array([1, 0, 2], object), np.array([1.0, 0, 2], ">f4")],
    ids=str,
)
def test_weights_of_any_numbers_become_float64(given):
    weight = read_weight(given, 3)
    assert weight.dtype == np.float64
    assert weight.tolist() == [1.0, 0.0, 2.0]


def test_a_number_is_the_weight_of_every_row():
    assert read_weight(None, 3) is None
    assert read_weight(2, 3).tolist() == read_weight(np.float32(2), 3).tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (np.array(0), TypeError, r"got scalar `array\(0.\)` instead.*one sample_weight a row"),
        (np.ones((3, 1)), ValueError, "Sample weights must be 1D array or scalar, got 2D array"),
        ([1, 2], ValueError, r"sample_weight.shape == \(2,\), expected \(3,\)!"),
        ([1, -1, 0], ValueError, "Negative values in data passed to `sample_weight`: row 1 has -1.0"),
        ([1, np.nan, 0], ValueError, "sample_weight contains NaN or infinity: row 1 has nan"),
        ([1, None, 0], ValueError, "sample_weight contains NaN or infinity: row 1 has nan"),
        ([1, np.inf, 0], ValueError, "sample_weight contains NaN or infinity: row 1 has inf"),
        ([0, 0, 0], ValueError, "sample_weight: all weights are zero, so no row counts"),
        ([1e308, 1e308, 1], ValueError, "sample_weight: the weights add up to inf, and sums outside"),
        (["1", "2", "3"], ValueError, "sample_weight has dtype <U1: pass one number a row"),
        (np.array([1, {}, 1], object), ValueError, "sample_weight cannot be read as numbers"),
    ],
    ids=str,
)
def test_weights_that_cannot_be_used_are_named(given, error, words):
    with pytest.raises(error, match=words):
        read_weight(given, 3)


def test_the_callers_weights_are_left_alone():
    given = np.array([1.0, 2.0, 0.0])
    class_weights({"a": 5.0}, LABELS, read_weight(given, 3))
    assert given.tolist() == [1.0, 2.0, 0.0]


@pytest.mark.parametrize(
    ("labels", "given", "weights"),
    [
        (LABELS, {"a": 2, "b": 3}, [2, 3, 3]),
        (LABELS, {"a": 2}, [2, 1, 1]),
        (LABELS, {"a": 2, "b": 1, "never seen": 7}, [2, 1, 1]),
        (LABELS, "balanced", [1.5, 0.75, 0.75]),
        (LABELS, [{"a": 2}], [2, 1, 1]),
        (PAIRS, [{0: 2}, {1: 3}], [6, 3, 2]),
        (PAIRS, [{np.int64(0): 2}, None], [2, 1, 2]),
        (PAIRS, "balanced", [0.75 * 0.75, 1.5 * 0.75, 0.75 * 1.5]),
    ],
    ids=str,
)
def test_class_weights_multiply_into_the_rows(labels, given, weights):
    assert class_weights(given, labels, None) == pytest.approx(weights)
    assert class_weights(given, labels, np.array([2.0, 0.0, 1.0])) == pytest.approx(weights * np.array([2, 0, 1]))
    assert class_weights(None, labels, None) is None


@pytest.mark.parametrize(
    ("labels", "given", "words"),
    [
        (LABELS, {"A": 2}, r"The classes, \['a', 'b'\], are not in class_weight, which holds \['A'\]: spell"),
        (LABELS, {"a": -1}, r"class_weight\['a'\]=-1: must be a finite number >= 0"),
        (LABELS, {"a": "x"}, r"class_weight\['a'\]='x': must be a finite number >= 0"),
        (LABELS, {"a": np.nan}, r"class_weight\['a'\]=nan: must be a finite number >= 0"),
        (LABELS, {"a": 0, "b": 0}, "class_weight times sample_weight: all weights are zero"),
        (LABELS, {"a": 1e308, "b": 1e308}, "class_weight times sample_weight: the weights add up to inf"),
        (PAIRS, {0: 1}, "For multi-output, class_weight should be a list of dicts or 'balanced'; got one dict"),
        (PAIRS, [{0: 1}], "elements in class_weight should match number of outputs. class_weight has 1, y has 2"),
    ],
    ids=str,
)
def test_class_weights_that_cannot_be_used_are_named(labels, given, words):
    with pytest.raises(ValueError, match=words):
        class_weights(given, labels, None)


def test_weights_of_one_are_counts():
    for weight in (None, np.ones(3)):
        fixed = fixed_weights(weight, 3)
        assert fixed.are_one
        assert fixed.integers.tolist() == [1, 1, 1]


def test_whole_weights_are_exact():
    fixed = fixed_weights(np.array([3.0, 0.0, 2.0**50]), 3)
    assert fixed.integers.tolist() == [3, 0, 2**50]
    assert fixed.unit == 1.0
    assert fixed.kept.tolist() == [0, 2]


@pytest.mark.parametrize(
    "weight", [[0.1, 0.2, 0.3], [5e-324, 5e-324, 0], [1e308, 1.0, 1e-300], [1e-300, 0, 1], [2.0**52, 0.5, 1]], ids=str
)
def test_real_weights_are_fixed_point_and_never_vanish(weight):
    weight = np.array(weight)
    fixed = fixed_weights(weight, 3)
    assert np.array_equal(fixed.integers > 0, weight > 0)
    assert fixed.integers.sum() < 2**53
    assert np.frexp(fixed.unit)[0] == 0.5
    assert fixed.integers * fixed.unit == pytest.approx(weight, rel=1e-15, abs=weight.max() * 2.0**-50)
    assert fixed.total == pytest.approx(weight.sum(), rel=1e-14)


def test_weights_in_rows_hang_neither_on_their_unit_nor_on_the_order_of_rows():
    weight = np.array([0.3, 0.0, 1.7, 2.0, 1e-30])
    scaled = weight_in_rows(weight)
    assert abs(scaled.sum() - 4) < 1e-10
    assert (scaled > 0).tolist() == (weight > 0).tolist()
    np.testing.assert_allclose(scaled[:4], weight[:4], atol=1e-10)
    for unit in (0.1, 3.7, 1e90):
        assert weight_in_rows(weight * unit).tolist() == scaled.tolist()
    assert weight_in_rows(weight[::-1]).tolist() == scaled[::-1].tolist()


@pytest.mark.parametrize("weight", [None, np.array([2.0, 0.0, 7.0])])
def test_whole_weights_are_numbers_of_rows(weight):
    assert weight_in_rows(weight) is weight
