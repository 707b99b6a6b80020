# mypy: ignore-errors
"""Trees put together of what grew and of what stayed, their nodes numbered as growth numbers them.

The nodes below a node stand together, in the order of their numbers. So a subtree that stays is one run of nodes, moved
as a whole, and so is one that grew. Only nodes on the ways of rows that left are taken one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtnumba.runtime.kernels import kernel
from dtnumba.trees.layout import LEAF, NO_LEVELS, NO_MAP, joined, n_entries, starts_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.trees.layout import Trees

# In ``missing_left`` of a node that was looked at again and parts its rows as before: below it, the tree goes on.
FOLLOWED = 2
_COLUMNS = ("feature", "threshold", "missing_left", "value", "n_samples", "weight", "impurity", "gain")
_FEW_RUNS = 1 << 14  # up to so many are moved as slices: a slice takes as long as some ten nodes
# Columns of runs: nodes that stand together, of the trees that were or of those that grew, and the left child of a
# single one, which of a run moves as far as all of it.
_IS_GROWN, _START, _LENGTH, _LEFT, _IS_SINGLE = range(5)


@kernel
def list_runs(before, after, place, runs, stack):
    """List the runs of a tree, the first of whose nodes goes to place[0]; return how many they are.

    before: where the nodes of the tree that was begin and end, (2,) int64, and left and n_samples of all trees
    after: the same of what grew of it, and missing_left · runs (k, 5) int64 out · stack (m, 5) int64 scratch: the run
    of a node, which node of what grew it is or -1 and where that one's nodes end, which node of the tree that was or -1
    and where that one's end
    """
    was, left, n_samples = before
    grew, grown_left, grown_samples, grown_missing = after
    count, k, top = place[0] + 1, np.int64(1), 1
    runs[0, 0], runs[0, 1], runs[0, 2], runs[0, 3], runs[0, 4] = 1, grew[0], 1, -1, 1
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3], stack[0, 4] = 0, grew[0], grew[1], was[0], was[1]
    while top > 0:
        top -= 1
        run, new, new_end, old, old_end = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3], stack[top, 4]
        first = np.int64(grown_left[new] if new >= 0 else left[old])
        if first < 0:
            continue
        runs[run, 3] = count
        if new >= 0 and old >= 0 and grown_missing[new] & FOLLOWED:
            old_left = np.int64(left[old])
            for side in range(2):
                node, old_node = first + side, old_left + side
                stays = grown_left[node] < 0 and grown_samples[node] == n_samples[old_node]
                at, ends, old_ends = top + 1 - side, new_end, old_end
                if side == 0:  # the nodes below the right child come last
                    ends = np.int64(grown_left[first + 1]) if grown_left[first + 1] >= 0 else new_end
                    old_ends = np.int64(left[old_left + 1]) if left[old_left + 1] >= 0 else old_end
                runs[k, 0], runs[k, 1], runs[k, 2] = 0 if stays else 1, old_node if stays else node, 1
                runs[k, 3], runs[k, 4] = -1, 1
                stack[at, 0], stack[at, 1], stack[at, 2] = k, -1 if stays else node, ends
                stack[at, 3], stack[at, 4] = old_node, old_ends
                k += 1
            count, top = count + 2, top + 2
        else:
            end = new_end if new >= 0 else old_end
            runs[k, 0], runs[k, 1], runs[k, 2] = 1 if new >= 0 else 0, first, end - first
            runs[k, 3], runs[k, 4] = 0, 0
            count, k = count + end - first, k + 1
    return k


def _runs_of(trees: Trees, touched: NDArray[np.int64], grown: Trees) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the runs of all trees (see ``list_runs``), and how many nodes each tree has."""
    longest = int(np.diff(grown.root).max())
    out, stack = np.empty((2 * longest + 2, 5), np.int64), np.empty((longest + 2, 5), np.int64)
    listed, sizes, at, t = [], np.diff(trees.root), np.int64(0), 0
    columns = trees.left, trees.n_samples
    new = grown.left, grown.n_samples, grown.missing_left
    for k, tree in enumerate(touched.tolist()):
        if tree > t:  # those between stay
            start, stop = trees.root[t], trees.root[tree]
            listed.append(np.array([[0, start, stop - start, 0, 0]]))
            at += stop - start
        was, grew = trees.root[tree : tree + 2], grown.root[k : k + 2]
        n = list_runs((was, *columns), (grew, *new), np.array([at]), out, stack)
        listed.append(out[:n].copy())
        sizes[tree] = out[:n, _LENGTH].sum()
        at, t = at + sizes[tree], tree + 1
    listed.append(np.array([[0, trees.root[t], trees.root[-1] - trees.root[t], 0, 0]]))
    return np.concatenate(listed), sizes


def spliced(trees: Trees, touched: NDArray[np.int64], parts: list[Trees]) -> Trees:
    """Return the trees, those touched made of what grew of them, in their order, and of what of them stays."""
    grown = joined(parts)
    runs, sizes = _runs_of(trees, touched, grown)
    is_grown, start, length = runs[:, _IS_GROWN] != 0, runs[:, _START], runs[:, _LENGTH]
    to = np.cumsum(length) - length
    ends = list(zip(is_grown.tolist(), start.tolist(), (start + length).tolist(), strict=True))
    at = None
    if len(runs) > _FEW_RUNS:
        at = np.repeat(start + np.where(is_grown, trees.n_nodes, 0) - to, length) + np.arange(int(length.sum()))

    def moved(was: NDArray, grew: NDArray) -> NDArray:
        grew = grew.astype(was.dtype, copy=False)
        if at is not None:
            return np.concatenate([was, grew])[at]
        return np.concatenate([(grew if new else was)[begin:end] for new, begin, end in ends])

    columns = {name: moved(getattr(trees, name), getattr(grown, name)) for name in _COLUMNS}
    columns["missing_left"] &= ~np.uint8(FOLLOWED)
    left = moved(trees.left, grown.left)
    left = np.where(left >= 0, left + np.repeat(to - start, length), LEAF).astype(trees.left.dtype)
    is_single = runs[:, _IS_SINGLE] != 0
    left[to[is_single]] = runs[is_single, _LEFT]
    columns |= {"left": left, "right": np.where(left >= 0, left + 1, LEAF).astype(trees.right.dtype)}
    n_levels = moved(*(n_entries(part.level_start, part.n_nodes) for part in (trees, grown)))
    if n_levels.any():
        starts = [np.append(0, np.cumsum(n_entries(part.level_start, part.n_nodes))) for part in (trees, grown)]
        each = [(grown if new else trees).level[slice(*starts[new][[begin, end]])] for new, begin, end in ends]
        columns |= {"level_start": starts_of(n_levels), "level": np.concatenate(each)}
    else:
        columns |= {"level_start": NO_MAP, "level": NO_LEVELS}
    return trees._replace(root=np.append(0, np.cumsum(sizes)), **columns)
