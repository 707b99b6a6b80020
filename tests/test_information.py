"""Worked numbers of textbooks and lecture notes, and laws that hold for every table.

Where a printed number is wrong, the right one is asserted and the misprint named.
"""

import csv
import itertools
import math
from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dtnumba import information
from dtnumba.information import entropy, error, gain, gain_ratio, gini, split_info

MEASURES = ["entropy", "gini", "error"]
IMPURITY = {"entropy": entropy, "gini": gini, "error": error}

repeatable = settings(derandomize=True, max_examples=50, deadline=None, database=None)
class_counts = st.lists(st.integers(0, 1000), min_size=1, max_size=6).filter(any)
few_counts = st.lists(st.integers(0, 30), min_size=1, max_size=4).filter(any)
row_pairs = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=30)  # (y, x) of each row


def printed(value, digits=6):
    """Match a number that is given to so many decimals."""
    return pytest.approx(value, rel=0, abs=0.51 * 10**-digits)


def columns(name):
    with (Path(__file__).parent / "data" / name).open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {column: [row[column] for row in rows] for column in rows[0]}


def rows_of(counts):
    """List every label as often as it was counted."""
    return [label for label, count in counts.items() for _ in range(count)]


def naive_impurity(measure, counts):
    """Follow the formula, with 50 digits."""
    total = sum(counts)
    shares = [Fraction(count, total) for count in counts if count]
    with localcontext() as context:
        context.prec = 50
        if measure == "entropy":
            decimals = [Decimal(p.numerator) / Decimal(p.denominator) for p in shares]
            return sum(-p * p.ln() for p in decimals) / Decimal(2).ln()
        exact = 1 - max(shares) if measure == "error" else 1 - sum(p * p for p in shares)
        return Decimal(exact.numerator) / Decimal(exact.denominator)


def naive_gain(y, x, measure):
    after = sum(
        naive_impurity(measure, Counter(b for a, b in zip(x, y, strict=True) if a == value).values()) * n
        for value, n in Counter(x).items()
    )
    return naive_impurity(measure, Counter(y).values()) - after / len(y)


@pytest.fixture(scope="module")
def golf():
    return columns("golf.csv")


@pytest.fixture(scope="module")
def restaurant():
    return columns("restaurant.csv")


@pytest.fixture(scope="module")
def iris():
    table = columns("iris.csv")
    species = table.pop("class")
    return {name: np.array(values, dtype=float) for name, values in table.items()}, species


def cuts(values):
    distinct = np.unique(values)
    return (distinct[:-1] + distinct[1:]) / 2


def best_cut(y, values, measure="entropy"):
    best = max(cuts(values), key=lambda cut: gain(y, values <= cut, measure))
    return gain(y, values <= best, measure), best


# Impurities


@pytest.mark.parametrize(
    ("counts", "base", "value"),
    [
        ([1, 1], 2, 1),  # a fair coin
        ([99, 1], 2, 0.080793),  # a biased one
        ([1] * 10, 2, 3.321928),  # ten classes: log2(10)
        ([9, 5], 2, 0.940286),  # golf
        ([2, 1], 2, 0.918296),
        ([1, 3], 2, 0.811278),
        ([40, 80], 2, 0.918296),
        ([28, 42], 2, 0.970951),
        ([12, 38], 2, 0.795040),
        ([1, 2, 2], 2, 1.521928),
        ([1, 2, 2], math.e, 1.054920),
        ([1, 2, 2], 3, 0.960230),  # lecture notes print 0.876, which no base 3 entropy of such fractions comes to
    ],
)
def test_entropy_of_worked_examples(counts, base, value):
    assert entropy(counts, base) == printed(value)


def test_entropy_of_three_to_one_is_a_sum_of_positive_terms():
    # Lecture notes print (-0.75 * 0.41 - 0.25 * 2) = 0.81, which is negative: log2(0.75) is -0.415.
    assert -math.log2(0.75) == printed(0.415037)
    assert entropy([75, 25]) == pytest.approx(0.75 * 0.415037 + 0.25 * 2, abs=1e-6)
    assert entropy([75, 25]) == printed(0.811278)


def test_worst_entropy_is_one_only_in_the_base_of_the_number_of_classes():
    # Lecture notes call 1 the worst case with no word on the base.
    assert entropy([7, 7, 7], base=3) == pytest.approx(1, abs=1e-15)
    assert entropy([7, 7, 7]) == printed(1.584963)


