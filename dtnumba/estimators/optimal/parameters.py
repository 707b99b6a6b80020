"""Parameters of optimal trees, and what other solvers call them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from dtnumba.estimators.bases.parameters import (
    CATEGORICAL_FEATURES,
    N_JOBS,
    Legal,
    integer,
    is_real,
    number,
    one_of,
    parameter,
    whole,
)
from dtnumba.tables.categories import FROM_DTYPE

_DEEPEST = 30
_THRESHOLDS = Legal(
    lambda value: value == "exact" if isinstance(value, str) else value is not None and integer(1).holds(value),
    "the str 'exact' or an int in the range [1, inf)",
)
_SECONDS = Legal(
    lambda value: value is None or (is_real(value) and value >= 0), "a finite number of 0 or more, or None"
)
_START = Legal(lambda value: value is None or str(value) == "greedy", "the str 'greedy' or None")


# By STreeD, GOSDT, ConTree, DL8.5 and scikit-learn; and where these count otherwise
_OF_ROWS = "complexity, with complexity_unit='rows'"
CALLED_ELSEWHERE = {
    **dict.fromkeys(("regularization", "cost_complexity", "complexity_cost", "ccp_alpha", "lambda", "lamb"), _OF_ROWS),
    **dict.fromkeys(("time_limit", "timeout"), "max_seconds"),
    **dict.fromkeys(("max_num_nodes", "n_nodes"), "max_nodes"),
    "max_leaf_nodes": "max_nodes, which counts tests, one less than leaves",
    "depth_budget": "max_depth, which counts tests on a path, one less than GOSDT's",
    **dict.fromkeys(("min_leaf_node_size", "min_sup"), "min_samples_leaf"),
    **dict.fromkeys(("optimization_task", "criterion", "loss", "metric"), "objective"),
    **dict.fromkeys(("n_thresholds", "max_bins", "continuous_binarize_strategy"), "thresholds"),
    **dict.fromkeys(("worker_limit", "n_threads"), "n_jobs"),
    **dict.fromkeys(("memory_limit", "max_cache_size"), "max_bytes"),
    **dict.fromkeys(("upper_bound", "upperbound_guess", "warm_start", "warm_labels"), "start"),
}
CLASSES_ELSEWHERE = CALLED_ELSEWHERE | {"balance": "class_weight", "cost_matrix": "costs"}


@dataclass(kw_only=True, eq=False, repr=False)
class OptimalParams:
    """Parameters of optimal trees.

    Parameters
    ----------
    max_depth : int
        Longest path from the root to a leaf; 0: one leaf.
    max_nodes : int or None
        Most tests in the tree; None: as many as the depth allows.
    min_samples_leaf : int
        Fewest rows of a leaf.
    complexity : float
        What each test costs, in units of ``complexity_unit``.
    complexity_unit : "root", "rows" or "loss"
        "root": a share of what a tree of one leaf loses. "rows": a share of the weight of all rows, which for errors is
        a share of the rows. "loss": what ``loss_`` is counted in, such as rows.
    categorical_features : "from_dtype", list of names or indices, boolean mask or None
        Which columns are categories. Up to 8 levels are divided in all ways; of more, one is parted from the others, or
        some as the greedy tree does.
    thresholds : "exact" or int
        "exact": every cut between two values of a number. An int: at most so many a column, after equal shares of rows.
    max_seconds : float or None
        Stop after so long, and keep the best tree so far: a leaf, where not even the columns were put in order by then.
        Seconds of compiling do not count, nor does what reads and checks the table before.
    max_gap : float
        Stop where no tree is better than the one found by more than this share of its objective.
    start : "greedy" or None
        "greedy": look along the most promising tests first, so that good trees come early; more than 4 levels, and
        whatever a limit ends, begin with greedy trees, where there is the time to grow them. The tree is then no worse
        than any of DecisionTree of the same depth, leaves, rows a leaf, weights, costs and categories, random_state=0
        and criterion "gini" or "entropy" (of an objective of that name, the same one; of "bound" and "mdl", pruned by
        that; of numbers, the objective). None: search at once.
    max_bytes : int or None
        Most memory of the search, which forgets what it has solved rather than grow; None: a quarter of the machine's.
    verbose : int or callable
        1: say how good the best tree and the bound are, prices of tests included, whenever they get better. A function
        is called while the search runs, and stops it by False.
    n_jobs : int or None
        Threads of the search and of predictions; the tree is the same on any number. None is every core, but one
        inside a worker of another pool.

    """

    max_depth: int = parameter(3, whole(0, _DEEPEST))
    max_nodes: int | None = parameter(None, integer(0))
    min_samples_leaf: int = parameter(1, whole(1, 1 << 30))
    complexity: float = parameter(0.0, number(0.0, math.inf))
    complexity_unit: str = parameter("root", one_of("root", "rows", "loss"))
    categorical_features: Any = parameter(FROM_DTYPE, CATEGORICAL_FEATURES)  # noqa: RUF009  a field
    thresholds: Any = parameter("exact", _THRESHOLDS)  # noqa: RUF009
    max_seconds: float | None = parameter(None, _SECONDS)
    max_gap: float = parameter(0.0, number(0.0, 1.0))
    start: str | None = parameter("greedy", _START)
    max_bytes: int | None = parameter(None, integer(1))
    verbose: Any = parameter(0, Legal(lambda value: callable(value) or value in {0, 1}, "0, 1 or a function"))  # noqa: RUF009
    n_jobs: int | None = parameter(None, N_JOBS)
