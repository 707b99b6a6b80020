"""The tree of a stream as a function of one row, where leaves answer by naive Bayes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.growth.hoeffding.answer import answer_rows
from dtnumba.prediction.row_predictor import RowPredictor

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.growth.hoeffding.stream import Stream


def numbers_met(places: list[NDArray[Any] | None]) -> list[NDArray[np.int64] | None]:
    """Return the number under which each level was met; ``places`` says which level each of these numbers is."""
    return [None if place is None else np.argsort(place) for place in places]


def as_met(values: NDArray[np.float64], numbers: list[NDArray[np.int64] | None]) -> NDArray[np.float64]:
    """Write levels by the numbers under which they were met, in place."""
    for j, number in enumerate(numbers):
        if number is not None:
            known = ~np.isnan(values[:, j])
            values[known, j] = number[values[known, j].astype(np.int64)]
    return values


class StreamPredictor(RowPredictor):
    """The tree of a stream as a function of one row; made by ``compile_predictor``.

    It answers as the tree did when it was made, whatever is learned later, and can be pickled. The first row takes
    longer after an installation: it compiles.

    Parameters
    ----------
    stream : Stream
        Nodes, and what they saw.
    way : int
        How leaves answer.
    places : list
        Of each column of levels, which level each number is.
    order : array of int
        Which class each number is.

    """

    def __init__(self, stream: Stream, way: int, places: list[NDArray[Any] | None], order: NDArray[np.int64]) -> None:
        self._stream_given = stream, way, places, order
        self._numbers = numbers_met(places)
        self.n_features = len(stream.columns.place)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what cannot be derived."""
        return StreamPredictor, self._stream_given

    def __call__(self, row: NDArray[Any], out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Return the shares of the classes of a row.

        Parameters
        ----------
        row : array of shape (features,)
            Numbers, and levels by their places in ``categories_``; NaN is a missing value.
        out : float64 array of shape (classes,), optional
            Where to write the answer; a new array otherwise.

        """
        stream, way, _, order = self._stream_given
        values = np.array(row, np.float64, ndmin=2)
        if values.shape != (1, self.n_features) or np.ndim(row) != 1:
            has = f"{len(row)} values" if np.ndim(row) == 1 else f"the shape {np.shape(row)}"
            raise ValueError(f"row has {has}, and the model was fitted on {self.n_features} columns: pass a single row")
        shares = np.empty((1, len(order)))
        answer_rows(stream, as_met(values, self._numbers), way, shares)
        if out is None:
            out = np.empty(len(order))
        elif out.shape != (len(order),):
            raise ValueError(f"out has the shape {out.shape}, and the answer has {len(order)} numbers")
        out[order] = shares[0]
        return out
