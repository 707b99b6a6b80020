"""Trees as a table of nodes in a query of SQL, and a recursive walk through it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.export.reading import AMONG, BY_RANGE, MAP, UP_TO, absent_of, kinds_of, refuse, used_columns
from dtnumba.trees.layout import LEAF, STAYS, n_entries
from dtnumba.trees.linear import LinearTests, n_terms_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from dtnumba.export.languages.sql_words import Dialect
    from dtnumba.export.reading import ReadTrees
    from dtnumba.trees.layout import Trees

_NULL = "NULL"


def walk_of(query: Any, found: ReadTrees) -> tuple[str, str]:
    """Return the beginning of a query, and the query of what is said of every row, a column a number or a label."""
    trees, p = found.trees, query.prefix
    way = "pass style='case', or export the model as C or Python"
    if found.is_shared:
        refuse("sql", trees.root[:-1], "a table of nodes sends a row to one child, and rows go down in parts", way)
    refuse("sql", np.flatnonzero(n_entries(trees.surrogates.start, trees.n_nodes)), "a table has no surrogates", way)
    used = used_columns(trees)
    tables, has_tests, are_shared = _tables(query.words, found, p)
    names = [query.words.name(name) for name in query.keep]
    xs = [query.language.x(j) for j in used]
    carried = [f"{p}row", *names, *xs, f"{p}tree"]
    of_walk = ", ".join(f"w.{name}" for name in carried)
    value = _tested(query, trees, used)
    child = (
        f"CASE WHEN {value} IS NULL THEN n.{p}absent WHEN {value} <= n.{p}threshold THEN n.{p}below ELSE n.{p}above END"
    )
    join = f"JOIN {p}nodes AS n ON n.{p}node = w.{p}node"
    if has_tests:
        child = f"coalesce(t.{p}child, {child})"
        join += (
            f" LEFT JOIN {p}tests AS t ON t.{p}node = w.{p}node AND (t.{p}code = {value} OR (t.{p}code IS NULL AND "
            f"(t.{p}low IS NULL OR {value} > t.{p}low) AND (t.{p}high IS NULL OR {value} <= t.{p}high)))"
        )
    coded = query.coded(used, [f"row_number() OVER () AS {p}row"])
    begin = ", ".join([f"r.{p}row", *(f"r.{name}" for name in (*names, *xs)), f"o.{p}tree", f"o.{p}node"])
    walk = (
        f"{p}rows AS (\n{coded}\n),\n"
        f"{p}walk({', '.join(carried)}, {p}node) AS (\n"
        f"SELECT {begin} FROM {p}rows AS r CROSS JOIN {p}roots AS o\nUNION ALL\n"
        f"SELECT {of_walk}, {child} FROM {p}walk AS w {join}\n)"
    )
    said = _said(found, p)
    kept = [f"{p}row", *names]
    listed = ", ".join([*(f"w.{name}" for name in kept), f"w.{p}tree", *(f"s.{name}" for name in said)])
    joined = f"{p}says AS s ON s.{p}node = w.{p}node"
    if are_shared:
        joined = f"{p}same AS q ON q.{p}node = w.{p}node JOIN {p}says AS s ON s.{p}node = q.{p}first"
    ends = f"SELECT {listed} FROM {p}walk AS w JOIN {joined}"  # noqa: S608  likewise
    if not found.is_mean:
        head = f"WITH RECURSIVE\n{tables},\n{walk},\n{p}ends AS (\n{ends}\n)\n"
        return head, f"SELECT {', '.join([*names, *said])} FROM {p}ends"  # noqa: S608  likewise
    zero = "" if str(found.begin) == "-0.0" else f"{query.words.number(0.0)} + "
    start = ", ".join([*kept, f"{p}tree", *(f"{zero}{name}" for name in said)])
    add = ", ".join([*(f"a.{name}" for name in kept), f"e.{p}tree", *(f"a.{name} + e.{name}" for name in said)])
    total = (
        f"{p}ends AS MATERIALIZED (\n{ends}\n),\n"
        f"{p}total({', '.join([*kept, f'{p}tree', *said])}) AS (\n"
        f"SELECT {start} FROM {p}ends WHERE {p}tree = 0\nUNION ALL\n"
        f"SELECT {add} FROM {p}total AS a JOIN {p}ends AS e ON e.{p}row = a.{p}row AND e.{p}tree = a.{p}tree + 1\n)"
    )
    head = f"WITH RECURSIVE\n{tables},\n{walk},\n{total}\n"
    last = trees.n_trees - 1
    return head, f"SELECT {', '.join([*names, *said])} FROM {p}total WHERE {p}tree = {last}"  # noqa: S608  likewise


def _tested(query: Any, trees: Trees, used: list[int]) -> str:
    """Return what a node tests: a value; where trees have sums, a sum, which of a single column has one term."""
    p, pairs = query.prefix, " ".join(f"WHEN {j} THEN w.{query.language.x(j)}" for j in used)
    if not used:
        return _NULL
    if not trees.has_sums:
        return f"CASE n.{p}feature {pairs} END"
    values = [f"CASE n.{p}{name} {pairs} END" for name in _term_names(trees, "column")]
    weights, instead = ([f"n.{p}{name}" for name in _term_names(trees, what)] for what in ("weight", "instead"))
    total = query.words.total(zip(values, weights, instead, strict=True))
    return f"CASE WHEN {' OR '.join(f'{value} IS NOT NULL' for value in values)} THEN {total} END"


def _term_names(trees: Trees, what: str) -> list[str]:
    return [f"{what}{k}" for k in range(int(n_terms_of(trees.linear, trees.n_nodes).max()))]


def _terms(words: Dialect, trees: Trees, inner: list[int]) -> list[Any]:
    """Return the columns of terms, their weights, and what missing values count as; terms that a node lacks add 0."""
    m, linear = trees.n_nodes, trees.linear
    n_terms = n_terms_of(linear, m)
    assert isinstance(linear, LinearTests)
    found: list[list[Any]] = [[], [], []]
    for k in range(int(n_terms.max())):
        at = np.minimum(linear.start[:-1] + k, len(linear.column) - 1)
        is_own = k < n_terms
        alone = (n_terms == 0) & (k == 0)
        column = np.where(is_own, linear.column[at], trees.feature)
        weight = np.where(is_own, linear.weight[at], np.where(alone, 1.0, 0.0))
        instead = np.where(is_own, linear.stand_in[at], 0.0)
        found[0].append(np.where(is_own | alone, column.astype("U20"), _NULL)[inner].tolist())
        found[1].append([words.number(x) for x in weight[inner].tolist()])
        found[2].append([words.number(x) for x in instead[inner].tolist()])
    return [own for of_kind in found for own in of_kind]


def _said(found: ReadTrees, p: str) -> list[str]:
    names = [f"{p}s{k}" for k in range(found.said.shape[1])]
    if found.labels_are_of_leaves:
        names += [f"{p}label{o}" for o in range(len(found.columns.sizes))]
    return names


def _tables(words: Dialect, found: ReadTrees, p: str) -> tuple[str, bool, bool]:
    """Return the tables of nodes, tests, roots and what nodes say.

    And whether there are tests beside thresholds, and a table of which node is the first that says the same.
    """
    trees = found.trees
    m, kind, absent = trees.n_nodes, kinds_of(trees), absent_of(trees)
    stays = absent == np.arange(m)
    absent = np.where(stays, m + absent, absent)  # no inner node: the walk ends there
    left = trees.left.astype(np.int64)
    otherwise = np.where(kind == UP_TO, left + 1, np.where(kind == AMONG, left + 1, absent))
    inner = np.flatnonzero(trees.feature != LEAF).tolist()
    threshold = [words.number(x) if x == x else _NULL for x in trees.threshold[inner].tolist()]
    below = np.where(kind == UP_TO, left.astype("U20"), _NULL)
    columns = [inner, trees.feature[inner], threshold, below[inner], otherwise[inner], absent[inner]]
    names = [f"{p}{name}" for name in ("node", "feature", "threshold", "below", "above", "absent")]
    whole, real = "integer", "DOUBLE" if words.dialect == "duckdb" else "double precision"
    types = [whole, whole, real, whole, whole, whole]
    if trees.has_sums:
        columns += _terms(words, trees, inner)
        for what, kind_of in (("column", whole), ("weight", real), ("instead", real)):
            names += [f"{p}{name}" for name in _term_names(trees, what)]
            types += [kind_of] * (len(names) - len(types))
    nodes = _values(f"{p}nodes", names, columns, types)
    tests = list(_tests(words, found, kind, left))
    tables = [nodes]
    if tests:
        names = [f"{p}{name}" for name in ("node", "code", "low", "high", "child")]
        tables.append(_values(f"{p}tests", names, list(zip(*tests, strict=True)), (whole, whole, real, real, whole)))
    tables.append(
        _values(f"{p}roots", [f"{p}tree", f"{p}node"], [list(range(trees.n_trees)), trees.root[:-1].tolist()])
    )
    ends = np.flatnonzero((trees.feature == LEAF) | (trees.missing_left == STAYS))
    ids = np.where(trees.feature[ends] == LEAF, ends, m + ends).tolist()
    first, which = _distinct(found, ends)
    are_shared = found.said.shape[1] > 1 and 2 * len(first) <= len(ends)
    if are_shared:
        tables.append(_values(f"{p}same", [f"{p}node", f"{p}first"], [ids, np.array(ids)[first[which]].tolist()]))
        ends, ids = ends[first], np.array(ids)[first].tolist()
    said: list[Sequence[Any]] = [[words.number(x) for x in own] for own in found.said[ends].T.tolist()]
    if found.labels_are_of_leaves:
        assert found.codes is not None
        said += found.codes[ends].T.tolist()
    tables.append(_values(f"{p}says", [f"{p}node", *_said(found, p)], [ids, *said]))
    return ",\n".join(tables), bool(tests), are_shared


def _distinct(found: ReadTrees, nodes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first nodes of those that say the same, and which of them is that of each node."""
    rows = np.ascontiguousarray(found.said[nodes], np.float64).view(np.int64)
    if found.labels_are_of_leaves:
        assert found.codes is not None
        rows = np.concatenate([rows, found.codes[nodes]], axis=1)
    _, first, which = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return first, which.reshape(-1)


