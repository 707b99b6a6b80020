"""A tree as a network of threshold units that says the same (Nilsson, section 6.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.export.reading import AMONG, MAP, UP_TO, ExportError, Nodes, ReadTrees, Test, read_trees, refuse
from dtnumba.export.replay import AskedRows, Replies, Verified, verify
from dtnumba.rules.paths import ways_to_leaves
from dtnumba.rules.text import word
from dtnumba.tables.cells import values_of
from dtnumba.trees.layout import n_entries

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_CELLS = 1 << 26  # of a matrix of weights
_MOST_WAYS = 20_000  # to the leaves of a graph, each of which is a unit
_LARGEST = np.finfo(np.float64).max


class Layer(NamedTuple):
    """Units that fire, say 1, where the sum of their weights times their inputs is not below their threshold."""

    weights: NDArray[np.float64]  # (units, inputs)
    thresholds: NDArray[np.float64]  # (units,)

    def fires(self, inputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return 1 for each unit that fires, for every row of inputs."""
        return np.asarray(inputs @ self.weights.T >= self.thresholds, np.float64)


class Linear(NamedTuple):
    """What a child of a node asks for: a sum of inputs of a layer that is 1 where a row goes there, and else 0."""

    terms: dict[int, float]
    constant: float


class Network:
    """A network that says what a tree says.

    Attributes
    ----------
    layers : list of Layer
        Two where every test is about categories or about columns of 0 and 1: units of leaves, then units of classes.
        Three where numbers are compared: before them, units of tests. Each unit of a leaf fires for the rows that end
        there; of a regression tree the last layer is that of leaves.
    inputs : list of str
        What goes in: numbers, then an indicator for each category and for each column that a value may be missing of.
    values : array of shape (leaves, classes or outputs)
        What the leaves say; ``predict_proba`` and numbers are these, picked by the unit that fires.

    """

    is_single = False

    def __init__(self, found: ReadTrees, model: Any, *, boolean: bool) -> None:
        self.columns, self._model, self.boolean = found.columns, model, boolean
        self._encoding = _Encoding(found, boolean=boolean)
        self.layers, self.values = self._encoding.layers, self._encoding.values
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
        """Return which rows it is for: with ``boolean`` those of 0 and 1 in the columns that are tested."""
        used = self._encoding.numbers
        if not self.boolean or not used:
            return np.ones(len(codes), bool)
        return np.asarray(((codes[:, used] == 0.0) | (codes[:, used] == 1.0)).all(axis=1))

    def encode(self, codes: NDArray[Any]) -> NDArray[np.float64]:
        """Return the inputs of rows of numbers and places of categories."""
        return self._encoding.inputs_of(np.asarray(codes, np.float64))

    def _leaves(self, codes: NDArray[Any]) -> NDArray[np.float64]:
        if not self.takes(codes).all():
            row = int(np.argmin(self.takes(codes)))
            raise ValueError(f"row {row} holds something else than 0 and 1; make the network with boolean=False")
        found = self.encode(codes)
        n_outer = 1 if self.columns.classes is not None else 0
        for layer in self.layers[: len(self.layers) - n_outer]:
            found = layer.fires(found)
        return found

    def _codes(self, X: Any) -> NDArray[np.float64]:
        blocks = self._model.table_of(X).row_blocks()
        return np.concatenate([np.array(values_of(cells), np.float64) for _, cells in blocks])

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of every row, of whose units of the last layer one fires, or its number."""
        leaves = self._leaves(self._codes(X))
        if self.columns.classes is None:
            numbers = leaves @ self.values
            return numbers[:, 0] if numbers.shape[1] == 1 else numbers
        codes = self._label_codes(leaves)
        labels = [np.array(known, object)[codes[:, o]] for o, known in enumerate(self.columns.classes)]
        labels = [np.array(own.tolist()) for own in labels]
        return labels[0] if len(labels) == 1 else np.stack(labels, axis=1)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the shares of the classes for every row, those of several outputs side by side."""
        return self._leaves(self._codes(X)) @ self.values

    def _label_codes(self, leaves: NDArray[np.float64]) -> NDArray[np.int64]:
        fired = self.layers[-1].fires(leaves)
        parts = np.split(fired, np.cumsum(self.columns.sizes)[:-1], axis=1)
        return np.stack([part.argmax(axis=1) for part in parts], axis=1)

    def run(self, rows: AskedRows) -> Replies:
        """Return what it says of rows."""
        leaves = self._leaves(rows.codes)
        assert (leaves.sum(axis=1) == 1.0).all(), "one unit of a leaf fires"
        return Replies(None if self.columns.classes is None else self._label_codes(leaves), leaves @ self.values)

    def verify(self, X: Any) -> Verified:
        """Compare it with the tree, as ``export.verify`` does."""
        return verify(self, self._model, X)


