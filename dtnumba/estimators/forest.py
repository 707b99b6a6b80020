"""Forests: RandomForest and ExtraTrees, for classes and for numbers."""

from __future__ import annotations

import copy
import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dtnumba import rng
from dtnumba._jit import n_workers
from dtnumba.binned_table import read_features
from dtnumba.categories import check_same_levels
from dtnumba.constraints import constrained
from dtnumba.costs import NO_STAKES, LeastCost, Stakes, likeliest
from dtnumba.drawn_rows import Drawing, drawing_of
from dtnumba.estimators._base import Classifier, Regressor
from dtnumba.estimators._docs import documented
from dtnumba.estimators._parameters import (
    CLASS_WEIGHT,
    COSTS,
    MAX_FEATURES,
    PRIORS,
    GrowthParams,
    Legal,
    criterion_for,
    integer,
    is_int,
    is_real,
    one_of,
    parameter,
    yes_or_no,
)
from dtnumba.estimators._prunable import Grown, Prunable, drawn_by, split_weight
from dtnumba.estimators._stopping import read_judges
from dtnumba.estimators.decision_tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)
from dtnumba.forest import grow_forest
from dtnumba.forest_plan import Draws, plan_forest
from dtnumba.forest_view import ForestView
from dtnumba.stopping import stopped
from dtnumba.training import UNLIMITED, demand_means, numbers_seen
from dtnumba.tree_view import TreeView
from dtnumba.trees import joined, one_tree
from dtnumba.user_criterion import refuse
from dtnumba.watch import Watch
from dtnumba.weights import class_weights, read_weight

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self

    from dtnumba.importances import Importances
    from dtnumba.predictor import RowPredictor
    from dtnumba.trees import Trees


MAX_SAMPLES = Legal(
    lambda value: value is None or (value >= 1 if is_int(value) else is_real(value) and value > 0.0),
    "None, an int in the range [1, inf) or a float in the range (0.0, inf), a share of the rows",
)
OOB_SCORE = Legal(
    lambda value: isinstance(value, (bool, np.bool_)) or callable(value), "a bool or a callable score(y_true, y_pred)"
)
VERBOSE = Legal(
    lambda value: callable(value) or isinstance(value, (bool, np.bool_)) or (is_int(value) and value >= 0),
    "0 (silent), 1 (a progress bar) or a callable that is given a dtnumba.watch.Progress",
)
TREES = Legal(lambda value: is_int(value) and value >= 1, "an int in the range [1, inf)")
SECONDS = Legal(lambda value: value is None or (is_real(value) and value >= 0.0), "a number >= 0 or None")
FOREST_CLASS_WEIGHT = Legal(
    lambda value: (isinstance(value, str) and value == "balanced_subsample") or CLASS_WEIGHT.holds(value),
    "a dict of class to weight, 'balanced', 'balanced_subsample', None, or for several outputs a list of dicts, "
    "'balanced' and None, one for each",
)


@dataclass(kw_only=True, eq=False, repr=False)
class ForestParams(GrowthParams):
    """Parameters of forests, with scikit-learn's names and meanings; see GrowthParams for those of growth.

    Parameters
    ----------
    n_estimators : int
        Number of trees.
    bootstrap : bool
        Each tree draws its rows; otherwise it sees all of them.
    replace : bool
        Rows are drawn with replacement.
    max_samples : int, share of the rows or None
        Draws a tree; None is as many as there are rows.
    oob_score : bool or callable
        Score every row by the trees that did not see it; a callable is given ``(y_true, y_pred)``. The votes of the
        trees at hand are counted even where ``max_seconds`` ended growth; stopped while they are, the results are NaN.
    warm_start : bool
        Keep the trees of an earlier ``fit`` and grow the ones that are missing; the classes must be the same.
    max_bins : int or None
        Histograms of at most so many values a feature; None: exact thresholds.
    verbose : int or callable
        0: silent; 1: a progress bar on stderr; a callable is given a Progress now and then, and stops the work by
        returning False.
    max_seconds : float or None
        Stop after so much time, and keep the trees that are finished: ``n_estimators_`` says how many.
    importance : "impurity", "impurity_corrected" or "permutation"
        What ``feature_importances_`` holds. "impurity": the share of the decrease of impurity, summing to one; it
        favours columns of many values. "impurity_corrected": the decrease of impurity beyond what the column with its
        rows shuffled takes off; its mean is 0 for a column that tells nothing. A second forest measures it, on a pool
        of the columns and their shadows; the first one stays as it is. "permutation": what shuffling the column adds to
        the share of wrong labels, or to the squared error, of each tree on the rows that it did not draw; it asks for
        ``bootstrap=True``. The last two may be negative and do not sum to one. They are the second half of the work:
        ``max_seconds``, ``verbose`` and Ctrl-C cover both halves. Stopped before the end, they are a mean over the
        trees measured by then, and NaN where there is none. A warm start measures the trees that are missing, on the
        rows at hand.

    """

    n_estimators: int = field(default=100, metadata={"rule": TREES}, kw_only=False)
    bootstrap: bool = yes_or_no(True)
    replace: bool = yes_or_no(True)
    max_samples: int | float | None = parameter(None, MAX_SAMPLES)
    oob_score: Any = parameter(False, OOB_SCORE)  # noqa: RUF009  a field
    warm_start: bool = yes_or_no(False)
    max_bins: int | None = parameter(255, integer(2, 255))
    verbose: Any = parameter(0, VERBOSE)  # noqa: RUF009
    max_seconds: float | None = parameter(None, SECONDS)
    importance: str = parameter("impurity", one_of("impurity", "impurity_corrected", "permutation"))