@pytest.mark.parametrize("a", [0, 0.1, 0.25, 0.5, 0.9])
def test_two_class_forms(a):
    assert gini([a, 1 - a]) == pytest.approx(2 * a * (1 - a), abs=1e-15)
    assert error([a, 1 - a]) == pytest.approx(min(a, 1 - a), abs=1e-15)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("counts", [[1, 1], [1, 2, 2], [50, 50, 50], [0, 3, 0, 4], [10**9, 1], [1, 10**15], [7]])
def test_impurity_keeps_its_digits(measure, counts):
    assert IMPURITY[measure](counts) == pytest.approx(float(naive_impurity(measure, counts)), rel=1e-14, abs=0)


@pytest.mark.parametrize("impurity", [entropy, gini, error])
def test_counts_in_rows_give_one_number_per_row(impurity):
    table = [[[5, 5, 0], [1, 2, 3]], [[0, 0, 0], [1e300, 1e-300, 0]]]
    result = impurity(table)
    assert result.shape == (2, 2)
    assert result.ravel().tolist() == [impurity(row) for block in table for row in block]
    assert impurity(np.zeros((0, 3))).shape == (0,)


@pytest.mark.parametrize("impurity", [entropy, gini, error])
def test_pure_or_no_counts_give_a_plain_zero(impurity):
    for counts in ([0], [0, 0], [4], [0, 4, 0]):
        assert type(impurity(counts)) is float
        assert math.copysign(1, impurity(counts)) == 1
        assert impurity(counts) == 0


@pytest.mark.parametrize("impurity", [entropy, gini, error])
@pytest.mark.parametrize("one", [5e-324, 1e-300, 1e300, Fraction(1, 3), Decimal("0.1"), 10**200])
def test_numbers_of_any_size_and_kind_can_be_counts(impurity, one):
    assert impurity([one, one]) == impurity([1, 1])


# Gain, gain ratio and split information in worked examples


def test_gain_of_a_conjunction():
    x = np.array(list(itertools.product([0, 1], repeat=3)))
    y = x[:, 0] & x[:, 2]
    assert [gain(y, x[:, j]) for j in range(3)] == [printed(0.311278), 0, printed(0.311278)]
    right = x[:, 0] == 1
    assert gain(y[right], x[right, 2]) == 1


@pytest.mark.parametrize(("measure", "value"), [("entropy", 0.311278), ("gini", 0.166667), ("error", 0.25)])
def test_every_measure_prefers_the_first_bit_where_the_other_two_are_the_answer(measure, value):
    x, y = np.array([[1, 1, 1], [1, 0, 0], [1, 1, 0], [0, 0, 1]]), [1, 1, 0, 0]
    assert [gain(y, x[:, j], measure) for j in range(3)] == [printed(value), 0, 0]


def test_six_rows_of_the_lecture_notes():
    # The notes say "one instance of the value 1 in feature 1" where they mean feature 2.
    first, second, y = [1, 1, 2, 1, 3, 2], [1, 3, 2, 2, 2, 2], [1, 1, 1, 0, 0, 0]
    assert entropy([3, 3]) - gain(y, first) == printed(0.792481)
    assert entropy([3, 3]) - gain(y, second) == printed(0.540852)
    assert (gain(y, first), gain(y, second)) == (printed(0.207519), printed(0.459148))
    assert (split_info(first), split_info(second)) == (printed(1.459148), printed(1.251629))
    assert (gain_ratio(y, first), gain_ratio(y, second)) == (printed(0.142219), printed(0.366840))


@pytest.mark.parametrize(("measure", "value"), [("entropy", 0.020641), ("gini", 0.012444), ("error", 0)])
def test_entropy_and_gini_see_a_split_that_the_error_does_not(measure, value):
    rows = rows_of({(0, "left"): 28, (1, "left"): 42, (0, "right"): 12, (1, "right"): 38})
    assert gain(*zip(*rows, strict=True), measure=measure) == printed(value)


