"""ID5R by its definition (Utgoff 1989): counts at every node, tests pulled up by transposition, rows at leaves alone.

Columns hold 0 and 1. A node tests the column whose two values gain most entropy, the first one on ties; it is a leaf
where all rows have one class, or no column has both values.
"""

import math
from collections import Counter

TIE = 1e-9


class Node:
    """Counts of the classes of each value of each column, and either rows or a test with two children."""

    def __init__(self, n_columns):
        self.counts = [[Counter(), Counter()] for _ in range(n_columns)]
        self.rows, self.column, self.children = [], None, None

    def count(self, row, label, by):
        for column, value in enumerate(row):
            self.counts[column][value][label] += by
            self.counts[column][value] += Counter()  # drops those of zero

    @property
    def classes(self):
        return self.counts[0][0] + self.counts[0][1]

    def all_rows(self):
        return self.rows if self.column is None else [row for child in self.children for row in child.all_rows()]


def entropy(counts):
    total = sum(counts.values())
    return -sum(n / total * math.log2(n / total) for n in counts.values())


def best_column(node):
    """Return the column to test, None at a leaf."""
    if len(node.classes) < 2:
        return None
    best, least = None, math.inf
    for column, (zeros, ones) in enumerate(node.counts):
        if zeros and ones:
            score = sum(sum(side.values()) * entropy(side) for side in (zeros, ones))
            if score < least - TIE:
                best, least = column, score
    return best


class ID5R:
    """A tree of rows of 0 and 1."""

    def __init__(self, n_columns):
        self.n_columns, self.root = n_columns, Node(n_columns)

    def add(self, row, label):
        node = self.root
        while True:
            node.count(row, label, 1)
            if node.column is None:
                break
            node = node.children[row[node.column]]
        node.rows.append((row, label))
        self._ensure_best(self.root)

    def remove(self, row, label):
        node = self.root
        while True:
            node.count(row, label, -1)
            if node.column is None:
                break
            node = node.children[row[node.column]]
        node.rows.remove((row, label))
        self._ensure_best(self.root)

    def _ensure_best(self, node):
        best = best_column(node)
        if best is None:
            node.rows, node.column, node.children = node.all_rows(), None, None
            return
        self._pull_up(node, best)
        for child in node.children:
            self._ensure_best(child)

    def _pull_up(self, node, column):
        """See to it that a node tests a column: its children do first, then the two tests change places."""
        if node.column == column:
            return
        if node.column is None:
            node.children = [Node(self.n_columns), Node(self.n_columns)]
            for row, label in node.rows:
                node.children[row[column]].rows.append((row, label))
                node.children[row[column]].count(row, label, 1)
            node.rows, node.column = [], column
            return
        for child in node.children:
            self._pull_up(child, column)
        pairs = [[child.children[value] for child in node.children] for value in (0, 1)]
        old, node.column = node.column, column
        node.children = [self._joined(old, pair) for pair in pairs]

    def _joined(self, column, children):
        """Return a node of a test and its children: counts are those of both."""
        node = Node(self.n_columns)
        node.column, node.children = column, children
        for c in range(self.n_columns):
            node.counts[c] = [children[0].counts[c][value] + children[1].counts[c][value] for value in (0, 1)]
        return node

    def shown(self, node=None):
        """Return the tree as nested tuples: (column, left, right), or the sorted counts of a leaf's classes."""
        node = self.root if node is None else node
        if node.column is None:
            return tuple(sorted(node.classes.items()))
        return (node.column, *(self.shown(child) for child in node.children))
