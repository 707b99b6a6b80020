"""One tree under scikit-learn's names, for code that reads ``model.tree_``, and the way of rows through it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.prediction.walk_tree import answers_of, decision_paths, graph_paths, leaf_of_one, pack
from dtnumba.runtime.tasks import n_workers
from dtnumba.tables.table import Seen, Table, read_table
from dtnumba.trees.compact import compacted
from dtnumba.trees.layout import BY_SHARE, decreases, depths, last_children, node_values, nodes_at
from dtnumba.trees.linear import NodeWeights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dtnumba.prediction.row_predictor import RowPredictor
    from dtnumba.tables.costs import LeastCost
    from dtnumba.trees.layout import Trees


TREE_UNDEFINED = -2


def _frozen(column: NDArray[Any]) -> NDArray[Any]:
    column = column.view()
    column.flags.writeable = False
    return column


class NotInColumnsError(ValueError, AttributeError):
    """Raised by a column that cannot say what the tree is; ``hasattr`` then finds no such column."""


class TreeView:
    """Read-only columns of one tree, a row a node: -1 marks a missing child, -2 the feature and threshold of a leaf.

    Parameters
    ----------
    trees : Trees
        The layout to show, of one tree.
    n_features : int
        Columns of the table it was grown on.
    n_classes : sequence of int
        Classes of each output, 1 where it is a number.
    importances : array of shape (features,), optional
        Decrease of impurity by each feature, of compact trees.

    Attributes
    ----------
    trees : Trees
        The arrays behind the columns.
    n_features, n_outputs, max_n_classes : int
        Columns, outputs, and the most classes of an output.
    n_classes : array of shape (outputs,)
        Classes of each output.

    """

    def __init__(
        self, trees: Trees, n_features: int, n_classes: Sequence[int], importances: NDArray[np.float64] | None = None
    ) -> None:
        self.trees = trees
        self._take(n_features, n_classes, importances)

    def _take(self, n_features: int, n_classes: Sequence[int], importances: NDArray[np.float64] | None) -> None:
        self._importances = importances
        self.n_features = n_features
        self.n_classes = np.asarray(n_classes, dtype=np.int64)
        self.n_outputs = len(self.n_classes)
        self.max_n_classes = int(self.n_classes.max())
        self._labels: tuple[LeastCost | None, NDArray[np.int64]] | None = None

    @property
    def walked(self) -> Trees:
        """What prediction reads of the arrays: they, or the same trees without what explains them."""
        return self.trees

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what cannot be derived."""
        return TreeView, (self.trees, self.n_features, self.n_classes, self._importances)

    def compact(self) -> TreeView:
        """Return the tree without what only explains it."""
        if self.trees.is_compact:
            return self
        importances = self.compute_feature_importances(normalize=False)
        return TreeView(compacted(self.trees), self.n_features, self.n_classes.tolist(), importances)

    def _kept(self, name: str, asked: str) -> Any:
        """Return a column that ``compact`` drops, or raise, under the name that was ``asked`` for."""
        if self.trees.is_compact:
            raise ValueError(
                f"{asked} needs what compact() dropped: the rows, weight, impurity and gain of every node, and the "
                "values of inner nodes; fit the model again and read it before compact(), or do not call compact()"
            )
        return getattr(self.trees, name)

    @cached_property
    def node_count(self) -> int:
        """Number of nodes."""
        return self.walked.n_nodes

    @property
    def capacity(self) -> int:
        """Room for nodes, which is their number."""
        return self.node_count

    @cached_property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(self.walked.n_leaves)

    @cached_property
    def _depths(self) -> NDArray[Any]:
        return np.asarray(depths(self.walked))

    @cached_property
    def max_depth(self) -> int:
        """Tests on the longest path."""
        return int(self._depths.max())

    def children(self, node: int) -> NDArray[np.int64]:
        """Return the children of a node, which stand side by side where branches do not join; none of a leaf."""
        if not 0 <= node < self.node_count:
            raise IndexError(f"there is no node {node}: there are {self.node_count}")
        first, last = int(self.trees.left[node]), int(self._last[node])
        return nodes_at(self.trees, np.arange(first, last + 1)) if first >= 0 else np.empty(0, np.int64)

    def _nodes_in(self, places: NDArray[Any]) -> NDArray[np.int64]:
        """Return the nodes that stand in places, -1 where there is none."""
        return np.where(places >= 0, nodes_at(self.trees, places), -1).astype(np.int64)

    @cached_property
    def _last(self) -> NDArray[Any]:
        return last_children(self.trees)

    def _demand_thresholds(self, asked: str) -> None:
        """Raise where two columns of children and one of thresholds do not say what the tests of the tree are."""
        trees = self.trees
        if trees.has_two_children and len(trees.level) == 0 and not (trees.has_sums and asked == "threshold"):
            return
        what = "of sums" if trees.has_sums else "of categories"
        what = what if trees.has_two_children else "with more children than two, of categories or of ranges"
        raise NotInColumnsError(
            f"tree_.{asked}: the tree has tests {what}, which columns of left and right children and thresholds cannot "
            "say. tree_.children(node) returns the children of a node, tree_.feature what it tests, and tree_.trees "
            "holds the tests; to_rules() of a classifier writes them"
        )

    @cached_property
    def children_left(self) -> NDArray[np.int64]:
        """Left child of each node, where every test is a threshold; see ``children``."""
        self._demand_thresholds("children_left")
        return _frozen(self._nodes_in(self.trees.left))

    @cached_property
    def children_right(self) -> NDArray[np.int64]:
        """Right child of each node, where every test is a threshold; see ``children``."""
        self._demand_thresholds("children_right")
        return _frozen(self._nodes_in(self._last))

    @cached_property
    def feature(self) -> NDArray[np.int64]:
        """Column that each node tests."""
        feature = self.trees.feature.astype(np.int64)
        return _frozen(np.where(feature >= 0, feature, TREE_UNDEFINED))

    @cached_property
    def threshold(self) -> NDArray[np.float64]:
        """Largest value that goes left, for each node, where every test is a threshold."""
        self._demand_thresholds("threshold")
        return _frozen(np.where(self.trees.feature >= 0, self.trees.threshold, float(TREE_UNDEFINED)))

    @cached_property
    def missing_go_to_left(self) -> NDArray[np.uint8]:
        """Whether missing values go left, for each node."""
        return _frozen(self.trees.missing_left)

    @cached_property
    def impurity(self) -> NDArray[np.float64]:
        """Impurity of each node's rows."""
        return _frozen(self._kept("impurity", "tree_.impurity"))

    @cached_property
    def n_node_samples(self) -> NDArray[np.int64]:
        """Rows of positive weight in each node."""
        return _frozen(self._kept("n_samples", "tree_.n_node_samples"))

    @cached_property
    def weighted_n_node_samples(self) -> NDArray[np.float64]:
        """Weight of the rows in each node."""
        return _frozen(self._kept("weight", "tree_.weighted_n_node_samples"))

    @cached_property
    def value(self) -> NDArray[np.float64]:
        """Class shares, means or medians: (nodes, outputs, most classes), zeros behind an output's last class."""
        return _frozen(self._by_output(self._kept("value", "tree_.value")))

    def _by_output(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        shape = (self.node_count, self.n_outputs, self.max_n_classes)
        if self.n_outputs == 1 or self.max_n_classes == 1:
            return rows.reshape(shape)
        value = np.zeros(shape)
        for o, (stop, k) in enumerate(zip(np.cumsum(self.n_classes), self.n_classes, strict=True)):
            value[:, o, :k] = rows[:, stop - k : stop]
        return value

    @cached_property
    def _packed(self) -> Any:
        return pack(self.walked, self.max_depth) if self._is_binary else None

    @cached_property
    def _is_binary(self) -> bool:
        return self.walked.is_binary  # looks at every node

    @cached_property
    def _ids(self) -> NDArray[np.int64]:
        return nodes_at(self.walked, np.arange(self.node_count))

    def _codes(self, rule: LeastCost | None) -> NDArray[np.int64]:
        """Return the label of every node, a column an output; kept for the rule that asked last."""
        if self._labels is None or self._labels[0] is not rule:
            values = self._said_by_nodes
            codes = self._by_output(values).argmax(axis=2) if rule is None else rule.codes(values)[:, None]
            self._labels = (rule, np.asarray(codes, np.int64))
        return self._labels[1]

    @cached_property
    def _numbers(self) -> NDArray[np.float64]:
        return self._said_by_nodes.copy()

    @cached_property
    def _said_by_nodes(self) -> NDArray[np.float64]:
        return np.asarray(node_values(self.walked))

    def _walk(self, table: Table, value_of_node: NDArray[Any], n_jobs: int | None) -> NDArray[Any]:
        """Return ``says[leaf]`` for the leaf of every row; ``says`` has 8 bytes a node."""
        if table.n_rows == 1 and self._is_binary:
            leaf = leaf_of_one(table, self.walked)
            if leaf is not None:
                return value_of_node[leaf : leaf + 1]
        return np.asarray(answers_of(table, self.walked, self._packed, value_of_node, n_workers(n_jobs)))

    def _mixed(self, table: Table, n_jobs: int | None) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return what leaves say of every row that goes to several of them in parts, and the leaf of most of it."""
        from dtnumba.prediction.fractional import mixtures_of

        values, leaf = mixtures_of(table, self.walked, n_workers(n_jobs))
        return values, leaf

    @property
    def weights_(self) -> NodeWeights:
        """Weights of the sums that nodes test: ``weights_[node]`` has one a column, zeros at a leaf.

        A node that tests one column has its weight 1 there. ``np.asarray`` makes a table of all nodes.
        """
        return NodeWeights(self.walked, self.n_features)

    @property
    def _is_mixed(self) -> bool:
        return self.walked.policy == BY_SHARE

    def _values(self, table: Table, value_of_node: NDArray[Any], n_jobs: int | None) -> NDArray[Any]:
        """Return the rows ``says[leaf]``, a column an output."""
        if self.n_outputs == 1:
            return self._walk(table, value_of_node[:, 0], n_jobs)[:, None]
        return value_of_node[self.leaves(table, n_jobs)]

    def leaves(self, table: Table, n_jobs: int | None = None) -> NDArray[np.int64]:
        """Return the id of the leaf of every row of a Table; of several, the one that its largest part goes to."""
        return self._mixed(table, n_jobs)[1] if self._is_mixed else self._walk(table, self._ids, n_jobs)

    def label_codes(self, table: Table, n_jobs: int | None = None, rule: LeastCost | None = None) -> NDArray[np.int64]:
        """Return the label of the leaf of every row of a Table, a column an output; the first on ties.

        It is the commonest class, or with a rule that of least expected cost.
        """
        if self._is_mixed:
            parts = self.shares(table, n_jobs)
            return np.stack([share.argmax(axis=1) if rule is None else rule.codes(share) for share in parts], axis=1)
        return self._values(table, self._codes(rule), n_jobs)

    def numbers(self, table: Table, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return the value of the leaf of every row of a Table, a column an output."""
        return self._mixed(table, n_jobs)[0] if self._is_mixed else self._values(table, self._numbers, n_jobs)

    def shares(self, table: Table, n_jobs: int | None = None) -> list[NDArray[np.float64]]:
        """Return the class shares in the leaf of every row of a Table, an array an output."""
        if self._is_mixed:
            shares = self._mixed(table, n_jobs)[0]
        else:
            shares = self._said_by_nodes.take(self.leaves(table, n_jobs), axis=0)
        return [shares] if self.n_outputs == 1 else np.split(shares, np.cumsum(self.n_classes)[:-1], axis=1)

    def row_predictor(self) -> RowPredictor:
        """Return the tree as a function of one row."""
        from dtnumba.prediction.row_predictor import RowPredictor

        return RowPredictor(self.walked, self.n_features, self.n_classes.tolist())

    def paths(self, leaves: NDArray[np.int64]) -> Any:
        """Return a SciPy CSR matrix (rows, nodes) with ones at the nodes on the way to each row's leaf."""
        indptr, indices = decision_paths(self.trees, leaves)
        return self._on_path(indptr, indices)

    def paths_of(self, table: Table, n_jobs: int | None = None) -> Any:
        """Return the matrix of ``paths`` for the rows of a Table."""
        if self.trees.is_graph:  # a leaf does not say by which way it was reached
            return self._on_path(*graph_paths(table, self.trees))
        return self.paths(self.leaves(table, n_jobs))

    def _on_path(self, indptr: NDArray[np.int64], indices: NDArray[np.int64]) -> Any:
        try:
            from scipy.sparse import csr_matrix
        except ImportError as error:
            msg = "decision_path returns a SciPy matrix, and SciPy is not installed: pip install scipy"
            raise ImportError(msg) from error
        return csr_matrix((np.ones(len(indices), np.int64), indices, indptr), shape=(len(indptr) - 1, self.node_count))

    def _table(self, X: Any) -> Table:
        return read_table(X, "Tree", Seen(self.n_features, None))

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Return the id of the leaf of every row."""
        return self.leaves(self._table(X))

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the value of every row's leaf."""
        value: NDArray[np.float64] = self._by_output(self._said_by_nodes)[self.apply(X)]
        return value[:, 0] if self.n_outputs == 1 else value

    def decision_path(self, X: Any) -> Any:
        """Return a SciPy CSR matrix (rows, nodes) with ones at the nodes that a row passes."""
        return self.paths_of(self._table(X))

    def compute_feature_importances(self, normalize: bool = True) -> NDArray[np.float64]:
        """Return the decrease of impurity by each feature, as shares that sum to one if told.

        A surrogate counts for its feature the decrease of its node times its adjusted agreement, as in R's rpart.
        """
        importances = self._decreases() if self._importances is None else self._importances
        total = importances.sum()
        return np.asarray(importances / total if normalize and total > 0 else importances.copy())

    def _decreases(self) -> NDArray[np.float64]:
        self._kept("weight", "feature_importances_ of a tree of a compact forest")  # other compact trees keep theirs
        return np.asarray(decreases(self.trees, self.n_features)[0], np.float64)  # of a leaf they are integers

    def compute_node_depths(self) -> NDArray[np.int64]:
        """Return the depth of each node, counted from one at the root."""
        return self._depths.astype(np.int64) + 1