class Forest(Prunable):
    """What forests for classes and for numbers share."""

    # From ForestParams, and from Classifier or Regressor
    n_estimators: int
    criterion: Any
    n_jobs: int | None
    bootstrap: bool
    replace: bool
    max_samples: Any
    oob_score: Any
    warm_start: bool
    verbose: Any
    max_bins: int | None
    categorical_features: Any
    monotonic_cst: Any
    interaction_cst: Any
    max_seconds: float | None
    max_leaf_nodes: Any
    validation_fraction: float | None
    importance: str
    missing: str
    categorical_split: str
    numeric_split: str
    random_state: Any
    n_outputs_: int
    _resolve: Any
    _read_y: Any
    _weigh: Any
    _learned_from: Any
    _stakes: Any
    _resolve_criterion: Any
    _tree_class: ClassVar[type]

    forest_: ForestView
    importances_: Importances
    n_estimators_: int
    n_features_in_: int
    categories_: list[Any]
    seed_: int
    max_features_: int
    _drawing: Drawing

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
            Rows that growth does not see: a branch ends where a split does not strictly improve what is said of these.

        Returns
        -------
        estimator
            The estimator itself. After Ctrl-C it holds the longest finished prefix of the trees, if there is one; after
            any other error it is as it was.

        """
        self._check_params()
        self._check_sampling()
        table = read_features(X, type(self).__name__, self.max_bins, self.categorical_features)
        self._refuse_missing(table)
        known = self._read_y(y, table.n_rows)
        stakes = self._stakes(known)
        first, kept = self._kept_trees(table, known)
        seed, pruner = self._seed_of(kept), self._pruner()
        given, set_aside = split_weight(pruner, read_weight(sample_weight, table.n_rows), table.n_rows, seed)
        given, judges = read_judges(self, table, known, given, (X_val, y_val), seed)
        set_aside = given if set_aside is None else set_aside
        self._check_judged(judges)
        weight = self._weigh(known, given, stakes)
        n_new = int(self.n_estimators) - first
        earlier = self._earlier_importances(table, kept)
        n_works = n_new + (0 if earlier is None else int(self.n_estimators) - earlier.n_trees)
        # Its clock starts before the codes.
        watch = Watch(self.verbose, self.max_seconds, n_works, table.n_rows * n_works)
        settings = self._resolve(
            table.n_rows, table.n_features, 1.0, seed, most_leaves=None if judges is None else UNLIMITED
        )
        settings = constrained(settings, self.monotonic_cst, self.interaction_cst, table, known)
        draws = Draws(
            bool(self.bootstrap), bool(self.replace), self.max_samples, self._is_balanced(), int(self.n_estimators)
        )
        criterion = self._resolve_criterion(known, float(table.n_rows), table.n_features, stakes)
        demand_means(settings, criterion)
        self._check_options(settings, known, criterion)
        plan = plan_forest(table, known, weight, criterion, draws, settings)
        try:
            grown = self._grow(plan, first, watch) if n_new else None
        except Exception:
            refuse(criterion, plan.target, numbers_seen(plan.target))
            raise
        if isinstance(watch.error, Exception):
            raise watch.error
        if grown is not None:
            grown = stakes.restored(grown)
        if grown is not None and judges is not None:
            grown = stopped(grown, judges, self.max_leaf_nodes, settings.workers)
        if grown is not None:
            grown = self._strong(grown)
        if grown is not None and pruner is not None:
            drawing = drawing_of(plan.sampling, table.n_rows)
            own = (drawing, settings.seed, first, stakes.rule)
            seen = Grown(table, known, set_aside, (X, y, sample_weight), *own)
            grown = self._pruned(pruner, grown, known.sizes, seen)
        trees = joined([part for part in (kept, grown) if part is not None])
        if trees is not None:
            if not watch.stopped:  # else some trees behind the first unfinished one were counted, and are dropped
                watch.done = n_new
                watch.report()
            forest = ForestView(trees, table.n_features, known.sizes)
            learned = {
                **self._learned_from(known, stakes),
                "forest_": forest,
                "n_estimators_": trees.n_trees,
                "max_features_": settings.n_drawn,
                "seed_": settings.seed,
                "_drawing": drawing_of(plan.sampling, table.n_rows),
            }
            if self.oob_score and watch.error is None:
                try:
                    learned |= self._out_of_bag(table, known, y, plan, forest, stakes, watch)
                except KeyboardInterrupt as error:  # the trees are there already, and must not be lost
                    watch.stopped, watch.error = "interrupt", error
                if isinstance(watch.error, Exception):
                    raise watch.error
            if earlier is not None:
                learned["importances_"] = self._measured(earlier, table, known, plan, trees, watch, stakes.rule)
                if isinstance(watch.error, Exception):
                    raise watch.error
            self._learn(table, **learned)
        if watch.error is not None:
            raise watch.error
        if trees is None:
            raise TimeoutError(
                f"max_seconds={self.max_seconds}: no tree was finished by then; allow more time, or smaller trees "
                "(max_depth, min_samples_leaf)"
                if watch.stopped == "time"
                else "the callback stopped the work before the first tree was finished"
            )
        return self

    def _grow(self, plan: Any, first: int, watch: Watch) -> Trees | None:
        """Grow the missing trees by whichever growth knows the tests that are asked for."""
        if plan.general is None:
            return grow_forest(plan, first, int(self.n_estimators), watch.run)
        from dtnumba.growers.many import grow_many

        return grow_many(plan, first, int(self.n_estimators), watch)

    def _check_options(self, settings: Any, known: Any, criterion: Any) -> None:
        settings.check_options(known.kind, len(known.sizes), criterion)
        if not settings.options.are_plain and self.importance != "impurity":
            raise ValueError(
                f"importance={self.importance!r} walks trees of two-way tests with learned missing values, and missing="
                f"{self.missing!r}, categorical_split={self.categorical_split!r}, numeric_split={self.numeric_split!r} "
                "make others: use importance='impurity'"
            )

    def _check_sampling(self) -> None:
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

    def _check_judged(self, judges: Any) -> None:
        if judges is not None and self.importance == "impurity_corrected":
            raise ValueError(
                "importance='impurity_corrected' compares the trees with others that are grown on shuffled columns, "
                "which rows held out cannot judge: use importance='permutation', or min_significance in place of a "
                "validation set"
            )

    def _is_balanced(self) -> bool:
        return False

    def _kept_trees(self, table: Any, known: Any) -> tuple[int, Trees | None]:
        """Return how many trees an earlier fit leaves, and these."""
        if not self.warm_start or "forest_" not in vars(self):
            return 0, None
        trees = self.forest_.trees
        if self.n_features_in_ != table.n_features or len(self.forest_.n_classes) != len(known.sizes):
            raise ValueError(
                f"warm_start=True: the forest was grown on {self.n_features_in_} columns and "
                f"{len(self.forest_.n_classes)} outputs, this table has {table.n_features} and {len(known.sizes)}; "
                "set warm_start=False, which fits anew"
            )
        self._demand_same_classes(known)
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
        return trees.n_trees, trees

    def _demand_same_classes(self, known: Any) -> None:
        pass

    def _earlier_importances(self, table: Any, kept: Trees | None) -> Importances | None:
        """Return what an earlier fit measured of its trees that are kept; None where nothing is to be measured."""
        if self.importance == "impurity":
            return None
        earlier: Importances | None = vars(self).get("importances_") if kept is not None else None
        is_same = earlier is not None and earlier.kind == self.importance
        from dtnumba.importances import nothing_measured

        return earlier if is_same else nothing_measured(self.importance, table.n_features)

    def _measured(
        self,
        earlier: Importances,
        table: Any,
        known: Any,
        plan: Any,
        trees: Trees,
        watch: Watch,
        rule: LeastCost | None,
    ) -> Importances:
        from dtnumba.importances import measured

        found = measured(earlier, table, known, plan, trees, watch, rule)
        if not watch.stopped:
            watch.done = watch.total
            watch.report()
        if found.n_measured == 0 and watch.error is None:
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
        return found

    def _seed_of(self, kept: Trees | None) -> int:
        return rng.seed_from(self.random_state) if kept is None else self.seed_

    def _out_of_bag(
        self, table: Any, known: Any, y: Any, plan: Any, forest: ForestView, stakes: Stakes, watch: Watch
    ) -> dict[str, Any]:
        from dtnumba.out_of_bag import out_of_bag_votes

        watch.stage = "out of bag"
        counted = out_of_bag_votes(table, plan, forest, self._votes(stakes.rule), watch)
        if watch.error is not None:
            return {}
        votes, n_votes = np.zeros((table.n_rows, plan.width)), np.zeros(table.n_rows, np.int64)
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
            warnings.warn(why, UserWarning, stacklevel=3)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = votes / np.where(n_votes > 0, n_votes, np.nan)[:, None]
        scored: dict[str, Any] = self._scored_out_of_bag(known, mean, n_votes > 0, self._label_rule(stakes.rule))
        return scored

    _scored_out_of_bag: Any
    voting: str

    def _votes(self, rule: LeastCost | None) -> str | LeastCost:
        """Return how a tree votes: by shares, or for its label."""
        return self.voting if rule is None or self.voting == "soft" else rule

    def _label_rule(self, rule: LeastCost | None) -> LeastCost | None:
        """Return how rows are labelled: votes are for labels already, so costs are counted and the commonest wins."""
        return rule if self.voting == "soft" else None

    def _voting(self) -> str | LeastCost:
        return self._votes(vars(self._fitted()).get("_rule"))

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Return the id of the leaf of every row in every tree, a column a tree; ids count from the tree's root."""
        table = self._table(X)
        return self.forest_.leaves(table, n_workers(self.n_jobs))

    def decision_path(self, X: Any) -> tuple[Any, NDArray[np.int64]]:
        """Return a SciPy CSR matrix (rows, nodes of all trees), and where each tree's nodes begin."""
        from scipy.sparse import hstack

        paths = [tree.tree_.paths(leaves) for tree, leaves in zip(self.estimators_, self.apply(X).T, strict=True)]
        return hstack(paths).tocsr(), self.trees_.root.copy()

    def compile_predictor(self) -> RowPredictor:
        """Return a function ``p(row, out=None)`` that answers one row in microseconds.

        Its answer is a row of ``predict_proba`` or of ``predict`` of a regressor, to the bit, several outputs end to
        end. Fitting the model again does not change it. Only the length of the row is checked.
        """
        return self._fitted().forest_.row_predictor(self._voting())

    def compact(self) -> Self:
        """Drop the columns that only explain the trees, for good; return the estimator.

        What predicts stays, and so do ``feature_importances_`` and out-of-bag results. What reads impurities, counts
        of rows or values of inner nodes raises afterwards.
        """
        self.forest_ = self._fitted().forest_.compact()
        vars(self).pop("estimators_", None)
        return self

    def _sizes(self) -> list[int]:
        sizes: list[int] = self.forest_.n_classes.tolist()
        return sizes

    def _drawn_by(self) -> Any:
        return drawn_by(self._drawing, self.seed_)

    def _with_trees(self, trees: Trees) -> Self:
        model = copy.copy(self)
        for name in ("estimators_", "oob_score_", "oob_decision_function_", "oob_prediction_"):  # of other trees
            vars(model).pop(name, None)
        model.forest_ = ForestView(trees, self.n_features_in_, self._sizes())
        return model

    @property
    def trees_(self) -> Trees:
        """The arrays of all trees, end to end."""
        return self._fitted().forest_.trees

    @cached_property
    def estimators_(self) -> list[Any]:
        """Each tree as an estimator of its own, made when asked for."""
        return [self._one_estimator(t) for t in range(self.trees_.n_trees)]

    @property
    def estimators_samples_(self) -> list[NDArray[np.int32]]:
        """The rows that each tree drew, ascending and as often as it drew them; drawn again whenever asked for."""
        n_trees = self.trees_.n_trees  # asked first, because it says where a forest is not fitted
        return self._drawing.rows(self.seed_, n_trees)

    @property
    def estimator(self) -> Any:
        """A tree with the parameters of the forest's trees, not fitted."""
        return self._tree_class(**self._tree_params())

    def _one_estimator(self, t: int) -> Any:
        tree = self._tree_class(**self._tree_params(), random_state=rng.seed_of_tree(self.seed_, t))
        view = TreeView(one_tree(self.trees_, t), self.n_features_in_, self.forest_.n_classes.tolist())
        learned = {"tree_": view, "max_features_": self.max_features_, "n_features_in_": self.n_features_in_}
        if "categories_" in vars(self):
            learned["categories_"] = self.categories_
        vars(tree).update(learned | self._learned_by_trees())
        return tree

    def _tree_params(self) -> dict[str, Any]:
        names = ("criterion", "max_depth", "min_samples_split", "min_samples_leaf", "min_weight_fraction_leaf")
        more = ("max_features", "max_leaf_nodes", "min_impurity_decrease", "max_bins", "ccp_alpha", "min_significance")
        tests = ("categorical_split", "numeric_split", "missing", "use_surrogate", "surrogate_style", "max_surrogates")
        features = ("categorical_features", "monotonic_cst", "interaction_cst", *tests)
        return {name: getattr(self, name) for name in (*names, *more, *features)} | {"prune": vars(self)["prune"]}

    def _learned_by_trees(self) -> dict[str, Any]:
        return {"n_outputs_": self.n_outputs_}

    def __len__(self) -> int:
        """Return the number of trees."""
        return self.trees_.n_trees

    def __getitem__(self, index: int) -> Any:
        """Return one tree as an estimator."""
        return self.estimators_[index]

    def __iter__(self) -> Any:
        """Iterate over the trees as estimators."""
        return iter(self.estimators_)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """What each feature is worth, a mean over the trees; ``importance`` said at ``fit`` in which sense."""
        found = vars(self._fitted()).get("importances_")
        return self.forest_.impurity_importances()[0] if found is None else found.values

    @property
    def importances_std_(self) -> NDArray[np.float64]:
        """The standard deviation of ``feature_importances_`` between the trees."""
        found = vars(self._fitted()).get("importances_")
        return self.forest_.impurity_importances()[1] if found is None else found.std

    def proximity(self, X: Any, Y: Any = None) -> NDArray[np.float32]:
        """Return in which share of the trees two rows fall into one leaf.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (rows, features)
            As in ``fit``.
        Y : the same, of any number of rows, optional
            The rows to compare with; by default those of X. ``proximity(X[a:b], X)`` is a part of ``proximity(X)``, to
            the bit: where the whole is too large for memory, it can be made in parts.

        Returns
        -------
        array of shape (rows of X, rows of Y), float32
            1 where two rows share a leaf in every tree, 0 where in none; ``1 - proximity`` is a distance.

        """
        table = self._table(X)
        other = None if Y is None else self._table(Y)
        from dtnumba.proximity import shares_of_trees

        return shares_of_trees(self.forest_, table, other, n_workers(self.n_jobs))

    def __getstate__(self) -> dict[str, Any]:
        """Pickle what cannot be derived."""
        return {name: value for name, value in vars(self).items() if name != "estimators_"}


