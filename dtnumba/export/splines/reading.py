"""What exporters read of splines, and which rows a spline may be asked about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.export.reading import ROW_TYPES, Columns, columns_of
from dtnumba.trees.hinges import DOWN, UP

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.trees.hinges import Factor, Hinges


class ReadSplines(NamedTuple):
    """Terms and their coefficients."""

    columns: Columns
    hinges: Hinges
    coefficients: NDArray[np.float64]  # (terms, sums)

    @property
    def n_sums(self) -> int:
        """How many sums a row has: one an output; of two classes one, of more one each."""
        return int(self.coefficients.shape[1])

    @property
    def n_classes(self) -> int:
        """How many classes there are; 0 of numbers."""
        return 0 if self.columns.classes is None else len(self.columns.classes[0])

    def terms(self) -> list[list[Factor]]:
        """Return the factors of every term."""
        return [self.hinges.factors(t) for t in range(self.hinges.n_terms)]

    def used(self) -> list[int]:
        """Return the columns that terms ask."""
        return sorted(set(self.hinges.feature.tolist()))

    def knots(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the columns that have knots, and the knots."""
        is_hinge = (self.hinges.direction == UP) | (self.hinges.direction == DOWN)
        return self.hinges.feature[is_hinge], self.hinges.knot[is_hinge]


def read_splines(model: Any) -> ReadSplines:
    """Return a fitted model of splines as exporters read it."""
    model.check_fitted()
    splines = model.splines_
    columns = columns_of(model)._replace(row_types=tuple(ROW_TYPES.values()))
    return ReadSplines(columns, splines.hinges, splines.coefficients)


def may_be_asked(fill: NDArray[np.float64], rows: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which rows a model takes: of finite numbers, and without values only where it has an answer to that."""
    is_missing = np.isnan(rows)
    return np.asarray(~np.isinf(rows).any(axis=1) & ~(is_missing & np.isnan(fill)).any(axis=1))


class TakesSomeRows:
    """What was exported of splines, which ``export.verify`` asks about rows that the model takes."""

    fill: NDArray[np.float64]
    is_close = False  # whether shares are the model's but for rounding, because exponentials are

    def takes(self, rows: NDArray[Any]) -> NDArray[np.bool_]:
        """Tell which rows may be asked about."""
        return may_be_asked(self.fill, rows)
