"""How the trees of a forest vote, for its diagram."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.export.reading import ReadTrees, read
from dtnumba.export.replay import answers_of
from dtnumba.growth.graphs.diagram import Votes

if TYPE_CHECKING:
    from numpy.typing import NDArray


def votes_of(model: Any) -> Votes:
    """Return how the trees of a fitted forest vote, by the operations of its own ``predict``."""
    if not hasattr(type(model), "forest_") and not hasattr(model, "forest_"):
        raise TypeError(f"model={model!r}: must be a fitted forest of classes; from_tree takes single trees")
    model.check_fitted()
    if not hasattr(model, "classes_") or model.n_outputs_ != 1:
        raise ValueError(f"model={model!r}: a graph says one label, and this forest predicts something else")
    found = read(model)
    assert isinstance(found, ReadTrees)

    def label_of(leaves: NDArray[np.int64]) -> NDArray[np.int64]:
        totals = np.full((len(leaves), found.said.shape[1]), found.begin)
        for column in leaves.T:
            totals += found.said[column]
        codes = answers_of(found, totals)[0]
        assert codes is not None
        return codes[:, 0]

    return Votes(found.said, label_of, found.says_second, found.rule is None)