def test_restaurant(restaurant):
    *features, y = restaurant.values()
    gains = [gain(y, x) for x in features]
    infos = [split_info(x) for x in features]
    assert gains == [0, 0, *(printed(g, 4) for g in (0.0207, 0.1957, 0.5409, 0.1957, 0.0207, 0.0207, 0, 0.2075))]
    assert gains[8] == 0  # Type: exactly, for rounding must not make it look useful
    assert infos == [1, 1, *(printed(i, 4) for i in (0.9799, 0.9799, 1.4591, 1.3844, 0.9799, 0.9799, 1.9183, 1.7925))]


def test_restaurant_with_the_misprint_of_lecture_slides(restaurant):
    # Slides print 0-30 for row 10 of Est; the book has 10-30.
    y, est, full = restaurant["Wait"], list(restaurant["Est"]), np.array(restaurant["Pat"]) == "Full"
    assert (gain(y, est), split_info(est)) == (printed(0.2075, 4), printed(1.7925, 4))
    assert gain(np.array(y)[full], np.array(est)[full]) == printed(0.2516, 4)
    est[9] = "0-30"
    assert (gain(y, est), split_info(est)) == (printed(0.3742, 4), printed(1.9591, 4))
    assert gain(np.array(y)[full], np.array(est)[full]) == printed(0.5850, 4)


def test_restaurant_among_full_has_a_tie_of_five(restaurant):
    full = np.array(restaurant["Pat"]) == "Full"
    y = np.array(restaurant["Wait"])[full]
    gains = {name: gain(y, np.array(x)[full]) for name, x in restaurant.items() if name != "Wait"}
    best = max(gains.values())
    assert best == printed(0.2516, 4)
    assert {name for name, value in gains.items() if value > best - 1e-12} == {"Hun", "Price", "Res", "Type", "Est"}


def test_likelihood_statistic_is_the_gain_in_nats_times_two_n(restaurant):
    assert 2 * 12 * gain(restaurant["Wait"], restaurant["Pat"], base=math.e) == printed(8.997362)


def test_golf(golf):
    y, outlook, windy = golf["play"], golf["outlook"], golf["windy"]
    assert (gain(y, outlook), split_info(outlook)) == (printed(0.246750), printed(1.577406))
    assert gain_ratio(y, outlook) == printed(0.156428)
    assert (gain(y, windy), split_info(windy)) == (printed(0.048127), printed(0.985228))
    assert 14 * gain(y, np.array(outlook) == "overcast", "gini") == printed(1.428571)  # rpart's improvement


def test_golf_humidity_does_not_pay_for_its_cut(golf):
    humidity = np.array(golf["humidity"], dtype=float)
    value, cut = best_cut(golf["play"], humidity)
    assert (value, cut) == (printed(0.102244), 82.5)
    assert math.log2(6) / 14 == printed(0.184640)  # C4.5 tries six cuts
    assert value < math.log2(6) / 14


def test_golf_with_a_missing_outlook(golf):
    # C4.5: the gain of the known rows times their share; the missing row is a branch in the split information.
    outlook, y = list(golf["outlook"]), golf["play"]
    outlook[11] = "missing"
    known = [row for row in range(14) if row != 11]
    known_y, known_x = [y[row] for row in known], [outlook[row] for row in known]
    assert entropy(list(Counter(known_y).values())) == printed(0.961237)
    assert gain(known_y, known_x) == printed(0.961237 - 0.746885, 5)
    assert 13 / 14 * gain(known_y, known_x) == printed(0.199041)
    assert split_info(outlook) == printed(1.809200)
    assert 13 / 14 * gain(known_y, known_x) / split_info(outlook) == printed(0.110016)


def test_disjunction_has_four_equally_useful_bits():
    x = np.array(list(itertools.product([0, 1], repeat=4)))
    y = (x[:, 0] & x[:, 1]) | (x[:, 2] & x[:, 3])
    value = entropy([7, 9]) - entropy([5, 3]) / 2 - entropy([2, 6]) / 2
    assert [gain(y, x[:, j]) for j in range(4)] == [pytest.approx(value, abs=1e-14)] * 4


@pytest.mark.parametrize(
    ("measure", "gains", "best"),
    [
        ("entropy", [0.557233, 0.283126, 0.918296, 0.918296], [5.55, 3.35, 2.45, 0.8]),
        ("gini", [0.227760, 0.126923, 0.333333, 0.333333], [5.45, 3.35, 2.45, 0.8]),
    ],
)
def test_iris_cuts(iris, measure, gains, best):
    features, species = iris
    found = [best_cut(species, values, measure) for values in features.values()]
    assert [value for value, _ in found] == [printed(value) for value in gains]
    assert [cut for _, cut in found] == pytest.approx(best, abs=1e-9)


