"""Nodes as short columns: numbers in the smallest type that holds them, in base64, which a page reads back."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.export.reading import UP_TO, absent_of, codes_of, kinds_of
from dtnumba.prediction.fractional import with_prior
from dtnumba.tables.costs import LeastCost
from dtnumba.trees.layout import LEAF, STAYS, last_children, n_entries, node_values
from dtnumba.trees.linear import LinearTests

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.export.reading import ReadTrees

_INTEGERS = ("i1", "u1", "i2", "u2", "i4", "u4")
_FEW = 1 << 16  # different numbers, which are written once and meant by their places
_BLOCK = 1 << 14
_MOST_SHARES = 16  # of an inner node, the largest; leaves have all
_DIGITS = 4  # of the shares of inner nodes


def column(values: Any) -> dict[str, Any]:
    """Return a column as a page reads it: a type ``t``, bytes ``b``, and the different numbers ``d`` where few."""
    array = np.ascontiguousarray(values).reshape(-1)
    if array.dtype.kind in "iub":
        low, high = (int(array.min()), int(array.max())) if len(array) else (0, 0)
        fits = (t for t in _INTEGERS if np.iinfo(t).min <= low and high <= np.iinfo(t).max)
        return _packed(array, next(fits, "f8"))
    if len(array) > 64:
        known, places = np.unique(array, return_inverse=True)
        size = 1 if len(known) <= 256 else 2
        if len(known) <= _FEW and len(known) * 8 + len(array) * size < len(array) * array.itemsize:
            return {**column(places.reshape(-1)), "d": _packed(known, f"f{array.itemsize}")}
    return _packed(array, f"f{array.itemsize}")


def _packed(array: NDArray[Any], name: str) -> dict[str, Any]:
    return {"t": name, "b": base64.b64encode(array.astype(f"<{name}").tobytes()).decode("ascii")}


class _Shown(NamedTuple):
    """The nodes of the trees that a page shows."""

    read_model: ReadTrees
    model: Any
    m: int  # nodes, of the first trees

    def ragged(self, start: str, *entries: str) -> dict[str, Any]:
        """Return how many entries each node has, and the entries."""
        trees, m = self.read_model.trees, self.m
        count = n_entries(getattr(trees, start), trees.n_nodes)[:m]
        stop = int(count.sum())
        return {start: column(count), **{name: column(getattr(trees, name)[:stop]) for name in entries}} if stop else {}


def node_columns(read_model: ReadTrees, model: Any, n_trees: int) -> dict[str, Any]:
    """Return the columns of the first trees of a model, by name.

    Absent are those that are empty, and what ``compact`` has dropped.
    """
    trees = read_model.trees
    m = int(trees.root[n_trees])
    shown = _Shown(read_model, model, m)
    kind, left, last = kinds_of(trees)[:m], trees.left[:m].astype(np.int64), last_children(trees)[:m].astype(np.int64)
    inner = kind > 0
    stays = inner & (trees.missing_left[:m] == STAYS)
    absent = np.where(stays, STAYS, np.where(inner, absent_of(trees)[:m] - left, 0))
    found = {
        "root": column(trees.root[: n_trees + 1]),
        "kind": column(kind),
        "feature": column(trees.feature[:m]),
        "left": column(np.where(inner, left, LEAF)),
        "fan": column(np.where(inner, last - left + 1, 0)),
        "threshold": column(trees.threshold[:m][kind == UP_TO]),
        "absent": column(absent),
        **shown.ragged("cut_start", "cut"),
        **shown.ragged("branch_start", "branch"),
        **shown.ragged("level_start", "level"),
        **_sums(shown),
        **_surrogates(shown),
        **_statistics(shown),
        **_values(shown, ~inner | stays),
    }
    if len(trees.share):
        found["share"] = column(trees.share[:m])
    return found


def _statistics(shown: _Shown) -> dict[str, Any]:
    trees, m = shown.read_model.trees, shown.m
    if trees.is_compact:
        return {}
    found = {"n": column(trees.n_samples[:m])}
    if not np.array_equal(trees.n_samples[:m], trees.weight[:m]):
        found["weight"] = column(trees.weight[:m].astype(np.float32))
    found["impurity"] = column(trees.impurity[:m].astype(np.float32))
    return found


def _sums(shown: _Shown) -> dict[str, Any]:
    linear = shown.read_model.trees.linear
    if not isinstance(linear, LinearTests):
        return {}
    s = int(linear.start[shown.m])
    parts = {f"term_{name}": column(getattr(linear, name)[:s]) for name in ("column", "weight", "stand_in")}
    return {"term_start": column(np.diff(linear.start[: shown.m + 1])), **parts} if s else {}


def _surrogates(shown: _Shown) -> dict[str, Any]:
    own = shown.read_model.trees.surrogates
    if len(own.start) == 1:
        return {}
    s = int(own.start[shown.m])
    return {
        "stand_in_start": column(np.diff(own.start[: shown.m + 1])),
        "stand_in_feature": column(own.feature[:s]),
        "stand_in_threshold": column(own.threshold[:s]),
        "stand_in_below_left": column(own.below_left[:s]),
        "stand_in_branch_start": column(np.diff(own.branch_start[: s + 1])),
        "stand_in_branch": column(own.branch[: int(own.branch_start[s])]),
    }


def _values(shown: _Shown, ends: NDArray[np.bool_]) -> dict[str, Any]:
    """Return what nodes say: numbers as they are; shares above zero, exact where rows end, short elsewhere."""
    said, m, columns = values_shown(shown.model, shown.read_model), shown.m, shown.read_model.columns
    if columns.classes is None:
        return {"number": column(np.asarray(said[:m]))}
    counts, classes, shares, codes = [], [], [], []
    prior = shown.read_model.prior
    if prior is not None:  # of each node the one of its tree
        prior = np.repeat(np.atleast_2d(prior), np.diff(shown.read_model.trees.root), axis=0)
    for start in range(0, m, _BLOCK):
        block = np.array(said[start : min(start + _BLOCK, m)], np.float64)
        own = slice(shown.read_model.label_from, shown.read_model.label_from + columns.width)
        decisive = block[:, own] if prior is None else with_prior(block, prior[start : start + len(block)])
        codes.append(codes_of(decisive, columns.sizes, vote_rule(shown.model, shown.read_model)))
        short = ~ends[start : start + len(block)]
        block[short] = block[short].round(_DIGITS)
        if block.shape[1] > _MOST_SHARES and short.any():
            least = np.partition(block[short], -_MOST_SHARES, axis=1)[:, -_MOST_SHARES, None]
            block[short] = np.where(block[short] >= least, block[short], 0.0)
        row, col = np.nonzero(block)
        counts.append(np.bincount(row, minlength=len(block)))
        classes.append(col)
        shares.append(block[row, col])
    return {
        "share_start": column(np.concatenate(counts)),
        "share_class": column(np.concatenate(classes)),
        "share_of": column(np.concatenate(shares)),
        **{f"code{o}": column(one) for o, one in enumerate(np.concatenate(codes).T)},
    }


def values_shown(model: Any, read_model: ReadTrees) -> Any:
    """Return what the nodes of a model hold, before votes."""
    return node_values(model.trees_) if read_model.is_mean else read_model.said


def vote_rule(model: Any, read_model: ReadTrees) -> LeastCost | None:
    """Return the rule by which a node of a tree alone is labelled; None: the commonest class."""
    voting = model._voting() if read_model.is_mean else "soft"  # noqa: SLF001  as its predict asks
    return voting if isinstance(voting, LeastCost) else read_model.rule
