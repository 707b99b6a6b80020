"""What ``model.summary()`` returns: of a tree what summary.rpart prints where it can, else facts and an outline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.export.as_text import check_whole, feature_names_of, text
from dtnumba.export.reading import ExportError, ReadTrees, read
from dtnumba.export.text_styles.competing import Competition
from dtnumba.export.text_styles.printed import Printed, plain
from dtnumba.export.text_styles.rpart_summary import RpartSummary
from dtnumba.trees.graphs import may_join, replication

if TYPE_CHECKING:
    from collections.abc import Sequence

SHOWN_FEATURES = 20
SHOWN_DEPTH = 4


def summary(
    model: Any, X: Any = None, y: Any = None, *, sample_weight: Any = None, table: Any = None,
    feature_names: Sequence[str] | None = None, digits: int = 7,
) -> str:  # fmt: skip
    """Return a fitted model in words.

    Parameters
    ----------
    model : fitted estimator
        Of trees or rules.
    X, y, sample_weight : arrays, optional
        The rows that a tree was grown on, for the splits that competed with its own, and for rows without a value.
    table : AlphaTable, optional
        Of the tree, for the errors of held-out rows beside each of its subtrees.
    feature_names : sequence of str, optional
        What columns are called; by default as in ``fit``.
    digits : int
        Significant digits of numbers.

    """
    check_whole("digits", digits, 1, "a number of digits of 1 or more")
    if digits is None:
        raise ValueError("digits=None: must be a number of digits of 1 or more")
    if table is not None and not hasattr(table, "lines"):
        raise TypeError(
            f"summary: table={type(table).__name__} has no subtrees; pass what "
            'pruners.CostComplexity(cp="cv").table(model, X, y) returns'
        )
    found = read(model, sums=True, says_rows=True, indicators=True)
    if (X is None) != (y is None):
        raise ValueError(f"summary: pass both X and y, got {'y' if X is None else 'X'} alone")
    if X is not None and not isinstance(found, ReadTrees):
        raise ExportError("summary: rules have no splits that competed; leave out X and y")
    if not isinstance(found, ReadTrees):
        return f"{_title(model)}\n\n{text(model)}"
    names = feature_names_of(feature_names, len(found.columns.names)) or found.columns.names
    is_plain = hasattr(model, "tree_") and not found.trees.is_compact and not hasattr(model, "message_length_")
    if is_plain and len(found.columns.sizes) == 1:
        printed = Printed(found, model, names=names)
        if not len(printed.with_more_children()):
            rows = None if X is None else Competition(printed, X, y, sample_weight)
            lines = RpartSummary(printed, digits, rows).lines(table)
            return "\n".join([*lines, *repeats_of(model)]) + "\n"
    if X is not None:
        raise ExportError(
            "summary: rows are looked at again for trees of two children a node and of one output; leave out X and y"
        )
    lines = [_title(model), *_facts(model), *repeats_of(model), *_importances(model, names)]
    if hasattr(model, "tree_"):
        lines += ["", text(model, max_depth=SHOWN_DEPTH, feature_names=feature_names).rstrip("\n")]
    return "\n".join(lines) + "\n"


def _title(model: Any) -> str:
    return f"{type(model).__name__} of {int(model.n_features_in_):,} columns"


def _facts(model: Any) -> list[str]:
    if hasattr(model, "tree_"):
        return [f"{model.n_leaves_:,} leaves, {model.n_nodes_:,} nodes, depth {model.depth_}", *_message(model)]
    trees = model.trees_
    sizes = np.diff(trees.root)
    found = [f"{trees.n_trees:,} trees of {int(sizes.min()):,} to {int(sizes.max()):,} nodes"]
    score = getattr(model, "oob_score_", None)
    return found if score is None else [*found, f"out-of-bag score {float(score):.4f}"]


def repeats_of(model: Any) -> list[str]:
    """Return how much of a tree stands there twice, in words; nothing where nothing does."""
    trees = getattr(model, "trees_", None)
    if trees is None or trees.n_trees > 1 or trees.is_graph or not may_join(trees):
        return []
    found = replication(trees)
    if not found.n_repeats:
        return []
    n, more = found.n_repeats, f"{found.n_nodes_repeated:,} nodes, learned from {found.n_rows_repeated:,} rows"
    return [f"{n:,} subtree{'s are repeats' if n > 1 else ' is a repeat'}: {more}"]


def _message(model: Any) -> list[str]:
    """Return the bits of a decision graph and of the labels that it says."""
    length = getattr(model, "message_length_", None)
    if length is None:
        return []
    parts = ", ".join(f"{name} {getattr(length, name):.1f}" for name in ("structure", "tests", "data"))
    n = model.n_joins_
    return [f"{n:,} join{'s' * (n != 1)}, message of {length.total:.1f} bits: {parts}"]


def _importances(model: Any, names: Sequence[str]) -> list[str]:
    worth = np.asarray(model.feature_importances_)
    order = np.argsort(-worth, kind="stable")[:SHOWN_FEATURES].tolist()
    order = [j for j in order if worth[j] > 0]
    if not order:
        return []
    names = [plain(name) for name in names]  # each on its line
    width = max(len(names[j]) for j in order)
    more = int(np.count_nonzero(worth > 0)) - len(order)
    shown = [f"{names[j]:<{width}}  {worth[j]:6.4f}" for j in order]
    return ["", "Feature importances", *shown, *([f"and {more:,} more"] if more > 0 else [])]
