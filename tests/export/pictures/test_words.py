"""Words of nodes: shares that are all or nothing only where they are."""

import numpy as np
import pytest

from dtnumba import DecisionTreeClassifier, export
from dtnumba.export.pictures.words import share

pytestmark = pytest.mark.small


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0%"), (3 / 600, "<1%"), (1e-9, "<1%"), (0.0051, "1%"), (0.5, "50%"), (597 / 600, ">99%"), (1.0, "100%")],
)
def test_a_share_is_nothing_or_all_only_where_it_is(value, text):
    assert share(value) == text


def test_all_levels_of_a_column_are_what_is_known():
    X = np.array([["a"], ["b"], ["c"], [None]] * 5, object)
    tree = DecisionTreeClassifier(max_depth=1).fit(X, ["yes", "yes", "yes", "no"] * 5)
    assert "x0 known" in export.svg(tree)
    assert "x0 missing" in export.svg(tree)
    page = export.html(tree.to_rules())
    assert ">x0 known</bdi>" in page
    assert "not in {}" not in page
