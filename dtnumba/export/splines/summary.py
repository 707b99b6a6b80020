"""What ``summary`` of splines returns: coefficients, sizes, importances and errors, as R's earth prints them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.export.splines.reading import read_splines
from dtnumba.export.text_styles.printed import plain
from dtnumba.growth.mars.settings import gcv_of
from dtnumba.trees.hinges import shown_factors, term_texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.trees.hinges import Hinges


_SHOWN = 10  # columns whose importance a line names
_ENDS = {
    1: "no room for more than one term",
    3: "GRSq fell below -10",
    4: "RSq changed by less than {threshold:g}",
    5: "reached RSq of 1 - {threshold:g}",
    6: "no new term increases RSq",
    7: "reached max_terms",
}


def summary(model: Any, digits: int) -> str:
    """Return the fitted model in words."""
    if not (isinstance(digits, (int, np.integer)) and not isinstance(digits, bool) and digits >= 1):
        raise ValueError(f"digits={digits!r}: must be a number of digits of 1 or more")
    found, n_terms = read_splines(model), model._forward.n_terms  # noqa: SLF001
    names, levels = found.columns.names, found.columns.levels
    shown = shown_factors(found.hinges, names, levels)
    order = _order(found.hinges)
    texts = [plain(text) for text in term_texts([shown[t] for t in order], digits)]
    table = _table(texts, found.coefficients[order], _heads(found), digits)
    used = int(found.hinges.uses().any(axis=0).sum())
    lines = [repr(model), "", *table, ""]
    if found.columns.classes is not None:
        lines += [_logistic(model, digits), ""]
    how = "" if model.prune == "backward" else f" (prune={model.prune!r})"
    lines.append(f"Selected {len(order)} of {n_terms} terms, and {used} of {len(names)} predictors{how}")
    ended = _ENDS[model._ended].format(threshold=model.threshold)  # noqa: SLF001
    lines.append(f"Termination condition: {ended} at {n_terms} term{'s' * (n_terms > 1)}")
    lines.append(f"Importance: {_importance(model, names)}")
    degrees = np.bincount(found.hinges.degrees())
    kind = {1: " (intercept only model)", 2: " (additive model)"}.get(len(degrees), "")
    lines.append(f"Number of terms at each degree of interaction: {' '.join(map(str, degrees))}{kind}")
    by_output = getattr(model, "_by_output", None)
    if by_output is not None and by_output.shape[1] > 1:
        lines += ["", *_by_output(model, by_output, digits)]
    else:
        numbers = {"GCV": model.gcv_, "RSS": model.rss_, "GRSq": model.grsq_, "RSq": model.rsq_}
        lines.append("    ".join(f"{name} {value:.{digits}g}" for name, value in numbers.items()))
    return "\n".join(lines) + "\n"


def _order(hinges: Hinges) -> list[int]:
    """Return the terms by degree, then by their columns, then by the first knot."""
    keys = []
    for t in range(hinges.n_terms):
        factors = sorted(hinges.factors(t))
        first = (factors[0].knot, factors[0].direction) if factors else (0.0, 0)
        keys.append((len(factors), [factor.feature for factor in factors], first, t))
    return [key[-1] for key in sorted(keys)]


def _heads(found: Any) -> list[str]:
    classes = found.columns.classes
    if classes is None:
        return ["coefficients"] if found.n_sums == 1 else [f"y{o}" for o in range(found.n_sums)]
    return [plain(classes[0][-1])] if found.n_sums == 1 else [plain(label) for label in classes[0]]


def _table(texts: list[str], numbers: NDArray[np.float64], heads: list[str], digits: int) -> list[str]:
    columns = []
    for head, column in zip(heads, numbers.T, strict=True):
        most = float(np.abs(column).max(initial=0.0))
        places = max(0, digits + 1 - math.ceil(math.log10(most))) if most > 0 else 0
        own = [f"{x:.{min(places, 17)}f}" for x in column.tolist()]
        spare = min((len(x) - len(x.rstrip("0")) for x in own), default=0) if "." in own[0] else 0
        own = [x[: len(x) - spare].rstrip(".") for x in own]
        width = max(len(head), *map(len, own))
        columns.append([f"{head:>{width}}", *(f"{x:>{width}}" for x in own)])
    width = max(map(len, texts))
    return [f"{text:<{width}} {' '.join(row)}" for text, *row in zip(["", *texts], *columns, strict=True)]


def _importance(model: Any, names: list[str]) -> str:
    """Return the columns by the number of subsets that use them, those of equal number by what they gain as GCV."""
    counts, gains = (model.worth_of_features(measure) for measure in ("n_subsets", "gcv"))
    order = sorted(range(len(names)), key=lambda j: (-counts[j], -gains[j], j))
    shown = [plain(names[j]) + ("" if counts[j] > 0 else "-unused") for j in order[:_SHOWN]]
    return ", ".join(shown) + (", ..." if len(order) > _SHOWN else "")


def _by_output(model: Any, squares: NDArray[np.float64], digits: int) -> list[str]:
    n, size, penalty = model._n_rows, len(model.splines_.coefficients), model._penalty  # noqa: SLF001
    rows = [["", "GCV", "RSS", "GRSq", "RSq"]]
    whole = np.hstack([squares, squares.sum(axis=1, keepdims=True)])
    for name, rss, null in zip([*(f"y{o}" for o in range(squares.shape[1])), "All"], *whole.tolist(), strict=True):
        gcv, null_gcv = gcv_of(rss, n, size, penalty), gcv_of(null, n, 1, penalty)
        grsq = 1.0 - gcv / null_gcv if null_gcv > 0 and math.isfinite(gcv) else 0.0
        rsq = 1.0 - rss / null if null > 0 else 1.0
        rows.append([name, *(f"{x:.{digits}g}" for x in (gcv, rss, grsq, rsq))])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [" ".join(f"{x:>{width}}" for x, width in zip(row, widths, strict=True)) for row in rows]


def _logistic(model: Any, digits: int) -> str:
    share = 1.0 - model.deviance_ / model.null_deviance_ if model.null_deviance_ > 0 else 1.0
    steps = f"{model.n_steps_} steps" + ("" if model.converged_ else ", not converged")
    return (
        f"Logistic regression: null deviance {model.null_deviance_:.{digits}g}, deviance {model.deviance_:.{digits}g}, "
        f"share explained {share:.3f}, {steps}"
    )
