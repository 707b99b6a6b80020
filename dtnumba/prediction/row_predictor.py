"""A fitted model as a function of one row, for callers who wait for single rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.prediction.packed_forest import pack_forest, says_second
from dtnumba.prediction.single_rows import voter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from dtnumba.tables.costs import LeastCost
    from dtnumba.trees.layout import Trees


class RowPredictor:
    """A fitted model as a function of one row; made by ``compile_predictor``.

    It holds arrays of its own, so that fitting the model again changes nothing here; several threads may call it at
    once; and it can be pickled. The first row of each type, float32 and float64, takes longer: it packs the trees, and
    after an installation compiles.

    Parameters
    ----------
    trees : Trees
        One tree or many.
    n_features : int
        Columns of the table they were grown on.
    n_classes : sequence of int
        Classes of each output, 1 where it is a number.
    voting : "soft", "hard" or LeastCost
        Whether a leaf says its shares, its commonest class, or that of least expected cost.

    """

    def __init__(
        self, trees: Trees, n_features: int, n_classes: Sequence[int], voting: str | LeastCost = "soft"
    ) -> None:
        if not trees.is_two_way:
            raise ValueError("compile_predictor reads trees of two-way tests; use predict or predict_proba for these")
        self.n_features = n_features
        self._given = (trees, n_features, tuple(int(k) for k in n_classes), voting)
        self._width = int(trees.value.shape[1])
        self._where = 0, 0, 1, int(says_second(trees, n_classes))  # one row, at the start of its array
        self._forms: dict[Any, tuple[Callable[..., None], tuple[Any, ...]]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what cannot be derived."""
        return RowPredictor, self._given

    def __call__(self, row: NDArray[Any], out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Return the shares of the classes, or the number, of a row; several outputs end to end.

        Parameters
        ----------
        row : array of shape (features,)
            float32 or float64, each answered as ``predict`` answers it; NaN is a missing value. Other types become
            float64. Only its length is checked.
        out : float64 array of shape (classes or outputs,), optional
            Where to write the answer, without gaps; a new array otherwise.

        """
        form = self._forms.get(row.dtype) if type(row) is np.ndarray else None
        if form is None or not (row.flags.c_contiguous and row.flags.behaved):
            row, form = self._prepared(row)
        if len(row) != self.n_features or row.ndim != 1:
            has = f"{len(row)} values" if row.ndim == 1 else f"the shape {row.shape}"
            raise ValueError(f"row has {has}, and the model was fitted on {self.n_features} columns: pass a single row")
        if out is None:
            out = np.empty(self._width)
        elif len(out) != self._width:
            raise ValueError(f"out has room for {len(out)} numbers, and the answer has {self._width}")
        elif type(out) is not np.ndarray or out.dtype != np.float64 or out.ndim != 1 or not out.flags.behaved:
            raise ValueError("out must be a writable float64 array of one axis, or None for a new one")
        form[0](*form[1], row, self._where, out)
        return out

    def _prepared(self, row: Any) -> tuple[NDArray[Any], Any]:
        """Return a row as the kernels read it, with the kernel and its arguments for rows of its type."""
        row = np.asarray(row)
        row = np.array(row, np.float32 if row.dtype == np.float32 else np.float64, ndmin=1)
        if row.dtype not in self._forms:
            trees, n_features, n_classes, voting = self._given
            packed = pack_forest(trees, n_features, row.dtype, n_classes, voting)
            self._forms[row.dtype] = voter(packed)
        return row, self._forms[row.dtype]
