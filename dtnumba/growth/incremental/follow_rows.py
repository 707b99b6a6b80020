"""A tree that stays the one of a batch fit of the rows held, whatever came and went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.growth.incremental.follow import FollowedTree
from dtnumba.growth.incremental.lay_out import trees_of
from dtnumba.growth.incremental.slots import measured, spread_out, update
from dtnumba.growth.policies.limits import limits_of

if TYPE_CHECKING:
    from dtnumba.growth.incremental.slots import Slots
    from dtnumba.growth.settings import Settings
    from dtnumba.trees.layout import Trees


class RowTree:
    """Follows the rows of some slots."""

    def __init__(self, slots: Slots) -> None:
        self.slots = slots
        self._tree: FollowedTree | None = None
        self._made_for: Any = None

    def change(self, came: Any, went: Any, sizes: list[int] | None, criterion: Any, settings: Settings) -> None:
        """Follow rows that came to slots and went from slots (both done already)."""
        slots = self.slots
        measure, target = measured(slots, sizes, criterion)
        made_for = (measure, type(criterion), settings, len(slots))
        if self._tree is None or made_for != self._made_for or 3 * (len(came) + len(went)) > slots.n_rows:
            own = spread_out(target, slots)
            self._tree = FollowedTree(slots.values, slots.held, own, criterion, limits_of(settings, float("inf")), settings.workers)
            self._made_for = made_for
            came, went = slots.held, np.empty(0, np.int64)
        else:
            update(self._tree.target, target, slots, came)
        self._tree.change(np.asarray(came, np.uint32), np.asarray(went, np.uint32))

    def trees(self, width: int) -> Trees:
        """Return the tree, of ``width`` numbers a node."""
        assert self._tree is not None
        return trees_of(self._tree, width)
