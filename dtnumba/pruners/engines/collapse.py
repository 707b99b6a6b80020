"""Subtrees that err no less than a leaf would, made leaves: what C4.5 does before it prunes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dtnumba.pruners.engines.by_depth import cut_where_cheaper
from dtnumba.trees.layout import LEAF
from dtnumba.trees.subtrees import below, depth_levels, errors_of_nodes, rebuilt

if TYPE_CHECKING:
    from dtnumba.trees.layout import Trees


# Errors of a subtree and of a leaf that differ by no more are the same.
_SAME = 1e-3


def collapsed(trees: Trees, variant: str) -> Trees:
    """Return the trees without the subtrees that err as much as a leaf would, on the rows they were grown on."""
    levels, errors = depth_levels(trees), errors_of_nodes(trees)
    if variant == "release8":  # what is left below counts
        return cut_where_cheaper(trees, levels, errors, slack=_SAME)
    return rebuilt(trees, levels, below(levels, errors) >= errors - _SAME)


def collapsed_below(trees: Trees) -> Trees:
    """Return one tree without such subtrees, what is left below counted, in which the root stays as it is."""
    levels, errors = depth_levels(trees), errors_of_nodes(trees)
    errors[0] = math.inf
    inner = trees.feature != LEAF
    if not (errors <= below(levels, errors) + _SAME * (1.0 + 1e-9))[inner].any():
        return trees
    return cut_where_cheaper(trees, levels, errors, slack=_SAME)
