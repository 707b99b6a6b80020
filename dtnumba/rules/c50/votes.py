# mypy: ignore-errors
# ruff: noqa: D102
"""What rules of C5.0 say of rows: all that hold vote, and the most specific ones say how sure a class is."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dtnumba.prediction.confident_votes import shares_of_votes
from dtnumba.rules.c50.make_rules import THOUSAND, votes_of
from dtnumba.rules.layout import body_of, pack_rules
from dtnumba.rules.matching import Block, blocks_of, match
from dtnumba.runtime.instructions.bits import lowest_bit
from dtnumba.runtime.kernels import kernel_type
from dtnumba.runtime.memory import per_worker
from dtnumba.runtime.progress import launch_heeding
from dtnumba.runtime.tasks import take_ticket

_ROWS = 1024  # a ticket
_STEPS_A_WORD = 16  # about, of the columns that rules test
_SERIAL = 2048  # rows below which the calling thread works alone
_BITS = 64
_ONE, _ZERO = np.uint64(1), np.uint64(0)
UNDECIDED = 0.5  # how sure the class is of a row for which no rule holds


class Voters(NamedTuple):
    """Rules that vote, those that cover the fewest rows first."""

    blocks: list[Block]
    label: np.ndarray  # (r,) int32
    vote: np.ndarray  # (r,) int64, in thousandths
    default: int
    n_classes: int


def by_cover(covered: Any) -> Any:
    """Return the order of rules in which the most specific come first: those that cover the fewest rows."""
    return np.argsort(covered, kind="stable")


def voters_of(rules: Any, bits: Any) -> Voters:
    """Return rules as they vote on rows of floats of so many bits."""
    order = by_cover(rules.covered)
    numbers = {name: getattr(rules, name)[order] for name in ("covered", "correct", "confidence", "lift")}
    numbers |= {"prior": rules.prior, "decided": np.zeros((len(order) + 1, rules.n_classes))}
    bodies = [body_of(rules, int(r)) for r in order]
    sorted_ = pack_rules(bodies, rules.label[order], rules.default, numbers, rules.cuts_at)
    vote = votes_of(sorted_.covered, sorted_.correct)
    return Voters(blocks_of(sorted_, bits), sorted_.label, vote, rules.default, rules.n_classes)


@kernel_type
class CountVotes(NamedTuple):
    """Count the rules that hold for a row, and their votes; note the first of each class. Rows by whoever is free."""

    cells: object
    block: Block
    label: np.ndarray  # (r,) int32
    vote: np.ndarray  # (r,) int64
    votes: np.ndarray  # (n, classes) int64: added to
    first: np.ndarray  # (n, classes) int64: votes of the first rule of each class that holds, 0 so far none
    n_hold: np.ndarray  # (n,) int64
    found: np.ndarray  # (workers, words) uint64 scratch
    counter: np.ndarray

    def run(self, worker):
        found, block, n = self.found[worker, 0], self.block, self.cells.n_rows
        while True:
            start = take_ticket(self.counter) * _ROWS
            if start >= n:
                break
            for row in range(start, min(start + _ROWS, n)):
                if not match(block, self.cells, row, found):
                    continue
                for w in range(block.mask.shape[1]):
                    word = found[w]
                    while word != _ZERO:
                        rule = block.first + w * _BITS + np.int64(lowest_bit(word))
                        k = self.label[rule]
                        self.votes[row, k] += self.vote[rule]
                        if self.first[row, k] == 0:
                            self.first[row, k] = self.vote[rule]
                        self.n_hold[row] += 1
                        word &= word - _ONE


class RulesSay(NamedTuple):
    """What rules say of rows."""

    label: np.ndarray  # (n,) int64
    first: np.ndarray  # (n, classes) int64: votes of the most specific rule of each class, 0 where none holds
    votes: np.ndarray  # (n, classes) int64: of all rules of each class
    n_hold: np.ndarray  # (n,) int64: rules that hold

    def sure(self) -> np.ndarray:
        """Return how sure the label of each row is: as its most specific rule, or as all rules that hold on average."""
        at = self.label[:, None]
        first, votes = (np.take_along_axis(own, at, axis=1)[:, 0] for own in (self.first, self.votes))
        own = np.maximum(first, votes / np.maximum(self.n_hold, 1)) / THOUSAND
        return np.where(self.n_hold == 0, UNDECIDED, own)

    def shares(self) -> np.ndarray:
        """Return the probability of each class; where no rule holds all are as likely."""
        own = self.first.astype(np.float64)
        is_label = np.arange(own.shape[1]) == self.label[:, None]
        own = np.where(is_label, own, own / np.maximum(self.n_hold, 1)[:, None])
        own[self.n_hold == 0] = 1.0
        return shares_of_votes(own)


def said_of(table: Any, voters: Voters, workers: int) -> RulesSay:
    """Return what rules say of every row."""
    n, k = table.n_rows, voters.n_classes
    votes, first, n_hold = np.zeros((n, k), np.int64), np.zeros((n, k), np.int64), np.zeros(n, np.int64)
    for begin, cells in table.row_blocks():
        threads = workers if cells.n_rows >= _SERIAL else 1
        rows = slice(begin, begin + cells.n_rows)
        for block in voters.blocks:
            found = per_worker(threads, len(block.whole), np.uint64, 0)
            own = votes[rows], first[rows], n_hold[rows]
            task = CountVotes(cells, block, voters.label, voters.vote, *own, found, np.zeros(1, np.int64))
            launch_heeding(task, threads, cells.n_rows * len(block.whole) * _STEPS_A_WORD)
    return RulesSay(np.where(n_hold == 0, voters.default, votes.argmax(axis=1)), first, votes, n_hold)
