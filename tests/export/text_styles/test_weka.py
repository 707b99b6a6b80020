"""Lines of J48: what Weka 3.6.14 printed of the same rows."""

import numpy as np
import pytest
from public_data import named

from dtnumba import C45Classifier, DecisionTreeClassifier, DecisionTreeRegressor, export
from dtnumba.export.text_styles.weka import hundredths, java, number

IRIS = """\
J48 pruned tree
------------------

petalwidth <= 0.6: Iris-setosa (50.0)
petalwidth > 0.6
|   petalwidth <= 1.7
|   |   petallength <= 4.9: Iris-versicolor (48.0/1.0)
|   |   petallength > 4.9
|   |   |   petalwidth <= 1.5: Iris-virginica (3.0)
|   |   |   petalwidth > 1.5: Iris-versicolor (3.0/1.0)
|   petalwidth > 1.7: Iris-virginica (46.0/1.0)

Number of Leaves  : \t5

Size of the tree : \t9
"""
LABOR = """\
J48 pruned tree
------------------

wage_increase_first_year <= 2.5: bad (15.27/2.27)
wage_increase_first_year > 2.5
|   statutory_holidays <= 10: bad (10.77/4.77)
|   statutory_holidays > 10: good (30.96/1.0)

Number of Leaves  : \t3

Size of the tree : \t5
"""
LABOR_WORDS = {
    *("cost_of_living_adjustment", "pension", "education_allowance", "vacation", "longterm_disability_assistance"),
    *("contribution_to_dental_plan", "bereavement_assistance", "contribution_to_health_plan"),
}


def test_it_is_what_weka_prints():
    names, X, y = named("iris.csv")
    model = C45Classifier().fit(X.astype(float), y)
    assert export.text(model, "weka", feature_names=names) == IRIS


def test_rows_in_parts_have_two_decimals():
    names, X, y = named("labor.csv", LABOR_WORDS)
    assert export.text(C45Classifier().fit(X, y), "weka", feature_names=names) == LABOR
    binary = export.text(C45Classifier(binary_splits=True).fit(X, y), "weka", feature_names=names)
    assert "\n|   longterm_disability_assistance = no\n|   |   duration <= 2.0\n" in binary
    assert "\n|   |   |   working_hours <= 39.0: good (2.49/0.31)\n" in binary
    assert "\n|   longterm_disability_assistance != no\n|   |   statutory_holidays <= 10.0\n" in binary
    assert "unpruned" in export.text(C45Classifier(prune=None).fit(X, y), "weka")


def test_a_leaf_and_a_depth():
    X = np.array([[1.0], [2.0], [3.0], [4.0]])
    assert ": a (4.0)\n" in export.text(C45Classifier().fit(X, list("aaaa")), "weka")
    model = DecisionTreeClassifier().fit(X, list("abab"))
    assert "x0 > 1.5 ... 3 leaves below" in export.text(model, "weka", 1).splitlines()
    assert "(2)|(3)" in export.text(
        DecisionTreeClassifier().fit(np.array([["1"], ["2"], ["3"], ["4"]], object), [0, 1, 1, 0]), "weka"
    )


def test_numbers_have_no_form_here():
    with pytest.raises(export.ExportError, match="DecisionTreeRegressor predicts numbers"):
        export.text(DecisionTreeRegressor().fit([[1.0], [2.0]], [1.0, 2.0]), "weka")


def test_numbers_as_java_has_them():
    assert [java(x) for x in (10.0, 0.1, 1.25e7, 1e10, 5e-4)] == ["10.0", "0.1", "1.25E7", "1.0E10", "5.0E-4"]
    assert [hundredths(x) for x in (1.005, 3.666666, 2.0)] == ["1.0", "3.67", "2.0"]
    assert [number(x, 6) for x in (2.5, 10.0, 1 / 3, -0.5)] == ["2.5", "10", "0.333333", "-0.5"]
