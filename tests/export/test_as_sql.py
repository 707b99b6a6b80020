"""Queries, asked in SQLite and DuckDB, say what the model says, to the bit."""

import itertools
import sqlite3
import struct
from importlib.util import find_spec

import numpy as np
import pytest
from exported import ALL_KINDS, KINDS, made, of_any_table
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor, RandomForestClassifier, RandomForestRegressor, export
from dtnumba.export.languages import sql_query
from dtnumba.export.languages.sql_words import Dialect

without = pytest.mark.skipif(find_spec("duckdb") is None, reason="DuckDB is not installed")
HERE = ["sqlite", pytest.param("duckdb", marks=without)]
NO_TABLE = {"fractional", "fractional, a number", "surrogates", "surrogates, numbers", "c45", "c45, float32"}
NO_TABLE |= {"c50", "c50, costs", "c50, trials", "c50, trials, float32"}
NO_TABLE |= {"forest, fractional", "forest, surrogates", "c45, laplace", "rules", "rules, votes", "decision list"}


@pytest.mark.parametrize("name", ALL_KINDS)
@pytest.mark.parametrize("dialect", HERE)
@pytest.mark.parametrize("style", ["case", "table"])
def test_it_says_what_the_model_says(name, dialect, style):
    model, X = made(name)
    if name == "forest, fractional, hard":
        with pytest.raises(export.ExportError, match=r"nodes 0, 29, .*: rows go down in parts, and each tree votes"):
            export.sql(model)
    elif style == "table" and name in NO_TABLE:
        with pytest.raises(export.ExportError, match="pass style='case'"):
            export.sql(model, style=style)
    else:
        query = export.sql(model, "some table", style, dialect, proba=True)
        assert export.verify(query, model, X)


@of_any_table(set(KINDS) - {"forest, fractional, hard"})
def test_it_does_so_for_any_table(name, model, X):
    for style in ("case", "table")[: 1 + (name not in NO_TABLE)]:
        assert export.verify(export.sql(model, style=style, dialect="sqlite", proba=True), model, X)


@pytest.mark.parametrize("name", ["tree", "id3", "forest, two outputs", "regression forest", "ranges"])
@pytest.mark.parametrize("dialect", HERE)
def test_deep_trees_go_down_some_levels_after_others(name, dialect, monkeypatch):
    monkeypatch.setitem(sql_query._LEVELS, dialect, 2)
    model, X = made(name)
    assert export.verify(export.sql(model, dialect=dialect, proba=True), model, X)


@pytest.mark.parametrize("style", ["case", "table"])
def test_sqlite_reads_deep_trees(style):
    X = np.arange(400.0)[:, None]
    y = np.cumsum(2.0 ** -np.arange(400.0))
    tree = DecisionTreeRegressor(max_leaf_nodes=60).fit(X, y)
    assert tree.depth_ > 20
    assert export.verify(export.sql(tree, style=style, dialect="sqlite"), tree, X)


@given(st.floats(allow_nan=False))
@examples(300)
def test_numbers_come_back_to_the_bit(x):
    connection = sqlite3.connect(":memory:")
    (found,) = connection.execute(f"SELECT {Dialect('sqlite').number(x)}").fetchone()
    connection.close()
    assert struct.pack("d", float(found)) == struct.pack("d", x) or x == found == 0.0
    assert float(Dialect("postgresql").number(x).removeprefix("float8 '").removesuffix("'")) == x


@without
@given(st.lists(st.floats(allow_nan=False), min_size=50, max_size=50))
@examples(20)
def test_numbers_come_back_from_duckdb(xs):
    import duckdb

    with duckdb.connect() as connection:
        found = connection.execute(f"SELECT {', '.join(map(Dialect('duckdb').number, xs))}").fetchone()
    assert list(found) == xs
    assert {type(x) for x in found} == {float}


