"""How a model of C5.0 does on the rows of its fit, and which columns it looks at to answer them."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.prediction.confident_votes import votes_of_soft_trees, votes_of_trees
from dtnumba.prediction.fractional import probabilities_in_blocks
from dtnumba.rules.c50.make_rules import votes_of
from dtnumba.rules.c50.votes import said_of, voters_of
from dtnumba.rules.layout import as_asked, body_of, holds
from dtnumba.runtime.tasks import n_workers
from dtnumba.tables.weights import read_weight, weight_in_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.rules.layout import Rules
    from dtnumba.tables.table import Table
    from dtnumba.trees.layout import Trees

_OF_ROWS = {"trial_errors_", "trial_costs_", "feature_usage_", "errors_", "n_cases_", "confusion_", "utility_errors_"}
_MOST_CLASSES = 100  # of which a table of classes against classes is kept


class Tally:
    """What a model learns of its own answers to the rows of its fit, trial by trial."""

    def __init__(self, table: Table, codes: NDArray[np.int64], weight: NDArray[np.float64], k: int, rule: Any) -> None:
        self.table, self.codes, self.weight, self.rule = table, codes, weight, rule
        self.votes = np.zeros((len(codes), k))  # takes no memory until there are votes
        self.seen = np.zeros((len(codes), table.n_features), np.uint8)  # which values of a row are looked at
        self.errors: list[float] = []
        self.costs: list[float] = []
        self.label = np.zeros(0, np.int64)  # by the trial counted last

    def blank(self) -> Tally:
        """Return one in which no trial is counted."""
        return Tally(self.table, self.codes, self.weight, self.votes.shape[1], self.rule)

    def add(self, label: NDArray[np.int64], sure: NDArray[np.float64] | None = None) -> None:
        """Count a trial that labels the rows so, and votes for that by so much; None: there is no vote."""
        self.label = label
        self.errors.append(float(self.weight[label != self.codes].sum()))
        lost = 0.0 if self.rule is None else float((self.weight * self.rule.costs[self.codes, label]).sum())
        self.costs.append(lost)
        if sure is not None:
            self.votes[np.arange(len(label)), label] += sure

    def of_bands(self, rules: Rules) -> NDArray[np.float64]:
        """Return the weight of the rows that the first rule gets wrong, the first two, and so on."""
        return errors_of_bands(rules, self.table, self.codes, self.weight)

    def learned(self, label: NDArray[np.int64]) -> dict[str, Any]:
        """Return the attributes of a model that labels the rows so."""
        total, k = float(self.weight.sum()), self.votes.shape[1]
        usage = np.array([np.bincount(column, self.weight, 2)[1] for column in self.seen.T]) / total
        learned: dict[str, Any] = {
            "trial_errors_": np.array(self.errors),
            "trial_costs_": np.array(self.costs),
            "feature_usage_": usage,
            "errors_": float(self.weight[label != self.codes].sum()),
            "n_cases_": total,
        }
        if k <= _MOST_CLASSES:
            learned["confusion_"] = np.bincount(self.codes * k + label, self.weight, k * k).reshape(k, k)
        return learned


def evaluated(
    trees: list[Trees],
    rules: list[Rules],
    table: Table,
    tally: Tally,
    workers: int,
    soft: list[NDArray[np.float64]],
) -> dict[str, Any]:
    """Return what a model learns of its own answers: errors and costs of its trials, confusion, use of columns.

    The tally may know of the trials already, and of the values that their trees look at. ``soft`` are the soft cuts of
    each tree, or none.
    """
    is_done = len(tally.errors) > 0
    for t, tree in enumerate(trees):
        if rules:
            _mark_rules(tally.seen, rules[t], table)
        if is_done:
            continue
        if rules:
            said = said_of(table, voters_of(rules[t], table.bits), workers)
            tally.add(said.label, said.sure())
        elif len(trees) == 1:
            label = np.empty(table.n_rows, np.int64)
            for rows, shares in probabilities_in_blocks(table, tree, workers, tally.seen, soft[0] if soft else None):
                label[rows] = shares.argmax(axis=1) if tally.rule is None else tally.rule.codes(shares)
            tally.add(label)
        elif soft:
            tally.add(*labels_by_votes(votes_of_soft_trees(table, tree, soft[t], workers, tally.seen)))
        else:
            tally.add(*labels_by_votes(votes_of_trees(table, tree, workers, seen=tally.seen)))
    return tally.learned(tally.votes.argmax(axis=1) if len(trees) > 1 else tally.label)


def labels_by_votes(votes: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the class of the most votes of each row, and these votes."""
    label = votes.argmax(axis=1)
    return label, votes[np.arange(len(votes)), label]


