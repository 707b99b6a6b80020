"""A model of trees as a network of threshold units that says the same (Nilsson, section 6.3)."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.export.languages.threshold_units import Encoding
from dtnumba.export.reading import ExportError, codes_of, read_trees, refuse
from dtnumba.export.replay import AskedRows, Replies, Verified, answers_of, verify
from dtnumba.rules.paths import ways_to_leaves
from dtnumba.rules.text import word
from dtnumba.tables.cells import values_of
from dtnumba.trees.layout import n_entries
from dtnumba.trees.linear import LinearTests, n_terms_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.export.reading import ReadTrees

_MOST_WAYS = 20_000  # to the leaves of a graph, each of which is a unit


class Network:
    """A network that says what a tree or a forest says.

    Attributes
    ----------
    layers : list of Layer
        Two where every test is about categories or about columns of 0 and 1: units of leaves, then units of classes.
        Three where numbers are compared: before them, units of tests, of columns or of sums over several. A unit of a
        leaf fires for the rows that end there; of numbers, and of a forest, the last layer is that of leaves.
    inputs : list of str
        What goes in: numbers, each with an indicator of a missing value behind it, and an indicator for each category.
    values : array of shape (leaves, classes or outputs)
        What the leaves say; ``predict_proba`` and numbers are these, picked by the unit that fires. Of a forest they
        are parts of a mean: a unit of each tree fires, and what they say is added up.

    """

    is_single = False

    def __init__(self, found: ReadTrees, model: Any, *, boolean: bool) -> None:
        self.columns, self._model, self.boolean = found.columns, model, boolean
        self._found, self._encoding = found, Encoding(found, boolean=boolean)
        self.layers, said = self._encoding.layers, self._encoding.values
        if found.says_second:
            said = np.concatenate([1.0 - said, said], axis=1)
        self.values = said[:, : found.columns.width] / (found.trees.n_trees if found.is_mean else 1.0)
        self.inputs = self._encoding.names

    def __repr__(self) -> str:
        """Say how many units the layers have."""
        sizes = ", ".join(str(len(layer.thresholds)) for layer in self.layers)
        return f"<network of {len(self.inputs)} inputs and {len(self.layers)} layers of {sizes} units>"

    def __str__(self) -> str:
        """Write every unit as a sum of inputs and its threshold, a line each, and what the leaves say."""
        lines, names = [repr(self)], [word(name) for name in self.inputs]
        for k, layer in enumerate(self.layers):
            units = [f"{'abc'[k]}{unit}" for unit in range(len(layer.thresholds))]
            for unit, weights, threshold in zip(units, layer.weights, layer.thresholds.tolist(), strict=True):
                terms = [f"{weights[at]:+.17g} {names[at]}" for at in np.flatnonzero(weights).tolist()]
                lines.append(f"{unit} fires where {' '.join(terms) or '0'} >= {threshold!r}")
            names = units
        lines += [f"leaf {at} says {said}" for at, said in enumerate(self.values.tolist())]
        return "\n".join(lines) + "\n"

    def takes(self, codes: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which rows it is for.

        With ``boolean`` those of 0 and 1 in the columns that are tested; where sums are, those without infinities in
        their columns.
        """
        used, linear = self._encoding.numbers, self._found.trees.linear
        if isinstance(linear, LinearTests):
            return np.asarray(~np.isinf(codes[:, np.unique(linear.column)]).any(axis=1))
        if not self.boolean or not used:
            return np.ones(len(codes), bool)
        return np.asarray(((codes[:, used] == 0.0) | (codes[:, used] == 1.0)).all(axis=1))

    def encode(self, codes: NDArray[Any]) -> NDArray[np.float64]:
        """Return the inputs of rows of numbers and places of categories."""
        return self._encoding.inputs_of(np.asarray(codes, np.float64))

    def _leaves(self, codes: NDArray[Any], slope: float | None) -> NDArray[np.float64]:
        is_taken = self.takes(codes)
        if not is_taken.all():
            row = int(np.argmin(is_taken))
            raise ValueError(
                f"row {row} holds something else than 0 and 1; make the network with boolean=False"
                if self.boolean
                else f"row {row} holds an infinity in a column of a sum, which no weight can be multiplied by; clip it"
            )
        found = self.encode(codes)
        n_outer = 1 if self._found.codes is not None else 0
        for layer in self.layers[: len(self.layers) - n_outer]:
            found = layer.fires(found) if slope is None else layer.softly(found, slope)
        if slope is not None:  # those of a tree are shares of one
            for own in self._of_trees():
                found[:, own] /= np.maximum(found[:, own].sum(axis=1, keepdims=True), 1e-300)
        return found

    def _of_trees(self) -> list[slice]:
        ends = np.cumsum([0, *self._encoding.n_leaves]).tolist()
        return [slice(start, stop) for start, stop in itertools.pairwise(ends)]

    def _answers(
        self, codes: NDArray[Any], slope: float | None = None
    ) -> tuple[NDArray[np.int64] | None, NDArray[np.float64]]:  # fmt: skip
        """Return labels, None of numbers, and shares or numbers."""
        if slope is not None and not slope > 0.0:
            raise ValueError(f"slope={slope!r}: must be a number above 0, or None for units that fire or do not")
        leaves, found = self._leaves(codes, slope), self._found
        if found.is_mean:  # added up tree by tree, as the forest does
            said = self._encoding.values
            totals = np.full((len(leaves), said.shape[1]), found.begin)
            for own in self._of_trees():
                totals += leaves[:, own] @ said[own]
            return answers_of(found, totals)
        numbers = leaves @ self.values
        if found.codes is None:
            return None, numbers
        if slope is not None:
            return codes_of(numbers, self.columns.sizes, found.rule), numbers
        fired = self.layers[-1].fires(leaves)
        parts = np.split(fired, np.cumsum(self.columns.sizes)[:-1], axis=1)
        return np.stack([part.argmax(axis=1) for part in parts], axis=1), numbers

    def _codes(self, X: Any) -> NDArray[np.float64]:
        blocks = self._model.table_of(X).row_blocks()
        return np.concatenate([np.array(values_of(cells), np.float64) for _, cells in blocks])

    def predict(self, X: Any, slope: float | None = None) -> NDArray[Any]:
        """Return the label of every row, or its number; with a slope as units say that fire softly."""
        codes, numbers = self._answers(self._codes(X), slope)
        if self.columns.classes is None:
            return numbers[:, 0] if numbers.shape[1] == 1 else numbers
        assert codes is not None
        labels = [np.array(known, object)[codes[:, o]] for o, known in enumerate(self.columns.classes)]
        labels = [np.array(own.tolist()) for own in labels]
        return labels[0] if len(labels) == 1 else np.stack(labels, axis=1)

    def predict_proba(self, X: Any, slope: float | None = None) -> NDArray[np.float64]:
        """Return the shares of the classes for every row, those of several outputs side by side.

        With a slope, units fire between 0 and 1 by the logistic function of it times how far their sum is above their
        threshold, and the leaves of a tree add up to 1.
        """
        return self._answers(self._codes(X), slope)[1]

    def to_weights(self, slope: float = 1.0) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Return a pair of a matrix and a bias for each layer, as dense layers of any framework take them.

        A unit fires where ``inputs @ matrix.T + bias`` is not below 0. With a slope both are multiplied by it, so that
        the logistic function of the sum is how far the unit fires softly. Behind the units of leaves, ``values`` is
        the matrix of a linear layer that says shares or numbers. A library that adds up in another order may round a
        sum to the other side of a threshold that it lies on.
        """
        if not slope > 0.0:
            raise ValueError(f"slope={slope!r}: must be a number above 0")
        return [(slope * layer.weights, -slope * layer.thresholds) for layer in self.layers]

    def run(self, rows: AskedRows) -> Replies:
        """Return what it says of rows."""
        leaves = self._leaves(rows.codes, None)
        assert (leaves.sum(axis=1) == self._found.trees.n_trees).all(), "one unit of a leaf fires in each tree"
        return Replies(*self._answers(rows.codes))

    def verify(self, X: Any) -> Verified:
        """Compare it with the tree, as ``export.verify`` does."""
        return verify(self, self._model, X)


def network(model: Any, boolean: bool = False, row_type: str = "float64") -> Network:
    """Return a tree or a forest as a network of threshold units.

    A unit of a test fires where a number, or a sum over several, is not above its threshold; its weights are a row of a
    matrix over all inputs.
    A unit of a leaf adds up, for each test on the way, what is 1 where a row takes that way: a test, an indicator, or
    one minus them. A missing value is an indicator, and its number counts as 0; infinities count as the largest
    numbers, and are not taken where sums are tested.

    Parameters
    ----------
    model : fitted estimator
        Of trees.
    boolean : bool
        Whether the columns of numbers hold 0 and 1 alone; then units of tests are left out, as in Nilsson's figure 6.6.
    row_type : "float64" or "float32"
        Of the rows; it matters for C4.5, whose cuts are values of the table.

    Examples
    --------
    >>> import numpy as np
    >>> from dtnumba import DecisionTreeClassifier, export
    >>> X = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)])
    >>> tree = DecisionTreeClassifier().fit(X, X[:, 0] & X[:, 2])
    >>> net = export.network(tree, boolean=True)
    >>> net
    <network of 2 inputs and 2 layers of 3, 2 units>
    >>> print(net.layers[0].weights)
    [[-1.  0.]
     [ 1. -1.]
     [ 1.  1.]]
    >>> print(net.layers[0].thresholds, net.predict(X))
    [-0.5  0.5  1.5] [0 0 0 0 0 1 0 1]

    """
    found = read_trees(model, "network", row_type, sums=True)
    way = "export the model as C or Python"
    if boolean:
        sums = np.flatnonzero(n_terms_of(found.trees.linear, found.trees.n_nodes))
        refuse("network", sums, "a sum over several columns is no column of 0 and 1", "leave boolean=True out")
    if found.is_shared:
        refuse("network", found.trees.root[:-1], "units fire or do not, and rows go down in parts", way)
    if found.trees.is_graph and ways_to_leaves(found.trees) > _MOST_WAYS:
        raise ExportError(
            f"network: a unit is a way to a leaf, and this graph has {ways_to_leaves(found.trees):,} of them, of which "
            f"up to {_MOST_WAYS:,} are written; export it as C, Python or JSON, or as SQL of style='table'"
        )
    own = found.trees.surrogates
    refuse("network", np.flatnonzero(n_entries(own.start, found.trees.n_nodes)), "surrogates are no sums of tests", way)
    return Network(found, model, boolean=boolean)
