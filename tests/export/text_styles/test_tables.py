"""Tables of nodes and splits under the names of rpart's frame and splits."""

import sys

import numpy as np
import pytest
from exported import KINDS, made
from public_data import as_rpart
from strategies import interpreted_only

from dtnumba import DecisionTreeClassifier, export


def test_the_frame_is_rparts():
    found = export.frame(as_rpart())
    assert found.number.tolist() == [1, 2, 4, 5, 10, 11, 22, 23, 3]
    assert found["var"].tolist() == ["x2", "x2", "<leaf>", "x0", "<leaf>", "x0", "<leaf>", "<leaf>", "<leaf>"]
    assert found.n.tolist() == [81, 62, 29, 33, 12, 21, 14, 7, 19]
    assert found.dev.tolist() == [17, 6, 0, 6, 0, 6, 2, 3, 8]
    assert found.yval.tolist() == ["absent"] * 7 + ["present"] * 2
    assert np.allclose(found.complexity[:4], [3 / 17, 1 / 51, 0, 1 / 51])
    assert found.nsurrogate.tolist() == [1, 2, 0, 2, 0, 0, 0, 0, 0]
    assert np.allclose(found.prob_present[:2], [17 / 81, 6 / 62])


def test_splits_are_the_primary_one_and_its_surrogates():
    found = export.splits(as_rpart())
    own = found[found.number == 2]
    assert own.kind.tolist() == ["primary", "surrogate", "surrogate"]
    assert own["var"].tolist() == ["x2", "x1", "x0"]
    assert own.split.tolist() == ["< 14.5 to the right", "< 3.5 to the left", "< 16 to the left"]
    assert np.allclose(own.improve[:1], 1.0205279)
    assert np.allclose(own.agree[1:], [0.64516129, 0.59677419])
    assert np.allclose(own.adj[1:], [0.24137931, 0.13793103])


def test_they_become_frames():
    pandas = pytest.importorskip("pandas")
    for found in (export.frame(as_rpart()), export.splits(as_rpart()), as_rpart().to_rules().to_records()):
        frame = found.to_frame()
        assert isinstance(frame, pandas.DataFrame)
        assert (list(frame.columns), len(frame)) == (list(found.dtype.names), len(found))
    frame = as_rpart().to_rules().to_frame()
    assert frame["rule"].tolist()[0] == "if x2 <= 8.5 then present"
    assert frame["label"].tolist()[-1] == "absent"
    assert frame["covered"].tolist()[:-1] == [19, 12, 7, 14, 29]
    assert frame["n_tests"].tolist()[-1] == 0


def test_without_pandas_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        export.frame(as_rpart()).to_frame()


def test_a_tree_of_several_children_is_read_from_the_root_down():
    columns, y = np.array([["a", 1.0], ["b", 2.0], ["c", 3.0], ["c", 9.0]], object), ["no", "yes", "no", "yes"]
    model = DecisionTreeClassifier(categorical_split="multiway", categorical_features=[0]).fit(columns, y)
    found = export.frame(model, feature_names=["kind", "size"])
    assert found["var"].tolist() == ["kind", "<leaf>", "<leaf>", "size", "<leaf>", "<leaf>"]
    assert (found.number.tolist(), found.parent.tolist()) == ([1, 2, 3, 4, 5, 6], [0, 1, 1, 1, 4, 4])
    assert found.split.tolist()[:4] == ["root", "kind is a", "kind is b", "kind is c (or missing)"]
    assert (found.dev.tolist(), found.yval.tolist()[1:3]) == ([2, 0, 0, 1, 0, 0], ["no", "yes"])
    own = export.splits(model)
    assert (own.number.tolist(), own.kind.tolist()) == ([1, 4], ["primary"] * 2)
    assert own.split.tolist()[0] == "x0 is a; x0 is b; x0 is c (or missing)"
    assert (own.improve > 0).all()


NO_TABLES = {"rules", "list", "graph"}


@pytest.mark.parametrize("name", [name for name in KINDS if not set(name.replace(",", "").split()) & NO_TABLES])
@interpreted_only
def test_tables_hold_every_node_and_every_split(name):
    model = made(name)[0]
    if not hasattr(model, "trees_") or model.trees_.is_compact:
        pytest.skip("no trees with statistics")
    t = model.trees_.n_trees - 1
    start, stop = model.trees_.root[t : t + 2].tolist()
    found, own = export.frame(model, t), export.splits(model, tree=t)
    assert sorted(found.node.tolist()) == list(range(stop - start))
    assert dict(zip(found.node.tolist(), found.n.tolist(), strict=True)) == dict(
        enumerate(model.trees_.n_samples[start:stop].tolist())
    )
    inner = found[found["var"] != "<leaf>"]
    assert own[own.kind == "primary"].node.tolist() == inner.node.tolist()
    assert np.array_equal(
        inner.nsurrogate, [np.count_nonzero((own.node == k) & (own.kind != "primary")) for k in inner.node]
    )
    of = dict(zip(found.number.tolist(), found.depth.tolist(), strict=True))
    assert [of[parent] + 1 for parent in found.parent.tolist()[1:]] == found.depth.tolist()[1:]
    shares = [np.asarray(found[column], float) for column in found.dtype.names if column.startswith("prob_")]
    n_outputs = sum(column.startswith("yval") for column in found.dtype.names)
    assert not shares or np.allclose(sum(shares), n_outputs)


@interpreted_only
def test_rivals_are_those_of_two_children_and_one_output():
    model, X = made("tree, two outputs")
    with pytest.raises(export.ExportError, match=r"^splits: competing .* of one output; leave out X and y$"):
        export.splits(model, X, np.zeros((len(X), 2)))


def test_labels_of_rules_are_of_one_type():
    assert {type(label) for label in as_rpart().to_rules().to_records().label} == {str}
