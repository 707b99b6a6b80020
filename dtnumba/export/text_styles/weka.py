"""A tree as Weka's J48 prints it: a line a branch, what leaves say, their rows and those of other classes."""

from __future__ import annotations

import math
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING

from dtnumba.export.text_styles.printed import MOST_LEVELS, Branch, Printed, listed, ranges_in_words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SMALL = 1e-6  # a weight of errors that counts as none
PLACES = 6  # decimals of a threshold


def weka(printed: Printed, max_depth: int | None = None, max_levels: int | None = None) -> str:
    """Return a tree of classes as J48 writes it."""
    printed.one_output(of_classes=True)
    counts, labels = printed.counts, printed.labels[:, 0].tolist()
    is_pruned = getattr(getattr(printed.model, "prune", None), "value", None) is not None
    title = f"J48 {'pruned' if is_pruned else 'unpruned'} tree"
    out = [title, "-" * 18]
    most = MOST_LEVELS if max_levels is None else max_levels
    if printed.is_leaf(0):
        out.append(f": {_leaf(printed, counts, labels, 0)}")
    else:
        out += ["", *_lines(printed, counts, labels, max_depth, most)]
    out += ["", f"Number of Leaves  : \t{printed.n_leaves[0]}", "", f"Size of the tree : \t{printed.trees.n_nodes}"]
    return "\n".join(out) + "\n"


def _lines(
    printed: Printed, counts: NDArray[np.float64], labels: list[int], max_depth: int | None, most: int
) -> list[str]:
    found = []
    stack: list[tuple[int, int, str, dict[int, set[int]]]] = [(0, 0, "", {})]
    while stack:
        node, depth, text, reached = stack.pop()
        is_leaf = printed.is_leaf(node)
        is_cut = not is_leaf and max_depth is not None and depth >= max_depth
        if is_leaf:
            text += f": {_leaf(printed, counts, labels, node)}"
        elif is_cut:
            text += f" ... {printed.n_leaves[node]:,} leaves below"
        if depth or is_cut:
            found.append(text)
        if is_leaf or is_cut:
            continue
        feature = int(printed.trees.feature[node])
        branches = printed.branches(node, reached)
        single = _single_of_two(printed, node, branches)
        for k in reversed(range(len(branches))):
            said = "|   " * depth + printed.tested(node) + _asked(printed, feature, branches, k, single, most)
            below = printed.reached_below(node, branches[k], reached)
            stack.append((branches[k].child, depth + 1, said, below))
    return found


def _single_of_two(printed: Printed, node: int, branches: list[Branch]) -> int | None:
    """Return which of two children takes one level where the other takes all others, as binary splits have it."""
    if len(branches) != 2 or branches[0].levels is None or branches[0].is_ordered:
        return None
    is_binary = bool(getattr(printed.model, "binary_splits", False)) or branches[1].is_rest
    sizes = [len(branch.levels or ()) for branch in branches]
    if 1 not in sizes or not (is_binary or max(sizes) > 1):
        return None
    return sizes.index(1)


def _asked(
    printed: Printed, feature: int, branches: list[Branch], k: int, single: int | None, most: int
) -> str:  # fmt: skip
    branch, names = branches[k], printed.levels[feature] or []
    if single is not None:
        only = (branches[single].levels or [])[0]
        return f" {'=' if k == single else '!='} {names[only]}"
    if branch.levels is not None:
        own = [names[c] for c in branch.levels]
        if not own:
            return " is missing"
        return f" = {own[0]}" if len(own) == 1 else "=" + listed([f"({name})" for name in own], most, "|")
    return f" {ranges_in_words(branch.ranges, partial(_cut, printed)) or 'is missing'}"


def _leaf(printed: Printed, counts: NDArray[np.float64], labels: list[int], node: int) -> str:
    assert printed.classes is not None
    total = float(printed.trees.weight[node])
    wrong = total - float(counts[node, labels[node]])
    errors = f"/{hundredths(wrong)}" if wrong > SMALL else ""
    return f"{printed.classes[0][labels[node]]} ({hundredths(total)}{errors})"


def _cut(printed: Printed, x: float) -> str:
    """Return a threshold: J48 rounds it, but for binary splits."""
    return java(x) if getattr(printed.model, "binary_splits", False) else number(x, PLACES)


def hundredths(x: float) -> str:
    """Return a weight rounded to two decimals."""
    return java(math.floor(x * 100.0 + 0.5) / 100.0)


def java(x: float) -> str:
    """Return a double as Java writes it."""
    if x == 0 or 1e-3 <= abs(x) < 1e7:
        return repr(float(x))
    digits, _, exponent = f"{Decimal(repr(float(x))).normalize():e}".partition("e")
    return f"{digits}{'' if '.' in digits else '.0'}E{int(exponent)}"


def number(x: float, places: int) -> str:
    """Return a number rounded to so many decimals, without zeros at its end."""
    text = f"{math.floor(x * 10.0**places + 0.5) / 10.0**places:.{places}f}" if abs(x) < 1e12 else repr(x)
    return (text.rstrip("0").rstrip(".") or "0") if "." in text and "e" not in text else text
