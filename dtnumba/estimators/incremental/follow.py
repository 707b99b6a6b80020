"""A tree follows its rows: by what came and went where its parameters allow, by a batch fit elsewhere."""

from __future__ import annotations

from dataclasses import fields
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.criteria.classification import CostGini, Entropy
from dtnumba.criteria.contract import resolve_criterion
from dtnumba.growth.choose_growth import with_policy
from dtnumba.growth.incremental.follow_rows import RowTree
from dtnumba.growth.incremental.tally import tally_of
from dtnumba.growth.targets.reach import in_reach
from dtnumba.prediction.tree_view import TreeView
from dtnumba.pruners.registry import resolve_pruner
from dtnumba.tables.labels import read_labels
from dtnumba.tables.weights import fixed_weights

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from dtnumba.estimators.incremental.held_rows import Change, HeldRows
    from dtnumba.trees.layout import Trees

# Parameters with which what a node does depends on its own rows alone
_LOCAL: dict[str, Any] = {
    "splitter": "best",
    "max_bins": None,
    "max_leaf_nodes": None,
    "min_weight_fraction_leaf": 0.0,
    "min_impurity_decrease": 0.0,
    "min_significance": None,
    "validation_fraction": None,
    "monotonic_cst": None,
    "interaction_cst": None,
    "numeric_split": "threshold",
    "class_weight": None,
    "priors": None,
    "costs": None,
}
_MOST_CHANGED = 3  # a change of more than a third of the rows is grown from the root
_MANY = 256  # a change of more than so small a part of the rows may cost more than a batch fit
_MOST_REGROWN = 0.5  # it does where more than this share of the rows was grown anew
_BATCH_FITS = 16  # so many changes of many rows in turn are batch fits then, before one is followed again
_NOBODY = np.empty(0, np.int64)
_IDLE_WITHOUT_MISSING = {"branch", "majority", "fractional"}


