"""``save`` and ``load``: which attributes of each learner a model file holds. A learner more is a line of ``LEARNERS``.

Everything learned is here by name, with the test that it must pass when it is read from a file that may lie.
"""

from __future__ import annotations

from dataclasses import fields
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.estimators.bases.estimator import version
from dtnumba.estimators.incremental.stored_rows import are_rows
from dtnumba.growth.graphs.growing import ACTIONS
from dtnumba.model_files.container import ModelFileError, read, write
from dtnumba.model_files.objects import DUMPS, LOADS
from dtnumba.model_files.values import Absent, NotStoredError, Reader, Writer
from dtnumba.prediction.forest_view import ForestView
from dtnumba.prediction.tree_view import TreeView
from dtnumba.rules.view import RuleList
from dtnumba.trees.layout import BY_SHARE

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping


def _is_count(value: Any, learned: Mapping[str, Any]) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and int(value) >= 0


def _is_some(value: Any, learned: Mapping[str, Any]) -> bool:
    return _is_count(value, learned) and 0 < value < 1 << 31


def _is_size(value: Any, learned: Mapping[str, Any]) -> bool:
    return value is None or _is_some(value, learned)


def _is_number(value: Any, learned: Mapping[str, Any]) -> bool:
    return isinstance(value, (float, int, np.number))


def _is_array(value: Any, learned: Mapping[str, Any]) -> bool:
    arrays = value if isinstance(value, list) else [value]
    return all(isinstance(one, np.ndarray) for one in arrays)


def _is_scored(value: Any, learned: Mapping[str, Any]) -> bool:
    return _is_number(value, learned) or _is_array(value, learned) or value is None


def _are_names(value: Any, learned: Mapping[str, Any]) -> bool:
    return isinstance(value, np.ndarray) and value.shape == (learned["n_features_in_"],)


def _are_levels(value: Any, learned: Mapping[str, Any]) -> bool:
    """One array of different levels a column of categories."""
    listed = isinstance(value, list) and len(value) == learned["n_features_in_"]
    return listed and all(one is None or (_is_array(one, learned) and one.ndim == 1) for one in value)


def _are_classes(value: Any, learned: Mapping[str, Any]) -> bool:
    n_outputs, sizes = learned["n_outputs_"], np.atleast_1d(learned["n_classes_"])
    each = value if n_outputs > 1 and isinstance(value, list) else [value]
    fits = len(each) == len(sizes) == n_outputs and all(isinstance(one, np.ndarray) for one in each)
    return fits and all(one.shape == (k,) for one, k in zip(each, sizes, strict=True))


def _are_sizes(value: Any, learned: Mapping[str, Any]) -> bool:
    each = np.atleast_1d(value)
    legal = isinstance(value, (np.ndarray, np.integer)) and each.dtype.kind == "i" and each.ndim == 1
    return legal and bool((each > 0).all())


def _is_rule(value: Any, learned: Mapping[str, Any]) -> bool:
    k = learned["n_classes_"]
    return value is None or (type(value).__name__ == "LeastCost" and np.ndim(k) == 0 and value.costs.shape == (k, k))


def _is_view(value: Any, learned: Mapping[str, Any]) -> bool:
    fits = isinstance(value, (TreeView, ForestView)) and value.n_features == learned["n_features_in_"]
    fits = fits and len(value.n_classes) == learned["n_outputs_"]
    return fits and np.array_equal(value.n_classes, np.atleast_1d(learned.get("n_classes_", value.n_classes * 0 + 1)))


def _is_tree(value: Any, learned: Mapping[str, Any]) -> bool:
    return isinstance(value, TreeView) and _is_view(value, learned)


def _is_forest(value: Any, learned: Mapping[str, Any]) -> bool:
    return isinstance(value, ForestView) and _is_view(value, learned)


def _are_rules(value: Any, learned: Mapping[str, Any]) -> bool:
    fits = isinstance(value, RuleList) and value._given[2] == learned["n_features_in_"]  # noqa: SLF001
    return fits and len(value.classes) == learned["n_classes_"]


