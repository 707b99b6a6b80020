"""Numbers as R 4.3 writes them; what stands here was printed by R or follows from its manual."""

import pytest

from dtnumba.trees.r_numbers import columns_of, matrix, named_row, short, signif, words_row

pytestmark = pytest.mark.small


@pytest.mark.parametrize(
    ("values", "digits", "nsmall", "wanted"),
    [
        ([1354.583, 85.56522, 14.5], 7, 0, ["1354.58300", "  85.56522", "  14.50000"]),
        ([0.79012346, 1.0, 0.0], 7, 7, ["0.7901235", "1.0000000", "0.0000000"]),
        ([1.0, 2.0], 7, 0, ["1", "2"]),
        ([1.0, 2.0], 7, 7, ["1.0000000", "2.0000000"]),
        ([4.926712e12, 3.0], 7, 0, ["4.926712e+12", "3.000000e+00"]),
        ([1e5], 7, 0, ["1e+05"]),
        ([123456.0], 7, 0, ["123456"]),
        ([1e-5, 0.1], 7, 0, ["1e-05", "1e-01"]),
        ([0.0001], 7, 0, ["1e-04"]),
        ([-1.5, 22.25], 7, 0, ["-1.50", "22.25"]),
        ([float("nan"), 1.5], 7, 0, [" NA", "1.5"]),
        ([1.0 / 3.0], 3, 0, ["0.333"]),
    ],
)
def test_a_column_has_one_form(values, digits, nsmall, wanted):
    assert columns_of(values, digits, nsmall) == wanted


def test_single_numbers():
    assert signif(3991006.25, 7) == 3991006.0
    assert signif(0.000123456789, 3) == 0.000123
    assert short(8.5) == "8.5"
    assert short(1234567.8) == "1234568"


def test_tables():
    assert matrix(["CP", "nsplit"], [[0.176470588, 0.0196078431], [0, 14]]) == [
        "          CP nsplit",
        "1 0.17647059      0",
        "2 0.01960784     14",
    ]
    assert named_row(["Start", "Age"], ["64", "24"]) == ["Start   Age ", "   64    24 "]
    assert words_row(["Age", "Start"]) == ["[1] Age   Start"]
    assert len(words_row(["word"] * 40)) == 3