@pytest.mark.parametrize("dialect", HERE)
def test_names_and_values_are_quoted(dialect):
    import pandas as pd

    names = ['a"b', "select", "dt_x0"]
    X = pd.DataFrame({names[0]: ["x'y", 'x"y', None] * 4, names[1]: np.arange(12.0), names[2]: np.arange(12) % 5})
    tree = DecisionTreeClassifier().fit(X, ["it's", '"', "c"] * 4)
    query = export.sql(tree, 'my "table"', dialect=dialect)
    assert "'x''y'" in query
    assert '"a""b"' in query
    assert 'FROM "my ""table"""' in query
    assert export.verify(query, tree, X)


def test_columns_to_keep_are_returned():
    tree = DecisionTreeRegressor(max_depth=1).fit([[1.0], [9.0]], [2.0, 3.0])
    query = export.sql(tree, "houses", dialect="sqlite", keep=["id"])
    connection = sqlite3.connect(":memory:")
    connection.executescript("CREATE TABLE houses (id, x0); INSERT INTO houses VALUES (7, 1.0), (8, 9), (9, NULL)")
    answer = connection.execute(query)
    assert [column[0] for column in answer.description] == ["id", "prediction"]
    assert answer.fetchall() == [(7, 2.0), (8, 3.0), (9, tree.predict([[None]])[0])]
    connection.close()


def test_postgresql_has_its_words():
    model, X = made("tree")
    query = export.sql(model, dialect="postgresql", proba=True)
    assert """nullif(CAST("x0" AS double precision), CAST('NaN' AS double precision)) AS dt_x0""" in query
    assert "float8 '" in query
    assert "CASE \"x2\" WHEN 'blue' THEN 0" in query
    assert "9e999" not in query
    assert "DOUBLE" not in query
    assert query.count("\nOFFSET 0) AS dt_") == query.count(") AS dt_1") + query.count(") AS dt_2") >= 2
    assert "OFFSET" not in export.sql(model, proba=True)
    with pytest.raises(export.ExportError, match="has to be asked there"):
        export.verify(query, model, X)
    forest = RandomForestRegressor(n_estimators=3, random_state=0).fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 3.0])
    assert "WITH RECURSIVE" in export.sql(forest, style="table", dialect="postgresql")
    X = np.array([["a"], ["b"], ["c"]])
    of_categories = export.sql(DecisionTreeClassifier().fit(X, [0, 1, 0]), style="table", dialect="postgresql")
    assert "CAST(NULL AS double precision), CAST(NULL AS integer)" in of_categories  # else columns of text


@pytest.mark.parametrize("dialect", [*HERE, "postgresql"])
def test_shares_of_many_classes_are_a_short_query(dialect, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(135, 3)), np.arange(135) % 30
    tree, forest = DecisionTreeClassifier().fit(X, y), RandomForestClassifier(3, random_state=0).fit(X, y)
    for model, style in itertools.product((tree, forest), ("table", "case")):
        query = export.sql(model, style=style, dialect=dialect, proba=True)
        if style == "case":
            assert len(query) < 200 * model.trees_.n_nodes + 300 * 30  # and not the product
        else:
            assert "dt_same(dt_node, dt_first)" in query  # leaves of one class each say what others say, too
        assert dialect == "postgresql" or export.verify(query, model, X)
    monkeypatch.setattr(sql_query, "_MOST_TEXT", len(query) - 1)
    if dialect != "postgresql":
        assert export.sql(forest, dialect=dialect, proba=True)
        return
    with pytest.raises(export.ExportError, match=r"compile in gigabytes of memory.*pass style='table'"):
        export.sql(forest, dialect=dialect, proba=True)
    assert export.sql(forest, dialect=dialect, proba=True, style="table")
    assert export.sql(tree, dialect=dialect, proba=True)


def test_what_no_query_can_say_is_named():
    tree = DecisionTreeClassifier().fit([["a\0"], ["b"]], [0, 1])
    with pytest.raises(export.ExportError, match="zero character"):
        export.sql(tree)
    with pytest.raises(ValueError, match="dialect='mysql': must be one of"):
        export.sql(tree, dialect="mysql")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4000, 2)), rng.integers(0, 2, 4000)
    many = DecisionTreeClassifier(missing="fractional").fit(X, y)
    with pytest.raises(export.ExportError, match=r"node 0: rows go down in parts to \d+ leaves"):
        export.sql(many)