def test_iris_gains_charged_for_their_cuts(iris):
    features, species = iris
    tried = [31, 16, 36, 20]  # cuts that leave C4.5 enough rows on both sides
    charged = [best_cut(species, x)[0] - math.log2(n) / 150 for x, n in zip(features.values(), tried, strict=True)]
    assert charged == [printed(value, 3) for value in (0.524, 0.256, 0.884, 0.889)]
    long_petals = features["petallength"] <= 2.45
    assert 150 * gain(species, long_petals, "gini") == pytest.approx(50, abs=1e-12)  # rpart's improvement
    charged_by_width = gain(species, long_petals) - math.log2((6.9 - 1.0) / (3.0 - 1.9)) / 150  # C5.0's charge
    assert charged_by_width == printed(0.902141)
    assert charged_by_width / split_info(long_petals) == printed(0.982408)


def test_interval_beats_every_cut():
    x = np.arange(1, 10)
    y = (x >= 3) & (x <= 6)
    assert gain(y, (x > 2) & (x <= 6)) == printed(0.991076)
    assert best_cut(y, x) == (printed(0.378879), 6.5)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("copies", [1, 3, 7])
def test_one_bit_of_an_exclusive_or_gains_nothing(measure, copies):
    a, b = np.array(list(itertools.product([0, 1], repeat=2)) * copies).T
    assert gain(a ^ b, a, measure) == gain(a ^ b, b, measure) == gain_ratio(a ^ b, a) == 0
    assert gain(a ^ b, list(zip(a, b, strict=True)), measure) == IMPURITY[measure]([1, 1])


def test_titanic_women_by_class_as_weighted_rows():
    died_survived = {"1st": (4, 141), "2nd": (13, 93), "3rd": (106, 90), "Crew": (3, 20)}
    counts = {(y, x): n for x, both in died_survived.items() for y, n in zip("ds", both, strict=True)}
    y, x = zip(*counts, strict=True)
    y_rows, x_rows = zip(*rows_of(counts), strict=True)
    weight = list(counts.values())
    for measure in MEASURES:
        expected = float(naive_gain(y_rows, x_rows, measure))
        assert gain(y, x, measure, weight=weight) == pytest.approx(expected, abs=1e-13)
    assert split_info(x, weight=weight) == pytest.approx(entropy([145, 106, 196, 23]), abs=1e-13)
    assert gain_ratio(y, x, weight=weight) == pytest.approx(gain_ratio(y_rows, x_rows), abs=1e-13)


# Laws


@repeatable
@given(counts=class_counts, measure=st.sampled_from(MEASURES))
def test_impurity_is_its_formula(counts, measure):
    assert IMPURITY[measure](counts) == pytest.approx(float(naive_impurity(measure, counts)), rel=1e-13, abs=0)


@repeatable
@given(counts=class_counts, factor=st.sampled_from([2, 0.5, 7, 1e-9, 1e300]), data=st.data())
def test_impurity_depends_neither_on_scale_nor_on_order_nor_on_empty_classes(counts, factor, data):
    shuffled = data.draw(st.permutations([*counts, 0]))
    for impurity in IMPURITY.values():
        assert impurity([count * factor for count in shuffled]) == pytest.approx(impurity(counts), abs=1e-12)


@repeatable
@given(counts=class_counts, base=st.sampled_from([1.5, 2, math.e, 3, 10]))
def test_entropy_is_bounded_and_changes_base_by_division(counts, base):
    assert 0 <= entropy(counts) <= math.log2(len(counts)) + 1e-12
    assert entropy(counts, base) == pytest.approx(entropy(counts) / math.log2(base), abs=1e-12)


@repeatable
@given(counts=class_counts)
def test_entropy_and_gini_lie_above_the_error(counts):
    assert error(counts) <= gini(counts) + 1e-12
    assert error(counts) <= entropy(counts, math.e) + 1e-12


