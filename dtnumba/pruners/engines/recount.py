"""Trees that were changed, counted anew with the rows they were grown on: what each row adds, and where it ends."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.criteria.contract import resolve_criterion
from dtnumba.prediction.walk_tree import leaves_of, pack
from dtnumba.pruners.contract import Rows
from dtnumba.pruners.engines.case_lists import unit_of
from dtnumba.pruners.engines.route_rows import describe_nodes
from dtnumba.runtime.tasks import n_workers
from dtnumba.tables.cells import cells_of, values_of
from dtnumba.tables.table import Table
from dtnumba.tables.weights import are_whole
from dtnumba.trees.layout import BY_SHARE, LEAF, Trees, count_up, depths, one_tree
from dtnumba.trees.routing import as_asked
from dtnumba.trees.subtrees import added_up, rebuilt

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from dtnumba.pruners.contract import PruningContext
    from dtnumba.tables.binned_table import Features
    from dtnumba.tables.cells import Cells
    from dtnumba.trees.subtrees import Level


_MOST_EXACT = 1e300


class RowContributions(NamedTuple):
    """What rows add to the statistics of a node: each part adds an amount at a place, for every row."""

    n_stats: int
    parts: list[tuple[NDArray[np.int64], NDArray[np.float64]]]

    def summed(self, groups: NDArray[np.int64], n_groups: int, rows: Any = slice(None)) -> NDArray[np.float64]:
        """Return the statistics of groups of rows, (groups, statistics); ``groups`` says which each row is in."""
        total = np.zeros(n_groups * self.n_stats)
        for places, amounts in self.parts:
            at = groups * self.n_stats + places[rows]
            total += np.bincount(at, weights=amounts[rows], minlength=len(total))
        return total.reshape(n_groups, self.n_stats)


def _exact(amounts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return amounts rounded so that sums of them are exact, in any order of the rows; those near the limits stay."""
    sizes = np.abs(amounts)
    with np.errstate(over="ignore"):
        total = float(sizes.sum())
    if not total < _MOST_EXACT or are_whole(sizes, total):
        return amounts
    grain, least = unit_of(sizes)
    return np.where(sizes > 0, np.copysign(np.maximum((sizes + grain) - grain, least), amounts), 0.0)


def class_additions(rows: Rows, sizes: Sequence[int]) -> RowContributions:
    """Return the RowContributions by which a node knows the weight of each class, outputs end to end."""
    offsets, columns = np.cumsum([0, *sizes]), rows.target.T.astype(np.int64)
    weight = _exact(rows.weight)
    parts = [(offset + codes, weight) for offset, codes in zip(offsets, columns, strict=False)]
    return RowContributions(int(offsets[-1]), parts)


def square_additions(rows: Rows) -> RowContributions:
    """Return the RowContributions by which a node knows its sums of w, wy and wyy, output by output."""
    parts, w = [], _exact(rows.weight)
    for o, y in enumerate(rows.target.T):
        place = np.full(len(w), 3 * o, np.int64)
        parts += [(place, w), (place + 1, _exact(w * y)), (place + 2, _exact(w * y * y))]
    return RowContributions(3 * rows.target.shape[1], parts)


def leaves_in_trees(trees: Trees, table: Features, workers: int) -> list[NDArray[np.int64]]:
    """Return the leaf of every row in each tree, ids counted from the first node of all."""
    found = []
    for t in range(trees.n_trees):
        tree = one_tree(trees, t)
        packed = pack(tree, int(depths(tree).max())) if tree.is_binary else None
        asked = as_asked(tree, table.bits)
        parts = [leaves_of(Table.block(cells), asked, packed, workers) for _, cells in table.row_blocks()]
        found.append(np.concatenate(parts) + trees.root[t])
    return found


