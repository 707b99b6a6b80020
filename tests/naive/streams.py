"""Hoeffding trees by their definition: nodes as objects, what they saw as lists, every test scored anew each time.

Domingos & Hulten (2000): a leaf splits when its best test is better than the next by more than chance, or both are as
good as equal. Manapragada et al. (2018): a node takes another test when that is better by more than chance.
"""

import math

N_POINTS = 64


class Node:
    """A node, and what it saw since it has been one."""

    def __init__(self, n_sums, depth, sums=None):
        self.sums, self.depth = [0.0] * n_sums if sums is None else sums, depth
        self.seen, self.tried = 0.0, 0.0
        self.points, self.levels = {}, {}
        self.children, self.column, self.threshold, self.missing = [], None, None, 0

    def see(self, row, own, n_levels, weight):
        """Enter a row: each number with the first point not below it, each level with its own sums."""
        self.seen += weight
        for c, value in enumerate(row):
            if value != value:
                continue
            if n_levels[c]:
                table = self.levels.setdefault(c, [[0.0] * len(own) for _ in range(n_levels[c])])
                table[int(value)] = add(table[int(value)], own)
                continue
            points = self.points.setdefault(c, [])
            at = next((i for i, (point, _) in enumerate(points) if point >= value), len(points))
            if at == len(points) or points[at][0] != value:
                if len(points) < N_POINTS:
                    points.insert(at, (value, [0.0] * len(own)))
                elif at == len(points):
                    at -= 1
                    points[at] = (value, points[at][1])
            points[at] = (points[at][0], add(points[at][1], own))


def add(a, b):
    return [x + y for x, y in zip(a, b, strict=True)]


class Tree:
    """A tree that learns rows one by one."""

    def __init__(self, n_levels, n_classes, *, delta, tie, grace, reconsider, max_depth=1000):
        self.n_levels, self.n_classes = n_levels, n_classes
        self.delta, self.tie, self.grace, self.reconsider, self.max_depth = delta, tie, grace, reconsider, max_depth
        self.root = Node(n_classes or 3, 0)
        self.replaced = 0

    def spread(self, sums):
        """Return weight times entropy, or the sum of squares about the mean."""
        if not self.n_classes:
            return max(sums[2] - sums[1] ** 2 / sums[0], 0.0) if sums[0] > 0 else 0.0
        whole = sum(sums)
        return -sum(s * math.log2(s / whole) for s in sums if s > 0)

    def tests(self, node):
        """Return (gain, column, threshold, sums of each child) of the best test of every column."""
        found = []
        for c, n in enumerate(self.n_levels):
            if n:
                table = node.levels.get(c, [])
                total = [sum(part) for part in zip(*table, strict=True)] if table else []
                if sum(self.weight(own) > 0 for own in table) >= 2:
                    found.append((self.spread(total) - sum(map(self.spread, table)), c, None, [*table]))
                continue
            points, best = node.points.get(c, []), None
            for i in range(len(points) - 1):
                left = [sum(part) for part in zip(*(own for _, own in points[: i + 1]), strict=True)]
                right = [sum(part) for part in zip(*(own for _, own in points[i + 1 :]), strict=True)]
                gain = self.spread(add(left, right)) - self.spread(left) - self.spread(right)
                below, above = points[i][0], points[i + 1][0]
                cut = below + (above - below) / 2 if len(points) < N_POINTS else below
                if best is None or gain > best[0] + 1e-9:
                    best = gain, c, cut if below <= cut < above else below, [left, right]
            if best is not None:
                found.append(best)
        return found

    def weight(self, sums):
        return sum(sums) if self.n_classes else sums[0]

    def learn(self, row, y, weight=1.0):
        """Learn a row."""
        own = [weight, weight * y, weight * y * y]
        if self.n_classes:
            own = [weight * (k == y) for k in range(self.n_classes)]
        path, node = [self.root], self.root
        while node.children:
            node = node.children[self.side(node, row)]
            path.append(node)
        for node in path:
            node.sums = add(node.sums, own)
            if self.reconsider or not node.children:
                node.see(row, own, self.n_levels, weight)
        for node in path:
            if (self.reconsider or not node.children) and node.seen - node.tried >= self.grace:
                node.tried = node.seen
                if self.consider(node):
                    break

    @staticmethod
    def side(node, row):
        """Return which child a row goes to; without a value to the heaviest."""
        value = row[node.column]
        if value != value:
            return node.missing
        return int(value) if node.threshold is None else int(value > node.threshold)

    def consider(self, node):
        """Split a leaf, or replace a node's test, where chance does not explain the gain; return whether replaced."""
        if not node.children and node.depth >= self.max_depth:
            return False
        found = self.tests(node)
        best = max(found, key=lambda one: (one[0], -one[1]), default=None)
        if best is None or best[0] <= 1e-12 * node.seen:
            return False
        reach = max(math.log2(self.n_classes), 1.0) if self.n_classes else 1.0
        bound = math.sqrt(reach**2 * math.log(1 / self.delta) / (2 * node.seen))
        if not node.children:
            rival = max([0.0, *(one[0] for one in found if one is not best)])
            if self.exceeds(best[0], rival, node.seen, bound) or bound < self.tie:
                self.split(node, best)
            return False
        installed = max([0.0, *(one[0] for one in found if one[1] == node.column)])
        if best[1] != node.column and self.exceeds(best[0], installed, node.seen, max(bound, self.tie)):
            self.split(node, best)
            self.replaced += 1
            return True
        return False

    def exceeds(self, best, other, seen, bound):
        """Tell whether a gain is larger by more than chance: of classes per row, of numbers as a ratio."""
        return (best - other) / seen > bound if self.n_classes else other / best + bound < 1.0

    def split(self, node, test):
        """Give a node a child for each side of a test."""
        _, node.column, node.threshold, sides = test
        node.children = [Node(len(own), node.depth + 1, [*own]) for own in sides]
        weights = [self.weight(own) for own in sides]
        node.missing = weights.index(max(weights))

    def nodes(self):
        """Return the nodes as Trees number them: children at their parent, left subtrees first."""
        order, stack = [self.root], [self.root]
        while stack:
            node = stack.pop()
            order += node.children
            stack += reversed(node.children)
        return order