def _are_trees(value: Any, learned: Mapping[str, Any]) -> bool:
    """One tree a trial, whose cases answers read."""
    listed = isinstance(value, list) and len(value) > 0 and all(_is_tree(one, learned) for one in value)
    return listed and all(one.trees.policy == BY_SHARE and not one.trees.is_compact for one in value)


def _are_rows_held(value: Any, learned: Mapping[str, Any]) -> bool:
    """Rows of the columns and classes of the model, which a removal reads by their levels and codes."""
    if type(value).__name__ != "RowsKept" or value.n_rows != learned["_drawing"].n_rows:
        return False
    n, p, levels = value.n_rows, learned["n_features_in_"], learned.get("categories_")
    if value.values.shape != (n, p) or value.outcome.shape != (n, learned["n_outputs_"]):
        return False
    for f, names in enumerate([None] * p if levels is None else levels):
        column = value.values[:, f]
        if names is not None and not np.isin(column[~np.isnan(column)], np.arange(len(names))).all():
            return False
    sizes = np.atleast_1d(learned.get("n_classes_", 0))
    return "n_classes_" not in learned or bool((value.outcome < sizes).all())


def _are_sets_of_rules(value: Any, learned: Mapping[str, Any]) -> bool:
    listed = isinstance(value, list) and len(value) == len(learned["trial_trees_"])
    return listed and all(_are_rules(one, learned) for one in value)


def _is_real(value: Any, *shape: int) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == np.float64 and value.shape == shape


def _are_soft_cuts(value: Any, learned: Mapping[str, Any]) -> bool:
    """Three ascending numbers of some of the nodes that cut numbers, of each tree."""
    trees = [one.trees for one in learned["trial_trees_"]]
    if not isinstance(value, list) or len(value) != len(trees):
        return False
    for own, tree in zip(value, trees, strict=True):
        if not _is_real(own, tree.n_nodes, 3):
            return False
        is_soft = ~np.isnan(own).all(axis=1)
        cuts = (tree.feature >= 0) & (tree.right == tree.left + 1) & np.isfinite(tree.threshold)
        ascends = np.isfinite(own).all(axis=1) & (own[:, 0] < own[:, 1]) & (own[:, 1] < own[:, 2])
        if not (cuts & ascends)[is_soft].all():
            return False
    return True


def _is_of_trials(value: Any, learned: Mapping[str, Any]) -> bool:
    return _is_real(value, len(learned["trial_trees_"]))


def _is_of_features(value: Any, learned: Mapping[str, Any]) -> bool:
    return _is_real(value, learned["n_features_in_"])


def _is_of_rules(value: Any, learned: Mapping[str, Any]) -> bool:
    return "rules_" in learned and _is_real(value, len(learned["rules_"][0]))


def _is_of_classes(value: Any, learned: Mapping[str, Any]) -> bool:
    return _is_real(value, int(learned["n_classes_"]), int(learned["n_classes_"]))


def _are_features(value: Any, learned: Mapping[str, Any]) -> bool:
    listed = isinstance(value, np.ndarray) and value.dtype == np.int64 and value.ndim == 1
    return listed and bool(((value >= 0) & (value < learned["n_features_in_"])).all())


def _is_of_nodes(value: Any, learned: Mapping[str, Any]) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == np.float64 and value.shape == (learned["tree_"].node_count,)


def _is_kind(*names: str) -> Callable[[Any, Mapping[str, Any]], bool]:
    """Accept objects of the package by the names of their types, or a list of them."""

    def holds(value: Any, learned: Mapping[str, Any]) -> bool:
        return all(type(one).__name__ in names for one in (value if isinstance(value, list) else [value]))

    return holds


def _are_splines(value: Any, learned: Mapping[str, Any]) -> bool:
    if type(value).__name__ != "Splines" or len(value.hinges.fill) != learned["n_features_in_"]:
        return False
    n_classes = int(np.max(learned.get("n_classes_", 0)))
    return bool(value.coefficients.shape[1] == (n_classes if n_classes > 2 else learned["n_outputs_"]))


def _are_hinges(value: Any, learned: Mapping[str, Any]) -> bool:
    return type(value).__name__ == "Hinges" and len(value.fill) == learned["n_features_in_"]


