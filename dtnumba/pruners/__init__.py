"""Ways to prune a tree, as objects with options: ``dtnumba.prune(model, Bound(delta=0.01))``.

Adding a pruner is one class in a module of its own, named below (see contract).

contract         what a pruner is, and what it is given
registry         the names they go by
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

from typing import TYPE_CHECKING

from dtnumba.runtime.lazy_names import lazy_names

if TYPE_CHECKING:
    from dtnumba.pruners.bound import Bound as Bound
    from dtnumba.pruners.contract import Pruner as Pruner
    from dtnumba.pruners.cost_complexity import CostComplexity as CostComplexity
    from dtnumba.pruners.critical_value import CriticalValue as CriticalValue
    from dtnumba.pruners.error_based import ErrorBased as ErrorBased
    from dtnumba.pruners.generic import Generic as Generic
    from dtnumba.pruners.mdl import MDL as MDL
    from dtnumba.pruners.minimum_error import MinimumError as MinimumError
    from dtnumba.pruners.pessimistic import Pessimistic as Pessimistic
    from dtnumba.pruners.reduced_error import ReducedError as ReducedError
    from dtnumba.pruners.registry import PRUNERS as PRUNERS
    from dtnumba.pruners.simplify import Simplify as Simplify

_HOME = {
    "Bound": "bound",
    "CostComplexity": "cost_complexity",
    "CriticalValue": "critical_value",
    "ErrorBased": "error_based",
    "Generic": "generic",
    "MDL": "mdl",
    "MinimumError": "minimum_error",
    "PRUNERS": "registry",
    "Pessimistic": "pessimistic",
    "Pruner": "contract",
    "ReducedError": "reduced_error",
    "Simplify": "simplify",
}
__all__ = [*_HOME]  # noqa: PLE0604  names all of them
__getattr__, __dir__ = lazy_names(__name__, _HOME)