@repeatable
@given(rows=row_pairs, measure=st.sampled_from(MEASURES))
def test_gain_is_its_formula_and_never_negative(rows, measure):
    # Lecture notes say that the branches' weighted entropy is "more substantial" than their average: it is the
    # entropy of the whole that is at least the weighted entropy of the branches, for entropy is concave.
    y, x = zip(*rows, strict=True)
    assert gain(y, x, measure) >= 0
    assert gain(y, x, measure) == pytest.approx(float(naive_gain(y, x, measure)), abs=1e-13)


@repeatable
@given(left=few_counts, right=few_counts)
def test_entropy_and_gini_gain_whenever_the_mixes_differ(left, right):
    counts = {(k, side): n for side, part in enumerate((left, right)) for k, n in enumerate(part)}
    y, x = zip(*counts, strict=True)
    n_classes = max(len(left), len(right))
    mixes = {tuple(Fraction(n, sum(part)) for n in part + [0] * (n_classes - len(part))) for part in (left, right)}
    for measure in ("entropy", "gini"):
        assert (gain(y, x, measure, weight=list(counts.values())) > 0) == (len(mixes) == 2)


@repeatable
@given(
    y_weight=st.lists(st.floats(0, 10), min_size=1, max_size=5),
    x_weight=st.lists(st.floats(0, 10), min_size=1, max_size=5),
    measure=st.sampled_from(MEASURES),
)
def test_independent_columns_gain_exactly_nothing(y_weight, x_weight, measure):
    weights = np.outer(y_weight, x_weight)
    y, x = np.indices(weights.shape).reshape(2, -1)
    assert gain(y, x, measure, weight=weights.ravel()) == 0


@repeatable
@given(rows=row_pairs)
def test_information_gain_is_mutual_and_the_ratio_at_most_one(rows):
    y, x = zip(*rows, strict=True)
    assert gain(y, x) == pytest.approx(gain(x, y), abs=1e-13)
    assert gain(y, x) <= min(split_info(x), split_info(y)) + 1e-13
    assert 0 <= gain_ratio(y, x) <= 1 + 1e-13
    if gain(y, x):
        assert gain_ratio(y, x) == pytest.approx(gain(y, x) / split_info(x), abs=1e-13)


@repeatable
@given(rows=row_pairs, measure=st.sampled_from(MEASURES), data=st.data())
def test_a_finer_split_never_gains_less(rows, measure, data):
    y, x = zip(*rows, strict=True)
    finer = [(value, data.draw(st.booleans())) for value in x]
    assert gain(y, finer, measure) >= gain(y, x, measure) - 1e-13


@repeatable
@given(rows=row_pairs, measure=st.sampled_from(MEASURES), data=st.data())
def test_rows_in_any_order_and_under_any_names_gain_the_same(rows, measure, data):
    y, x = zip(*data.draw(st.permutations(rows)), strict=True)
    expected = gain(*zip(*rows, strict=True), measure=measure)
    names = ["setosa", (1, 2), 0.5, frozenset()]
    assert gain([names[value] for value in y], [names[value] for value in x], measure) == pytest.approx(
        expected, abs=1e-13
    )


@repeatable
@given(rows=row_pairs, measure=st.sampled_from(MEASURES), data=st.data())
def test_whole_weights_are_copies_and_zero_weights_do_not_count(rows, measure, data):
    weight = data.draw(st.lists(st.integers(0, 4), min_size=len(rows), max_size=len(rows)).filter(any))
    y, x = zip(*rows, strict=True)
    copied_y, copied_x = zip(*(row for row, n in zip(rows, weight, strict=True) for _ in range(n)), strict=True)
    assert gain(y, x, measure, weight=weight) == pytest.approx(gain(copied_y, copied_x, measure), abs=1e-13)
    assert split_info(x, weight=weight) == pytest.approx(split_info(copied_x), abs=1e-13)
    assert gain_ratio(y, x, weight=weight) == pytest.approx(gain_ratio(copied_y, copied_x), abs=1e-12)


@repeatable
@given(rows=row_pairs)
def test_the_best_cut_lies_between_classes(rows):
    """Fayyad and Irani's boundary theorem."""
    y, x = np.array(rows).T
    assume(len(np.unique(x)) > 1)
    classes_of = {value: {*y[x == value]} for value in x}
    sides = {cut: (classes_of[x[x < cut].max()], classes_of[x[x > cut].min()]) for cut in cuts(x)}
    borders = [cut for cut, (below, above) in sides.items() if len(below | above) > 1]
    for measure in ("entropy", "gini"):
        at_borders = max((gain(y, x <= cut, measure) for cut in borders), default=0)
        assert best_cut(y, x, measure)[0] == pytest.approx(at_borders, abs=1e-13)


