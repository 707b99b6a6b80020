"""The gate for constraints: ``monotonic_cst`` and ``interaction_cst`` become arrays by feature, or an error."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.growth.policies.interactions import Groups

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.growth.settings import Settings
    from dtnumba.tables.binned_table import Features


# Shorthands of ``interaction_cst``: different features on a path, at most.
SHORTHANDS = {"pairwise": 2, "no_interactions": 1}
_SIGNS = "1 (predictions must not fall as the feature rises), -1 (must not rise) or 0 (anything)"


def constrained(
    settings: Settings, monotonic_cst: Any, interaction_cst: Any, table: Features, outcome: Any
) -> Settings:
    """Return the settings with the constraints of a fit; what constrains nothing is left out."""
    signs = None if monotonic_cst is None else read_monotonic(monotonic_cst, table, outcome)
    groups = None if interaction_cst is None else read_interactions(interaction_cst, table)
    return settings if signs is None and groups is None else replace(settings, signs=signs, groups=groups)


def read_monotonic(given: Any, table: Features, outcome: Any) -> NDArray[np.int8] | None:
    """Return the sign of every feature, or None where nothing is constrained."""
    if len(outcome.sizes) > 1:
        raise ValueError(
            f"Monotonicity constraints are not supported with multiple outputs: y has {len(outcome.sizes)} columns; "
            "fit one model a column, or leave monotonic_cst out"
        )
    if outcome.sizes[0] > 2:
        raise ValueError(
            f"Monotonicity constraints are not supported with multiclass classification: y has {outcome.sizes[0]} "
            "classes; fit one class against the others, or leave monotonic_cst out"
        )
    signs = _signs_by_name(given, table) if isinstance(given, dict) else _signs_in_order(given, table.n_features)
    nominal = getattr(table, "nominal", None)
    if nominal is not None and (signs[nominal] != 0).any():
        column = int(np.flatnonzero((signs != 0) & nominal)[0])
        raise ValueError(
            f"monotonic_cst asks {int(signs[column])} of column {_shown(column, table)}, which is a category: its "
            "levels have no order to be monotonic in; set 0, or turn it into an ordered category or a number"
        )
    return signs if signs.any() and outcome.sizes[0] == (2 if outcome.kind == "classes" else 1) else None


def _signs_in_order(given: Any, n_features: int) -> NDArray[np.int8]:
    signs = np.asarray(given)
    if signs.ndim != 1:
        raise ValueError(
            f"monotonic_cst must be one-dimensional, a number for each feature, or a dict of them by name; it has "
            f"shape {signs.shape}"
        )
    if len(signs) != n_features:
        raise ValueError(
            f"monotonic_cst has shape {len(signs)} but the input data X has {n_features} features. Pass a number for "
            "each feature, or a dict of those that are constrained by name"
        )
    if signs.dtype.kind not in "iufbO" or not np.isin(signs, (-1, 0, 1)).all():
        found = np.unique(signs) if signs.dtype.kind in "iuf" else signs
        raise ValueError(f"monotonic_cst must be None or an array-like of -1, 0 or 1, but got {found}")
    return signs.astype(np.int8)


def _signs_by_name(given: dict[Any, Any], table: Features) -> NDArray[np.int8]:
    signs = np.zeros(table.n_features, np.int8)
    for name, sign in given.items():
        column = _column(name, table, "monotonic_cst", "an array of a number for each feature")
        if isinstance(sign, (bool, np.bool_)) or not isinstance(sign, Integral) or sign not in {-1, 0, 1}:
            raise ValueError(f"monotonic_cst[{name!r}] must be {_SIGNS}. Got {sign!r} instead.")
        signs[column] = sign
    return signs


def read_interactions(given: Any, table: Features) -> Groups | None:
    """Return which features may meet on a path, or None where all may; those in no group are a group of their own."""
    p = table.n_features
    if isinstance(given, str):
        most = SHORTHANDS[given]
        return None if most >= p else Groups(np.zeros((0, p), np.uint8), most)
    member = np.zeros((len(given) + 1, p), np.uint8)
    for at, group in enumerate(given):
        if isinstance(group, (str, bytes)) or not hasattr(group, "__iter__"):
            raise TypeError(
                f"interaction_cst[{at}] must be a list, tuple or set of features, by number or by name. Got {group!r} "
                "instead."
            )
        for feature in group:
            member[at, _place(feature, table, at)] = 1
    member[-1] = ~member.any(axis=0)
    member = np.unique(member[member.any(axis=1)], axis=0)
    return None if member.all(axis=1).any() else Groups(member, p)


def _place(feature: Any, table: Features, at: int) -> int:
    if isinstance(feature, str):
        return _column(feature, table, f"interaction_cst[{at}]", "numbers of features")
    is_index = isinstance(feature, Integral) and not isinstance(feature, (bool, np.bool_))
    if not is_index or not 0 <= int(feature) < table.n_features:
        raise ValueError(
            f"interaction_cst[{at}] must consist of numbers of features in the range [0, {table.n_features - 1}] or of "
            f"their names. Got {feature!r} instead."
        )
    return int(feature)


def _column(name: Any, table: Features, parameter: str, otherwise: str) -> int:
    """Return the number of the column of a name."""
    if table.names is None:
        raise ValueError(
            f"{parameter} names the feature {name!r}, but X has no feature names. Pass {otherwise} instead"
        )
    found = [column for column, given in enumerate(table.names) if given == name]
    if not found:
        raise ValueError(f"{parameter} names the feature {name!r}, but X has no such column: {_listed(table.names)}")
    return found[0]


def _listed(names: Any) -> str:
    shown = [repr(name) for name in names[:10]]
    return ", ".join(shown) + (", ..." if len(names) > 10 else "")


def _shown(column: int, table: Features) -> str:
    return str(column) if table.names is None else f"{column} ({table.names[column]!r})"
