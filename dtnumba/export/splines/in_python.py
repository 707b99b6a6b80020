"""Splines as Python source: a function of a row that imports next to nothing, or functions of an array of NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtnumba.export.languages.source import literal, number
from dtnumba.trees.hinges import DOWN, OF_LEVEL, OF_MISSING, STRAIGHT, UP

if TYPE_CHECKING:
    from dtnumba.export.splines.reading import ReadSplines
    from dtnumba.trees.hinges import Factor


def _products(found: ReadSplines, words: dict[int, str], indent: str, of_terms: str) -> list[str]:
    """Return lines that add up the terms: of what ``words`` say of each kind of factor."""
    sums = [f"s{o}" for o in range(found.n_sums)] if of_terms == "row" else [f"s[:, {o}]" for o in range(found.n_sums)]
    lines = []
    for t, factors in enumerate(found.terms()):
        by = found.coefficients[t].tolist()
        said = " * ".join(_said(factor, words) for factor in factors)
        if said:
            lines.append(f"{indent}t = {said}")
        for one, coefficient in zip(sums, by, strict=True):
            what = f"t * {number(coefficient)}" if said else number(coefficient)
            lines.append(f"{indent}{one} {'+=' if lines and t else '='} {what}")
    return lines


def _said(factor: Factor, words: dict[int, str]) -> str:
    return words[factor.direction].format(j=factor.feature, k=number(factor.knot), level=int(factor.knot))


_PLAIN = {
    UP: "h(x{j} - {k})",
    DOWN: "h({k} - x{j})",
    STRAIGHT: "x{j}",
    OF_LEVEL: "(1.0 if x{j} == {level} else 0.0)",
    OF_MISSING: "(1.0 if m{j} else 0.0)",
}
_NUMPY = {
    UP: "np.maximum(x{j} - {k}, 0.0)",
    DOWN: "np.maximum({k} - x{j}, 0.0)",
    STRAIGHT: "x{j}",
    OF_LEVEL: "(x{j} == {level})",
    OF_MISSING: "m{j}",
}


def _with_missing(found: ReadSplines) -> set[int]:
    hinges = found.hinges
    return set(hinges.feature[hinges.direction == OF_MISSING].tolist())


def plain_source(found: ReadSplines) -> str:
    """Return a function ``predict`` of a list of values."""
    columns, lines, flagged = found.columns, [], _with_missing(found)
    is_labels = columns.classes is not None
    if is_labels:
        lines += ["from math import exp", "", ""]
    if (found.hinges.direction == UP).any() or (found.hinges.direction == DOWN).any():
        lines += ["def h(x):", "    return x if x > 0.0 else 0.0", "", ""]
    lines.append("def predict(row, proba=False):" if is_labels else "def predict(row):")
    for j in found.used():
        levels, name, fill = columns.levels[j], columns.names[j], float(found.hinges.fill[j])
        note = f"  # {name}" if name.isprintable() else ""
        if levels is not None:
            places = ", ".join(f"{literal(level)}: {k}" for k, level in enumerate(levels))
            lines.append(f"    x{j} = {{{places}}}.get(row[{j}], -1){note}")
            lines += [f"    m{j} = x{j} < 0"] * (j in flagged)
        elif np.isnan(fill):
            lines.append(f"    x{j} = float(row[{j}]){note}")
        else:
            lines.append(f"    m{j} = row[{j}] is None or row[{j}] != row[{j}]{note}")
            lines.append(f"    x{j} = {number(fill)} if m{j} else float(row[{j}])")
    lines += _products(found, _PLAIN, "    ", "row")
    sums = [f"s{o}" for o in range(found.n_sums)]
    if not is_labels:
        return "\n".join([*lines, f"    return {sums[0] if len(sums) == 1 else '[' + ', '.join(sums) + ']'}"]) + "\n"
    assert columns.classes is not None
    labels = [literal(label) for label in columns.classes[0]]
    if len(labels) == 1:
        return "\n".join([*lines, f"    return [1.0] if proba else {labels[0]}"]) + "\n"
    odds = ["0.0", "s0"] if len(sums) == 1 else sums
    lines += [
        f"    odds = [{', '.join(odds)}]",
        "    most = max(odds)",
        "    if not proba:",
        f"        return [{', '.join(labels)}][odds.index(most)]",
        "    powers = [exp(one - most) for one in odds]",
        "    total = sum(powers)",
        "    return [one / total for one in powers]",
    ]
    return "\n".join(lines) + "\n"


def numpy_source(found: ReadSplines) -> str:
    """Return functions ``predict`` and ``predict_proba`` of an array."""
    columns, flagged = found.columns, _with_missing(found)
    lines = ["import numpy as np", ""]
    lines.append(f"LEVELS = [{', '.join('None' if one is None else _list(one) for one in columns.levels)}]")
    if columns.classes is not None:
        lines.append(f"CLASSES = {_list(columns.classes[0])}")
    lines += ["", "", "def _sums(X):", "    X = np.asarray(X)", f"    s = np.zeros((len(X), {found.n_sums}))"]
    for j in found.used():
        fill = float(found.hinges.fill[j])
        lines.append(f"    x{j} = X[:, {j}].astype(np.float64)")
        if j in flagged:
            lines.append(f"    m{j} = np.isnan(x{j}).astype(np.float64)")
        if not np.isnan(fill) and columns.levels[j] is None:
            lines.append(f"    x{j} = np.where(np.isnan(x{j}), {number(fill)}, x{j})")
    lines += _products(found, _NUMPY, "    ", "table")
    lines += ["    return s", "", "", "def predict(X):", "    s = _sums(X)"]
    if columns.classes is None:
        return "\n".join([*lines, f"    return {'s[:, 0]' if found.n_sums == 1 else 's'}"]) + "\n"
    if found.n_classes <= 2:
        lines.append(
            "    codes = (s[:, 0] > 0.0).astype(int)" if found.n_classes == 2 else "    codes = np.zeros(len(s), int)"
        )
        odds = ["    s = np.hstack([np.zeros((len(s), 1)), s])"]
    else:
        lines.append("    codes = s.argmax(axis=1)")
        odds = []
    lines += ["    return [CLASSES[code] for code in codes]", "", "", "def predict_proba(X):", "    s = _sums(X)"]
    if found.n_classes == 1:
        return "\n".join([*lines, "    return np.ones((len(s), 1))"]) + "\n"
    lines += [*odds, "    powers = np.exp(s - s.max(axis=1, keepdims=True))"]
    return "\n".join([*lines, "    return powers / powers.sum(axis=1, keepdims=True)"]) + "\n"


def _list(values: list[object]) -> str:
    return f"[{', '.join(map(literal, values))}]"
