"""Threshold units that say what trees do: the inputs, the units of tests over them, and those of leaves and classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.export.reading import AMONG, MAP, UP_TO, ExportError, Nodes, Test, refuse, used_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from dtnumba.export.reading import ReadTrees, SumTerm

_MOST_CELLS = 1 << 26  # of a matrix of weights
_LARGEST = np.finfo(np.float64).max


class Layer(NamedTuple):
    """Units that fire, say 1, where the sum of their weights times their inputs is not below their threshold."""

    weights: NDArray[np.float64]  # (units, inputs)
    thresholds: NDArray[np.float64]  # (units,)

    def fires(self, inputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return 1 for each unit that fires, for every row of inputs, which are added up in their order."""
        return np.asarray(self._sums(inputs) >= self.thresholds, np.float64)

    def _sums(self, inputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sums of every row; a library of matrices would add in an order of its own, and round elsewise."""
        if ((inputs == 0.0) | (inputs == 1.0)).all() and (self.weights == np.rint(self.weights)).all():
            return np.asarray(inputs @ self.weights.T)
        total = np.zeros((len(inputs), len(self.thresholds)))
        with np.errstate(all="ignore"):
            for own, weights in zip(inputs.T, self.weights.T, strict=True):
                units = np.flatnonzero(weights)
                total[:, units] += own[:, None] * weights[units]
        return total

    def softly(self, inputs: NDArray[np.float64], slope: float) -> NDArray[np.float64]:
        """Return how far each unit fires, between 0 and 1: the logistic function in place of the step."""
        with np.errstate(all="ignore"):
            return np.asarray(1.0 / (1.0 + np.exp(-slope * (inputs @ self.weights.T - self.thresholds))))


class Linear(NamedTuple):
    """What a child of a node asks for: a sum of inputs of a layer that is 1 where a row goes there, and else 0."""

    terms: dict[int, float]
    constant: float


class Encoding:
    """Inputs, and the layers over them."""

    def __init__(self, found: ReadTrees, *, boolean: bool) -> None:
        trees, columns = found.trees, found.columns
        used = used_columns(trees)
        self.numbers = [j for j in used if columns.levels[j] is None]
        self.categories = [(j, len(columns.levels[j] or ())) for j in used if columns.levels[j] is not None]
        self.boolean = boolean
        self.names: list[str] = []
        self._number_at, self._absent_at, self._level_at = dict[int, int](), dict[int, int](), dict[int, int]()
        for j in self.numbers:  # a value that is missing counts where it stands, as sums are added up in order
            self._number_at[j] = self._named(columns.names[j])
            if not boolean:
                self._absent_at[j] = self._named(f"{columns.names[j]} is missing")
        for j, n_levels in self.categories:
            self._level_at[j] = len(self.names)
            self.names += [f"{columns.names[j]} is {level!r}" for level in (columns.levels[j] or ())[:n_levels]]
            self._absent_at[j] = self._named(f"{columns.names[j]} is missing")
        self._units: dict[Any, int] = {}  # of tests, behind which indicators are passed on
        self._rows: list[tuple[dict[int, float], float]] = []  # weights and threshold of each
        nodes = Nodes(trees)
        if not boolean:
            self._find_units(nodes, trees.n_nodes)
        self.is_tested = bool(self._units)
        self._passed_at: dict[int, int] = {}  # where the indicators are passed on that leaves ask for
        found_leaves = [list(self._leaves(nodes, root)) for root in trees.root[:-1].tolist()]
        leaves = [leaf for own in found_leaves for leaf in own]
        self.n_leaves = [len(own) for own in found_leaves]
        n_inputs = len(self._units) + len(self._passed_at) if self.is_tested else len(self.names)
        if max(len(leaves), len(self.names)) * max(n_inputs, len(self.names)) > _MOST_CELLS:
            raise ExportError(f"network: {len(leaves)} leaves by {n_inputs} tests are too many; prune the model")
        layers = [self._tests(list(self._passed_at))] if self.is_tested else []
        weights, thresholds = np.zeros((len(leaves), n_inputs)), np.zeros(len(leaves))
        for at, (_, parts) in enumerate(leaves):
            for part in parts:
                for unit, weight in part.terms.items():
                    weights[at, unit] += weight
            thresholds[at] = len(parts) - 0.5 - sum(part.constant for part in parts)
        layers.append(Layer(weights, thresholds))
        ends = [node for node, _ in leaves]
        self.values = found.said[ends]
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
            if test.terms:
                self._find_sum(test)
                continue
            for cut in [test.threshold] if test.kind == UP_TO else test.entries:
                if np.isfinite(cut):
                    absent = -2.0 * min(abs(cut), _LARGEST / 4) - 1.0
                    weights = {self._number_at[test.feature]: -1.0, self._absent_at[test.feature]: absent}
                    self._unit((test.feature, cut), weights, -cut)
                elif cut < 0 or test.kind != UP_TO:
                    refuse("network", node, f"a number is compared with {cut}", "export the model as C or Python")
                if abs(cut) == _LARGEST:
                    refuse("network", node, "a number is compared with the largest one", "scale the column")

    def _named(self, name: str) -> int:
        self.names.append(name)
        return len(self.names) - 1

    def _unit(self, key: Any, weights: dict[int, float], threshold: float) -> None:
        if key not in self._units:
            self._units[key] = len(self._rows)
            self._rows.append((weights, threshold))

    def _find_sum(self, test: Test) -> None:
        """Add the unit of a sum, and perhaps one that fires where all its values are missing."""
        key = tuple(test.terms)
        weights: dict[int, float] = {}
        for column, weight, stand_in in test.terms:
            weights[self._number_at[column]] = -weight
            weights[self._absent_at[column]] = -(weight * stand_in)
        self._unit((key, test.threshold), weights, -test.threshold)
        if self._is_below_without(test.terms, test.threshold) != (test.absent == 0):
            columns = tuple(term.column for term in test.terms)
            self._unit(columns, dict.fromkeys((self._absent_at[j] for j in columns), 1.0), len(columns) - 0.5)

    @staticmethod
    def _is_below_without(terms: list[SumTerm], cut: float) -> bool:
        """Tell whether the unit of a sum fires where all values are missing."""
        total = 0.0
        for _, weight, stand_in in terms:
            total += -(weight * stand_in)
        return total >= -cut

    def _below_sum(self, test: Test) -> Linear:
        """Return what is 1 where a row goes to the first child of a node that tests a sum."""
        found, is_below = {self._units[tuple(test.terms), test.threshold]: 1.0}, test.absent == 0
        if self._is_below_without(test.terms, test.threshold) != is_below:
            found[self._units[tuple(term.column for term in test.terms)]] = 1.0 if is_below else -1.0
        return Linear(found, 0.0)

    def _tests(self, passed: list[int]) -> Layer:
        """Return the units of tests, which do not fire where values are missing, and those that pass indicators on."""
        weights = np.zeros((len(self._rows) + len(passed), len(self.names)))
        thresholds = np.full(len(weights), 0.5)
        for unit, (own, threshold) in enumerate(self._rows):
            weights[unit, list(own)] = list(own.values())
            thresholds[unit] = threshold
        weights[len(self._rows) + np.arange(len(passed)), passed] = 1.0
        return Layer(weights, thresholds)

    def _indicator(self, at: int) -> int:
        return self._passed_at.setdefault(at, len(self._units) + len(self._passed_at)) if self.is_tested else at

    def _below(self, feature: int, cut: float) -> Linear:
        """Return what is 1 where a number is there and not above a cut."""
        if cut == np.inf:
            return Linear({}, 1.0) if self.boolean else Linear({self._indicator(self._absent_at[feature]): -1.0}, 1.0)
        if self.boolean:  # of 0 and 1
            at = self._number_at[feature]
            return Linear({at: -1.0}, 1.0) if 0.0 <= cut < 1.0 else Linear({}, float(cut >= 1.0))
        return Linear({self._units[feature, cut]: 1.0}, 0.0)

    def _child(self, test: Test, way: int | None) -> Linear:
        """Return what is 1 where a row goes from a node to a child, or stays."""
        f, parts = test.feature, []
        if test.terms:
            below = self._below_sum(test)
            return below if way == 0 else Linear({unit: -weight for unit, weight in below.terms.items()}, 1.0)
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

    def _leaves(self, nodes: Nodes, root: int) -> Iterator[tuple[int, tuple[Linear, ...]]]:
        """Yield the nodes at which rows end, with what each test on the way asks for."""
        waiting: list[tuple[int, tuple[Linear, ...]]] = [(root, ())]
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
        found[:, list(self._number_at.values())] = np.nan_to_num(numbers, nan=0.0, posinf=_LARGEST, neginf=-_LARGEST)
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
