"""Fitted trees and forests of scikit-learn as models of this package, which predict the same."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.estimators.bases.estimator import not_fitted
from dtnumba.growth.forest.bootstrap_rows import Everything
from dtnumba.growth.forest.drawn_rows import Drawing
from dtnumba.prediction.forest_view import ForestView
from dtnumba.prediction.tree_view import TreeView
from dtnumba.tables.floats import AtFloats, compared, floor_to
from dtnumba.trees.check import check
from dtnumba.trees.layout import LEAF, NO_LEVELS, NO_MAP, Trees, joined

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TREES = tuple(f"{kind}Tree{target}" for kind in ("Decision", "Extra") for target in ("Classifier", "Regressor"))
_FORESTS = tuple(f"{kind}{target}" for kind in ("RandomForest", "ExtraTrees") for target in ("Classifier", "Regressor"))
_FLOAT32 = AtFloats(32)


def from_sklearn(model: Any) -> Any:
    """Return a fitted tree or forest of scikit-learn as the model of the same name here, which predicts the same.

    scikit-learn rounds rows to float32 before it compares them. Thresholds are moved to where that changes sides, so
    that rows of float64 go the same way as they are; a number beyond float32, which scikit-learn refuses, goes as
    infinity. Shares, labels and numbers have the bits of scikit-learn, with ``n_jobs=None`` or 1 there. Nodes are
    numbered as here, children side by side. Parameters stay as far as they are known here; they matter to ``fit``
    alone, but for ``missing="error"`` where scikit-learn takes no missing values.

    Parameters
    ----------
    model : fitted estimator
        DecisionTree, ExtraTree, RandomForest or ExtraTrees of scikit-learn, for classes or numbers, of any number of
        outputs. What else scikit-learn has, and what was derived from these, is a TypeError.

    Returns
    -------
    estimator
        Of this package; to save, export, print and prune. Which rows a bootstrapped forest drew, it does not know.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from dtnumba import from_sklearn
    >>> theirs = DecisionTreeClassifier().fit([[1], [2], [8], [9]], ["low", "low", "high", "high"])
    >>> from_sklearn(theirs).predict([[3], [7]]).tolist()
    ['low', 'high']

    """
    name, is_forest = _demand_known(model), type(model).__name__ in _FORESTS
    if not hasattr(model, "estimators_" if is_forest else "tree_"):
        raise not_fitted(f"from_sklearn: this {name} is not fitted yet; call its 'fit' before")
    own = _with_parameters(model, name)
    sizes = [int(size) for size in np.atleast_1d(model.n_classes_)] if hasattr(model, "classes_") else None
    widths = [1] * int(model.n_outputs_) if sizes is None else sizes
    members = list(model.estimators_) if is_forest else [model]
    parts = [_trees_of(member.tree_, widths, name) for member in members]
    trees, n_features = joined(parts), int(model.n_features_in_)
    assert trees is not None
    check(trees, n_features)
    learned: dict[str, Any] = {"n_features_in_": n_features, "n_outputs_": len(widths)}
    learned["max_features_"] = int(members[0].max_features_)
    if sizes is not None:
        classes = [np.asarray(one) for one in ([model.classes_] if len(sizes) == 1 else model.classes_)]
        counts = np.array(sizes)
        is_one = len(sizes) == 1
        learned |= {"classes_": classes[0] if is_one else classes, "n_classes_": counts[0] if is_one else counts}
        learned["_rule"] = None
    if hasattr(model, "feature_names_in_"):
        learned["feature_names_in_"] = np.asarray(model.feature_names_in_)
    learned |= _of_forest(model, trees, widths) if is_forest else {"tree_": TreeView(trees, n_features, widths)}
    vars(own).update(learned)
    return own


def _demand_known(model: Any) -> str:
    """Return the name of the model's class; TypeError where it is none of those that can be taken."""
    kind = type(model)
    name, known = kind.__name__, ", ".join(_TREES + _FORESTS)
    if isinstance(model, type):
        raise TypeError(f"from_sklearn: {model.__name__} is a class; pass a fitted estimator of it")
    if kind.__module__.startswith("sklearn.") and name in _TREES + _FORESTS:
        return name
    above = [base.__name__ for base in kind.__mro__[1:] if base.__module__.startswith("sklearn.")]
    if not kind.__module__.startswith("sklearn.") and above and above[0] in _TREES + _FORESTS:
        raise TypeError(
            f"from_sklearn: {kind.__module__}.{name} was derived from {above[0]}, and may predict otherwise; pass a "
            f"{above[0]} of scikit-learn itself"
        )
    hint = "; of a pipeline, pass its last step" if name == "Pipeline" else ""
    hint = hint or ("; of a search, pass its best_estimator_" if hasattr(model, "best_estimator_") else "")
    raise TypeError(f"from_sklearn: model={kind.__module__}.{name}: it takes scikit-learn's {known}{hint}")


def _with_parameters(model: Any, name: str) -> Any:
    """Return a model that is not fitted, with the parameters that both know."""
    from dtnumba.estimators import decision_tree, forest

    kind, theirs = getattr(forest if name in _FORESTS else decision_tree, name), model.get_params(deep=False)
    given = {}
    for field in fields(kind):
        rule = field.metadata.get("rule")
        if field.name in theirs and (rule is None or rule.holds(theirs[field.name])):
            given[field.name] = theirs[field.name]
    if not _takes_missing(model):
        given["missing"] = "error"
    return kind(**given)


