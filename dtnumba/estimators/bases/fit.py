"""The pipeline of a fit: rows are read, a model grows on them, and what it learned is kept, all at once and last.

Every estimator's ``fit`` is this pipeline; kinds of estimators differ in the steps that they override.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.criteria.user_criterion import explain_compile_error
from dtnumba.estimators.bases.estimator import Estimator
from dtnumba.estimators.bases.held_out_rows import parted, read_validation_rows
from dtnumba.growth.binary.train import check_f_test, numbers_per_output, train_binary
from dtnumba.growth.choose_growth import for_binary_growth, with_policy
from dtnumba.growth.policies.constraints import constrained
from dtnumba.growth.settings import UNLIMITED
from dtnumba.growth.targets.choose import target_of, with_tables
from dtnumba.growth.targets.reach import in_reach, restored
from dtnumba.prediction.tree_view import TreeView
from dtnumba.runtime import rng
from dtnumba.runtime.side_by_side import expecting
from dtnumba.tables.binned_table import BinnedTable, read_features
from dtnumba.tables.labels import Labels, codes_of, warn_of_column
from dtnumba.tables.table import read_table
from dtnumba.tables.weights import read_weight
from dtnumba.trees.layout import BY_CHILD, BY_SHARE, Trees

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from typing_extensions import Self

    from dtnumba.growth.settings import Settings
    from dtnumba.pruners.contract import Pruner
    from dtnumba.tables.binned_table import Features
    from dtnumba.tables.costs import ClassCosts
    from dtnumba.tables.labels import Values
    from dtnumba.tables.table import Seen, Table
    from dtnumba.validation.early_stopping import ValidationRows


class TrainingData(NamedTuple):
    """The rows of a fit, checked, and the decisions taken before anything grows."""

    table: Any  # Table, or the BinnedTable that was passed
    outcome: Any  # Labels or Values
    given: tuple[Any, Any, Any]  # X, y and sample_weight as the caller passed them
    seed: int
    class_costs: ClassCosts
    pruner: Pruner | None
    weight: NDArray[np.float64] | None  # what each row counts to growth; None: one
    pruner_weight: NDArray[np.float64] | None  # what each row counts to the pruner; None: one
    validation_rows: ValidationRows | None  # rows at which growth stops early


class Learner(Estimator):
    """An estimator that learns by the pipeline of ``fit``."""

    # Parameters, which kinds of estimators declare as fields; these are the values where one has not got them.
    categorical_features: Any
    n_jobs: int | None
    max_bins: int | None = None
    takes_declared_levels = False  # those that a dtype declares and no row has are levels, too
    max_leaf_nodes: Any = None
    monotonic_cst: Any = None
    interaction_cst: Any = None
    class_weight: Any = None
    priors: Any = None
    costs: Any = None
    random_state: Any = None
    validation_fraction: float | None = None
    ccp_alpha: float = 0.0
    criterion: Any

    # Steps, which Classifier and Regressor, or the parameters of growth have
    read_target: Any
    class_costs: Any
    row_weights: Any
    target_seen: Any
    growth_settings: Any
    _resolve_criterion: Any
    _learned_from: Any

    # Learned
    n_features_in_: int
    n_outputs_: int

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model to rows.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (rows, features)
            Numbers and categories (see ``categorical_features``); NaN, None and a frame's nulls are missing values.
        y : array of shape (rows,)
            Labels of any hashable kind for a classifier, finite numbers for a regressor.
        sample_weight : array of shape (rows,) or number, optional
            What each row counts; rows of weight 0 do not influence anything.

        Returns
        -------
        estimator
            The estimator itself; as it was if anything fails.

        """
        data = self._read(X, y, sample_weight)
        return self._learn(data.table, **self._learned(data))

    def _learned(self, data: TrainingData) -> dict[str, Any]:
        """Return what the model learns of the rows, by the names of its attributes."""
        raise NotImplementedError

    def _read(self, X: Any, y: Any, sample_weight: Any, X_val: Any = None, y_val: Any = None) -> TrainingData:
        """Return the rows of a fit, checked, and what the parameters make of them."""
        self.check_params()
        table = self._read_features(X)
        self.refuse_missing(table)
        outcome = self.read_target(y, table.n_rows)
        if self._is_of_one_output and len(outcome.sizes) > 1:
            raise ValueError(
                f"y has {len(outcome.sizes)} outputs: {type(self).__name__} learns one; fit one model for each column"
            )
        if self._is_of_one_output:
            warn_of_column(y)
        class_costs, seed, pruner = self.class_costs(outcome), self._seed(), self._pruner()
        weight, pruner_weight = read_weight(sample_weight, table.n_rows), None
        if pruner is not None and pruner.held_out is not None:
            weight, pruner_weight = parted("prune", pruner.held_out, weight, table.n_rows, seed, evenly=False)
        weight, validation_rows = read_validation_rows(self, table, outcome, weight, (X_val, y_val), seed)
        pruner_weight = weight if pruner_weight is None else pruner_weight
        given = X, y, sample_weight
        return TrainingData(table, outcome, given, seed, class_costs, pruner, weight, pruner_weight, validation_rows)

    def read_known(
        self, X: Any, y: Any, columns: Seen | None = None, target: Labels | Values | None = None
    ) -> tuple[Table, Labels | Values]:
        """Return rows and their target, in the columns and classes of a fit: by default those of the fitted model."""
        table = read_table(X, type(self).__name__, self.columns_seen if columns is None else columns)
        self.refuse_missing(table)
        target, outcome = self.target_seen if target is None else target, self.read_target(y, table.n_rows)
        if isinstance(target, Labels):
            return table, Labels(target.classes, codes_of(outcome, target.classes))
        if outcome.width != target.width:
            raise ValueError(f"y has {outcome.width} outputs, and the model was fitted to {target.width}")
        return table, outcome

    def _read_features(self, X: Any) -> Features:
        if isinstance(X, BinnedTable) and "max_bins" not in self.__dataclass_fields__:
            raise TypeError(
                f"X is a BinnedTable, which holds codes, and {type(self).__name__} reads values: pass these"
            )
        name, declared = type(self).__name__, self.takes_declared_levels
        return read_features(X, name, self.max_bins, self.categorical_features, declared=declared)

    def _seed(self) -> int:
        return int(rng.seed_from(self.random_state))

    def _pruner(self) -> Pruner | None:
        return None

    def _policy(self, data: TrainingData, total: float, share: float, most_leaves: Any) -> tuple[Any, Settings]:
        """Return the criterion and the settings of a growth.

        Parameters
        ----------
        data : TrainingData
            The rows.
        total : float
            Their weight.
        share : float
            What limits that are a share of all weight are a share of.
        most_leaves : int or None
            Of a tree; not heeded where growth stops early, which counts the leaves that stay.

        """
        table, outcome = data.table, data.outcome
        criterion = self._resolve_criterion(outcome, total, table.n_features, data.class_costs)
        most_leaves = most_leaves if data.validation_rows is None else UNLIMITED
        settings = self.growth_settings(table.n_rows, table.n_features, share, data.seed, most_leaves)
        check_f_test(settings, criterion)
        settings = constrained(settings, self.monotonic_cst, self.interaction_cst, table, outcome)
        settings.check_options(outcome.kind, len(outcome.sizes), criterion)
        return criterion, settings


