"""Small fits and predictions that need the kernels which fits of a learner need, whatever their size.

A kernel is compiled for types, not for values: one table of a kind stands for all of that kind.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.growth.binary.grow_in_parallel import PARALLEL_ROWS

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_FEW, _MANY, _COLUMNS = 300, 2 * PARALLEL_ROWS, 6


class Recipe(NamedTuple):
    """One kind of fit of a learner."""

    learner: str
    kind: str
    run: Callable[[Any], None]  # given the class

    @property
    def name(self) -> str:
        """What the user reads."""
        return f"{self.learner}, {self.kind}"

    def cook(self) -> None:
        """Fit and predict."""
        self.run(getattr(import_module("dtnumba"), self.learner))


def _table(n_rows: int, dtype: Any = np.float64) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return columns of numbers, and a number that depends on them."""
    draw = np.random.default_rng(0)
    X = draw.normal(size=(n_rows, _COLUMNS))
    return X.astype(dtype), X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * draw.normal(size=n_rows)


def _labels(z: NDArray[np.float64], n_classes: int) -> NDArray[np.int64]:
    return np.digitize(z, np.quantile(z, np.arange(1, n_classes) / n_classes))


def _fit(cls: Any, X: Any, y: Any, **params: Any) -> None:
    model = cls(**params).fit(X, y)
    model.predict(X)
    if hasattr(model, "predict_proba"):
        model.predict_proba(X)


def _classes(n_classes: int, n_rows: int = _FEW, **params: Any) -> Callable[[Any], None]:
    """Fit to numbers of either width; they are coded alike, so the second costs little."""

    def run(cls: Any) -> None:
        for dtype in (np.float64, np.float32):
            X, z = _table(n_rows, dtype)
            _fit(cls, X, _labels(z, n_classes), **params)

    return run


def _numbers(n_rows: int = _FEW, **params: Any) -> Callable[[Any], None]:
    def run(cls: Any) -> None:
        for dtype in (np.float64, np.float32):
            _fit(cls, *_table(n_rows, dtype), **params)

    return run


def _categories(n_classes: int, n_columns: int, **params: Any) -> Callable[[Any], None]:
    def run(cls: Any) -> None:
        X, z = _table(_FEW)
        X[:, :n_columns] = np.abs(X[:, :n_columns] * 2).round()
        y = _labels(z, n_classes) if n_classes else z
        _fit(cls, X, y, categorical_features=list(range(n_columns)), **params)

    return run


def _followed(n_classes: int) -> Callable[[Any], None]:
    def run(cls: Any) -> None:
        for dtype in (np.float64, np.float32):
            X, z = _table(_FEW, dtype)
            y = _labels(z, n_classes) if n_classes else z
            model = cls().fit(X[1:], y[1:])
            model.partial_fit(X[:1], y[:1]).forget_ids([0]).predict(X)

    return run


def _of_forest(learner: str) -> list[Recipe]:
    few = {"n_estimators": 3, "random_state": 0}
    if learner.endswith("Regressor"):
        return [
            Recipe(learner, "numbers", _numbers(**few)),
            Recipe(learner, "numbers, by categories", _categories(0, 3, **few)),
        ]
    return [
        Recipe(learner, "two classes", _classes(2, **few)),
        Recipe(learner, "three classes", _classes(3, **few)),
        Recipe(learner, "two classes, by categories", _categories(2, 3, **few)),
    ]


def _of_tree(learner: str) -> list[Recipe]:
    if learner.endswith("Regressor"):
        return [
            Recipe(learner, "a number, few rows", _numbers()),
            Recipe(learner, "a number, many rows", _numbers(_MANY)),
        ]
    return [
        Recipe(learner, "two classes, few rows", _classes(2)),
        Recipe(learner, "two classes, many rows", _classes(2, _MANY)),
        Recipe(learner, "three classes, few rows", _classes(3)),
    ]


_RECIPES = [
    *(recipe for kind in ("RandomForest", "ExtraTrees") for end in ("Classifier", "Regressor")
      for recipe in _of_forest(kind + end)),
    *(recipe for kind in ("DecisionTree", "ExtraTree") for end in ("Classifier", "Regressor")
      for recipe in _of_tree(kind + end)),
    Recipe("C45Classifier", "numbers", _classes(3)),
    Recipe("C45Classifier", "numbers and categories", _categories(3, 3)),
    Recipe("C50Classifier", "numbers and categories", _categories(3, 3)),
    Recipe("ID3Classifier", "categories", _categories(3, _COLUMNS)),
    Recipe("CHAIDClassifier", "classes", _categories(3, 3)),
    Recipe("CHAIDRegressor", "a number", _categories(0, 3)),
    Recipe("IncrementalTreeClassifier", "two classes", _followed(2)),
    Recipe("IncrementalTreeRegressor", "a number", _followed(0)),
    Recipe("MARSClassifier", "classes", _classes(3, max_degree=2)),
    Recipe("MARSRegressor", "a number", _numbers(max_degree=2)),
    Recipe("ObliqueForestClassifier", "two classes", _classes(2)),
    Recipe("ObliqueForestRegressor", "a number", _numbers()),
    Recipe("ObliqueTreeClassifier", "two classes", _classes(2)),
    Recipe("ObliqueTreeRegressor", "a number", _numbers()),
    Recipe("OptimalTreeClassifier", "two classes", _classes(2)),
    Recipe("OptimalTreeClassifier", "three classes", _classes(3)),
    Recipe("OptimalTreeClassifier", "two classes, by categories", _categories(2, _COLUMNS)),
    Recipe("OptimalTreeRegressor", "a number", _numbers(max_depth=2)),
    Recipe("DecisionGraphClassifier", "numbers", _classes(3)),
    Recipe("DecisionGraphClassifier", "categories", _categories(2, _COLUMNS)),
    Recipe("RuleSetClassifier", "classes", _classes(3)),
    Recipe("DecisionListClassifier", "two classes", _categories(2, _COLUMNS)),
]  # fmt: skip


def learners() -> list[str]:
    """Return the names of the learners that have recipes."""
    return list(dict.fromkeys(recipe.learner for recipe in _RECIPES))


def recipes_of(names: list[str]) -> list[Recipe]:
    """Return the recipes of learners, of all by default."""
    return [recipe for recipe in _RECIPES if not names or recipe.learner in names]
