"""How all four forests are fitted: growth, warm start, out-of-bag rows, importances."""

from __future__ import annotations

import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.criteria.user_criterion import explain_compile_error
from dtnumba.estimators.bases.fit import has_categories
from dtnumba.estimators.bases.fitted_forest import FittedForest
from dtnumba.estimators.bases.prunable import drawn_by
from dtnumba.growth.binary.train import numbers_per_output
from dtnumba.growth.choose_growth import for_binary_growth, with_policy
from dtnumba.growth.forest.drawn_rows import drawing_of
from dtnumba.growth.forest.grow import grow_forest
from dtnumba.growth.forest.plan import Draws, plan_forest
from dtnumba.prediction.forest_view import FEW_STEPS, ForestView
from dtnumba.runtime.progress import Monitor
from dtnumba.runtime.side_by_side import expecting
from dtnumba.tables.categories import check_same_levels
from dtnumba.tables.labels import Labels
from dtnumba.trees.layout import Trees, joined

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self

    from dtnumba.estimators.bases.fit import TrainingData
    from dtnumba.explain.importances import Importances
    from dtnumba.growth.forest.grow import ForestPlan
    from dtnumba.tables.costs import LeastCost


class Forest(FittedForest):
    """A model of many trees that grow as ForestParams say."""

    # Parameters of forests alone
    n_estimators: int
    bootstrap: Any
    replace: bool
    max_samples: Any
    oob_score: Any
    warm_start: bool
    verbose: Any
    max_seconds: float | None
    importance: str
    missing: str
    categorical_split: str
    numeric_split: str

    _scored_out_of_bag: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (rows, features)
            Numbers and categories (see ``categorical_features``); NaN, None and a frame's nulls are missing values.
            With ``max_bins``, a BinnedTable is taken, too; its out-of-bag votes put a value into the middle of its bin.
        y : array of shape (rows,) or (rows, outputs)
            Labels of any hashable kind for a classifier, finite numbers for a regressor.
        sample_weight : array of shape (rows,) or number, optional
            With ``bootstrap`` how likely a row is drawn, otherwise what it counts.
        X_val, y_val : arrays, optional
            Rows that growth does not see: a branch ends where a split does not strictly improve their prediction.

        Returns
        -------
        estimator
            The estimator itself. After Ctrl-C it holds the longest finished prefix of the trees, if there is one; after
            any other error it is as it was.

        """
        data, rows = self._read(X, y, sample_weight, X_val, y_val), None
        if self._draws_by_row:
            from dtnumba.estimators.forest_steps.forgetting import check_by_row
            from dtnumba.growth.forest.held_rows import held_rows

            check_by_row(self, data)
            rows = held_rows(data.table, data.outcome, data.weight)
        self._check_judged(data.validation_rows)
        earlier_trees = self._earlier_trees(data)
        earlier = self._earlier_importances(data.table, earlier_trees)
        monitor = self._monitor(data.table.n_rows, earlier_trees, earlier)
        by_row = None
        if rows is None:
            plan = self.plan_of(data, self.row_weights(data.outcome, data.weight, data.class_costs))
        else:
            from dtnumba.estimators.forest_steps.forgetting import plan_by_row

            by_row = plan_by_row(self, data)
            plan = by_row.plan
        grown = self.grown(data, plan, 0 if earlier_trees is None else earlier_trees.n_trees, monitor)
        trees = joined([part for part in (earlier_trees, grown) if part is not None])
        if trees is None:
            raise monitor.error or self._nothing_finished(monitor)
        learned = self._learned_of_trees(data, plan, trees, earlier, monitor)
        learned |= {} if rows is None else {"_held": rows, "_by_row": by_row}
        self._learn(data.table, **learned)
        if rows is None:
            self.drop_rows_held()
        if monitor.error is not None:
            raise monitor.error
        return self

    def _learned_of_trees(
        self, data: TrainingData, plan: ForestPlan, trees: Trees, earlier: Importances | None, monitor: Monitor
    ) -> dict[str, Any]:
        """Return what the model learns of the rows of a fit and of the trees grown on them."""
        forest = ForestView(trees, data.table.n_features, data.outcome.sizes)
        learned: dict[str, Any] = self._learned_from(data.outcome, data.class_costs)
        learned |= {"forest_": forest, "n_estimators_": trees.n_trees, "max_features_": plan.settings.n_drawn}
        learned |= {"seed_": data.seed, "_drawing": drawing_of(plan.sampling, data.table.n_rows)}
        learned |= self._out_of_bag(data, plan, forest, monitor)
        return learned | self._measured(earlier, data, plan, trees, monitor)

    def _monitor(self, n_rows: int, earlier_trees: Trees | None, earlier: Importances | None) -> Monitor:
        """Return who watches the work, which is the trees to grow and those to measure; its clock starts here."""
        n_works = int(self.n_estimators) - (0 if earlier_trees is None else earlier_trees.n_trees)
        n_works += 0 if earlier is None else int(self.n_estimators) - earlier.n_trees
        return Monitor(self.verbose, self.max_seconds, n_works, n_rows * n_works)

    def plan_of(
        self, data: TrainingData, weight: NDArray[np.float64] | None, row_keys: NDArray[np.uint64] | None = None
    ) -> ForestPlan:
        """Return what the trees of a fit share; ``row_keys``: the rows draw for themselves."""
        if self._draws_by_row and row_keys is None:
            raise ValueError(
                "bootstrap='by_row' draws a row by what it holds, which a fit of rows in several places (Dask) does "
                "not know: pass bootstrap=True, or fit the rows in one place"
            )
        # What a criterion tabulates by the number of rows stays the same for numbers alike, as rows may leave.
        n = data.table.n_rows if row_keys is None else 1 << (2 * data.table.n_rows).bit_length()
        criterion, settings = self._policy(data, float(n), 1.0, None)
        if not settings.options.are_plain and self.importance != "impurity":
            raise ValueError(
                f"importance={self.importance!r} works only with binary splits and missing='learned'; you asked for "
                f"missing={self.missing!r}, categorical_split={self.categorical_split!r} and numeric_split="
                f"{self.numeric_split!r}. Pass importance='impurity', or leave these three out."
            )
        draws = Draws(
            bool(self.bootstrap),
            bool(self.replace),
            self.max_samples,
            self._is_balanced(),
            int(self.n_estimators),
            row_keys,
        )
        return plan_forest(data.table, data.outcome, weight, criterion, draws, settings)

    def grows_in_two(self, data: TrainingData) -> bool:
        """Tell whether binary growth serves, which reads codes."""
        return for_binary_growth(self._policy(data, 1.0, 1.0, None)[1], data.table) is not None

    @staticmethod
    def _rehearse_prediction(data: TrainingData) -> None:
        # So many trees that a few rows have a long way.
        trees = Trees.of_leaves(FEW_STEPS, data.outcome.width, has_levels=has_categories(data.table))
        ForestView(trees, data.table.n_features, data.outcome.sizes).means(data.table, "soft", 1)

    def grown(
        self, data: TrainingData, plan: ForestPlan, first: int, monitor: Monitor, n_trees: int | None = None
    ) -> Trees | None:
        """Return the missing trees, as far as they were finished, by whichever growth knows the tests asked for."""
        n_trees, grown = int(self.n_estimators) if n_trees is None else n_trees, None
        try:
            if first < n_trees and plan.general is None:
                with expecting(lambda: self._rehearse_prediction(data)):
                    grown = grow_forest(plan, first, n_trees, partial(run_growth, monitor))
                grown = None if grown is None else with_policy(grown, plan.settings.options)
            elif first < n_trees:
                from dtnumba.growth.forest.grow_multiway import grow_many

                grown = grow_many(plan, first, n_trees, monitor)
        except Exception:
            explain_compile_error(plan.criterion, plan.target, numbers_per_output(plan.target))
            raise
        raise_failure(monitor)
        if grown is not None:
            drawn = drawn_by(drawing_of(plan.sampling, data.table.n_rows), data.seed, first)
            grown = self._finished(data, grown, self.max_leaf_nodes, plan.settings.workers, drawn)
        if not monitor.stopped:  # else some trees behind the first unfinished one were counted, and are dropped
            monitor.done = n_trees - first
            monitor.report()
        return grown

    def _nothing_finished(self, monitor: Monitor) -> TimeoutError:
        return TimeoutError(
            f"max_seconds={self.max_seconds}: no tree was finished by then; allow more time, or smaller trees "
            "(max_depth, min_samples_leaf)"
            if monitor.stopped == "time"
            else "the callback stopped the work before the first tree was finished"
        )

    def check_params(self) -> None:
        """Raise where a parameter is not legal, or two of them are not together."""
        super().check_params()
        if not self.bootstrap and self.oob_score:
            raise ValueError("Out of bag estimation only available if bootstrap=True")
        if not self.bootstrap and self.max_samples is not None:
            raise ValueError(
                "`max_sample` cannot be set if `bootstrap=False`. Either switch to `bootstrap=True` or set "
                "`max_sample=None`."
            )
        if not self.bootstrap and self.importance == "permutation":
            raise ValueError(
                "importance='permutation' measures every tree on the rows that it did not draw, and with "
                "bootstrap=False every tree sees all of them: pass bootstrap=True, or importance='impurity_corrected'"
            )

    def _check_judged(self, validation_rows: Any) -> None:
        if validation_rows is not None and self.importance == "impurity_corrected":
            raise ValueError(
                "importance='impurity_corrected' compares the trees with others that are grown on shuffled columns, "
                "which rows held out cannot judge: use importance='permutation', or min_significance in place of a "
                "validation set"
            )

    def _splitter(self) -> str:
        return str(self._tree_class.splitter)

    def _is_balanced(self) -> bool:
        return False

    @property
    def _draws_by_row(self) -> bool:
        """Whether every row draws for itself, so that it can be forgotten."""
        return isinstance(self.bootstrap, str)

    @property
    def _is_warm(self) -> bool:
        """Whether the trees of an earlier fit are earlier_trees."""
        return bool(self.warm_start) and "forest_" in vars(self)

    def _seed(self) -> int:
        return self.seed_ if self._is_warm else super()._seed()

    def _earlier_trees(self, data: TrainingData) -> Trees | None:
        """Return the trees of an earlier fit that stay; None where all are to be grown."""
        if not self._is_warm:
            return None
        table, outcome, trees = data.table, data.outcome, self.forest_.trees
        if self.n_features_in_ != table.n_features or len(self.forest_.n_classes) != len(outcome.sizes):
            raise ValueError(
                f"warm_start=True: the forest was grown on {self.n_features_in_} columns and "
                f"{len(self.forest_.n_classes)} outputs, this table has {table.n_features} and {len(outcome.sizes)}; "
                "set warm_start=False, which fits anew"
            )
        self._known_drawing("warm_start=True")
        self._demand_same_classes(outcome)
        check_same_levels(vars(self).get("categories_"), table)
        if trees.is_compact:
            raise ValueError(
                "warm_start=True: compact() dropped the counts, weights and impurities of the nodes, which more trees "
                "would have; set warm_start=False, which fits anew, or do not call compact() before the last fit"
            )
        if self.n_estimators < trees.n_trees:
            raise ValueError(
                f"n_estimators={self.n_estimators} must be larger or equal to len(estimators_)={trees.n_trees} when "
                "warm_start==True"
            )
        if self.n_estimators == trees.n_trees:
            warnings.warn(
                "Warm-start fitting without increasing n_estimators does not fit new trees.", UserWarning, stacklevel=3
            )
        return trees

    def _demand_same_classes(self, outcome: Any) -> None:
        pass

    def _earlier_importances(self, table: Any, earlier_trees: Trees | None) -> Importances | None:
        """Return what an earlier fit measured of its trees that are kept; None where nothing is to be measured."""
        if self.importance == "impurity":
            return None
        earlier: Importances | None = vars(self).get("importances_") if earlier_trees is not None else None
        is_same = earlier is not None and earlier.kind == self.importance
        from dtnumba.explain.importances import nothing_measured

        return earlier if is_same else nothing_measured(self.importance, table.n_features)

    def _measured(
        self, earlier: Importances | None, data: TrainingData, plan: ForestPlan, trees: Trees, monitor: Monitor
    ) -> dict[str, Importances]:
        """Return the importances of features by their attribute; nothing where the trees themselves hold them."""
        if earlier is None:
            return {}
        from dtnumba.explain.importances import measured

        run, rule = partial(run_growth, monitor), data.class_costs.rule
        found = measured(earlier, data.table, data.outcome, plan, trees, monitor, run, rule)
        if not monitor.stopped:
            monitor.done = monitor.total
            monitor.report()
        return self._told_importances(found, monitor)

    def _told_importances(self, found: Importances, monitor: Monitor) -> dict[str, Importances]:
        """Return what was measured by its attribute; warn where that is nothing."""
        if found.n_measured == 0 and monitor.error is None:
            why = (
                "the work was stopped before the first tree was measured; allow more time"
                if found.n_trees == 0
                else "every tree drew every row, so there is none to measure it on; draw fewer (max_samples)"
            )
            warnings.warn(
                f"The importances of features (importance={self.importance!r}) are NaN: {why}.",
                UserWarning,
                stacklevel=3,
            )
        raise_failure(monitor)
        return {"importances_": found}

    def _out_of_bag(self, data: TrainingData, plan: ForestPlan, forest: ForestView, monitor: Monitor) -> dict[str, Any]:
        """Return the out-of-bag results by their attributes; nothing where they were not asked for, or after Ctrl-C."""
        if not self.oob_score or monitor.error is not None:
            return {}
        try:
            results = self._scored_by_votes(data, plan, forest, monitor)
        except KeyboardInterrupt as error:  # the trees are there already, and must not be lost
            monitor.stopped, monitor.error = "interrupt", error
            return {}
        raise_failure(monitor)
        return results

    def _scored_by_votes(
        self, data: TrainingData, plan: ForestPlan, forest: ForestView, monitor: Monitor
    ) -> dict[str, Any]:
        from dtnumba.validation.out_of_bag import out_of_bag_votes

        monitor.stage = "out of bag"
        table, rule = data.table, data.class_costs.rule
        counted = out_of_bag_votes(table, plan, forest, self._votes(rule), monitor)
        return {} if monitor.error is not None else self._scored_from(counted, data.outcome, rule)

    def _scored_from(
        self, counted: tuple[NDArray[np.float64], NDArray[np.int64]] | None, outcome: Any, rule: LeastCost | None
    ) -> dict[str, Any]:
        """Return the out-of-bag results that follow from the votes; None: these were not all counted."""
        n_rows = len(outcome.codes if isinstance(outcome, Labels) else outcome.y)
        votes, n_votes = np.zeros((n_rows, outcome.width)), np.zeros(n_rows, np.int64)
        why = ""
        if counted is None:
            why = (
                "Out-of-bag results are NaN: the work was stopped before all votes were counted; allow more time, or "
                "fit again with warm_start=True and the same n_estimators, which counts them."
            )
        else:
            votes, n_votes = counted
            n_never = int((n_votes == 0).sum())
            if n_never:
                why = (
                    f"Some inputs do not have OOB scores: {n_never} of {len(n_votes)} rows were left out by no tree, "
                    "and their out-of-bag prediction is NaN. This probably means too few trees were used to compute "
                    "any reliable OOB estimates."
                )
        if why:
            warnings.warn(why, UserWarning, stacklevel=5)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = votes / np.where(n_votes > 0, n_votes, np.nan)[:, None]
        scored: dict[str, Any] = self._scored_out_of_bag(outcome, mean, n_votes > 0, self._rule_of_votes(rule))
        return scored


def raise_failure(monitor: Monitor) -> None:
    """Raise what failed while the monitor watched; Ctrl-C is raised when the trees at hand are earlier_trees."""
    if isinstance(monitor.error, Exception):
        raise monitor.error


def run_growth(monitor: Monitor, task: Any, workers: int) -> bool:
    """Launch a task that grows a forest; return whether it was stopped before its end."""
    return monitor.run_until(task, workers, task.job.growing.halt, lambda: int(task.arena.done[0]))
