"""Parameters that are read, set, checked and shown by name, as scikit-learn's."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dtnumba.model_files.values import Absent

if TYPE_CHECKING:
    from typing_extensions import Self


class NamedParameters:
    """Parameters, which are the fields of a dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def __new__(cls, *args: Any, **given: Any) -> Self:
        """Refuse parameters that are not there, where the class itself does not say how it is made."""
        owner = next(base for base in cls.__mro__ if "__init__" in vars(base))
        settings = vars(owner).get("__dataclass_params__")
        if settings is not None and settings.init:
            unknown = [name for name in given if name not in cls.__dataclass_fields__]
            if unknown:
                raise TypeError(f"{cls.__name__} has no parameter {unknown[0]!r}{_meant(cls, unknown[0])}")
        return super().__new__(cls)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; with ``deep``, those of nested estimators too."""
        params = {}
        for field in fields(self):
            value = params[field.name] = vars(self)[field.name]
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                params |= {f"{field.name}__{name}": nested for name, nested in value.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name (``nested__name`` reaches into an estimator); return the estimator."""
        legal = {field.name for field in fields(self)}
        nested: dict[str, dict[str, Any]] = {}
        for key, value in params.items():
            name, _, inner = key.partition("__")
            if name not in legal:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self!r}. Valid parameters are: {sorted(legal)}"
                    f"{_meant(type(self), name)}."
                )
            if inner:
                nested.setdefault(name, {})[inner] = value
            else:
                setattr(self, name, value)
        for name, inner_params in nested.items():
            owner = params.get(name, vars(self)[name])
            if not hasattr(owner, "set_params"):
                raise ValueError(
                    f"Invalid parameter {name + '__' + next(iter(inner_params))!r} for estimator {self!r}: "
                    f"{name}={owner!r} is no estimator, and has no parameters of its own"
                )
            owner.set_params(**inner_params)
        return self

    def __repr__(self) -> str:
        """Show the parameters that differ from their defaults."""
        shown = []
        for field in fields(self):
            value = vars(self)[field.name]
            if field.default is MISSING or not _same(value, field.default):
                shown.append(f"{field.name}={value!r}")
        return f"{type(self).__name__}({', '.join(shown)})"

    def check_params(self) -> None:
        """Check every parameter that says what is legal and is not as it was declared."""
        for field in fields(self):
            rule, value = field.metadata.get("rule"), vars(self)[field.name]
            if isinstance(value, Absent):
                raise ValueError(  # noqa: TRY004  of no type that one could pass
                    f"{field.name} of this {type(self).__name__} was {value.words}, which the file that it was loaded "
                    f"from names and does not hold: pass it, set_params({field.name}=...), before the model is fitted"
                )
            if rule is not None and value is not field.default:
                rule.check(field.name, value, type(self).__name__)


def _meant(cls: Any, name: str) -> str:
    """Return the parameters that a name is close to, as a question."""
    from difflib import get_close_matches

    elsewhere, comma, remark = getattr(cls, "called_elsewhere", {}).get(name, "").partition(", ")
    near = [elsewhere] if elsewhere else get_close_matches(name, cls.__dataclass_fields__, n=3)
    return (
        f"; did you mean {' or '.join(map(repr, near))}{comma}{remark}?"
        if near
        else f"; help({cls.__name__}) describes those it has"
    )


def _same(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and bool(np.all(value == default)))
