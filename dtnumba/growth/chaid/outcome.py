"""The target of CHAID: what rows add to tables, and the values of nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.growth.targets.fixed_point import moments_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.growth.chaid.grow import GrownChaid
    from dtnumba.tables.labels import Labels, Values
    from dtnumba.tables.weights import Weights


class ChaidOutcome(NamedTuple):
    """The target as kernels read it, a row for each row that counts."""

    label: NDArray[np.int32]  # class; 0 where the target is a number
    weight: NDArray[np.int64]
    moments: NDArray[np.int64]  # (k, 2) weight times y and times its square, in units; (1, 2) of classes
    units: NDArray[np.float64]  # of the sums of a group: weight a class, or weight and moments
    y: NDArray[Any]  # a node whose rows all have the same is pure


class NodeValues(NamedTuple):
    """Values, weights and impurities of nodes."""

    value: NDArray[np.float64]  # (m, width)
    weight: NDArray[np.float64]
    impurity: NDArray[np.float64]


def class_outcome(labels: Labels, weights: Weights) -> ChaidOutcome:
    """Return the outcome of one output of classes."""
    label = labels.codes[weights.kept, 0].astype(np.int32)
    units = np.full(labels.sizes[0], weights.unit)
    return ChaidOutcome(label, weights.integers[weights.kept], np.zeros((1, 2), np.int64), units, label)


def number_outcome(values: Values, weights: Weights) -> ChaidOutcome:
    """Return the outcome of one output of numbers: exact sums, so that neither order nor repetition of rows matters."""
    kept = weights.kept
    found = moments_of(values.y, weights, 2, centred=True)
    units = np.concatenate([[weights.unit], found.units])
    label = np.zeros(len(kept), np.int32)
    return ChaidOutcome(label, weights.integers[kept], found.moments[kept], units, values.y[kept, 0])


def _leaves_in_order(grown: GrownChaid) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the leaves in the order of their rows, and where these begin."""
    leaves = np.flatnonzero(grown.left < 0)
    leaves = leaves[np.argsort(grown.start[leaves], kind="stable")]
    return leaves, grown.start[leaves]


def _summed_up(of_leaves: NDArray[Any], leaves: NDArray[np.int64], grown: GrownChaid) -> NDArray[Any]:
    """Return sums of all nodes from those of the leaves."""
    sums = np.zeros((len(grown.start), *of_leaves.shape[1:]), of_leaves.dtype)
    sums[leaves] = of_leaves
    for node in range(len(sums) - 1, -1, -1):
        split = grown.splits[node]
        if split is not None:
            left = grown.left[node]
            sums[node] = sums[left : left + split.n_children].sum(axis=0)
    return sums


def said_of_classes(grown: GrownChaid, outcome: ChaidOutcome, *, entropy: bool) -> NodeValues:
    """Return shares of classes, with Gini's impurity or entropy in bits."""
    leaves, begins = _leaves_in_order(grown)
    k, rows = len(outcome.units), grown.rows
    of_row = np.repeat(np.arange(len(leaves)), np.diff(np.append(begins, len(rows))))
    counted = np.bincount(of_row * k + outcome.label[rows], outcome.weight[rows], minlength=k * len(leaves))
    sums = _summed_up(counted.reshape(-1, k), leaves, grown)
    total = sums.sum(axis=1)
    share = sums / total[:, None]
    if entropy:
        impurity = -(share * np.log2(share, out=np.zeros_like(share), where=share > 0)).sum(axis=1)
    else:
        impurity = 1.0 - (share * share).sum(axis=1)
    return NodeValues(share, total * outcome.units[0], np.maximum(impurity, 0.0))


def _exact_sums(
    numbers: NDArray[np.float64], most: NDArray[np.float64], begins: NDArray[np.int64], lengths: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the sums of runs, which are at most ``most``, over numbers rounded so that no order changes a bit."""
    # So large that float64 keeps 51 bits of the largest sum beside it
    grain = np.repeat(np.where(most > 0.0, np.ldexp(1.5, np.frexp(most)[1] + 1), 0.0), lengths)
    return np.asarray(np.add.reduceat((numbers + grain) - grain, begins))


def said_of_numbers(grown: GrownChaid, outcome: ChaidOutcome) -> NodeValues:
    """Return means, exact where all rows agree, and variances."""
    leaves, begins = _leaves_in_order(grown)
    rows, lengths = grown.rows, np.diff(np.append(begins, len(grown.rows)))
    y, weight = outcome.y[rows], outcome.weight[rows] * outcome.units[0]
    integers = _summed_up(np.add.reduceat(outcome.weight[rows], begins), leaves, grown)
    total = integers * outcome.units[0]
    low, high = np.minimum.reduceat(y, begins), np.maximum.reduceat(y, begins)
    most, span = total[leaves] * (high - low), high - low
    mean = low + _exact_sums(weight * (y - np.repeat(low, lengths)), most, begins, lengths) / total[leaves]
    mean = np.clip(mean, low, high)
    inside = _exact_sums(weight * (y - np.repeat(mean, lengths)) ** 2, most * span, begins, lengths)
    value, impurity = np.zeros(len(grown.start)), np.zeros(len(grown.start))
    value[leaves], impurity[leaves] = mean, inside / total[leaves]
    for node in range(len(value) - 1, -1, -1):
        split = grown.splits[node]
        if split is not None:
            children = slice(grown.left[node], grown.left[node] + split.n_children)
            share = total[children] / total[node]
            value[node] = np.clip(share @ value[children], value[children].min(), value[children].max())
            impurity[node] = share @ (impurity[children] + (value[children] - value[node]) ** 2)
    return NodeValues(value[:, None], total, impurity)
