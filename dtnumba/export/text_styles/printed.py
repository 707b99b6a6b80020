"""One tree as it is read for printing: what its nodes hold, and what leads to each of their children."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.export.reading import AMONG, BY_RANGE, UP_TO, ExportError, Nodes, codes_of, refuse
from dtnumba.tables.floats import AtFloats
from dtnumba.trees.graphs import JOINING
from dtnumba.trees.layout import LEAF, last_children, node_values, one_tree
from dtnumba.trees.subtrees import class_weights_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from dtnumba.export.reading import ReadTrees, SumTerm, Test
    from dtnumba.tables.costs import LeastCost
    from dtnumba.trees.layout import Trees

MOST_LEVELS = 64  # that a line names, where nothing else is asked for


class Branch(NamedTuple):
    """What leads to one child of a node."""

    child: int
    ranges: list[tuple[float, float]]  # low < x <= high, of a number
    levels: list[int] | None  # of a category, and None of a number
    is_ordered: bool  # whether the levels are a range of ordered ones
    is_rest: bool  # whether it is "all others", so that levels that no row of the node had are among them
    takes_missing: bool  # whether a value that is missing goes to this child, and to no other


class Printed:
    """One tree of a model, with names and words for what it holds.

    Parameters
    ----------
    found : ReadTrees
        The trees.
    model : fitted estimator
        The model that they are of.
    tree : int
        Which tree of a forest.
    names : sequence of str, optional
        In place of the names of the columns in ``fit``.
    caller : str
        Who reads, for errors.

    """

    def __init__(
        self, found: ReadTrees, model: Any, tree: int = 0, names: Sequence[str] | None = None, caller: str = "text"
    ) -> None:  # fmt: skip
        columns = found.columns
        self.model, self.caller = model, caller
        self.instead = 'print it with style="outline"' if caller == "text" else "print it with export.text(model)"
        self.trees: Trees = _one_of(model.trees_, tree)  # as it was learned, whatever rows are compared with
        if self.trees.is_compact:
            raise ExportError(
                f"{caller}: compact() dropped the rows, weights and impurities of the nodes of this "
                f"{type(model).__name__}, which it shows; {self.instead}, or before compact()"
            )
        refuse(caller, np.flatnonzero(self.trees.join >= 0), JOINING, self.instead)
        self.names = [plain(name) for name in (columns.names if names is None else names)]
        self.levels = [None if one is None else [plain(level) for level in one] for one in columns.levels]
        self.classes = None if columns.classes is None else [[plain(one) for one in own] for own in columns.classes]
        self.sizes = columns.sizes
        self.rule: LeastCost | None = model.label_rule
        self.value: NDArray[np.float64] = np.asarray(node_values(self.trees))
        self.cuts_are_values = isinstance(self.trees.cuts_at, AtFloats)
        self._nodes = Nodes(self.trees)
        m, left = self.trees.n_nodes, self.trees.left.astype(np.int64)
        last, below = last_children(self.trees).astype(np.int64), np.ones(m, np.int64)
        leaves = (self.trees.feature == LEAF).astype(np.int64)
        for node in np.flatnonzero(self.trees.feature != LEAF)[::-1].tolist():
            below[node] += below[left[node] : last[node] + 1].sum()
            leaves[node] = leaves[left[node] : last[node] + 1].sum()
        self.n_below, self.n_leaves = (below - 1).tolist(), leaves.tolist()

    @cached_property
    def counts(self) -> NDArray[np.float64]:
        """The weight of each class in each node of a tree of one output of classes."""
        return class_weights_of(self.trees, self.sizes)[0]

    @cached_property
    def labels(self) -> NDArray[np.int64]:
        """The class that each node says, a column an output."""
        return codes_of(self.value, self.sizes, self.rule)

    def one_output(self, *, of_classes: bool = False) -> None:
        """Raise where there are several outputs, or numbers in place of classes."""
        if len(self.sizes) > 1:
            raise ExportError(
                f"{self.caller}: the tree has {len(self.sizes)} outputs, and it shows one; "
                f"{self.instead}, or fit a model an output"
            )
        if of_classes and self.classes is None:
            fits_rpart = 'style="rpart" or ' * (not len(self.with_more_children()))
            raise ExportError(
                f"text: {type(self.model).__name__} predicts numbers, and this style is one of trees of "
                f'classes; print it with {fits_rpart}style="outline"'
            )

    def is_leaf(self, node: int) -> bool:
        """Tell whether a node is a leaf."""
        return self._nodes.is_leaf(node)

    def children(self, node: int) -> list[int]:
        """Return the children of a node."""
        return self._nodes.children(node)

    def with_more_children(self) -> NDArray[np.int64]:
        """Return the nodes that have more children than two."""
        fan = last_children(self.trees) - self.trees.left + 1
        return np.flatnonzero((self.trees.feature != LEAF) & (fan != 2))

    def test(self, node: int) -> Any:
        """Return what an inner node asks."""
        return self._nodes.test(node)

    def tested(self, node: int) -> str:
        """Return the name of what an inner node asks for: a column, or the formula of a sum."""
        test = self._nodes.test(node)
        names = term_names(test, self.names, self.levels)
        return formula(test.terms, names) if names else self.names[int(self.trees.feature[node])]

    def branches(self, node: int, reached: dict[int, set[int]] | None = None) -> list[Branch]:
        """Return what leads to the children of a node, in their order.

        Parameters
        ----------
        node : int
            An inner one.
        reached : dict, optional
            Levels of columns that can come to the node at all; others are left out.

        """
        test = self._nodes.test(node)
        feature, levels = test.feature, self.levels[test.feature]
        known = None if levels is None else (reached or {}).get(feature, set(range(len(levels))))
        sole = None if test.shares is not None else test.absent
        found = []
        for k, child in enumerate(test.children):
            ranges, own, is_ordered, is_rest = [], None, False, False
            if test.kind == AMONG:
                inside = set(test.entries)
                own = sorted((inside if k == 0 else set(range(len(levels or []))) - inside) & (known or set()))
                is_rest = k == 1
            elif test.kind in {UP_TO, BY_RANGE}:
                cuts = [test.threshold] if test.kind == UP_TO else test.entries
                ways = [0, 1] if test.kind == UP_TO else test.ways
                ranges = _joined(cuts, ways, k)
                if levels is not None:
                    is_ordered = True
                    own = [c for c in sorted(known or ()) if any(low < c <= high for low, high in ranges)]
            else:
                own = [c for c in sorted(known or ()) if (test.ways[c] if c < len(test.ways) else -1) == k]
            found.append(Branch(child, ranges, own, is_ordered, is_rest, sole == k))
        return found

    def reached_below(self, node: int, branch: Branch, reached: dict[int, set[int]]) -> dict[int, set[int]]:
        """Return the levels that can come to a child."""
        if branch.levels is None:
            return reached
        return {**reached, int(self.trees.feature[node]): set(branch.levels)}


def term_names(test: Test, names: Sequence[str], levels: Sequence[Sequence[Any] | None]) -> list[str]:
    """Return what the terms of a sum are called: their columns, and "(column is level)" of indicators."""
    found = []
    for k, term in enumerate(test.terms):
        own, level = levels[term.column] or [], test.term_levels[k] if test.term_levels else -1
        found.append(names[term.column] if level < 0 else f"({names[term.column]} is {own[level]})")
    return found


def formula(terms: Sequence[SumTerm], names: Sequence[str], most: int | None = None) -> str:
    """Return a sum in few digits, with a name for each term; of many the first ones, and how many more there are."""
    named = list(zip(terms, names, strict=True))[:most]
    parts = [f"{'-' if term.weight < 0 else '+'} {abs(term.weight):.4g}*{name}" for term, name in named]
    more = [f"+ {len(terms) - len(parts)} more"] if len(terms) > len(parts) else []
    return " ".join([parts[0].removeprefix("+ ").replace("- ", "-", 1), *parts[1:], *more])


_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")  # and what no file can hold


def plain(value: Any) -> str:
    """Return a label or a level as it is written: whole numbers without a point, one line, no signs of control."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    text = value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def listed(words: Sequence[str], most: int | None, joint: str = ", ") -> str:
    """Return words in a row, and of many how many more there are."""
    if most is None or len(words) <= most:
        return joint.join(words)
    return joint.join([*words[:most], f"{len(words) - most} more"])


