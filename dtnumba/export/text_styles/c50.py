"""A tree as C5.0 prints it: the simplest branches first, and a line a branch, joined by colons and dots."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dtnumba.export.text_styles.printed import MOST_LEVELS, Branch, Printed, listed, ranges_in_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

WIDTH = 80
TAB = 4
FEWEST = 0.05  # a weight of errors that is shown
CUT_DIGITS = 8


class _Words(NamedTuple):
    """One branch: its words, and the levels where they may need several lines."""

    name: str
    asked: str  # behind the name: "= red", "<= 3.5", or "in {", to which the levels belong
    levels: list[str]


class _Printer:
    def __init__(self, printed: Printed, max_depth: int | None, most: int, tree: int) -> None:
        self.printed, self._max_depth, self._most = printed, max_depth, most
        self._counts: NDArray[np.float64] = printed.counts
        self._labels = printed.labels[:, 0].tolist()
        self._heights = _heights(printed)
        own = np.asarray(self._counts)[np.arange(len(self._labels)), self._labels]
        self._wrong = _wrong_in_leaves(printed, printed.trees.weight - own)
        soft = vars(printed.model).get("soft_cuts_")
        self._soft: NDArray[np.float64] | None = None if soft is None else soft[tree]
        self.later: list[tuple[int, int, dict[int, set[int]]]] = []  # subtrees that are too wide, with their depths
        self.out: list[str] = []

    def tree(self, node: int, depth: int, reached: dict[int, set[int]]) -> None:
        """Write the tree below a node; depth-first with a stack of what is left of each level."""
        printed = self.printed
        if printed.is_leaf(node):
            self.out.append(self._leaf(node))
            return
        open_: list[tuple[int, list[Branch], int, dict[int, set[int]]]] = []  # node, branches to come, depth, reached
        is_last: list[bool] = []

        def enter(inner: int, own: dict[int, set[int]], at: int) -> None:
            open_.append((inner, self._ordered(printed.branches(inner, own)), at, own))
            is_last.append(False)

        enter(node, reached, depth)
        first = True
        while open_:
            inner, branches, at, own = open_[-1]
            if not branches:
                open_.pop()
                is_last.pop()
                continue
            branch = branches.pop(0)
            is_last[-1] = not branches
            level = len(open_) - 1
            self._branch(inner, branch, level, is_last, is_first=first)
            first = False
            child, below = branch.child, printed.reached_below(inner, branch, own)
            if printed.is_leaf(child):
                self.out.append(self._leaf(child))
            elif self._max_depth is not None and at + 1 >= self._max_depth:
                self.out.append(f" ... {printed.n_leaves[child]:,} leaves below")
            elif (level + 1) * TAB + self._widest(child, below) > WIDTH:
                self.later.append((child, at + 1, below))
                self.out.append(f" [S{len(self.later)}]")
            else:
                enter(child, below, at + 1)
                first = True

    def _ordered(self, branches: list[Branch]) -> list[Branch]:
        """Return branches in the order in which they are written: leaves without rows, then by their height."""
        rows = self.printed.trees.n_samples
        shown = [b for b in branches if b.levels is None or b.levels or b.takes_missing]
        empty = [b for b in shown[1:] if self.printed.is_leaf(b.child) and rows[b.child] == 0]
        rest = [b for b in shown if b not in empty]
        return empty[::-1] + sorted(rest, key=lambda b: self._heights[b.child])

    def _branch(self, node: int, branch: Branch, level: int, is_last: list[bool], *, is_first: bool) -> None:
        words = self._words(node, branch)
        self._indent(level, is_last, is_first=is_first)
        if not words.levels:
            self.out.append(f"{words.name} {words.asked}:")
            return
        self.out.append(f"{words.name} in {{")
        skip = len(words.name) + 5
        at, fresh, is_leaf = skip + level * TAB, True, self.printed.is_leaf(branch.child)
        for k, text in enumerate(words.levels):
            is_end = k == len(words.levels) - 1
            extra = 1 if not is_end or not is_leaf else self._room(node, branch.child)
            if not fresh and at + len(text) + extra + 1 > WIDTH:
                self._indent(level, is_last, is_first=False)
                self.out.append(("    " if is_last[level] and is_leaf else ":   ") + " " * (skip - TAB))
                at = skip + level * TAB
            self.out.append(text + ("}" if is_end else ","))
            at, fresh = at + len(text) + 1, False
        self.out.append(":")

    def _indent(self, level: int, is_last: list[bool], *, is_first: bool) -> None:
        marks = ["    " if last else ":   " for last in is_last[:level]]
        if marks and is_first:
            marks[-1] = ":..."
        self.out.append("\n" + "".join(marks))

    def _words(self, node: int, branch: Branch) -> _Words:
        printed, feature = self.printed, int(self.printed.trees.feature[node])
        name, names = printed.names[feature], printed.levels[feature]
        if branch.levels is not None and names is not None:
            own = [names[c] for c in branch.levels]
            if not own:
                return _Words(name, "= N/A", [])
            if len(own) == 1:
                return _Words(name, f"= {own[0]}", [])
            if branch.is_ordered and len(branch.ranges) == 1:
                return _Words(name, f"in [{own[0]}-{own[-1]}]", [])
            return _Words(name, "in", listed(own, self._most, "\n").split("\n"))
        if self._soft is not None and branch.ranges and self._soft[node, 0] < self._soft[node, 2]:
            low, middle, high = self._soft[node]
            is_left = branch.child == printed.trees.left[node]
            return _Words(name, f"{f'<= {cut(low)}' if is_left else f'>= {cut(high)}'} ({cut(middle)})", [])
        return _Words(name, ranges_in_words(branch.ranges, cut) or "= N/A", [])

    def _leaf(self, node: int) -> str:
        assert self.printed.classes is not None
        total = float(self.printed.trees.weight[node])
        wrong = self._wrong[node]
        errors = f"/{tenths(wrong)}" if wrong >= FEWEST else ""
        return f" {self.printed.classes[0][self._labels[node]]} ({tenths(total)}{errors})"

    def _room(self, node: int, leaf: int) -> int:
        """Return the width that a line keeps free for its leaf: for the counts of the node above, as C5.0 does."""
        assert self.printed.classes is not None
        room = 5 + len(self.printed.classes[0][self._labels[leaf]]) + _digits(float(self.printed.trees.weight[node]))
        wrong = self._wrong[node]
        return room + (1 + _digits(wrong) if wrong >= FEWEST else 0)

    def _widest(self, node: int, reached: dict[int, set[int]]) -> int:
        """Return how wide the lines of the branches of a node are, about."""
        printed, feature = self.printed, int(self.printed.trees.feature[node])
        names, most = printed.levels[feature], 0
        assert printed.classes is not None
        for branch in printed.branches(node, reached):
            if branch.levels is None or names is None:
                width = 4
            elif branch.is_ordered and branch.levels:
                ends = {branch.levels[0], branch.levels[-1]}
                width = sum(len(names[c]) for c in ends) + len(ends) - 1
            else:
                more = 1 if len(branch.levels) == 1 else 6
                width = max((len(names[c]) + more for c in branch.levels), default=3)
            if printed.is_leaf(branch.child):
                width += len(printed.classes[0][self._labels[branch.child]]) + 6
            most = max(most, width)
        return len(printed.names[feature]) + 4 + most


def _heights(printed: Printed) -> list[int]:
    heights = [1] * printed.trees.n_nodes
    for node in np.flatnonzero(printed.trees.feature >= 0)[::-1].tolist():
        heights[node] = 1 + max(heights[child] for child in printed.children(node))
    return heights


def _wrong_in_leaves(printed: Printed, wrong: NDArray[np.float64]) -> list[float]:
    """Return the weight of what a leaf, or all leaves below a node, say wrongly."""
    found: list[float] = wrong.tolist()
    for node in np.flatnonzero(printed.trees.feature >= 0)[::-1].tolist():
        found[node] = sum(found[child] for child in printed.children(node))
    return found


def _digits(x: float) -> int:
    return 3 if x < 10 else int(3 + math.log10(x - 1))


def tenths(x: float) -> str:
    """Return a weight as it is printed: to a tenth."""
    return f"{math.floor(x * 10.0 + 0.5) / 10.0:.{CUT_DIGITS}g}"


def cut(x: float) -> str:
    """Return a threshold as it is printed."""
    return f"{x:.{CUT_DIGITS}g}"


def c50(printed: Printed, max_depth: int | None = None, max_levels: int | None = None, tree: int = 0) -> str:
    """Return a tree of classes as C5.0 writes it; subtrees too wide for a line come behind it."""
    printed.one_output(of_classes=True)
    printer = _Printer(printed, max_depth, MOST_LEVELS if max_levels is None else max_levels, tree)
    printer.out.append("\nDecision tree:\n")
    if max_depth is not None and max_depth < 1 and not printed.is_leaf(0):
        printer.out.append(f" ... {printed.n_leaves[0]:,} leaves below")
    else:
        printer.tree(0, 0, {})
    k = 0
    while k < len(printer.later):
        node, depth, reached = printer.later[k]
        k += 1
        printer.out.append(f"\n\nSubTree [S{k}]\n")
        printer.tree(node, depth, reached)
    return "".join(printer.out) + "\n"
