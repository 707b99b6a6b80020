"""``verify`` finds what differs: a changed threshold, a changed label, another model."""

import numpy as np
import pytest
from exported import fitted, made

import dtnumba
from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor, export
from dtnumba.export.reading import read
from dtnumba.export.replay import hard_rows


def changed(source, before, after):
    """Return an export with its text changed."""
    assert before in source
    text = type(source)(source.replace(before, after, 1))
    vars(text).update(vars(source))
    return text


def test_a_threshold_that_is_off_by_one_bit_is_found():
    X = np.array([[0.1], [0.3], [0.7]])
    tree = DecisionTreeRegressor(max_depth=1).fit(X, [1.0, 1.0, 2.0])
    source = export.python(tree)
    assert export.verify(source, tree, X)
    for beside in (np.nextafter(0.5, 0.0), np.nextafter(0.5, 1.0)):
        with pytest.raises(export.ExportMismatchError, match=r"the model says number \[.\.0\], the export \[.\.0\]"):
            export.verify(changed(source, "0.5", repr(float(beside))), tree, X)


def test_where_missing_values_go_and_labels_are_compared():
    tree = DecisionTreeClassifier().fit([[1.0], [2.0]], ["a", "b"])
    source = export.python(tree)
    with pytest.raises(export.ExportMismatchError, match="says label"):
        export.verify(changed(source, "else 'a'", "else 'b'"), tree, [[1.0]])
    with pytest.raises(export.ExportMismatchError, match="says shares"):
        export.verify(changed(source, "[1.0, 0.0]", "[0.5, 0.5]"), tree, [[1.0]])
    with pytest.raises(export.ExportMismatchError, match="nan"):
        export.verify(changed(source, "float('nan') if", "-1e9 if"), tree, [[1.0]])


def test_another_model_is_another():
    tree = DecisionTreeClassifier().fit([[1.0], [2.0]], ["a", "b"])
    other = DecisionTreeClassifier().fit([[1.0], [2.0]], ["a", "c"])
    with pytest.raises(ValueError, match="other columns, categories or classes"):
        export.verify(export.python(tree), other, [[1.0]])
    with pytest.raises(TypeError, match="must be what a function of export has returned"):
        export.verify("text", tree, [[1.0]])


@pytest.mark.parametrize("name", ["tree", "forest, two classes", "multiway", "regression"])
def test_compact_models_and_models_from_files_are_written_alike(name, tmp_path):
    model, X = fitted(name)
    before = export.python(model, "numpy"), export.c(model), export.sql(model)
    model.save(tmp_path / "model")
    loaded = dtnumba.load(tmp_path / "model")
    assert (export.python(loaded, "numpy"), export.c(loaded), export.sql(loaded)) == before
    model.compact()
    assert (export.python(model, "numpy"), export.c(model), export.sql(model)) == before
    for result in (before[0], export.json(model), export.json(loaded)):
        assert export.verify(result, model, X)


def test_rows_that_are_made_are_hard():
    model, X = made("tree")
    rows = hard_rows(read(model), np.array(model.table_of(X).whole, np.float64))
    thresholds = model.trees_.threshold[model.trees_.feature == 0]
    for beside in (thresholds, np.nextafter(thresholds, np.inf), np.nextafter(thresholds, -np.inf)):
        assert np.isin(beside, rows[:, 0]).all()
    assert np.isinf(rows[:, 0]).any()
    assert np.isnan(rows[-1]).all()
    assert set(range(5)) <= set(rows[:, 2].tolist())
