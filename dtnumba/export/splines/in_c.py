"""Splines as C: a statement a term."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtnumba.export.languages import c_tables as parts
from dtnumba.trees.hinges import DOWN, OF_LEVEL, OF_MISSING, STRAIGHT, UP

if TYPE_CHECKING:
    from dtnumba.export.splines.reading import ReadSplines

_WORDS = {UP: "h(x{j} - {k})", DOWN: "h({k} - x{j})", STRAIGHT: "x{j}", OF_LEVEL: "(x{j} == {k})", OF_MISSING: "m{j}"}


def source_of(found: ReadSplines, name: str, header: str) -> str:
    """Return the source."""
    p, n, k = max(1, len(found.columns.names)), found.n_sums, found.n_classes
    lines = [parts.comment(found.columns), header]
    if k > 1:
        lines += ["#include <math.h>\n"]
    lines += ["\nstatic double h(double x) { return x > 0.0 ? x : 0.0; }\n"] * bool(len(found.knots()[0]))
    lines.append("\nstatic void sums(const double *row, double *s)\n{\n")
    if found.hinges.n_terms > 1:
        lines.append("    double t;\n")
    else:
        lines.append("    (void)row;\n")
    for j in found.used():
        fill = float(found.hinges.fill[j])
        directions = set(found.hinges.direction[found.hinges.feature == j].tolist())
        if OF_MISSING in directions:
            lines.append(f"    const double m{j} = row[{j}] != row[{j}];\n")
        if directions != {OF_MISSING}:
            is_filled = found.columns.levels[j] is None and not np.isnan(fill)
            filled = f"row[{j}] != row[{j}] ? {fill!r} : row[{j}]"
            lines.append(f"    const double x{j} = {filled if is_filled else f'row[{j}]'};\n")
    for t, factors in enumerate(found.terms()):
        said = " * ".join(_WORDS[one.direction].format(j=one.feature, k=f"({one.knot!r})") for one in factors)
        if said:
            lines.append(f"    t = {said};\n")
        for o, by in enumerate(found.coefficients[t].tolist()):
            lines.append(f"    s[{o}] {'+=' if t else '='} {f't * ({by!r})' if said else repr(by)};\n")
    lines += ["}\n", f"\nvoid {name}_predict(const double *rows, int64_t n_rows, double *out)\n{{\n"]
    lines += [f"    for (int64_t i = 0; i < n_rows; i++) {{\n        const double *row = rows + i * {p};\n"]
    if k == 0:
        lines.append(f"        sums(row, out + i * {n});\n")
    else:
        lines.append(_shares(n, k))
    lines.append("    }\n}\n")
    if k:
        lines.append(f"\nvoid {name}_labels(const double *rows, int64_t n_rows, int32_t *labels)\n{{\n")
        lines.append(
            f"    for (int64_t i = 0; i < n_rows; i++) {{\n        double s[{n}];\n        int32_t best = 0;\n"
        )
        lines.append(f"        sums(rows + i * {p}, s);\n{_best(k)}        labels[i] = best;\n    }}\n}}\n")
    return "".join(lines)


def _best(k: int) -> str:
    if k == 1:
        return ""
    if k == 2:
        return "        best = s[0] > 0.0;\n"
    return f"        for (int32_t c = 1; c < {k}; c++)\n            if (s[c] > s[best]) best = c;\n"


def _shares(n: int, k: int) -> str:
    text = f"        double s[{n}], *p = out + i * {k};\n        sums(row, s);\n"
    if k == 1:
        return f"{text}        p[0] = 1.0;\n"
    if k == 2:
        text += "        p[0] = 0.0;\n        p[1] = s[0];\n"
    else:
        text += f"        for (int c = 0; c < {k}; c++) p[c] = s[c];\n"
    text += "        double most = p[0], total = 0.0;\n"
    text += f"        for (int c = 1; c < {k}; c++) if (p[c] > most) most = p[c];\n"
    text += f"        for (int c = 0; c < {k}; c++) {{ p[c] = exp(p[c] - most); total += p[c]; }}\n"
    return f"{text}        for (int c = 0; c < {k}; c++) p[c] /= total;\n"
