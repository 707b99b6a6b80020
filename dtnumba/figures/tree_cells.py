"""The nodes of one tree that a figure shows: the way to each in words, what stands in its box, and its colour."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.export.pictures.facts import renamed
from dtnumba.export.pictures.words import NodeWords, number, share
from dtnumba.export.reading import ExportError, Nodes, codes_of, read_trees
from dtnumba.figures.axes import LONGEST_LEVEL, LONGEST_NAME, sentence, short
from dtnumba.figures.colours import tints_of_numbers, tints_of_shares
from dtnumba.trees.layout import LEAF, last_children, one_tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dtnumba.export.reading import Columns, ReadTrees, Test

_FEW_CLASSES, _MOST_OUTPUTS, _NAMED_STAND_INS = 4, 4, 3


class Names(NamedTuple):
    """Names of columns and classes in place of those of ``fit``, as a caller gives them."""

    features: Sequence[Any] | None = None
    classes: Sequence[Any] | None = None


GIVEN = Names()  # those of ``fit``


@dataclass
class Cell:
    """A node of a figure."""

    node: int  # in its tree
    parent: int  # among the cells, -1 of the root
    depth: int
    condition: list[str]  # lines: what leads to it
    lines: list[str]  # in its box, the first one bold
    share: float  # of the rows of the root
    shares: NDArray[np.float64] | None  # of classes
    n_below: int  # nodes that are not shown
    children: list[int] = field(default_factory=list)  # cells


def only_trees(model: Any, what: str) -> ReadTrees:
    """Return a fitted model of trees that still has its statistics, or an error that says what to do."""
    if hasattr(model, "check_fitted") and hasattr(model.check_fitted(), "rules_"):
        raise ExportError(
            f"{what}: {type(model).__name__} is a list of rules and has no nodes to draw; print(export.rules(model)) "
            "shows them, or pass the tree that they were made of"
        )
    found = read_trees(model, what, says_rows=True)
    if found.trees.is_compact:
        model.refuse_compact(what)
    return found


def tree_number(tree: Any, n_trees: int) -> int:
    """Return the number of a tree that is there."""
    is_number = isinstance(tree, (int, np.integer)) and not isinstance(tree, bool)
    if not (is_number and 0 <= tree < n_trees):
        raise ValueError(f"tree={tree!r}: must be the number of a tree, from 0 to {n_trees - 1}")
    return int(tree)


def shortened(columns: Columns) -> Columns:
    """Return columns whose names, levels and classes are cut short."""
    levels = [None if own is None else [_level(x) for x in own] for own in columns.levels]
    classes = columns.classes and [[_level(x) for x in own] for own in columns.classes]
    return columns._replace(names=[short(name, LONGEST_NAME) for name in columns.names], levels=levels, classes=classes)


def _wrapped(text: str, most: int) -> list[str]:
    return textwrap.wrap(text, most, break_long_words=False, break_on_hyphens=False)


def _level(value: Any) -> Any:
    is_long = isinstance(value, (str, bytes)) and len(value) > LONGEST_LEVEL
    return short(value, LONGEST_LEVEL) if is_long else value


class Shown:
    """One tree of a model as figures show it.

    Parameters
    ----------
    model : fitted estimator
        Of trees, not compact.
    what : str
        Who draws, for errors.
    tree : int
        The number of a tree of a forest.
    names : Names
        Other names of columns and classes.

    """

    def __init__(self, model: Any, what: str, tree: Any = 0, names: Names = GIVEN) -> None:
        found = only_trees(model, what)
        t = tree_number(tree, found.trees.n_trees)
        self.columns = shortened(renamed(found.columns, *names))
        self.trees = one_tree(found.trees, t)
        self.value = np.asarray(one_tree(model.trees_, t).value)
        self._words, self._nodes = NodeWords(self.columns), Nodes(self.trees)
        self.codes = None
        if self.columns.classes is not None:
            self.codes = codes_of(self.value, self.columns.sizes, model.label_rule)

    @property
    def one_output_of_classes(self) -> bool:
        """Whether there are shares of the classes of one output."""
        return self.codes is not None and len(self.columns.sizes) == 1

    def colours(self) -> NDArray[np.float64]:
        """Return the colour of every node, by its first output."""
        if self.codes is None:
            return tints_of_numbers(self.value[:, 0])
        return tints_of_shares(self.value[:, : self.columns.sizes[0]], self.codes[:, 0])

    def class_names(self) -> list[str]:
        """Return what the classes of the first output are called."""
        return [self.class_name(0, code) for code in range(self.columns.sizes[0])]

    def class_name(self, output: int, code: int) -> str:
        """Return what a class is called."""
        return sentence(self._words.class_name(output, code))

    def cells(self, max_depth: int | None, wrap: int) -> list[Cell]:
        """Return the nodes of at most so many tests, parents before children, level by level."""
        below = _nodes_below(self.trees)
        n = self.trees.n_samples
        found: list[Cell] = []
        waiting: list[tuple[int, int, int, str]] = [(0, -1, 0, "")]
        while waiting:
            following = []
            for node, parent, depth, condition in waiting:
                is_cut = max_depth is not None and depth >= max_depth and not self._nodes.is_leaf(node)
                lines = self._lines(node)
                if is_cut:
                    lines.append(f"… {below[node]:,} nodes below")
                test = None if is_cut or self._nodes.is_leaf(node) else self._nodes.test(node)
                lines += [] if test is None else self._of_missing(test)
                shares = self.value[node] if self.one_output_of_classes else None
                own = Cell(
                    node, parent, depth, _wrapped(condition, wrap), lines, float(n[node] / n[0]), shares,
                    int(below[node]) if is_cut else 0,
                )  # fmt: skip
                if parent >= 0:
                    found[parent].children.append(len(found))
                found.append(own)
                if test is not None:
                    ways = self.ways(test)
                    at = len(found) - 1
                    following += [(c, at, depth + 1, way) for c, way in zip(test.children, ways, strict=True)]
            waiting = following
        return found

    def ways(self, test: Test) -> list[str]:
        """Return what leads to each child, missing values included."""
        ways = [sentence(way) for way in self._words.ways(test)]
        if test.shares is not None:
            return [f"{way} · {share(part)}\u00a0of\u00a0missing" for way, part in zip(ways, test.shares, strict=True)]
        alone = sentence(f"{self._words.names[test.feature]} missing")
        if test.absent is not None and not test.stand_ins and ways[test.absent] != alone:
            ways[test.absent] += " or\u00a0missing"  # which is not parted
        return ways

    def _of_missing(self, test: Test) -> list[str]:
        if test.stand_ins:
            names = [sentence(self._words.names[own.feature]) for own in test.stand_ins]
            more = f" + {len(names) - _NAMED_STAND_INS} more" if len(names) > _NAMED_STAND_INS else ""
            return [f"missing: by {', '.join(names[:_NAMED_STAND_INS])}{more}"]
        return ["missing: ends here"] if test.absent is None and test.shares is None else []

    def _lines(self, node: int) -> list[str]:
        """Return what a node says, how many rows it had, and the shares of its classes."""
        n, all_ = int(self.trees.n_samples[node]), int(self.trees.n_samples[0])
        sizes = self.columns.sizes
        outputs = range(min(len(sizes), _MOST_OUTPUTS))
        if self.codes is None:
            said = [number(float(self.value[node, o])) for o in outputs]
        else:
            said = [self.class_name(o, int(self.codes[node, o])) for o in outputs]
        more = [f"+ {len(sizes) - _MOST_OUTPUTS} more"] if len(sizes) > _MOST_OUTPUTS else []
        lines = [", ".join(said + more), f"n = {n:,} ({share(n / max(all_, 1))})"]
        if self.one_output_of_classes:
            own = self.value[node]
            if len(own) <= _FEW_CLASSES:
                lines.append(" / ".join(share(float(x)) for x in own))
            else:
                first = np.argsort(-own, kind="stable")[: _FEW_CLASSES - 1].tolist()
                lines.append(", ".join(f"{self.class_name(0, k)}: {share(float(own[k]))}" for k in first if own[k] > 0))
        return lines


def _nodes_below(trees: Any) -> NDArray[np.int64]:
    """Return how many nodes stand below each one."""
    last, left = last_children(trees), trees.left
    below = np.zeros(trees.n_nodes, np.int64)
    for node in np.flatnonzero(trees.feature != LEAF)[::-1].tolist():
        own = below[left[node] : last[node] + 1]
        below[node] = own.sum() + len(own)
    return below
