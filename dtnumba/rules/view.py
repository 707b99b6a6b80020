"""Fitted rules as a sequence of sentences, and the way of rows through them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.rules.layout import Rules, body_of, check
from dtnumba.rules.matching import Block, answers_of, blocks_of
from dtnumba.rules.text import Words, last_line, line_of, names_of, sentence, word
from dtnumba.runtime.tasks import n_workers
from dtnumba.trees.records import Records, records
from dtnumba.trees.with_sums import n_sums_of, terms_of, with_sums

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from dtnumba.tables.table import Table


class Rule(NamedTuple):
    """One rule.

    Attributes
    ----------
    tests : tuple of str
        What it asks, one column or one sum each but for a column that a range is cut out of.
    label : object
        The class that it says.
    covered, correct : float
        Weight of the rows of ``fit`` for which it holds, and of those of its class.
    confidence : float
        Share of its rows that is expected to be of its class.
    lift : float
        Confidence over the share of its class among all rows.
    text : str
        The rule as a sentence.

    """

    tests: tuple[str, ...]
    label: Any
    covered: float
    correct: float
    confidence: float
    lift: float
    text: str

    def __str__(self) -> str:
        """Return the sentence."""
        return self.text


def text_of_sets(sets: list[RuleList], digits: int | None) -> str:
    """Return sets of rules as sentences, a line each; of several sets each under a line that counts them."""
    heads = [f"# trial {t}\n" if len(sets) > 1 else "" for t in range(len(sets))]
    return "\n".join(head + "\n".join(own.lines(digits)) + "\n" for head, own in zip(heads, sets, strict=True))


class RuleList:
    """Rules in the order in which they are asked; ``str`` writes them a line each.

    Parameters
    ----------
    arrays : Rules
        The layout to show.
    names : array of str or None
        Names of the columns.
    levels : sequence of array or None
        Levels of the columns that are categories.
    classes : array
        The labels.
    n_features : int
        Number of columns.

    """

    def __init__(
        self, arrays: Rules, names: NDArray[Any] | None, levels: Any, classes: NDArray[Any], n_features: int
    ) -> None:
        self.arrays = check(arrays, n_features)
        self.classes = classes
        self._given = (names, levels, n_features)
        self._blocks: dict[Any, list[Block]] = {}  # by the bits of the rows

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what cannot be derived."""
        names, levels, n_features = self._given
        return RuleList, (self.arrays, names, levels, self.classes, n_features)

    @property
    def words(self) -> Words:
        """The words for columns, categories and classes in sentences."""
        names, levels, n_features = self._given
        classes = [word(label) for label in self.classes.tolist()]
        shown = [None] * n_features if levels is None else levels
        sums = [terms_of(self.arrays.linear, k) for k in range(n_sums_of(self.arrays.linear))]
        return Words(names_of(n_features, names), shown, classes, self.arrays.cuts_at, sums)

    @property
    def default(self) -> Any:
        """The class that answers where no rule holds."""
        return self.classes[self.arrays.default]

    def __len__(self) -> int:
        """Return the number of rules, without the default."""
        return self.arrays.n_rules

    def __getitem__(self, r: int) -> Rule:
        """Return one of the rules."""
        rules, n = self.arrays, len(self)
        if not -n <= r < n:
            raise IndexError(f"there is no rule {r}: there are {n}")
        r %= n
        tests = tuple(sentence(test, self.words) for test in body_of(rules, r))
        return Rule(
            tests,
            self.classes[rules.label[r]],
            covered=float(rules.covered[r]),
            correct=float(rules.correct[r]),
            confidence=float(rules.confidence[r]),
            lift=float(rules.lift[r]),
            text=line_of(rules, r, self.words, 3),
        )

    def __iter__(self) -> Iterator[Rule]:
        """Return the rules one after another."""
        return map(self.__getitem__, range(len(self)))

    def lines(self, digits: int | None = 3) -> list[str]:
        """Return the sentences, the default last."""
        words = self.words
        lines = [line_of(self.arrays, r, words, digits) for r in range(len(self))]
        return [*lines, last_line(self.arrays, words)]

    def __str__(self) -> str:
        """Return the sentences, a line each."""
        return "\n".join(self.lines())

    def __repr__(self) -> str:
        """Say how many rules there are."""
        return f"<{len(self)} rules, otherwise {self.default!r}>"

    def to_records(self) -> Records:
        """Return the rules as a record array, a row a rule, the default last: it has no tests.

        Fields: ``rule`` (the sentence), ``label``, ``n_tests``, ``covered``, ``correct``, ``confidence``, ``lift``.
        ``to_frame()`` of it is a frame of pandas.
        """
        rules, lines = self.arrays, self.lines()
        n_tests = [len(body_of(rules, r)) for r in range(len(self))]
        numbers = {name: getattr(rules, name) for name in ("covered", "correct", "confidence", "lift")}
        return records(
            {
                "rule": [line.rpartition(" [")[0] for line in lines[:-1]] + lines[-1:],
                "label": self.classes[np.append(rules.label, rules.default)].tolist(),
                "n_tests": np.array([*n_tests, 0], np.int64),
                **{name: np.append(np.asarray(column, np.float64), np.nan) for name, column in numbers.items()},
            }
        )

    def answers(self, table: Table, n_jobs: int | None, *, votes: bool = False) -> Any:
        """Return which rule answers each row, and the votes of all that hold if they are asked for."""
        asked = with_sums(table, self.arrays.linear)
        if asked.bits not in self._blocks:
            self._blocks[asked.bits] = blocks_of(self.arrays, asked.bits)
        return answers_of(asked, self.arrays, self._blocks[asked.bits], n_workers(n_jobs), votes=votes)

    def shares(self) -> NDArray[np.float64]:
        """Return the shares of the classes that each rule, and then the default, stands for."""
        rules = self.arrays
        outcomes = np.append(rules.label, rules.default)
        total, prior = rules.decided.sum(axis=1, keepdims=True), rules.prior
        shares = np.divide(rules.decided, total, out=np.zeros_like(rules.decided), where=total > 0)
        for r in np.flatnonzero(total[:, 0] == 0):
            # No row tells: as sure as the rule is, and the other classes as common as they are
            if r == rules.n_rules:
                shares[r] = prior
                continue
            others = np.where(np.arange(rules.n_classes) == outcomes[r], 0.0, prior)
            sure = rules.confidence[r] if others.sum() > 0 else 1.0
            shares[r] = (1.0 - sure) * others / max(others.sum(), 1e-300)
            shares[r, outcomes[r]] = sure
        return np.asarray(shares)
