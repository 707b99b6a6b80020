"""Costs of wrong labels and priors of classes: read, checked, turned into weights and into labels.

Costs and priors enter growth as weights of the classes (Breiman et al. 1984, altered priors): a row of class i counts
as much as its prior times what calling it anything else costs in all. What nodes hold is turned back afterwards, so
that shares and weights are those of the true priors, and a label is the class whose expected cost is least.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dtnumba.tables.labels import Labels
    from dtnumba.trees.layout import Trees


# Expected costs closer than this share of them are a tie. Weights of rows are rounded to 2**-52 of their sum, so a
# million rows leave a difference of 1e-10 where there is none.
_TIE = 1e-9
# Factors of the classes that differ by no more than this are one: priors that are the shares of the classes, computed
# in another order, change nothing.
_ALIKE = 1e-12
_HIGHEST = 1e100  # sums of costs times weights stay far from where float64 ends
_BLOCK_CELLS = 1 << 22


@dataclass(frozen=True, eq=False)
class LeastCost:
    """The rule that labels a row, or a leaf for its vote: the class of least expected cost, the first on ties.

    Parameters
    ----------
    costs : array of shape (classes, classes)
        What it costs to call a row of class i (row) class k (column).

    """

    costs: NDArray[np.float64]

    def codes(self, shares: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the class for every row of class shares."""
        codes = np.empty(len(shares), np.int64)
        for rows in _blocks(shares):
            expected = shares[rows] @ self.costs
            codes[rows] = (expected <= expected.min(axis=1, keepdims=True) * (1.0 + _TIE)).argmax(axis=1)
        return codes

    def mean(self, truth: NDArray[np.int64], codes: NDArray[np.int64], weight: NDArray[np.float64] | None) -> float:
        """Return the mean cost of calling rows of class ``truth`` ``codes``."""
        return float(np.average(self.costs[truth, codes], weights=weight))


