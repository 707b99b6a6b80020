# mypy: ignore-errors
# ruff: noqa: D102
"""Rows down several branches at once: where a value is missing a row goes to all children, in parts (Quinlan 1993)."""

from typing import NamedTuple

import numpy as np

from dtnumba.prediction.walk_tree import leaves_of
from dtnumba.runtime.kernels import inline, kernel_type
from dtnumba.runtime.memory import per_worker
from dtnumba.runtime.progress import launch_heeding
from dtnumba.runtime.tasks import take_ticket
from dtnumba.trees.layout import BY_SHARE, last_children, node_values
from dtnumba.trees.linear import tested_value
from dtnumba.trees.routing import as_asked, child_number

_BLOCK = 1024  # rows a ticket
_BLOCK_CELLS = 1 << 18  # of answers that are made at a time, where nobody keeps them
_NOT_SEEN = np.zeros((0, 0), np.uint8)
_STEPS_A_ROW = 100  # about, through all nodes that a part of it comes to


@kernel_type
class MixLeaves(NamedTuple):
    """Add up what the leaves say that a row comes to, each by its part; blocks of rows by whichever worker is free."""

    cells: object
    trees: object
    root: int
    last: np.ndarray  # (m,) int32: last child of each node
    value_of_node: np.ndarray  # (m, width) float64
    out: np.ndarray  # (n, width) float64: added to
    leaf: np.ndarray  # (n,) int64 out: where the largest part ends
    seen: np.ndarray  # (n, columns) uint8 out: which values of a row are looked at; (0, 0) where nobody asks
    # (m, 3) float64: of a soft cut, up to where rows go left whole, where half of them does, and from where on they go
    # right; NaN of other tests; (0, 3) where no cut is soft
    soft: np.ndarray
    waiting: np.ndarray  # (workers, m) int64 scratch: nodes
    parts: np.ndarray  # (workers, m) float64 scratch
    counter: np.ndarray

    def run(self, worker):
        cells, trees, waiting, parts = (
            self.cells,
            self.trees,
            self.waiting[worker, 0],
            self.parts[worker, 0],
        )
        while True:
            start = take_ticket(self.counter) * _BLOCK
            if start >= cells.n_rows:
                break
            for row in range(start, min(start + _BLOCK, cells.n_rows)):
                top, largest, at = 1, -1.0, cells.offset + row * cells.row_step
                waiting[0], parts[0] = self.root, 1.0
                while top > 0:
                    top -= 1
                    node, weight = waiting[top], parts[top]
                    if trees.feature[node] < 0:
                        for k in range(self.value_of_node.shape[1]):
                            self.out[row, k] += weight * self.value_of_node[node, k]
                        if weight > largest:
                            largest, self.leaf[row] = weight, node
                        continue
                    feature = np.int64(trees.feature[node])
                    x = tested_value(trees.linear, feature, node, cells, at)
                    child = child_number(trees, node, x)
                    if child >= 0 and len(self.soft) > 0 and self.soft[node, 0] < x < self.soft[node, 2]:
                        if len(self.seen) > 0:
                            self.seen[row, feature] = 1
                        left = part_below(self.soft, node, x)
                        waiting[top], parts[top] = trees.left[node] + 1, weight * (1.0 - left)
                        waiting[top + 1], parts[top + 1] = trees.left[node], weight * left
                        top += 2
                    elif child >= 0:
                        if len(self.seen) > 0:
                            self.seen[row, feature] = 1
                        waiting[top], parts[top] = trees.left[node] + child, weight
                        top += 1
                    else:  # the first child is looked at first
                        for child in range(self.last[node], trees.left[node] - 1, -1):
                            if trees.share[child] > 0.0:
                                waiting[top], parts[top] = child, weight * trees.share[child]
                                top += 1


@inline
def part_below(soft, node, x):
    """Return which part of a row goes left at a soft cut: a half at its middle, and less the larger x is."""
    low, middle, high = soft[node, 0], soft[node, 1], soft[node, 2]
    if x <= middle:
        return 1.0 - 0.5 * (x - low) / (middle - low)
    return 0.5 * (high - x) / (high - middle)


def tree_values(table, trees, workers, tree):
    """Return what a tree of any kind says of every row, and the leaf (of several, of its largest part)."""
    if trees.policy == BY_SHARE:
        return mixtures_of(table, trees, workers, tree)
    leaf = leaves_of(table, trees, None, workers, tree)
    return node_values(trees)[leaf], leaf


