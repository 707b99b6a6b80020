"""Learners by the names that a shell knows them by, and their parameters from text."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

import dtnumba
from dtnumba.cli.command import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence


# A short name, and what stands before Classifier and Regressor in the names of its classes.
SHORT = {
    "tree": "DecisionTree",
    "forest": "RandomForest",
    "extra_tree": "ExtraTree",
    "extra_trees": "ExtraTrees",
    "id3": "ID3",
    "c45": "C45",
    "c50": "C50",
    "chaid": "CHAID",
    "mars": "MARS",
    "graph": "DecisionGraph",
    "rules": "RuleSet",
    "list": "DecisionList",
}
_KINDS = ("Classifier", "Regressor")


def learner_classes() -> dict[str, str]:
    """Return the names of all learners, by the same in small letters."""
    return {name.lower(): name for name in dtnumba.__all__ if name.endswith(_KINDS)}


def tasks_of(name: str) -> dict[bool, str]:
    """Return the classes that a name of a model means, for classes (False) and for numbers (True).

    Raises
    ------
    UsageError
        If it means none.
    """
    known, plain = learner_classes(), name.lower().replace("-", "_")
    if plain in known:
        found = known[plain]
        return {found.endswith("Regressor"): found}
    stem = SHORT.get(plain, plain.replace("_", "")).lower()
    tasks = {kind == "Regressor": known[stem + kind.lower()] for kind in _KINDS if stem + kind.lower() in known}
    if not tasks:
        others = ", ".join(known.values())
        raise UsageError(f"--model {name}: no such learner; there are {', '.join(SHORT)}, and {others}")
    return tasks


def with_parameters(cls: Any, given: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return parameters of a learner from text, each read as its rule allows.

    Raises
    ------
    UsageError
        If there is no such parameter, or it may not be that.
    """
    rules = {field.name: field.metadata.get("rule") for field in fields(cls)}
    found: dict[str, Any] = {}
    for name, text in given:
        if name not in rules:
            try:
                cls(**{name: None})
            except TypeError as error:
                raise UsageError(f"--set {name}={text}: {error}") from error
        rule, meanings = rules[name], list(meant(text))
        fits = meanings if rule is None else [value for value in meanings if _holds(rule, value)]
        if not fits and rule is not None:
            try:
                rule.check(name, meanings[0], cls.__name__)
            except (ValueError, TypeError) as error:
                raise UsageError(f"--set {name}={text}: {error}") from error
        found[name] = fits[0]
    return found


_OF_CLASSES = ("class_weight", "costs", "priors")


def with_labels(model: Any, y: Any) -> Any:
    """Return a model whose parameters have labels as keys where they had their texts, the only keys that JSON has."""
    labels = {str(label): label for label in np.unique(y).tolist()} if y.dtype.kind == "i" else {}

    def named(value: Any) -> Any:
        if isinstance(value, dict):
            return {labels.get(key, key): named(one) for key, one in value.items()}
        return [named(one) for one in value] if isinstance(value, list) else value

    for name in _OF_CLASSES:
        if name in vars(model):
            model.set_params(**{name: named(vars(model)[name])})
    return model


def check_together(model: Any, target: str) -> None:
    """Refuse parameters that do not go together for a target of "classes" or "numbers", whatever the table.

    Raises
    ------
    UsageError
        If two of them do not.
    """
    from dtnumba.criteria.contract import resolve_criterion
    from dtnumba.estimators.bases.parameters import GrowthParams
    from dtnumba.growth.binary.train import check_f_test

    try:
        model.check_params()
        if isinstance(model, GrowthParams):
            settings = model.growth_settings(1 << 20, 1 << 10, 1.0, seed=0, most_leaves=2)
            criterion = resolve_criterion(vars(model)["criterion"], target, 1.0)
            check_f_test(settings, criterion)
            settings.check_options(target, 1, criterion)
    except (ValueError, TypeError) as error:
        raise UsageError(f"--set: {error}") from error


def _holds(rule: Any, value: Any) -> bool:
    with suppress(TypeError, ValueError):
        return bool(rule.holds(value))
    return False


def meant(text: str) -> list[Any]:
    """Return the values that a text may mean, the likeliest first: nothing, a bool, a number, JSON, itself."""
    words = {"none": None, "null": None, "true": True, "false": False}
    values: list[Any] = [words[text.lower()]] if text.lower() in words else []
    for read in (int, float, _from_json):
        with suppress(ValueError):
            values.append(read(text))
            break
    return [*values, text]


def _from_json(text: str) -> Any:
    if text[:1] not in {"[", "{"}:
        raise ValueError(text)
    return json.loads(text)
