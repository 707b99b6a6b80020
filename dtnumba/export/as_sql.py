"""A model as one query of SQL: conditions in each other, or a table of nodes that is walked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.export.languages.source import ExportedText, literals
from dtnumba.export.languages.sql_query import Query
from dtnumba.export.languages.sql_words import DIALECTS, Dialect
from dtnumba.export.reading import ExportError, read
from dtnumba.export.replay import AskedRows, Replies, places_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


SQL_STYLES = ("case", "table")
_ROW = "dtnumba_row"  # of a table that ``run`` makes


class SqlQuery(ExportedText):
    """A query as text.

    Attributes
    ----------
    dialect, table : str
        What it is written in, and the table that it asks.
    proba : bool
        Whether it returns shares of classes beside labels.

    """

    dialect: str
    table: str
    proba: bool
    again: Callable[[Sequence[str]], str]  # the same query with other columns beside the predictions

    def run(self, rows: AskedRows) -> Replies:
        """Ask the query about rows, in SQLite or DuckDB."""
        query = self.again((_ROW,))
        if self.dialect == "postgresql":
            raise ExportError(
                "sql: a query of PostgreSQL has to be asked there; verify one with dialect='duckdb', which differs in "
                "the words for numbers and in OFFSET 0 alone"
            )
        ask = _ask_sqlite if self.dialect == "sqlite" else _ask_duckdb
        found = [list(column) for column in zip(*sorted(ask(query, rows, self.table)), strict=True)][1:]
        classes = self.columns.classes
        if classes is None:
            return Replies(None, np.array(found, np.float64).T)
        n = len(self.columns.sizes)
        codes = np.stack([places_of(own, known) for own, known in zip(found[:n], classes, strict=True)], axis=1)
        return Replies(codes, np.array(found[n:], np.float64).T if self.proba else None)


def _ask_sqlite(query: str, rows: AskedRows, table: str) -> list[tuple[Any, ...]]:
    import sqlite3

    words, names = Dialect("sqlite"), [*rows.columns.names, _ROW]
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(f"CREATE TABLE {words.name(table)} ({', '.join(map(words.name, names))})")
        given = [(*row, k) for k, row in enumerate(rows.values())]
        marks = ", ".join("?" * len(names))
        connection.executemany(f"INSERT INTO {words.name(table)} VALUES ({marks})", given)  # noqa: S608  names are quoted
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def _ask_duckdb(query: str, rows: AskedRows, table: str) -> list[tuple[Any, ...]]:
    try:
        import duckdb
    except ImportError as error:
        raise ImportError("a query of DuckDB is asked by DuckDB, which is not installed: pip install duckdb") from error
    columns: dict[str, Any] = {}
    given = list(zip(*rows.values(), strict=True))
    for j, name in enumerate(rows.columns.names):
        levels = rows.columns.levels[j]
        if levels is None:
            columns[name] = np.array(rows.codes[:, j])  # NaN stays NaN
        elif all(isinstance(level, (int, float)) and not isinstance(level, bool) for level in levels):
            columns[name] = np.array([np.nan if x is None else x for x in given[j]], np.float64)
        else:
            columns[name] = np.array(given[j], object)
    columns[_ROW] = np.arange(len(rows.codes))
    with duckdb.connect() as connection:
        connection.register(table, columns)
        found: list[tuple[Any, ...]] = connection.execute(query).fetchall()
        return found


def _read_splines(model: Any, style: str) -> Any:
    from dtnumba.export.splines.reading import read_splines

    if style != "case":
        raise ExportError("sql: terms are no nodes of a table; pass style='case'")
    return read_splines(model)


def _makers(model: Any) -> tuple[Any, Any]:
    """Return what makes the text of a query, and what holds it."""
    if not hasattr(model, "splines_"):
        return Query, SqlQuery
    from dtnumba.export.splines.in_sql import SplineQuery
    from dtnumba.export.splines.reading import TakesSomeRows

    class SqlOfSplines(TakesSomeRows, SqlQuery):
        """A query of splines."""

    return SplineQuery, SqlOfSplines


def sql(
    model: Any,
    table: str = "data",
    style: str = "case",
    dialect: str = "duckdb",
    *,
    keep: Sequence[str] | None = None,
    proba: bool = False,
    row_type: str = "float64",
) -> SqlQuery:
    """Return a model as one query of SQL.

    Its columns are those to keep, then ``prediction`` (of several outputs ``prediction_0``, ...), and where asked for
    ``probability_0``, ... in the order of the classes. NULL, and NaN, go where the model sends missing values.

    Parameters
    ----------
    model : fitted estimator
        Of trees, rules or splines.
    table : str
        The table to ask; its columns have the names that the model knows, x0, x1, ... where it knows none.
    style : "case" or "table"
        "case": conditions in each other. "table": a table of nodes in the query, and a recursive walk through it, which
        large forests need; it has no rules, no rows in parts and no surrogates.
    dialect : "duckdb", "sqlite" or "postgresql"
        What the query is written in.
    keep : list of str, optional
        Columns of the table to return beside; by default those that the model knows.
    proba : bool
        Whether to return the shares of the classes.
    row_type : "float64" or "float32"
        What the table holds; it matters for C4.5, whose cuts are values of the table.

    Examples
    --------
    >>> from dtnumba import DecisionTreeRegressor, export
    >>> tree = DecisionTreeRegressor(max_depth=1).fit([[1.0], [9.0]], [2.0, 3.0])
    >>> print(export.sql(tree, "houses", dialect="sqlite"), end="")
    SELECT "x0", dt_s0 AS "prediction"
    FROM (SELECT "x0", CASE WHEN dt_x0 <= 5.0e0 THEN 2.0e0 ELSE 3.0e0 END AS dt_s0
    FROM (SELECT "x0", CAST("x0" AS REAL) AS dt_x0
    FROM "houses") AS dt_1) AS dt_2

    """
    for given, name, known in ((style, "style", SQL_STYLES), (dialect, "dialect", DIALECTS)):
        if given not in known:
            raise ValueError(f"{name}={given!r}: must be one of {', '.join(map(repr, known))}")
    found: Any = read(model, row_type, sums=True) if not hasattr(model, "splines_") else _read_splines(model, style)
    make, query_class = _makers(model)
    kept = found.columns.names if keep is None else list(keep)
    for labels in found.columns.classes or ():
        literals(labels, "sql", (str, bool, int, float))

    def again(names: Sequence[str]) -> str:
        return str(make(found, Dialect(dialect), names, table, proba=proba).text(style))

    query: SqlQuery = query_class(again(kept))
    query.columns, query.dialect, query.table, query.proba, query.again = found.columns, dialect, table, proba, again
    if hasattr(model, "splines_"):
        vars(query).update(fill=found.hinges.fill, is_close=found.columns.classes is not None)
    return query