def dense_cells(table: Features) -> Cells:
    """Return all rows as one dense part, written out where they are sparse or codes."""
    parts = table.row_blocks()
    first, cells = next(parts)
    if cells.n_rows == table.n_rows:
        return cells
    whole = np.empty((table.n_rows, cells.n_columns), cells.flat.dtype)
    for at, part in chain([(first, cells)], parts):
        whole[at : at + part.n_rows] = values_of(part)
    return cells_of(whole)


class CountedTree(NamedTuple):
    """One tree of classes, and the rows it was grown on."""

    trees: Trees
    asked: Trees  # with thresholds that the cells are compared with as they are
    cells: Cells
    additions: RowContributions
    kept: NDArray[np.int64]  # rows of positive weight, in any order
    leaf_of_row: NDArray[np.int64]


def workers_of(context: PruningContext) -> int:
    """Return how many threads the model works on."""
    return int(n_workers(getattr(context.model, "n_jobs", 1)))


def counted_trees(context: PruningContext, *, with_leaves: bool = True) -> Iterator[CountedTree]:
    """Yield each tree with its rows, and their leaves if asked; raise where they are not the rows it was grown on."""
    rows = context.rows
    assert rows is not None
    cells, kind = dense_cells(rows.table), type(context.model).__name__
    _refuse_shape(context.model)
    for t in range(context.trees.n_trees):
        tree = one_tree(context.trees, t)
        weight = context.training_weights(t)
        additions = class_additions(Rows(rows.table, rows.target, weight), context.sizes)
        found, grown = additions.summed(np.zeros(len(weight), np.int64), 1)[0], tree.value[0] * tree.weight[0]
        model = context.model
        of_draws = str(getattr(model, "class_weight", None)) == "balanced_subsample"  # by what the tree drew
        if of_draws or getattr(model, "priors", None) is not None or getattr(model, "costs", None) is not None:
            weight = weight * (grown / np.maximum(found, 1e-300))[rows.target[:, 0]]
            additions = class_additions(Rows(rows.table, rows.target, weight), context.sizes)
            found = additions.summed(np.zeros(len(weight), np.int64), 1)[0]
        if np.abs(found - grown).max() > 1e-6 * tree.weight[0]:
            raise ValueError(
                f"prune: X, y and sample_weight are not what this {kind} was grown on: the classes weigh "
                f"{found.round(6).tolist()} in them, and {grown.round(6).tolist()} at the root of tree {t}; raising "
                "asks for these very rows; pass them, or raising=False"
            )
        leaf_of_row = leaves_in_trees(tree, rows.table, 1)[0] if with_leaves else np.empty(0, np.int64)
        if with_leaves:
            _refuse_others(tree, additions.summed(leaf_of_row, tree.n_nodes), f"this {kind}", t)
        yield CountedTree(tree, as_asked(tree, rows.table.bits), cells, additions, np.flatnonzero(weight), leaf_of_row)


def _refuse_others(tree: Trees, found: NDArray[np.float64], kind: str, t: int) -> None:
    """Raise where the classes in the leaves are not those that the tree was grown with."""
    grown = tree.value * tree.weight[:, None]
    is_astray = (np.abs(found - grown).max(axis=1) > 1e-6 * tree.weight[0]) & (tree.feature == LEAF)
    if is_astray.any() and tree.policy == BY_SHARE:
        raise ValueError(
            f"prune: raising=True works only with whole rows; {kind} sent rows of missing values down several branches "
            "in parts. Pass raising=False, or 'error_based' with estimate='release8' or 'j48' and without costs, which "
            "counts parts."
        )
    if is_astray.any():
        node = int(is_astray.argmax())
        raise ValueError(
            f"prune: X and y are not what {kind} was grown on: in leaf {node} of tree {t} the classes weigh "
            f"{found[node].round(6).tolist()}, and {grown[node].round(6).tolist()} then; raising asks for these very "
            "rows; pass them, or raising=False"
        )