def _values(name: str, columns: Sequence[str], cells: Sequence[Any], types: Sequence[str] = ()) -> str:
    """Return a table; its first row gives NULL a type, as PostgreSQL takes a column of NULL alone for text."""
    rows = list(zip(*cells, strict=True)) or [("-1", *[_NULL] * (len(columns) - 1))]
    if types:
        first = zip(rows[0], types, strict=True)
        rows[0] = tuple(f"CAST({_NULL} AS {kind})" if str(cell) == _NULL else cell for cell, kind in first)
    listed = ",\n".join(f"({', '.join(map(str, row))})" for row in rows)
    return f"{name}({', '.join(columns)}) AS (VALUES\n{listed})"


def _tests(words: Dialect, found: ReadTrees, kind: Any, left: Any) -> Iterable[tuple[Any, ...]]:
    """Yield node, category, bounds and child of every range and category that is not where others go."""
    trees = found.trees
    for node in np.flatnonzero(kind > UP_TO).tolist():
        first = int(left[node])
        if kind[node] == AMONG:
            for code in trees.level[trees.level_start[node] : trees.level_start[node + 1]].tolist():
                yield node, code, _NULL, _NULL, first
            continue
        ways = []
        if len(trees.branch_start) > 1:
            ways = trees.branch[trees.branch_start[node] : trees.branch_start[node + 1]].tolist()
        if kind[node] == MAP:
            yield from ((node, code, _NULL, _NULL, first + way) for code, way in enumerate(ways) if way >= 0)
            continue
        assert kind[node] == BY_RANGE
        cuts = [words.number(x) for x in trees.cut[trees.cut_start[node] : trees.cut_start[node + 1]].tolist()]
        for place, way in enumerate(ways or range(len(cuts) + 1)):
            low, high = cuts[place - 1] if place else _NULL, cuts[place] if place < len(cuts) else _NULL
            if way >= 0:
                yield node, _NULL, low, high, first + way