def network(model: Any, boolean: bool = False, row_type: str = "float64") -> Network:
    """Return a tree as a network of threshold units.

    A unit of a test fires where a number is not above its threshold; its weights are a row of a matrix over all inputs.
    A unit of a leaf adds up, for each test on the way, what is 1 where a row takes that way: a test, an indicator, or
    one minus them. A missing value is an indicator, and its number counts as 0; infinities count as the largest
    numbers.

    Parameters
    ----------
    model : fitted estimator
        Of one tree.
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
    found = read_trees(model, "network", row_type)
    way = "export the model as C or Python"
    if found.trees.n_trees > 1 or found.is_mean:
        raise ExportError("network: a forest is many trees; export one of them, which are in estimators_")
    if found.is_shared:
        refuse("network", [0], "units fire or do not, and rows go down in parts", way)
    if found.trees.is_graph and ways_to_leaves(found.trees) > _MOST_WAYS:
        raise ExportError(
            f"network: a unit is a way to a leaf, and this graph has {ways_to_leaves(found.trees):,} of them, of which "
            f"up to {_MOST_WAYS:,} are written; export it as C, Python or JSON, or as SQL of style='table'"
        )
    own = found.trees.surrogates
    refuse("network", np.flatnonzero(n_entries(own.start, found.trees.n_nodes)), "surrogates are no sums of tests", way)
    return Network(found, model, boolean=boolean)


class _Encoding:
    """Inputs, and the layers over them."""

    def __init__(self, found: ReadTrees, *, boolean: bool) -> None:
        trees, columns = found.trees, found.columns
        used = np.unique(trees.feature[trees.feature >= 0]).tolist()
        self.numbers = [j for j in used if columns.levels[j] is None]
        self.categories = [(j, len(columns.levels[j] or ())) for j in used if columns.levels[j] is not None]
        self.boolean = boolean
        self.names = [columns.names[j] for j in self.numbers]
        self._level_at: dict[int, int] = {}
        for j, n_levels in self.categories:
            self._level_at[j] = len(self.names)
            self.names += [f"{columns.names[j]} is {level!r}" for level in (columns.levels[j] or ())[:n_levels]]
        absent = [j for j in used if not boolean or columns.levels[j] is not None]
        self._absent_at = {j: len(self.names) + k for k, j in enumerate(absent)}
        self.names += [f"{columns.names[j]} is missing" for j in absent]
        self._units: dict[tuple[int, float], int] = {}  # of tests, behind indicators that are passed on
        nodes = Nodes(trees)
        n_numbers = len(self.numbers)
        if not boolean:
            self._find_units(nodes, trees.n_nodes)
        passed = [] if boolean else list(range(n_numbers, len(self.names)))
        self.is_tested = bool(self._units)
        self._shift = n_numbers - len(self._units) if self.is_tested else 0
        leaves = list(self._leaves(nodes))
        n_inputs = len(self._units) + len(passed) if self.is_tested else len(self.names)
        if len(leaves) * max(n_inputs, len(self.names)) > _MOST_CELLS:
            raise ExportError(f"network: {len(leaves)} leaves by {n_inputs} tests are too many; prune the tree")
        layers = [self._tests(passed)] if self.is_tested else []
        weights, thresholds = np.zeros((len(leaves), n_inputs)), np.zeros(len(leaves))
        for at, (_, parts) in enumerate(leaves):
            for part in parts:
                for unit, weight in part.terms.items():
                    weights[at, unit] += weight
            thresholds[at] = len(parts) - 0.5 - sum(part.constant for part in parts)
        layers.append(Layer(weights, thresholds))
        ends = [node for node, _ in leaves]
        self.values = found.said[ends][:, : columns.width]
        if found.codes is not None:
            starts = np.cumsum([0, *columns.sizes])[:-1]
            outer = np.zeros((columns.width, len(ends)))
            for o, start in enumerate(starts.tolist()):
                outer[start + found.codes[ends, o], np.arange(len(ends))] = 1.0
            layers.append(Layer(outer, np.full(columns.width, 0.5)))
        self.layers = layers

    def _find_units(self, nodes: Nodes, m: int) -> None:
        for node in range(m):
            if nodes.is_leaf(node):
                continue
            test = nodes.test(node)
            if test.kind in {AMONG, MAP} or test.feature in self._level_at:
                continue
            for cut in [test.threshold] if test.kind == UP_TO else test.entries:
                if np.isfinite(cut):
                    self._units.setdefault((test.feature, cut), len(self._units))
                elif cut < 0 or test.kind != UP_TO:
                    refuse("network", node, f"a number is compared with {cut}", "export the model as C or Python")
                if abs(cut) == _LARGEST:
                    refuse("network", node, "a number is compared with the largest one", "scale the column")

    def _tests(self, passed: list[int]) -> Layer:
        """Return the units of tests, which do not fire where values are missing, and those that pass indicators on."""
        weights = np.zeros((len(self._units) + len(passed), len(self.names)))
        thresholds = np.full(len(weights), 0.5)
        place = {j: k for k, j in enumerate(self.numbers)}
        for (feature, cut), unit in self._units.items():
            weights[unit, place[feature]] = -1.0
            weights[unit, self._absent_at[feature]] = -2.0 * min(abs(cut), _LARGEST / 4) - 1.0
            thresholds[unit] = -cut
        weights[len(self._units) + np.arange(len(passed)), passed] = 1.0
        return Layer(weights, thresholds)

    def _indicator(self, at: int) -> int:
        return at - self._shift if self.is_tested else at

    def _below(self, feature: int, cut: float) -> Linear:
        """Return what is 1 where a number is there and not above a cut."""
        if cut == np.inf:
            return Linear({}, 1.0) if self.boolean else Linear({self._indicator(self._absent_at[feature]): -1.0}, 1.0)
        if self.boolean:  # of 0 and 1
            at = self.numbers.index(feature)
            return Linear({at: -1.0}, 1.0) if 0.0 <= cut < 1.0 else Linear({}, float(cut >= 1.0))
        return Linear({self._units[feature, cut]: 1.0}, 0.0)

    def _child(self, test: Test, way: int | None) -> Linear:
        """Return what is 1 where a row goes from a node to a child, or stays."""
        f, parts = test.feature, []
        if f in self._level_at:
            n = dict(self.categories)[f]
            if test.kind == AMONG:
                ways = [0 if code in set(test.entries) else 1 for code in range(n)]
            elif test.kind == MAP:
                ways = [*test.ways, *[-1] * n][:n]
            elif test.kind == UP_TO:
                ways = [0 if code <= test.threshold else 1 for code in range(n)]
            else:
                ways = [test.ways[int(np.searchsorted(test.entries, code))] for code in range(n)]
            is_own = [own == way or (own == -1 and way == test.absent) for own in ways]
            terms = {self._indicator(self._level_at[f] + code): 1.0 for code in range(n) if is_own[code]}
            parts.append(Linear(terms, 0.0))
        elif way is not None:
            cuts = [test.threshold] if test.kind == UP_TO else test.entries
            ways = [0, 1] if test.kind == UP_TO else test.ways
            for place, own in enumerate(ways):
                if own == way or (own == -1 and way == test.absent):
                    parts.append(self._below(f, cuts[place] if place < len(cuts) else np.inf))
                    if place:
                        low = self._below(f, cuts[place - 1])
                        parts.append(Linear({unit: -weight for unit, weight in low.terms.items()}, -low.constant))
        if way == test.absent and f in self._absent_at:
            parts.append(Linear({self._indicator(self._absent_at[f]): 1.0}, 0.0))
        return _sum(parts)

    def _leaves(self, nodes: Nodes) -> Any:
        """Yield the nodes at which rows end, with what each test on the way asks for."""
        waiting: list[tuple[int, tuple[Linear, ...]]] = [(0, ())]
        while waiting:
            node, parts = waiting.pop()
            if nodes.is_leaf(node):
                yield node, parts
                continue
            test = nodes.test(node)
            if test.absent is None and (not self.boolean or test.feature in self._level_at):
                yield node, (*parts, self._child(test, None))
            children = range(len(test.children) - 1, -1, -1)
            waiting += [(test.children[way], (*parts, self._child(test, way))) for way in children]

    def inputs_of(self, codes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the inputs of rows."""
        found = np.zeros((len(codes), len(self.names)))
        numbers = codes[:, self.numbers]
        found[:, : len(self.numbers)] = np.nan_to_num(numbers, nan=0.0, posinf=_LARGEST, neginf=-_LARGEST)
        for j, n_levels in self.categories:
            known = np.flatnonzero((codes[:, j] >= 0) & (codes[:, j] < n_levels))
            found[known, self._level_at[j] + codes[known, j].astype(np.int64)] = 1.0
        for j, at in self._absent_at.items():
            found[:, at] = np.isnan(codes[:, j])
        return found


def _sum(parts: list[Linear]) -> Linear:
    terms: dict[int, float] = {}
    for part in parts:
        for unit, weight in part.terms.items():
            terms[unit] = terms.get(unit, 0.0) + weight
    return Linear({unit: weight for unit, weight in terms.items() if weight}, sum(part.constant for part in parts))