def _refuse_shape(model: Any) -> None:
    """Raise where leaves must keep an order: a raised branch says what other rows say, in whatever order that is."""
    signs = getattr(model, "monotonic_cst", None)
    if signs is not None and np.any(np.asarray(list(signs.values()) if isinstance(signs, dict) else signs) != 0):
        raise ValueError(
            f"prune: a branch that is raised says what other rows say, which breaks the order that monotonic_cst="
            f"{signs!r} asks for: pass raising=False, e.g. prune=pruners.ErrorBased(raising=False)"
        )


def with_new_statistics(
    tree: CountedTree,
    context: PruningContext,
    levels: list[Level],
    is_leaf: NDArray[np.bool_],
    final: NDArray[np.int64],
    reached: NDArray[np.int64],
) -> Trees:
    """Return the tree in which ``final[place]`` stands at each place; nodes whose rows changed are counted anew.

    ``reached`` is the leaf that each of the rows kept comes to, in their order.
    """
    trees, rows = tree.trees, tree.kept
    before, after = (_counted(tree, levels, leaves) for leaves in (tree.leaf_of_row[rows], reached))
    n_rows = added_up(levels, np.bincount(reached, minlength=trees.n_nodes))
    other = np.flatnonzero((before != after).any(axis=1) & (n_rows > 0))
    if len(other) == 0:
        return rebuilt(trees, levels, is_leaf, final)
    weight = after.sum(axis=1)
    columns: dict[str, Any] = {name: getattr(trees, name).copy() for name in ("value", "weight", "n_samples")}
    columns["weight"][other], columns["n_samples"][other] = weight[other], n_rows[other]
    columns["value"][other] = after[other] / weight[other, None]
    fan = np.where(is_leaf[other], 0, trees.right[other] - trees.left[other] + 1).astype(np.int64)
    first = np.where(fan > 0, trees.left[other], 0).astype(np.int64)
    children, owner = final[np.repeat(first, fan) + count_up(fan)], np.repeat(np.arange(len(other)), fan)
    has_rows = weight[children] > 0  # an empty branch has no impurity
    children, fan = children[has_rows], np.bincount(owner[has_rows], minlength=len(other))
    impurity, gain = np.empty(len(other)), np.empty(len(other))
    criterion = resolve_criterion(context.model.criterion, "classes", float(weight[0]))
    starts = np.cumsum(fan) - fan
    own = (starts, fan, after[children], weight[children])
    describe_nodes(criterion, after[other], weight[other], *own, impurity, gain)
    for name, found in (("impurity", impurity), ("gain", gain)):
        columns[name] = getattr(trees, name).copy()
        columns[name][other] = found
    return rebuilt(trees._replace(**columns), levels, is_leaf, final)


def final_leaves(
    trees: Trees, levels: list[Level], is_leaf: NDArray[np.bool_], leaves: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return, for leaves of a tree, those they became part of: the nearest to the root that are leaves by now."""
    end = np.arange(trees.n_nodes)
    for level in levels:
        above = np.repeat(end[level.inner], level.fan)
        end[level.children] = np.where(is_leaf[above], above, level.children)
    return end[leaves]


def renumbered(tree: CountedTree, smaller: Trees, stands: NDArray[np.int64], reached: NDArray[np.int64]) -> CountedTree:
    """Return a smaller tree with its rows: its nodes are ``stands`` of the tree, ``reached`` leaves of those kept."""
    number = np.zeros(tree.trees.n_nodes, np.int64)
    number[stands] = np.arange(len(stands))
    leaf_of_row = np.zeros(len(tree.leaf_of_row), np.int64)
    leaf_of_row[tree.kept] = number[reached]
    return tree._replace(trees=smaller, leaf_of_row=leaf_of_row)


def _counted(tree: CountedTree, levels: list[Level], leaves: NDArray[np.int64]) -> NDArray[np.float64]:
    return added_up(levels, tree.additions.summed(leaves, tree.trees.n_nodes, tree.kept))
