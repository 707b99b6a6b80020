"""Trees as indented text, one line a node, and in the styles of other programs."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.export.languages.voters import ReadVoters
from dtnumba.export.reading import ExportError, Nodes, ReadTrees, codes_of, read
from dtnumba.export.text_styles.printed import Printed, formula, plain, term_names
from dtnumba.rules.paths import test_of
from dtnumba.rules.text import Words, sentence, word
from dtnumba.rules.view import text_of_sets
from dtnumba.trees.layout import last_children, node_values

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from dtnumba.export.reading import SumTerm


STYLES = ("outline", "rpart", "weka", "c50")
OUTLINE_LEVELS = 12  # that a line names
SHOWN_CLASSES = 4
ROWS_COLUMN = 48  # where the number of rows stands, if the conditions leave room


def _contents(value: NDArray[Any], classes: Sequence[object] | None) -> str:
    """Say what a node holds: its mean, or its classes with their shares, the largest shares first if not all fit."""
    if classes is None:
        return f"mean {float(value[0]):.6g}"
    shown = list(range(len(classes)))
    if len(classes) > SHOWN_CLASSES:
        shown = np.argsort(-value, kind="stable")[:SHOWN_CLASSES].tolist()
    parts = [f"{classes[k]} {float(value[k]):.0%}" for k in shown]
    if len(classes) > SHOWN_CLASSES:
        parts.append(f"{len(classes) - SHOWN_CLASSES} more")
    return ", ".join(parts)


class Told:
    """The nodes of trees in words, for outlines and graphs.

    Parameters
    ----------
    found : ReadTrees
        The trees.
    model : fitted estimator
        The model that they are of.
    names : sequence of str, optional
        What columns are called; by default as in ``fit``.
    max_levels : int, optional
        How many levels of a category are named before the others are counted; by default all.
    has_missing : array of shape (columns,), optional
        Of which columns it is said where missing values go; by default of all.

    """

    def __init__(
        self,
        found: ReadTrees,
        model: Any,
        names: Sequence[str] | None = None,
        max_levels: int | None = None,
        has_missing: NDArray[np.bool_] | None = None,
    ) -> None:
        self._has_missing = has_missing
        self.found, self._trees, self._last = found, model.trees_, last_children(found.trees)
        self._value, self._rule, self._most = node_values(self._trees), model.label_rule, max_levels
        levels = found.columns.levels
        self._words = Words(found.columns.names if names is None else list(names), levels, None, self._trees.cuts_at)
        self._n_levels = [0 if own is None else len(own) for own in levels]
        self._nodes = Nodes(self._trees)
        rows = self._trees.n_samples
        self._is_weighed = len(rows) > 0 and not np.allclose(self._trees.weight, rows, rtol=1e-9)

    def roots(self, tree: int | None) -> list[int]:
        """Return the root of a tree, or of all."""
        roots: list[int] = self._trees.root[:-1].tolist()
        if tree is None:
            return roots
        if not (isinstance(tree, (int, np.integer)) and not isinstance(tree, bool) and 0 <= tree < len(roots)):
            raise ValueError(f"tree={tree!r}: must be the number of a tree, from 0 to {len(roots) - 1}")
        return [roots[int(tree)]]

    def children(self, node: int) -> list[int]:
        """Return the children of a node."""
        first = int(self._trees.left[node])
        return list(range(first, int(self._last[node]) + 1)) if first >= 0 else []

    def joined(self, place: int) -> int:
        """Return the node that a place joins, -1 where it is a node of its own."""
        return int(self._trees.join[place]) if self._trees.is_graph else -1

    @cached_property
    def marks(self) -> dict[int, str]:
        """What nodes are called to which several others lead."""
        joins = self._trees.join[self._trees.join >= 0] if self._trees.is_graph else []
        return {int(node): f"[{k}]" for k, node in enumerate(sorted(set(joins)), 1)}

    def column(self, node: int) -> str:
        """Return the name of the column that a node tests, or the formula of a sum."""
        names = self._words.names
        if self._terms(node):
            test, levels = self._nodes.test(node), self.found.columns.levels
            said = [None if own is None else [word(plain(level)) for level in own] for own in levels]
            return formula(test.terms, term_names(test, list(map(word, names)), said), self._most)
        return word(names[int(self._trees.feature[node])])

    def condition(self, node: int, child: int, *, named: bool = True) -> str:
        """Return what a row passes from a node to its child, with the name of the column or without."""
        test, name = test_of(self._trees, node, child, self._n_levels.__getitem__), self.column(node)
        terms = self._terms(node)
        own, more = self._trees.surrogates.start, ""
        if len(self._trees.share) and self._trees.share[child] > 0:
            more = f" (missing: {float(self._trees.share[child]):.0%} of the row)"
        elif len(own) > 1 and own[node] < own[node + 1]:
            test, more = test._replace(missing=False), " (missing: by surrogates)"
        if self._has_missing is not None:
            columns = [term.column for term in terms] or [test.feature]
            test = test._replace(missing=test.missing and bool(self._has_missing[columns].all()))
            more = more if self._has_missing[columns].any() else ""
        if terms:
            has_level = max(self._nodes.test(node).term_levels, default=-1) >= 0  # then the sum is never missing
            test = test._replace(missing=test.missing and not has_level)
            sign = "<=" if child == self._trees.left[node] else ">"
            text = f"{name} {sign} {self._trees.threshold[node]:.4g}{' (or missing)' * test.missing}"
        else:
            text = sentence(test, self._words, self._most)
        return (text if named or not text.startswith(f"{name} ") else text[len(name) + 1 :]) + more

    def _terms(self, node: int) -> list[SumTerm]:
        return self._nodes.test(node).terms if self._trees.has_sums else []

    def rows(self, node: int) -> str:
        """Return how many rows a node had, "" where that is not known."""
        if self._trees.is_compact:
            return ""
        n = int(self._trees.n_samples[node])
        return f"{n:,} row{'s' * (n != 1)}"

    def weight(self, node: int) -> str:
        """Return what the rows of a node weigh, "" where each row of the tree counts one."""
        return f", weight {float(self._trees.weight[node]):.6g}" if self._is_weighed else ""

    def label(self, node: int) -> str:
        """Return the label of least cost, "" where it is the commonest class."""
        classes = self.found.columns.classes
        if self._rule is None or classes is None or (self._trees.is_compact and self.children(node)):
            return ""
        codes = codes_of(np.asarray(self._value[node])[None], self.found.columns.sizes, self._rule)[0]
        return " -> " + ", ".join(str(own[code]) for own, code in zip(classes, codes.tolist(), strict=True))

    def n_below(self, node: int) -> int:
        """Return how many nodes hang below a node."""
        n, level = 0, [node]
        while level:
            level = [child for one in level if self.joined(one) < 0 for child in self.children(one)]
            n += len(level)
        return n

    def contents(self, node: int) -> str:
        """Return what a node holds, of each output; "" of an inner node of compact trees."""
        if self._trees.is_compact and self.children(node):
            return ""
        row, sizes, classes = np.asarray(self._value[node]), self.found.columns.sizes, self.found.columns.classes
        parts = np.split(row, np.cumsum(sizes)[:-1])
        return "; ".join(_contents(part, None if classes is None else classes[o]) for o, part in enumerate(parts))


def text(
    model: Any,
    style: str = "outline",
    max_depth: int | None = None,
    tree: int = 0,
    *,
    feature_names: Sequence[str] | None = None,
    max_levels: int | None = None,
    digits: int | None = None,
) -> str:
    """Return a tree as text, a line a node or a branch; rules as sentences.

    Where branches of a decision graph join, a line says at which mark they go on.

    Parameters
    ----------
    model : fitted estimator
        Of trees or rules.
    style : "outline", "rpart", "weka" or "c50"
        Children under their parent, of any tree; or the very lines that R's rpart prints (of two children a node),
        Weka's J48 (of classes) or C5.0 (of classes).
    max_depth : int, optional
        How many tests deep to go, and then to say how much is below; by default all.
    tree : int
        The number of a tree of a forest.
    feature_names : sequence of str, optional
        What columns are called; by default as in ``fit``.
    max_levels : int, optional
        How many levels of a category a line names before it counts the others: by default 12, in other styles 64.
    digits : int, optional
        Significant digits of ``style="rpart"``, by default 7 as in R.

    Examples
    --------
    >>> from dtnumba import DecisionTreeRegressor, export
    >>> tree = DecisionTreeRegressor().fit([[1.0], [9.0]], [2.0, 3.0])
    >>> print(export.text(tree), end="")
    all rows                                                 2 rows  mean 2.5
      x0 <= 5.0                                               1 row  mean 2
      x0 > 5.0 (or missing)                                   1 row  mean 3
    >>> export.text(tree, "rpart").splitlines()[-3:]
    ['1) root 2 0.5 2.5  ', '  2) x0< 5 1 0.0 2.0 *', '  3) x0>=5 1 0.0 3.0 *']

    """
    if style not in STYLES:
        raise ValueError(f"style={style!r}: must be one of {', '.join(map(repr, STYLES))}")
    check_whole("max_depth", max_depth, 0, "a number of tests of 0 or more, or None")
    check_whole("max_levels", max_levels, 1, "a number of levels of 1 or more, or None")
    check_whole("digits", digits, 1, "a number of digits of 1 or more, or None")
    if digits is not None and style != "rpart":
        raise ValueError(f"digits={digits!r}: style={style!r} says itself how many digits there are; leave digits out")
    if hasattr(model, "splines_") and style == "outline":
        from dtnumba.export.splines.in_text import equations

        own = feature_names_of(feature_names, int(model.n_features_in_))
        return "\n".join(equations(model, own, 7)) + "\n"
    found = read(model, says_soft=style == "c50", sums=style != "c50", says_rows=True, indicators=True)
    if isinstance(found, ReadVoters):
        if style == "c50":
            from dtnumba.export.text_styles.c50_summary import rules_in_style

            return rules_in_style(model)
        if style == "outline":
            return text_of_sets(model.rules_, 3)
    if not isinstance(found, ReadTrees):
        if style != "outline":
            raise ExportError(
                f"text: {type(model).__name__} holds rules, and style={style!r} is one of trees; "
                'write them by style="outline", or print the tree that they are of'
            )
        return str(model.rules_) + "\n"
    names = feature_names_of(feature_names, len(found.columns.names))
    if style != "outline":
        printed = Printed(found, model, tree, names)
        if style == "c50":
            from dtnumba.export.text_styles.c50 import c50

            return c50(printed, max_depth, max_levels, tree)
        return _in_style_of(printed, style, max_depth, max_levels, digits)
    told = Told(found, model, names, OUTLINE_LEVELS if max_levels is None else max_levels)
    return "\n".join(outline(told, tree, max_depth)) + "\n"


def outline(told: Told, tree: int, max_depth: int | None) -> Iterator[str]:
    """Yield a line for each node of a tree down to a depth, children under their parent."""
    waiting = [(told.roots(tree)[0], 0, "all rows")]
    while waiting:
        node, depth, condition = waiting.pop()
        joined = told.joined(node)
        if joined >= 0:  # drawn once, where it is marked
            condition += f": goes on at {told.marks[joined]}"
        elif node in told.marks:
            condition += f"  {told.marks[node]}"
        children = told.children(node) if joined < 0 else []
        is_cut = bool(children) and max_depth is not None and depth >= max_depth
        held = plain(f"{told.contents(node)}{told.weight(node)}{told.label(node)}")  # on one line
        line = f"{'  ' * depth + condition:<{ROWS_COLUMN}} {told.rows(node):>14}  {held}"
        yield line.rstrip() + (f"  ... {told.n_below(node):,} nodes below" if is_cut else "")
        if not is_cut:
            waiting += reversed([(child, depth + 1, told.condition(node, child)) for child in children])


def _in_style_of(
    printed: Printed, style: str, max_depth: int | None, max_levels: int | None, digits: int | None
) -> str:  # fmt: skip
    if style == "rpart":
        from dtnumba.export.text_styles.rpart import rpart

        return rpart(printed, max_depth, max_levels, 7 if digits is None else digits)
    from dtnumba.export.text_styles.weka import weka

    return weka(printed, max_depth, max_levels)


def check_whole(name: str, value: Any, least: int, rule: str) -> None:
    """Raise where a value is neither None nor a whole number of so much or more."""
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if value is not None and not (is_whole and value >= least):
        raise ValueError(f"{name}={value!r}: must be {rule}")


def feature_names_of(names: Sequence[str] | None, n: int) -> list[str] | None:
    """Return the names that a caller gives to the columns, checked."""
    if names is None:
        return None
    if isinstance(names, (str, bytes)) or not hasattr(names, "__iter__"):
        raise TypeError(f"feature_names={names!r}: must be a sequence of names, one for each of the {n} columns")
    given = [str(name) for name in names]
    if len(given) != n:
        raise ValueError(f"feature_names has {len(given)} names, and the model has {n} columns; pass {n}")
    return given
