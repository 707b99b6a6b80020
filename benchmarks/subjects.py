"""What is measured: trees of dtnumba and of its peers, all behind the same few words."""

import numpy as np
import sklearn.tree

import dtnumba


class Tree:
    """A tree of one library. ``exact=False`` asks for a histogram where the library has one."""

    def __init__(self, *, of_classes=True, exact=True, threads=1, **parameters):
        self.of_classes = of_classes
        self.model = self.make("Classifier" if of_classes else "Regressor", exact=exact, threads=threads, **parameters)

    def fit(self, X, y):
        """Grow the tree; return it."""
        self.model.fit(X, y)
        return self

    def predict(self, X):
        """Return a label or a number for every row."""
        return self.model.predict(X)

    @property
    def n_leaves(self):
        """Number of leaves."""
        return int(self.model.tree_.n_leaves)

    def score(self, X, y):
        """Accuracy, or R squared: computed here, the same way for all."""
        predicted = self.predict(X)
        if self.of_classes:
            return float(np.mean(predicted == y))
        return float(1 - np.mean((predicted - y) ** 2) / np.var(y))


class Ours(Tree):
    """dtnumba."""

    def make(self, kind, *, exact, threads, **parameters):
        """Return the estimator."""
        bins = None if exact else 255
        return getattr(dtnumba, f"DecisionTree{kind}")(max_bins=bins, n_jobs=threads, random_state=0, **parameters)


class ScikitLearn(Tree):
    """scikit-learn: exact splits, one thread, whatever is asked for."""

    def make(self, kind, *, exact, threads, **parameters):
        """Return the estimator."""
        return getattr(sklearn.tree, f"DecisionTree{kind}")(random_state=0, **parameters)
