"""Where the nodes of a tree stand: a tidy drawing without overlap, as narrow as its shape allows, in linear time.

Reingold & Tilford (1981) as Walker (1990) has it for any number of children and Buchheim, Jünger & Leipert (2002) in
linear time, with nodes of any width: children in order, a parent above the middle of its outer children, equal
subtrees drawn alike. Loops, no recursion.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def tidy(children: Sequence[Sequence[int]], width: Sequence[float], gap: float = 1.0) -> NDArray[np.float64]:
    """Return where the middle of each node stands across; the leftmost edge is at 0.

    Parameters
    ----------
    children : sequence of sequences of int
        The children of every node, from left to right. The root is node 0, and children come behind their parents.
    width : sequence of float
        How wide each node is.
    gap : float
        Room between two nodes of one level.

    """
    if not children:
        return np.empty(0)
    work = _Contours(children, list(map(float, width)), gap)
    for node in range(len(children) - 1, -1, -1):
        if children[node]:
            work.place(node)
    return work.positions()


@dataclass
class _Contours:
    """Subtrees that are set side by side; a thread leads from the end of a contour to where a longer one goes on."""

    children: Sequence[Sequence[int]]
    width: list[float]
    gap: float
    middle: list[float] = field(init=False)  # of a node over its children, from where its first child stands
    beside: list[float] = field(init=False)  # where a node stands among its siblings
    moved: list[float] = field(init=False)  # what is added to the places of all below a node
    thread: list[int] = field(init=False)
    owner: list[int] = field(init=False)  # which sibling a node of an outer contour belongs to
    place_of: list[int] = field(init=False)  # which child of its parent it is
    shift: list[float] = field(init=False)
    change: list[float] = field(init=False)

    def __post_init__(self) -> None:
        m = len(self.children)
        self.middle, self.beside, self.moved, self.shift, self.change = ([0.0] * m for _ in range(5))
        self.thread, self.owner, self.place_of = [-1] * m, list(range(m)), [0] * m

    def place(self, parent: int) -> None:
        """Set the children of a node, whose subtrees are drawn, side by side."""
        own = self.children[parent]
        default = own[0]
        for k, node in enumerate(own):
            self.place_of[node] = k
            if k:
                self.beside[node] = self.beside[own[k - 1]] + self._apart(own[k - 1], node)
                self.moved[node] = self.beside[node] - self.middle[node]
                default = self._push(own, k, default)
            else:
                self.beside[node] = self.middle[node]
        total, change = 0.0, 0.0
        for node in reversed(own):
            self.beside[node] += total
            self.moved[node] += total
            change += self.change[node]
            total += self.shift[node] + change
        self.middle[parent] = (self.beside[own[0]] + self.beside[own[-1]]) / 2

    def _apart(self, left: int, right: int) -> float:
        return (self.width[left] + self.width[right]) / 2 + self.gap

    def _first(self, node: int) -> int:
        return self.children[node][0] if self.children[node] else self.thread[node]

    def _last(self, node: int) -> int:
        return self.children[node][-1] if self.children[node] else self.thread[node]

    def _push(self, own: Sequence[int], k: int, default: int) -> int:
        """Move a subtree right until it is clear of those to its left, level by level."""
        node = own[k]
        inner_right, outer_right, inner_left, outer_left = node, node, own[k - 1], own[0]
        at_ir, at_or = self.moved[inner_right], self.moved[outer_right]
        at_il, at_ol = self.moved[inner_left], self.moved[outer_left]
        while self._last(inner_left) >= 0 and self._first(inner_right) >= 0:
            inner_left, inner_right = self._last(inner_left), self._first(inner_right)
            outer_left, outer_right = self._first(outer_left), self._last(outer_right)
            self.owner[outer_right] = node
            lacking = self.beside[inner_left] + at_il - self.beside[inner_right] - at_ir
            lacking += self._apart(inner_left, inner_right)
            if lacking > 0:
                owner = self.owner[inner_left]
                is_sibling = self.place_of[owner] < k and owner in own[self.place_of[owner] : self.place_of[owner] + 1]
                self._move(owner if is_sibling else default, node, lacking)
                at_ir += lacking
                at_or += lacking
            at_il += self.moved[inner_left]
            at_ir += self.moved[inner_right]
            at_ol += self.moved[outer_left]
            at_or += self.moved[outer_right]
        if self._last(inner_left) >= 0 and self._last(outer_right) < 0:
            self.thread[outer_right] = self._last(inner_left)
            self.moved[outer_right] += at_il - at_or
        if self._first(inner_right) >= 0 and self._first(outer_left) < 0:
            self.thread[outer_left] = self._first(inner_right)
            self.moved[outer_left] += at_ir - at_ol
            default = node
        return default

    def _move(self, left: int, right: int, by: float) -> None:
        """Move a subtree right, and those between it and the one that it met by their part of that."""
        between = self.place_of[right] - self.place_of[left]
        self.change[right] -= by / between
        self.shift[right] += by
        self.change[left] += by / between
        self.beside[right] += by
        self.moved[right] += by

    def positions(self) -> NDArray[np.float64]:
        """Return where all nodes stand."""
        m = len(self.children)
        place, total = [0.0] * m, [0.0] * m
        place[0] = self.middle[0]
        for node in range(m):
            for child in self.children[node]:
                place[child] = self.beside[child] + total[node]
                total[child] = total[node] + self.moved[child]
        found = np.array(place)
        leftmost = float((found - np.array(self.width) / 2).min())
        return np.asarray(found - leftmost)
