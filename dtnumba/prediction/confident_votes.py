# mypy: ignore-errors
# ruff: noqa: D102
"""Trees of C5.0 that vote: each for the likeliest class of a row, by as much as it is sure of it."""

from typing import NamedTuple

import numpy as np

from dtnumba.prediction.fractional import said_by_leaves, with_prior
from dtnumba.runtime.kernels import inline, kernel_type
from dtnumba.runtime.memory import per_worker
from dtnumba.runtime.progress import launch_heeding
from dtnumba.runtime.tasks import take_ticket
from dtnumba.trees.layout import BY_SHARE, last_children, node_values
from dtnumba.trees.routing import as_asked, child_number

_BLOCK = 1024  # rows a ticket
_STEPS_A_TREE = 30  # about, that a row takes
EVEN = 1e-7  # shares no farther apart are as large


@kernel_type
class VoteByLeaves(NamedTuple):
    """Add up what trees vote for; blocks of rows by whichever worker is free.

    A row that lacks a value on its way goes down all branches in parts from there on.
    """

    cells: object
    trees: object
    last: np.ndarray  # (m,) int32: last child of each node
    value: np.ndarray  # (m, classes) float64: shares
    label: np.ndarray  # (m,) int32: what each leaf votes for
    sure: np.ndarray  # (m,) float64: and by how much
    without: int  # column that no row has a value of; -1: none
    seen: np.ndarray  # (n, columns) uint8 out: which values of a row are looked at; (0, 0) where nobody asks
    votes: np.ndarray  # (n, classes) float64: added to
    plain: np.ndarray  # (n,) float64 out: share in its leaves of what the last tree votes for; (0,) where nobody asks
    waiting: np.ndarray  # (workers, m) int64 scratch: nodes
    parts: np.ndarray  # (workers, m) float64 scratch
    mixed: np.ndarray  # (workers, classes) float64 scratch
    counter: np.ndarray

    def run(self, worker):
        cells, trees = self.cells, self.trees
        waiting, parts, mixed = self.waiting[worker, 0], self.parts[worker, 0], self.mixed[worker, 0]
        while True:
            start = take_ticket(self.counter) * _BLOCK
            if start >= cells.n_rows:
                break
            for tree in range(len(trees.root) - 1):
                root = np.int64(trees.root[tree])
                for row in range(start, min(start + _BLOCK, cells.n_rows)):
                    at, node, child = cells.offset + row * cells.row_step, root, np.int64(0)
                    while trees.feature[node] >= 0:
                        child = child_of(self, node, at, row)
                        if child < 0:
                            break
                        node = trees.left[node] + child
                    if child >= 0:
                        best = np.int64(self.label[node])
                        self.votes[row, best] += self.sure[node]
                        share = self.value[node, best]
                    else:
                        cases = mixture(self, node, at, row, waiting, parts, mixed)
                        best = likeliest(mixed)
                        self.votes[row, best] += (mixed[best] * cases + self.value[root, best]) / (cases + 1.0)
                        share = mixed[best]
                    if len(self.plain) > 0:
                        self.plain[row] = share


@inline
def child_of(task, node, at, row):
    """Return the number of the child that a row goes to, -1 where it lacks the value of the test."""
    feature = np.int64(task.trees.feature[node])
    if feature == task.without:
        return np.int64(-1)
    child = child_number(task.trees, node, np.float64(task.cells.flat[at + feature * task.cells.column_step]))
    if child >= 0 and len(task.seen) > 0:
        task.seen[row, feature] = 1
    return child


@inline
def likeliest(shares):
    """Return the class of the largest share, the first of those that are as large."""
    most = shares[0]
    for k in range(1, len(shares)):
        most = max(most, shares[k])
    best = 0
    while shares[best] < most - EVEN:
        best += 1
    return best


@inline
def mixture(task, node, at, row, waiting, parts, mixed):
    """Write to ``mixed`` what the leaves below a node say of a row; return the cases in the leaves that it comes to."""
    trees, cases, top = task.trees, 0.0, 1
    waiting[0], parts[0] = node, 1.0
    mixed[:] = 0.0
    while top > 0:
        top -= 1
        node, weight = waiting[top], parts[top]
        if trees.feature[node] < 0:
            for k in range(len(mixed)):
                mixed[k] += weight * task.value[node, k]
            cases += weight * trees.weight[node]
            continue
        child = child_of(task, node, at, row)
        if child >= 0:
            waiting[top], parts[top] = trees.left[node] + child, weight
            top += 1
        else:
            for child in range(task.last[node], trees.left[node] - 1, -1):
                if trees.share[child] > 0.0:
                    waiting[top], parts[top] = child, weight * trees.share[child]
                    top += 1
    return cases


def shares_of_votes(votes):
    """Return votes as shares of their sum, which is added up from the first class on, as any language would."""
    return votes / np.add.accumulate(votes, axis=1)[:, -1:]


def votes_of_trees(table, trees, workers, without=-1, seen=None, plain=None):
    """Return what trees of C5.0 vote for, (n, classes): of each the likeliest class, by its probability.

    Parameters
    ----------
    table : Table
        The rows.
    trees : Trees
        Of C5.0, any number of them.
    workers : int
        Threads.
    without : int
        A column whose values are taken for missing.
    seen : array of shape (rows, columns), optional
        Ones are written where a value of a row is looked at.
    plain : array of float64 of shape (rows,), optional
        The share that the class the last tree votes for has in the leaves of each row is written there.

    """
    assert trees.policy == BY_SHARE
    value = np.ascontiguousarray(node_values(trees))
    n_nodes, k = value.shape
    label = (value >= value.max(axis=1, keepdims=True) - EVEN).argmax(axis=1).astype(np.int32)
    first = np.repeat(trees.root[:-1], np.diff(trees.root))
    own, prior = value[np.arange(n_nodes), label], value[first, label]
    sure = (own * trees.weight + prior) / (trees.weight + 1.0)
    asked, last = as_asked(trees, table.bits), last_children(trees)
    votes = np.zeros((table.n_rows, k))
    seen, plain = np.zeros((0, 0), np.uint8) if seen is None else seen, np.zeros(0) if plain is None else plain
    for begin, cells in table.row_blocks():
        threads = workers if cells.n_rows >= _BLOCK else 1
        scratch = per_worker(threads, n_nodes, np.int64), per_worker(threads, n_nodes), per_worker(threads, k)
        rows = slice(begin, begin + cells.n_rows)
        said = value, label, sure, int(without), seen[rows], votes[rows], plain[rows]
        task = VoteByLeaves(cells, asked, last, *said, *scratch, np.zeros(1, np.int64))
        launch_heeding(task, threads, cells.n_rows * _STEPS_A_TREE * trees.n_trees)
    return votes


def votes_of_soft_trees(table, trees, soft, workers, seen=None, plain=None):
    """Return what trees of C5.0 with soft cuts vote for; see ``votes_of_trees`` and ``fractional.MixLeaves``."""
    rows, votes = np.arange(table.n_rows), np.zeros((table.n_rows, trees.value.shape[1]))
    for tree in range(trees.n_trees):
        said, prior = said_by_leaves(table, trees, workers, seen, soft, tree), trees.value[trees.root[tree]]
        shares = said[:, :-1]
        label = (shares >= shares.max(axis=1, keepdims=True) - EVEN).argmax(axis=1)
        votes[rows, label] += with_prior(said, prior)[rows, label]
        if plain is not None:
            plain[:] = shares[rows, label]
    return votes
