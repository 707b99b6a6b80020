"""Sums as text: every digit comes back, and what is no sum is an error."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples, interpreted_only

from dtnumba import DecisionListClassifier, RuleSetClassifier
from dtnumba.trees.with_sums import terms_of

WEIGHTS = st.floats(allow_nan=False, allow_infinity=False).filter(bool)
STAND_INS = st.floats(allow_infinity=False)
NAMES = ["x0", "or", "two words", 'a "quote"', "2*x", "-"]


@interpreted_only
@given(st.lists(st.tuples(WEIGHTS, STAND_INS), min_size=1, max_size=6), st.permutations(range(6)), STAND_INS)
@examples(60)
def test_every_digit_comes_back(numbers, columns, low):
    terms = tuple((j, *own) for j, own in zip(columns, numbers, strict=False))
    low = 0.0 if low != low else low
    plain = RuleSetClassifier.from_text("otherwise a", feature_names=NAMES, classes=["a", "b"])
    names = [f'"{name}"' if name != 'a "quote"' else '"a \\"quote\\""' for name in NAMES]
    parts = [f"{weight!r}*{names[j]}" if s != s else f"{weight!r}*({names[j]} or {s!r})" for j, weight, s in terms]
    text = f"if {' + '.join(parts)} > {low!r} then b\notherwise a\n"
    model = plain.from_text(text)
    again = plain.from_text(model.to_text())
    for one in (model, again):
        assert repr(terms_of(one.rules_.arrays.linear, 0)) == repr(terms)
        assert one.rules_.arrays.tests.low.tolist() == [low]
    assert model.to_text() == again.to_text()


@interpreted_only
def test_rows_are_asked_about_sums_and_what_stands_in():
    text = """if 0.5*x0 - 2.0*(x1 or 1.5) <= 3.0 then low
if 1.0 < 2.0*x0 + 1.0*x1 <= 30.0 (or missing) then middle
otherwise high
"""
    model = RuleSetClassifier.from_text(text, feature_names=2)
    assert model.to_text() == text.replace("then low", "then low [covers 0, correct 0, confidence 1, lift 3]").replace(
        "then middle", "then middle [covers 0, correct 0, confidence 1, lift 3]"
    )
    rows = np.array([[6, 0], [12, 1], [12, np.nan], [12.5, np.nan], [np.nan, 3], [40, 1], [np.nan, np.nan]])
    said = ["low", "middle", "low", "middle", "middle", "high", "middle"]
    assert model.predict(rows).tolist() == said
    assert model.predict(rows.astype(np.float32)).tolist() == said
    assert DecisionListClassifier.from_rules(model).predict(rows).tolist() == said
    assert model.rules_[0].tests == ("0.5*x0 - 2.0*(x1 or 1.5) <= 3.0",)


@interpreted_only
@pytest.mark.parametrize(
    ("test", "message"),
    [
        ("0.5*a + b <= 1", "lacks a weight"),
        ("0.5*a + 2.0*a <= 1", "name a column once"),
        ("0.0*a + 2.0*b <= 1", "a number and not 0"),
        ("1e999*a + 2.0*b <= 1", "a number and not 0"),
        ("2.0*colour + 1.0*a <= 1", "'colour' is a category"),
        ("2.0*c + 1.0*a <= 1", "there is no column 'c'"),
        ("2.0*(a or red) + 1.0*b <= 1", "red is no number"),
        ("2.0*(a or 1.0 + 1.0*b <= 1", "lacks its column"),
        ("2.0*a + 1.0*b is red", "sum of numbers"),
        ("2.0*a + 1.0*b in {}", "the sum has no levels"),
        ("2.0*a + 1.0*b <= red", "compare the sum with"),
        ("2.0* <= 1", "there is no column '<='"),
    ],
)
def test_what_is_no_sum_is_an_error_that_names_the_line(test, message):
    with pytest.raises(ValueError, match=r"text, line 1") as caught:
        RuleSetClassifier.from_text(
            f"if {test} then x\notherwise y", feature_names=["a", "b", "colour"], categories={"colour": ["red", "blue"]}
        )
    assert message in str(caught.value)
