"""Docstrings of estimators, put together: ``help`` shows every parameter, and each is described once in the source."""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import Any, TypeVar

from dtnumba.estimators.bases.parameters import GrowthParams

Class = TypeVar("Class", bound=type)
_KEPT = "_written_doc"
_PARAMETERS, _ATTRIBUTES = "Parameters\n----------\n", "Attributes\n----------\n"


def documented(cls: Class) -> Class:
    """Complete a docstring by what bases say of its parameters and attributes; return the class.

    A parameter or an attribute is described where it is declared, or again where its meaning changes. What a class and
    its bases do not describe means what it means to the forest's trees, or in GrowthParams. Defaults are those of the
    fields.
    """
    own = inspect.cleandoc(cls.__doc__ or "")
    setattr(cls, _KEPT, own)  # what classes derived from it build upon
    sources = GrowthParams, getattr(cls, "_described_like", object), getattr(cls, "_tree_class", object), cls
    described = {name: lines for source in sources for name, lines in _described(source, _PARAMETERS).items()}
    lines = [_with_default(described[one.name], one.default) for one in fields(cls) if one.name in described]
    head = min((own.partition(f"\n\n{name}\n")[0] for name in ("Parameters", "Attributes", "Examples")), key=len)
    parts = [head, _PARAMETERS + "\n".join(lines)]
    parts += [_ATTRIBUTES + "\n".join(line for lines in _described(cls, _ATTRIBUTES).values() for line in lines)]
    parts += ["Examples\n" + after for after in own.partition("\n\nExamples\n")[2:] if after]
    cls.__doc__ = "\n\n".join(parts) + "\n"
    return cls


def _written(cls: type) -> str:
    """Return the docstring of a class as it stands in the source."""
    return str(vars(cls).get(_KEPT) or inspect.cleandoc(vars(cls).get("__doc__") or ""))


def _section(doc: str, heading: str) -> str:
    return doc.partition(heading)[2].partition("\n\n")[0]


def _described(cls: type, heading: str) -> dict[str, list[str]]:
    """Return the lines that describe each parameter, or attribute, of a class and its bases."""
    found: dict[str, list[str]] = {}
    for base in reversed(cls.__mro__):
        name = ""
        for line in _section(_written(base), heading).splitlines():
            if line.startswith(" "):
                found[name].append(line)
            else:
                name = line.partition(":")[0].strip()
                found[name] = [line]
    return found


def _with_default(lines: list[str], default: Any) -> str:
    return "\n".join([f"{lines[0]}, default={default!r}", *lines[1:]])
