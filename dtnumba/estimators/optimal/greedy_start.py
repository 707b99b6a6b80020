"""The trees that an optimal one is compared with: those of DecisionTree under the same limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.estimators.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
from dtnumba.growth.optimal.columns import ranked_values
from dtnumba.growth.optimal.greedy import Grower
from dtnumba.pruners.bound import Bound
from dtnumba.tables.categories import LearnedLevels
from dtnumba.tables.labels import Labels
from dtnumba.tables.table import read_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.estimators.bases.fit import TrainingData
    from dtnumba.trees.layout import Trees

_NANOSECONDS, _OF_DISTANCES = 40.0, 400.0


def grower_of(
    data: TrainingData, kept: NDArray[np.int64], weight: NDArray[np.float64] | None, params: dict[str, Any]
) -> Grower:
    """Return how trees grow of these rows.

    Parameters
    ----------
    data : TrainingData
        The rows.
    kept : array
        Which of them count.
    weight : array or None
        What each row counts.
    params : dict
        Parameters of an optimal tree.

    """
    objective, cuts = str(params["objective"]), params["thresholds"]
    of_classes = isinstance(data.outcome, Labels)
    criteria = [objective] if objective in {"gini", "entropy"} or not of_classes else ["gini", "entropy"]
    made = dict[str, Any]()  # as late as it is needed

    def table() -> Any:
        if "table" not in made:
            made["table"] = data.table
            if cuts != "exact":
                X, levels = ranked_values(data.table, kept, int(cuts)), LearnedLevels(data.table.nominal, "OptimalTree")
                made["table"] = read_table(X, "OptimalTree", categories=levels)
        return made["table"]

    def grow(rows: NDArray[np.int64] | None, depth: int, most: int) -> list[Trees]:
        given = weight
        if rows is not None:
            given = np.zeros(data.table.n_rows)
            given[kept[rows]] = 1.0 if weight is None else weight[kept[rows]]
        size = most + 1 if most + 1 < 1 << depth else None
        limits = {"max_depth": depth, "min_samples_leaf": params["min_samples_leaf"], "random_state": 0, "n_jobs": 1}
        found = []
        for criterion in criteria:
            model: Any = DecisionTreeRegressor(criterion=criterion, **limits)
            if of_classes:
                model = DecisionTreeClassifier(criterion=criterion, costs=params["costs"], **limits)
            own = data._replace(
                table=table(),
                weight=given,
                pruner_weight=given,
                class_costs=model.class_costs(data.outcome),
                pruner=Bound(delta=params["delta"]) if objective == "bound" else None,
            )
            found.append(model.grown(own, size)[0])
        return found

    def values(feature: int) -> NDArray[np.float64]:
        return np.asarray(table().column(feature)[kept])

    each = _OF_DISTANCES if objective == "absolute_error" else _NANOSECONDS
    return Grower(grow, values, data.table.n_features, each * len(criteria))
