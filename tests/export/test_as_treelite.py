"""Models of treelite say what the model says, to the bit."""

from importlib.util import find_spec

import pytest
from exported import ALL_KINDS, made

from dtnumba import export

pytestmark = pytest.mark.skipif(find_spec("treelite") is None, reason="treelite is not installed")
NOT = {
    *("tree, two outputs", "intervals", "ranges", "multiway", "fractional", "fractional, a number", "surrogates"),
    *("c50", "c50, costs", "c50, trials", "c50, trials, float32"),
    *("surrogates, numbers", "id3", "c45", "c45, float32", "c45, laplace", "chaid", "chaid, a number", "decision list"),
    *("forest, fractional", "forest, surrogates", "graph", "graph of a tree"),
    *("forest, fractional, hard", "forest, multiway", "forest, two outputs", "rules", "rules, votes"),
}


@pytest.mark.parametrize("name", ALL_KINDS)
def test_it_says_what_the_model_says(name):
    model, X = made(name)
    if name in NOT:
        with pytest.raises(export.ExportError, match=r"treelite: (nodes? \d+|the model has 2 outputs|the \d+ rules)"):
            export.treelite(model)
    else:
        assert export.verify(export.treelite(model), model, X)


def test_bytes_are_what_treelite_reads():
    import treelite

    model, _ = made("forest, two classes")
    made_model = export.treelite(model)
    assert treelite.Model.deserialize_bytes(bytes(made_model)).num_tree == 5
    assert repr(made_model) == "<treelite model of 5 trees, 4 columns>"
