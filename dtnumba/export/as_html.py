"""A fitted model as a page: a tree to fold, search and walk through, or a table of rules; a report where rows are."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.export.pictures.facts import facts_of, parameters_of, renamed
from dtnumba.export.pictures.node_columns import column, node_columns, vote_rule
from dtnumba.export.pictures.page_parts import Html, Page, shown, table_of_facts, written
from dtnumba.export.pictures.words import clean, isolated
from dtnumba.export.reading import SURE, ReadTrees, read
from dtnumba.prediction.confident_votes import EVEN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dtnumba.export.reading import Columns
    from dtnumba.tables.table import Table

_MOST_NODES = 200_000  # of the trees of a forest that a page holds unless told
_MOST_DRAWN = 400  # nodes of a graph that are drawn in layers whole
_MOST_ROWS, _MOST_CELLS = 200, 100_000  # of the table, to pick one from


def html(
    model: Any, X: Any = None, y: Any = None, *, title: str | None = None, n_trees: int | None = None,
    feature_names: Sequence[Any] | None = None, class_names: Sequence[Any] | None = None,
) -> Html:  # fmt: skip
    """Return a page that shows a fitted model, as one file without any outside address.

    A tree can be folded, searched by column or class, zoomed, printed and walked through with a row of values, by mouse
    and by keys. Rules are a table. It is a str: write it to a file, or let a notebook show it.

    Parameters
    ----------
    model : fitted estimator
        A tree, a forest, or a model of rules.
    X : array, frame or sparse matrix of shape (rows, features), optional
        Rows as in ``predict``. The page offers up to 200 of them, spread evenly, to be traced, and reports on all.
    y : array of shape (rows,) or (rows, outputs), optional
        The labels or values of the rows of ``X``: the report says how well they are predicted.
    title : str, optional
        What the page is called; the name of the learner by default.
    n_trees : int, optional
        How many trees of a forest, the first ones; by default as many as have 200,000 nodes, and at least one.
    feature_names : sequence, optional
        What columns are called on the page; by default as in ``fit``.
    class_names : sequence, optional
        What classes are called, in the order of ``classes_``; of several outputs a sequence for each.

    Examples
    --------
    >>> from dtnumba import DecisionTreeClassifier, export
    >>> page = export.html(DecisionTreeClassifier().fit([[1], [2], [8], [9]], ["low", "low", "high", "high"]))
    >>> page.startswith("<!DOCTYPE html>")
    True

    """
    if y is not None and X is None:
        raise ValueError("y: the labels of rows that are not there; pass X=, the rows, as well")
    read(model, sums=True)
    table = None if X is None else model.table_of(X)
    read_model = read(model, "float64" if table is None else f"float{table.bits}", sums=True)
    columns = renamed(read_model.columns, feature_names, class_names)
    read_model = read_model._replace(columns=columns)
    targets = None if y is None else _targets(y, table, model)
    title = type(model).__name__ if title is None else title
    report = "" if table is None else _report(model, table, targets, columns)
    if not isinstance(read_model, ReadTrees):
        from dtnumba.export.pictures.rule_table import rule_data, rule_table

        table_of_rules, data = rule_table(read_model), rule_data(read_model)
        about = "" if report else _about(model)
    else:
        table_of_rules, about, data = "", _about(model), _data(model, read_model, _n_trees(read_model, n_trees))
    data |= _words(columns)
    if table is not None:
        data["rows"] = _rows(table, targets)
    return written(Page(title, map(shown, facts_of(model)), about, table_of_rules, report, data))


def _report(model: Any, table: Table, targets: Any, columns: Columns) -> str:
    from dtnumba.export.pictures.report import report

    return report(model, table, targets, columns)


def _targets(y: Any, table: Any, model: Any) -> Any:
    from dtnumba.tables.labels import read_y

    return read_y(y, table.n_rows, type(model).__name__)


def _n_trees(read_model: ReadTrees, asked: int | None) -> int:
    trees = read_model.trees
    if asked is None:
        return max(1, int(np.searchsorted(trees.root[1:], _MOST_NODES, side="right")))
    if isinstance(asked, bool) or not isinstance(asked, (int, np.integer)) or not 1 <= asked <= trees.n_trees:
        raise ValueError(f"n_trees={asked!r}: must be a whole number from 1 to the {trees.n_trees} trees of the model")
    return int(asked)


def _words(columns: Columns) -> dict[str, Any]:
    """Return the words for columns, levels and classes as the page has them."""
    classes = columns.classes
    return {
        "names": [clean(name) for name in columns.names],
        "levels": [None if own is None else [clean(level) for level in own] for own in columns.levels],
        "classes": None if classes is None else [[clean(label) for label in own] for own in classes],
    }


def _data(model: Any, read_model: ReadTrees, n_trees: int) -> dict[str, Any]:
    rule = vote_rule(model, read_model)
    own = read_model.rule
    is_hard = read_model.is_mean and model._voting() != "soft"  # noqa: SLF001  as its predict asks
    return {
        "sizes": read_model.columns.sizes,
        "nTrees": read_model.trees.n_trees,
        "isCompact": read_model.trees.is_compact,
        "isMean": read_model.is_mean,
        "saysSecond": read_model.says_second and n_trees == read_model.trees.n_trees,
        "voting": SURE if read_model.are_sure else "hard" if is_hard else "soft",
        "even": EVEN if read_model.are_sure else None,
        "votingCosts": None if rule is None or not is_hard else rule.costs.tolist(),
        "costs": None if own is None else own.costs.tolist(),
        "labelFrom": read_model.label_from,
        "prior": None if read_model.prior is None else read_model.prior.tolist(),
        "impurity": "Impurity",
        "columns": node_columns(read_model, model, n_trees),
    }


def _rows(table: Table, targets: Any) -> dict[str, Any]:
    """Return some rows of a table, spread evenly, and what they are."""
    most = max(1, min(_MOST_ROWS, _MOST_CELLS // max(table.n_features, 1)))
    numbers = np.unique(np.linspace(0, table.n_rows - 1, min(most, table.n_rows)).astype(np.int64))
    n, p = len(numbers), table.n_features
    cells = table.values_at(np.repeat(numbers, p), np.tile(np.arange(p), n))
    said = None
    if targets is not None:
        said = [" · ".join(isolated(clean(value)) for value in row) for row in targets[numbers].tolist()]
    return {"numbers": numbers.tolist(), "x": column(cells), "y": said}


def _about(model: Any) -> str:
    notes = ""
    if getattr(model, "trees_", None) is not None and model.trees_.is_compact:
        notes = (
            "<p>compact() has dropped the rows, the weight and the impurity of every node, and what inner nodes "
            "hold: the page shows tests and leaves.</p>"
        )
    return f"{notes}{_layers(model)}<h2>Parameters</h2>{table_of_facts(parameters_of(model))}"


def _layers(model: Any) -> str:
    """Return a decision graph drawn in layers; the tree above it repeats what stands below several branches."""
    trees = getattr(model, "trees_", None)
    if trees is None or not trees.is_graph:
        return ""
    from dtnumba.export.as_svg import svg

    deepest = None if trees.n_nodes <= _MOST_DRAWN else 4
    picture = b64encode(svg(model, max_depth=deepest).encode()).decode()
    said = "all of it" if deepest is None else f"{deepest} tests deep"
    return (
        f"<h2>The graph in layers</h2><p>Each node once, {said}; the tree shows it once for every way that leads there."
        f'</p><img alt="The decision graph, its nodes in layers" src="data:image/svg+xml;base64,{picture}">'
    )
