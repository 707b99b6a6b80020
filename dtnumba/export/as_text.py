"""The top of a fitted tree as indented text, one line a node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray


SHOWN_CLASSES = SHOWN_LEVELS = 4
ROWS_COLUMN = 48  # where the number of rows stands, if the conditions leave room


class TreeColumns(Protocol):
    """What of `tree_` is read here."""

    feature: NDArray[Any]
    value: NDArray[Any]
    n_node_samples: NDArray[Any]
    missing_go_to_left: NDArray[Any]
    trees: Any  # with threshold, level_start and level: the numbers and the categories that go left

    def children(self, node: int) -> NDArray[Any]:
        """Return the children of a node, none of a leaf."""
        ...


def outline(
    tree: TreeColumns,
    names: Sequence[str],
    with_missing: NDArray[np.bool_],
    classes: Sequence[object] | None,
    categories: Sequence[Sequence[str] | None],
    levels: int = 3,
) -> Iterator[str]:
    """Yield a line for each node of the first `levels` levels below the root, children under their parent.

    Parameters
    ----------
    tree : TreeColumns
        The columns of a fitted tree.
    names : sequence of str
        The features' names.
    with_missing : (n_features,) bool
        Which features had missing values; only for them is said where missing values go.
    classes : sequence, optional
        The classes in the order of `tree.value`; None for a regression tree.
    categories : sequence of sequence of str or None
        The names of each feature's categories, in the order in which the tree numbers them; None of one of numbers.
    levels : int
        How deep to go.
    """
    stack = [(0, 0, "all rows")]
    while stack:
        node, level, condition = stack.pop()
        rows = f"{int(tree.n_node_samples[node]):,} rows"
        children = tree.children(node)
        inner = len(children) > 0
        more = "  ..." if inner and level == levels else ""
        yield f"{'  ' * level + condition:<{ROWS_COLUMN}} {rows:>14}  {_contents(tree.value[node, 0], classes)}{more}"
        if inner and level < levels:
            feature = int(tree.feature[node])
            own = categories[feature]
            cut, (left, right) = float(tree.trees.threshold[node]), children.tolist()
            ways = _sets(tree, node, own) if own is not None else (f"<= {cut:.6g}", f"> {cut:.6g}")
            left_too, right_too = "", ""
            if not ways:  # the test is whether there is a value
                ways = ("is missing", "has a value") if tree.missing_go_to_left[node] else ("has a value", "is missing")
            elif with_missing[feature]:
                left_too, right_too = (" or missing", "") if tree.missing_go_to_left[node] else ("", " or missing")
            stack.append((right, level + 1, f"{names[feature]} {ways[1]}{right_too}"))
            stack.append((left, level + 1, f"{names[feature]} {ways[0]}{left_too}"))


def _sets(tree: TreeColumns, node: int, names: Sequence[str]) -> tuple[str, str] | tuple[()]:
    start = tree.trees.level_start
    among = tree.trees.level[start[node] : start[node + 1]] if len(start) > 1 else []
    if len(among) == 0:
        return ()
    shown = [repr(names[k]) for k in among[:SHOWN_LEVELS]]
    if len(among) > SHOWN_LEVELS:
        shown.append(f"{len(among) - SHOWN_LEVELS} more")
    return f"in {', '.join(shown)}", f"not in {', '.join(shown)}"


def _contents(value: NDArray[Any], classes: Sequence[object] | None) -> str:
    """Say what a node holds: its mean, or its classes with their shares, the largest shares first if not all fit."""
    if classes is None:
        return f"mean {float(value[0]):.6g}"
    shown = list(range(len(classes)))
    if len(classes) > SHOWN_CLASSES:
        shown = np.argsort(-value, kind="stable")[:SHOWN_CLASSES].tolist()
    parts = [f"{classes[k]} {float(value[k]):.0%}" for k in shown]
    if len(classes) > SHOWN_CLASSES:
        parts.append(f"{len(classes) - SHOWN_CLASSES} more")
    return ", ".join(parts)
