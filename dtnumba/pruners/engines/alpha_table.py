"""The choice of alpha: each nested subtree scored on folds, for the price of one growth a fold.

A fold's tree is grown once, and its held-out rows descend it once. What they lose at every node they pass gives the
loss of every subtree of its own path. The subtree of the whole table for alphas from a to b is held against a fold's
subtree for sqrt(a b), as rpart does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.pruners.engines.weakest_link import SAME, impurity_risk, links_of, lost_as_leaf, steps_of
from dtnumba.trees.r_numbers import columns_of, matrix, words_row
from dtnumba.trees.subtrees import depth_levels, nested_sums
from dtnumba.validation.folds import Folds
from dtnumba.validation.held_out_predictions import folds_of
from dtnumba.validation.node_losses import loss_of, losses_by_node, predicted_by_node, target_of_rows, values_by_node
from dtnumba.validation.refits import Refits, unpruned
from dtnumba.validation.size_figure import new_axes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.trees.layout import Trees
    from dtnumba.validation.folds import Split

_MOST_TICKS = 7  # subtrees that are named at the axes: more names would cover each other


@dataclass(frozen=True, eq=False)
class AlphaTable:
    """A row for each subtree of a path, from the whole tree to the root alone.

    Parameters
    ----------
    alpha : array
        From where on the subtree is the best one: in impurity, or in risk relative to the root (rpart's CP).
    n_leaves : array of int
        Its leaves; rpart's nsplit is one less.
    risk : array
        Its risk in training, in the same unit (rpart's rel error).
    error : array
        Mean loss of held-out rows, or where alpha is relative, its ratio to the loss of the root (rpart's xerror).
    standard_error : array
        Of ``error`` (rpart's xstd).
    is_relative : bool
        Whether alpha is relative, as rpart's.
    head : tuple of str
        What the table is of: lines that ``str`` puts above it, as rpart's printcp.

    """

    alpha: NDArray[np.float64]
    n_leaves: NDArray[np.int64]
    risk: NDArray[np.float64]
    error: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    is_relative: bool = False
    head: tuple[str, ...] = ()

    def choice(self, rule: str) -> int:
        """Return the row of the least error ("0se"), or of the smallest tree within one standard error of it ("1se").

        Of equals the smallest tree.
        """
        best = self.error.min() * (1.0 + SAME)
        row = int(np.flatnonzero(self.error <= best)[-1])
        if rule == "1se":
            row = int(np.flatnonzero(self.error <= best + self.standard_error[row])[-1])
        return row

    def lines(self, digits: int = 5) -> list[str]:
        """Return the table as rpart prints it: the largest alpha first, with the splits of its subtree."""
        names = ["CP", "nsplit", "rel error", "xerror", "xstd"]
        if not self.is_relative:
            names = ["alpha", "nsplit", "impurity", "error", "std"]
        columns = (self.alpha, self.n_leaves - 1, self.risk, self.error, self.standard_error)
        return matrix(names, [column[::-1].tolist() for column in columns], digits)

    def __str__(self) -> str:
        """Return what rpart's printcp prints."""
        return "\n".join([*self.head, *self.lines()])

    def plot(self, ax: Any = None) -> Any:
        """Draw the error of held-out rows against alpha as rpart's plotcp does, with matplotlib; return the axes.

        Each subtree stands at the mean of the alphas for which it is the best one, and above it the number of its
        leaves. The dashed line is one standard error above the least error.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; new axes by default.

        """
        ax = new_axes() if ax is None else ax
        alpha, error, spread = (column[::-1] for column in (self.alpha, self.error, self.standard_error))
        means = np.sqrt(np.append(np.inf, alpha[1:] * alpha[:-1]))
        at = np.arange(len(alpha))
        ax.errorbar(at, error, yerr=spread, marker="o", capsize=2)
        best = int(error.argmin())
        ax.axhline(error[best] + spread[best], linestyle="--", linewidth=1, color="grey")
        shown = np.unique(np.linspace(0, len(at) - 1, min(_MOST_TICKS, len(at))).astype(np.int64))
        ax.set_xticks(shown, ["Inf" if mean == np.inf else f"{mean:.2g}" for mean in means[shown]])
        ax.set_xlabel("cp" if self.is_relative else "alpha")
        ax.set_ylabel("X-val Relative Error" if self.is_relative else "error of held-out rows")
        top = ax.secondary_xaxis("top")
        top.set_xticks(shown, [str(int(n)) for n in self.n_leaves[::-1][shown]])
        top.set_xlabel("size of tree")
        return ax


def alpha_table(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    cv: Any = 10,
    *,
    relative: bool = False,
    trees: Trees | None = None,
    floor: float = 0.0,
) -> AlphaTable:
    """Return the table of a model's path, scored on folds.

    Parameters
    ----------
    model : estimator
        A tree of this library; its pruning is left aside.
    X, y, sample_weight : arrays
        The rows.
    cv : int, "loo" or given folds
        As in ``cross_validate``.
    relative : bool
        Alpha in risk relative to the root, not in impurity.
    trees : Trees, optional
        The tree of all rows; grown if not given.
    floor : float
        Subtrees for smaller alphas are left out.

    """
    whole = unpruned(model)
    refits = Refits(whole, X, y, sample_weight, model.n_jobs)
    if trees is None:
        trees = whole.fit(X, y, sample_weight).trees_
    losses, levels = _Losses(refits, model), depth_levels(trees)
    whole_risk = lost_as_leaf(trees, refits.outcome.sizes, losses.costs, is_classes=refits.is_classes)[0]
    lost_by_root = float(whole_risk)
    whole_risk /= losses.weight_of()

    def risk_of(
        some: Trees, sizes: list[int], costs: Any, rows: NDArray[np.int64] | None = None
    ) -> NDArray[np.float64]:
        if not relative:
            return impurity_risk(some)
        lost = lost_as_leaf(some, sizes, costs, is_classes=refits.is_classes)
        return np.asarray(lost / losses.weight_of(rows) / (whole_risk or 1.0))  # relative to the root of all rows

    risk = risk_of(trees, refits.outcome.sizes, losses.costs)
    links = links_of(trees, risk, levels)
    alpha = steps_of(links, floor)
    marks = np.append(np.sqrt(alpha[:-1] * alpha[1:]), 10.0 * alpha[-1])  # the root is best from its own alpha on

    def work(_: int, split: Split, fitted: Any) -> list[NDArray[np.float64]]:
        own = fitted.trees_
        own_levels = depth_levels(own)
        costs = None if fitted.label_rule is None else fitted.label_rule.costs
        own_risk = risk_of(own, fitted.target_seen.sizes, costs, split.train)
        at = links_of(own, own_risk, own_levels).at
        lost = losses.by_node(fitted, own_levels, split.test)
        return [nested_sums(own, own_levels, at, sums, marks) for sums in lost]

    folds = folds_of(cv, refits, X, y)
    total, squares = np.sum(refits.each(folds, work), axis=0)
    counted = losses.counted(folds)
    unit = counted * losses.at_root(trees) if relative else counted
    here = alpha * (1.0 + SAME)
    n_leaves = nested_sums(trees, levels, links.at, np.ones(trees.n_nodes), here)
    error = np.sqrt(np.maximum(squares - total * total / counted, 0.0)) / unit
    kept_risk = nested_sums(trees, levels, links.at, risk, here)
    head = _head_of(refits.names, trees, lost_by_root, refits.n_rows, is_classes=refits.is_classes)
    return AlphaTable(alpha, np.rint(n_leaves).astype(np.int64), kept_risk, total / unit, error, relative, head)


def _head_of(names: Any, trees: Trees, loss: float, n_rows: int, *, is_classes: bool) -> tuple[str, ...]:
    """Return what printcp says above its table: the columns that are asked, and what the root loses."""
    used = np.unique(trees.feature[trees.feature >= 0]).tolist()
    words = sorted(f"x{j}" if names is None else str(names[j]) for j in used)
    lost, mean = columns_of([loss], 5)[0], columns_of([loss / n_rows], 5)[0]
    asked = ["Variables actually used in tree construction:", *words_row(words), ""] if words else []
    kind = "Classification" if is_classes else "Regression"
    return ("", f"{kind} tree:", *asked, f"Root node error: {lost}/{n_rows} = {mean}", "", f"n= {n_rows} ", "")


class _Losses:
    """What rows lose by what nodes say of them; weights, priors and costs of classes are part of it, as of risk."""

    def __init__(self, refits: Refits, model: Any) -> None:
        self._refits, self._outcome = refits, refits.outcome
        outcome: Any = refits.outcome
        class_costs = model.class_costs(outcome)
        self._rule = class_costs.rule
        self.costs = None if class_costs.rule is None else class_costs.rule.costs
        self._truth = target_of_rows(outcome)
        self._loss = loss_of(outcome, model.criterion, class_costs.rule)
        self._weight = np.ones(refits.n_rows) if refits.weight is None else refits.weight
        of_class, by_priors = model.row_weights(outcome, None), class_costs.by_priors(outcome, refits.weight)
        self._of_class = np.ones(refits.n_rows) if of_class is None else of_class
        if by_priors is not None:
            self._of_class = self._of_class * by_priors[outcome.codes[:, 0]]

    def by_node(self, fitted: Any, levels: Any, rows: NDArray[np.int64]) -> tuple[NDArray[np.float64], ...]:
        """Return the sums of loss and of squared loss of some rows at every node of a fitted tree."""
        values = predicted_by_node(fitted, self._outcome)
        features = self._refits.features(rows, fitted)
        leaves = fitted.tree_.leaves(features, 1) if self._refits.is_ours else fitted.apply(features)
        truth, of_class = self._truth[rows], self._of_class[rows]

        def loss(some: NDArray[np.int64], nodes: NDArray[np.int64]) -> NDArray[np.float64]:
            return self._loss(truth[some], values[nodes]) * of_class[some]

        return losses_by_node(fitted.trees_, levels, leaves, loss, self._weight[rows])

    def at_root(self, trees: Trees) -> float:
        """Return the mean loss of all rows by what the root says; 1 where it loses nothing."""
        values = values_by_node(trees, getattr(self._outcome, "classes", None), self._outcome, self._rule)
        lost = self._loss(self._truth, np.repeat(values[:1], len(self._truth), axis=0))
        return float(lost @ (self._weight * self._of_class) / self._weight.sum()) or 1.0

    def weight_of(self, rows: NDArray[np.int64] | None = None) -> float:
        """Return the weight of some rows, or of all."""
        return float((self._weight if rows is None else self._weight[rows]).sum())

    def counted(self, folds: list[Split] | Folds) -> float:
        """Return the weight of all held-out rows."""
        if isinstance(folds, Folds):
            return float(self._weight[folds.fold_of[0] >= 0].sum())
        return float(sum(self._weight[split.test].sum() for split in folds))
