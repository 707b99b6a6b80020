"""What users call."""

from dtnumba.estimators.c45 import C45Classifier
from dtnumba.estimators.chaid import CHAIDClassifier, CHAIDRegressor
from dtnumba.estimators.decision_tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)
from dtnumba.estimators.forest import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from dtnumba.estimators.id3 import ID3Classifier

__all__ = [
    "C45Classifier",
    "CHAIDClassifier",
    "CHAIDRegressor",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreeClassifier",
    "ExtraTreeRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "ID3Classifier",
    "RandomForestClassifier",
    "RandomForestRegressor",
]
