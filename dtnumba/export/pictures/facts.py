"""What a model is, in few lines: its parameters and what ``fit`` has found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.export.pictures.words import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dtnumba.export.reading import Columns

_LONGEST = 300  # of a parameter's value


def parameters_of(model: Any) -> list[tuple[str, str]]:
    """Return the parameters by name, as they would be written; long ones cut short."""
    found = []
    for name, value in model.get_params(deep=False).items():
        with np.printoptions(threshold=20, edgeitems=3):
            text = clean(repr(value))
        found.append((name, text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"))
    return found


def facts_of(model: Any) -> list[str]:
    """Return how large a fitted model is, and of what."""
    found = []
    if isinstance(getattr(model, "rules_", None), list):  # a set a trial
        found += [_many(len(model.rules_), "trial")] * (len(model.rules_) > 1)
        found.append(_many(sum(map(len, model.rules_)), "rule"))
    elif hasattr(model, "trees_"):
        trees, is_forest = model.trees_, hasattr(model, "forest_") or not hasattr(model, "tree_")
        if is_forest:
            found.append(_many(trees.n_trees, "tree"))
        found += [_many(trees.n_nodes, "node"), _many(trees.n_leaves, "leaf", "leaves")]
        if not is_forest:
            found.append(f"depth {model.tree_.max_depth:,}")
    elif hasattr(model, "rules_"):
        found.append(_many(len(model.rules_), "rule"))
    elif hasattr(model, "splines_"):
        found.append(_many(model.n_terms_, "term"))
    found.append(_many(model.n_features_in_, "column"))
    if hasattr(model, "classes_"):
        found += [_many(len(own), "class", "classes") for own in model.class_lists()]
    elif model.n_outputs_ > 1:
        found.append(_many(int(model.n_outputs_), "output"))
    return found


def _many(n: int, one: str, more: str | None = None) -> str:
    return f"{n:,} {one if n == 1 else more or one + 's'}"


def renamed(columns: Columns, feature_names: Sequence[Any] | None, class_names: Sequence[Any] | None) -> Columns:
    """Return the columns under other names, as many as there are."""
    if feature_names is not None:
        names = [str(name) for name in _sequence("feature_names", feature_names)]
        if len(names) != len(columns.names):
            raise ValueError(
                f"feature_names: {len(names)} names for {len(columns.names)} columns; pass one for each column of fit"
            )
        columns = columns._replace(names=names)
    if class_names is None:
        return columns
    if columns.classes is None:
        raise ValueError("class_names: the model predicts numbers and has no classes; leave class_names out")
    given = _sequence("class_names", class_names)
    of_outputs = [given] if len(columns.classes) == 1 else [_sequence("class_names", own) for own in given]
    sizes = [len(own) for own in of_outputs]
    if sizes != columns.sizes:
        raise ValueError(
            f"class_names: {sizes} names for outputs of {columns.sizes} classes; pass one for each of classes_, "
            "in their order"
        )
    return columns._replace(classes=of_outputs)


def _sequence(name: str, given: Any) -> list[Any]:
    if isinstance(given, (str, bytes)) or not hasattr(given, "__iter__"):
        raise TypeError(f"{name}={given!r}: must be a sequence of names")
    return list(given)