def forest_values(table, trees, workers, n_classes, voting):
    """Yield what each tree of any kind says of every row; a vote for one class where ``voting`` is hard, or a rule."""
    for tree in range(trees.n_trees):
        values, _ = tree_values(table, trees, workers, tree)
        if voting != "soft":
            stops = np.cumsum(n_classes)
            for stop, k in zip(stops, n_classes, strict=True):
                own = values[:, stop - k : stop]
                code = own.argmax(axis=1) if voting == "hard" else voting.codes(own)
                values[:, stop - k : stop] = np.arange(k) == code[:, None] if k > 1 else own
        yield values


def with_prior(said, prior):
    """Return probabilities of rows, of their shares and, in the last column, the cases in the leaves they come to.

    One case more, of the shares ``prior``, is added to these.
    """
    cases = said[:, -1:]
    shares = said[:, :-1] * cases
    shares += prior
    shares /= cases + 1.0
    return shares


def probabilities_of(table, trees, workers, seen=None, soft=None):
    """Return the probability of each class for every row: those of its leaves and one case of the root's shares.

    ``seen`` and ``soft`` as of ``mixtures_of``.
    """
    return with_prior(said_by_leaves(table, trees, workers, seen, soft), trees.value[0])


def said_by_leaves(table, trees, workers, seen=None, soft=None, tree=0):
    """Return for every row the shares of the classes in the leaves that it comes to, mixed, and their cases behind."""
    return mixtures_of(table, _with_cases(trees), workers, tree, seen=seen, soft=soft)[0]


def _with_cases(trees):
    """Return the trees whose leaves say how many cases they have, too."""
    return trees._replace(value=np.column_stack([trees.value, trees.weight]))


def probabilities_in_blocks(table, trees, workers, seen=None, soft=None):
    """Yield blocks of the rows as slices, and the probability of each class for them: see ``probabilities_of``."""
    said, width = _with_cases(trees), trees.value.shape[1] + 1
    mix, step = _mixer(table, said, workers, 0, soft), max(_BLOCK_CELLS // width, _BLOCK)
    for first, cells in table.row_blocks():
        for start in range(0, cells.n_rows, step):
            n = min(step, cells.n_rows - start)
            rows = slice(first + start, first + start + n)
            out, own = np.zeros((n, width)), cells._replace(offset=cells.offset + start * cells.row_step, n_rows=n)
            mix(own, out, np.empty(n, np.int64), _NOT_SEEN if seen is None else seen[rows])
            yield rows, with_prior(out, trees.value[0])


def mixtures_of(table, trees, workers, tree=0, out=None, seen=None, soft=None):
    """Return what the leaves of a tree say of every row, mixed, and the leaf of the row's largest part.

    In ``seen`` (rows, columns), if given, ones are written where a value of a row is looked at. ``soft`` (nodes, 3)
    are soft cuts, see ``MixLeaves``.
    """
    mix, leaf = _mixer(table, trees, workers, tree, soft), np.empty(table.n_rows, np.int64)
    out = np.zeros((table.n_rows, node_values(trees).shape[1])) if out is None else out
    for first, cells in table.row_blocks():
        rows = slice(first, first + cells.n_rows)
        mix(cells, out[rows], leaf[rows], _NOT_SEEN if seen is None else seen[rows])
    return out, leaf


def _mixer(table, trees, workers, tree, soft):
    """Return a function that adds up what leaves say of rows: (cells, out, leaf, seen), see ``MixLeaves``."""
    value_of_node, last = np.ascontiguousarray(node_values(trees)), last_children(trees)
    soft = np.zeros((0, 3)) if soft is None else soft
    asked, m = as_asked(trees, table.bits), int(trees.root[tree + 1] - trees.root[tree])

    def mix(cells, out, leaf, seen):
        threads = workers if cells.n_rows >= _BLOCK else 1
        waiting, parts = per_worker(threads, m, np.int64), per_worker(threads, m)
        given = cells, asked, int(trees.root[tree]), last, value_of_node
        task = MixLeaves(*given, out, leaf, seen, soft, waiting, parts, np.zeros(1, np.int64))
        launch_heeding(task, threads, cells.n_rows * _STEPS_A_ROW)

    return mix