def risks(class_weights: NDArray[np.float64], costs: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Return what the rows of a node cost when all get the node's best label, for every row of class weights.

    Parameters
    ----------
    class_weights : array of shape (nodes, classes)
        The weight of each class in each node: ``trees.value * trees.weight[:, None]`` of a target of one output, which
        is in the true priors, costs or not.
    costs : array of shape (classes, classes) or None
        ``model.costs_``. None: a wrong label costs one, so this is the weight that does not have the commonest class.

    """
    if costs is None:
        return np.asarray(class_weights.sum(axis=1) - class_weights.max(axis=1))
    least = np.empty(len(class_weights))
    for rows in _blocks(class_weights):
        least[rows] = (class_weights[rows] @ costs).min(axis=1)
    return least


def counted_by_cost(
    class_weights: NDArray[np.float64], costs: NDArray[np.float64] | None, root: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the errors and the weight of nodes as estimates of error read them, for every row of class weights.

    With costs a row weighs what a wrong label of its class costs on average, and an error what it costs, both in the
    unit in which the root weighs what it did: with equal costs these are the errors and the weight themselves, and
    errors are always a part of the weight.

    Parameters
    ----------
    class_weights : array of shape (nodes, classes)
        The weight of each class in each node.
    costs : array of shape (classes, classes) or None
        None: a wrong label costs one.
    root : array of shape (classes,)
        The same of the root of their tree.

    """
    if costs is None:
        weight = class_weights.sum(axis=1)
        return weight - class_weights.max(axis=1), weight
    of_class = costs.sum(axis=1) / (len(costs) - 1)
    unit = root.sum() / (root @ of_class)
    return risks(class_weights, costs) * unit, class_weights @ of_class * unit


def _blocks(table: NDArray[Any]) -> list[slice]:
    """Return parts of the rows whose products with a matrix take little memory."""
    step = max(1, _BLOCK_CELLS // max(1, table.shape[1]))
    return [slice(start, start + step) for start in range(0, len(table), step)]


def _for_one_output(given: Any, labels: Labels, parameter: str) -> tuple[list[Any], Any]:
    """Return the classes of the one output there must be, and what was given by label."""
    classes = _classes_of_one(labels, parameter)
    return classes, _by_label(given, classes, parameter)


def read_costs(costs: Any, labels: Labels) -> NDArray[np.float64] | None:
    """Return the matrix of costs for the classes of a target, or None where every wrong label costs the same.

    Parameters
    ----------
    costs : array of shape (classes, classes), dict or None
        A row for each true class, a column for each predicted one, in the order of the sorted classes; or a dict of
        ``(true, predicted)`` to cost, or of true to a dict of predicted to cost. A pair that a dict leaves out costs 1.
    labels : Labels
        The target.

    """
    if costs is None:
        return None
    classes, costs = _for_one_output(costs, labels, "costs")
    matrix = _costs_of_dict(costs, classes) if isinstance(costs, dict) else _costs_of_array(costs, classes)
    is_sane = np.isfinite(matrix) & (np.abs(matrix) <= _HIGHEST)
    _refuse(~is_sane, matrix, classes, f"every cost must be a finite number, of at most {_HIGHEST:g}")
    _refuse(matrix < 0, matrix, classes, "every cost must be >= 0")
    is_diagonal = np.eye(len(classes), dtype=bool)
    rule = "a right label must cost 0; subtract what it costs from its row, which changes no label"
    _refuse(is_diagonal & (matrix != 0), matrix, classes, rule)
    if len(classes) < 2:
        return None
    free = np.flatnonzero((matrix == 0).all(axis=1))
    if len(free):
        raise ValueError(
            f"costs: a row of class {classes[free[0]]!r} called anything else costs 0, so such rows would not count; "
            "give a small cost, or leave out the rows"
        )
    is_plain = (matrix[~is_diagonal] == matrix[0, 1]).all()  # then no label depends on it, and no row weighs more
    return None if is_plain and matrix[0, 1] == 1.0 else matrix


def _by_label(given: Any, classes: list[Any], name: str) -> Any:
    """Return a Series or DataFrame that is labelled by the classes as a dict; anything else as it is.

    Its order is its own, so that reading it by place could swap classes without a word. Plain row numbers are places.
    """
    index, columns = getattr(given, "index", None), getattr(given, "columns", None)
    if not hasattr(index, "tolist"):
        return given
    axes = [axis.tolist() for axis in (index, columns) if axis is not None]
    if any(set(names) != set(classes) for names in axes):
        if all(names == list(range(len(names))) for names in axes):
            return given
        raise ValueError(
            f"{name}: its labels are {' and '.join(map(_shown, axes))}, and y has the classes {_shown(classes)}: label "
            "it by these, or pass an array in their order"
        )
    values = given.to_numpy().tolist()
    if columns is None:
        return dict(zip(axes[0], values, strict=True))
    rows = zip(axes[0], values, strict=True)
    return {(true, said): cost for true, row in rows for said, cost in zip(axes[1], row, strict=True)}


def _classes_of_one(labels: Labels, name: str) -> list[Any]:
    if len(labels.classes) > 1:
        raise ValueError(
            f"{name}: defined for one output, and y has {len(labels.classes)}; leave {name}=None, or fit a model for "
            "each output"
        )
    listed: list[Any] = labels.classes[0].tolist()
    return listed


def _costs_of_array(costs: Any, classes: list[Any]) -> NDArray[np.float64]:
    try:
        matrix = np.array(costs, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"costs cannot be read as numbers: {error}; pass a square matrix of numbers") from error
    k = len(classes)
    if matrix.shape != (k, k):
        raise ValueError(
            f"costs has the shape {matrix.shape}, and y has the {k} classes {_shown(classes)}: pass a matrix of shape "
            f"{(k, k)}, a row for each true class and a column for each predicted one, or a dict of (true, predicted)"
        )
    return matrix


def _costs_of_dict(costs: dict[Any, Any], classes: list[Any]) -> NDArray[np.float64]:
    pairs = costs
    if costs and all(isinstance(row, dict) for row in costs.values()):
        pairs = {(true, predicted): cost for true, row in costs.items() for predicted, cost in row.items()}
    matrix = 1.0 - np.eye(len(classes))
    places, named = {value: k for k, value in enumerate(classes)}, set()
    for pair, cost in pairs.items():
        if not (isinstance(pair, tuple) and len(pair) == 2):
            raise ValueError(f"costs holds the key {pair!r}: a key must be a pair (true class, predicted class)")
        if isinstance(cost, (bool, str)) or not isinstance(cost, (int, float, np.number)):
            raise TypeError(f"costs[{pair!r}]={cost!r}: every cost must be a finite number >= 0")
        named |= set(pair)
        if pair[0] in places and pair[1] in places:
            matrix[places[pair[0]], places[pair[1]]] = cost
    _refuse_unknown("costs", named, classes)
    return matrix


def _refuse_unknown(name: str, named: Any, classes: list[Any]) -> None:
    """Refuse names of classes that y does not hold, where y holds others that are not named: they are misspelt."""
    unknown = [value for value in named if value not in classes]
    left_out = [value for value in classes if value not in named]
    if unknown and left_out:
        raise ValueError(
            f"{name} names the classes {_shown(sorted(unknown, key=str))}, which y does not hold, and leaves out "
            f"{_shown(left_out)}: spell the classes as in y"
        )


def _shown(values: list[Any]) -> str:
    return f"[{', '.join(map(repr, values[:10]))}{', ...' if len(values) > 10 else ''}]"


def _refuse(is_wrong: NDArray[np.bool_], matrix: NDArray[np.float64], classes: list[Any], rule: str) -> None:
    if is_wrong.any():
        true, predicted = np.argwhere(is_wrong)[0]
        raise ValueError(
            f"costs: a row of class {classes[true]!r} called {classes[predicted]!r} costs {matrix[true, predicted]}; "
            f"{rule}"
        )


def read_priors(priors: Any, labels: Labels) -> NDArray[np.float64] | None:
    """Return the true share of each class of a target, or None.

    Parameters
    ----------
    priors : array of shape (classes,), dict of class to prior, or None
        In the order of the sorted classes. They sum to one.
    labels : Labels
        The target.

    """
    if priors is None:
        return None
    classes, priors = _for_one_output(priors, labels, "priors")
    if isinstance(priors, dict):
        absent, unknown = set(classes) - set(priors), set(priors) - set(classes)
        if absent or unknown:
            said = f"leaves out {_shown(sorted(absent, key=str))}" if absent else f"names {_shown([*unknown])} as well"
            raise ValueError(f"priors: y has the classes {_shown(classes)}, and the dict {said}; name each class once")
        priors = [priors[value] for value in classes]
    try:
        shares = np.array(priors, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"priors cannot be read as numbers: {error}; pass one number for each class") from error
    if shares.shape != (len(classes),):
        raise ValueError(
            f"priors has the shape {shares.shape}, and y has the {len(classes)} classes {_shown(classes)}: pass one "
            "number for each, in this order, or a dict"
        )
    wrong = ~(np.isfinite(shares) & (shares >= 0))
    if wrong.any():
        k = int(wrong.argmax())
        raise ValueError(f"priors: class {classes[k]!r} has {shares[k]}; every prior must be a finite number >= 0")
    if abs(shares.sum() - 1.0) > 1e-6:
        raise ValueError(f"priors sum to {shares.sum():.10g}: they must sum to 1; divide them by their sum")
    return shares


@dataclass(frozen=True, eq=False)
class ClassCosts:
    """Costs and priors of one fit."""

    priors: NDArray[np.float64] | None
    rule: LeastCost | None
    # What a row of each class counts in growth beside its true weight; None where that is the same for all.
    factors: NDArray[np.float64] | None

    def weigh(
        self, labels: Labels, weight: NDArray[np.float64] | None, with_classes: NDArray[np.float64] | None
    ) -> NDArray[np.float64] | None:
        """Return what each row counts in growth.

        Parameters
        ----------
        labels : Labels
            The target.
        weight : array or None
            The sample weights, which say what share of the rows each class has.
        with_classes : array or None
            The same times ``class_weight``: what rows count where there are neither priors nor costs. The sum stays.

        """
        if self.priors is None and self.factors is None:
            return with_classes
        codes = labels.codes[:, 0]
        multiply = np.ones(labels.sizes[0]) if self.factors is None else self.factors.copy()
        by_priors = self.by_priors(labels, weight)
        if by_priors is not None:
            multiply *= by_priors
        present = multiply[np.bincount(codes, weights=weight, minlength=len(multiply)) > 0]
        if np.ptp(present) <= _ALIKE * present.max():
            return with_classes
        base = np.ones(len(codes)) if with_classes is None else with_classes
        altered = base * multiply[codes]
        total = math.fsum(altered)  # of fractions: the order of the rows changes no bit
        if total <= 0.0:
            raise ValueError("priors times class_weight times sample_weight: all are zero, so no row counts")
        return np.asarray(altered * (math.fsum(base) / total))

    def by_priors(self, labels: Labels, weight: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        """Return what the priors multiply the rows of each class by; None where there are no priors."""
        if self.priors is None:
            return None
        counts = _weight_by_class(labels.codes[:, 0], weight, len(self.priors))
        share = counts / counts.sum()
        _refuse_absent(self.priors, share, labels)
        return np.asarray(np.divide(self.priors, share, out=np.zeros(len(share)), where=share > 0))

    def restored(self, trees: Trees) -> Trees:
        """Return grown trees with the shares and weights of the true priors.

        A node's class weights are divided by what growth multiplied them by, and scaled so that a tree weighs what it
        did. Impurity and gain stand for a unit of weight, so they are scaled the other way: their products with the
        weight, which importances and pruning add up, stay those of growth.
        """
        if self.factors is None:
            return trees
        value: Any = trees.value
        weight, parts = np.empty(trees.n_nodes), []
        for rows in _blocks(value):
            sums = value[rows] / self.factors
            total = sums.sum(axis=1)
            weight[rows] = trees.weight[rows] * total
            if isinstance(value, np.ndarray):
                value[rows] = sums / total[:, None]
            else:  # rows that keep what is not zero
                parts.append(type(value).of(sums / total[:, None]))
        value = type(value).joined(parts) if parts else value
        roots = trees.root[:-1]
        weight *= np.repeat(trees.weight[roots] / weight[roots], np.diff(trees.root))
        scale = trees.weight / weight
        return trees._replace(value=value, weight=weight, impurity=trees.impurity * scale, gain=trees.gain * scale)


def _weight_by_class(
    codes: NDArray[np.int64], weight: NDArray[np.float64] | None, n_classes: int
) -> NDArray[np.float64]:
    """Return the weight of each class, to the last bit whatever the order of the rows."""
    if weight is None:
        return np.bincount(codes, minlength=n_classes).astype(np.float64)
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=n_classes))[:-1]
    return np.array([math.fsum(part) for part in np.split(weight[order], ends)])


def _refuse_absent(priors: NDArray[np.float64], share: NDArray[np.float64], labels: Labels) -> None:
    absent = (priors > 0) & (share == 0)
    if absent.any():
        k = int(absent.argmax())
        name = labels.classes[0].tolist()[k]
        raise ValueError(
            f"priors: class {name!r} has {priors[k]}, and none of its rows has weight; give it 0, or weigh its rows"
        )


def class_costs_of(priors: Any, costs: Any, labels: Labels, *, alters: bool = True) -> ClassCosts:
    """Return the ClassCosts of a fit; with ``alters`` costs make altered priors, otherwise the criterion reads them."""
    matrix = read_costs(costs, labels)
    factors = None
    if matrix is not None and alters:
        factors = matrix.sum(axis=1)
        factors = None if np.ptp(factors) <= _ALIKE * factors.max() else factors / factors.max()
    return ClassCosts(read_priors(priors, labels), None if matrix is None else LeastCost(matrix), factors)


NO_COSTS = ClassCosts(None, None, None)


def likeliest(shares: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the column of the largest share of every row, the first on ties; no share is NaN."""
    if shares.shape[1] == 2:  # argmax along so short an axis took 3 % of predicting with 20 deep trees
        return (shares[:, 1] > shares[:, 0]).astype(np.int64)
    return np.asarray(shares.argmax(axis=1))


def commonest(value: NDArray[np.float64], n_classes: Sequence[int], voting: Any) -> NDArray[np.float64]:
    """Return one vote for the label of each output in place of shares: the commonest class, or that of least cost."""
    votes, start = np.zeros_like(value), 0
    for k in n_classes:
        shares = value[:, start : start + k]
        codes = voting.codes(shares) if isinstance(voting, LeastCost) else shares.argmax(axis=1)
        votes[np.arange(len(votes)), start + codes] = 1.0
        start += k
    return votes