def _some(classes: NDArray[Any]) -> str:
    shown = ", ".join(map(repr, classes[:8].tolist()))
    return f"[{shown}, ... ({len(classes)} in all)]" if len(classes) > 8 else f"[{shown}]"


class ForestClassifier(Forest, Classifier):
    """The label side of forests."""

    class_weight: Any

    def _is_balanced(self) -> bool:
        is_balanced = isinstance(self.class_weight, str) and self.class_weight == "balanced_subsample"
        return is_balanced and bool(self.bootstrap)

    def _demand_same_classes(self, known: Any) -> None:
        for o, (before, now) in enumerate(zip(self._classes(), known.classes, strict=True)):
            if before.tolist() != now.tolist():
                of = f" of output {o}" if len(known.classes) > 1 else ""
                raise ValueError(
                    f"warm_start=True: the classes{of} were {_some(before)} in the first fit and are {_some(now)} now; "
                    "the trees that are kept know the first ones only: pass a y with the same classes, or set "
                    "warm_start=False, which fits anew"
                )

    def _weigh(self, labels: Any, weight: Any, stakes: Stakes = NO_STAKES) -> Any:
        if isinstance(self.class_weight, str):
            if self.warm_start:
                warnings.warn(
                    'class_weight presets "balanced" or "balanced_subsample" are not recommended for warm_start if the '
                    "fitted data differs from the full dataset: the weights are those of the data at hand.",
                    UserWarning,
                    stacklevel=3,
                )
            if self._is_balanced():
                if stakes.priors is not None or stakes.factors is not None:
                    raise ValueError(
                        "class_weight='balanced_subsample' makes the classes weigh the same in every tree, whatever "
                        "priors and costs make of them: pass class_weight=None and priors of 1 / classes each"
                    )
                return weight
        given = "balanced" if isinstance(self.class_weight, str) else self.class_weight
        return stakes.weigh(labels, weight, class_weights(given, labels, weight))

    def _scored_out_of_bag(self, labels: Any, mean: Any, seen: Any, rule: LeastCost | None) -> dict[str, Any]:
        parts = np.split(mean, np.cumsum(labels.sizes)[:-1], axis=1)
        codes = np.stack([_codes(np.nan_to_num(part), rule) for part in parts], axis=1)
        truth = np.stack([classes[code] for classes, code in zip(labels.classes, labels.codes.T, strict=True)], axis=1)
        guess = np.stack([classes[code] for classes, code in zip(labels.classes, codes.T, strict=True)], axis=1)
        if not seen.any():
            score = float("nan")
        elif callable(self.oob_score):
            one = truth.shape[1] == 1
            score = self.oob_score(truth[seen][:, 0] if one else truth[seen], guess[seen][:, 0] if one else guess[seen])
        else:
            score = float((truth[seen] == guess[seen]).all(axis=1).mean())
        if len(parts) > 1:
            widest = max(labels.sizes)
            function = np.full((len(mean), widest, len(parts)), np.nan)
            for o, part in enumerate(parts):
                function[:, : part.shape[1], o] = part
            return {"oob_score_": score, "oob_decision_function_": function}
        return {"oob_score_": score, "oob_decision_function_": mean}

    def _learned_by_trees(self) -> dict[str, Any]:
        names = ("n_outputs_", "classes_", "n_classes_", "_rule")
        return {name: getattr(self, name) for name in names}

    def predict_proba(self, X: Any) -> Any:
        """Return the mean share of each class over the trees (``voting="hard"``: the share of the trees' votes)."""
        table = self._table(X)
        shares = self.forest_.means(table, self._voting(), self.n_jobs)
        parts = np.split(shares, np.cumsum(self.forest_.n_classes)[:-1], axis=1)
        return parts[0] if len(parts) == 1 else parts

    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithm of ``predict_proba``."""
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return np.log(shares) if self.n_outputs_ == 1 else [np.log(share) for share in shares]

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of largest share, or of least expected cost, for every row, the first on ties."""
        shares = self.predict_proba(X)
        shares = [shares] if self.n_outputs_ == 1 else shares
        rule = self._label_rule(self._rule)
        labels = [classes[_codes(share, rule)] for classes, share in zip(self._classes(), shares, strict=True)]
        return labels[0] if len(labels) == 1 else np.stack(labels, axis=1)


