# mypy: ignore-errors
"""One row to what sets of rules say, all sets together: a call of a kernel for each thousand rules, without a task."""

import numpy as np

from dtnumba.rules.c50.make_rules import votes_of
from dtnumba.rules.c50.votes import RulesSay, by_cover
from dtnumba.rules.layout import body_of, pack_rules
from dtnumba.rules.matching import blocks_of, match
from dtnumba.runtime.instructions.bits import lowest_bit
from dtnumba.runtime.kernels import kernel
from dtnumba.tables.cells import Cells

_BITS = 64
_ONE, _ZERO = np.uint64(1), np.uint64(0)


@kernel
def count(block, rules, row, found, out):
    """Count of each set the rules of a block that hold for a row, and their votes; note the first of each class."""
    label, vote, owner = rules
    votes, first, n_hold = out
    n_columns = len(row)
    if not match(block, Cells(row, 0, n_columns, 1, 1, n_columns), 0, found):
        return
    for w in range(block.mask.shape[1]):
        word = found[w]
        while word != _ZERO:
            rule = block.first + w * _BITS + np.int64(lowest_bit(word))
            own, k = owner[rule], label[rule]
            votes[own, k] += vote[rule]
            if first[own, k] == 0:
                first[own, k] = vote[rule]
            n_hold[own] += 1
            word &= word - _ONE


class RulesRow:
    """Sets of rules as a function of one row of floats of so many bits, which answers as a table of a row a set would.

    Parameters
    ----------
    sets : list of Rules
        Of C5.0, of the same classes.
    bits : int
        Of the floats.

    """

    def __init__(self, sets, bits):
        orders = [by_cover(own.covered) for own in sets]
        joined = {
            name: np.concatenate([getattr(own, name)[at] for own, at in zip(sets, orders, strict=True)])
            for name in ("label", "covered", "correct", "confidence", "lift")
        }
        label, n = joined.pop("label"), sum(map(len, orders))
        numbers = {**joined, "prior": sets[0].prior, "decided": np.zeros((n + 1, sets[0].n_classes))}
        bodies = [body_of(own, int(r)) for own, at in zip(sets, orders, strict=True) for r in at]
        owner = np.repeat(np.arange(len(sets)), [len(at) for at in orders])
        self._blocks = blocks_of(pack_rules(bodies, label, 0, numbers, sets[0].cuts_at), bits)
        self._rules = label, votes_of(joined["covered"], joined["correct"]), owner
        self._default = np.array([own.default for own in sets], np.int64)
        self._shape = len(sets), sets[0].n_classes

    def __call__(self, row):
        """Return what each set says of a row."""
        votes, first = np.zeros(self._shape, np.int64), np.zeros(self._shape, np.int64)
        n_hold = np.zeros(len(self._default), np.int64)
        for block in self._blocks:
            count(block, self._rules, row, np.empty(len(block.whole), np.uint64), (votes, first, n_hold))
        return RulesSay(np.where(n_hold == 0, self._default, votes.argmax(axis=1)), first, votes, n_hold)
