"""Trees and forests as fitted estimators of scikit-learn, where its tests of one threshold can say what they ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.export.reading import UP_TO, ExportError, ReadTrees, codes_of, kinds_of, read_trees, refuse
from dtnumba.trees.graphs import JOINING
from dtnumba.trees.layout import BY_SHARE, STAYS, depths, n_entries, one_tree

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.trees.layout import Trees

_FORMAT = "to_sklearn"
_OTHERWISE = "export.python, c or sql write such a model"


def to_sklearn(model: Any) -> Any:
    """Return a fitted estimator of scikit-learn that predicts the same, with its own ``tree_`` or ``estimators_``.

    Its ``plot_tree``, ``export_text`` and whatever walks ``tree_`` work on it; nodes keep their numbers. scikit-learn
    rounds rows to float32 before it compares them, so rows whose values are no float32 may go another way where such a
    value lies as near to a threshold as that.

    Parameters
    ----------
    model : fitted estimator
        Of trees in which each test is one threshold, and missing values go to a child.

    Returns
    -------
    DecisionTreeClassifier, DecisionTreeRegressor, or a forest of scikit-learn
        An ExportError names nodes and the reason where there is no such estimator.

    """
    try:
        from sklearn import ensemble, tree
    except ImportError as error:
        raise ImportError(
            "to_sklearn() returns an estimator of scikit-learn, which is not installed: pip install scikit-learn"
        ) from error
    found = read_trees(model, _FORMAT, "float32")
    _check(found, model)
    values = _values(found)
    kind = "Classifier" if found.columns.classes is not None else "Regressor"
    single = getattr(tree, f"DecisionTree{kind}")
    if not found.is_mean:
        own = _with_names(single(), model, found)
        own.tree_ = _tree_of(found.trees, values, found)
        return own
    name = "ExtraTrees" if type(model).__name__.startswith("ExtraTrees") else "RandomForest"
    forest = _with_names(getattr(ensemble, f"{name}{kind}")(n_estimators=found.trees.n_trees), model, found)
    ends = found.trees.root
    single = getattr(tree, f"{'ExtraTree' if name == 'ExtraTrees' else 'DecisionTree'}{kind}")
    forest.estimator_, forest.estimators_ = single(), []
    for t in range(found.trees.n_trees):
        own = _with_names(single(), model, found, is_part=True)
        own.tree_ = _tree_of(one_tree(found.trees, t), values[ends[t] : ends[t + 1]], found)
        forest.estimators_.append(own)
    return forest


def _check(found: ReadTrees, model: Any) -> None:
    """Raise where scikit-learn has no words for what a model does."""
    trees = found.trees
    if trees.is_compact:
        raise ExportError(
            f"{_FORMAT}: compact() dropped what nodes of scikit-learn hold; fit the model again, and convert it before"
        )
    refuse(_FORMAT, np.flatnonzero(trees.join >= 0), JOINING, _OTHERWISE)
    kinds = kinds_of(trees)
    among = np.flatnonzero(kinds > UP_TO)
    refuse(_FORMAT, among, "they ask for categories, or for ranges; scikit-learn has one threshold a test", _OTHERWISE)
    if trees.policy == BY_SHARE:
        asks = np.flatnonzero(kinds)
        refuse(_FORMAT, asks, "they send rows without a value to both children in parts", _OTHERWISE)
    refuse(_FORMAT, np.flatnonzero(trees.missing_left == STAYS), "rows without a value end there", _OTHERWISE)
    asks = np.flatnonzero(n_entries(trees.surrogates.start, trees.n_nodes))
    refuse(_FORMAT, asks, "they have surrogates", _OTHERWISE)
    if found.is_mean and model._voting() != "soft":  # noqa: SLF001  as its predict asks
        raise ExportError(f"{_FORMAT}: the trees vote by labels, and those of scikit-learn by shares; {_OTHERWISE}")
    if found.is_mean and found.rule is not None:
        raise ExportError(f"{_FORMAT}: labels are those of least cost, which scikit-learn does not know; {_OTHERWISE}")


def _values(found: ReadTrees) -> NDArray[np.float64]:
    """Return what every node says, a share a class; ExportError where the largest share is not of its label."""
    said = found.said
    if found.says_second:
        said = np.concatenate([1.0 - said, said], axis=1)
    said = said[:, : found.columns.width]
    if found.codes is not None:
        other = (codes_of(said, found.columns.sizes, None) != found.codes).any(axis=1)
        reason = "their label is not of their largest share (costs, or corrected shares)"
        refuse(_FORMAT, np.flatnonzero(other), reason, _OTHERWISE)
    return said


def _with_names(own: Any, model: Any, found: ReadTrees, *, is_part: bool = False) -> Any:
    """Return an estimator of scikit-learn with what it learns in ``fit`` but for its trees."""
    columns = found.columns
    own.n_features_in_, own.n_outputs_ = len(columns.names), len(columns.sizes)
    if not hasattr(own, "estimators_") and hasattr(own, "max_features"):
        own.max_features_ = len(columns.names)
    if model.columns_seen.names is not None and not is_part:
        own.feature_names_in_ = np.asarray([str(name) for name in model.columns_seen.names], object)
    if columns.classes is not None:
        lists = [np.arange(float(len(one))) for one in columns.classes] if is_part else model.class_lists()
        classes = [np.asarray(one) for one in lists]
        sizes = [np.int64(size) for size in columns.sizes]
        own.classes_, own.n_classes_ = (classes, sizes) if len(classes) > 1 else (classes[0], sizes[0])
    return own


def _tree_of(trees: Trees, values: NDArray[np.float64], found: ReadTrees) -> Any:
    """Return the arrays of one tree as scikit-learn's."""
    from sklearn.tree._tree import NODE_DTYPE, Tree

    columns = found.columns
    is_leaf = trees.feature < 0
    nodes = np.zeros(trees.n_nodes, NODE_DTYPE)
    nodes["left_child"], nodes["right_child"] = trees.left, trees.right
    nodes["feature"] = np.where(is_leaf, -2, trees.feature)
    nodes["threshold"] = np.where(is_leaf, -2.0, trees.threshold)
    nodes["impurity"], nodes["n_node_samples"] = trees.impurity, trees.n_samples
    nodes["weighted_n_node_samples"], nodes["missing_go_to_left"] = trees.weight, trees.missing_left
    most = max(columns.sizes)
    held = np.zeros((trees.n_nodes, len(columns.sizes), most))
    for o, part in enumerate(np.split(values, np.cumsum(columns.sizes)[:-1], axis=1)):
        held[:, o, : part.shape[1]] = part
    tree = Tree(len(columns.names), np.asarray(columns.sizes, np.intp), len(columns.sizes))
    depth = int(depths(trees).max())
    tree.__setstate__({"max_depth": depth, "node_count": trees.n_nodes, "nodes": nodes, "values": held})
    return tree
