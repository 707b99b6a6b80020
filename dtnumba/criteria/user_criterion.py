# mypy: ignore-errors
"""Criteria that users write: a type for each version of their source, and plain errors where they do not compile."""

import itertools
import types
from typing import NamedTuple

import numpy as np

from dtnumba.runtime.kernels import complaint, inline, kernel_type


class _Function(NamedTuple):
    """The criterion of a plain function."""


_PARTS = {}
_serial = itertools.count(1)


def is_users(cls):
    """Tell whether a criterion class is not one of the package."""
    return str(cls.__module__).partition(".")[0] != __name__.partition(".")[0]


def part_of(made):
    """Return a user's criterion object as one that kernels take.

    It becomes an instance of a subclass that is made anew whenever the class or the code of a method is: Numba picks a
    compiled kernel by the *name* of a NamedTuple, so a cell of a notebook that is run again would change nothing.
    """
    cls = type(made)
    if not is_users(cls):
        return made
    codes = [getattr(getattr(cls, name), "__code__", None) for name in dir(cls) if not name.startswith("_")]
    key = (cls, tuple(codes))
    if key not in _PARTS:
        body = {"__slots__": (), "__module__": cls.__module__, "shown_as": cls.__name__}
        _PARTS[key] = kernel_type(type(f"{cls.__name__}_{next(_serial)}", (cls,), body))
    return tuple.__new__(_PARTS[key], made)


def part_of_function(function, target):
    """Return the criterion of a plain function ``impurity(stats, weight)``."""
    function = getattr(function, "py_func", function)  # what numba.njit was applied to
    if not isinstance(function, types.FunctionType):
        msg = f"criterion={function!r}: must be a function impurity(stats, weight) in Python, or a NamedTuple with it"
        raise TypeError(msg)
    key = (function, function.__code__, target)
    if key not in _PARTS:
        # A copy, because an editor that reloads modules changes a function's code in place.
        inner = types.FunctionType(
            function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
        )
        inline(inner)

        def impurity(self, stats, weight):
            return inner(stats, weight)

        # The class stands in the function's module, so that its kernels count as the user's own and are not stored.
        body = {
            "__slots__": (),
            "__module__": str(function.__module__),
            "shown_as": function.__name__,
            "written": inner,
            "impurity": impurity,
            "target": target,
            "moments": 2,
        }
        _PARTS[key] = kernel_type(type(f"function_{next(_serial)}", (_Function,), body))
    return _PARTS[key]()


def explain_compile_error(criterion, target, n_seen):
    """Raise TypeError, naming method and reason, where a user's criterion does not compile for a target kind."""
    cls = type(criterion)
    if not is_users(cls):
        return
    in_registers = isinstance(target.zero(np.empty(0, np.int64)), tuple)
    stats = (1.0,) * n_seen if in_registers else np.ones(n_seen)
    numbers, features = np.ones(1), np.zeros(1, np.int64)
    arguments = {
        "impurity": (stats, 1.0),
        "score": (stats, stats, 1.0, 1.0),
        "gain": (stats, (stats, stats), (1.0, 1.0)),
        "information": (1.0,),
        "choose": (numbers, numbers, features, 1),
        "loss": (1.0, 1.0),
    }
    if hasattr(cls, "written"):
        _demand(cls.shown_as, complaint(cls.written, stats, 1.0))
    for name, examples in arguments.items():
        if hasattr(cls, name):
            _demand(f"{cls.shown_as}.{name}", complaint(getattr(cls, name), criterion, *examples))


def _demand(where, reason):
    if reason is not None:
        msg = f"criterion {where} {reason} (see dtnumba.criteria for what a criterion must do)"
        raise TypeError(msg) from None
