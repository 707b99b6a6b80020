"""C4.5: gain ratio, missing values in parts, pruning by expected errors."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.estimators.bases.classical import ClassicalParams, ClassicalTree
from dtnumba.estimators.bases.docs import documented
from dtnumba.estimators.bases.parameters import PRUNER, Legal, integer, is_real, one_of, parameter, whole, yes_or_no
from dtnumba.growth.multiway.c45 import C45Options, first_windows, grow_c45, uncut_columns, window_size
from dtnumba.prediction.fractional import mixtures_of
from dtnumba.prediction.tree_view import TreeView
from dtnumba.pruners.engines.collapse import collapsed
from dtnumba.pruners.engines.fractional_subtree_raising import recounted, with_empty_filled
from dtnumba.pruners.engines.recount import dense_cells
from dtnumba.pruners.error_based import ErrorBased
from dtnumba.pruners.reduced_error import ReducedError
from dtnumba.runtime.tasks import n_workers
from dtnumba.tables.weights import fixed_weights
from dtnumba.trees.layout import BY_SHARE, LEAF
from dtnumba.trees.routing import as_asked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.estimators.bases.fit import TrainingData
    from dtnumba.pruners.contract import Pruner
    from dtnumba.tables.labels import Labels
    from dtnumba.tables.weights import Weights
    from dtnumba.trees.layout import Trees


N_TRIALS = 10  # windows to begin with, as in release 8
_CONFIDENCE = Legal(lambda value: is_real(value) and 0.0 < value < 1.0, "a float in the range (0.0, 1.0)")
_OBJECTS = Legal(lambda value: is_real(value) and value > 0.0, "a number above 0")
MIN_GAP = Legal(lambda value: is_real(value) and value >= 0.0, "a number of 0 or more")


@dataclass(kw_only=True, eq=False, repr=False)
class C45Params(ClassicalParams):
    """Parameters of C4.5.

    Parameters
    ----------
    confidence : float
        Of error-based pruning; smaller means smaller trees.
    min_objects : float
        At least two branches of every test have rows of this weight.
    min_gap : float
        Values of a column that are no farther apart are not parted, as in the original: 0 parts any two different ones.
    max_bins : int or None
        None: every value of a column of numbers may be a cut. A number from 2 to 255: at most so many, chosen by their
        counts, so that growth takes less time and no table is too large to be kept as codes.
    prune : "error_based", "reduced_error", another pruner or None
        "error_based": by ``confidence``. "reduced_error": by rows that are set aside, see ``n_folds``.
    subtree_raising : bool
        Whether the heaviest branch may take the place of its node; J48 does so in error-based pruning alone.
    collapse : bool
        Whether a subtree that errs as much as a leaf on its own rows becomes one; not before reduced-error pruning.
    subset : bool
        Whether levels are merged into groups with a branch each, as long as that raises the gain ratio.
    binary_splits : bool
        Whether a test on a category is one level against the rest.
    mdl_correction : bool
        Whether a cut pays log2(number of cuts) / weight of the node for having been chosen among others.
    average_gain_rule : bool
        Whether columns of gain below average are left out; columns with levels for 30 % of the rows are not averaged.
    laplace : bool
        Whether ``predict_proba`` adds one row of each class to each leaf.
    n_folds : int
        "reduced_error" sets one fold of so many aside.
    windowing : bool
        Whether to grow trees on a part of the rows that takes in those it gets wrong, from ten beginnings, and keep the
        tree of fewest expected errors.
    variant : "j48" or "release8"
        Where the two differ. J48: quantiles of the normal distribution are exact, gains and ratios must be larger by
        1e-6 to win, a test must gain something, and collapsing counts the whole subtree. Release 8: quantiles come from
        a table, and a test that gains nothing may be taken.

    """

    confidence: float = parameter(0.25, _CONFIDENCE)
    min_objects: float = parameter(2, _OBJECTS)
    min_gap: float = parameter(1e-5, MIN_GAP)
    max_bins: int | None = parameter(None, integer(2, 255))
    prune: Any = parameter("error_based", PRUNER)  # noqa: RUF009  a field
    subtree_raising: bool = yes_or_no(True)
    collapse: bool = yes_or_no(True)
    subset: bool = yes_or_no(False)
    binary_splits: bool = yes_or_no(False)
    mdl_correction: bool = yes_or_no(True)
    average_gain_rule: bool = yes_or_no(True)
    laplace: bool = yes_or_no(False)
    n_folds: int = parameter(3, whole(2, 1000))
    windowing: bool = yes_or_no(False)
    variant: str = parameter("j48", one_of("j48", "release8"))


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class C45Classifier(ClassicalTree, C45Params):
    """A tree of C4.5 (Quinlan 1993), as release 8 grows it or as Weka's J48 does.

    At each node the cut of largest gain stands for a column of numbers, and a child a level for one of categories; of
    the columns whose gain is average or more, the one of largest gain ratio wins, the first one on ties. A row that
    lacks the value of a test goes down all its branches in parts, in ``fit`` and in ``predict``. Cuts are values of the
    table; a column of float32 is compared with those of float64 as float32, in which 0.3 is 0.3. A level that no row of
    a node has gets a leaf that says what the node says.

    Examples
    --------
    >>> from dtnumba import C45Classifier
    >>> X = [["sunny", 85], ["sunny", 90], ["overcast", 78], ["rain", 96], ["rain", 70], ["overcast", 65]]
    >>> tree = C45Classifier(categorical_features=[0]).fit(X, ["stay", "stay", "play", "play", "play", "play"])
    >>> tree.predict([["sunny", 70], [None, 80]]).tolist()
    ['stay', 'play']

    """

    criterion = "gain_ratio"  # what nodes of a pruned tree are described by
    missing = "fractional"

    def check_params(self) -> None:
        """Raise where a parameter is not legal, or two of them are not together."""
        super().check_params()
        if self.subset and self.binary_splits:
            raise ValueError(
                "subset=True merges levels into groups, and binary_splits=True parts one level from the rest: choose "
                "one of them"
            )

    def _pruner(self) -> Pruner | None:
        method = vars(self)["prune"]
        if isinstance(method, str) and method == "error_based":
            estimate = "j48" if self.variant == "j48" else "release8"
            return ErrorBased(float(self.confidence), bool(self.subtree_raising), estimate)
        if isinstance(method, str) and method == "reduced_error":
            raises = self.variant != "j48" and bool(self.subtree_raising)
            return ReducedError(fraction=1.0 / self.n_folds, raising=raises)
        return super()._pruner()

    def _grow(self, table: Any, outcome: Labels, weights: Weights) -> Trees:
        options = C45Options(
            min_objects=float(self.min_objects),
            min_gap=float(self.min_gap),
            max_bins=None if self.max_bins is None else int(self.max_bins),
            subset=bool(self.subset),
            binary_splits=bool(self.binary_splits),
            mdl_correction=bool(self.mdl_correction),
            average_gain_rule=bool(self.average_gain_rule),
            variant=self.variant,
            n_jobs=self.n_jobs,
        )
        trees, uncut = grow_c45(table, outcome, weights, options)
        if not self.windowing:  # a window holds too few values to tell
            _warn_of_uncut(table, uncut, float(self.min_gap), 7)
        pruner = self._pruner()
        if not self.collapse or (pruner is not None and pruner.held_out is not None):
            return trees
        return collapsed(trees, self.variant)

    _policy_of_missing = BY_SHARE

    def _learned_trees(self, data: TrainingData) -> Trees:
        if not self.windowing:
            return super()._learned_trees(data)
        table, outcome = data.table, data.outcome
        counts, judge = fixed_weights(data.weight, table.n_rows), ErrorBased(float(self.confidence))
        min_gap, workers = float(self.min_gap), n_workers(self.n_jobs)
        _warn_of_uncut(table, uncut_columns(table, counts, min_gap, self.max_bins, workers), min_gap, 5)
        trials: list[tuple[float, int, Trees]] = []
        for start in first_windows(outcome.codes[:, 0], counts, data.seed, N_TRIALS):
            trees = self._pruned(data, self._windowed(table, outcome, counts, start))
            leaves = trees.feature == LEAF
            expected = judge.expected(trees.value[leaves] * trees.weight[leaves, None]).sum()
            trials.append((float(expected), len(trials), trees))
        return min(trials, key=lambda trial: trial[:2])[2]

    def _windowed(self, table: Any, outcome: Labels, counts: Weights, order: NDArray[np.int64]) -> Trees:
        """Return the best tree of windows that take in rows which the last tree got wrong, counted with all rows."""
        weight, codes = np.asarray(counts.integers * counts.unit, np.float64), outcome.codes[:, 0]
        size, (inside, best, fewest) = window_size(len(order)), (np.zeros(len(weight), bool), None, math.inf)
        inside[order[:size]] = True
        step, workers = max(size // 5, 1), n_workers(self.n_jobs)
        while True:
            trees = self._grow(table, outcome, fixed_weights(np.where(inside, weight, 0.0), table.n_rows))
            wrong = mixtures_of(table, trees, workers)[0].argmax(axis=1) != codes
            errors = float(weight[wrong].sum())
            if errors < fewest:
                best, fewest = trees, errors
            missed = order[(wrong & ~inside)[order]]
            if not len(missed):
                break
            inside[missed[: max(min(len(missed), step), len(missed) // 2)]] = True
        assert best is not None
        return recounted(best, as_asked(best, table.bits), dense_cells(table), codes, weight, workers)

    def predict_proba(self, X: Any, check_input: bool = True) -> Any:
        """Return the share of each class in every row's leaf, or mixed from its leaves; see ``laplace``."""
        table = self.table_of(X)
        return self._speaking().shares(table, self.n_jobs)[0]

    def _speaking(self) -> TreeView:
        """Return the tree that says shares, with ``laplace`` those with one more row of each class."""
        tree = self.check_fitted().tree_
        if not self.laplace:
            return tree
        self.refuse_compact("predict_proba with laplace=True")
        trees = tree.trees
        n_classes, weight = trees.value.shape[1], trees.weight[:, None]
        return TreeView(
            with_empty_filled(trees._replace(value=(trees.value * weight + 1.0) / (weight + n_classes))),
            tree.n_features,
            tree.n_classes.tolist(),
        )


def _warn_of_uncut(table: Any, found: list[int], min_gap: float, stacklevel: int) -> None:
    """Warn of columns of several numbers that ``min_gap`` keeps from ever being cut."""
    if found:
        name = found[0] if table.names is None else repr(table.names[found[0]])
        more = f", and {len(found) - 1} more column{'s' * (len(found) > 2)}," if len(found) > 1 else ""
        warnings.warn(
            f"column {name}{more} cannot be cut: no value lies farther than min_gap={min_gap:g} from the next one. "
            "Multiply the column, or lower min_gap",
            UserWarning,
            stacklevel=stacklevel,
        )
