"""Logistic regression on the terms: Newton's steps, halved where the deviance would rise.

The terms are made orthonormal by the triangle of the forward pass first, so that steps are as exact as they can be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


_MOST_STEPS, _CLOSE = 25, 1e-8  # as R's glm
_MOST_HALVINGS = 30
_ROWS = 1 << 15  # a block, whose sums are added up in order
_DEPENDENT = 1e-9  # length of what is new of a term of length one, below which it is rounding
_RIDGE, _LEAST = 1e-12, 1e-300  # of the mean curvature: where classes are parted, it goes to nothing


class Logistic(NamedTuple):
    """What a logistic regression found."""

    coefficients: NDArray[np.float64]  # (terms, classes) of the logarithms of their odds: zero for the first class
    deviance: float
    null_deviance: float  # of the shares of the classes alone
    n_steps: int
    converged: bool


def fit_logistic(
    terms: NDArray[np.float64], codes: NDArray[np.int64], n_classes: int, weight: NDArray[np.float64] | None
) -> Logistic:
    """Return the model of the classes by terms that makes what was seen likeliest.

    Parameters
    ----------
    terms : array of shape (rows, terms)
        The first is 1.
    codes : array of shape (rows,)
        The class of each row.
    n_classes : int
        Classes there are.
    weight : array of shape (rows,) or None
        What each row counts.

    """
    weight = np.ones(len(terms)) if weight is None else weight
    rotation = _rotation(terms, weight)
    basis, k, m = terms @ rotation, n_classes - 1, rotation.shape[1]
    found, n_steps, converged = np.zeros((m, k)), 0, k == 0
    deviance, total = _deviance(basis, found, codes, weight), np.bincount(codes, weight, n_classes)
    seen = total[total > 0]
    null = 2.0 * float((seen * np.log(seen.sum() / seen)).sum())
    while n_steps < _MOST_STEPS and not converged:
        slope, curvature = _derivatives(basis, found, codes, weight)
        curvature[np.diag_indices_from(curvature)] += _RIDGE * max(float(np.trace(curvature)) / (m * k), _LEAST)
        step = np.linalg.solve(curvature, slope.T.reshape(-1)).reshape(k, m).T
        for _ in range(_MOST_HALVINGS):
            tried = _deviance(basis, found + step, codes, weight)
            if tried <= deviance:
                break
            step = step / 2.0
        n_steps += 1
        converged = deviance - tried <= _CLOSE * (tried + 0.1)
        if tried <= deviance:
            found, deviance = found + step, tried
    return Logistic(np.hstack([np.zeros((terms.shape[1], 1)), rotation @ found]), deviance, null, n_steps, converged)


def _rotation(terms: NDArray[np.float64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the matrix that makes terms orthonormal in the rows' weight; what others make up is left out."""
    largest = np.abs(terms).max(axis=0)
    scale = np.where(largest > 0, largest, 1.0)
    scaled = terms / scale * np.sqrt(weight / weight.max())[:, None]
    length = np.sqrt((scaled**2).sum(axis=0))
    kept = np.flatnonzero(length > 0)
    scaled = scaled[:, kept] / length[kept]
    own = np.abs(np.diag(np.linalg.qr(scaled, mode="r"))) > _DEPENDENT
    own = np.append(own, np.zeros(len(kept) - len(own), bool))
    kept, scaled = kept[own], scaled[:, own]
    rotation = np.zeros((len(scale), len(kept)))
    rotation[kept] = np.linalg.inv(np.linalg.qr(scaled, mode="r")) / (length * scale)[kept, None]
    return rotation


def _odds(basis: NDArray[np.float64], found: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.hstack([np.zeros((len(basis), 1)), basis @ found])


def shares_of(odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of each class by the logarithms of their odds."""
    powers = np.exp(odds - odds.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def codes_and_shares(sums: NDArray[np.float64], n_classes: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the likeliest class of rows, the first on ties, and the share of each, by what their terms sum up to.

    sums (rows, 1) logarithms of the odds of the second of two classes; of more (rows, classes), of each
    """
    odds = sums if n_classes > 2 else np.hstack([np.zeros((len(sums), 1)), sums])[:, :n_classes]
    return odds.argmax(axis=1), shares_of(odds)


def _deviance(
    basis: NDArray[np.float64], found: NDArray[np.float64], codes: NDArray[np.int64], weight: NDArray[np.float64]
) -> float:
    total = 0.0
    for start in range(0, len(basis), _ROWS):
        rows = slice(start, start + _ROWS)
        odds = _odds(basis[rows], found)
        top = odds.max(axis=1)
        own = odds[np.arange(len(odds)), codes[rows]]
        total += 2.0 * float((weight[rows] * (top - own + np.log(np.exp(odds - top[:, None]).sum(axis=1)))).sum())
    return total


def _derivatives(
    basis: NDArray[np.float64], found: NDArray[np.float64], codes: NDArray[np.int64], weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the slope (terms, classes but one) of half the deviance downwards, and its curvature."""
    m, k = found.shape
    slope, curvature = np.zeros((m, k)), np.zeros((k, m, k, m))
    for start in range(0, len(basis), _ROWS):
        rows = slice(start, start + _ROWS)
        part, w = basis[rows], weight[rows]
        shares = shares_of(_odds(part, found))[:, 1:]
        slope += part.T @ (w[:, None] * ((codes[rows, None] == np.arange(1, k + 1)) - shares))
        for a in range(k):
            for b in range(a + 1):
                bend = w * shares[:, a] * ((a == b) - shares[:, b])
                block = part.T @ (bend[:, None] * part)
                curvature[a, :, b] += block
                if a != b:
                    curvature[b, :, a] += block.T
    return slope, curvature.reshape(k * m, k * m)
