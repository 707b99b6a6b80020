"""Which rows a model is fitted to and which it is tried on: folds, and one part of the rows held out.

Dealing is a function of the seed and of the number of the row, so it depends on nothing else: no thread, no order of
calls. A repetition draws from a stream of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from dtnumba.runtime import rng

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray


class Split(NamedTuple):
    """One fit and its trial."""

    train: NDArray[np.int64]  # ascending
    test: NDArray[np.int64]


class Splits(Protocol):
    """Splits that are made when they are asked for: all of them in turn, or one by its number."""

    def __len__(self) -> int:
        """Return how many there are."""

    def __getitem__(self, index: int, /) -> Split:
        """Return one of them."""

    def __iter__(self) -> Iterator[Split]:
        """Yield all of them."""


class Folds:
    """Splits by the number of the fold that each row is held out in; made one at a time, when asked for.

    Parameters
    ----------
    fold_of : array of shape (repetitions, rows)
        Number of the fold of every row; below zero where a row is never held out.

    Attributes
    ----------
    n_folds : array of int
        Folds of each repetition.
    fold_of : array
        As given.

    """

    def __init__(self, fold_of: NDArray[np.int64]) -> None:
        self.fold_of = np.atleast_2d(fold_of)
        self.n_folds = self.fold_of.max(axis=1) + 1

    def __len__(self) -> int:
        """Return the number of splits, of all repetitions."""
        return int(self.n_folds.sum())

    def __getitem__(self, index: int) -> Split:
        """Return one of the splits."""
        ends = np.cumsum(self.n_folds)
        repeat = int(np.searchsorted(ends, index, side="right"))
        if not 0 <= index < ends[-1]:
            raise IndexError(f"there is no split {index}: there are {ends[-1]}")
        is_test = self.fold_of[repeat] == index - (ends[repeat] - self.n_folds[repeat])
        return Split(np.flatnonzero(~is_test), np.flatnonzero(is_test))

    def __iter__(self) -> Iterator[Split]:
        """Yield the splits, repetition by repetition."""
        for fold_of, n in zip(self.fold_of, self.n_folds, strict=True):
            rows, is_train = np.argsort(fold_of, kind="stable"), np.ones(len(fold_of), bool)
            ends = np.cumsum(np.bincount(fold_of + 1, minlength=n + 1))  # those never held out come first
            for k in range(n):
                test = rows[ends[k] : ends[k + 1]]
                is_train[test] = False
                yield Split(np.flatnonzero(is_train), test)
                is_train[test] = True


def k_folds(
    n_rows: int, k: int, seed: int, *, strata: NDArray[Any] | None = None, groups: ArrayLike | None = None,
    repeats: int = 1,
) -> Folds:  # fmt: skip
    """Deal the rows to k folds.

    Parameters
    ----------
    n_rows, k : int
        Rows, and folds of each repetition.
    seed : int
        Of what is drawn.
    strata : array of shape (rows,) of int, optional
        Codes of classes: every fold gets as many rows of each as the others, give or take one.
    groups : array of shape (rows,), optional
        Rows of one group stay together. Then the sizes and the strata of the folds are only as even as groups allow.
    repeats : int
        How often the rows are dealt anew.

    """
    if not 2 <= k <= n_rows:
        raise ValueError(f"k={k}: must be from 2 to the number of rows, which is {n_rows}")
    codes = np.zeros(n_rows, np.int64) if strata is None else np.asarray(strata, np.int64)
    if groups is None:
        return Folds(np.stack([_dealt(codes, k, seed, r) for r in range(repeats)]))
    members = _group_codes(groups, n_rows)
    n_groups = int(members.max()) + 1
    if n_groups < k:
        raise ValueError(f"k={k}: must be at most the number of groups, which is {n_groups}; a group is never split")
    return Folds(np.stack([_dealt_groups(codes, members, k, seed, r) for r in range(repeats)]))


def _dealt(codes: NDArray[np.int64], k: int, seed: int, repeat: int) -> NDArray[np.int64]:
    """Sort the rows by class, at random within a class, and deal them out like cards."""
    fold_of = np.empty(len(codes), np.int64)
    fold_of[np.lexsort((_random_keys(len(codes), seed, repeat), codes))] = np.arange(len(codes)) % k
    return fold_of


def _dealt_groups(
    codes: NDArray[np.int64], members: NDArray[np.int64], k: int, seed: int, repeat: int
) -> NDArray[np.int64]:
    """Give the groups, the largest first, each to the fold that lacks most of what it holds."""
    n_groups, n_codes = int(members.max()) + 1, int(codes.max()) + 1
    counts = np.bincount(members * n_codes + codes, minlength=n_groups * n_codes).reshape(n_groups, n_codes)
    shares = counts / np.maximum(counts.sum(axis=0), 1)
    held, n_held = np.zeros((k, n_codes)), np.zeros(k, np.int64)
    fold_of_group = np.empty(n_groups, np.int64)
    order = np.lexsort((_random_keys(n_groups, seed, repeat), -counts.sum(axis=1)))
    for place, group in enumerate(order):
        # Sum of squares after the group has come, less before it: 2 held * share is all that differs between folds.
        crowd = held @ shares[group]
        n_empty, n_left = int((n_held == 0).sum()), n_groups - place
        if n_empty == n_left:  # the last groups go to folds that would stay empty
            crowd[n_held > 0] = np.inf
        fold = int(np.lexsort((n_held, crowd))[0])
        fold_of_group[group] = fold
        held[fold] += shares[group]
        n_held[fold] += counts[group].sum()
    return fold_of_group[members]


def one_a_row(n_rows: int) -> Folds:
    """Return the folds of leave-one-out."""
    if n_rows < 2:
        raise ValueError(f"X has {n_rows} row: leaving one out needs at least 2")
    return Folds(np.arange(n_rows))


def joint_codes(codes: NDArray[Any]) -> NDArray[np.int64]:
    """Return the class of every row as one code; of several outputs, a code for each combination."""
    if codes.shape[1] == 1:
        return codes[:, 0].astype(np.int64)
    return np.unique(codes, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)


def held_out(
    n_rows: int, share: float, seed: int, *, strata: NDArray[Any] | None = None, groups: ArrayLike | None = None,
    weight: NDArray[np.float64] | None = None, evenly: bool = True, repeat: int = 0,
) -> Split:  # fmt: skip
    """Return the rows to fit and a share of the rows that is held out, at least one and not all.

    Parameters
    ----------
    n_rows : int
        Rows.
    share : float
        In (0, 1).
    seed : int
        Of what is drawn.
    strata : array of shape (rows,) of int, optional
        Codes of classes: the same share of each is held out, give or take one row. Not together with groups.
    groups : array of shape (rows,), optional
        Rows of one group stay together; the share is met as closely as the groups drawn allow.
    weight : array of shape (rows,), optional
        Rows of weight 0 are on neither side, and the others are drawn as if these were not there.
    evenly : bool
        Every so many-th row of a random order is held out; else the first rows of it.
    repeat : int
        Another number draws other rows.

    """
    if groups is not None:
        return _held_out_groups(_group_codes(groups, n_rows), share, seed, repeat)
    rows = np.arange(n_rows) if weight is None else np.flatnonzero(weight)
    n = len(rows)
    n_test, keys = _inside(round(share * n), n, "rows"), _random_keys(n, seed, repeat)
    codes = np.zeros(n, np.int64) if strata is None else np.asarray(strata, np.int64)[rows]
    order, place = np.lexsort((keys, codes)), np.arange(n)
    is_test = (place + 1) * n_test // n > place * n_test // n if evenly else place < n_test
    return Split(np.sort(rows[order[~is_test]]), np.sort(rows[order[is_test]]))


def _held_out_groups(members: NDArray[np.int64], share: float, seed: int, repeat: int) -> Split:
    sizes = np.bincount(members)
    order = np.argsort(_random_keys(len(sizes), seed, repeat), kind="stable")
    so_far = np.cumsum(sizes[order])
    n_groups = int(np.abs(so_far - share * len(members)).argmin()) + 1
    is_test = np.isin(members, order[: _inside(n_groups, len(sizes), "groups")])
    return Split(np.flatnonzero(~is_test), np.flatnonzero(is_test))


def _inside(n_test: int, n: int, what: str) -> int:
    if n < 2:
        raise ValueError(f"{n} {what}: holding some out needs at least 2, to keep one on each side")
    return min(max(n_test, 1), n - 1)


class Resamples:
    """Bootstrap samples: as many rows as there are, drawn with replacement; the test rows are those not drawn.

    Parameters
    ----------
    n_rows, n_samples, seed : int
        Rows, samples, and the seed of what is drawn.

    """

    def __init__(self, n_rows: int, n_samples: int, seed: int) -> None:
        self._n_rows, self._n_samples, self._seed = n_rows, n_samples, seed

    def __len__(self) -> int:
        """Return the number of samples."""
        return self._n_samples

    def __getitem__(self, sample: int) -> Split:
        """Return one of the samples."""
        if not 0 <= sample < self._n_samples:
            raise IndexError(f"there is no sample {sample}: there are {self._n_samples}")
        n = self._n_rows
        bits = rng.mix_all(rng.stream(self._seed, rng.BOOTSTRAP, sample), np.arange(n))
        drawn = np.sort(((bits >> np.uint64(32)) * np.uint64(n) >> np.uint64(32)).astype(np.int64))
        return Split(drawn, np.flatnonzero(np.bincount(drawn, minlength=n) == 0))

    def __iter__(self) -> Iterator[Split]:
        """Yield the samples."""
        return (self[sample] for sample in range(self._n_samples))


def given_folds(cv: Any, n_rows: int, X: Any = None, y: Any = None, groups: Any = None) -> list[Split] | Folds:
    """Return the splits of folds that a caller made.

    Parameters
    ----------
    cv : array of int, list of pairs, or an object with ``split``
        The number of the fold that each row is held out in, below zero for never; or pairs of the rows to fit and the
        rows to try; or an object like scikit-learn's splitters.
    n_rows : int
        Rows.
    X, y, groups : optional
        What such an object is given.

    """
    if isinstance(cv, str) or not (hasattr(cv, "split") or hasattr(cv, "__iter__")):
        raise TypeError(
            f"cv={cv!r}: must be 'loo', the number of the fold of each of the {n_rows} rows, pairs (rows to fit, rows "
            "to try), or an object with split(X, y, groups); cross_validate takes a number of folds as k"
        )
    if hasattr(cv, "split"):
        cv = list(cv.split(X, y, groups))
    pairs = list(cv)
    if pairs and all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in pairs):
        splits = [Split(_rows(train, n_rows), _rows(test, n_rows)) for train, test in pairs]
        if any(len(train) == 0 or len(test) == 0 for train, test in splits):
            raise ValueError("cv: each pair must name at least one row to fit and one to try")
        return splits
    fold_of = np.asarray(cv)
    if fold_of.shape != (n_rows,) or fold_of.dtype.kind not in "iu":
        raise ValueError(
            f"cv: must be a number of folds, 'loo', the number of the fold of each of the {n_rows} rows, or pairs "
            f"(rows to fit, rows to try); got an array of {fold_of.dtype} of shape {fold_of.shape}"
        )
    numbers, codes = np.unique(fold_of[fold_of >= 0], return_inverse=True)
    if len(numbers) == 0 or (len(numbers) == 1 and len(codes) == n_rows):
        raise ValueError("cv: must hold out some rows, and not all of them at once; number at least two folds")
    found = np.full(n_rows, -1)
    found[fold_of >= 0] = codes
    return Folds(found)


def _rows(rows: Any, n_rows: int) -> NDArray[np.int64]:
    found = np.asarray(rows)
    if found.dtype.kind == "b" and found.shape == (n_rows,):
        return np.flatnonzero(found)
    if found.ndim != 1 or (len(found) and found.dtype.kind not in "iu"):
        raise ValueError(f"cv: rows must be their numbers or a mask; got {found.dtype} of shape {found.shape}")
    if len(found) and (found.min() < 0 or found.max() >= n_rows):
        raise ValueError(f"cv: rows must be from 0 to {n_rows - 1}; got {found.min()} to {found.max()}")
    return np.sort(found.astype(np.int64))


def _random_keys(n: int, seed: int, repeat: int) -> NDArray[np.uint64]:
    keys: NDArray[np.uint64] = rng.mix_all(rng.stream(seed, rng.FOLDS, repeat), np.arange(n))
    return keys


def _group_codes(groups: ArrayLike, n_rows: int) -> NDArray[np.int64]:
    found = np.asarray(groups)
    if found.shape != (n_rows,):
        raise ValueError(f"groups: must have one entry for each of the {n_rows} rows; got shape {found.shape}")
    codes: NDArray[np.int64]
    try:
        codes = np.unique(found, return_inverse=True)[1].astype(np.int64)
    except TypeError:  # labels of different kinds have no order
        index: dict[Any, int] = {}
        codes = np.array([index.setdefault(value, len(index)) for value in found.tolist()], np.int64)
    return codes