def _is_path(value: Any, learned: Mapping[str, Any]) -> bool:
    return type(value).__name__ == "SplinePath" and len(value.rss) == learned["_forward"].n_terms


def _are_kept(value: Any, learned: Mapping[str, Any]) -> bool:
    n, legal = learned["_forward"].n_terms, isinstance(value, np.ndarray) and value.dtype == np.int64
    legal = legal and value.shape == (learned["splines_"].hinges.n_terms,)
    return legal and bool((value >= 0).all() and (value < n).all())


def _is_reach(value: Any, learned: Mapping[str, Any]) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == np.float64 and value.shape == (learned["n_features_in_"], 2)


class _Stores(NamedTuple):
    """What a file holds of a learner: where it stands, what it always learns, and what it learns at times."""

    module: str
    always: dict[str, Any]
    at_times: dict[str, Any]


_SEEN = {"n_features_in_": _is_some, "n_outputs_": _is_some}
_CLASSES = {"n_classes_": _are_sizes, "classes_": _are_classes, "_rule": _is_rule}
# What the shell takes columns for (numbers, dates, categories) stands beside their names.
_NAMES = {"feature_names_in_": _are_names, "categories_": _are_levels, "column_kinds_": _are_names}
_TREE = {"tree_": _is_tree}
_GROWN = {"max_features_": _is_some}
_ROWS = {"_rows": are_rows}
_CHOSEN = {"max_leaf_nodes_": _is_size, "cv_errors_": _is_array}
_FOREST = {
    "forest_": _is_forest,
    "n_estimators_": _is_some,
    "max_features_": _is_some,
    "seed_": _is_count,
    "_drawing": _is_kind("Drawing", "NoneType"),
}
_MEASURED = {"importances_": _is_kind("Importances"), "oob_score_": _is_scored}
_HELD = {"_held": _are_rows_held}
_SHARES, _VALUES = {"oob_decision_function_": _is_array}, {"oob_prediction_": _is_array}
_CHAID = {
    **dict.fromkeys(("p_value_", "adjusted_p_value_", "log_p_value_", "statistic_", "df_", "df_within_"), _is_of_nodes),
    "root_tests_": _is_kind("PredictorTest"),
}
def _are_steps(value: Any, learned: Mapping[str, Any]) -> bool:
    actions = learned["_actions"]
    return isinstance(actions, np.ndarray) and actions.ndim == 1 and _is_real(value, len(actions), 6)


def _are_actions(value: Any, learned: Mapping[str, Any]) -> bool:
    legal = isinstance(value, np.ndarray) and value.dtype == np.int64 and value.ndim == 1
    return legal and bool(((value >= 0) & (value < len(ACTIONS))).all())


_RULES = {"rules_": _are_rules}
_GRAPH = {"_actions": _are_actions, "_steps": _are_steps, "_length": lambda value, _: _is_real(value, 3)}
_GRAPH["_of_forest"] = _is_count
_SPLINES = {
    "splines_": _are_splines,
    "_forward": _are_hinges,
    "path_": _is_path,
    "_kept": _are_kept,
    "_reach": _is_reach,
    **dict.fromkeys(("rss_", "gcv_", "rsq_", "grsq_", "_penalty", "_ended", "_n_rows"), _is_number),
}
_SQUARES = {"_by_output": _is_array}
_LOGISTIC = dict.fromkeys(("deviance_", "null_deviance_", "n_steps_", "converged_"), _is_number)
_TRIALS = {
    "trial_trees_": _are_trees,
    "winnowed_features_": _are_features,
    "ordered_features_": _are_features,
}
_TRIALS_AT_TIMES = {
    "trial_errors_": _is_of_trials,
    "trial_costs_": _is_of_trials,
    "feature_usage_": _is_of_features,
    "errors_": _is_number,
    "n_cases_": _is_number,
    "rules_": _are_sets_of_rules,
    "winnow_importances_": _is_of_features,
    "utility_errors_": _is_of_rules,
    "confusion_": _is_of_classes,
    "soft_cuts_": _are_soft_cuts,
    "stopped_after_": _is_count,
    "stopped_without_errors_": _is_number,
}
_PROVEN = {
    **dict.fromkeys(("loss_", "objective_", "lower_bound_", "gap_", "is_optimal_"), _is_number),
    "n_explored_": _is_count,
    "history_": _is_array,
}