def has_categories(table: Any) -> bool:
    """Tell whether a table has a column of categories."""
    nominal = getattr(table, "nominal", None)
    return nominal is not None and bool(np.any(nominal))


def predicting(table: Any, outcome: Any, policy: int = BY_CHILD) -> Callable[[], Any]:
    """Return a rehearsal of the prediction of a tree for rows like those of its fit."""

    def rehearsal() -> Any:
        trees = Trees.of_leaves(1, outcome.width, policy, has_levels=has_categories(table))
        return TreeView(trees, table.n_features, outcome.sizes).leaves(table)

    return rehearsal


def train_tree(table: Any, outcome: Any, criterion: Any, weights: Any, settings: Any) -> Trees:
    """Grow one tree over the rows of positive weight, by whichever growth knows the tests that are asked for.

    Where a user's criterion is what fails, the error says so in plain words.
    """
    outcome, settings, power = in_reach(outcome, weights.kept, criterion, settings)
    target, binary = None, for_binary_growth(settings, table)
    if binary is not None:
        target = target_of(outcome, weights, criterion)
        target = with_tables(target, binary, len(weights.kept), table.n_features)
    try:
        policy = BY_SHARE if settings.options.missing == "fractional" else BY_CHILD
        with expecting(predicting(table, outcome, policy)):
            if binary is not None:
                trees = train_binary(table, target, criterion, weights, binary, outcome)
                trees = with_policy(trees, settings.options)
            else:
                from dtnumba.growth.multiway.train import train_general

                trees = train_general(table, outcome, criterion, weights, settings)
    except Exception:
        target = target_of(outcome, weights, criterion) if target is None else target
        explain_compile_error(criterion, target, numbers_per_output(target))
        raise
    return restored(trees, criterion, power)
