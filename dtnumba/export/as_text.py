"""Trees as indented text, one line a node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from dtnumba.export.reading import ReadRules, ReadTrees, read
from dtnumba.rules.paths import test_of
from dtnumba.rules.text import Words, sentence, word
from dtnumba.trees.layout import last_children, node_values

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray


OUTLINES = ("outline",)
SHOWN_CLASSES = SHOWN_LEVELS = 4
ROWS_COLUMN = 48  # where the number of rows stands, if the conditions leave room


class TreeColumns(Protocol):
    """What of `tree_` is read here."""

    feature: NDArray[Any]
    value: NDArray[Any]
    n_node_samples: NDArray[Any]
    missing_go_to_left: NDArray[Any]
    trees: Any  # with threshold, level_start and level: the numbers and the categories that go left

    def children(self, node: int) -> NDArray[Any]:
        """Return the children of a node, none of a leaf."""
        ...


def outline(
    tree: TreeColumns,
    names: Sequence[str],
    with_missing: NDArray[np.bool_],
    classes: Sequence[object] | None,
    categories: Sequence[Sequence[str] | None],
    levels: int = 3,
) -> Iterator[str]:
    """Yield a line for each node of the first `levels` levels below the root, children under their parent.

    Parameters
    ----------
    tree : TreeColumns
        The columns of a fitted tree.
    names : sequence of str
        The features' names.
    with_missing : (n_features,) bool
        Which features had missing values; only for them is said where missing values go.
    classes : sequence, optional
        The classes in the order of `tree.value`; None for a regression tree.
    categories : sequence of sequence of str or None
        The names of each feature's categories, in the order in which the tree numbers them; None of one of numbers.
    levels : int
        How deep to go.
    """
    stack = [(0, 0, "all rows")]
    while stack:
        node, level, condition = stack.pop()
        rows = f"{int(tree.n_node_samples[node]):,} rows"
        children = tree.children(node)
        inner = len(children) > 0
        more = "  ..." if inner and level == levels else ""
        yield f"{'  ' * level + condition:<{ROWS_COLUMN}} {rows:>14}  {_contents(tree.value[node, 0], classes)}{more}"
        if inner and level < levels:
            feature = int(tree.feature[node])
            own = categories[feature]
            cut, (left, right) = float(tree.trees.threshold[node]), children.tolist()
            ways = _sets(tree, node, own) if own is not None else (f"<= {cut:.6g}", f"> {cut:.6g}")
            left_too, right_too = "", ""
            if not ways:  # the test is whether there is a value
                ways = ("is missing", "has a value") if tree.missing_go_to_left[node] else ("has a value", "is missing")
            elif with_missing[feature]:
                left_too, right_too = (" or missing", "") if tree.missing_go_to_left[node] else ("", " or missing")
            stack.append((right, level + 1, f"{names[feature]} {ways[1]}{right_too}"))
            stack.append((left, level + 1, f"{names[feature]} {ways[0]}{left_too}"))


def _sets(tree: TreeColumns, node: int, names: Sequence[str]) -> tuple[str, str] | tuple[()]:
    start = tree.trees.level_start
    among = tree.trees.level[start[node] : start[node + 1]] if len(start) > 1 else []
    if len(among) == 0:
        return ()
    shown = [repr(names[k]) for k in among[:SHOWN_LEVELS]]
    if len(among) > SHOWN_LEVELS:
        shown.append(f"{len(among) - SHOWN_LEVELS} more")
    return f"in {', '.join(shown)}", f"not in {', '.join(shown)}"


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

    """

    def __init__(self, found: ReadTrees, model: Any) -> None:
        self.found, self._trees, self._last = found, model.trees_, last_children(found.trees)
        self._value = node_values(self._trees)
        levels = found.columns.levels
        self._words = Words(found.columns.names, levels, None, self._trees.cuts_at)
        self._n_levels = [0 if own is None else len(own) for own in levels]

    def roots(self, tree: int | None) -> list[int]:
        """Return the root of a tree, or of all."""
        roots: list[int] = self._trees.root[:-1].tolist()
        if tree is None:
            return roots
        if not (isinstance(tree, (int, np.integer)) and 0 <= tree < len(roots)):
            raise ValueError(f"tree={tree!r}: must be the number of a tree, from 0 to {len(roots) - 1}")
        return [roots[int(tree)]]

    def children(self, node: int) -> list[int]:
        """Return the children of a node."""
        first = int(self._trees.left[node])
        return list(range(first, int(self._last[node]) + 1)) if first >= 0 else []

    def column(self, node: int) -> str:
        """Return the name of the column that a node tests."""
        return word(self._words.names[int(self._trees.feature[node])])

    def condition(self, node: int, child: int, *, named: bool = True) -> str:
        """Return what a row passes from a node to its child, with the name of the column or without."""
        test, name = test_of(self._trees, node, child, self._n_levels.__getitem__), self.column(node)
        own, more = self._trees.surrogates.start, ""
        if len(self._trees.share) and self._trees.share[child] > 0:
            more = f" (missing: {float(self._trees.share[child]):.0%} of the row)"
        elif len(own) > 1 and own[node] < own[node + 1]:
            test, more = test._replace(missing=False), " (missing: by surrogates)"
        text = sentence(test, self._words)
        return (text if named or not text.startswith(f"{name} ") else text[len(name) + 1 :]) + more

    def rows(self, node: int) -> str:
        """Return how many rows a node had, "" where that is not known."""
        if self._trees.is_compact:
            return ""
        n = int(self._trees.n_samples[node])
        return f"{n:,} row{'s' * (n != 1)}"

    def contents(self, node: int) -> str:
        """Return what a node holds, of each output; "" of an inner node of compact trees."""
        if self._trees.is_compact and self.children(node):
            return ""
        row, sizes, classes = np.asarray(self._value[node]), self.found.columns.sizes, self.found.columns.classes
        parts = np.split(row, np.cumsum(sizes)[:-1])
        return "; ".join(_contents(part, None if classes is None else classes[o]) for o, part in enumerate(parts))


