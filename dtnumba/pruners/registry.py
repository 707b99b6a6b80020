"""The names that pruners go by. All of them are imported here, so a fit that prunes nothing does not come here."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

from dtnumba import pruners
from dtnumba.pruners.contract import REGISTERED, Pruner

for _name in pruners.__all__:
    if _name != "PRUNERS":
        getattr(pruners, _name)  # which registers itself

PRUNERS = REGISTERED


def resolve_pruner(method: Any, options: dict[str, Any] | None = None) -> Pruner:
    """Return the pruner that a name with options stands for, or the object itself."""
    if isinstance(method, Pruner):
        if options:
            raise ValueError(
                f"prune: options {sorted(options)} beside {method!r}: give them to the object, or pass its name"
            )
        return method
    if not (isinstance(method, str) and method in PRUNERS):
        kind = ValueError if isinstance(method, str) else TypeError
        raise kind(f"The 'method' parameter of prune must be {pruner_words()}. Got {method!r} instead.")
    legal = [field.name for field in fields(PRUNERS[method])]  # type: ignore[arg-type]
    required = [field.name for field in fields(PRUNERS[method]) if field.default is MISSING]  # type: ignore[arg-type]
    absent = [name for name in required if name not in (options or {})]
    if absent:
        raise ValueError(
            f"prune={method!r}: it has no default for {absent[0]!r}; pass an object, "
            f"pruners.{PRUNERS[method].__name__}({absent[0]}=...), or prune(model, {method!r}, ..., {absent[0]}=...)"
        )
    unknown = sorted(set(options or {}) - set(legal))
    if unknown:
        raise TypeError(f"prune: {method!r} has no option {unknown[0]!r}; its options are {legal}")
    return PRUNERS[method](**(options or {}))


def pruner_words() -> str:
    """Return in words what ``prune`` may be."""
    names = ", ".join(map(repr, sorted(PRUNERS)))
    return f"a str among {{{names}}} or an object of dtnumba.pruners"