# What goes in


def test_gain_takes_base_for_entropy_alone():
    y, x = [0, 0, 1, 1, 1], [0, 0, 0, 1, 1]
    assert gain(y, x, base=4) == pytest.approx(gain(y, x) / 2, abs=1e-15)
    assert split_info(x, base=4) == pytest.approx(split_info(x) / 2, abs=1e-15)
    assert gain_ratio(y, x, base=4) == pytest.approx(gain_ratio(y, x), abs=1e-15)
    assert gain(y, x, "gini", base=4) == gain(y, x, "gini")


def test_one_branch_or_no_weight_gives_zero():
    assert gain_ratio([0, 1], ["a", "a"]) == gain([0, 1], ["a", "a"]) == split_info(["a", "a"]) == 0
    for measure in MEASURES:
        assert gain([0, 1], [0, 1], measure, weight=[0, 0]) == 0
    assert gain_ratio([0, 1], [0, 1], weight=[0, 0]) == split_info([0, 1], weight=[0, 0]) == 0


def test_huge_and_tiny_weights():
    assert gain([0, 1], [0, 1], weight=[1.5e308, 1.5e308]) == 1
    assert gain([0, 1], [0, 1], weight=[5e-324, 5e-324]) == 1


def test_many_values_by_many_classes_take_no_table_of_all_pairs():
    row_id = np.arange(60_000)  # a full table would take 29 GB
    assert gain(row_id, row_id) == pytest.approx(math.log2(60_000), abs=1e-11)
    assert gain_ratio(row_id, row_id) == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize("wrap", [list, tuple, np.array, lambda rows: np.array(rows, dtype=object), iter])
def test_containers(wrap):
    assert gain(wrap(["a", "a", "b", "b"]), wrap([1.5, 1.5, 2.5, 2.5])) == 1


def test_pandas_columns_and_counts():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"y": ["a", "a", "b"], "x": pandas.Categorical([1, 1, 2])}, index=[9, 3, 9])
    assert gain(frame["y"], frame["x"]) == gain(frame["y"], frame["y"]) == printed(0.918296)
    assert entropy(frame["y"].value_counts()) == printed(0.918296)
    with pytest.raises(ValueError, match=r"x\[1\]=<NA> is a missing value"):
        split_info(pandas.Series([1, None, 2], dtype="Int64").astype(object))
    with pytest.raises(ValueError, match=r"x has shape \(3, 1\): must have one dimension"):
        split_info(frame[["x"]])


def test_arguments_are_left_as_they_were():
    counts, weight = np.array([3.0, 1.0]), np.array([1.0, 2.0])
    counts.flags.writeable = weight.flags.writeable = False
    entropy(counts)
    gain([0, 1], [0, 1], weight=weight)
    assert (counts.tolist(), weight.tolist()) == ([3, 1], [1, 2])


def test_public_names():
    assert sorted(information.__all__) == ["entropy", "error", "gain", "gain_ratio", "gini", "split_info"]


# What is refused, and how


@pytest.mark.parametrize("impurity", [entropy, gini, error])
@pytest.mark.parametrize(
    ("counts", "kind", "message"),
    [
        ([3, -1], ValueError, r"counts\[1\]=-1.0, but counts must be finite numbers, at least 0"),
        ([3, math.nan], ValueError, r"counts\[1\]=nan, but"),
        ([[1, 2], [math.inf, 1]], ValueError, r"counts\[1, 0\]=inf, but"),
        ([3, None], ValueError, r"counts\[1\]=nan, but"),
        ([], ValueError, r"counts has shape \(0,\), but .* at least one"),
        (5, ValueError, r"counts has shape \(\), but"),
        ([[1, 2], [3]], ValueError, r"in rows of one length; here, .*inhomogeneous"),
        (["a", "b"], TypeError, r"not <U1 or masked; numpy.unique\(labels, return_counts=True\) counts labels"),
        ([True, False], TypeError, r"not bool or masked"),
        ([1 + 2j], TypeError, r"not complex128 or masked"),
        ([{}], ValueError, r"counts must be finite numbers.*'dict'"),
        ([10**400, 1], ValueError, r"counts must be finite numbers.*too large"),
        (np.ma.array([1, 2], mask=[False, True]), TypeError, r"not int64 or masked"),
    ],
)
def test_bad_counts(impurity, counts, kind, message):
    with pytest.raises(kind, match=message):
        impurity(counts)


