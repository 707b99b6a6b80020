"""Lines of C5.0: what release 2.07 printed of the same rows."""

import json

import numpy as np
import pytest
from public_data import DATA

from dtnumba import C45Classifier, DecisionTreeClassifier, DecisionTreeRegressor, export

VOTE = """
Decision tree:

physician_fee_freeze = n: democrat (165.2/2.2)
physician_fee_freeze = y:
:...synfuels_corporation_cutback = n: republican (96.4/2)
    synfuels_corporation_cutback = y:
    :...mx_missile = y: democrat (4)
        mx_missile = n:
        :...adoption_of_the_budget_resolution = n: republican (13.5/1.3)
            adoption_of_the_budget_resolution = y:
            :...anti_satellite_test_ban = n: democrat (3.6)
                anti_satellite_test_ban = y: republican (2.2)
"""
ASKED = {
    2: "adoption_of_the_budget_resolution",
    3: "physician_fee_freeze",
    6: "anti_satellite_test_ban",
    8: "mx_missile",
    10: "synfuels_corporation_cutback",
}


def test_it_is_what_c50_prints():
    given = json.loads((DATA / "chaid_vote.json").read_text())
    X = np.array([[None if vote == "?" else vote for vote in row] for row in given["rows"]], object)
    y = np.where(np.array(list(given["party"])) == "r", "republican", "democrat")
    model = C45Classifier(subset=True).fit(X, y)
    assert export.text(model, "c50", feature_names=[ASKED.get(j, f"x{j}") for j in range(16)]) == VOTE


def test_levels_that_fill_a_line_go_on_in_the_next():
    words = ["18-20", "21-23", "27-29", "30-32", "33-35", "36-39"]
    X = np.array([[level] for level in [*words, *["0-2"] * 165]], object)
    model = DecisionTreeClassifier().fit(X, ["no-recurrence-events"] * 44 + ["yes"] * 127)
    assert (
        export.text(model, "c50", feature_names=["inv_nodes"])
        == """
Decision tree:

inv_nodes in {18-20,21-23,27-29,30-32,33-35,
:             36-39}: no-recurrence-events (6)
inv_nodes = 0-2: yes (165/38)
"""
    )


def test_a_line_keeps_room_for_the_counts_above_its_leaf():
    """As of "Other" below "race" in the tree that C5.0 grows of compas without global pruning."""
    long, last = "n" * 40, "o" * 15
    X = np.array([[long], [last], *[["z"]] * 998], object)
    model = DecisionTreeClassifier().fit(X, ["a"] * 52 + ["b"] * 948)
    said = export.text(model, "c50", feature_names=["race"])
    assert said == f"\nDecision tree:\n\nrace in {{{long},\n:        {last}}}: a (2)\nrace = z: b (998/50)\n"


def test_subtrees_too_wide_for_a_line_come_last():
    X = np.exp2(np.arange(24.0))[:, None]
    model = DecisionTreeClassifier().fit(X, [0, 1] * 12)
    text = export.text(model, "c50")
    main, _, later = text.partition("\n\nSubTree [S1]\n\n")
    assert main.endswith(" [S1]")
    assert later.startswith("x0 <= 98304: ")
    assert max(map(len, text.splitlines())) <= 80
    assert len([line for line in text.splitlines() if " <= " in line or " > " in line]) == model.n_nodes_ - 1


def test_numbers_have_no_form_here():
    with pytest.raises(export.ExportError, match="DecisionTreeRegressor predicts numbers"):
        export.text(DecisionTreeRegressor().fit([[1.0], [2.0]], [1.0, 2.0]), "c50")


def test_depth_is_cut():
    X = np.array([[1.0], [2.0], [3.0], [4.0]])
    model = DecisionTreeClassifier().fit(X, list("abab"))
    assert export.text(model, "c50", 1).splitlines()[3:] == ["x0 <= 1.5: a (1)", "x0 > 1.5: ... 3 leaves below"]
    assert export.text(model, "c50", 0).splitlines()[-1] == " ... 4 leaves below"
    assert export.text(C45Classifier().fit(X, list("aaaa")), "c50").splitlines()[-1] == " a (4)"
