"""Decision trees on NumPy arrays, compiled by Numba.

The flow, one module a step: table, labels, weights (the gate) -> bins, sorting (codes and orders) -> splitters, scan,
criteria, targets (one split) -> grow, grow_tree (a tree) -> finish (thresholds, values) -> trees -> predict.
"""

__version__ = "0.1.0"

from dtnumba import export, information, pruners, validation
from dtnumba.batches import bin_batches
from dtnumba.errors import NotFittedError
from dtnumba.estimators import (
    C45Classifier,
    CHAIDClassifier,
    CHAIDRegressor,
    DecisionListClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    ID3Classifier,
    RandomForestClassifier,
    RandomForestRegressor,
    RuleSetClassifier,
)
from dtnumba.pruning import prune

__all__ = [
    "C45Classifier",
    "CHAIDClassifier",
    "CHAIDRegressor",
    "DecisionListClassifier",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreeClassifier",
    "ExtraTreeRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "ID3Classifier",
    "NotFittedError",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RuleSetClassifier",
    "__version__",
    "bin_batches",
    "export",
    "information",
    "prune",
    "pruners",
    "validation",
]
