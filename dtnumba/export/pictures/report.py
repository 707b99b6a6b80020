"""A report on a model and some rows: what they are, how well they are predicted, what the trees look like."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.export.pictures.charts import bars, card, columns, counts_table, lines, note, points
from dtnumba.export.pictures.facts import parameters_of
from dtnumba.export.pictures.page_parts import table_of_facts
from dtnumba.export.pictures.words import clean, number, share
from dtnumba.export.replay import places_of
from dtnumba.export.text_styles.summary import repeats_of
from dtnumba.tables.cells import values_of
from dtnumba.trees.layout import BY_SHARE, LEAF, depths, nodes_at
from dtnumba.trees.subtrees import depth_levels, nested_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.export.reading import Columns
    from dtnumba.tables.table import Table

_MOST_BARS, _MOST_CLASSES, _MOST_POINTS, _MOST_SIZES = 15, 12, 600, 200


def report(model: Any, table: Table, targets: NDArray[Any] | None, names: Columns) -> str:
    """Return a report as markup; without targets it says nothing about how well rows are predicted."""
    cards = [_data(model, table, targets, names)]
    if targets is not None:
        predicted = np.asarray(model.predict(table)).reshape(targets.shape)
        cards += [_score(model, table, targets), *_outcomes(model, targets, predicted, names)]
    cards += [_importances(model, names), *_shape(model)]
    if targets is not None:
        cards.append(_pruning(model, table, targets))
    cards.append(card("Parameters", table_of_facts(parameters_of(model))))
    return f'<section class="report" id="report"><h2>Report</h2><div class="cards">{"".join(cards)}</div></section>'


def _data(model: Any, table: Table, targets: NDArray[Any] | None, names: Columns) -> str:
    missing = np.zeros(table.n_features, np.int64)
    for _, cells in table.row_blocks():
        missing += np.isnan(values_of(cells)).sum(axis=0)
    n = max(table.n_rows, 1)
    kinds = sum(own is not None for own in names.levels)
    facts: list[tuple[str, Any]] = [
        ("Rows", f"{table.n_rows:,}"),
        ("Columns", f"{table.n_features:,}, of which {kinds:,} of categories"),
        ("Missing", f"{int(missing.sum()):,} values ({share(float(missing.sum()) / (n * max(table.n_features, 1)))})"),
    ]
    body = [table_of_facts(facts)]
    most = np.argsort(-missing, kind="stable")[:5]
    most = most[missing[most] > 0]
    if len(most):
        parts = [float(missing[j] / n) for j in most]
        body += [note("Columns that miss most:"), bars([names.names[j] for j in most], parts, list(map(share, parts)))]
    if targets is not None and hasattr(model, "classes_"):
        counted = Counter(clean(value) for value in targets[:, 0].tolist()).most_common(_MOST_CLASSES)
        sizes = [count for _, count in counted]
        body += [note("Rows of each class:"), bars([name for name, _ in counted], sizes, [f"{k:,}" for k in sizes])]
    return card("Data", *body)


def _score(model: Any, table: Table, targets: NDArray[Any]) -> str:
    y = targets if targets.shape[1] > 1 else targets[:, 0]
    score = float(model.score(table, y))
    is_classes = hasattr(model, "classes_")
    what = "of the rows get their label" if is_classes else "R squared"
    body = [f'<div class="big">{score:.1%}</div>' if is_classes else f'<div class="big">{score:.4f}</div>', note(what)]
    facts: list[tuple[str, Any]] = []
    if is_classes and model.label_rule is not None:
        facts.append(("Mean cost", number(model.expected_cost(table, y))))
    if not is_classes:
        gap = np.asarray(model.predict(table)).reshape(targets.shape) - targets.astype(np.float64)
        facts += [
            ("Root of mean square", number(float(np.sqrt((gap**2).mean())))),
            ("Mean error", number(float(np.abs(gap).mean()))),
        ]
    if getattr(model, "oob_score", False) and hasattr(model, "oob_score_"):
        facts.append(("Out of bag", f"{model.oob_score_:.4f}"))
    return card("Score", *body, table_of_facts(facts), note(_whose(model, table.n_rows)))


def _whose(model: Any, n: int) -> str:
    """Say what was scored: a page cannot know which rows the model has seen, but it knows how many."""
    said = f"Scored on the {n:,} rows that were given to export.html. "
    trees = getattr(model, "trees_", None)
    fitted = None if trees is None or trees.is_compact or trees.n_trees > 1 else int(trees.n_samples[0])
    if fitted == n:
        return said + "The model was fitted on as many: if these are the same rows, this is no held-out score."
    return said + "It is a held-out score if fit has seen none of them."


def _outcomes(model: Any, targets: NDArray[Any], predicted: NDArray[Any], names: Columns) -> list[str]:
    """Return which labels are taken for which, or true and predicted values."""
    if names.classes is None:
        pick = np.unique(np.linspace(0, len(targets) - 1, min(len(targets), _MOST_POINTS)).astype(np.int64))
        true, said = (values[pick, 0].astype(np.float64).tolist() for values in (targets, predicted))
        return [card("Predicted and true", points(true, said, "true", "predicted"))]
    found = []
    for o, own in enumerate(model.class_lists()):
        classes = np.asarray(own).tolist()
        truth, code = (places_of(values[:, o].tolist(), classes) for values in (targets, predicted))
        known, k = truth >= 0, len(classes)
        counts = np.bincount(truth[known] * k + code[known], minlength=k * k).reshape(k, k)
        shown = np.sort(np.argsort(-counts.sum(axis=1), kind="stable")[:_MOST_CLASSES])
        body = [
            counts_table(
                [clean(names.classes[o][j]) for j in shown], counts[np.ix_(shown, shown)].tolist(), "true, predicted"
            )
        ]
        if k > len(shown):
            body.append(note(f"The {len(shown)} classes of most rows; there are {k:,}."))
        if not known.all():
            body.append(note(f"{int((~known).sum()):,} rows have a label that was not in fit."))
        found.append(card("Confusion" if len(names.classes) == 1 else f"Confusion, output {o}", *body))
    return found


def _importances(model: Any, names: Columns) -> str:
    if not hasattr(model, "feature_importances_"):
        return ""
    values = np.asarray(model.feature_importances_)
    if np.isnan(values).all():
        return ""
    most = np.argsort(-values, kind="stable")[:_MOST_BARS]
    spread = np.asarray(model.importances_std_) if hasattr(model, "importances_std_") else None
    figures = [f"{values[j]:.3f}" + (f" ±{spread[j]:.3f}" if spread is not None else "") for j in most]
    body = [bars([names.names[j] for j in most], values[most].tolist(), figures)]
    if len(values) > len(most):
        body.append(note(f"The first {len(most)} of {len(values):,} columns."))
    return card("Importances", *body)


def _shape(model: Any) -> list[str]:
    """Return how deep leaves lie, and how many rows they have."""
    trees = None if hasattr(model, "rules_") else getattr(model, "trees_", None)
    if trees is None:
        return []
    is_leaf = (trees.feature == LEAF) & (nodes_at(trees, np.arange(trees.n_nodes)) == np.arange(trees.n_nodes))
    by_depth = np.bincount(depths(trees)[is_leaf])
    found = [
        card("Leaves by depth", columns(by_depth.tolist(), [str(d) for d in range(len(by_depth))], "depth", "leaves"))
    ]
    if not trees.is_compact:
        size = np.maximum(trees.n_samples[is_leaf], 1)
        power = np.frexp(size.astype(np.float64))[1] - 1
        counts = np.bincount(power)
        labels = [f"{1 << k:,}" if k == 0 else f"{1 << k:,}+" for k in range(len(counts))]
        found.append(card("Leaves by rows", columns(counts.tolist(), labels, "rows, by powers of two", "leaves")))
    repeats = repeats_of(model)
    return found + ([card("Repeats", note(repeats[0] + "."))] if repeats else [])


class PruningCurve(NamedTuple):
    """The subtrees that pruning by cost and complexity passes through, the largest first."""

    leaves: NDArray[np.float64]
    error: NDArray[np.float64]  # on the rows of the report
    training: NDArray[np.float64] | None  # as the nodes say; None where what they hold is no error


def pruning_curve(model: Any, table: Table, targets: NDArray[Any]) -> PruningCurve | None:
    """Return the errors of the subtrees of one fitted tree, by one descent of the rows; None where it has no such."""
    from dtnumba.pruners.engines.weakest_link import impurity_risk, links_of
    from dtnumba.validation.node_losses import losses_by_node, predicted_by_node

    trees = getattr(model, "trees_", None)
    is_one = not hasattr(model, "forest_") and targets.shape[1] == 1 and model.label_rule is None
    if trees is None or not is_one or trees.is_compact or trees.n_nodes == 1:
        return None
    if (
        trees.policy == BY_SHARE or trees.may_stay or trees.is_graph
    ):  # rows that do not end in one leaf have no place in all subtrees
        return None
    levels = depth_levels(trees)
    at = links_of(trees, impurity_risk(trees), levels).at
    marks = np.concatenate([[-np.inf], np.unique(at[trees.feature != LEAF])])
    is_classes = hasattr(model, "classes_")
    says = predicted_by_node(model, model.target_seen)[:, 0]
    if is_classes:
        truth: NDArray[Any] = places_of(targets[:, 0].tolist(), model.classes_.tolist())
        own = 1.0 - trees.value[np.arange(trees.n_nodes), says]
    else:
        truth, own = targets[:, 0].astype(np.float64), trees.impurity

    def loss(rows: NDArray[np.int64], nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        gap = truth[rows] != says[nodes] if is_classes else (truth[rows] - says[nodes]) ** 2
        return np.asarray(gap, np.float64)

    lost, _ = losses_by_node(trees, levels, model.tree_.leaves(table), loss, np.ones(table.n_rows))
    leaves = nested_sums(trees, levels, at, np.ones(trees.n_nodes), marks)
    error = nested_sums(trees, levels, at, lost, marks) / max(table.n_rows, 1)
    training = nested_sums(trees, levels, at, own * trees.weight, marks) / trees.weight[0]
    holds_error = is_classes or getattr(model, "criterion", "") == "squared_error"
    return PruningCurve(leaves, error, training if holds_error else None)


def _pruning(model: Any, table: Table, targets: NDArray[Any]) -> str:
    curve = pruning_curve(model, table, targets)
    if curve is None:
        return ""
    order = np.argsort(curve.leaves, kind="stable")
    best = int(order[np.argmin(curve.error[order])])
    order = order[np.unique(np.linspace(0, len(order) - 1, min(len(order), _MOST_SIZES)).astype(np.int64))]
    drawn = [("these rows", curve.error[order].tolist(), "#d9822b")]
    if curve.training is not None:
        drawn.insert(0, ("training", curve.training[order].tolist(), "var(--accent)"))
    kind = "share of wrong labels" if hasattr(model, "classes_") else "mean square"
    least = f"{int(curve.leaves[best]):,} leaves ({number(float(curve.error[best]))}, {kind})"
    said = f"Least on these rows at {least}; this tree has {model.trees_.n_leaves:,}."
    picture = lines(curve.leaves[order].tolist(), drawn, "leaves", "error")
    return card("Pruning by cost and complexity", picture, note(said))
