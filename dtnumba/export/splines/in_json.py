"""Splines as parts of JSON, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.trees.hinges import Hinges, Splines, check_hinges

if TYPE_CHECKING:
    from numpy.typing import NDArray


def content_of(splines: Splines) -> dict[str, Any]:
    """Return splines as JSON can hold them: NaN is null."""
    content: dict[str, Any] = {name: column.tolist() for name, column in splines.hinges._asdict().items()}
    content["fill"] = [None if x != x else x for x in content["fill"]]
    return {**content, "coefficients": splines.coefficients.tolist()}


def splines_of(content: dict[str, Any], n_features: int) -> Splines:
    """Return splines as they were written, or raise ValueError where they are none."""
    whole: dict[str, NDArray[Any]] = {name: np.array(content[name], np.int64) for name in Hinges._fields[:3]}
    fill = np.array([np.nan if x is None else x for x in content["fill"]], np.float64)
    hinges = check_hinges(Hinges(**whole, knot=np.array(content["knot"], np.float64), fill=fill), n_features)
    coefficients = np.array(content["coefficients"], np.float64)
    if coefficients.ndim != 2 or len(coefficients) != hinges.n_terms:
        raise ValueError("text: has coefficients of other terms; write it again")
    return Splines(hinges, coefficients)