def _codes(shares: NDArray[np.float64], rule: LeastCost | None) -> NDArray[np.int64]:
    """Return the class for every row of shares."""
    return likeliest(shares) if rule is None else rule.codes(shares)


class ForestRegressor(Forest, Regressor):
    """The target side of forests."""

    voting = "soft"

    def _scored_out_of_bag(self, values: Any, mean: Any, seen: Any, rule: None) -> dict[str, Any]:
        truth = values.y
        if not seen.any():
            score = float("nan")
        elif callable(self.oob_score):
            one = truth.shape[1] == 1
            score = self.oob_score(truth[seen][:, 0] if one else truth[seen], mean[seen][:, 0] if one else mean[seen])
        else:
            missed = ((truth[seen] - mean[seen]) ** 2).sum(axis=0)
            spread = ((truth[seen] - truth[seen].mean(axis=0)) ** 2).sum(axis=0)
            ratio = np.divide(missed, spread, out=(missed > 0).astype(np.float64), where=spread > 0)
            score = float(np.mean(1.0 - ratio))
        return {"oob_score_": score, "oob_prediction_": mean[:, 0] if mean.shape[1] == 1 else mean}

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the mean of the trees' values for every row."""
        table = self._table(X)
        values = self.forest_.means(table, self.voting, self.n_jobs)
        return values[:, 0] if self.n_outputs_ == 1 else values


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class RandomForestClassifier(ForestClassifier, ForestParams):
    """A random forest for classes (Breiman 2001).

    Parameters
    ----------
    max_features : int, share, "sqrt", "log2" or None
        Features drawn as candidates at each node.
    class_weight : dict, list of dict, "balanced", "balanced_subsample" or None
        Weight of each class; "balanced_subsample" balances the rows that each tree drew.
    priors : array of shape (classes,), dict of class to prior, or None
        As in DecisionTreeClassifier. With ``bootstrap`` they say, as all weights do, how likely a row is drawn.
    costs : array of shape (classes, classes), dict or None
        As in DecisionTreeClassifier, and likewise.
    voting : "soft" or "hard"
        Average the shares of the classes, of which the label is made, or count the trees' votes for their labels.

    Attributes
    ----------
    estimators_ : list of DecisionTreeClassifier
        The trees, made when asked for.
    trees_ : Trees
        The arrays of all trees.
    n_estimators_ : int
        How many trees there are: fewer than asked for where ``max_seconds`` or a callback stopped the work.
    estimators_samples_ : list of array
        The rows that each tree drew; ``clone(estimators_[t])`` fitted to these becomes that tree, where no column
        has more than ``max_bins`` values.
    oob_score_, oob_decision_function_ : float, array
        Score and class shares of every row by the trees that did not see it; NaN where all did.

    """

    criterion: Any = parameter("gini", criterion_for("classes"))  # noqa: RUF009  a field
    max_features: int | float | str | None = parameter("sqrt", MAX_FEATURES)
    class_weight: Any = parameter(None, FOREST_CLASS_WEIGHT)  # noqa: RUF009
    priors: Any = parameter(None, PRIORS)  # noqa: RUF009
    costs: Any = parameter(None, COSTS)  # noqa: RUF009
    voting: str = parameter("soft", one_of("soft", "hard"))
    _tree_class: ClassVar[type] = DecisionTreeClassifier


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class RandomForestRegressor(ForestRegressor, ForestParams):
    """A random forest for numbers.

    Parameters
    ----------
    max_features : int, share, "sqrt", "log2" or None
        Features drawn as candidates at each node; all by default, as in scikit-learn. A third is often better.

    Attributes
    ----------
    estimators_ : list of DecisionTreeRegressor
        The trees, made when asked for.
    estimators_samples_ : list of array
        The rows that each tree drew.
    oob_score_, oob_prediction_ : float, array
        R squared and mean of every row by the trees that did not see it; NaN where all did.

    """

    criterion: Any = parameter("squared_error", criterion_for("numbers"))  # noqa: RUF009
    max_features: int | float | str | None = parameter(1.0, MAX_FEATURES)
    _tree_class: ClassVar[type] = DecisionTreeRegressor


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class ExtraTreesClassifier(RandomForestClassifier):
    """Extremely randomised trees for classes (Geurts 2006): random thresholds, and all rows in every tree."""

    bootstrap: bool = yes_or_no(False)
    _tree_class: ClassVar[type] = ExtraTreeClassifier

    def _splitter(self) -> str:
        return "random"


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class ExtraTreesRegressor(RandomForestRegressor):
    """Extremely randomised trees for numbers."""

    bootstrap: bool = yes_or_no(False)
    _tree_class: ClassVar[type] = ExtraTreeRegressor

    def _splitter(self) -> str:
        return "random"
