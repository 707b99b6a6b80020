"""A decision graph as the tree that it is, for formats whose trees do not join."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.export.reading import ExportError
from dtnumba.rules.paths import ways_to_leaves
from dtnumba.trees.assemble import ragged
from dtnumba.trees.layout import LEAF, NO_JOINS, RAGGED, count_up

if TYPE_CHECKING:
    from dtnumba.export.reading import ReadTrees

_MOST_WAYS = 500_000
_BY_NODE = ("feature", "threshold", "missing_left", "value", "n_samples", "weight", "impurity", "gain")


def unfolded(found: ReadTrees, format_: str) -> ReadTrees:
    """Return a graph with each node once for every way to it, numbered level by level.

    Rows and weights stay those of the nodes of the graph. Raise ExportError where there are too many ways.
    """
    trees, n_ways = found.trees, ways_to_leaves(found.trees)
    if n_ways > _MOST_WAYS:
        raise ExportError(
            f"{format_}: its trees do not join, and this graph has {n_ways:,} ways to its leaves, of which up to "
            f"{_MOST_WAYS:,} are written; export it as C, Python or JSON, or as SQL of style='table'"
        )
    level, sources, firsts, n = np.zeros(1, np.int64), [], [], 1
    while len(level):
        fan = np.where(trees.feature[level] == LEAF, 0, trees.right[level] - trees.left[level] + 1).astype(np.int64)
        sources.append(level)
        firsts.append(np.where(fan == 0, LEAF, n + np.cumsum(fan) - fan))
        n += int(fan.sum())
        level = np.repeat(trees.left[level].astype(np.int64), fan) + count_up(fan)
    source, left = np.concatenate(sources), np.concatenate(firsts)
    columns: dict[str, Any] = {name: np.asarray(getattr(trees, name))[source] for name in _BY_NODE}
    for start, name in RAGGED:
        begin = getattr(trees, start)
        if len(begin) > 1:
            columns[start], places = ragged(begin[:-1][source], np.diff(begin)[source])
            columns[name] = getattr(trees, name)[places]
    last = np.where(left == LEAF, LEAF, left + (trees.right - trees.left)[source])
    columns |= {"left": left.astype(np.int32), "right": last.astype(np.int32), "root": np.array([0, n], np.int64)}
    codes = None if found.codes is None else found.codes[source]
    return found._replace(trees=trees._replace(join=NO_JOINS, **columns), said=found.said[source], codes=codes)
