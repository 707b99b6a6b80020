"""What users call."""

from dtnumba.estimators.c45 import C45Classifier
from dtnumba.estimators.chaid import CHAIDClassifier, CHAIDRegressor
from dtnumba.estimators.decision_list import DecisionListClassifier
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
from dtnumba.estimators.rule_set import RuleSetClassifier

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
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RuleSetClassifier",
]
