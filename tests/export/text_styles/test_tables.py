"""Tables of nodes and splits under the names of rpart's frame and splits."""

import sys

import numpy as np
import pytest
from exported import made
from public_data import as_rpart

from dtnumba import export


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


def test_trees_of_more_children_are_refused():
    what = r"splits: node.* more children than two, .*; print it with export.text\(model\)$"
    with pytest.raises(export.ExportError, match=what):
        export.splits(made("multiway")[0])


def test_labels_of_rules_are_of_one_type():
    assert {type(label) for label in as_rpart().to_rules().to_records().label} == {str}
