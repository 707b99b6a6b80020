"""Sentences and formulas say what their tree says: of every row, or of those whose values are there."""

import pytest
from exported import ALL_KINDS, made

from dtnumba import export


@pytest.mark.parametrize("name", ALL_KINDS)
def test_sentences_and_formulas_say_what_the_model_says(name):
    model, X = made(name)
    if not hasattr(model, "classes_") or hasattr(model, "forest_"):
        with pytest.raises(TypeError, match="must be a fitted tree that says classes"):
            export.rules(model)
        return
    if getattr(model, "trees_vote", False):
        for write in (lambda: export.rules(model), lambda: export.dnf(model, model.classes_[0])):
            with pytest.raises(export.ExportError, match="by the votes of"):
                write()
        return
    if model.n_outputs_ > 1:
        with pytest.raises(ValueError, match="2 outputs, and a rule says one"):
            export.rules(model)
        return
    assert export.verify(export.rules(model, digits=None), model, X)
    if hasattr(model, "trees_"):
        for label in model.classes_.tolist()[:2]:
            assert export.verify(export.dnf(model, label), model, X)


def test_a_sentence_that_is_changed_is_found():
    model, X = made("tree, numbers")
    rules = export.rules(model)
    text = type(rules)(rules.replace(" <= ", " > ", 1))
    vars(text).update(vars(rules))
    with pytest.raises(export.ExportMismatchError, match="says label"):
        export.verify(text, model, X)
    formula = export.dnf(model, "yes")
    formula.bodies = formula.bodies[1:]
    with pytest.raises(export.ExportMismatchError, match="says label"):
        export.verify(formula, model, X)
