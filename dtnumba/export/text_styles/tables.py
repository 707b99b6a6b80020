"""A tree as tables: a row a node, and a row a split, under the names of rpart's frame and splits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.export.as_text import Told, feature_names_of
from dtnumba.export.reading import ExportError, read_trees
from dtnumba.export.text_styles.competing import Competition
from dtnumba.export.text_styles.printed import Printed
from dtnumba.export.text_styles.rpart import RpartFrame, RpartLine
from dtnumba.export.text_styles.rpart_summary import RpartSplit, RpartSummary
from dtnumba.pruners.engines.weakest_link import lost_as_leaf
from dtnumba.trees.records import records

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dtnumba.trees.records import Records


class _AnyFrame:
    """The nodes of a tree of any shape, from the root down, children under their parent in their own order.

    It is read as ``RpartFrame`` is, which numbers the nodes of trees of two children and one output.
    """

    def __init__(self, printed: Printed, told: Told, root: int) -> None:
        self.printed, self.told, self._root = printed, told, root
        self.is_classes, self.weight = printed.classes is not None, printed.trees.weight
        self.lines, waiting = list[RpartLine](), [(0, 0, "root")]
        while waiting:
            node, depth, split = waiting.pop()
            self.lines.append(RpartLine(len(self.lines) + 1, node, depth, split, is_cut=False))
            waiting += reversed([(child, depth + 1, words) for child, words in self.ways(node)])

    def ways(self, node: int) -> list[tuple[int, str]]:
        """Return the children of a node, each with what leads to it."""
        at = self._root
        return [(child - at, self.told.condition(node + at, child)) for child in self.told.children(node + at)]

    def order(self, _: int) -> list[int]:
        """Return the places of the first two children."""
        return [0, 1]

    def loss(self) -> Any:
        """Return what every node loses as a leaf."""
        costs = None if self.printed.rule is None else self.printed.rule.costs
        return lost_as_leaf(self.printed.trees, self.printed.sizes, costs, is_classes=self.is_classes)


def _read(
    model: Any, caller: str, tree: int, names: Sequence[str] | None, rows: tuple[Any, ...] = (None,)
) -> RpartSummary:  # fmt: skip
    found = read_trees(model, caller, sums=True, says_rows=True, indicators=True)
    names = feature_names_of(names, len(found.columns.names))
    printed = Printed(found, model, tree, names, caller=caller)
    is_rparts = len(printed.sizes) == 1 and not len(printed.with_more_children())
    if not is_rparts and rows[0] is not None:
        raise ExportError(
            f"{caller}: competing splits are looked for in trees of two children a node and of one output; "
            "leave out X and y"
        )
    told = None if is_rparts else Told(found, model, names)
    frame = RpartFrame(printed) if told is None else _AnyFrame(printed, told, told.roots(tree)[0])
    return RpartSummary(printed, competition=None if rows[0] is None else Competition(printed, *rows), frame=frame)


def frame(model: Any, tree: int = 0, *, feature_names: Sequence[str] | None = None) -> Records:
    """Return the nodes of a tree as a record array, under the names of rpart's ``frame``.

    Parameters
    ----------
    model : fitted estimator
        Of trees.
    tree : int
        Which tree of a forest.
    feature_names : sequence of str, optional
        What columns are called; by default as in ``fit``.

    Returns
    -------
    Records
        ``number`` and ``parent`` (of two children a node and one output rpart's numbers: the children of k are 2 k and
        2 k + 1, in rpart's order; of other trees the places of the rows below, from 1; the root has parent 0), ``node``
        (as in ``tree_``), ``depth``, ``var`` (the column or sum that it tests, "<leaf>" of a leaf), ``split`` (how it
        is reached), ``n``, ``wt``, ``dev`` (what it loses as a leaf), ``yval``, ``complexity`` (the cp at which it is
        a leaf), ``nsurrogate``, and of classes a share of each, ``prob_...``. Of several outputs there are ``yval_0``,
        ``prob_0_...`` and so on. ``to_frame()`` is a frame of pandas.

    Examples
    --------
    >>> from dtnumba import DecisionTreeClassifier, export
    >>> table = export.frame(DecisionTreeClassifier().fit([[1], [2], [8]], ["low", "low", "high"]))
    >>> table["var"].tolist(), table.split.tolist(), table.n.tolist()
    (['x0', '<leaf>', '<leaf>'], ['root', 'x0>=5', 'x0< 5'], [3, 1, 2])

    """
    own = _read(model, "frame", tree, feature_names)
    printed, lines, trees = own.printed, own.frame.lines, own.printed.trees
    nodes = np.array([line.node for line in lines])
    is_leaf = trees.feature[nodes] < 0
    inner = [None if leaf else printed.test(k) for k, leaf in zip(nodes.tolist(), is_leaf.tolist(), strict=True)]
    number, parent = np.array([line.number for line in lines]), np.zeros(trees.n_nodes, np.int64)
    for line in lines:
        parent[printed.children(line.node)] = line.number
    columns: dict[str, Any] = {
        "number": number,
        "parent": parent[nodes],
        "node": nodes,
        "depth": [line.depth for line in lines],
        "var": ["<leaf>" if printed.is_leaf(node) else printed.tested(node) for node in nodes.tolist()],
        "split": [line.split for line in lines],
        "n": trees.n_samples[nodes],
        "wt": own.frame.weight[nodes],
        "dev": own.frame.loss()[nodes],
    }
    first, several = np.concatenate([[0], np.cumsum(printed.sizes)]).tolist(), len(printed.sizes) > 1
    for o in range(len(printed.sizes)):
        value = printed.value[nodes, first[o]]
        if printed.classes is not None:
            value = [printed.classes[o][code] for code in printed.labels[nodes, o].tolist()]
        columns[f"yval_{o}" if several else "yval"] = value
    columns["complexity"] = np.where(is_leaf, 0.0, own.complexity[nodes])
    columns["nsurrogate"] = [0 if test is None else len(test.stand_ins) for test in inner]
    for o, classes in enumerate(printed.classes or ()):
        start = f"prob_{o}_" if several else "prob_"
        columns |= {f"{start}{name}": printed.value[nodes, first[o] + k] for k, name in enumerate(classes)}
    return records(columns)


def splits(
    model: Any, X: Any = None, y: Any = None, sample_weight: Any = None, *, tree: int = 0,
    feature_names: Sequence[str] | None = None,
) -> Records:  # fmt: skip
    """Return the splits of a tree as a record array: of each node the one it has, its rivals and its surrogates.

    Parameters
    ----------
    model, tree, feature_names
        As of ``frame``.
    X, y, sample_weight : arrays, optional
        The rows of ``fit``, for competing splits, which are looked for again, in trees of two children a node and of
        one output.

    Returns
    -------
    Records
        ``number`` and ``node`` (whose split it is), ``kind`` ("primary", "competing" or "surrogate"), ``var``,
        ``split`` (what goes to rpart's left child, in trees of other shapes the first one; of more children what leads
        to each), ``improve`` (by the criterion, NaN of surrogates), ``agree`` and ``adj`` (of surrogates: the share of
        rows that go the same way, and that beyond sending all to the heavier child), ``count`` (rows without a value,
        or that a surrogate places; -1 where X is not given).

    """
    if (X is None) != (y is None):
        raise ValueError(f"splits: pass both X and y, got {'y' if X is None else 'X'} alone")
    own = _read(model, "splits", tree, feature_names, (X, y, sample_weight))
    found = [
        (line, split.kind, split)
        for line in own.frame.lines
        if not own.printed.is_leaf(line.node)
        for split in _splits_of(own, line.node)
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


def _splits_of(own: RpartSummary, node: int) -> list[RpartSplit]:
    """Return the splits of a node; of more children than two, its own one alone."""
    if not isinstance(own.frame, _AnyFrame) or len(own.printed.children(node)) == 2:
        return own.splits(node)
    column, ways = own.printed.tested(node), own.frame.ways(node)
    asked = "; ".join(words for _, words in ways)
    return [RpartSplit(column, asked, is_number=False, worth=own.improves(node), adjusted=np.nan, kind="primary")]
