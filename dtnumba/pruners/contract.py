"""What a pruner is, and what it is given. Adding a pruner is one class, registered once.

The contract
------------
A pruner is a frozen dataclass; its fields are its options, checked in ``__post_init__`` by ValueError or TypeError that
names them. It has one method, and may say two things about itself:

pruned(context) -> Trees
    The smaller trees, of the Trees in ``context.trees``, which stay as they are.
needs_rows = False
    Whether ``prune`` must be given X and y. A method that needs them for some options makes this a property.
which_rows = ""
    Which rows these are, in a sentence for the error where they are absent.
held_out = None
    The share of the rows that a fit with ``prune=`` sets aside for the pruner, which then gets these alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from dtnumba.tables.binned_table import Features
    from dtnumba.tables.costs import LeastCost
    from dtnumba.trees.layout import Trees


REGISTERED: dict[str, type[Pruner]] = {}  # see ``registry``, which has all of them


class Pruner:
    """An object that makes trees smaller; the head of this module is the contract."""

    name: ClassVar[str]
    needs_rows: Any = False
    which_rows: ClassVar[str] = "They are the rows that the trees were grown on."

    @property
    def held_out(self) -> float | None:
        """The share of the rows that a fit sets aside for it."""
        return None

    def pruned(self, context: PruningContext) -> Trees:
        """Return the smaller trees."""
        raise TypeError(f"{type(self).__name__} has no method pruned(context) -> Trees; see dtnumba.pruners.contract")


def pruner(name: str) -> Callable[[type[Pruner]], type[Pruner]]:
    """Register a pruner under a name."""

    def register(cls: type[Pruner]) -> type[Pruner]:
        cls.name = name
        REGISTERED[name] = cls
        return cls

    return register


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows for a pruner: their features, their target in the codes of the model, and their weight."""

    table: Features
    target: NDArray[Any]  # (n, outputs): codes of classes, or numbers
    weight: NDArray[np.float64]  # (n,)


@dataclass(frozen=True, eq=False)
class PruningContext:
    """The trees that a pruner is given, with their model and, where it looks at rows, the rows.

    Parameters
    ----------
    model : estimator
        Its parameters, and what it has learned; not to be changed.
    trees : Trees
        The trees to prune, of one tree or of a forest.
    n_features : int
        Columns of the table they were grown on.
    sizes : list of int
        Classes of each output, 1 where it is a number.
    is_classes : bool
        Whether the target is classes.
    rows : Rows or None
        Rows that were given, read and checked.
    given : tuple or None
        The same as the caller passed it: (X, y, sample_weight).
    read : function (X, y, sample_weight) -> Rows
        Reads and checks other rows, for a pruner that brings its own.
    training_weights : function (tree) -> array
        What each of ``rows`` counted when this tree was grown, if they are the rows it was grown on.
    rule : LeastCost or None
        How a row is labelled, and what a wrong label costs; None: the commonest class, and every wrong label 1.

    """

    model: Any
    trees: Trees
    n_features: int
    sizes: list[int]
    is_classes: bool
    rows: Rows | None = None
    given: tuple[Any, Any, Any] | None = None
    read: Any = None
    training_weights: Any = None
    rule: LeastCost | None = None

    def demand_classes(self, name: str, *, one_output: bool = True) -> None:
        """Raise where the model predicts numbers, or more outputs than the pruner knows how to add up."""
        kind = type(self.model).__name__
        if not self.is_classes:
            raise ValueError(
                f"prune={name!r} works only with classes, because it counts wrong labels; {kind} predicts numbers. Use "
                "'cost_complexity', 'reduced_error' or 'critical_value'."
            )
        if one_output and len(self.sizes) > 1:
            raise ValueError(
                f"prune={name!r} works only with one output; {kind} was fitted to {len(self.sizes)}. Use "
                "'cost_complexity', 'reduced_error' or 'critical_value', or a model for each output."
            )

    @property
    def costs(self) -> NDArray[np.float64] | None:
        """The cost of calling a row of a class (row) another (column); None: 1."""
        return None if self.rule is None else self.rule.costs

    @cached_property
    def levels(self) -> Any:
        """The levels of the trees."""
        from dtnumba.trees.subtrees import depth_levels

        return depth_levels(self.trees)

    @cached_property
    def counts(self) -> list[NDArray[np.float64]]:
        """The weight of each class in every node, an array an output; of a target of classes."""
        from dtnumba.trees.subtrees import class_weights_of

        return class_weights_of(self.trees, self.sizes)


def is_number(value: Any) -> bool:
    """Tell whether a value is a finite number, and not a bool."""
    return not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)
