"""A model as rules of if and then, in text that ``from_text`` reads back."""

from __future__ import annotations

from typing import Any


def rules(model: Any, digits: int | None = 3) -> str:
    """Return a tree or a model of rules as sentences, a rule a line.

    Parameters
    ----------
    model : fitted classifier of one tree, RuleSetClassifier or DecisionListClassifier
        What to write.
    digits : int or None
        Of coverage, confidence and lift; None: all. Bounds are always exact.

    Examples
    --------
    >>> from dtnumba import DecisionTreeClassifier, export
    >>> tree = DecisionTreeClassifier().fit([["sun"], ["rain"], ["fog"]], ["go", "stay", "stay"])
    >>> print(export.rules(tree.to_rules()), end="")
    if x0 is sun then go [covers 1, correct 1, confidence 0.25, lift 0.75]
    if x0 is not sun (or missing) then stay [covers 2, correct 2, confidence 0.5, lift 0.75]
    otherwise stay

    """
    made = model if hasattr(model, "to_text") else None
    if made is None and hasattr(model, "to_rules"):
        made = model.to_rules()
    if made is None:
        raise TypeError(f"model={model!r}: must be a fitted tree that says classes, or a model of rules")
    text: str = made.to_text(digits)
    return text
