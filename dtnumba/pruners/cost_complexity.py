"""Cost-complexity pruning (Breiman et al. 1984), with a given alpha or one that folds choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dtnumba.pruners.contract import Pruner, pruner
from dtnumba.pruners.engines.weakest_link import SAME, cut_weak, impurity_risk, relative_risk

if TYPE_CHECKING:
    from dtnumba.pruners.contract import PruningContext
    from dtnumba.pruners.engines.alpha_table import AlphaTable
    from dtnumba.trees.layout import Trees


@pruner("cost_complexity")
@dataclass(frozen=True)
class CostComplexity(Pruner):
    """Keep the subtree that minimises risk + alpha * leaves.

    Parameters
    ----------
    alpha : float or None
        In impurity, as scikit-learn's ``ccp_alpha``. With both at None, folds choose it.
    cp : float, "cv" or None
        In its place, in risk relative to the root, as rpart's ``cp``: the weight of wrong labels for classes, the
        deviance (weighted impurity) for numbers. "cv": folds choose it.
    cv : int, "loo" or given folds
        The folds that choose: a number (dealt by the model's ``random_state``, classes alike), "loo", the number of the
        fold of each row, or pairs (rows to fit, rows to try). Each fold costs one growth. Held-out rows are scored by
        wrong labels, by squared error, or with ``criterion="absolute_error"`` by absolute error.
    rule : "1se" or "0se"
        The smallest tree whose error is at most one standard error above the least one, or the least one itself.

    """

    alpha: float | None = None
    cp: float | str | None = None
    cv: Any = 10
    rule: str = "1se"

    which_rows: ClassVar[str] = (
        "Folds of the rows that the trees were grown on choose alpha; or give alpha= (impurity) or cp= (relative risk)."
    )

    def __post_init__(self) -> None:
        """Check the options."""
        if self.alpha is not None and self.cp is not None:
            raise ValueError(f"CostComplexity: alpha={self.alpha!r} and cp={self.cp!r} are two units of one: pass one")
        for name, value in (("alpha", self.alpha), ("cp", self.cp)):
            if value is None or (name == "cp" and isinstance(value, str) and value == "cv"):
                continue
            more = ', "cv"' if name == "cp" else ""
            if isinstance(value, (bool, str)) or not isinstance(value, (int, float, np.number)):
                raise TypeError(f"CostComplexity: {name}={value!r}: must be a finite number >= 0{more} or None")
            if not (np.isfinite(value) and value >= 0):
                raise ValueError(f"CostComplexity: {name}={value!r}: must be a finite number >= 0{more} or None")
        if self.rule not in {"0se", "1se"}:
            raise ValueError(f"CostComplexity: rule={self.rule!r}: must be '0se' or '1se'")
        is_count = isinstance(self.cv, (int, np.integer))
        if isinstance(self.cv, bool) or (is_count and self.cv < 2) or (isinstance(self.cv, str) and self.cv != "loo"):
            raise ValueError(f"CostComplexity: cv={self.cv!r}: must be a number of folds of at least 2, 'loo' or folds")

    @property
    def needs_rows(self) -> bool:
        """Whether folds choose."""
        return self.alpha is None and (self.cp is None or self.cp == "cv")

    @property
    def _is_relative(self) -> bool:
        return self.cp is not None

    def table(self, model: Any, X: Any, y: Any, sample_weight: Any = None) -> AlphaTable:
        """Return the path of the tree that a model grows on some rows, each subtree scored on the folds."""
        from dtnumba.pruners.engines.alpha_table import alpha_table

        return alpha_table(model, X, y, sample_weight, self.cv, relative=self._is_relative)

    def pruned(self, context: PruningContext) -> Trees:
        """Return the subtrees for alpha."""
        trees, given = context.trees, self.cp if self.alpha is None else self.alpha
        alpha = self._chosen(context) if given is None or isinstance(given, str) else float(given)
        if self._is_relative:
            risk = relative_risk(trees, context.sizes, context.costs, is_classes=context.is_classes)
        else:
            risk = impurity_risk(trees)
        return cut_weak(trees, risk, alpha * (1.0 + SAME), context.levels)

    def _chosen(self, context: PruningContext) -> float:
        if context.trees.n_trees > 1:
            raise ValueError(
                f"prune={self!r}: folds choose alpha for one tree, and {type(context.model).__name__} holds "
                f"{context.trees.n_trees}; pass CostComplexity(alpha=...) or CostComplexity(cp=...)"
            )
        assert context.given is not None
        assert context.rows is not None
        n_rows = len(context.rows.weight)
        if isinstance(self.cv, (int, np.integer)) and self.cv > n_rows:
            raise ValueError(
                f"prune={self!r}: folds choose alpha, and cv={self.cv}: must be at most the number of rows, which is "
                f"{n_rows}; pass fewer folds, as CostComplexity(cv='loo') does, or CostComplexity(alpha=...)"
            )
        from dtnumba.pruners.engines.alpha_table import alpha_table

        table = alpha_table(context.model, *context.given, self.cv, relative=self._is_relative, trees=context.trees)
        return float(table.alpha[table.choice(self.rule)])