def _takes_missing(model: Any) -> bool:
    """Tell whether scikit-learn predicts rows without some values; its versions before 1.3 never did."""
    try:
        return bool(model.__sklearn_tags__().input_tags.allow_nan)
    except AttributeError:
        return bool(model._get_tags().get("allow_nan", False)) if hasattr(model, "_get_tags") else False  # noqa: SLF001


def _of_forest(model: Any, trees: Trees, widths: list[int]) -> dict[str, Any]:
    """Return what a forest learns besides: of which rows its trees were made only where that was all of them."""
    trees = trees._replace(adds_both=True)
    learned: dict[str, Any] = {"forest_": ForestView(trees, int(model.n_features_in_), widths)}
    learned["n_estimators_"], learned["_drawing"] = trees.n_trees, None
    n_rows = getattr(model, "_n_samples", None)  # where no rows are drawn, the number of rows says which they are
    if not model.bootstrap and n_rows is not None:
        learned["_drawing"] = Drawing(Everything(int(n_rows)), int(n_rows), whole=True)
    seed = model.random_state
    learned["seed_"] = int(seed) if isinstance(seed, (int, np.integer)) and seed >= 0 else 0
    if hasattr(model, "oob_score_"):
        learned["oob_score_"] = float(model.oob_score_)
    for name in ("oob_decision_function_", "oob_prediction_"):
        if hasattr(model, name):
            learned[name] = np.array(getattr(model, name))
    return learned


def _trees_of(tree: Any, widths: list[int], name: str) -> Trees:
    """Return one tree, its nodes in the order of this package: numbered when their parent is reached, depth first."""
    left, right = (np.asarray(column, np.int64) for column in (tree.children_left, tree.children_right))
    number, order = _numbers(left, right)
    is_leaf = left[order] < 0
    weight, impurity = (np.array(column, np.float64) for column in (tree.weighted_n_node_samples, tree.impurity))
    if not (np.isfinite(weight) & (weight >= 0)).all():
        node = int(np.argmin(np.isfinite(weight) & (weight >= 0)))
        raise ValueError(
            f"from_sklearn: node {node} of this {name} has the weight {weight[node]}, and no model here has rows of "
            "negative weight; fit it with a sample_weight of zero and above"
        )
    with np.errstate(all="ignore"):  # a leaf reads the last node here; impurities may be no numbers
        within = weight[left] * impurity[left] + weight[right] * impurity[right]
        gain = np.where((left < 0) | (weight == 0.0), 0.0, impurity - within / weight)
    value = np.concatenate([tree.value[:, o, :k] for o, k in enumerate(widths)], axis=1)
    features = np.asarray(tree.feature)
    floored = floor_to(np.asarray(tree.threshold, np.float64), np.float32).astype(np.float64)
    threshold = compared(floored, features, _FLOAT32, 64)
    children = [np.where(is_leaf, LEAF, number[side[order]]).astype(np.int32) for side in (left, right)]
    goes_left = tree.missing_go_to_left if hasattr(tree, "missing_go_to_left") else np.zeros(len(left), np.uint8)
    return Trees(
        root=np.array([0, len(left)], np.int64),
        feature=np.where(is_leaf, LEAF, features[order]).astype(np.int32),
        threshold=np.where(is_leaf, np.nan, threshold[order]),
        left=children[0],
        right=children[1],
        missing_left=np.where(is_leaf, 0, np.asarray(goes_left)[order]).astype(np.uint8),
        value=np.ascontiguousarray(value[order], np.float64),
        branch_start=NO_MAP,
        branch=NO_LEVELS,
        cut_start=NO_MAP,
        cut=np.zeros(0),
        n_samples=np.asarray(tree.n_node_samples, np.int64)[order],
        weight=weight[order],
        impurity=impurity[order],
        gain=gain[order],
    )


def _numbers(left: NDArray[np.int64], right: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the number of every node, and the node of every number; a pass a level.

    The children of the inner node that is reached as the r-th, depth first, are 1 + 2 r and 2 + 2 r.
    """
    levels = [np.zeros(1, np.int64)]
    while len(levels[-1]):
        inner = levels[-1][left[levels[-1]] >= 0]
        levels.append(np.concatenate([left[inner], right[inner]]))
    n_inner = np.zeros(len(left), np.int64)  # of the subtree
    for level in reversed(levels):
        inner = level[left[level] >= 0]
        n_inner[inner] = 1 + n_inner[left[inner]] + n_inner[right[inner]]
    reached, number = np.zeros(len(left), np.int64), np.zeros(len(left), np.int64)
    for level in levels:
        inner = level[left[level] >= 0]
        reached[left[inner]] = reached[inner] + 1
        reached[right[inner]] = reached[inner] + 1 + n_inner[left[inner]]
        number[left[inner]], number[right[inner]] = 1 + 2 * reached[inner], 2 + 2 * reached[inner]
    order = np.empty(len(left), np.int64)
    order[number] = np.arange(len(left))
    return number, order


__all__ = ["from_sklearn"]
