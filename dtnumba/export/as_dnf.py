"""A model as one formula a class, in disjunctive normal form."""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.export.languages.voters import refuse_voting_rules
from dtnumba.export.reading import ExportError, read
from dtnumba.export.replay import AskedRows, Replies, known_rows
from dtnumba.rules.layout import LEVELS, OUTSIDE, RANGE, Condition, as_asked, holds, merged
from dtnumba.rules.paths import labelled_paths, sums_of_paths
from dtnumba.rules.text import Words, names_of, sentence
from dtnumba.tables.cells import cells_of
from dtnumba.tables.table import Table, read_table
from dtnumba.trees.with_sums import n_sums_of, terms_of, with_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.export.reading import Columns
    from dtnumba.rules.dnf import Literal, Space
    from dtnumba.tables.floats import AtFloats, Between
    from dtnumba.tables.table import Seen
    from dtnumba.trees.layout import Trees
    from dtnumba.trees.linear import AxisTests, LinearTests

_HELD = 256  # columns of rows that are held at once


class Formula(str):
    """An "or" of "and"s as text, which can be asked about rows.

    Attributes
    ----------
    terms : tuple of tuple of str
        The tests of each term.
    bodies : list of list of Condition
        The same as data.
    seen : Seen
        The columns.
    cuts_at : Between or AtFloats
        Whether bounds lie between values of the table, as of Trees.
    linear : LinearTests or AxisTests
        The sums that are tested as columns behind these.
    columns, trees : Columns, Trees
        What it was made of.
    k : int
        The place of its class.

    """

    __slots__ = ("bodies", "columns", "cuts_at", "k", "linear", "seen", "terms", "trees")
    terms: tuple[tuple[str, ...], ...]
    bodies: list[list[Condition]]
    seen: Seen
    cuts_at: Between | AtFloats
    linear: AxisTests | LinearTests
    columns: Columns
    k: int
    trees: Trees

    def takes(self, codes: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which rows it is about: those without missing values, and without levels that a node did not meet."""
        return known_rows(self.trees, codes)

    def run(self, rows: AskedRows) -> Replies:
        """Return for each row whether it holds, as 0 or 1."""
        return Replies(self.holds(Table.block(cells_of(rows.codes))).astype(np.int64)[:, None], None)

    def holds(self, X: Any) -> NDArray[np.bool_]:
        """Return for each row whether the formula holds; a missing value fails every test."""
        table = with_sums(X if type(X) is Table else read_table(X, "Formula", self.seen), self.linear)
        found = np.zeros(table.n_rows, bool)
        column = lru_cache(_HELD)(table.column)
        for body in self.bodies:
            is_in = np.ones(table.n_rows, bool)
            for test in as_asked(body, self.cuts_at, table.bits):
                is_in &= holds(test, column(test.feature))
            found |= is_in
        return found


def dnf(model: Any, class_: Any) -> Formula:
    """Return when a tree says a class, as an "or" of "and"s over its tests.

    Parameters
    ----------
    model : fitted classifier of one tree
        Grown as it may be. The formula is about rows without missing values, and without levels that a node did not
        meet where these are parted as missing values are.
    class_ : label
        One of ``model.classes_``.

    Returns
    -------
    Formula
        A str; ``terms`` holds the terms, and ``holds(X)`` tells of which rows it is true. Of trees of up to twelve
        different tests it has the fewest terms, and of these the shortest (a search that would take long ends with the
        best found). Of larger ones no test of a term and no term can be left out.

    Examples
    --------
    >>> import numpy as np
    >>> from dtnumba import DecisionTreeClassifier, export
    >>> X = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)])
    >>> tree = DecisionTreeClassifier().fit(X, X[:, 0] & X[:, 1] | X[:, 2])
    >>> print(export.dnf(tree, 1))
    (x2 > 0.5) or (x0 > 0.5 and x1 > 0.5)

    """
    from dtnumba.rules.dnf import computes, shortest, space_of

    refuse_voting_rules(model, "dnf")
    if getattr(model, "trees_vote", False):
        raise ExportError(
            f"dnf: this {type(model).__name__} answers by the votes of {model.trees_.n_trees} trees; write one of "
            "model.estimators_, which are trees"
        )
    paths = labelled_paths(model)
    if not isinstance(class_, Hashable):
        raise TypeError(f"class_={class_!r}: must be one label, of {model.classes_.tolist()[:10]}")
    alike = [k for k, label in enumerate(model.classes_.tolist()) if label == class_]
    wanted = [k for k in alike if type(model.classes_.tolist()[k]) is type(class_)] or alike
    if not wanted:
        raise ValueError(f"class_={class_!r}: is none of the model's classes {model.classes_.tolist()[:10]}")
    seen = model.columns_seen
    levels: list[Any] = [None] * seen.n_features if seen.levels is None else list(seen.levels)
    bodies = [tuple(test._replace(missing=False) for test in path.tests) for path in paths]
    bodies, labels = _in_ranges(bodies, [path.k for path in paths])
    space, terms = space_of(bodies, lambda j: len(levels[j]))
    positive = [term for term, k in zip(terms, labels, strict=True) if k == wanted[0]]
    negative = [term for term, k in zip(terms, labels, strict=True) if k != wanted[0]]
    found = shortest(space, positive, negative)
    assert computes(space, found, positive, negative), "the formula is the tree"
    linear = sums_of_paths(model.trees_)
    sums = [terms_of(linear, k) for k in range(n_sums_of(linear))]
    words = Words(names_of(seen.n_features, seen.names), levels, None, model.trees_.cuts_at, sums)
    formula = _formula(space, found, seen, words)
    formula.linear = linear
    formula.columns = read(model, sums=True).columns._replace(row_types=(np.dtype(np.float64), np.dtype(np.float32)))
    formula.k, formula.trees = wanted[0], model.trees_
    return formula


def _in_ranges(bodies: list[tuple[Condition, ...]], labels: list[int]) -> tuple[list[tuple[Condition, ...]], list[int]]:
    """Return paths with each test outside a range as two paths, and their classes; without those of missing values."""
    waiting = list(zip(bodies, labels, strict=True))[::-1]
    found = []
    while waiting:
        body, k = waiting.pop()
        if any(_is_never(test) for test in body):
            continue
        at = next((i for i, test in enumerate(body) if test.kind == OUTSIDE), None)
        if at is None:
            found.append((body, k))
            continue
        test = body[at]
        sides = (Condition(test.feature, RANGE, test.high, np.inf), Condition(test.feature, RANGE, np.nan, test.low))
        waiting += [((*body[:at], side, *body[at + 1 :]), k) for side in sides]
    return [body for body, _ in found], [k for _, k in found]


def _is_never(test: Condition) -> bool:
    return not test.levels if test.kind == LEVELS else test.kind == RANGE and test.low == np.inf


def _formula(space: Space, terms: list[list[Literal]], seen: Seen, words: Words) -> Formula:
    bodies = [merged([_test(space, v, sign=sign) for v, sign in term]) for term in terms]
    outcomes = tuple(tuple(sentence(test, words) for test in body) for body in bodies)
    text = " or ".join(f"({' and '.join(term)})" if term else "anything" for term in outcomes)
    formula = Formula(text or "nothing")
    formula.terms, formula.bodies, formula.seen, formula.cuts_at = outcomes, bodies, seen, words.cuts_at
    return formula


def _test(space: Space, v: int, *, sign: bool) -> Condition:
    """Return a variable, or its opposite, as a test."""
    variable = space.variables[v]
    if variable.levels is not None:
        own = set(variable.levels)
        chosen = tuple(k for k in range(space.places[variable.feature]) if (k in own) == sign)
        return Condition(variable.feature, LEVELS, levels=chosen)
    if sign:
        return Condition(variable.feature, RANGE, np.nan, variable.cut)
    return Condition(variable.feature, RANGE, variable.cut, np.inf)
