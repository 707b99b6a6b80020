"""Oblique forests: many trees whose nodes may test a weighted sum of several columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from dtnumba.estimators.bases.docs import documented
from dtnumba.estimators.bases.forest_parameters import ForestParams
from dtnumba.estimators.bases.parameters import (
    one_of,
    parameter,
    yes_or_no,
)
from dtnumba.estimators.forest import ForestClassifier, ForestOfClasses, ForestOfNumbers, ForestRegressor
from dtnumba.estimators.oblique.trees import (
    ObliqueLearner,
    ObliqueParams,
    ObliqueTreeClassifier,
    ObliqueTreeRegressor,
)
from dtnumba.growth.settings import SEARCHES

_OF_FORESTS = ForestParams.__dataclass_fields__


def _again(name: str) -> Any:
    return field(default=_OF_FORESTS[name].default, metadata=_OF_FORESTS[name].metadata)


@dataclass(kw_only=True, eq=False, repr=False)
class ObliqueForestParams(ObliqueParams):
    """Parameters of oblique forests: those of oblique trees, and those of ForestParams that go with them.

    Parameters
    ----------
    importance : "impurity" or "permutation"
        What ``feature_importances_`` are: "impurity": what tests gain, that of a sum shared by its columns.
        "permutation": the rise of the loss of what each tree left out, once a column is shuffled.

    """

    n_estimators: int = field(default=100, metadata=_OF_FORESTS["n_estimators"].metadata, kw_only=False)
    search: str = parameter("random", one_of(*SEARCHES))
    bootstrap: bool = yes_or_no(True)
    replace: bool = yes_or_no(True)
    max_samples: int | float | None = _again("max_samples")
    oob_score: Any = _again("oob_score")  # noqa: RUF009  a field
    warm_start: bool = yes_or_no(False)
    max_leaf_nodes: Any = _again("max_leaf_nodes")  # noqa: RUF009
    max_bins: int | None = _again("max_bins")
    importance: str = parameter("impurity", one_of("impurity", "permutation"))
    verbose: Any = _again("verbose")  # noqa: RUF009
    max_seconds: float | None = _again("max_seconds")

    _described_like: ClassVar[Any] = ForestParams


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class ObliqueForestClassifier(ObliqueLearner, ForestClassifier, ForestOfClasses, ObliqueForestParams):
    """A random forest for classes whose nodes may test a weighted sum of several columns.

    Parameters
    ----------
    max_features : int, share, "sqrt", "log2" or None
        Features drawn at each node: as candidates, and for the sums (then two at least by "sqrt" and "log2") but those
        of "random", which are of all.

    """

    _tree_class: ClassVar[Any] = ObliqueTreeClassifier


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class ObliqueForestRegressor(ObliqueLearner, ForestRegressor, ForestOfNumbers, ObliqueForestParams):
    """A random forest for numbers whose nodes may test a weighted sum of several columns."""

    _tree_class: ClassVar[Any] = ObliqueTreeRegressor
