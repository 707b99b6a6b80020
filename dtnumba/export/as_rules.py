"""A model as rules of if and then, in text that ``from_text`` reads back."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.export.languages.source import ExportedText
from dtnumba.export.reading import ExportError, ReadRules, read
from dtnumba.export.replay import AskedRows, Replies, known_rows
from dtnumba.rules.c50.make_rules import THOUSAND
from dtnumba.rules.c50.votes import UNDECIDED
from dtnumba.rules.layout import as_asked, holds
from dtnumba.rules.text import Words, read_rules, word
from dtnumba.rules.view import text_of_sets
from dtnumba.tables.cells import cells_of
from dtnumba.tables.floats import BETWEEN_VALUES
from dtnumba.tables.table import Table
from dtnumba.trees.layout import BY_SHARE
from dtnumba.trees.with_sums import sums_from, with_sums

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from dtnumba.rules.text import Said
    from dtnumba.tables.floats import AtFloats, Between
    from dtnumba.trees.layout import Trees

_HELD = 256  # columns of rows that are held at once


class RulesText(ExportedText):
    """Rules as sentences."""

    cuts_at: Between | AtFloats = BETWEEN_VALUES
    by_votes = False
    n_sets = 0  # of rules of C5.0
    trees: Trees | None = None  # of which it says what they say of known values alone

    def takes(self, codes: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which rows it is about: not those that a tree sends down in parts or by surrogates."""
        return np.ones(len(codes), bool) if self.trees is None else known_rows(self.trees, codes)

    def _read(self, text: str) -> Said:
        """Return what sentences say."""
        return read_rules(text, Words(self.columns.names, self.columns.levels, self._classes, self.cuts_at))

    @property
    def _classes(self) -> list[str]:
        assert self.columns.classes is not None
        return [word(label) for label in self.columns.classes[0]]

    def _holding(self, said: Said, rows: AskedRows) -> Iterator[tuple[NDArray[np.bool_], int, dict[str, float]]]:
        """Yield of each rule for which rows it holds, its class and its numbers."""
        table, classes = with_sums(Table.block(cells_of(rows.codes)), sums_from(list(said.sums))), self._classes
        column = lru_cache(_HELD)(table.column)
        for body, label, numbers in zip(said.bodies, said.label, said.numbers, strict=True):
            is_in = np.ones(len(rows.codes), bool)
            for test in as_asked(body, self.cuts_at, table.bits):
                is_in &= holds(test, column(test.feature))
            yield is_in, classes.index(label), numbers

    def run(self, rows: AskedRows) -> Replies:
        """Read the sentences, and ask them."""
        if self.n_sets:
            return self._run_sets(rows)
        said, classes, n = self._read(self), self._classes, len(rows.codes)
        codes, votes = np.full(n, -1), np.zeros((n, len(classes)))
        for is_in, k, numbers in self._holding(said, rows):
            codes = np.where(is_in & (codes < 0), k, codes)
            votes[is_in, k] += numbers.get("confidence", 1.0)
        is_open = codes < 0
        if self.by_votes:
            codes = votes.argmax(axis=1)
        return Replies(np.where(is_open, classes.index(said.default), codes)[:, None], None)

    def _run_sets(self, rows: AskedRows) -> Replies:
        """Read sets of rules, each of which ends with what answers where none holds, and let them vote as C5.0's do."""
        parts = re.split(r"(?m)^(?=# trial \d+$)", self)[-self.n_sets :]
        n, k_classes = len(rows.codes), len(self._classes)
        totals = np.zeros((n, k_classes))
        for part in parts:
            said = self._read(part)
            found = list(self._holding(said, rows))
            votes, first = np.zeros((n, k_classes), np.int64), np.zeros((n, k_classes), np.int64)
            n_hold, row = np.zeros(n, np.int64), np.arange(n)
            for is_in, k, numbers in sorted(found, key=lambda rule: rule[2]["covers"]):
                vote = math.floor(THOUSAND * numbers["confidence"] + 0.5)
                votes[is_in, k] += vote
                first[is_in & (first[:, k] == 0), k] = vote
                n_hold += is_in
            is_open = votes.max(axis=1, initial=0) == 0
            code = np.where(is_open, self._classes.index(said.default), votes.argmax(axis=1))
            sure = np.maximum(first[row, code], votes[row, code] / np.maximum(n_hold, 1)) / THOUSAND
            totals[row, code] += np.where(is_open, UNDECIDED, sure)
        return Replies(totals.argmax(axis=1)[:, None], None)


def rules(model: Any, digits: int | None = 3) -> RulesText:
    """Return a tree or a model of rules as sentences, a rule a line.

    Parameters
    ----------
    model : fitted classifier of one tree, RuleSetClassifier or DecisionListClassifier
        What to write. Where a tree sends rows down in parts or by surrogates, the rules are about all others.
    digits : int or None
        Of coverage, confidence and lift; None: all. Bounds are always exact.

    Examples
    --------
    >>> from dtnumba import DecisionTreeClassifier, export
    >>> tree = DecisionTreeClassifier().fit([["sun"], ["rain"], ["fog"]], ["go", "stay", "stay"])
    >>> print(export.rules(tree.to_rules()), end="")
    if x0 is sun then go [covers 1, correct 1, confidence 0.25, lift 0.75]
    if x0 is not sun (or missing) then stay [covers 2, correct 2, confidence 0.5, lift 0.75]
    otherwise stay

    """
    if isinstance(getattr(model, "rules_", None), list):
        return _of_sets(model, digits)
    if hasattr(model, "soft_cuts_") or len(getattr(model, "bayes_leaves_", ())):
        read(model)  # says why not
    if getattr(model, "trees_vote", False):
        raise ExportError(
            f"rules: this {type(model).__name__} answers by the votes of {model.trees_.n_trees} trees; fit it with "
            "rules=True, or write one of model.estimators_"
        )
    made = model if hasattr(model, "to_text") else None
    if made is None and hasattr(model, "to_rules"):
        made = model.to_rules()
    if made is None:
        raise TypeError(f"model={model!r}: must be a fitted tree that says classes, or a model of rules")
    text, found = RulesText(made.to_text(digits)), read(made, rule_sums=True)
    assert isinstance(found, ReadRules)
    text.columns = found.columns._replace(row_types=(np.dtype(np.float64), np.dtype(np.float32)))
    text.cuts_at, text.by_votes = made.rules_.arrays.cuts_at, found.by_votes
    if made is not model and not hasattr(model, "rules_"):
        trees: Trees = model.trees_
        text.trees = trees if trees.policy == BY_SHARE or len(trees.surrogates.feature) else None
    return text


def _of_sets(model: Any, digits: int | None) -> RulesText:
    """Return rules of C5.0, of several trials a set behind the other."""
    found = read(model)
    text = RulesText(text_of_sets(model.rules_, digits))
    text.columns = found.columns._replace(row_types=(np.dtype(np.float64), np.dtype(np.float32)))
    text.cuts_at, text.n_sets = model.rules_[0].arrays.cuts_at, len(model.rules_)
    return text