_TREE_OF_CLASSES = _Stores("decision_tree", _SEEN | _CLASSES | _TREE | _GROWN, _NAMES | _CHOSEN)
_TREE_OF_NUMBERS = _Stores("decision_tree", _SEEN | _TREE | _GROWN, _NAMES | _CHOSEN)
_WITH_ROWS = [
    _Stores("incremental.trees", stores.always | _ROWS, stores.at_times)
    for stores in (_TREE_OF_CLASSES, _TREE_OF_NUMBERS)
]
_FOREST_OF_CLASSES = _Stores("forest", _SEEN | _CLASSES | _FOREST, _NAMES | _MEASURED | _SHARES)
_FOREST_OF_NUMBERS = _Stores("forest", _SEEN | _FOREST, _NAMES | _MEASURED | _VALUES)
_FORGETTING_CLASSES = _FOREST_OF_CLASSES._replace(at_times=_FOREST_OF_CLASSES.at_times | _HELD)
_FORGETTING_NUMBERS = _FOREST_OF_NUMBERS._replace(at_times=_FOREST_OF_NUMBERS.at_times | _HELD)

LEARNERS = {
    "C45Classifier": _Stores("c45", _SEEN | _CLASSES | _TREE, _NAMES),
    "C50Classifier": _Stores("c50", _SEEN | _CLASSES | _TRIALS, _NAMES | _TRIALS_AT_TIMES),
    "CHAIDClassifier": _Stores("chaid", _SEEN | _CLASSES | _TREE | _CHAID, _NAMES),
    "CHAIDRegressor": _Stores("chaid", _SEEN | _TREE | _CHAID, _NAMES),
    "DecisionGraphClassifier": _Stores("graphs.decision_graph", _SEEN | _CLASSES | _TREE | _GRAPH, _NAMES),
    "DecisionListClassifier": _Stores("decision_list", _SEEN | _CLASSES | _RULES, _NAMES),
    "DecisionTreeClassifier": _TREE_OF_CLASSES,
    "DecisionTreeRegressor": _TREE_OF_NUMBERS,
    "ExtraTreeClassifier": _TREE_OF_CLASSES,
    "ExtraTreeRegressor": _TREE_OF_NUMBERS,
    "ExtraTreesClassifier": _FORGETTING_CLASSES,
    "ExtraTreesRegressor": _FORGETTING_NUMBERS,
    "ID3Classifier": _Stores("id3", _SEEN | _CLASSES | _TREE, _NAMES),
    "IncrementalTreeClassifier": _WITH_ROWS[0],
    "IncrementalTreeRegressor": _WITH_ROWS[1],
    "MARSClassifier": _Stores("mars", _SEEN | _CLASSES | _SPLINES | _LOGISTIC, _NAMES | {"cv_rsq_": _is_array}),
    "MARSRegressor": _Stores("mars", _SEEN | _SPLINES | _SQUARES, _NAMES | {"cv_rsq_": _is_array}),
    "ObliqueForestClassifier": _FOREST_OF_CLASSES._replace(module="oblique.forests"),
    "ObliqueForestRegressor": _FOREST_OF_NUMBERS._replace(module="oblique.forests"),
    "ObliqueTreeClassifier": _TREE_OF_CLASSES._replace(module="oblique.trees"),
    "ObliqueTreeRegressor": _TREE_OF_NUMBERS._replace(module="oblique.trees"),
    "OptimalTreeClassifier": _Stores("optimal.trees", _SEEN | _CLASSES | _TREE, _NAMES | _PROVEN),
    "OptimalTreeRegressor": _Stores("optimal.trees", _SEEN | _TREE, _NAMES | _PROVEN),
    "RandomForestClassifier": _FORGETTING_CLASSES,
    "RandomForestRegressor": _FORGETTING_NUMBERS,
    "RuleSetClassifier": _Stores("rule_set", _SEEN | _CLASSES | _RULES, _NAMES),
}

