"""A fitted model as every exporter reads it: columns, nodes or rules, what is said, and how answers are joined."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.prediction.fractional import with_prior
from dtnumba.rules.layout import bounds_at
from dtnumba.rules.text import names_of
from dtnumba.tables.costs import LeastCost, commonest
from dtnumba.trees.layout import BY_SHARE, LEAF, STAYS, last_children, n_entries, node_values
from dtnumba.trees.linear import LinearTests, n_terms_of, tests_of_levels
from dtnumba.trees.routing import as_asked
from dtnumba.trees.sparse_rows import SparseValues
from dtnumba.trees.with_sums import n_sums_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dtnumba.export.languages.voters import ReadVoters
    from dtnumba.rules.layout import Rules
    from dtnumba.trees.layout import Trees

_SHOWN = 5  # nodes that an error names
ROW_TYPES: dict[str, np.dtype[Any]] = {"float64": np.dtype(np.float64), "float32": np.dtype(np.float32)}
SURE = "sure"  # of votes: each tree's is as much as it is sure of its class
UP_TO, AMONG, BY_RANGE, MAP = 1, 2, 3, 4  # kinds of tests: thresholds, levels, cuts, maps; 0 of leaves


class ExportError(ValueError):
    """Raised where a format cannot say what a model does; it names the nodes and the reason."""


_NO_SUMS = "it tests a sum over several columns, which this format cannot say"
_HAVE_SUMS = "fit it with max_terms=1, or write it by export.text, python, json, c, sql or onnx"
_NO_INDICATORS = "it adds up levels of categories, which this format does not say"
_HAVE_INDICATORS = "fit it with categories_in_sums=False, or write it by export.text, json, dot or svg, or save it"
_BY_BAYES = "it answers by naive Bayes, and this format can say the share of each class among the rows of a leaf alone"
_BY_ROWS = "learn the stream with leaf_prediction='majority', or save the model and ask it itself"


def refuse(format_: str, nodes: Any, reason: str, remedy: str) -> None:
    """Raise ExportError where there are nodes that a format cannot express."""
    found = np.atleast_1d(nodes)
    if len(found):
        more = f" and {len(found) - _SHOWN:,} more" if len(found) > _SHOWN else ""
        which = ", ".join(str(int(node)) for node in found[:_SHOWN])
        raise ExportError(f"{format_}: node{'s' * (len(found) > 1)} {which}{more}: {reason}; {remedy}")


class Columns(NamedTuple):
    """The columns of the rows, and what is said of them."""

    names: list[str]
    levels: list[list[Any] | None]  # of each column; None of one of numbers
    classes: list[list[Any]] | None  # of each output; None of numbers
    sizes: list[int]  # classes of each output, 1 where it is a number
    row_types: tuple[np.dtype[Any], ...]  # of rows for which the thresholds below are right

    @property
    def width(self) -> int:
        """Numbers that say what a row is: a share a class, or a number an output."""
        return sum(self.sizes)


class ReadTrees(NamedTuple):
    """One tree or a forest.

    A row of an answer is the sum over the trees of what their leaves say, begun with ``begin``, divided by their number
    where ``is_mean``; where ``says_second``, it is the share of the second of two classes, and the first has the rest.
    Where there is a ``prior``, the cases of leaves stand behind the shares, and (share * cases + prior) / (cases + 1)
    is said of a row. Where trees vote by how sure they are (``late_votes`` is SURE), each has a prior of its own and
    gives what is said of the likeliest class to that class, the first that is as likely but for EVEN; what is said of a
    row are the sums of these votes as shares of all.
    """

    columns: Columns
    trees: Trees  # thresholds are those that rows are compared with
    said: NDArray[np.float64]  # (m, w) what each node says, a vote for one class where trees vote by labels
    codes: NDArray[np.int64] | None  # (m, outputs) the label that each node of a tree of classes says
    is_mean: bool
    says_second: bool
    begin: float
    rule: LeastCost | None  # by which shares are labelled; None: the largest, the first on ties
    label_from: int  # the first column of what is said that labels come from: behind the shares, of corrected shares
    late_votes: Any  # "hard", SURE or a LeastCost where each tree votes for a label of a mixture of leaves, else None
    prior: NDArray[np.float64] | None = None  # (classes,); of trees that vote by how sure they are (trees, classes)

    @property
    def is_shared(self) -> bool:
        """Whether rows go down several branches in parts."""
        return self.trees.policy == BY_SHARE

    @property
    def are_sure(self) -> bool:
        """Whether trees vote by how sure they are."""
        return bool(isinstance(self.late_votes, str) and self.late_votes == SURE)

    @property
    def n_summed(self) -> int:
        """How many numbers of the trees are added up: of votes a class each, else all that is said."""
        return self.columns.width if self.are_sure else int(self.said.shape[1])

    @property
    def labels_are_of_leaves(self) -> bool:
        """Whether the label of a row is that of the leaf it ends in."""
        return self.codes is not None and not self.is_shared and not self.is_mean


class ReadRules(NamedTuple):
    """Rules in the order in which they are asked."""

    columns: Columns
    rules: Rules  # bounds are those that rows are compared with
    by_votes: bool
    shares: NDArray[np.float64]  # (r + 1, classes) of each rule, and of the default


def read(
    model: Any,
    row_type: str = "float64",
    *,
    says_soft: bool = False,
    sums: bool = False,
    rule_sums: bool = False,
    says_rows: bool = False,
    indicators: bool = False,
) -> ReadTrees | ReadRules | ReadVoters:
    """Return a fitted model as exporters read it.

    Parameters
    ----------
    model : fitted estimator
        Of trees or of rules.
    row_type : "float64" or "float32"
        Of the rows that will be asked. It matters where thresholds are values of the table (C4.5), with which rows are
        compared in the coarser of two types.
    says_soft : bool
        Whether the caller itself says of rows near soft cuts (C5.0's) that they go both ways.
    sums : bool
        Whether the format can say a test of a sum over several columns.
    rule_sums : bool
        Whether it can in rules, too.
    says_rows : bool
        Whether the format shows the rows of leaves, and answers nobody: then leaves may answer by more than these.
    indicators : bool
        Whether it can say sums that levels of categories are terms of.

    """
    if not hasattr(model, "check_fitted") or not hasattr(type(model), "predict"):
        raise TypeError(f"model={model!r}: must be a fitted estimator of dtnumba")
    if row_type not in ROW_TYPES:
        raise ValueError(f"row_type={row_type!r}: must be one of {', '.join(map(repr, ROW_TYPES))}")
    model.check_fitted()
    bits = 8 * ROW_TYPES[row_type].itemsize
    if hasattr(model, "rules_"):
        if isinstance(model.rules_, list):  # a set a trial
            from dtnumba.export.languages.voters import read_voters

            return read_voters(model, bits)
        if n_sums_of(model.rules_.arrays.linear) and not rule_sums:
            raise ExportError(
                f"{type(model).__name__} has rules about sums over several columns, which this format does not say: "
                "write them by export.rules, python or json, or export the tree that they are of"
            )
        return _read_rules(model, bits)
    if hasattr(model, "soft_cuts_") and not says_soft:
        raise ExportError(
            f"fuzzy_threshold=True of this {type(model).__name__}: rows near a cut go both ways, which this format "
            "does not say; fit it with fuzzy_threshold=False, or save it and ask it itself"
        )
    if hasattr(model, "splines_"):
        raise ExportError(
            f"{type(model).__name__} is a sum of {len(model.splines_.coefficients)} terms, which this format has no "
            "nodes for; write it by export.text, python, c, sql, json or onnx, and draw it by plot.terms"
        )
    if not says_rows:
        refuse(type(model).__name__, getattr(model, "bayes_leaves_", []), _BY_BAYES, _BY_ROWS)
    if not hasattr(model, "trees_"):
        raise ExportError(f"model={model!r}: has neither trees nor rules")
    if model.trees_.has_sums and not sums:
        which = np.flatnonzero(n_terms_of(model.trees_.linear, model.trees_.n_nodes))
        refuse(type(model).__name__, which, _NO_SUMS, _HAVE_SUMS)
    if not indicators:
        refuse(type(model).__name__, tests_of_levels(model.trees_.linear), _NO_INDICATORS, _HAVE_INDICATORS)
    return _read_trees(model, bits)


def read_trees(
    model: Any,
    format_: str,
    row_type: str = "float64",
    *,
    sums: bool = False,
    says_rows: bool = False,
    indicators: bool = False,
) -> ReadTrees:
    """Return a fitted model of trees; ExportError where it is one of rules."""
    from dtnumba.export.languages.voters import refuse_voting_rules

    refuse_voting_rules(model, format_)
    found = read(model, row_type, sums=sums, says_rows=says_rows, indicators=indicators)
    if isinstance(found, ReadRules):
        raise ExportError(
            f"{format_}: the {len(found.rules.label)} rules of {type(model).__name__} are asked in turn, which this "
            "format has no nodes for; write them by export.python, sql, json or rules, or export the tree they are of"
        )
    assert isinstance(found, ReadTrees), "other rules are refused above"
    return found


def columns_of(model: Any) -> Columns:
    """Return the columns of a fitted model, for what names them and compares no rows."""
    return named_columns(model, tuple(ROW_TYPES.values()))


def named_columns(model: Any, row_types: tuple[np.dtype[Any], ...]) -> Columns:
    """Return the columns of a fitted model, for rows of some types."""
    seen = model.columns_seen
    levels = [None] * seen.n_features if seen.levels is None else list(seen.levels)
    is_labels = hasattr(model, "classes_")
    classes = [_listed(one) for one in model.class_lists()] if is_labels else None
    sizes = [len(one) for one in classes] if classes is not None else [1] * int(model.n_outputs_)
    listed = [None if one is None else _listed(one) for one in levels]
    return Columns(names_of(seen.n_features, seen.names), listed, classes, sizes, row_types)


def _listed(values: Any) -> list[Any]:
    """Return labels or levels as Python's, but moments that Python has no type for as NumPy's, and not as numbers."""
    array = np.asarray(values)
    listed: list[Any] = array.tolist()
    return list(array) if array.dtype.kind in "mM" and any(type(one) is int for one in listed) else listed


def _row_types(at: dict[int, NDArray[np.float64]], bits: int) -> tuple[np.dtype[Any], ...]:
    """Return the types of rows that are compared with the same thresholds as those of so many bits."""
    same = np.array_equal(at[64], at[32], equal_nan=True)
    return tuple(ROW_TYPES.values()) if same else (np.dtype(f"float{bits}"),)


def _read_trees(model: Any, bits: int) -> ReadTrees:
    from dtnumba.prediction.packed_forest import says_second

    given: Trees = model.trees_
    asked = {b: as_asked(given, b) for b in (32, 64)}
    columns = named_columns(model, _row_types({b: trees.threshold for b, trees in asked.items()}, bits))
    is_mean, rule = hasattr(model, "forest_"), model.label_rule
    voting = model._voting() if is_mean else "soft"  # noqa: SLF001  as its predict asks
    is_joined = is_mean and given.is_two_way
    is_few, value = isinstance(given.value, SparseValues), np.asarray(node_values(given))
    late_votes = voting if voting != "soft" and given.policy == BY_SHARE else None
    codes = None
    if columns.classes is not None and not is_mean:
        codes = codes_of(value, columns.sizes, rule)
    if voting != "soft" and late_votes is None:
        value = commonest(value, columns.sizes, voting)
    seconds = is_joined and says_second(given, columns.sizes)
    said, label_from = value[:, 1:] if seconds else value, 0
    speaking, prior = getattr(model, "_speaking", None), None
    if getattr(model, "adds_prior", False):
        if getattr(model, "trees_vote", False):
            late_votes, rule = SURE, None
        said, of_trees = np.column_stack([value, given.weight]), value[given.root[:-1]]
        prior = of_trees if late_votes == SURE else of_trees[0]
        codes = codes_of(with_prior(said, np.repeat(of_trees, np.diff(given.root), axis=0)), columns.sizes, rule)
    elif not is_mean and speaking is not None and speaking() is not model.tree_:  # shares are corrected, labels are not
        said, label_from = np.concatenate([np.asarray(node_values(speaking().trees)), value], axis=1), value.shape[1]
    begin = 0.0 if not is_joined or is_few else -0.0
    if is_mean and voting != "soft":
        rule = None  # votes are for labels already
    said = np.ascontiguousarray(said)
    own = is_mean, seconds, begin, rule, label_from, late_votes, prior
    return ReadTrees(columns, asked[bits], said, codes, *own)


def codes_of(shares: NDArray[np.float64], sizes: Sequence[int], rule: LeastCost | None) -> NDArray[np.int64]:
    """Return the labels of rows of shares, a column an output: the commonest class, or that of least cost."""
    parts = np.split(shares, np.cumsum(sizes)[:-1], axis=1)
    return np.stack([part.argmax(axis=1) if rule is None else rule.codes(part) for part in parts], axis=1)


def _read_rules(model: Any, bits: int) -> ReadRules:
    (rules,), row_types = bounded([model.rules_.arrays], bits)
    shares = np.asarray(model.rules_.shares())
    return ReadRules(named_columns(model, row_types), rules, bool(model._by_votes), shares)  # noqa: SLF001


def bounded(sets: list[Rules], bits: int) -> tuple[list[Rules], tuple[np.dtype[Any], ...]]:
    """Return rules with the bounds that rows of so many bits are compared with, and which rows have the same ones."""
    ends = {b: [bounds_at(own, b) for own in sets] for b in (32, 64)}
    at = {b: np.concatenate([end for two in found for end in two]) for b, found in ends.items()}
    low_high = zip(sets, ends[bits], strict=True)
    bounded = [own._replace(tests=own.tests._replace(low=low, high=high)) for own, (low, high) in low_high]
    return bounded, _row_types(at, bits)


# Nodes


def kinds_of(trees: Trees) -> NDArray[np.uint8]:
    """Return the kind of test of every node: 0 (a leaf), UP_TO, AMONG, BY_RANGE (perhaps through a map) or MAP."""
    m = trees.n_nodes
    kind = np.where(trees.feature == LEAF, 0, UP_TO).astype(np.uint8)
    kind[n_entries(trees.level_start, m) > 0] = AMONG
    kind[n_entries(trees.branch_start, m) > 0] = MAP
    kind[n_entries(trees.cut_start, m) > 0] = BY_RANGE
    return kind


def absent_of(trees: Trees) -> NDArray[np.int64]:
    """Return the node at which a row without a value goes on: a child, or the node itself where it stays there."""
    kind, own = kinds_of(trees), np.arange(trees.n_nodes)
    missing = trees.missing_left.astype(np.int64)
    child = trees.left.astype(np.int64) + np.where((kind == UP_TO) | (kind == AMONG), 1 - missing, missing)
    return np.where((kind == 0) | (trees.missing_left == STAYS), own, child)


def used_columns(trees: Trees) -> list[int]:
    """Return the columns that trees look at, ascending."""
    parts = [trees.feature[trees.feature >= 0], trees.surrogates.feature]
    parts += [trees.linear.column] if isinstance(trees.linear, LinearTests) else []
    used: list[int] = np.unique(np.concatenate(parts)).tolist()
    return used


class SumTerm(NamedTuple):
    """One column of a sum that a node tests."""

    column: int
    weight: float
    stand_in: float  # what a missing value counts as


class Test(NamedTuple):
    """What one node asks, for languages that ask in words."""

    kind: int
    feature: int
    threshold: float
    entries: list[Any]  # cuts, or the categories that go to child 0
    ways: list[int]  # the child of each range or category, -1 of one that is as missing
    children: list[int]  # nodes
    absent: int | None  # the child that a missing value goes to, None where it stays
    shares: list[float] | None  # of the children, where a missing value goes to all of them
    stand_ins: list[StandIn]
    terms: list[SumTerm]  # of the sum that is tested in place of a value; else empty
    term_levels: list[int]  # whose indicators its terms are, -1 of a number; empty where no node has one


class StandIn(NamedTuple):
    """A surrogate: child 0 or 1 by a threshold, or by a map where that is NaN."""

    feature: int
    threshold: float
    below_left: bool
    ways: list[int]


class Nodes:
    """The nodes of trees one at a time."""

    def __init__(self, trees: Trees) -> None:
        self._trees = trees
        self._kind, self._last = kinds_of(trees).tolist(), last_children(trees).tolist()
        self._feature, self._threshold = trees.feature.tolist(), trees.threshold.tolist()
        self._left, self._missing = trees.left.tolist(), trees.missing_left.tolist()
        self._absent = absent_of(trees).tolist()

    def is_leaf(self, node: int) -> bool:
        """Tell whether a node is a leaf."""
        return bool(self._kind[node] == 0)

    def children(self, node: int) -> list[int]:
        """Return the children of a node."""
        return list(range(self._left[node], self._last[node] + 1)) if self._kind[node] else []

    def test(self, node: int) -> Test:
        """Return what an inner node asks."""
        trees, kind = self._trees, self._kind[node]
        entries, ways = self._ragged("level", node) if kind == AMONG else [], []
        if kind in {BY_RANGE, MAP}:
            entries, ways = self._ragged("cut", node), self._ragged("branch", node)
            ways = ways or list(range(len(entries) + 1))
        children = self.children(node)
        absent = None if self._absent[node] == node else self._absent[node] - children[0]
        shares = [float(trees.share[child]) for child in children] if len(trees.share) else None
        at = self._feature[node], self._threshold[node]
        return Test(kind, *at, entries, ways, children, absent, shares, self._stand_ins(node), *self._terms(node))

    def _ragged(self, name: str, node: int) -> list[Any]:
        start = getattr(self._trees, f"{name}_start")
        found: list[Any] = getattr(self._trees, name)[start[node] : start[node + 1]].tolist() if len(start) > 1 else []
        return found

    def _terms(self, node: int) -> tuple[list[SumTerm], list[int]]:
        linear = self._trees.linear
        if not isinstance(linear, LinearTests):
            return [], []
        own = slice(int(linear.start[node]), int(linear.start[node + 1]))
        parts = (getattr(linear, name)[own].tolist() for name in SumTerm._fields)
        return [SumTerm(*one) for one in zip(*parts, strict=True)], linear.level[own].tolist()

    def _stand_ins(self, node: int) -> list[StandIn]:
        own = self._trees.surrogates
        if len(own.start) == 1:
            return []
        return [
            StandIn(
                int(own.feature[s]),
                float(own.threshold[s]),
                bool(own.below_left[s]),
                own.branch[own.branch_start[s] : own.branch_start[s + 1]].tolist(),
            )
            for s in range(int(own.start[node]), int(own.start[node + 1]))
        ]
