"""The loss of every node of a tree on some rows, if it were a leaf: rows are routed once, and scored at each node.

So all nested subtrees of a tree are scored by one descent of the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.tables.labels import Labels
from dtnumba.trees.subtrees import parents
from dtnumba.validation.scoring import absolute_errors, squared_errors

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from dtnumba.tables.costs import LeastCost
    from dtnumba.trees.layout import Trees
    from dtnumba.trees.subtrees import Level


def target_of_rows(outcome: Any) -> NDArray[Any]:
    """Return the target of rows, a column an output: the codes of Labels, or the numbers of Values."""
    return np.asarray(outcome.codes if isinstance(outcome, Labels) else outcome.y)


def values_by_node(
    trees: Trees, classes: list[NDArray[Any]] | None, outcome: Any, rule: LeastCost | None = None
) -> NDArray[Any]:
    """Return what every node predicts, a column an output: numbers, or codes among the classes of ``outcome``.

    ``classes`` are those that the tree knows, which a fit to some of the rows may lack some of, and ``rule`` is how it
    labels; None: by the commonest.
    """
    if classes is None:
        return trees.value
    columns, stop = [], 0
    for own, all_of_them in zip(classes, outcome.classes, strict=True):
        start, stop = stop, stop + len(own)
        shares = trees.value[:, start:stop]
        codes = shares.argmax(axis=1) if rule is None else rule.codes(shares)
        if len(own) < len(all_of_them):
            place = {label: k for k, label in enumerate(all_of_them.tolist())}
            codes = np.array([place[label] for label in own.tolist()])[codes]
        columns.append(codes)
    return np.stack(columns, axis=1)


def predicted_by_node(fitted: Any, outcome: Any) -> NDArray[Any]:
    """Return what every node of a fitted tree predicts, as ``values_by_node`` does."""
    classes = fitted.target_seen.classes if isinstance(outcome, Labels) else None
    return values_by_node(fitted.trees_, classes, outcome, fitted.label_rule)


def loss_of(
    outcome: Any, criterion: Any, rule: LeastCost | None = None
) -> Callable[[NDArray[Any], NDArray[Any]], NDArray[np.float64]]:
    """Return the loss of rows of targets and of predictions: wrong labels or costs, squares, distances for medians."""
    if rule is not None:
        return lambda truth, predicted: rule.costs[truth[:, 0], predicted[:, 0]]
    if isinstance(outcome, Labels):
        return lambda truth, predicted: (truth != predicted).any(axis=1).astype(np.float64)
    return absolute_errors if criterion == "absolute_error" else squared_errors


def losses_by_node(
    trees: Trees,
    levels: list[Level],
    leaves: NDArray[np.int64],
    loss: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float64]],
    weight: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return for every node the sums of loss and of squared loss over the rows that pass it; a pass per level.

    Parameters
    ----------
    trees, levels : Trees, list of Level
        One tree, level by level.
    leaves : array of shape (rows,)
        The leaf of every row.
    loss : function
        Of numbers of rows and of the nodes they stand at: what each row loses there.
    weight : array of shape (rows,)
        What each row counts.

    """
    parent, m = parents(trees, levels), trees.n_nodes
    total, squares = np.zeros(m), np.zeros(m)
    rows, at = np.arange(len(leaves)), leaves
    while len(rows):
        lost = loss(rows, at)
        total += np.bincount(at, weights=lost * weight[rows], minlength=m)
        squares += np.bincount(at, weights=lost * lost * weight[rows], minlength=m)
        at = parent[at]
        goes_on = at >= 0
        rows, at = rows[goes_on], at[goes_on]
    return total, squares
