"""What every node of a tree would lose on some rows if it were a leaf: routed once, scored at every node passed.

So all nested subtrees of a tree are scored by one descent of the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.labels import Labels
from dtnumba.scoring import absolute_errors, squared_errors
from dtnumba.subtrees import parents

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from dtnumba.costs import LeastCost
    from dtnumba.subtrees import Level
    from dtnumba.trees import Trees


def says_by_node(
    trees: Trees, classes: list[NDArray[Any]] | None, known: Any, rule: LeastCost | None = None
) -> NDArray[Any]:
    """Return what every node predicts, a column an output: numbers, or codes among the classes of ``known``.

    ``classes`` are those that the tree knows, which a fit to some of the rows may lack some of, and ``rule`` is how it
    labels; None: by the commonest.
    """
    if classes is None:
        return trees.value
    columns, stop = [], 0
    for own, all_of_them in zip(classes, known.classes, strict=True):
        start, stop = stop, stop + len(own)
        shares = trees.value[:, start:stop]
        codes = shares.argmax(axis=1) if rule is None else rule.codes(shares)
        if len(own) < len(all_of_them):
            place = {label: k for k, label in enumerate(all_of_them.tolist())}
            codes = np.array([place[label] for label in own.tolist()])[codes]
        columns.append(codes)
    return np.stack(columns, axis=1)


def loss_of(
    known: Any, criterion: Any, rule: LeastCost | None = None
) -> Callable[[NDArray[Any], NDArray[Any]], NDArray[np.float64]]:
    """Return the loss of rows of targets and of predictions: wrong labels or costs, squares, distances for medians."""
    if rule is not None:
        return lambda truth, said: rule.costs[truth[:, 0], said[:, 0]]
    if isinstance(known, Labels):
        return lambda truth, said: (truth != said).any(axis=1).astype(np.float64)
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
    trees : Trees
        One tree.
    levels : list of Level
        Its levels.
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
