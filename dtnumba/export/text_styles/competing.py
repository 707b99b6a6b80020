"""Splits that competed: at each node of a tree the best split of every other column, found again on the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.export.reading import ExportError, read_trees
from dtnumba.export.text_styles.printed import Printed
from dtnumba.tables.weights import read_weight
from dtnumba.trees.layout import BY_SHARE, last_children
from dtnumba.validation.refits import fresh

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PLAIN: dict[str, Any] = {
    "max_depth": 1, "min_samples_split": 2, "ccp_alpha": 0.0, "min_impurity_decrease": 0.0, "n_jobs": 1,
    **dict.fromkeys(("prune", "max_leaf_nodes", "costs", "priors", "class_weight", "monotonic_cst")),
    **dict.fromkeys(("interaction_cst", "max_features", "validation_fraction")),
}


class Competitor(NamedTuple):
    """The best split of one column at one node."""

    feature: int
    gain: float  # decrease of impurity per unit of weight
    weight: float  # of the node, as its rows are weighed here
    impurity: float
    ranges: list[tuple[float, float]]  # of rpart's left child
    levels: list[int] | None  # that go there
    known: list[int] | None  # levels that the node met
    missing: int  # rows without a value


class Competition:
    """The rows of a tree, to look at its nodes again.

    Parameters
    ----------
    printed : Printed
        The tree.
    X, y, sample_weight : arrays
        The rows that it was grown on.

    """

    def __init__(self, printed: Printed, X: Any, y: Any, sample_weight: Any = None) -> None:
        model = printed.model
        has_surrogates = "surrogate_style" in model.get_params()
        if not has_surrogates or not hasattr(model, "tree_") or printed.trees.policy == BY_SHARE:
            raise ExportError(
                f"summary: competing splits are looked for again at nodes of DecisionTreeClassifier and "
                f"DecisionTreeRegressor, whose rows go one way; for this {type(model).__name__} leave out X and y"
            )
        self._printed, self._model, self._X = printed, model, X
        table = model.table_of(X)
        n_rows = table.n_rows
        if table.cells is None:
            raise ExportError("summary: X is sparse, and competing splits are looked for in dense rows; pass a dense X")
        self._y = np.asarray(y)
        if len(self._y) != n_rows or n_rows == 0:
            raise ValueError(f"summary: X has {n_rows} rows and y {len(self._y)}; pass the rows of fit")
        if printed.classes is not None:
            known = set(np.asarray(model.classes_).tolist())
            if odd := [one for one in self._y.tolist() if one not in known][:1]:
                raise ValueError(
                    f"summary: y holds {odd[0]!r}, which is none of the classes {sorted(known, key=str)[:8]} of the "
                    "tree; pass the labels of fit"
                )
        given = read_weight(sample_weight, n_rows)
        weight = np.ones(n_rows) if given is None else given
        self._weight = weight * self._of_class() if printed.classes is not None else weight
        self._rows = self._rows_of_nodes()
        if len(self._rows[0]) != int(printed.trees.n_samples[0]):
            raise ValueError(
                f"summary: the tree was grown on {int(printed.trees.n_samples[0])} rows, and X has {n_rows}; "
                "pass the rows of fit"
            )
        self.cells: NDArray[np.float64] = np.asarray(table.whole, np.float64)

    def _of_class(self) -> NDArray[np.float64]:
        """Return the weight by which growth counted each row beside its own: priors and costs of its class."""
        printed, model = self._printed, self._model
        codes = np.searchsorted(np.asarray(model.classes_), self._y)
        own = np.bincount(codes, minlength=printed.sizes[0]).astype(np.float64)
        factors = np.ones(len(own))
        if getattr(model, "priors", None) is not None:
            factors = printed.value[0] * own.sum() / np.maximum(own, 1.0)
        if printed.rule is not None:
            factors = factors * printed.rule.costs.sum(axis=1)
            factors = factors * own.sum() / (factors @ own)
        return np.asarray(factors[codes])

    def _rows_of_nodes(self) -> list[NDArray[np.int64]]:
        trees = self._printed.trees
        ends = self._model.apply(self._X)
        order = np.argsort(ends, kind="stable")
        rows = np.split(order, np.searchsorted(ends[order], np.arange(1, trees.n_nodes)))
        last = last_children(trees)
        for node in np.flatnonzero(trees.feature >= 0)[::-1].tolist():
            rows[node] = np.concatenate([rows[node], *rows[int(trees.left[node]) : int(last[node]) + 1]])
        return [np.sort(own) for own in rows]

    def missing(self, node: int, feature: int) -> int:
        """Return how many rows of a node have no value in a column."""
        return int(np.isnan(self.cells[self._rows[node], feature]).sum())

    def placed(self, node: int) -> list[int]:
        """Return how many rows each surrogate of a node places: those that the tests before it could not."""
        test = self._printed.test(node)
        rows = self._rows[node]
        left = rows[~self._decides(test.feature, rows, test)]
        found = []
        for one in test.stand_ins:
            decided = self._decides(one.feature, left, one if one.threshold != one.threshold else None)
            found.append(int(decided.sum()))
            left = left[~decided]
        return found

    def _decides(self, feature: int, rows: NDArray[np.int64], by_level: Any) -> NDArray[np.bool_]:
        cells = self.cells[rows, feature]
        known = ~np.isnan(cells)
        if by_level is not None and by_level.ways and self._printed.levels[feature] is not None:
            ways = np.asarray([*by_level.ways, -1])
            codes = np.minimum(np.where(known, cells, len(ways) - 1).astype(np.int64), len(ways) - 1)
            known &= ways[codes] >= 0
        return np.asarray(known)

    def at(self, node: int, most: int = 4) -> list[Competitor]:
        """Return the best splits of the other columns at a node, the best first."""
        own = int(self._printed.trees.feature[node])
        others = (j for j in range(len(self._printed.names)) if j != own)
        found = [one for one in (self._best(node, j) for j in others) if one is not None]
        return sorted(found, key=lambda one: -one.gain)[:most]

    def _best(self, node: int, feature: int) -> Competitor | None:
        rows = self._rows[node]
        if len(np.unique(self.cells[rows, feature][~np.isnan(self.cells[rows, feature])])) < 2:
            return None
        model = fresh(self._model)
        levels = self._printed.levels[feature]
        for name, value in _PLAIN.items():
            if hasattr(model, name):
                setattr(model, name, value)
        model.missing = "surrogate"
        is_named = not isinstance(model.categorical_features, str) and model.categorical_features is not None
        if is_named:
            model.categorical_features = None if levels is None else [0]
        X = self._X.iloc[rows, [feature]] if hasattr(self._X, "iloc") else np.asarray(self._X)[rows][:, [feature]]
        model.fit(X, self._y[rows], sample_weight=self._weight[rows])
        trees = model.trees_
        if trees.feature[0] < 0:
            return None
        stump = Printed(read_trees(model, "summary"), model)
        mean = stump.value @ np.arange(stump.value.shape[1]) if stump.classes is not None else stump.value[:, 0]
        branch = stump.branches(0)[0 if mean[1] < mean[2] else 1]
        chosen = known = None
        if branch.levels is not None and levels is not None:
            names = stump.levels[0] or []
            known = [levels.index(name) for name in names]
            chosen = [known[c] for c in branch.levels]
        return Competitor(
            feature, float(trees.gain[0]), float(trees.weight[0]), float(trees.impurity[0]), branch.ranges, chosen,
            known, self.missing(node, feature),
        )  # fmt: skip
