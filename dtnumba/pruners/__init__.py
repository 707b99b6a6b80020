"""Ways to prune a tree, as objects with options: ``dtnumba.prune(model, Bound(delta=0.01))``.

Adding a pruner is one class in a module of its own, named below (see contract).

contract         what a pruner is, what it is given, and the registry
prune            the function that users call
bound            a bound on the true error of the whole tree
mdl              bits of the tree and of its exceptions
error_based      errors at a confidence level, as C4.5
pessimistic      errors and half of one a leaf
minimum_error    errors by m-estimates
reduced_error    errors on rows held out
critical_value   gains of splits against a value
cost_complexity  risk and alpha a leaf
simplify         leaves of the same label or value become one
generic          an estimate of your own
engines          passes over trees that several pruners share
"""

from dtnumba.pruners.bound import Bound
from dtnumba.pruners.contract import PRUNERS, Pruner
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