def ranges_in_words(ranges: Sequence[tuple[float, float]], cut: Callable[[float], str]) -> str:
    """Return ranges of a number as J48 and C5.0 write them, "" where there are none; ``cut`` writes their ends."""
    parts = []
    for low, high in ranges:
        if low == -np.inf:
            parts.append("is known" if high == np.inf else f"<= {cut(high)}")
        else:
            parts.append(f"> {cut(low)}" + ("" if high == np.inf else f" and <= {cut(high)}"))
    return " or ".join(parts)


def _joined(cuts: list[float], ways: list[int], k: int) -> list[tuple[float, float]]:
    """Return the ranges that go to child k, neighbours as one."""
    ends = [-np.inf, *cuts, np.inf]
    found: list[tuple[float, float]] = []
    for low, high, way in zip(ends[:-1], ends[1:], ways, strict=True):
        if way != k or low == high:
            continue
        if found and found[-1][1] == low:
            found[-1] = (found[-1][0], high)
        else:
            found.append((low, high))
    return found


def _one_of(trees: Trees, tree: int) -> Trees:
    n = trees.n_trees
    if isinstance(tree, bool) or not (isinstance(tree, (int, np.integer)) and 0 <= tree < n):
        raise ValueError(f"tree={tree!r}: must be the number of a tree, from 0 to {n - 1}")
    return trees if n == 1 else one_tree(trees, int(tree))
