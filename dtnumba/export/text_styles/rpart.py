"""A tree as R's rpart prints it: node number, split, rows, loss or deviance, what is predicted, shares of classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dtnumba.export.reading import refuse
from dtnumba.export.text_styles.printed import MOST_LEVELS, Branch, Printed, listed
from dtnumba.trees.r_numbers import columns_of, short, signif
from dtnumba.trees.subtrees import errors_as_leaf

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_INDENT = 64
SHARES_IN_FULL = 5  # of fewer classes


class RpartLine(NamedTuple):
    """One node in rpart's order and numbering."""

    number: int  # the children of node k are 2 k and 2 k + 1
    node: int
    depth: int
    split: str
    is_cut: bool  # whether it has children that are not shown


class RpartFrame:
    """The nodes of a tree in rpart's order: the child of lower mean, or of classes of lower number, is the left one."""

    def __init__(self, printed: Printed, max_depth: int | None = None, max_levels: int | None = MOST_LEVELS,
                 digits: int = 7) -> None:  # fmt: skip
        printed.one_output()
        self.is_classes = printed.classes is not None
        or_weka = ' or style="weka"' if printed.caller == "text" and self.is_classes else ""
        refuse(
            printed.caller, printed.with_more_children(), "they have more children than two, which rpart's numbers of "
            "nodes have no room for", printed.instead + or_weka,
        )  # fmt: skip
        self.printed, self._digits, self._most = printed, digits, max_levels
        trees = printed.trees
        self.scale = 1.0
        if self.is_classes and printed.rule is None and getattr(printed.model, "priors", None) is None:
            self.mean = printed.value @ np.arange(printed.sizes[0])
        elif self.is_classes:
            self.scale = _scale(printed)
            self.mean = _altered(printed) @ np.arange(printed.sizes[0])
        else:
            self.mean = printed.value[:, 0]
        self.weight: NDArray[np.float64] = trees.weight * self.scale
        self.lines = self._read(max_depth)

    def order(self, node: int) -> list[int]:
        """Return 0 and 1, the children's places, the left one of rpart first."""
        first, second = self.printed.children(node)
        return [0, 1] if self.mean[first] < self.mean[second] else [1, 0]

    def _read(self, max_depth: int | None) -> list[RpartLine]:
        printed, found = self.printed, []
        stack: list[tuple[int, int, int, str, dict[int, set[int]]]] = [(1, 0, 0, "root", {})]
        while stack:
            number, node, depth, split, reached = stack.pop()
            is_leaf = printed.is_leaf(node)
            is_cut = not is_leaf and max_depth is not None and depth >= max_depth
            found.append(RpartLine(number, node, depth, split, is_cut))
            if is_leaf or is_cut:
                continue
            branches = printed.branches(node, reached)
            name = printed.tested(node)
            for side, k in reversed(list(enumerate(self.order(node)))):
                branch = branches[k]
                text = name + self._asked(node, branch)
                stack.append(
                    (2 * number + side, branch.child, depth + 1, text, printed.reached_below(node, branch, reached))
                )
        return found

    def _asked(self, node: int, branch: Branch) -> str:
        printed = self.printed
        if branch.levels is not None:
            names = printed.levels[int(printed.trees.feature[node])] or []
            if not branch.levels:
                return " is missing" if branch.takes_missing else " is known"
            return "=" + listed([names[c] for c in branch.levels], self._most, ",")
        if len(branch.ranges) != 1:
            return _ranges(branch, self._digits)
        low, high = branch.ranges[0]
        if (low == -np.inf) == (high == np.inf):
            return _ranges(branch, self._digits)
        below, above = ("<=", "> ") if printed.cuts_are_values else ("< ", ">=")
        return below + short(high, self._digits) if low == -np.inf else above + short(low, self._digits)

    def loss(self) -> NDArray[np.float64]:
        """Return what every node loses as a leaf: labels that are wrong, what they cost, or the deviance."""
        printed = self.printed
        if not self.is_classes:
            unit = 2.0 if getattr(printed.model, "criterion", None) == "poisson" else 1.0
            return np.asarray(unit * printed.trees.weight * printed.trees.impurity)
        costs = None if printed.rule is None else printed.rule.costs
        return errors_as_leaf([printed.counts], costs) * self.scale


def _scale(printed: Printed) -> float:
    """Return what a weight is multiplied by, so that the root weighs its rows: priors change the weights of rows."""
    return float(printed.trees.n_samples[0] / printed.trees.weight[0])


def _altered(printed: Printed) -> NDArray[np.float64]:
    """Return the shares of classes that growth saw, where costs weigh rows of each class: by the sum of their costs."""
    costs = None if printed.rule is None else printed.rule.costs
    if costs is None:
        return printed.value
    weighed = printed.value * np.asarray(costs).sum(axis=1)
    return np.asarray(weighed / weighed.sum(axis=1, keepdims=True))


def _ranges(branch: Branch, digits: int) -> str:
    parts = []
    for low, high in branch.ranges:
        if low == -np.inf and high == np.inf:
            return " is known"
        if low == -np.inf:
            parts.append(f"<={short(high, digits)}")
        else:
            parts.append(f"> {short(low, digits)}" + ("" if high == np.inf else f" and <={short(high, digits)}"))
    return " or ".join(parts) or " is missing"


def rpart(printed: Printed, max_depth: int | None = None, max_levels: int | None = None, digits: int = 7) -> str:
    """Return a tree as print.rpart writes it."""
    frame = RpartFrame(printed, max_depth, MOST_LEVELS if max_levels is None else max_levels, digits)
    lines, trees = frame.lines, printed.trees
    nodes = [line.node for line in lines]
    width = max(len(str(line.number)) for line in lines)
    losses = columns_of([signif(x, digits) for x in frame.loss()[nodes].tolist()])
    said = predictions(frame, nodes, digits)
    out = [f"n= {int(trees.n_samples[0])} ", ""]
    out.append("node), split, n, loss, yval, (yprob)" if frame.is_classes else "node), split, n, deviance, yval")
    out += ["      * denotes terminal node", ""]
    for line, loss, text in zip(lines, losses, said, strict=True):
        end = f"... {printed.n_below[line.node]:,} nodes below" if line.is_cut else " "
        end = "*" if printed.is_leaf(line.node) else end
        indent = " " * min(2 * line.depth, MOST_INDENT)
        rows = int(trees.n_samples[line.node])
        out.append(f"{indent}{line.number:>{width}}) {line.split} {rows} {loss} {text} {end}")
    return "\n".join(out) + "\n"


def predictions(frame: RpartFrame, nodes: list[int], digits: int) -> list[str]:
    """Return what nodes predict: a label with the shares of classes, or a number."""
    printed = frame.printed
    if printed.classes is None:
        return columns_of([signif(x, digits) for x in printed.value[nodes, 0].tolist()])
    names, shares = printed.classes[0], printed.value[nodes]
    if len(names) < SHARES_IN_FULL:
        flat: list[str] = columns_of(shares.reshape(-1).tolist(), digits, digits)
    else:
        flat = [short(x, 2) for x in shares.reshape(-1).tolist()]
    k = len(names)
    labels = printed.labels[nodes, 0].tolist()
    return [f"{names[label]} ({' '.join(flat[i * k : i * k + k])})" for i, label in enumerate(labels)]
