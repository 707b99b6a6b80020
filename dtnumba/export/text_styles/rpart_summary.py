"""What summary.rpart prints of a tree: its subtrees, what its columns are worth, and every node with its splits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.export.text_styles.rpart import RpartFrame
from dtnumba.pruners.engines.weakest_link import SAME, links_of, relative_risk, steps_of
from dtnumba.trees.r_numbers import columns_of, matrix, named_row, short, signif
from dtnumba.trees.subtrees import depth_levels, nested_sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dtnumba.export.text_styles.competing import Competition
    from dtnumba.export.text_styles.printed import Printed

NARROW = 25  # cuts below this width are padded to one


class RpartSplit(NamedTuple):
    """One line of the splits of a node."""

    column: str
    asked: str
    is_number: bool
    worth: float  # improvement, or agreement
    adjusted: float
    kind: str = "surrogate"
    n_rows: int | None = None  # rows without a value, or that a surrogate places; None where X is not known


class RpartSummary:
    """The parts of summary.rpart.

    Parameters
    ----------
    printed : Printed
        A tree of two children a node, of one output.
    digits : int
        Of numbers.
    competition : Competition, optional
        The rows, for competing splits and for rows without a value.
    frame : optional
        The nodes in an order of their own, of a tree of any shape whose tables are made and whose lines are not.

    """

    def __init__(
        self, printed: Printed, digits: int = 7, competition: Competition | None = None, frame: Any = None
    ) -> None:  # fmt: skip
        self.printed, self.digits, self._competition = printed, digits, competition
        self.frame = RpartFrame(printed, digits=digits) if frame is None else frame
        trees, costs = printed.trees, None if printed.rule is None else printed.rule.costs
        levels = depth_levels(trees)
        risk = relative_risk(trees, printed.sizes, costs, is_classes=self.frame.is_classes)
        links = links_of(trees, risk, levels)
        alpha = steps_of(links)
        leaves = nested_sums(trees, levels, links.at, np.ones(trees.n_nodes), alpha * (1.0 + SAME))
        self.complexity: NDArray[np.float64] = links.at
        cp = alpha[::-1].copy()
        cp[-1] = self._cp_of_model()
        error = nested_sums(trees, levels, links.at, risk, alpha * (1.0 + SAME))
        self.cptable = [cp, np.rint(leaves[::-1]) - 1.0, error[::-1]]

    def _cp_of_model(self) -> float:
        """Return the cp at which the tree was cut, 0 where it was not."""
        cp = getattr(getattr(getattr(self.printed.model, "prune", None), "value", None), "cp", None)
        return float(cp) if isinstance(cp, (int, float)) else 0.0

    def lines(self, table: Any = None) -> list[str]:
        """Return the lines; ``table`` is an AlphaTable with the errors of held-out rows."""
        trees, frame = self.printed.trees, self.frame
        out = [f"  n= {int(trees.n_samples[0])} ", ""]
        names = ["CP", "nsplit", "rel error"]
        if table is None:
            out += matrix(names, [list(column) for column in self.cptable], self.digits)
        else:
            out += table.lines(self.digits)
        out += [*self._importances(), *self._nodes(sorted(frame.lines, key=lambda line: line.number)), ""]
        return out

    def _importances(self) -> list[str]:
        worth = self.printed.model.tree_.compute_feature_importances(normalize=False)
        if not worth.sum() > 0:
            return []
        percent = np.rint(100.0 * worth / worth.sum())
        order = [j for j in np.argsort(-worth, kind="stable").tolist() if percent[j] > 0]
        shown = columns_of([percent[j] for j in order])
        return ["", "Variable importance", *named_row([self.printed.names[j] for j in order], shown)]

    def _nodes(self, lines: Sequence[Any]) -> list[str]:
        frame, printed, trees = self.frame, self.printed, self.printed.trees
        own = {line.number: line.node for line in lines}
        splits = {line.number: self.splits(line.node) for line in lines if not printed.is_leaf(line.node)}
        width = max((len(split.asked) for own in splits.values() for split in own if split.is_number), default=0)
        labels = self._labels([line.node for line in lines])
        losses, out = frame.loss(), []
        for line, label in zip(lines, labels, strict=True):
            n = int(trees.n_samples[line.node])
            head = f"Node number {line.number}: {n} observations"
            if line.number in splits:
                head += f",    complexity param={columns_of([signif(self.complexity[line.node], self.digits)])[0]}"
            out += ["", head, *self._says(line.node, label, float(losses[line.node]))]
            if line.number in splits:
                sons = [2 * line.number, 2 * line.number + 1]
                rows = [int(trees.n_samples[own[son]]) for son in sons]
                left = n - sum(rows)
                remain = f", {left} observation{'s' * (left > 1)} remain{'s' * (left == 1)}" if left > 0 else ""
                out.append(f"  left son={sons[0]} ({rows[0]} obs) right son={sons[1]} ({rows[1]} obs){remain}")
                out += self._split_lines(splits[line.number], width)
        return out

    def _labels(self, nodes: list[int]) -> list[str]:
        if self.printed.classes is None:
            return [""] * len(nodes)
        labels = [self.printed.classes[0][code] for code in self.printed.labels[nodes, 0].tolist()]
        width = max(map(len, labels))
        return [label.ljust(width) for label in labels]

    def _says(self, node: int, label: str, loss: float) -> list[str]:
        printed, weight = self.printed, float(self.frame.weight[node])
        mean = short(loss / weight, self.digits)
        if printed.classes is not None:
            total = float(self.frame.weight[0])
            counts = " ".join(f"{count:5g}" for count in (printed.counts[node] * self.frame.scale).tolist())
            shares = " ".join(f"{share:5.3f}" for share in printed.value[node].tolist())
            return [
                f"  predicted class={label}  expected loss={mean}  P(node) ={short(weight / total, self.digits)}",
                f"    class counts: {counts}",
                f"   probabilities: {shares} ",
            ]
        value = float(printed.value[node, 0])
        if getattr(printed.model, "criterion", None) == "poisson":
            events = short(value * weight)
            rate = short(value, self.digits)
            return [f"  events={events},  estimated rate={rate} , mean deviance={mean} "]
        return [f"  mean={short(value, self.digits)}, MSE={mean} "]

    def splits(self, node: int) -> list[RpartSplit]:
        """Return the primary split of a node, those that competed where rows are known, and its surrogates."""
        printed, test = self.printed, self.printed.test(node)
        left = test.children[self.frame.order(node)[0]]
        found = []
        branches = printed.branches(node)
        branch = next(one for one in branches if one.child == left)
        asked, is_number = self._asked(test.feature, branch.ranges, branch.levels)
        rows = self._competition
        missing = None if rows is None else rows.missing(node, test.feature)
        own = (np.nan, "primary", missing)
        found.append(RpartSplit(printed.tested(node), asked, is_number, self.improves(node), *own))
        for one in () if rows is None else rows.at(node):
            asked, is_number = self._asked(one.feature, one.ranges, one.levels, one.known)
            improves = self._improves(one.gain, one.impurity, one.weight)
            found.append(
                RpartSplit(printed.names[one.feature], asked, is_number, improves, np.nan, "competing", one.missing)
            )
        placed = [None] * len(test.stand_ins) if rows is None else rows.placed(node)
        stored = printed.trees.surrogates
        start = int(stored.start[node]) if len(stored.start) > 1 else 0
        place = left - test.children[0]  # of rpart's left child
        for s, one in enumerate(test.stand_ins):
            if one.threshold == one.threshold:
                below = one.below_left == (place == 0)
                ranges = [(-np.inf, one.threshold)] if below else [(one.threshold, np.inf)]
                asked, is_number = self._asked(one.feature, ranges, None)
            else:
                n_levels = len(printed.levels[one.feature] or [])
                sides = [one.ways[c] if c < len(one.ways) else -1 for c in range(n_levels)]
                asked, is_number = _letters([-1 if way < 0 else int(way != place) for way in sides]), False
            agree, adjusted = float(stored.agreement[start + s]), float(stored.adjusted[start + s])
            name = printed.names[one.feature]
            found.append(RpartSplit(name, asked, is_number, agree, adjusted, "surrogate", placed[s]))
        return found

    def _asked(
        self,
        feature: int,
        ranges: list[tuple[float, float]],
        levels: list[int] | None,
        known: list[int] | None = None,
    ) -> tuple[str, bool]:
        if levels is not None:
            n_levels = len(self.printed.levels[feature] or [])
            met = range(n_levels) if known is None else known
            return _letters([int(c not in levels) if c in met else -1 for c in range(n_levels)]), False
        sign = "<=" if self.printed.cuts_are_values else "<"
        low, high = ranges[0] if ranges else (np.inf, np.inf)
        below = low == -np.inf
        cut = columns_of([signif(high if below else low, self.digits)])[0]
        return f"{sign} {cut}\x00{'to the left, ' if below else 'to the right,'}", True

    def improves(self, node: int) -> float:
        """Return what the split of a node improves in rpart's unit."""
        trees = self.printed.trees
        return self._improves(float(trees.gain[node]), float(trees.impurity[node]), float(self.frame.weight[node]))

    def _improves(self, gain: float, impurity: float, weight: float) -> float:
        """Return what a split improves in rpart's unit."""
        criterion = getattr(self.printed.model, "criterion", None)
        if self.printed.classes is None and criterion == "squared_error":
            return gain / impurity if impurity > 0 else 0.0  # a share of the node's own, which may underflow
        unit = 2.0 if criterion == "poisson" else np.log(2.0) if criterion in {"entropy", "log_loss"} else 1.0
        return gain * weight * unit

    def _split_lines(self, splits: list[RpartSplit], width: int) -> list[str]:
        shown = []
        for split in splits:
            cut, _, way = split.asked.partition("\x00")
            shown.append(f"{cut.ljust(width - len(way) - 1)} {way}" if split.is_number else split.asked)
        first = [split for split in splits if split.kind != "surrogate"]
        improve = columns_of([signif(split.worth, self.digits) for split in first])
        cuts, names = _padded(shown[: len(first)]), max(len(split.column) for split in first)
        out = ["  Primary splits:"]
        out += [
            f"      {split.column.ljust(names)} {cuts[k]} improve={improve[k]}{_counted(split, 'missing')}"
            for k, split in enumerate(first)
        ]
        rest = splits[len(first) :]
        if rest:
            names = max(len(split.column) for split in rest)
            cuts = _padded(shown[len(first) :])
            agree = columns_of([round(split.worth, 3) for split in rest])
            adjusted = columns_of([round(split.adjusted, 3) for split in rest])
            out.append("  Surrogate splits:")
            out += [
                f"      {split.column.ljust(names)} {cut} agree={agree[k]}, adj={adjusted[k]}{_counted(split, 'split')}"
                for k, (split, cut) in enumerate(zip(rest, cuts, strict=True))
            ]
        return out


def _padded(cuts: list[str]) -> list[str]:
    """Return cuts in one width, where none is wide."""
    wide = max(map(len, cuts))
    return [cut.ljust(wide) for cut in cuts] if wide < NARROW else cuts


def _counted(split: RpartSplit, word: str) -> str:
    return "" if split.n_rows is None else f", ({split.n_rows} {word})"


def _letters(sides: list[int]) -> str:
    """Return where each level goes: L, R, or - of one that the node did not meet."""
    return f"splits as  {''.join('-' if side < 0 else 'LR'[side] for side in sides)},"
