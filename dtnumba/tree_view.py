"""One tree under scikit-learn's column names, for code that reads ``model.tree_``."""

import numpy as np

from dtnumba import trees as layout


class TreeView:
    """Read-only columns of one tree: -1 marks a missing child, -2 the feature and threshold of a leaf."""

    TREE_LEAF, TREE_UNDEFINED = -1, -2

    def __init__(self, trees, n_features, n_classes, apply):
        self._trees, self._apply = trees, apply
        self.n_features = n_features
        self.n_classes = np.atleast_1d(np.asarray(n_classes))
        self.n_outputs = len(self.n_classes)
        self.max_n_classes = int(self.n_classes.max())

    def _where_inner(self, column, elsewhere):
        return np.where(self._trees.feature >= 0, column, elsewhere)

    @property
    def node_count(self):
        return self._trees.n_nodes

    @property
    def n_leaves(self):
        return self._trees.n_leaves

    @property
    def max_depth(self):
        return int(layout.depths(self._trees).max())

    @property
    def children_left(self):
        return self._trees.left.astype(np.int64)

    @property
    def children_right(self):
        return self._trees.right.astype(np.int64)

    @property
    def feature(self):
        return self._where_inner(self._trees.feature, self.TREE_UNDEFINED).astype(np.int64)

    @property
    def threshold(self):
        return self._where_inner(self._trees.threshold, float(self.TREE_UNDEFINED))

    @property
    def missing_go_to_left(self):
        return self._trees.missing_left.copy()

    @property
    def impurity(self):
        return self._trees.impurity.copy()

    @property
    def n_node_samples(self):
        return self._trees.n_samples.copy()

    @property
    def weighted_n_node_samples(self):
        return self._trees.weight.copy()

    @property
    def value(self):
        """Class shares, means or medians: (nodes, outputs, most classes), zeros behind an output's last class."""
        value = np.zeros((self.node_count, self.n_outputs, self.max_n_classes))
        ends = np.cumsum(self.n_classes)
        for o, (end, k) in enumerate(zip(ends, self.n_classes, strict=True)):
            value[:, o, :k] = self._trees.value[:, end - k : end]
        return value

    def apply(self, X):
        """Return the leaf of every row."""
        return self._apply(X)

    def predict(self, X):
        """Return the value of every row's leaf."""
        value = self.value[self._apply(X)]
        return value[:, 0] if self.n_outputs == 1 else value

    def compute_feature_importances(self, normalize=True):
        """Return the decrease of impurity by each feature, as shares if told."""
        inner = self._trees.feature >= 0
        decrease = self._trees.weight[inner] * self._trees.gain[inner]
        importances = np.bincount(self._trees.feature[inner], weights=decrease, minlength=self.n_features)
        importances = importances / self._trees.weight[0]
        total = importances.sum()
        return importances / total if normalize and total > 0 else importances