class Follower:
    """What follows the rows of one tree.

    Parameters
    ----------
    rows : HeldRows
        The rows.

    Attributes
    ----------
    learned : function
        Returns what is learned of the rows, by the names of attributes.

    """

    learned: Callable[[], dict[str, Any]]

    def __init__(self, rows: HeldRows) -> None:
        self.rows = rows
        self._tree: RowTree | None = None
        self._is_first = True
        self._criterion: Any = None
        self._tally: Any = None  # while a change of few rows need not look at all
        self._was_large, self._n_batch_fits = False, 0  # whether the last change was of many rows; batch fits to come
        self._asked: Any = None  # what the tree was made for: parameters, the settings of growth, announced classes

    def follow(self, batch: Any) -> None:
        """Follow rows that came and went since; ``batch`` is the batch tree, not fitted."""
        rows, slots = self.rows, self.rows.slots
        assert slots is not None
        came, went = _in_all(rows.pending)
        # First rows are grown as a batch, as are changes of many rows: what follows them is made when few come or go.
        is_few, self._is_first = not self._is_first and _MOST_CHANGED * (len(came) + len(went)) <= rows.n_rows, False
        is_large = _MANY * (len(came) + len(went)) > rows.n_rows
        is_whole, self._was_large = is_large and self._was_large and self._n_batch_fits > 0, is_large
        if self._tree is None:
            tree = RowTree(slots, rows.ranks if rows.has_categories else None)
            self._tally = None  # which was of the rows that another tree followed
        else:
            tree, self._tree = self._tree, None
        if not is_few or is_whole or not self._may_follow(batch):
            self._n_batch_fits -= is_whole
            self._grow_anew(batch)
            return
        self._follow(tree, batch, came, went)
        if is_large:
            self._n_batch_fits = _BATCH_FITS if tree.share_regrown > _MOST_REGROWN else 0

    def _follow(self, tree: RowTree, batch: Any, came: NDArray[np.int64], went: NDArray[np.int64]) -> None:
        """Follow rows by what came and went, if that can be done."""
        if self._follow_few(tree, batch, came, went):
            return
        rows, slots = self.rows, tree.slots
        held = slots.held
        outcome, weight = rows.outcome(held), rows.weight(held)
        weights = fixed_weights(weight, len(held))
        criterion = self._criterion_for(batch.criterion, outcome.kind, weights.total)
        settings = batch.growth_settings(len(held), rows.n_features, weights.total, 0)
        settings.check_options(outcome.kind, len(outcome.sizes), criterion)
        is_near = in_reach(outcome, weights.kept, criterion, settings)[2] == 0
        if is_near and tree.change(came, went, outcome, weights, criterion, settings):
            self._tree, self._tally = tree, tally_of(slots, outcome, tree.target)
            self._asked = batch.criterion, criterion, settings, rows.announced, len(slots), outcome
            self.learned = partial(self._followed, tree, batch, outcome, settings)
        else:
            self._grow_anew(batch)

    def _follow_few(self, tree: RowTree, batch: Any, came: NDArray[np.int64], went: NDArray[np.int64]) -> bool:
        """Follow rows without a look at the others; return whether that could be done."""
        tally, self._tally = self._tally, None
        if tally is None:
            return False
        rows, (given, criterion, settings, announced, n_slots, outcome) = self.rows, self._asked
        assert rows.slots is not None
        n = rows.n_rows
        if given is not batch.criterion or announced is not rows.announced or n_slots != len(rows.slots):
            return False
        if self._criterion_for(given, outcome.kind, float(n)) is not criterion and hasattr(type(criterion), "for_fit"):
            return False
        if settings != batch.growth_settings(n, rows.n_features, float(n), 0) or not tally.takes(came, went):
            return False
        tree.change_few(came, went, tally.rows(came))
        self._tree, self._tally = tree, tally
        self.learned = partial(self._followed, tree, batch, outcome, settings)
        return True

    @property
    def n_bytes(self) -> int:
        """How much memory it takes beside the rows."""
        return 0 if self._tree is None else self._tree.n_bytes

    def _criterion_for(self, given: Any, kind: str, total: float) -> Any:
        """Return the criterion of a fit on rows of some weight."""
        if self._criterion is not None and self._criterion[0] is given and total <= self._criterion[1]:
            return self._criterion[2]
        self._criterion = None
        n_features = self.rows.n_features
        found = resolve_criterion(given, kind, total, n_features)
        if isinstance(found, Entropy) and type(found).__module__ == Entropy.__module__:
            # A table for twice the weight says the same of all weights there are, and lasts.
            self._criterion = given, 2.0 * total, resolve_criterion(given, kind, 2.0 * total, n_features)
            return self._criterion[2]
        return found

    def _may_follow(self, batch: Any) -> bool:
        """Tell whether the tree of some parameters can follow its rows."""
        rows, given = self.rows, vars(batch)
        pairs = [(given.get(name, local), local) for name, local in _LOCAL.items()]
        if not all(_is_the_same(value, local) for value, local in pairs):
            return False
        is_plain = batch.missing in {"learned", "error"}
        if rows.has_categories and not (
            is_plain and batch.categorical_split != "multiway" and rows.levels_are_followed
        ):
            return False
        if batch.growth_settings(1, rows.n_features, 1.0, 0).n_drawn < rows.n_features:
            return False
        if batch.criterion is CostGini or isinstance(batch.criterion, CostGini):
            return False
        if given["prune"] is not None and resolve_pruner(given["prune"]).held_out is not None:
            return False
        assert rows.slots is not None
        return is_plain or (batch.missing in _IDLE_WITHOUT_MISSING and rows.slots.n_with_missing == 0)

    def _followed(self, tree: RowTree, batch: Any, outcome: Any, settings: Any) -> dict[str, Any]:
        trees = with_policy(tree.trees(outcome.width), settings.options)
        learned: dict[str, Any] = batch._learned_from(outcome) | {"max_features_": settings.n_drawn}  # noqa: SLF001  what fit asks
        if self.rows.has_categories:
            learned["categories_"], present = self.rows.levels_held()
            trees = _with_places_among(trees, present)
        if batch.ccp_alpha > 0 or batch.prune:
            order = self.rows.in_order()
            trees = batch.finished(trees, self.rows.table(order), self.rows.outcome(order), self.rows.weight(order))
        learned["tree_"] = TreeView(trees, self.rows.n_features, outcome.sizes)
        return learned

    def _grow_anew(self, batch: Any) -> None:
        """Fit the batch tree to all rows."""
        order = self.rows.in_order()
        batch.fit(self.rows.table(order), self.rows.outcome(order), self.rows.weight(order))
        others = {one.name for one in fields(batch)} | {"n_features_in_", "feature_names_in_"}
        learned = {name: value for name, value in vars(batch).items() if name not in others}
        self.learned = partial(dict, learned)


def _with_places_among(trees: Trees, present: Sequence[NDArray[np.int64] | None]) -> Trees:
    """Return trees whose levels are places among those present, of trees whose levels are places among all met."""
    if len(trees.level) == 0:
        return trees
    level, feature = trees.level.copy(), np.repeat(trees.feature, np.diff(trees.level_start))
    for c in np.unique(feature):
        places = present[c]
        assert places is not None
        level[feature == c] = np.searchsorted(places, level[feature == c])
    return trees._replace(level=level)


def _is_the_same(value: Any, local: Any) -> bool:
    """Tell whether a parameter, which may be an array, is a default."""
    return value is local or (isinstance(value, (str, int, float, np.generic)) and bool(value == local))


def _in_all(pending: Sequence[Change]) -> Change:
    """Return the rows that came and went in all."""
    if len(pending) == 1:
        return pending[0]
    pairs = [(_NOBODY, _NOBODY), *pending]
    came, went = (np.concatenate(some) for some in zip(*pairs, strict=True))
    short = np.intersect1d(came, went)  # nobody has seen these
    return np.setdiff1d(came, short), np.setdiff1d(went, short)


def label_lists(classes: Any, model: Any) -> list[NDArray[Any]]:
    """Return classes that are announced, of each output."""
    if getattr(model, "_estimator_type", "") != "classifier":
        raise TypeError(f"classes are those of labels, and {type(model).__name__} learns numbers: leave them out")
    is_nested = isinstance(classes, (list, tuple)) and len(classes) and isinstance(classes[0], (list, np.ndarray))
    found = [read_labels(one, len(one), type(model).__name__) for one in (classes if is_nested else [classes])]
    return [one.classes[0] for one in found]
