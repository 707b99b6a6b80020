"""Decision trees on NumPy arrays, compiled by Numba.

The flow, one module a step: table, labels, weights (the gate) -> bins, sorting (codes and orders) -> splitters, scan,
criteria, targets (one split) -> grow, grow_tree (a tree) -> finish (thresholds, values) -> trees -> predict.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from dtnumba import export, information, pruners, validation
    from dtnumba.batches import bin_batches
    from dtnumba.errors import NotFittedError
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
    from dtnumba.pruning import prune

# Where each name stands: 190 modules are read when they are asked for, not all at every start.
_HOME = {
    "C45Classifier": "estimators.c45",
    "CHAIDClassifier": "estimators.chaid",
    "CHAIDRegressor": "estimators.chaid",
    "DecisionListClassifier": "estimators.decision_list",
    "DecisionTreeClassifier": "estimators.decision_tree",
    "DecisionTreeRegressor": "estimators.decision_tree",
    "ExtraTreeClassifier": "estimators.decision_tree",
    "ExtraTreeRegressor": "estimators.decision_tree",
    "ExtraTreesClassifier": "estimators.forest",
    "ExtraTreesRegressor": "estimators.forest",
    "ID3Classifier": "estimators.id3",
    "NotFittedError": "errors",
    "RandomForestClassifier": "estimators.forest",
    "RandomForestRegressor": "estimators.forest",
    "RuleSetClassifier": "estimators.rule_set",
    "bin_batches": "batches",
    "prune": "pruning",
}
_MODULES = ("export", "information", "pruners", "validation")

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


def __getattr__(name: str) -> Any:
    if name in _HOME:
        found = getattr(import_module(f"dtnumba.{_HOME[name]}"), name)
        globals()[name] = found  # found once
        return found
    if name.startswith("_") or find_spec(f"dtnumba.{name}") is None:
        raise AttributeError(f"module 'dtnumba' has no attribute {name!r}")
    return import_module(f"dtnumba.{name}")  # dtnumba.criteria, without an import of its own


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
