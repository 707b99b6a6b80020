"""The tests of trees as ONNX has them: of two branches each, a chain of them where a node has more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtnumba.export.reading import AMONG, BY_RANGE, MAP, UP_TO, Nodes, Test

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dtnumba.export.reading import ReadTrees

_LEQ, _MEMBER = 0, 6  # modes of nodes
NEXT = -1  # a branch to the entry behind


class Entries:
    """The nodes of ONNX: tests of two branches each."""

    def __init__(self, found: ReadTrees) -> None:
        self.feature: list[int] = []
        self.mode: list[int] = []
        self.split: list[float] = []
        self.branch: list[tuple[int, int]] = []  # where true and false lead: a node, m + node where a row stays, NEXT
        self.tracks: list[int] = []  # whether a missing value takes the true branch
        self.members: list[float] = []
        self.tree: list[int] = []
        trees, nodes = found.trees, Nodes(found.trees)
        self._n_columns, self._n_sums = len(found.columns.names), 0
        self.first = np.zeros(trees.n_nodes, np.int64)
        for t in range(trees.n_trees):
            start, stop = int(trees.root[t]), int(trees.root[t + 1])
            for node in range(start, stop):
                if not nodes.is_leaf(node):
                    self.first[node] = len(self.feature)
                    self._add(nodes.test(node), node, trees.n_nodes)
                elif node == start:  # a tree of one leaf: both branches lead there
                    self.first[node] = len(self.feature)
                    self._entry(0, _LEQ, 0.0, (node, node), 0)
            self.tree += [t] * (len(self.feature) - len(self.tree))

    def _entry(self, feature: int, mode: int, split: float, branch: tuple[int, int], tracks: int) -> None:
        self.feature.append(feature)
        self.mode.append(mode)
        self.split.append(split)
        self.branch.append(branch)
        self.tracks.append(tracks)

    def _set(self, feature: int, codes: Sequence[int], branch: tuple[int, int], tracks: int) -> None:
        self.members += [*map(float, codes), np.nan]
        self._entry(feature, _MEMBER, 0.0, branch, tracks)

    def _add(self, test: Test, node: int, m: int) -> None:
        f, children = test.feature, test.children
        if test.terms:  # a column behind the others tells the side
            f, test = self._n_columns + self._n_sums, test._replace(threshold=0.5)
            self._n_sums += 1
        if test.absent is None and test.kind != MAP:  # a known value is not above infinity
            self._entry(f, _LEQ, np.inf, (NEXT, m + node), 0)
        if test.kind == UP_TO:
            self._entry(f, _LEQ, test.threshold, (children[0], children[1]), int(test.absent == 0))
        elif test.kind == AMONG:
            self._set(f, test.entries, (children[0], children[1]), int(test.absent == 0))
        elif test.kind == MAP:
            others = [way for way in range(len(children)) if way != test.absent]
            codes = {way: [code for code, own in enumerate(test.ways) if own == way] for way in others}
            others = [way for way in others if codes[way]]
            rest = m + node if test.absent is None else children[test.absent]
            for k, way in enumerate(others):
                self._set(f, codes[way], (children[way], NEXT if k < len(others) - 1 else rest), 0)
            if not others:
                self._entry(f, _LEQ, 0.0, (rest, rest), 0)
        else:
            assert test.kind == BY_RANGE
            if test.absent is not None and test.absent not in test.ways:
                self._entry(f, _LEQ, np.inf, (NEXT, children[test.absent]), 0)
            for k, cut in enumerate(test.entries):
                last = children[test.ways[k + 1]] if k == len(test.entries) - 1 else NEXT
                self._entry(f, _LEQ, cut, (children[test.ways[k]], last), int(test.absent == test.ways[k]))
