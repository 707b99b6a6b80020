"""What a fitted C5.0 says of rows: one tree, one set of rules, or trials that vote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.prediction.confident_votes import shares_of_votes, votes_of_soft_trees, votes_of_trees
from dtnumba.prediction.fractional import probabilities_of
from dtnumba.prediction.voting_row import VotingRow
from dtnumba.rules.c50.one_row import RulesRow
from dtnumba.rules.c50.votes import RulesSay, Voters, said_of, voters_of
from dtnumba.tables.table import Table, plain_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.rules.layout import Rules
    from dtnumba.trees.layout import Trees

_FLOATS = {np.dtype(np.float32), np.dtype(np.float64)}


class C50Answers:
    """Answers of a model, apart from its parameters; ``answers(row)`` are those of one row.

    Parameters
    ----------
    trees : Trees or None
        The tree of each trial; rules answer without.
    rules : list of Rules
        The rules of each trial, none where trees answer.
    n_features : int
        Columns of the table they were made of.
    soft : array of shape (nodes, 3), optional
        Of the nodes of all trees, their soft cuts; see ``prediction.fractional.MixLeaves``.

    """

    def __init__(
        self,
        trees: Trees | None,
        rules: list[Rules],
        n_features: int,
        soft: NDArray[np.float64] | None = None,
    ) -> None:
        self._trees, self.rules, self.n_features, self.soft = trees, rules, n_features, soft
        self._voters: dict[Any, list[Voters]] = {}  # by the bits of the rows
        self._trees_of_row: dict[int, VotingRow] = {}
        self._rules_of_row: dict[int, RulesRow] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what cannot be derived."""
        return C50Answers, (self._trees, self.rules, self.n_features, self.soft)

    @property
    def trees(self) -> Trees:
        """The tree of each trial."""
        assert self._trees is not None, "trees answer, or were asked for"
        return self._trees

    @property
    def _are_many(self) -> bool:
        return len(self.rules) > 1 if self.rules else self.trees.n_trees > 1

    def _said(self, table: Table, workers: int) -> list[RulesSay]:
        if table.bits not in self._voters:
            self._voters[table.bits] = [voters_of(own, table.bits) for own in self.rules]
        return [said_of(table, own, workers) for own in self._voters[table.bits]]

    def _votes(self, table: Table, workers: int) -> NDArray[np.float64]:
        """Return what trials vote for: each the class it says, by as much as it is sure."""
        if self.soft is not None:
            return np.asarray(votes_of_soft_trees(table, self.trees, self.soft, workers))
        if not self.rules:
            return np.asarray(votes_of_trees(table, self.trees, workers))
        votes = np.zeros((table.n_rows, self.rules[0].n_classes))
        for said in self._said(table, workers):
            votes[np.arange(table.n_rows), said.label] += said.sure()
        return votes

    def shares(self, table: Table, workers: int) -> NDArray[np.float64]:
        """Return the probability of each class for every row; of trials, the share of their votes."""
        if self._are_many:
            return np.asarray(shares_of_votes(self._votes(table, workers)))
        if not self.rules:
            return np.asarray(probabilities_of(table, self.trees, workers, soft=self.soft))
        return np.asarray(self._said(table, workers)[0].shares())

    def codes(self, table: Table, workers: int, rule: Any) -> NDArray[np.int64]:
        """Return the class of every row; of a single tree that of least cost, by ``rule``, if there are costs."""
        if self._are_many:
            return np.asarray(self._votes(table, workers).argmax(axis=1))
        if self.rules:
            return self._said(table, workers)[0].label
        shares = probabilities_of(table, self.trees, workers, soft=self.soft)
        return np.asarray(shares.argmax(axis=1) if rule is None else rule.codes(shares))

    def __call__(self, row: NDArray[Any], out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Return the probabilities of one row of floats, categories as the numbers of their levels.

        Parameters
        ----------
        row : array of shape (features,)
            float32 or float64, each answered as ``predict_proba`` answers it; NaN is a missing value. Other types
            become float64. Only its length is checked.
        out : float64 array of shape (classes,), optional
            Where to write them, without gaps; a new array otherwise.

        """
        is_float = type(row) is np.ndarray and row.dtype in _FLOATS
        if not (is_float and row.flags.c_contiguous and row.flags.behaved):
            given = np.asarray(row)
            row = np.array(given, np.float32 if given.dtype == np.float32 else np.float64)
        if row.shape != (self.n_features,):
            raise ValueError(f"row has shape {row.shape}: pass one row of {self.n_features} numbers")
        if out is not None:
            self._check_out(out)
        bits = 8 * row.itemsize
        if self.soft is not None and not self.rules:
            table = plain_table(row[None], self.n_features)
            assert table is not None, "one row of floats is a table"
            return self._written(self.shares(table, 1)[0], out)
        if not self.rules:
            if bits not in self._trees_of_row:
                self._trees_of_row[bits] = VotingRow(self.trees, bits)
            return np.asarray(self._trees_of_row[bits](row, out))
        if bits not in self._rules_of_row:
            self._rules_of_row[bits] = RulesRow(self.rules, bits)
        said = self._rules_of_row[bits](row)
        if self._are_many:
            votes = np.zeros((1, self.rules[0].n_classes))
            np.add.at(votes[0], said.label, said.sure())
            shares = shares_of_votes(votes)[0]
        else:
            shares = said.shares()[0]
        return self._written(shares, out)

    @staticmethod
    def _written(shares: NDArray[np.float64], out: NDArray[np.float64] | None) -> NDArray[np.float64]:
        if out is None:
            return np.asarray(shares)
        out[:] = shares
        return out

    def _check_out(self, out: Any) -> None:
        n = self.rules[0].n_classes if self.rules else self.trees.value.shape[1]
        if len(out) != n:
            raise ValueError(f"out has room for {len(out)} numbers, and the answer has {n}")
        if type(out) is not np.ndarray or out.dtype != np.float64 or out.ndim != 1 or not out.flags.behaved:
            raise ValueError("out must be a writable float64 array of one axis, or None for a new one")
