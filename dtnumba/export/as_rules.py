"""A model as rules of if and then, in text that ``from_text`` reads back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.export.languages.source import ExportedText
from dtnumba.export.reading import ReadRules, read
from dtnumba.export.replay import AskedRows, Replies, known_rows
from dtnumba.rules.layout import as_asked, holds
from dtnumba.rules.text import Words, read_rules, word
from dtnumba.tables.floats import BETWEEN_VALUES, bits_of
from dtnumba.trees.layout import BY_SHARE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.tables.floats import AtFloats, Between
    from dtnumba.trees.layout import Trees


class RulesText(ExportedText):
    """Rules as sentences."""

    cuts_at: Between | AtFloats = BETWEEN_VALUES
    by_votes = False
    trees: Trees | None = None  # of which it says what they say of known values alone

    def takes(self, codes: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which rows it is about: not those that a tree sends down in parts or by surrogates."""
        return np.ones(len(codes), bool) if self.trees is None else known_rows(self.trees, codes)

    def run(self, rows: AskedRows) -> Replies:
        """Read the sentences, and ask them."""
        assert self.columns.classes is not None
        classes = [word(label) for label in self.columns.classes[0]]
        said = read_rules(self, Words(self.columns.names, self.columns.levels, classes, self.cuts_at))
        n, bits = len(rows.codes), bits_of(rows.codes.dtype)
        codes, votes = np.full(n, -1), np.zeros((n, len(classes)))
        columns = np.asarray(rows.codes, np.float64)
        for body, label, numbers in zip(said.bodies, said.label, said.numbers, strict=True):
            is_in = np.ones(n, bool)
            for test in as_asked(body, self.cuts_at, bits):
                is_in &= holds(test, columns[:, test.feature])
            k = classes.index(label)
            codes = np.where(is_in & (codes < 0), k, codes)
            votes[is_in, k] += numbers.get("confidence", 1.0)
        is_open = codes < 0
        if self.by_votes:
            codes = votes.argmax(axis=1)
        return Replies(np.where(is_open, classes.index(said.default), codes)[:, None], None)


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
    made = model if hasattr(model, "to_text") else None
    if made is None and hasattr(model, "to_rules"):
        made = model.to_rules()
    if made is None:
        raise TypeError(f"model={model!r}: must be a fitted tree that says classes, or a model of rules")
    text, found = RulesText(made.to_text(digits)), read(made)
    assert isinstance(found, ReadRules)
    text.columns = found.columns._replace(row_types=(np.dtype(np.float64), np.dtype(np.float32)))
    text.cuts_at, text.by_votes = made.rules_.arrays.cuts_at, found.by_votes
    if made is not model and not hasattr(model, "rules_"):
        trees: Trees = model.trees_
        text.trees = trees if trees.policy == BY_SHARE or len(trees.surrogates.feature) else None
    return text
