"""The nodes of one tree, for pictures that do not move: the way to each, what it holds, what is cut off below it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.export.languages.voters import refuse_voting_rules
from dtnumba.export.pictures.words import NodeWords, number, share
from dtnumba.export.reading import ExportError, Nodes, codes_of, columns_of, read_trees
from dtnumba.trees.layout import BY_SHARE, node_values, one_tree

if TYPE_CHECKING:
    from dtnumba.export.reading import Columns, Test


class PictureNodes:
    """One tree, drawn so many tests deep.

    Parameters
    ----------
    model : fitted estimator
        Of trees.
    tree : int
        The number of a tree of a forest.
    max_depth : int or None
        How many tests deep to draw; None: all.
    columns : Columns, optional
        Other names of columns and classes.

    """

    def __init__(self, model: Any, tree: int = 0, max_depth: int | None = None, columns: Columns | None = None) -> None:
        self.columns = columns_of(model) if columns is None else columns
        self._trees = one_tree(model.trees_, tree)
        self._nodes, self._words, self._rule = Nodes(self._trees), NodeWords(self.columns), model.label_rule
        self._ways: dict[int, str] = {0: "all rows"}
        self._absent: set[int] = set()
        self.ids: list[int] = [0]  # what is drawn, a level behind the other
        self.depth: list[int] = [0]
        self.parent: list[int] = [-1]  # places in ids, as those of children
        self.children: list[list[int]] = []
        at = 0
        while at < len(self.ids):
            node = self.ids[at]
            is_open = not self._nodes.is_leaf(node) and (max_depth is None or self.depth[at] < max_depth)
            own = self._unfold(node) if is_open else []
            self.children.append(list(range(len(self.ids), len(self.ids) + len(own))))
            self.ids += own
            self.depth += [self.depth[at] + 1] * len(own)
            self.parent += [at] * len(own)
            at += 1
        self._values = np.asarray(node_values(self._trees)[np.array(self.ids)], np.float64)
        self.n_nodes = self._trees.n_nodes

    def _unfold(self, node: int) -> list[int]:
        test: Test = self._nodes.test(node)
        self._ways |= dict(zip(test.children, self._words.ways(test), strict=True))
        if test.absent is not None and self._trees.policy != BY_SHARE:
            self._absent.add(test.children[test.absent])
        return test.children

    def is_leaf(self, at: int) -> bool:
        """Tell whether a node has no children, drawn or not."""
        return self._nodes.is_leaf(self.ids[at])

    def way(self, at: int) -> str:
        """Return what sends a row to a node from its parent."""
        return self._ways[self.ids[at]]

    def column(self, at: int) -> str:
        """Return the name of the column that the way to a node asks, "" of the root."""
        parent = self.parent[at]
        return "" if parent < 0 else self._words.names[int(self._trees.feature[self.ids[parent]])]

    def drawn_above(self, at: int) -> list[int]:
        """Return the places of the nodes on the way to one, the root first."""
        found = [at]
        while self.parent[found[-1]] >= 0:
            found.append(self.parent[found[-1]])
        return found[::-1]

    def takes_missing(self, at: int) -> bool:
        """Tell whether missing values go to a node."""
        return self.ids[at] in self._absent

    def n_rows(self, at: int) -> int | None:
        """Return the rows of a node; None of compact trees."""
        return None if self._trees.is_compact else int(self._trees.n_samples[self.ids[at]])

    def rows(self, at: int) -> str:
        """Return how many rows a node has, in words."""
        n = self.n_rows(at)
        return "" if n is None else f"{n:,} row{'s' * (n != 1)}"

    def below(self, at: int) -> int:
        """Return how many nodes of the tree stand below a node."""
        waiting, n = [self.ids[at]], -1
        while waiting:
            n += 1
            waiting += self._nodes.children(waiting.pop())
        return n

    def is_known(self, at: int) -> bool:
        """Tell whether the tree holds what a node says: compact ones do of leaves alone."""
        return not self._trees.is_compact or self.is_leaf(at)

    def shares(self, at: int, output: int = 0) -> list[float]:
        """Return the shares of the classes of an output."""
        start = sum(self.columns.sizes[:output])
        found: list[float] = self._values[at, start : start + self.columns.sizes[output]].tolist()
        return found

    def code(self, at: int, output: int = 0) -> int:
        """Return the class that a node says."""
        return int(codes_of(self._values[at : at + 1], self.columns.sizes, self._rule)[0, output])

    def value(self, at: int, output: int = 0) -> float:
        """Return the number that a node says."""
        return float(self._values[at, output])

    def says(self, at: int) -> list[tuple[str, str]]:
        """Return what a node says, a label and its share, or a number, for each output."""
        if not self.is_known(at):
            return []
        if self.columns.classes is None:
            return [(number(self.value(at, o)), "") for o in range(len(self.columns.sizes))]
        found = []
        for o in range(len(self.columns.sizes)):
            code = self.code(at, o)
            found.append((self._words.class_name(o, code), share(self.shares(at, o)[code])))
        return found

    def class_names(self, output: int = 0) -> list[str]:
        """Return what the classes of an output are called."""
        return [self._words.class_name(output, k) for k in range(self.columns.sizes[output])]


def check_picture(model: Any, format_: str, tree: Any, max_depth: Any) -> None:
    """Raise where a picture of a tree cannot be drawn, or is asked for with what is no number of a tree or a depth."""
    if not hasattr(model, "trees_"):
        read_trees(model, format_)  # says why
        raise ExportError(f"{format_}: {type(model).__name__} has no trees")
    refuse_voting_rules(model, format_)
    model.check_fitted()
    n = model.trees_.n_trees
    if isinstance(tree, bool) or not isinstance(tree, (int, np.integer)) or not 0 <= tree < n:
        raise ValueError(f"tree={tree!r}: must be a number from 0 to {n - 1}, as the model has {n} tree{'s' * (n > 1)}")
    is_depth = isinstance(max_depth, (int, np.integer)) and not isinstance(max_depth, bool) and max_depth >= 0
    if max_depth is not None and not is_depth:
        raise ValueError(f"max_depth={max_depth!r}: must be a whole number of at least 0, or None for all tests")
