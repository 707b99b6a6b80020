"""Forests that are measured: dtnumba's and those of its peers, all of one shape and behind the same few words.

A library is imported where its forest is made, so a process that runs one peer needs no other.
"""

import math
from dataclasses import dataclass
from importlib import import_module

import numpy as np


@dataclass(frozen=True)
class Shape:
    """The forest that is asked for: settings that mean the same in every library."""

    of_classes: bool = True
    n_trees: int = 20
    max_depth: int | None = None
    share_drawn: float | None = None  # of the features at a node; None: the square root of their number
    is_extra: bool = False  # random thresholds, all rows in every tree
    is_exact: bool = False  # ours alone has the choice
    threads: int = 2

    def drawn(self, n_features):
        """Return how many features a node draws."""
        if self.share_drawn is None:
            return max(1, math.isqrt(n_features))
        return max(1, int(self.share_drawn * n_features))


class Forest:
    """A forest of one library.

    ``table`` brings data into the form that the library reads fastest, which no clock counts. ``fit`` and ``predict``
    take such tables, and are what is timed. ``said`` are labels or numbers, from what ``predict`` returned.
    """

    name: str

    def __init__(self, shape):
        self.shape = shape
        self.of_classes = shape.of_classes
        self.model = None

    def table(self, X, y=None):
        """Return the data as the library likes them."""
        return (X,) if y is None else (X, y)

    def said(self, predicted):
        """Return labels or numbers."""
        return np.asarray(predicted)

    def score(self, X, y):
        """Accuracy, or R squared: computed here, the same way for all."""
        said = self.said(self.predict(self.table(X)))
        if self.of_classes:
            return float(np.mean(said == y))
        return float(1 - np.mean((said - y) ** 2) / np.var(y))


class LikeScikitLearn(Forest):
    """A library whose forests have scikit-learn's interface."""

    module: str

    def estimator(self, n_features):
        """Return the estimator, not fitted."""
        shape = self.shape
        kind = "ExtraTrees" if shape.is_extra else "RandomForest"
        kind += "Classifier" if shape.of_classes else "Regressor"
        settings = {"max_depth": shape.max_depth, "max_features": shape.drawn(n_features), "n_jobs": shape.threads}
        made = getattr(import_module(self.module), kind)(shape.n_trees, random_state=0, **settings)
        return made.set_params(**self.more())

    def more(self):
        """Return settings that this library alone has."""
        return {}

    def fit(self, table):
        """Grow the forest; return it."""
        self.model = self.estimator(table[0].shape[1]).fit(*table)
        return self

    def predict(self, table):
        """Return a label or a number for every row."""
        return self.model.predict(*table)

    @property
    def n_leaves(self):
        """Leaves of all trees."""
        return sum(int(tree.tree_.n_leaves) for tree in self.model.estimators_)


class Ours(LikeScikitLearn):
    """dtnumba."""

    name, module = "dtnumba", "dtnumba"

    def more(self):
        """Return exact thresholds where they are asked for."""
        return {"max_bins": None} if self.shape.is_exact else {}

    @property
    def n_leaves(self):
        """Leaves of all trees."""
        return (self.model.trees_.n_nodes + self.shape.n_trees) // 2


class ScikitLearn(LikeScikitLearn):
    """scikit-learn: exact splits of float32 columns."""

    name, module = "scikit-learn", "sklearn.ensemble"


class OneDal(LikeScikitLearn):
    """oneDAL, through scikit-learn-intelex: histograms of at most 256 values a column."""

    name, module = "oneDAL", "sklearnex.ensemble"


class Ydf(Forest):
    """YDF's random forest, with the limits that it has by default taken away."""

    name, learner = "YDF", "RandomForestLearner"

    def table(self, X, y=None):
        """Return a dataset for a fit; for predict the columns, because YDF's dataset needs a model to be made."""
        columns = {f"f{f:03}": np.ascontiguousarray(X[:, f]) for f in range(X.shape[1])}
        if y is None:
            return columns
        ydf = import_module("ydf")
        kind = ydf.Semantic.CATEGORICAL if self.of_classes else ydf.Semantic.NUMERICAL
        label = ydf.Column("target", kind, min_vocab_frequency=1) if self.of_classes else ydf.Column("target", kind)
        return ydf.create_vertical_dataset(columns | {"target": y}, columns=[label], include_all_columns=True)

    def dataset(self, columns):
        """Return columns as the dataset that the model reads without a conversion."""
        ydf = import_module("ydf")
        return ydf.create_vertical_dataset(columns, data_spec=self.model.data_spec(), required_columns=list(columns))

    def settings(self, n_features):
        """Return what makes the forest that is asked for."""
        votes = {"winner_take_all": False} if self.of_classes else {}  # scikit-learn's trees vote with shares
        return votes | {
            "min_examples": 1,
            "num_candidate_attributes": self.shape.drawn(n_features),
            "compute_oob_performances": False,
        }

    def fit(self, table):
        """Grow the forest; return it."""
        ydf, shape = import_module("ydf"), self.shape
        ydf.verbose(0)
        self.model = getattr(ydf, self.learner)(
            label="target",
            task=ydf.Task.CLASSIFICATION if self.of_classes else ydf.Task.REGRESSION,
            num_trees=shape.n_trees,
            max_depth=-1 if shape.max_depth is None else shape.max_depth + 1,  # YDF counts the root
            num_threads=shape.threads,
            **self.settings(len(table.data_spec().columns) - 1),
        ).train(table)
        return self

    def predict(self, table):
        """Return shares of classes, or numbers."""
        return self.model.predict(table, num_threads=self.shape.threads)

    def said(self, predicted):
        """Return the labels of largest share, or the numbers."""
        if not self.of_classes:
            return predicted
        labels = np.array([int(label) for label in self.model.label_classes()])
        codes = (predicted > 0.5).astype(int) if predicted.ndim == 1 else predicted.argmax(axis=1)
        return labels[codes]

    @property
    def n_leaves(self):
        """Leaves of all trees."""
        return (self.model.num_nodes() + self.model.num_trees()) // 2


class YdfOblique(Ydf):
    """YDF's random forest of sparse oblique splits: as many sums a node as there are columns, two columns each."""

    name = "YDF sparse oblique"

    def settings(self, n_features):
        """Return what makes the forest that is asked for."""
        return super().settings(n_features) | {
            "num_candidate_attributes": -1,
            "split_axis": "SPARSE_OBLIQUE",
            "sparse_oblique_num_projections_exponent": 1.0,
            "sparse_oblique_projection_density_factor": 2.0,
        }


class YdfBoosted(Ydf):
    """YDF's gradient-boosted trees, whose shallow trees it predicts by QuickScorer."""

    name, learner = "YDF QuickScorer", "GradientBoostedTreesLearner"

    def settings(self, n_features):
        """Return what makes trees of the full depth, and all of them."""
        return {"min_examples": 1, "validation_ratio": 0.0, "early_stopping": "NONE"}