def evaluated_on(model: Any, X: Any, y: Any, sample_weight: Any) -> dict[str, Any] | None:
    """Return how a fitted model does on rows, by the names of what it learns of its own; None without rows."""
    if X is None and y is None:
        return None
    if X is None or y is None:
        raise ValueError(f"summary: pass both X and y, got {'y' if X is None else 'X'} alone")
    table, labels = model.read_known(X, y)
    weight = weight_in_rows(read_weight(sample_weight, table.n_rows))
    weight = np.ones(table.n_rows) if weight is None else weight
    trees, rules = [view.trees for view in vars(model)["trial_trees_"]], vars(model).get("rules_", ())
    tally = Tally(table, labels.codes[:, 0], weight, trees[0].value.shape[1], model.label_rule)
    own = trees, [one.arrays for one in rules], table, tally
    return evaluated(*own, n_workers(model.n_jobs), vars(model).get("soft_cuts_", []))


def without_rows(model: Any) -> Any:
    """Return a copy of a fitted model that says nothing about the rows of ``fit``, for other trees."""
    twin = copy.copy(model)
    for name in _OF_ROWS & vars(twin).keys():
        del vars(twin)[name]
    return twin


def demand_rows(name: str) -> None:
    """Raise AttributeError where an attribute is one of those that ``without_rows`` takes away."""
    if name in _OF_ROWS:
        raise AttributeError(
            f"{name}: how trees do on the rows of fit is known of those that fit has made, and these are pruned, or "
            "one of several; summary(X, y) tells it of any rows"
        )


def errors_of_bands(
    rules: Rules, table: Table, codes: NDArray[np.int64], weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the weight of the rows that the first rule gets wrong, the first two, and so on."""
    votes, found = np.zeros((len(codes), rules.n_classes), np.int64), np.zeros(rules.n_rules)
    own = votes_of(rules.covered, rules.correct)
    columns: dict[int, NDArray[np.float64]] = {}
    for r in range(rules.n_rules):
        votes[_covered(rules, r, table, columns), rules.label[r]] += own[r]
        label = np.where(votes.max(axis=1) == 0, rules.default, votes.argmax(axis=1))
        found[r] = weight[label != codes].sum()
    return found


def _covered(rules: Rules, r: int, table: Table, columns: dict[int, NDArray[np.float64]]) -> NDArray[np.bool_]:
    """Return for which rows a rule holds; ``columns`` are those that were read so far."""
    is_in = np.ones(table.n_rows, bool)
    for test in as_asked(body_of(rules, r), rules.cuts_at, table.bits):
        if test.feature not in columns:
            columns[test.feature] = table.column(test.feature)
        is_in &= holds(test, columns[test.feature])
    return is_in


def _mark_rules(seen: NDArray[np.uint8], rules: Rules, table: Table) -> None:
    """Mark the columns that the rules ask about that hold for each row."""
    columns: dict[int, NDArray[np.float64]] = {}
    for r in range(rules.n_rules):
        is_in = _covered(rules, r, table, columns)
        for test in body_of(rules, r):
            seen[is_in, test.feature] = 1
