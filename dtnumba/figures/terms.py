"""``plot.terms``: what splines add up, a line for each column and a surface for each two."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.export.pictures.facts import renamed
from dtnumba.figures.axes import LONGEST_LEVEL, LONGEST_NAME, axes_for, label_axes, name_ticks, plain, short
from dtnumba.figures.colours import DARK, GREY, NUMBERS, tints_of_numbers
from dtnumba.prediction.splines import sums_of
from dtnumba.tables.cells import cells_of
from dtnumba.tables.table import Table
from dtnumba.trees.hinges import OF_MISSING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dtnumba.export.splines.reading import ReadSplines

_ACROSS, _INCHES = 3, 3.0  # axes in a row of a new figure
_ALONG, _PLACES = 400, 80  # places of a line, and of a side of a surface
_CARRIED = 2  # columns that a picture has room for


def draw_terms(
    model: Any, ax: Any = None, *, output: int | None = None, feature_names: Sequence[Any] | None = None
) -> list[Any]:
    """Draw the effects of splines; see ``plot.terms``."""
    from dtnumba.export.splines.reading import read_splines

    what = "plot.terms"
    if not hasattr(model, "check_fitted") or not hasattr(model.check_fitted(), "splines_"):
        raise TypeError(f"{what}: {type(model).__name__} has no terms; pass a fitted MARSRegressor or MARSClassifier")
    found = read_splines(model)
    found = found._replace(columns=renamed(found.columns, feature_names, None))
    o = _output_of(found, output, what)
    effects, n_more = _effects_of(found)
    axes = _axes_for(ax, max(1, len(effects)), what)
    reach = model._reach  # noqa: SLF001  what the columns reached in fit
    for own, (columns, terms) in zip(axes, effects, strict=False):
        effect = _Effect(found, terms, columns, o, reach)
        if len(columns) == 1:
            effect.draw_line(own)
        else:
            effect.draw_surface(own)
    if n_more:
        last = axes[max(0, len(effects) - 1)]
        said = [*filter(None, [last.get_title()]), f"{n_more} term{'s' * (n_more > 1)} of more columns"]
        label_axes(last, last.get_xlabel(), last.get_ylabel(), "; ".join(said))
    elif not effects:
        label_axes(axes[0], "", "", "a constant: no term has a column")
    if ax is None:
        axes[0].figure.set_layout_engine("tight")
    return axes[: max(1, len(effects))]


def _output_of(found: ReadSplines, output: int | None, what: str) -> int:
    if output is None:
        return found.n_sums - 1 if found.n_classes else 0
    is_whole = isinstance(output, (int, np.integer)) and not isinstance(output, bool)
    if not (is_whole and 0 <= output < found.n_sums):
        raise ValueError(f"{what}: output={output!r}: must be a number from 0 to {found.n_sums - 1}")
    return int(output)


def _effects_of(found: ReadSplines) -> tuple[list[tuple[tuple[int, ...], list[int]]], int]:
    """Return the sets of one and two columns that terms have, each with its terms; and how many terms have more."""
    by_columns: dict[tuple[int, ...], list[int]] = {}
    for t, factors in enumerate(found.terms()):
        columns = tuple(sorted({factor.feature for factor in factors}))
        if columns:
            by_columns.setdefault(columns, []).append(t)
    shown = sorted(
        (one for one in by_columns.items() if len(one[0]) <= _CARRIED), key=lambda one: (len(one[0]), one[0])
    )
    return shown, sum(len(terms) for columns, terms in by_columns.items() if len(columns) > _CARRIED)


def _axes_for(ax: Any, n: int, what: str) -> list[Any]:
    if ax is not None:
        given = [ax] if hasattr(ax, "plot") else list(np.ravel(np.asarray(ax, dtype=object)))
        if len(given) < n:
            raise ValueError(f"{what}: there are {n} effects to draw, and ax holds {len(given)} axes: pass {n}")
        return [axes_for(one, what) for one in given]
    across = min(n, _ACROSS)
    down = -(-n // across)
    first = axes_for(None, what, (_INCHES * across + 0.6, _INCHES * down))
    figure = first.figure
    first.remove()
    return [figure.add_subplot(down, across, k + 1) for k in range(n)]


class _Effect:
    """The sum of the terms of some columns."""

    def __init__(
        self, found: ReadSplines, terms: list[int], columns: tuple[int, ...], o: int, reach: NDArray[np.float64]
    ) -> None:
        self._found, self._columns, self._reach = found, columns, reach
        self._hinges = found.hinges.some(terms)
        self._by = np.ascontiguousarray(found.coefficients[terms, o : o + 1])

    def _sums(self, *places: NDArray[np.float64]) -> NDArray[np.float64]:
        rows = np.zeros((len(places[0]), len(self._found.columns.names)))
        rows[:, list(self._columns)] = np.column_stack(places)
        table = Table.block(cells_of(rows))
        return np.asarray(sums_of(table, self._hinges, self._by, 1))[:, 0]

    def _is_category(self, j: int) -> bool:
        return self._found.columns.levels[j] is not None

    def _places(self, j: int, n: int) -> NDArray[np.float64]:
        """Return where a column is looked at: every level; or from end to end, and at every knot."""
        low, high = self._reach[j]
        if self._is_category(j):
            return np.arange(high + 1.0)
        features, knots = self._found.knots()
        return np.unique(np.concatenate([np.linspace(low, high, n), knots[(features == j)]]))

    def _name(self, j: int) -> str:
        return short(self._found.columns.names[j], LONGEST_NAME)

    def _levels(self, j: int) -> list[str]:
        return [short(level, LONGEST_LEVEL) for level in self._found.columns.levels[j] or []]

    def draw_line(self, ax: Any) -> None:
        """Draw what one column adds."""
        (j,) = self._columns
        places = self._places(j, _ALONG)
        sums = self._sums(places)
        if self._is_category(j):
            ax.bar(places, sums, color=NUMBERS, alpha=0.75, width=0.7)
            name_ticks(ax.xaxis, places.tolist(), self._levels(j))
        else:
            ax.plot(places, sums, color=DARK, linewidth=1.8)
        if (self._hinges.direction == OF_MISSING).any():
            without = float(self._sums(np.array([np.nan]))[0])
            ax.axhline(without, color=GREY, linestyle="--", linewidth=1.0, gid="missing")
            label_axes(ax, self._name(j), "", plain(f"missing: {without:.4g}"))
            return
        label_axes(ax, self._name(j))

    def draw_surface(self, ax: Any) -> None:
        """Draw what two columns add together, beside what each adds alone."""
        across, up = (self._places(j, _PLACES) for j in self._columns)
        grid = [one.ravel() for one in np.meshgrid(across, up)]
        sums = self._sums(*grid)
        tints = tints_of_numbers(sums).reshape(len(up), len(across), 3)
        ax.pcolormesh(_edges(across), _edges(up), tints, gid="surface")
        a, b = self._columns
        label_axes(ax, self._name(a), self._name(b), f"{sums.min():.3g} (pale) to {sums.max():.3g}")
        for axis, j, places in ((ax.xaxis, a, across), (ax.yaxis, b, up)):
            if self._is_category(j):
                name_ticks(axis, places.tolist(), self._levels(j))


def _edges(places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the bounds of the cells around places."""
    if len(places) == 1:
        return np.array([places[0] - 0.5, places[0] + 0.5])
    middle = [(one + other) / 2 for one, other in pairwise(places.tolist())]
    return np.array([1.5 * places[0] - 0.5 * places[1], *middle, 1.5 * places[-1] - 0.5 * places[-2]])
