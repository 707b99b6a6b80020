"""A tree as tables: a row a node, and a row a split, under the names of rpart's frame and splits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.export.reading import read_trees
from dtnumba.export.text_styles.competing import Competition
from dtnumba.export.text_styles.printed import Printed
from dtnumba.export.text_styles.rpart_summary import RpartSummary
from dtnumba.trees.records import records

if TYPE_CHECKING:
    from dtnumba.trees.records import Records


def _read(model: Any, caller: str, tree: int, rows: tuple[Any, ...] = (None,)) -> RpartSummary:
    printed = Printed(read_trees(model, caller), model, tree, caller=caller)
    return RpartSummary(printed, competition=None if rows[0] is None else Competition(printed, *rows))


def frame(model: Any, tree: int = 0) -> Records:
    """Return the nodes of a tree as a record array, in rpart's order and with its numbers; see its ``frame``.

    Parameters
    ----------
    model : fitted estimator
        Of trees of two children a node, of one output.
    tree : int
        Which tree of a forest.

    Returns
    -------
    Records
        ``number`` (the children of node k are 2 k and 2 k + 1), ``node`` (as in ``tree_``), ``depth``, ``var`` (the
        column that it tests, "<leaf>" of a leaf), ``split`` (how it is reached), ``n``, ``wt``, ``dev`` (what it loses
        as a leaf), ``yval``, ``complexity`` (the cp at which it becomes a leaf), ``nsurrogate``, and of classes a share
        of each, ``prob_...``. ``to_frame()`` is a frame of pandas.

    Examples
    --------
    >>> from dtnumba import DecisionTreeClassifier, export
    >>> table = export.frame(DecisionTreeClassifier().fit([[1], [2], [8]], ["low", "low", "high"]))
    >>> table["var"].tolist(), table.split.tolist(), table.n.tolist()
    (['x0', '<leaf>', '<leaf>'], ['root', 'x0>=5', 'x0< 5'], [3, 1, 2])

    """
    own = _read(model, "frame", tree)
    printed, lines, trees = own.printed, own.frame.lines, own.printed.trees
    nodes = np.array([line.node for line in lines])
    is_leaf = trees.feature[nodes] < 0
    inner = [None if leaf else printed.test(k) for k, leaf in zip(nodes.tolist(), is_leaf.tolist(), strict=True)]
    columns: dict[str, Any] = {
        "number": [line.number for line in lines],
        "node": nodes,
        "depth": [line.depth for line in lines],
        "var": ["<leaf>" if test is None else printed.names[test.feature] for test in inner],
        "split": [line.split for line in lines],
        "n": trees.n_samples[nodes],
        "wt": own.frame.weight[nodes],
        "dev": own.frame.loss()[nodes],
        "yval": printed.value[nodes, 0],
        "complexity": np.where(is_leaf, 0.0, own.complexity[nodes]),
        "nsurrogate": [0 if test is None else len(test.stand_ins) for test in inner],
    }
    if printed.classes is not None:
        columns["yval"] = [printed.classes[0][code] for code in printed.labels[nodes, 0].tolist()]
        columns |= {f"prob_{name}": printed.value[nodes, k] for k, name in enumerate(printed.classes[0])}
    return records(columns)


def splits(model: Any, X: Any = None, y: Any = None, sample_weight: Any = None, *, tree: int = 0) -> Records:
    """Return the splits of a tree as a record array: of each node the one it has, its rivals and its surrogates.

    Parameters
    ----------
    model, tree
        As of ``frame``.
    X, y, sample_weight : arrays, optional
        The rows of ``fit``, for competing splits, which are looked for again.

    Returns
    -------
    Records
        ``number`` and ``node`` (whose split it is), ``kind`` ("primary", "competing" or "surrogate"), ``var``,
        ``split`` (what goes to rpart's left child), ``improve`` (by the criterion, NaN of surrogates), ``agree`` and
        ``adj`` (of surrogates: the share of rows that go the same way, and that beyond sending all to the heavier
        child), ``count`` (rows without a value, or that a surrogate places; -1 where X is not given).

    """
    if (X is None) != (y is None):
        raise ValueError(f"splits: pass both X and y, got {'y' if X is None else 'X'} alone")
    own = _read(model, "splits", tree, (X, y, sample_weight))
    found = [
        (line, split.kind, split)
        for line in own.frame.lines
        if not own.printed.is_leaf(line.node)
        for split in own.splits(line.node)
    ]
    return records(
        {
            "number": [line.number for line, _, _ in found],
            "node": np.array([line.node for line, _, _ in found], np.int64),
            "kind": [kind for _, kind, _ in found],
            "var": [split.column for _, _, split in found],
            "split": [split.asked.replace("\x00", " ").rstrip(", ") for _, _, split in found],
            "improve": np.array([split.worth if kind != "surrogate" else np.nan for _, kind, split in found]),
            "agree": np.array([split.worth if kind == "surrogate" else np.nan for _, kind, split in found]),
            "adj": np.array([split.adjusted for _, _, split in found]),
            "count": np.array([-1 if split.n_rows is None else split.n_rows for _, _, split in found], np.int64),
        }
    )
