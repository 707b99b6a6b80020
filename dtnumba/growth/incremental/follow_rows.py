"""A tree that stays the one of a batch fit of the rows held, whatever came and went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.growth.incremental.follow import FollowedTree
from dtnumba.growth.incremental.lay_out import trees_of
from dtnumba.growth.incremental.slots import measured, spread_out, update
from dtnumba.growth.policies.limits import limits_of
from dtnumba.growth.targets.contract import is_ranked, is_wide

if TYPE_CHECKING:
    from collections.abc import Callable

    from dtnumba.growth.incremental.slots import Slots
    from dtnumba.growth.settings import Settings
    from dtnumba.trees.layout import Trees


class RowTree:
    """Follows the rows of some slots.

    Parameters
    ----------
    slots : Slots
        The rows.
    ranks_of : function, optional
        Of tables with categories: ``ranks_of()`` returns for each of these the place of every number met in the order
        of the levels, None for a column of numbers.

    """

    def __init__(self, slots: Slots, ranks_of: Callable[[], Any] | None = None) -> None:
        self.slots, self._ranks_of = slots, ranks_of
        self._tree: FollowedTree | None = None
        self._made_for: Any = None

    def change(self, came: Any, went: Any, outcome: Any, weights: Any, criterion: Any, settings: Settings) -> bool:
        """Follow rows that came to slots and went from slots, both done already; return whether that can be done.

        Where it cannot, the tree is forgotten. ``outcome`` and ``weights`` are those of a batch fit of the rows held.
        """
        slots = self.slots
        measure, target = measured(outcome, weights, criterion)
        if is_ranked(type(target)) or is_wide(type(target)) or getattr(target, "n_limbs", 1) > 1:
            self._tree = None
            return False
        classes = getattr(outcome, "classes", [])
        ranks = None if self._ranks_of is None else self._ranks_of()
        counted = not weights.are_one
        is_nominal = None if ranks is None else (counted, [one is not None for one in ranks])
        made_for = measure, settings, len(slots), [known.tolist() for known in classes], is_nominal
        is_same = made_for == self._made_for and self._tree is not None and _is_same(criterion, self._tree.criterion)
        if self._tree is None or not is_same:
            own = spread_out(target, slots)
            limits = limits_of(settings, np.inf)
            came, went = slots.counted, np.empty(0, np.int64)
            levels = None
            if ranks is not None:
                from dtnumba.growth.incremental.levels import TreeLevels

                levels = TreeLevels(ranks, len(slots), own, criterion, settings, counted)
            self._tree = FollowedTree(slots.values, came, own, criterion, limits, settings.workers, levels)
            self._made_for = made_for
            self._tree.change(np.asarray(came, np.uint32), np.asarray(went, np.uint32), ranks)
            self._tree.n_regrown = 0  # a tree that is made tells nothing of the next change
            return True
        update(self._tree.target, target, slots, came)
        self._tree.change(np.asarray(came, np.uint32), np.asarray(went, np.uint32), ranks)
        return True

    def change_few(self, came: Any, went: Any, rows: dict[str, Any]) -> None:
        """Follow rows where the units stay; ``rows`` is what a target says of those that came, by its fields."""
        assert self._tree is not None
        target = self._tree.target
        for name, values in rows.items():
            column = getattr(target, name, None)
            if column is not None and len(column) == len(self.slots):
                column[came] = values
        ranks = None if self._ranks_of is None else self._ranks_of()
        self._tree.change(np.asarray(came, np.uint32), np.asarray(went, np.uint32), ranks)

    @property
    def share_regrown(self) -> float:
        """Which share of the rows is below nodes that the last change grew anew."""
        return 0.0 if self._tree is None else self._tree.n_regrown / max(int(self._tree.nodes.n_rows[0]), 1)

    @property
    def n_bytes(self) -> int:
        """How much memory the tree takes beside the rows."""
        return 0 if self._tree is None else self._tree.n_bytes - self.slots.values.nbytes

    @property
    def target(self) -> Any:
        """The target of all slots."""
        assert self._tree is not None
        return self._tree.target

    def trees(self, width: int) -> Trees:
        """Return the tree, of ``width`` numbers a node; levels are places in the order of all that were met."""
        assert self._tree is not None
        found: Trees = trees_of(self._tree, width)
        return found


def _is_same(criterion: Any, other: Any) -> bool:
    """Tell whether two criteria judge alike."""
    if criterion is other:
        return True
    return type(criterion) is type(other) and all(map(np.array_equal, criterion, other))
