"""Error against size: how a tree does in training and on held-out rows while it grows leaf by leaf.

Best first, the node of largest gain is divided next; so the trees of 1, 2, 3, ... leaves are nested, and each is the
one that ``max_leaf_nodes`` gives. A grown tree holds all of them: only the order of
its divisions has to be found again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.trees.layout import LEAF
from dtnumba.trees.subtrees import depth_levels, nested_sums
from dtnumba.validation.early_stopping import expansions
from dtnumba.validation.folds import Split
from dtnumba.validation.held_out_predictions import folds_of
from dtnumba.validation.model_protocol import ModelProtocol
from dtnumba.validation.node_losses import loss_of, losses_by_node, predicted_by_node, target_of_rows
from dtnumba.validation.refits import Refits, unpruned
from dtnumba.validation.scoring import MEASURES

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class ComplexityCurve:
    """Error against size, a number a size.

    Sizes are numbers of leaves. Errors are means over folds, and over rows by weight. The arrays are equally long.

    Parameters
    ----------
    loss : str
        What an error is: "error" (share of wrong labels), "cost" (what they cost, where the model has costs), "mse"
        or "mae".
    sizes : array of int
        Leaves: 1, 2, ... up to those of the largest tree of a fold. A tree that has fewer counts with all it has.
    train_error, validation_error : array
        On the rows that each tree was grown on, and on those that its fold held out: means over the folds.
    validation_standard_error : array
        The standard deviation of ``validation_error`` between folds over the root of their number; NaN of one fold.

    """

    loss: str
    sizes: NDArray[np.int64]
    train_error: NDArray[np.float64]
    validation_error: NDArray[np.float64]
    validation_standard_error: NDArray[np.float64]

    @property
    def best_size(self) -> int:
        """The smallest size of least validation error."""
        return int(self.sizes[self.validation_error.argmin()])

    def plot(self, ax: Any = None) -> Any:
        """Draw both errors against size with matplotlib, as ``dtnumba.plot.pruning`` does; return the axes.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; new axes by default.

        """
        from dtnumba.validation.size_figure import draw_errors, new_axes

        errors = self.train_error, self.validation_error, self.validation_standard_error
        return draw_errors(new_axes() if ax is None else ax, self.sizes, *errors, self.loss)


def complexity_curve(
    model: Any, X: Any, y: Any, cv: Any = 10, *, X_val: Any = None, y_val: Any = None, sample_weight: Any = None,
    n_jobs: int | None = None, client: Any = None,
) -> ComplexityCurve:  # fmt: skip
    """Return training and validation error of a tree against its number of leaves, for the price of one fit a fold.

    The size s stands for the tree that ``max_leaf_nodes=s`` grows; the other limits of the model hold, and its pruning
    is left aside.

    Parameters
    ----------
    model : DecisionTreeClassifier, DecisionTreeRegressor or another tree of one
        The tree; it stays as it is.
    X, y, sample_weight : arrays
        As ``fit`` takes them.
    cv : int, "loo" or given folds
        As ``cv`` of ``cross_validate``, or a number of folds, which are dealt by the model's ``random_state``.
    X_val, y_val : arrays, optional
        Rows to validate on in place of folds: one tree is grown, on all of X.
    n_jobs : int or None
        Threads.
    client : distributed.Client, optional
        A Dask cluster whose workers fit, in place of threads here; the numbers are the same.

    Returns
    -------
    ComplexityCurve
        The sizes and both errors; its ``plot()`` draws them.

    Examples
    --------
    >>> from dtnumba import DecisionTreeClassifier, validation
    >>> X = [[i, i * 37 % 50] for i in range(200)]
    >>> y = [int(i > 99) if i % 9 else 0 for i in range(200)]
    >>> curve = validation.complexity_curve(DecisionTreeClassifier(), X, y, cv=5)
    >>> curve.best_size
    2

    """
    if not (isinstance(model, ModelProtocol) and hasattr(model, "cost_complexity_pruning_path")):
        raise TypeError(
            f"model: {type(model).__name__} is not one tree of this library, whose leaves can be counted; pass e.g. "
            "DecisionTreeClassifier()"
        )
    if (X_val is None) != (y_val is None):
        raise ValueError(f"pass both X_val and y_val, got {'y_val' if X_val is None else 'X_val'} = None")
    refits = Refits(unpruned(model), X, y, sample_weight, n_jobs, client)
    losses = _Losses(refits)
    if X_val is None:
        folds = folds_of(cv, refits, X, y)
        curves = refits.each(folds, losses.curves)
    else:
        everything = np.arange(refits.n_rows)
        (fitted,) = refits.each([Split(everything, everything[:0])], lambda _index, _split, fitted: fitted)
        table, outcome = fitted.read_known(X_val, y_val)
        curves = [losses.curves_of(fitted, everything, table, target_of_rows(outcome))]
    most = max(len(train) for train, _ in curves)
    train, held = (np.stack([np.pad(c[k], (0, most - len(c[k])), "edge") for c in curves]) for k in range(2))
    error = held.std(axis=0, ddof=1) / np.sqrt(len(held)) if len(held) > 1 else np.full(most, np.nan)
    return ComplexityCurve(losses.name, np.arange(1, most + 1), train.mean(axis=0), held.mean(axis=0), error)


class _Losses:
    """The errors of all sizes of a tree, on any rows."""

    def __init__(self, refits: Refits) -> None:
        self._refits = refits
        outcome: Any = refits.outcome
        self._target = target_of_rows(outcome)
        rule = refits.model.class_costs(outcome).rule
        self._loss = loss_of(outcome, refits.model.criterion, rule)
        name = "mae" if self._loss is MEASURES["mae"].rows else "mse"
        self.name = name if not refits.is_classes else "error" if rule is None else "cost"

    def curves(self, _: int, split: Split, fitted: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return (training, validation) errors of the sizes of the tree fitted to a fold."""
        rows = split.test
        weight = None if self._refits.weight is None else self._refits.weight[rows]
        return self.curves_of(fitted, split.train, self._refits.features(rows, fitted), self._target[rows], weight)

    def curves_of(
        self, fitted: Any, train: NDArray[np.int64], table: Any, target: NDArray[Any], weight: Any = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return (training, validation) errors of the sizes of a tree grown on ``train``, for given rows held out."""
        trees, refits = fitted.trees_, self._refits
        levels, rank = depth_levels(trees), np.zeros(trees.n_nodes, np.int64)
        order = expansions(trees, trees.feature != LEAF, trees.n_nodes)[0]
        rank[order] = np.arange(len(order))
        values = predicted_by_node(fitted, refits.outcome)
        own = None if refits.weight is None else refits.weight[train]
        parts = ((refits.features(train), self._target[train], own), (table, target, weight))
        curves = []
        for features, truth, w in parts:
            count = np.ones(len(truth)) if w is None else w
            leaves = fitted.tree_.leaves(features, 1)

            def loss(rows: Any, nodes: Any, truth: Any = truth) -> NDArray[np.float64]:
                return self._loss(truth[rows], values[nodes])

            lost, _ = losses_by_node(trees, levels, leaves, loss, count)
            marks = -np.arange(trees.n_leaves)  # s leaves keep the first s - 1 divisions
            curves.append(nested_sums(trees, levels, -rank, lost, marks) / count.sum())
        return curves[0], curves[1]
