# mypy: ignore-errors
# ruff: noqa: D102
"""Rows to rules: which rule answers a row first, or what all that hold for it vote for.

Rules are taken a thousand at a time, as bits. For each feature and each range between the bounds that rules test (each
level of a category; one more place for missing values) a mask tells which rules such a value does not fail. The masks
of a row's values, anded, are the rules that hold: 16 binary searches and 200 words for the 800 rules of the letters,
where asking the rules one after another looks at some hundred tests a row.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dtnumba.rules.layout import LEVELS, condition_at, holds
from dtnumba.runtime.instructions.bits import lower_bound, lowest_bit
from dtnumba.runtime.kernels import inline, kernel_type
from dtnumba.runtime.memory import per_worker
from dtnumba.runtime.progress import launch_heeding
from dtnumba.runtime.tasks import take_ticket
from dtnumba.tables.floats import compared

_ROWS = 1024  # a ticket
_STEPS_A_WORD = 16  # about, of the columns that rules test
_RULES = 1024  # a block
_SERIAL = 2048  # rows below which the calling thread works alone: waking the pool costs as much
_BITS = 64
_ONE, _ZERO = np.uint64(1), np.uint64(0)


class Block(NamedTuple):
    """The masks of some rules; feature f of theirs has places [place[f], place[f + 1]), missing values the last."""

    first: int  # number of its first rule
    whole: np.ndarray  # (words,) uint64: a bit for every rule
    feature: np.ndarray  # (f,) int64
    is_levels: np.ndarray  # (f,) bool
    bound_start: np.ndarray  # (f + 1,) int64
    bound: np.ndarray  # float64, ascending for each feature: place k is for values above k of them
    place: np.ndarray  # (f + 1,) int64
    mask: np.ndarray  # (places, words) uint64


def blocks_of(rules: Any, bits: Any = 64) -> list[Block]:
    """Return the masks of rules for rows of floats of so many bits."""
    tests = rules.tests
    low, high = (compared(ends, tests.feature, rules.cuts_at, bits) for ends in (tests.low, tests.high))
    rules = rules._replace(tests=tests._replace(low=low, high=high))
    return [_block(rules, first, min(first + _RULES, rules.n_rules)) for first in range(0, rules.n_rules, _RULES)]


def _block(rules, first, stop):
    n = stop - first
    words = (n + _BITS - 1) // _BITS
    start, end = int(rules.start[first]), int(rules.start[stop])
    owner = np.repeat(np.arange(n), np.diff(rules.start[first : stop + 1]))
    features = np.unique(rules.tests.feature[start:end])
    bounds, masks, is_levels = [], [], []
    for feature in features:
        own = start + np.flatnonzero(rules.tests.feature[start:end] == feature)
        levels = bool(rules.tests.kind[own[0]] == LEVELS)
        if levels:
            n_words = np.diff(rules.tests.word_start)[own].max()
            bound, values = np.zeros(0), np.array([*range(n_words * _BITS), -1.0, np.nan])  # -1: beyond all levels
        else:
            ends = np.concatenate([rules.tests.low[own], rules.tests.high[own]])
            bound = np.unique(ends[~np.isnan(ends)])
            # A value in each range: its upper end, and infinity beyond the last
            values = np.concatenate([bound, [np.inf, np.nan]])
        allowed = np.ones((len(values), n), bool)
        for t in own:
            allowed[:, owner[t - start]] &= holds(condition_at(rules.tests, t), values)
        bounds.append(bound)
        masks.append(_packed(allowed, words))
        is_levels.append(levels)
    return Block(
        first,
        _packed(np.ones((1, n), bool), words)[0],
        features.astype(np.int64),
        np.array(is_levels, bool),
        np.cumsum([0, *map(len, bounds)]).astype(np.int64),
        np.concatenate([np.zeros(0), *bounds]),
        np.cumsum([0, *map(len, masks)]).astype(np.int64),
        np.concatenate([np.zeros((0, words), np.uint64), *masks]),
    )


def _packed(bits, words):
    packed = np.zeros((len(bits), words * 8), np.uint8)
    own = np.packbits(bits, axis=1, bitorder="little")
    packed[:, : own.shape[1]] = own
    return packed.view("<u8").astype(np.uint64)


@inline
def _place_of(block, f, x):
    """Return the row of the masks for a value of a feature."""
    first, stop = block.place[f], block.place[f + 1]
    if x != x:
        return stop - 1
    if block.is_levels[f]:
        return first + np.int64(x) if 0.0 <= x < stop - 2 - first else stop - 2
    start = block.bound_start[f]
    low = lower_bound(block.bound, start, block.bound_start[f + 1], x)
    return first + low - start


@inline
def match(block, cells, row, found):
    """Write to ``found`` which rules of a block hold for a row; return whether any does."""
    n_words = block.mask.shape[1]
    for w in range(n_words):
        found[w] = block.whole[w]
    at = cells.offset + row * cells.row_step
    for f in range(len(block.feature)):
        place = _place_of(block, f, np.float64(cells.flat[at + block.feature[f] * cells.column_step]))
        left = _ZERO
        for w in range(n_words):
            found[w] &= block.mask[place, w]
            left |= found[w]
        if left == _ZERO:
            return False
    return True


@kernel_type
class MatchRules(NamedTuple):
    """Find the first rule that holds for each row, or add up the votes of all that do; rows by whoever is free."""

    cells: object
    block: Block
    label: np.ndarray  # (r,) int32
    confidence: np.ndarray  # (r,) float64
    answer: np.ndarray  # (n,) int64 in/out: the first rule that holds, -1 so far none
    votes: np.ndarray  # (n, classes) float64 in/out: confidence by class; (0, 0) where nobody asks
    found: np.ndarray  # (workers, words) uint64 scratch
    counter: np.ndarray

    def run(self, worker):
        found, block, n = self.found[worker, 0], self.block, self.cells.n_rows
        while True:
            start = take_ticket(self.counter) * _ROWS
            if start >= n:
                break
            for row in range(start, min(start + _ROWS, n)):
                if len(self.votes) == 0 and self.answer[row] >= 0:
                    continue
                if not match(block, self.cells, row, found):
                    continue
                for w in range(block.mask.shape[1]):
                    word = found[w]
                    while word != _ZERO:
                        rule = block.first + w * _BITS + np.int64(lowest_bit(word))
                        if self.answer[row] < 0:
                            self.answer[row] = rule
                        if len(self.votes) == 0:
                            break
                        self.votes[row, self.label[rule]] += self.confidence[rule]
                        word &= word - _ONE
                    if len(self.votes) == 0 and self.answer[row] >= 0:
                        break


def answers_of(table: Any, rules: Any, blocks: list[Block], workers: int, *, votes: bool = False) -> Any:
    """Return the first rule that holds for each row, the number of rules where none does; and the votes, if asked for.

    The votes of a row are (classes,) sums of the confidences of the rules that hold, by what they say.
    """
    answer = np.full(table.n_rows, -1, np.int64)
    totals = np.zeros((table.n_rows, rules.n_classes) if votes else (0, 0))
    for first, cells in table.row_blocks():
        threads = workers if cells.n_rows >= _SERIAL else 1
        rows = slice(first, first + cells.n_rows)
        for block in blocks:
            found = per_worker(threads, len(block.whole), np.uint64, 0)
            counter, own = np.zeros(1, np.int64), totals[rows]
            task = MatchRules(cells, block, rules.label, rules.confidence, answer[rows], own, found, counter)
            launch_heeding(task, threads, cells.n_rows * len(block.whole) * _STEPS_A_WORD)
    answer[answer < 0] = rules.n_rules
    return answer, totals
