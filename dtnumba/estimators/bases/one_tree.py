"""Models of one tree: their answers, and the rules of a tree of classes."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.estimators.bases.estimator import Classifier, Regressor
from dtnumba.estimators.bases.prunable import Prunable
from dtnumba.prediction.tree_view import TreeView

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self

    from dtnumba.estimators.rule_set import RuleSetClassifier
    from dtnumba.prediction.row_predictor import RowPredictor
    from dtnumba.pruners.engines.weakest_link import PruningPath
    from dtnumba.trees.layout import Trees


class OneTree(Prunable):
    """A model of one tree.

    Attributes
    ----------
    tree_ : TreeView
        The tree under scikit-learn's column names.

    """

    tree_: TreeView

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> PruningPath:
        """Return the alphas at which the tree of some rows loses a link, and the impurities of what is left.

        Parameters
        ----------
        X, y, sample_weight : arrays
            As in ``fit``. The estimator stays as it is, and its own pruning is left aside.

        Returns
        -------
        PruningPath
            ``ccp_alphas``, ascending from 0, and ``impurities`` of the leaves, as scikit-learn's. Any of the alphas
            serves as ``ccp_alpha``.

        """
        model = copy.copy(self)
        model.ccp_alpha, model.prune = 0.0, None
        from dtnumba.pruners.engines.weakest_link import pruning_path

        return pruning_path(model.fit(X, y, sample_weight).trees_)

    def apply(self, X: Any, check_input: bool = True) -> NDArray[np.int64]:
        """Return the id of the leaf that every row ends in."""
        table = self.table_of(X)
        return self.tree_.leaves(table, self.n_jobs)

    def decision_path(self, X: Any, check_input: bool = True) -> Any:
        """Return a SciPy CSR matrix (rows, nodes) with ones at the nodes that a row passes."""
        table = self.table_of(X)
        return self.tree_.paths_of(table, self.n_jobs)

    def get_depth(self) -> int:
        """Return the number of tests on the longest path."""
        return int(self.depth_)

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        return int(self.n_leaves_)

    def compile_predictor(self) -> RowPredictor:
        """Return a function ``p(row, out=None)`` that answers one row in microseconds.

        Its answer is a row of ``predict_proba`` or of ``predict`` of a regressor, to the bit, several outputs end to
        end. Fitting the model again does not change it. Only the length of the row is checked.
        """
        return self.check_fitted().tree_.row_predictor()

    def compact(self) -> Self:
        """Drop the columns that only explain the tree, for good; return the estimator.

        What predicts stays, and so does ``feature_importances_``. What reads impurities, counts of rows or values of
        inner nodes raises afterwards.
        """
        self.tree_ = self.check_fitted().tree_.compact()
        return self

    def risk_bound(self, delta: float = 0.05, code: str = "notes") -> float:
        """Return a bound on the true error: with probability 1 - delta over the rows of ``fit`` it is not above this.

        ``errors / m + sqrt(((n + 1) log2(d + 3) + ln(2 / delta)) / (2 m))`` for a tree of n nodes over d columns, grown
        on rows of weight m (Shalev-Shwartz & Ben-David 2014, equation 18.1). With costs, on the mean cost: errors count
        what they cost, and the root is multiplied by the highest cost.

        Parameters
        ----------
        delta : float
            Between 0 and 1.
        code : "notes" or "mdl"
            How many bits the tree takes: as in the equation, which is proven for columns of 0 and 1, or with its
            thresholds and groups of categories (see ``pruners.Bound``).

        """
        trees = self.check_fitted().trees_
        self.refuse_compact("risk_bound")
        from dtnumba.pruners.bound import risk_bound

        context = self._context(trees, self.columns_seen, self.target_seen, self.label_rule)
        return risk_bound(context, delta, code)

    def _with_trees(self, trees: Trees) -> Self:
        model = copy.copy(self)
        model.tree_ = TreeView(trees, self.tree_.n_features, self.target_seen.sizes)
        return model

    @property
    def trees_(self) -> Trees:
        """The arrays behind ``tree_``, in the layout that trees and forests share."""
        return self.check_fitted().tree_.trees

    depth_ = property(lambda self: self.check_fitted().tree_.max_depth, doc="Number of tests on the longest path.")
    n_nodes_ = property(lambda self: self.check_fitted().tree_.node_count, doc="Number of nodes.")
    n_leaves_ = property(lambda self: self.check_fitted().tree_.n_leaves, doc="Number of leaves.")

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each feature in the decrease of impurity; surrogates count as far as they agree, as in R's rpart."""
        return self.check_fitted().tree_.compute_feature_importances()


class NumberTree(OneTree, Regressor):
    """A model of one tree of numbers."""

    def predict(self, X: Any, check_input: bool = True) -> NDArray[np.float64]:
        """Return the value of every row's leaf."""
        table = self.table_of(X)
        values = self.tree_.numbers(table, self.n_jobs)
        return values[:, 0] if self.n_outputs_ == 1 else values


class ClassTree(OneTree, Classifier):
    """A model of one tree of classes."""

    is_one_tree_of_classes = True  # its leaves are rules

    def predict(self, X: Any, check_input: bool = True) -> NDArray[Any]:
        """Return the label of every row: the commonest class of its leaf, or that of least cost; the first on ties."""
        table = self.table_of(X)
        codes = self.tree_.label_codes(table, self.n_jobs, self.label_rule)
        labels = [classes[codes[:, o]] for o, classes in enumerate(self.class_lists())]
        return labels[0] if len(labels) == 1 else np.stack(labels, axis=1)

    def predict_proba(self, X: Any, check_input: bool = True) -> Any:
        """Return the share of each class in every row's leaf; a list of arrays for several outputs."""
        table = self.table_of(X)
        shares = self.tree_.shares(table, self.n_jobs)
        return shares[0] if len(shares) == 1 else shares

    def to_rules(self, X: Any = None, y: Any = None, sample_weight: Any = None, **options: Any) -> RuleSetClassifier:
        """Return the tree as rules: a rule a path as it is, or simplified by rows.

        Parameters
        ----------
        X, y, sample_weight : arrays, optional
            The rows that the tree was grown on, to simplify its rules. Without them the rules say what the tree says of
            every row (where missing values go to several children, or by surrogates: of every row without any, and
            without levels that a node did not meet, which go as missing values do).
        **options
            Parameters of RuleSetClassifier, such as ``resolve="confidence"``.

        """
        from dtnumba.estimators.rule_set import RuleSetClassifier

        rules = RuleSetClassifier(**options)
        if X is not None or y is not None or sample_weight is not None:
            if X is None or y is None:
                raise ValueError("to_rules: it takes rows and their labels to simplify rules; pass both X and y")
            made: RuleSetClassifier = rules.from_tree(self.check_fitted(), X, y, sample_weight)
            return made
        ignored = [name for name in ("select", "min_significance", "random_state") if options.get(name) is not None]
        if ignored:
            raise ValueError(f"to_rules: {ignored[0]} says how to simplify rules, which takes rows; pass X and y, too")
        return rules.from_paths(self.check_fitted())
