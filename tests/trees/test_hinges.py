"""The arrays of terms: what they say, what is refused of a file, how they are written."""

import numpy as np
import pytest

from dtnumba.trees.hinges import (
    DOWN,
    OF_LEVEL,
    OF_MISSING,
    STRAIGHT,
    UP,
    Factor,
    check_hinges,
    hinges_of,
    shown_factors,
    term_text,
    term_texts,
)

pytestmark = pytest.mark.small
TERMS = [
    [],
    [Factor(1, UP, -2.5)],
    [Factor(1, DOWN, 3.0), Factor(0, STRAIGHT, 0.0)],
    [Factor(2, OF_LEVEL, 1.0)],
    [Factor(0, OF_MISSING, 0.0)],
]


def made():
    return hinges_of(TERMS, np.array([1.0, np.nan, -1.0]))


def test_terms_come_back():
    hinges = made()
    assert hinges.n_terms == 5
    assert [hinges.factors(t) for t in range(5)] == TERMS
    assert hinges.degrees().tolist() == [0, 1, 2, 1, 1]
    assert hinges.uses().astype(int).tolist() == [[0, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1], [1, 0, 0]]
    some = hinges.some([3, 0])
    assert [some.factors(t) for t in range(2)] == [TERMS[3], []]


def test_they_are_written_as_earth_does():
    shown = shown_factors(made(), ["age", "dose", "sex"], [None, None, ["f", "m"]])
    texts = ["(Intercept)", "h(dose- -2.5)", "age * h(3-dose)", "sexm", "missing(age)"]
    assert [term_text(one, 7) for one in shown] == texts
    assert str(shown[2][1]) == "h(3-dose)"
    assert shown[3][0][1:] == ("sex", "is", "m")


def test_terms_of_near_knots_are_told_apart():
    near = [[], [Factor(0, UP, 1e9 + 1)], [Factor(0, UP, 1e9 + 2)], [Factor(0, DOWN, -0.0)], [Factor(0, UP, -0.0)]]
    shown = shown_factors(hinges_of(near, np.array([np.nan])), ["x"], [None])
    assert term_texts(shown, 7) == ["(Intercept)", "h(x-1000000001)", "h(x-1000000002)", "h(0-x)", "h(x-0)"]
    assert term_texts(shown[:2], 7) == ["(Intercept)", "h(x-1e+09)"]
    assert term_texts([shown[1], shown[1]], 20) == ["h(x-1000000001)"] * 2


@pytest.mark.parametrize(
    "changed",
    [
        {"first": np.array([1, 1, 1, 3, 4, 5])},
        {"first": np.array([0, 2, 1, 3, 4, 5])},
        {"first": np.array([0, 0, 1, 3, 4, 9])},
        {"first": np.array([], np.int64)},
        {"feature": np.array([1, 1, 0, 3, 0])},
        {"feature": np.array([1, 1, -1, 2, 0])},
        {"feature": np.array([1, 1, 0, 2])},
        {"direction": np.array([1, -1, 2, 3, 7])},
        {"knot": np.array([np.nan, 3.0, 0.0, 1.0, 0.0])},
        {"knot": np.array([0, 3, 0, 1, 0])},
        {"fill": np.zeros(2)},
    ],
)
def test_what_does_not_fit_is_refused(changed):
    assert check_hinges(made(), 3) is not None
    with pytest.raises(ValueError, match=r"terms|factor|columns"):
        check_hinges(made()._replace(**changed), 3)