_OF_FITS = {"criterion", "prune"}  # whose names may have been registered by a program of the user
# Of objects that a file may not hold, those that prediction does not look at
_MAY_BE_ABSENT = {"verbose", "random_state", "class_weight", "categorical_features", "monotonic_cst", "interaction_cst"}


def _check_asked(held: Mapping[str, Any], names: Any, model: Any, learner: str) -> None:
    """Raise where a parameter is not legal, as ``fit`` would; what prediction does not read may be known elsewhere."""
    for field in fields(model):
        rule, value = field.metadata.get("rule"), held[field.name]
        is_elsewhere = isinstance(value, Absent) and field.name in _MAY_BE_ABSENT
        if field.name in names and field.name not in _OF_FITS and rule is not None and not is_elsewhere:
            rule.check(field.name, value, learner)


def _class_of(learner: str) -> Any:
    return getattr(import_module(f"dtnumba.estimators.{LEARNERS[learner].module}"), learner)


def save_model(model: Any, path: Any, *, compact: bool = False) -> None:
    """Write a fitted model to a file; see ``Estimator.save``."""
    model.check_fitted()
    learner = type(model).__name__
    if learner not in LEARNERS or type(model) is not _class_of(learner):
        raise TypeError(
            f"save: {type(model).__module__}.{type(model).__qualname__} is no class of dtnumba, and a file names no "
            "others; pickle it, or save a model of the class that it is made from"
        )
    if compact and hasattr(model, "compact"):
        from copy import copy

        model = copy(model).compact()
    stores, writer, held = LEARNERS[learner], Writer(DUMPS), model.stored()
    header: dict[str, Any] = {"made_by": f"dtnumba {version()}", "learner": learner}
    names = [field.name for field in fields(model)]
    _check_asked(held, names, model, learner)
    header["parameters"] = {name: writer.parameter(f"parameters.{name}", held[name]) for name in names}
    header["learned"] = {}
    for name in (*stores.always, *stores.at_times):
        if name in held:
            try:
                header["learned"][name] = writer.value(name, held[name])
            except NotStoredError as error:
                raise TypeError(
                    f"save: {name} of this {learner} holds {error}, which a model file cannot hold: it holds numbers, "
                    "text, bytes, dates, durations and None; use such labels and levels, or pickle the model"
                ) from error
    write(path, header, writer.arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """Return the model that a file holds, which answers as the one that was saved, to the bit.

    Nothing in the file is run or imported, so files of strangers may be read. Large files are mapped, and their pages
    are shared by all processes that read them.

    Parameters
    ----------
    path : str or path
        Of a file that ``model.save(path)`` has written, by this version of dtnumba or an earlier one.

    Raises
    ------
    ModelFileError
        Where the file is no model file, is damaged, or is of a newer version; it says which.

    """
    content = read(path)
    reader, header = Reader(content, LOADS), content.header
    learner: Any = header.get("learner")
    given: Any = header.get("parameters")
    learned: Any = header.get("learned")
    if not isinstance(learner, str) or learner not in LEARNERS:
        raise content.wrong(f"it holds a {learner!r}, which this dtnumba does not know", "load it with a newer one")
    reader.demand(isinstance(given, dict) and isinstance(learned, dict), "it has no parameters, or learned nothing")
    stores, cls = LEARNERS[learner], _class_of(learner)
    known = {field.name for field in fields(cls)}
    unknown = [name for name in given if name not in known]
    unknown += [name for name in learned if name not in stores.always and name not in stores.at_times]
    absent = [name for name in stores.always if name not in learned]
    reader.demand(not unknown, f"a {learner} has no {unknown[:1]}")
    reader.demand(not absent, f"its {learner} has not learned {absent[:1]}")
    with reader.objecting("parameters"):
        model = cls(**{name: reader.value(said) for name, said in given.items()})
        _check_asked(vars(model), given, cls, learner)
    found: dict[str, Any] = {}
    for name, test in (stores.always | stores.at_times).items():
        if name in learned:
            with reader.objecting(name):
                found[name] = reader.value(learned[name])
                reader.demand(test(found[name], found), f"{name} of its {learner} is not what it must be")
    model.take_stored(found)
    return model


__all__ = ["LEARNERS", "ModelFileError", "load", "save_model"]
