"""C5.0's trials: trees, or the rules of trees, one after another, each for what those before it get wrong."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dtnumba.estimators.c50_steps.evaluation import labels_by_votes
from dtnumba.estimators.c50_steps.soft_cuts import soft_cuts
from dtnumba.estimators.c50_tree import c50_shares, counted_by, dearer_by, fit_tree
from dtnumba.prediction.confident_votes import votes_of_soft_trees, votes_of_trees
from dtnumba.rules.c50.make_rules import Weighed, make_rules, rule_rows
from dtnumba.rules.c50.votes import said_of, voters_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.estimators.c50_steps.evaluation import Tally
    from dtnumba.estimators.c50_tree import C50Options, C50Rows
    from dtnumba.rules.layout import Rules
    from dtnumba.tables.table import Table
    from dtnumba.trees.layout import Trees

_NO_ERROR = 0.1  # weight of errors after which there is nothing left to learn
_TOO_WRONG = 0.49  # share of errors
_FEWEST = 2  # trials so few are one
_MORE_LEAVES = 1.1  # than in the first trial
_LEAST = 1e-3  # of what a row counts at first, that one which is not given up keeps


@dataclass(frozen=True)
class Trials:
    """What to make of rows."""

    n: int  # at most
    rules: bool
    by_utility: bool
    early_stopping: bool
    softens: bool = False  # the cuts of trees


class Committee(NamedTuple):
    """What was made: a tree a trial, and its rules or its soft cuts if asked for."""

    trees: list[Trees]
    rules: list[Rules]
    soft: list[NDArray[np.float64]]
    tally: Tally  # of these trials, or blank
    stopped_after: int = 0  # trials, before the last one asked for; then
    is_accurate: bool = False  # whether the last one had no errors, or else so many that it was dropped


class Round(NamedTuple):
    """One trial: its tree, its rules, how it labels the rows, and how sure it is of that, by the leaves alone, too."""

    tree: Trees
    rules: Rules | None
    label: NDArray[np.int64]
    sure: NDArray[np.float64]
    plain: NDArray[np.float64]
    soft: NDArray[np.float64] | None = None


class Boosting:
    """Trials over one table."""

    def __init__(
        self,
        table: Table,
        rows: C50Rows,
        weight: NDArray[np.float64],
        options: C50Options,
        trials: Trials,
        costs: NDArray[np.float64] | None,
        tally: Tally,
        workers: int,
    ) -> None:
        self.table, self.rows, self.weight, self.costs, self.workers = table, rows, weight, costs, workers
        self.tally = tally
        self.options, self.trials = replace(options, for_rules=trials.rules), trials
        self.n_classes = rows.columns.n_classes
        made_of = table, rows.codes, weight, self.n_classes, rows.is_nominal
        self._rule_rows = rule_rows(*made_of) if trials.rules else None

    def committee(self) -> Committee:
        """Return the trials that are kept."""
        codes, left = self.rows.codes, float(self.weight.sum())
        weight, options, is_dropped, is_accurate = self.weight, self.options, False, False
        so_far = np.zeros((len(codes), self.n_classes))  # what rows are given up by: shares of leaves as they are
        trees: list[Trees] = []
        rules: list[Rules] = []
        soft: list[NDArray[np.float64]] = []
        for t in range(self.trials.n):
            one = self._round(weight, options)
            wrong = one.label != codes
            lost = float(weight[wrong].sum())
            is_nothing = one.tree.n_nodes == 1
            if t == 0:
                share = _MORE_LEAVES * max(int((one.tree.weight[one.tree.feature < 0] > 0).sum()), 1) / left
                options = replace(options, leaves_a_case=share, regrows=False)
            elif self.trials.early_stopping and (is_nothing or lost / left >= _TOO_WRONG):
                is_dropped = True
                break
            trees.append(one.tree)
            rules += [] if one.rules is None else [one.rules]
            soft += [] if one.soft is None else [one.soft]
            self.tally.add(one.label, one.sure)
            is_accurate = lost < _NO_ERROR
            if is_accurate or (is_nothing and t == 0) or t + 1 == self.trials.n:
                break
            so_far[np.arange(len(codes)), one.label] += one.plain
            if 2 * (t + 1) > self.trials.n:
                weight = np.where(_is_lost(so_far, codes, self.trials.n - t - 1), 0.0, weight)
                if not weight.any():
                    break
            weight, left = _shifted(weight, wrong, self.weight)
        n_kept = len(trees) if len(trees) > _FEWEST else 1
        # One tree labels by its probabilities, not by its vote; what a tree looks at counts only if it is kept
        is_tallied = n_kept == len(trees) and (bool(rules) or (n_kept > 1 and not is_dropped))
        tally = self.tally if is_tallied else self.tally.blank()
        is_stopped = len(trees) < self.trials.n and (is_dropped or is_accurate or trees[0].n_nodes == 1)
        stop = (len(trees), is_accurate) if is_stopped else (0, False)
        return Committee(trees[:n_kept], rules[:n_kept], soft[:n_kept], tally, *stop)

    def _round(self, weight: NDArray[np.float64], options: C50Options) -> Round:
        tree = fit_tree(self.rows, weight, options, self.costs)
        seen, plain = self.tally.seen if self._rule_rows is None else None, np.zeros(len(weight))
        if self.trials.softens:
            soft = soft_cuts(self.table, tree, self.rows.codes, weight, self.rows.is_number)
            votes = votes_of_soft_trees(self.table, tree, soft, self.workers, seen, plain)
            return Round(tree, None, *labels_by_votes(votes), plain, soft)
        if self._rule_rows is None:
            votes = votes_of_trees(self.table, tree, self.workers, seen=seen, plain=plain)
            return Round(tree, None, *labels_by_votes(votes), plain)
        if self.costs is None:
            weighed, lost = Weighed(weight, weight, options.min_cases), _errors_of_leaves(tree)
        else:
            weighed, lost = self._with_costs(tree, weight)
        rules = make_rules(self._rule_rows, tree, lost, weighed, self.workers, by_utility=self.trials.by_utility)
        said = said_of(self.table, voters_of(rules, self.table.bits), self.workers)
        sure = said.sure()
        return Round(tree, rules, said.label, sure, sure)

    def _with_costs(self, tree: Trees, weight: NDArray[np.float64]) -> tuple[Weighed, float]:
        """Return what rows count for rules, and how much the tree gets wrong where it labels by costs.

        Cases of two classes weigh their costs there, too, so that these count twice. A tree that gets most cases wrong
        that way says nothing of how good rules may be: then what it gets wrong as it was made is taken.
        """
        assert self.costs is not None, "there are costs"
        dearer, chosen, least = dearer_by(self.rows, weight, self.costs), weight, self.options.min_cases
        if dearer is not None:
            tree = counted_by(self.rows, tree, weight, dearer)
            chosen, least = weight * dearer[self.rows.codes], least * float(dearer.min())
        shares = c50_shares(self.table, tree, self.workers)
        lost = float(weight[(shares @ self.costs).argmin(axis=1) != self.rows.codes].sum())
        if 2.0 * lost >= weight.sum():
            lost = float(chosen[shares.argmax(axis=1) != self.rows.codes].sum())
        return Weighed(chosen, weight, least, self.costs), lost


def _errors_of_leaves(tree: Trees) -> float:
    """Return the weight of the cases that are not of the class of their leaf, where they lie in parts."""
    is_leaf = tree.feature < 0
    return float((tree.weight[is_leaf] * (1.0 - tree.value[is_leaf].max(axis=1))).sum())


def _shifted(
    weight: NDArray[np.float64], wrong: NDArray[np.bool_], cases: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float]:
    """Return weights that move half the way to where rows that are wrong weigh as much as the others, and their sum.

    What wrong rows gain each has by what it counts at first, ``cases``, which the weights of the rows that still take
    part add up to.
    """
    bad, good = (weight > 0) & wrong, (weight > 0) & ~wrong
    won = float(weight[good].sum())
    moved, shifted = (won - float(weight[bad].sum())) / 4.0, np.zeros(len(weight))
    shifted[bad] = weight[bad] + moved * (cases[bad] / cases[bad].sum())
    shifted[good] = weight[good] * ((won - moved) / won if won else 0.0)
    left = float(cases[weight > 0].sum())
    shifted *= left / shifted.sum()
    return np.where(weight > 0, np.maximum(shifted, _LEAST * cases), 0.0), left


def _is_lost(votes: NDArray[np.float64], codes: NDArray[np.int64], left: int) -> NDArray[np.bool_]:
    """Tell of which rows the trials that are left cannot win the label any more."""
    at = np.arange(len(codes))
    own, others = votes[at, codes], votes.copy()
    others[at, codes] = -1.0
    return np.asarray(others.max(axis=1) > own + left)
