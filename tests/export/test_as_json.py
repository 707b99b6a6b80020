"""JSON holds a model whole: what is read back predicts the same, and is written as the same text."""

import json

import pytest
from exported import ALL_KINDS, made
from strategies import interpreted_only, same_trees

from dtnumba import DecisionTreeClassifier, RandomForestClassifier, export


@pytest.mark.parametrize("name", ALL_KINDS)
def test_what_is_read_back_is_the_model(name):
    model, X = made(name)
    text = export.json(model)
    back = export.from_json(text)
    assert export.verify(text, model, X)
    assert back.predict(X).tolist() == model.predict(X).tolist()
    assert export.json(back) == text
    if hasattr(model, "trees_"):
        assert same_trees(model.trees_, back.trees_)
    assert export.verify(export.python(back, "numpy"), model, X)


@interpreted_only
def test_very_many_classes_stay_few_numbers():
    X = [[float(k)] for k in range(50)]
    forest = RandomForestClassifier(n_estimators=3, random_state=0).fit(X, range(50))
    text = export.json(forest)
    assert export.verify(text, forest, X[:20])
    assert len(text) < 60_000


def test_text_that_is_none_is_refused():
    text = export.json(DecisionTreeClassifier().fit([[1], [2]], [0, 1]))
    content = json.loads(text)
    for wrong, says in [
        ("{", "is no JSON"),
        ("[1]", "something else"),
        (json.dumps(content | {"version": 9}), "version 9"),
        (json.dumps({name: value for name, value in content.items() if name != "trees"}), "lacks a part"),
        (json.dumps(content | {"columns": "many"}), "must be a list of names"),
    ]:
        with pytest.raises(ValueError, match=says):
            export.from_json(wrong)
    content["trees"]["left"]["values"][0] = 7
    with pytest.raises(ValueError, match="node 0 breaks the layout"):
        export.from_json(json.dumps(content))
    with pytest.raises(TypeError, match="must be a str"):
        export.from_json(b"{}")
