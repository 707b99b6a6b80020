"""Tables of what is printed: NumPy record arrays that become frames of pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping


class Records(np.recarray):
    """A NumPy record array; ``to_frame()`` returns it as a frame of pandas."""

    def to_frame(self) -> Any:
        """Return a frame of pandas with a column a field."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                "to_frame() returns a frame of pandas, which is not installed: pip install pandas (or dtnumba[frames])"
            ) from error
        return pd.DataFrame({name: np.asarray(self[name]) for name in self.dtype.names or ()})


def records(columns: Mapping[str, Any]) -> Records:
    """Return columns of one length as records; what is neither number nor truth value is kept as an object."""
    arrays = {}
    for name, column in columns.items():
        found = np.asarray(column)
        if found.dtype.kind not in "biuf" or found.ndim != 1:
            found = np.empty(len(column), object)
            found[:] = list(column)
        arrays[name] = found
    n = len(next(iter(arrays.values())))
    table = np.empty(n, [(name, column.dtype) for name, column in arrays.items()])
    for name, column in arrays.items():
        table[name] = column
    return table.view(Records)
