"""Trees of files that lie: whatever the checksums say, no walk goes astray."""

import numpy as np
import pytest

from dtnumba import DecisionTreeClassifier, ModelFileError, RandomForestClassifier, load
from dtnumba.model_files import container, few_rows
from dtnumba.model_files.container import read, write

X = np.random.default_rng(0).normal(size=(200, 3))
Y = np.digitize(X[:, 0] * X[:, 1], [-0.3, 0.3])
WORDS = np.array([[["a", "b", "c", "d"][int(abs(row[0]) * 7) % 4], row[1]] for row in X], object)


@pytest.fixture(params=["read", "mapped"])
def mapped(request, monkeypatch):
    monkeypatch.setattr(container, "_SMALL", 1 << 22 if request.param == "read" else 0)
    monkeypatch.setattr(few_rows, "_NODES_A_ROW", 0.1)


def lied(path, change):
    """Write a file again, its header and its arrays changed, with right checksums."""
    content = read(path)
    header = {name: one for name, one in content.header.items() if name != "arrays"}
    arrays = {name: content.array(name).copy() for name in content.arrays}
    change(header, arrays)
    write(path, header, arrays)


def lies():
    def at(name, place, value):
        def change(header, arrays):
            arrays[f"forest_.{name}"] = arrays[f"forest_.{name}"].astype(np.int64)
            arrays[f"forest_.{name}"][place] = value

        return change

    yield "goes to itself", at("distance", 0, 0)
    yield "goes back", at("distance", 5, -4)
    yield "goes beyond", at("distance", 0, 1 << 40)
    yield "goes to a node of another", at("distance", 0, 3)
    yield "tests a column too many", at("tested", 0, 4)
    yield "tests a negative column", at("tested", 0, -1)
    yield "tests far beyond", at("tested", 0, 1 << 33)
    yield "is a leaf", at("tested", 0, 0)
    yield "counts inner nodes wrongly", at("inner_before", 1, 0)
    yield "roots go back", at("root", 1, 0)
    yield "roots go beyond", at("root", -1, 1 << 30)
    yield "a missing value goes nowhere", at("missing_left", 0, 7)
    yield "counts of nothing", at("leaf_counts", slice(None), 0)
    yield "counts below nothing", at("leaf_counts", 0, -5)

    def said(**changes):
        return lambda header, arrays: header["learned"]["forest_"]["trees"].update(changes)

    sayings = {
        "n_nodes": 1 << 30,
        "n_trees": 0,
        "is_two_way": False,
        "is_compact": True,
        "has_two": False,
        "policy": 1,
        "narrow": ["feature", "root"],
        "root": {"array": "forest_.tested"},
        "threshold": {"array": "nothing"},
        "tested": {"codes": "forest_.tested", "table": "forest_.root"},
        "leaf_counts": {"array": "forest_.root"},
        "impurity": "entropy",
        "gain": None,
        "cuts_at": 3,
        "sparse_value": {"width": 3},
        "surrogates": [],
    }
    for name, value in sayings.items():
        yield f"says {name}", said(**{name: value})
    yield "other classes", lambda header, arrays: header["learned"]["forest_"].update(n_classes=[1 << 40])
    yield "more columns", lambda header, arrays: header["learned"]["forest_"].update(n_features=1 << 40)
    yield "another learner", lambda header, arrays: header.update(learner="os.system")
    yield "no learner", lambda header, arrays: header.pop("learner")
    yield "unknown attributes", lambda header, arrays: header["learned"].update(__class__=3)
    yield "unknown parameters", lambda header, arrays: header["parameters"].update(__init__=3)
    yield "very many outputs", lambda header, arrays: header["learned"].update(n_outputs_=(1 << 31) - 1)
    yield "illegal parameters", lambda header, arrays: header["parameters"].update(n_jobs=0)


@pytest.mark.parametrize("lie", [pytest.param(change, id=words) for words, change in lies()])
@pytest.mark.usefixtures("mapped")
def test_a_forest_that_lies_is_refused(lie, tmp_path):
    path = tmp_path / "model"
    RandomForestClassifier(n_estimators=3, random_state=0).fit(X, Y).save(path)
    lied(path, lie)
    with pytest.raises(ModelFileError) as error:
        load(path).trees_  # noqa: B018
    assert str(path) in str(error.value)
    try:
        answer = load(path).predict_proba(X[:5])
    except ModelFileError:
        return
    assert answer.shape == (5, 3)  # rows that do not pass what lies


def test_thresholds_and_levels_must_be_some(tmp_path):
    path = tmp_path / "model"
    for rows, name, value in [(X, "threshold", np.nan), (WORDS, "level", -1), (WORDS, "level_count", 1 << 20)]:
        DecisionTreeClassifier().fit(rows, Y).save(path)

        def change(header, arrays, name=name, value=value):
            arrays[f"tree_.{name}"] = arrays[f"tree_.{name}"].astype(type(value))
            arrays[f"tree_.{name}"][0] = value

        lied(path, change)
        with pytest.raises(ModelFileError):
            load(path).predict(rows)


def test_importing_and_reading_names_runs_nothing(tmp_path):
    """A header may name anything; nothing of it is looked up."""
    path = tmp_path / "model"
    DecisionTreeClassifier().fit(X, Y).save(path)
    for kind in ("os.system", "Reader", "StoredTrees", "eval", "__class__"):
        lied(path, lambda header, arrays, kind=kind: header["parameters"].update(class_weight={"object": kind}))
        with pytest.raises(ModelFileError, match="object of no known kind"):
            load(path)


@pytest.mark.parametrize(
    "value",
    [{"set": 3}, {"set": [[1]]}, {"frozenset": [{"set": []}]}, {"set": {"dict": []}}, {"bytes": "f"}, {"bytes": "F g"}],
)
def test_sets_and_bytes_that_are_none_are_refused(value, tmp_path):
    path = tmp_path / "model"
    DecisionTreeClassifier().fit(X, Y).save(path)
    lied(path, lambda header, arrays: header["parameters"].update(class_weight=value))
    with pytest.raises(ModelFileError):
        load(path)


def test_a_generator_that_would_read_elsewhere_is_refused(tmp_path):
    path = tmp_path / "model"
    DecisionTreeClassifier(random_state=np.random.RandomState(0)).fit(X, Y).save(path)

    def change(header, arrays):
        pairs = dict(map(tuple, header["parameters"]["random_state"]["state"]["dict"]))
        next(pair for pair in pairs["state"]["dict"] if pair[0] == "pos")[1] = 1 << 30

    lied(path, change)
    with pytest.raises(ModelFileError, match="generator"):
        load(path)
