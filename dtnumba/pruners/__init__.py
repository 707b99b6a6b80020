"""Ways to prune a tree, as objects with options: ``dtnumba.prune(model, Bound(delta=0.01))``."""

from dtnumba.pruner import PRUNERS, Pruner
from dtnumba.pruners.bound import Bound
from dtnumba.pruners.cost_complexity import CostComplexity
from dtnumba.pruners.critical_value import CriticalValue
from dtnumba.pruners.error_based import ErrorBased
from dtnumba.pruners.generic import Generic
from dtnumba.pruners.mdl import MDL
from dtnumba.pruners.minimum_error import MinimumError
from dtnumba.pruners.pessimistic import Pessimistic
from dtnumba.pruners.reduced_error import ReducedError
from dtnumba.pruners.simplify import Simplify

__all__ = [
    "MDL",
    "PRUNERS",
    "Bound",
    "CostComplexity",
    "CriticalValue",
    "ErrorBased",
    "Generic",
    "MinimumError",
    "Pessimistic",
    "Pruner",
    "ReducedError",
    "Simplify",
]