def text(model: Any, style: str = "outline", max_depth: int | None = None, tree: int = 0) -> str:
    """Return a tree as an outline, a line a node, children under their parent; rules as sentences.

    Parameters
    ----------
    model : fitted estimator
        Of trees or rules.
    style : "outline"
        How to write it.
    max_depth : int, optional
        How many tests deep to go; by default all.
    tree : int
        The number of a tree of a forest.

    Examples
    --------
    >>> from dtnumba import DecisionTreeRegressor, export
    >>> print(export.text(DecisionTreeRegressor().fit([[1.0], [9.0]], [2.0, 3.0])), end="")
    all rows                                                 2 rows  mean 2.5
      x0 <= 5.0                                               1 row  mean 2
      x0 > 5.0 (or missing)                                   1 row  mean 3

    """
    if style not in OUTLINES:
        raise ValueError(f"style={style!r}: must be {', '.join(map(repr, OUTLINES))}")
    if max_depth is not None and not (isinstance(max_depth, (int, np.integer)) and max_depth >= 0):
        raise ValueError(f"max_depth={max_depth!r}: must be a number of tests of 0 or more, or None")
    found = read(model)
    if isinstance(found, ReadRules):
        return str(model.rules_) + "\n"
    told = Told(found, model)
    lines, waiting = [], [(told.roots(tree)[0], 0, "all rows")]
    while waiting:
        node, depth, condition = waiting.pop()
        children = told.children(node)
        is_cut = bool(children) and max_depth is not None and depth >= max_depth
        line = f"{'  ' * depth + condition:<{ROWS_COLUMN}} {told.rows(node):>14}  {told.contents(node)}"
        lines.append(line.rstrip() + "  ..." * is_cut)
        if not is_cut:
            waiting += reversed([(child, depth + 1, told.condition(node, child)) for child in children])
    return "\n".join(lines) + "\n"
