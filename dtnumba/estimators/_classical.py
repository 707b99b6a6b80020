"""What the learners of the textbooks share: one tree of classes, grown by their own rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dtnumba import rng
from dtnumba.binned_table import read_features
from dtnumba.categories import FROM_DTYPE
from dtnumba.estimators._parameters import CATEGORICAL_FEATURES, N_JOBS, PRUNER, parameter
from dtnumba.estimators._prunable import Grown, split_weight
from dtnumba.estimators.decision_tree import ClassTree
from dtnumba.tree_view import TreeView
from dtnumba.weights import fixed_weights, read_weight

if TYPE_CHECKING:
    from typing_extensions import Self

    from dtnumba.labels import Labels
    from dtnumba.trees import Trees


class ClassicalTree(ClassTree):
    """One tree of one output of classes, grown by rules of its own and pruned."""

    # What scikit-learn's trees have as parameters and these have not
    max_bins = None
    max_leaf_nodes: Any = None
    monotonic_cst = interaction_cst = None
    class_weight = priors = costs = None
    ccp_alpha = 0.0

    _grow: Any  # (table, known, weights) -> Trees

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # type: ignore[override]
        """Grow the tree.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (rows, features)
            Categories and numbers (see ``categorical_features``); NaN, None and a frame's nulls are missing values.
        y : array of shape (rows,)
            Labels of any hashable kind.
        sample_weight : array of shape (rows,) or number, optional
            What each row counts; rows of weight 0 do not influence anything.

        Returns
        -------
        estimator
            The estimator itself; as it was if anything fails.

        """
        self._check_params()
        table = read_features(X, type(self).__name__, None, self.categorical_features)
        known = self._read_y(y, table.n_rows)
        if len(known.sizes) > 1:
            raise ValueError(
                f"y has {len(known.sizes)} outputs: {type(self).__name__} learns one; fit one model for each column"
            )
        weight = read_weight(sample_weight, table.n_rows)
        trees = self._learned_tree(table, known, weight, (X, y, sample_weight), rng.seed_from(self.random_state))
        tree = TreeView(trees, table.n_features, known.sizes)
        return self._learn(table, **self._learned_from(known), tree_=tree)

    def __sklearn_tags__(self) -> Any:
        """Describe the classifier to scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags

    def _learned_tree(self, table: Any, known: Labels, weight: Any, given: Any, seed: int) -> Trees:
        """Return the tree of the rows of positive weight, pruned."""
        pruner = self._pruner()
        weight, set_aside = split_weight(pruner, weight, table.n_rows, seed)
        trees: Trees = self._grow(table, known, fixed_weights(weight, table.n_rows))
        if pruner is None:
            return trees
        judged = weight if set_aside is None else set_aside
        return self._pruned(pruner, trees, known.sizes, Grown(table, known, judged, given))


@dataclass(kw_only=True, eq=False, repr=False)
class ClassicalParams:
    """Parameters of every learner of one tree.

    Parameters
    ----------
    prune : str, an object of ``dtnumba.pruners`` or None
        How to prune the tree once it is grown.
    categorical_features : "from_dtype", list of names or indices, boolean mask or None
        Which columns are categories. "from_dtype": those of text and of a frame's categories. A list or a mask: those
        and no others, whatever their dtype. None: none.
    random_state : int, generator or None
        Seed of what is drawn: rows set aside, windows.
    n_jobs : int or None
        Threads; None is every core, but one inside a worker of another pool.

    """

    prune: Any = parameter(None, PRUNER)  # noqa: RUF009  a field
    categorical_features: Any = parameter(FROM_DTYPE, CATEGORICAL_FEATURES)  # noqa: RUF009
    random_state: Any = None
    n_jobs: int | None = parameter(None, N_JOBS)
