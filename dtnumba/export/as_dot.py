"""Trees as text of Graphviz: ``dot -Tsvg`` draws it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dtnumba.export.as_text import Told, feature_names_of
from dtnumba.export.reading import read_trees

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def dot(
    model: Any, tree: int | None = None, max_depth: int | None = None, *, feature_names: Sequence[str] | None = None
) -> str:  # fmt: skip
    r"""Return trees as a graph in the language of Graphviz.

    Parameters
    ----------
    model : fitted estimator
        Of trees.
    tree : int, optional
        The number of one tree of a forest; by default all stand side by side.
    max_depth : int, optional
        How many tests deep to go; by default all.
    feature_names : sequence of str, optional
        What columns are called; by default as in ``fit``.

    Examples
    --------
    >>> from dtnumba import DecisionTreeRegressor, export
    >>> print(export.dot(DecisionTreeRegressor().fit([[1.0], [9.0]], [2.0, 3.0])), end="")
    digraph {
      node [shape=box, style=rounded, fontname="sans-serif"];
      edge [fontname="sans-serif"];
      0 [label="x0\n2 rows\nmean 2.5"];
      0 -> 1 [label="<= 5.0"];
      1 [label="1 row\nmean 2"];
      0 -> 2 [label="> 5.0 (or missing)"];
      2 [label="1 row\nmean 3"];
    }

    """
    found = read_trees(model, "dot", sums=True, says_rows=True, indicators=True)
    told = Told(found, model, feature_names_of(feature_names, len(found.columns.names)))
    roots = told.roots(tree)
    font = 'fontname="sans-serif"'
    lines = ["digraph {", f"  node [shape=box, style=rounded, {font}];", f"  edge [{font}];"]
    for root in roots:
        lines += _lines(told, root, max_depth)
    return "\n".join([*lines, "}"]) + "\n"


def _lines(told: Told, root: int, max_depth: int | None) -> Iterator[str]:
    waiting, drawn = [(root, -1, 0, "")], set()
    while waiting:
        place, parent, depth, condition = waiting.pop()
        node = place if told.joined(place) < 0 else told.joined(place)
        if parent >= 0:
            yield f"  {parent} -> {node} [label={_quoted(condition)}];"
        if node in drawn:
            continue
        drawn.add(node)
        children = told.children(node)
        is_cut = bool(children) and max_depth is not None and depth >= max_depth
        parts = [told.column(node)] if children and not is_cut else []
        parts += [told.rows(node), told.contents(node)]
        text = [part for part in parts if part] + ["..."] * is_cut
        yield f"  {node} [label={_quoted(chr(10).join(text))}];"
        if not is_cut:
            found = [(child, node, depth + 1, told.condition(node, child, named=False)) for child in children]
            waiting += reversed(found)


def _quoted(text: str) -> str:
    """Return text as Graphviz reads it: backslashes and quotes escaped, line ends as they are centred."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\r", "").replace("\n", "\\n")
    return f'"{escaped}"'