@pytest.mark.parametrize(
    ("base", "kind"),
    [
        *((base, ValueError) for base in (1, 0, -2, 0.5, math.nan, math.inf)),
        *((base, TypeError) for base in ("2", None, True, 2j, [2])),
    ],
)
def test_bad_base(base, kind):
    rule = r"^base=.*: must be a finite number above 1; use 2 for bits or math.e for nats$"
    calls = [
        lambda: entropy([1, 2], base),
        lambda: gain([0, 1], [0, 1], base=base),
        lambda: gain_ratio([0, 1], [0, 1], base=base),
        lambda: split_info([0, 1], base=base),
    ]
    for call in calls:
        with pytest.raises(kind, match=rule):
            call()


@pytest.mark.parametrize("measure", ["Gini", "twoing", "", None, 3, ["gini"], np.array(["gini", "error"])])
def test_unknown_measure(measure):
    with pytest.raises(ValueError, match=r"^measure=.*: must be one of \['entropy', 'error', 'gini'\]$"):
        gain([0, 1], [0, 1], measure)


@pytest.mark.parametrize(
    ("values", "kind", "message"),
    [
        ([], ValueError, "is empty: give at least one row"),
        ([1, None], ValueError, r"\[1\]=None is a missing value: leave out the row, or mark it"),
        (["a", math.nan], ValueError, r"\[1\]=nan is a missing value"),
        (np.array([math.nan, 1]), ValueError, r"\[0\]=nan is a missing value"),
        (np.array(["2024-01-01", "NaT"], dtype="M8[D]"), ValueError, r"\[1\]=None is a missing value"),
        (np.ma.array([1, 2], mask=[False, True]), ValueError, r"\[1\]=None is a missing value"),
        ([[0], [1]], TypeError, "values must be hashable, such as numbers, strings or tuples; .*'list'"),
        (np.zeros((2, 1)), ValueError, r"has shape \(2, 1\): must have one dimension, one value per row"),
        (np.array(1), ValueError, r"has shape \(\): must have one dimension"),
        ("ab", TypeError, "is a str: must be a list or array with one value per row"),
        ({0: 1}, TypeError, "is a dict: must be a list or array"),
        ({0, 1}, TypeError, "is a set: must be a list or array"),
        (np.float64(3), TypeError, "is a float64: must be a list or array"),
        (None, TypeError, "is a NoneType: must be a list or array"),
    ],
)
def test_bad_values(values, kind, message):
    for call in (split_info, lambda x: gain([0, 1], x), lambda x: gain_ratio([0, 1], x)):
        with pytest.raises(kind, match="^x.*" + message):
            call(values)
    for call in (gain, gain_ratio):
        with pytest.raises(kind, match="^y.*" + message):
            call(values, [0, 1])


def test_lengths_that_differ():
    for call in (gain, gain_ratio):
        with pytest.raises(ValueError, match="y has 3 values and x has 2: give one of each per row"):
            call([0, 1, 1], [0, 1])


@pytest.mark.parametrize(
    ("weight", "kind", "message"),
    [
        ([1], ValueError, r"weight has shape \(1,\) for 2 rows: give one weight per row, or None"),
        ([[1, 1]], ValueError, r"weight has shape \(1, 2\) for 2 rows"),
        (1.0, ValueError, r"weight has shape \(\), but weight must be finite numbers"),
        ([1, -1], ValueError, r"weight\[1\]=-1.0, but weight must be finite numbers, at least 0"),
        ([math.nan, 1], ValueError, r"weight\[0\]=nan, but"),
        (["1", "2"], TypeError, "weight must be finite numbers.*not <U1"),
    ],
)
def test_bad_weight(weight, kind, message):
    for call in (gain, gain_ratio, lambda _, x, weight: split_info(x, weight=weight)):
        with pytest.raises(kind, match=message):
            call([0, 1], [0, 1], weight=weight)
