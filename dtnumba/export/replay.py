"""What an exporter wrote, run again and held against the model: rows of the caller, and rows made to be hard."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from dtnumba.export.languages.voters import ReadVoters
from dtnumba.export.reading import MAP, ReadRules, ReadTrees, codes_of, kinds_of, read, used_columns
from dtnumba.prediction.fractional import with_prior
from dtnumba.tables.cells import cells_of
from dtnumba.tables.table import Table
from dtnumba.trees.layout import NO_SURROGATES, n_entries
from dtnumba.trees.linear import AXIS_TESTS, AxisTests, LinearTests, n_terms_of, sums_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from dtnumba.export.reading import Columns
    from dtnumba.export.splines.reading import ReadSplines
    from dtnumba.trees.layout import Trees

    ReadsRows = ReadTrees | ReadRules | ReadVoters | ReadSplines  # any model as it is read

# So many cuts and categories are tried by themselves; of more, so many of each column, spread evenly.
_MOST_CUTS, _MOST_LEVELS, _FEWEST = 20_000, 500, 50
_MOST_SUMS, _OF_A_SUM = 1000, 3  # tests of sums that are met on their boundary, and by so many rows each
_BLOCK = 1 << 16  # rows together
_CLOSE = 1e-12  # of shares that exponentials are in, which are rounded elsewise in each language


class AskedRows(NamedTuple):
    """Rows in the two ways in which languages take them."""

    codes: NDArray[Any]  # (n, columns) float32 or float64: numbers, and categories as their places; NaN is missing
    columns: Columns

    def values(self) -> list[list[Any]]:
        """Return the rows as a caller has them: categories by name; None, or a category never seen, where missing."""
        found: list[list[Any]] = []
        for j, levels in enumerate(self.columns.levels):
            column = self.codes[:, j].tolist()
            if levels is not None:
                absent = (None, unseen(levels))
                column = [levels[int(x)] if x == x else absent[i % 2] for i, x in enumerate(column)]
            else:
                column = [x if x == x else None for x in column]
            found.append(column)
        return [list(row) for row in zip(*found, strict=True)]


def unseen(levels: list[Any]) -> Any:
    """Return a category that is none of those."""
    if all(isinstance(level, str) for level in levels):
        return max(levels, key=len, default="") + "?"
    if all(isinstance(level, bool) for level in levels):
        return None
    if all(isinstance(level, (int, float)) for level in levels):
        return max(levels) + 1
    return None


class Replies(NamedTuple):
    """What a model says of rows."""

    codes: NDArray[np.int64] | None  # (n, outputs) labels as places in the classes; None of numbers
    numbers: NDArray[Any] | None  # (n, width) shares of classes, or numbers; None where a format gives labels alone


class Runs(Protocol):
    """What an exporter returns: it can run itself."""

    columns: Columns
    is_single: bool  # whether its numbers are float32

    def run(self, rows: AskedRows) -> Replies:
        """Return what it says of rows."""


class Verified(NamedTuple):
    """How many rows a model and what was exported answer alike; true where it is any."""

    n_rows: int  # of the caller
    n_made: int  # at thresholds and their neighbours, without values, with every category, at the ends of numbers

    def __bool__(self) -> bool:
        """Tell whether rows were compared."""
        return self.n_rows + self.n_made > 0


class ExportMismatchError(ValueError):
    """Raised where what was exported says something else than the model."""


def verify(result: Any, model: Any, X: Any) -> Verified:
    """Run what was exported again, and compare it with the model.

    Parameters
    ----------
    result : what a function of ``export`` has returned
        C is compiled, SQL is asked, text is read back.
    model : fitted estimator
        The one it was made of.
    X : array, frame or sparse matrix of shape (rows, features)
        As in ``predict``. Rows are added: at every threshold and beside it, in float64 and in float32, without values,
        with infinities and signed zeros, with every category and one that was never seen.

    Returns
    -------
    Verified
        How many rows were compared. A row of which they say different things is an ExportMismatchError that names both
        answers.

    Examples
    --------
    >>> from dtnumba import DecisionTreeRegressor, export
    >>> X = [[1.0], [2.0], [8.0], [9.0]]
    >>> tree = DecisionTreeRegressor(max_depth=1).fit(X, [1.0, 1.0, 5.0, 5.0])
    >>> export.verify(export.python(tree), tree, X)
    Verified(n_rows=4, n_made=17)

    """
    if not hasattr(result, "run") or not hasattr(result, "columns"):
        raise TypeError(f"result={type(result).__name__}: must be what a function of export has returned")
    given = model.table_of(X)
    codes = np.concatenate([np.array(part, np.float64) for part in _whole(given)])
    n_made = 0
    for row_type in result.columns.row_types:
        read_model = _read(model, str(row_type))
        made = hard_rows(read_model, codes)
        n_made = max(n_made, len(made))
        _demand_same_columns(result.columns, read_model.columns)
        with np.errstate(over="ignore"):
            rows = np.ascontiguousarray(np.concatenate([codes, made]).astype(row_type))
        if hasattr(result, "takes"):  # a network of booleans, or a formula of rows without missing values
            rows = np.ascontiguousarray(rows[result.takes(rows)])
        for start in range(0, len(rows), _BLOCK):
            _compare(result, model, rows[start : start + _BLOCK], start)
    return Verified(len(codes), n_made)


def _read(model: Any, row_type: str) -> ReadsRows:
    if not hasattr(model, "splines_"):
        return read(model, row_type, sums=True, rule_sums=True, indicators=True)
    from dtnumba.export.splines.reading import read_splines

    return read_splines(model)


def _whole(table: Table) -> Iterator[NDArray[Any]]:
    from dtnumba.tables.cells import values_of

    for _, cells in table.row_blocks():
        yield values_of(cells)


def _demand_same_columns(made: Columns, own: Columns) -> None:
    if made.names != own.names or made.levels != own.levels or made.classes != own.classes:
        raise ValueError("verify: the model has other columns, categories or classes than the one this was made of")


def _compare(result: Any, model: Any, rows: NDArray[Any], first: int) -> None:
    expected, found = model_answers(model, rows), result.run(AskedRows(rows, result.columns))
    pairs: list[tuple[str, Any, Any]] = []
    if hasattr(result, "k"):  # a formula of one class
        assert expected.codes is not None
        expected = expected._replace(codes=(expected.codes == result.k).astype(np.int64))
    if expected.codes is not None and found.codes is not None:
        pairs.append(("label", expected.codes, found.codes))
    if found.numbers is not None:
        numbers = expected.numbers
        is_single = getattr(result, "is_single", False)
        if is_single and numbers is not None:
            numbers = numbers.astype(np.float32)
        kind = "number" if expected.codes is None else "shares"
        pairs.append((kind, numbers, found.numbers))
    assert pairs, "a format says labels or numbers"
    for kind, one, other in pairs:
        if one.shape != other.shape:
            raise ExportMismatchError(f"the model gives {kind} of the shape {one.shape}, the export {other.shape}")
        same = ((one == other) | ((one != one) & (other != other))).all(axis=1)
        if kind == "shares" and getattr(result, "is_close", False):
            same = (np.abs(one - other) <= _CLOSE).all(axis=1)
        if not same.all():
            row = int(np.argmin(same))
            cells = dict(zip(result.columns.names, rows[row].tolist(), strict=True))
            raise ExportMismatchError(
                f"row {first + row} ({rows.dtype}): the model says {kind} {one[row].tolist()}, the export "
                f"{other[row].tolist()}; {int((~same).sum())} of {len(rows)} rows differ; the row is {cells}"
            )


def known_rows(trees: Trees, codes: NDArray[Any]) -> NDArray[np.bool_]:
    """Return the rows without missing values and sums, and without categories that a node has no child for."""
    used, own = used_columns(trees._replace(surrogates=NO_SURROGATES)), np.asarray(codes, np.float64)
    known = ~np.isnan(own[:, used]).any(axis=1)
    for node in np.flatnonzero(kinds_of(trees) == MAP).tolist():
        ways = trees.branch[trees.branch_start[node] : trees.branch_start[node + 1]]
        met = np.flatnonzero(ways >= 0)
        known &= np.isin(own[:, trees.feature[node]], met)
    for node in np.flatnonzero(n_terms_of(trees.linear, trees.n_nodes)).tolist():
        known &= ~np.isnan(sums_of(trees.linear, node, own))  # infinities may cancel each other
    return np.asarray(known)


def answers_of(read_model: ReadTrees, totals: NDArray[np.float64]) -> tuple[NDArray[np.int64] | None, NDArray[Any]]:
    """Return labels (None of numbers) and shares or numbers of rows, by the sums of what their trees say."""
    totals = totals / read_model.trees.n_trees if read_model.is_mean else totals
    if read_model.prior is not None and not read_model.are_sure:
        totals = with_prior(totals, read_model.prior)
    if read_model.says_second:
        totals = np.concatenate([1.0 - totals, totals], axis=1)
    width, sizes = read_model.columns.width, read_model.columns.sizes
    if read_model.columns.classes is None:
        return None, totals
    decisive = totals[:, read_model.label_from : read_model.label_from + width]
    return codes_of(decisive, sizes, read_model.rule), totals[:, :width]


def model_answers(model: Any, rows: NDArray[Any]) -> Replies:
    """Return what a model says of rows of numbers and codes."""
    table = Table.block(cells_of(rows))
    said = np.asarray(model.predict(table))
    if not hasattr(model, "classes_"):
        return Replies(None, said.reshape(len(rows), -1))
    shares = model.predict_proba(table)
    labels = said.reshape(len(rows), -1)
    codes = [places_of(labels[:, o].tolist(), np.asarray(own).tolist()) for o, own in enumerate(model.class_lists())]
    numbers = np.concatenate(shares, axis=1) if isinstance(shares, list) else shares
    return Replies(np.stack(codes, axis=1), np.asarray(numbers))


def places_of(labels: list[Any], classes: list[Any]) -> NDArray[np.int64]:
    """Return which class each label is, -1 for none."""
    places = {label: k for k, label in enumerate(classes)}
    return np.array([places.get(label, -1) for label in labels], np.int64)


def hard_rows(read_model: ReadsRows, codes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return rows that are hard on an export: each is a row of the caller with one value changed, or several.

    Tests of sums are met on their boundary and beside it: one value of a row is what makes the sum the threshold.
    """
    p = len(read_model.columns.names)
    features, values = [], []
    found = [one for one in cuts_by_feature(read_model) if read_model.columns.levels[one[0]] is None]
    for feature, cuts in found:
        values.append(_beside(cuts, max(_MOST_CUTS // len(found), _FEWEST)))
        features.append(np.full(len(values[-1]), feature))
    for feature, levels in enumerate(read_model.columns.levels):
        if levels is None:
            own = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0])
        else:
            own = np.append(_some(np.arange(len(levels), dtype=np.float64), _MOST_LEVELS), np.nan)
        values.append(own)
        features.append(np.full(len(own), feature))
    changed, value = np.concatenate(features), np.concatenate(values)
    base = codes if len(codes) else np.zeros((1, p))
    generator = np.random.default_rng(0)
    rows = base[generator.integers(0, len(base), len(changed))]
    rows[np.arange(len(changed)), changed] = value
    holes = base[generator.integers(0, len(base), min(2 * p + 4, 200))]
    holes[generator.random(holes.shape) < np.linspace(0.2, 1.0, len(holes))[:, None]] = np.nan
    holes[-1] = np.nan
    made = [rows, holes]
    linear, pairs = _cuts_of_sums(read_model)
    if isinstance(linear, LinearTests):
        both = np.concatenate([base, holes])
        is_level = [j for j, levels in enumerate(read_model.columns.levels) if levels is not None]
        made += [_on_boundaries(linear, pairs, both, generator), _cancelling(base, is_level, generator)]
    return np.concatenate(made)


def _cuts_of_sums(read_model: ReadsRows) -> tuple[AxisTests | LinearTests, list[tuple[int, float]]]:
    """Return the sums that a model tests, and pairs of one of these and a cut of it."""
    if isinstance(read_model, ReadTrees):
        trees = read_model.trees
        nodes = np.flatnonzero(n_terms_of(trees.linear, trees.n_nodes))
        return trees.linear, list(zip(nodes.tolist(), trees.threshold[nodes].tolist(), strict=True))
    if not isinstance(read_model, ReadRules):
        return AXIS_TESTS, []
    tests, p = read_model.rules.tests, len(read_model.columns.names)
    number, end = np.tile(tests.feature - p, 2), np.concatenate([tests.low, tests.high])
    is_cut = (number >= 0) & np.isfinite(end)
    return read_model.rules.linear, list(zip(number[is_cut].tolist(), end[is_cut].tolist(), strict=True))


def _on_boundaries(
    linear: LinearTests, cuts: list[tuple[int, float]], base: NDArray[np.float64], generator: Any
) -> NDArray[np.float64]:
    """Return rows of which one value is such that a test of a sum just holds, or just does not."""
    found = [base[:0]]
    for which in _some(np.arange(len(cuts)), _MOST_SUMS).tolist():
        k, cut = cuts[which]
        terms = slice(int(linear.start[k]), int(linear.start[k + 1]))
        columns, weights = linear.column[terms], linear.weight[terms]
        level = linear.terms(("level",))[0][terms]
        are_numbers = np.flatnonzero(level < 0)
        if not len(are_numbers):  # levels alone lead nowhere else than rows with each level do
            continue
        rows = base[generator.integers(0, len(base), _OF_A_SUM)]
        at = are_numbers[generator.integers(0, len(are_numbers), _OF_A_SUM)]
        met = np.where(level >= 0, rows[:, columns] == level, rows[:, columns])
        known = np.where(np.isnan(met), linear.stand_in[terms], met)
        known[np.arange(_OF_A_SUM), at] = 0.0
        with np.errstate(all="ignore"):
            parts = known * weights
            value = (cut - parts.sum(axis=1)) / weights[at]
            largest = np.maximum(np.abs(parts).max(axis=1), abs(cut))
            step = np.spacing(largest) / np.abs(weights[at])  # which the sum does not round away
        kept = np.flatnonzero(np.isfinite(value) & np.isfinite(step))
        beside = [_beside(value[i] + step[i] * np.arange(-2.0, 3.0), _FEWEST) for i in kept.tolist()]
        n = [len(own) for own in beside]
        rows, at = np.repeat(rows[kept], n, axis=0), np.repeat(at[kept], n)
        rows[np.arange(len(rows)), columns[at]] = np.concatenate([*beside, np.empty(0)])
        found.append(rows)
    return np.concatenate(found)


def _cancelling(base: NDArray[np.float64], is_level: list[int], generator: Any) -> NDArray[np.float64]:
    """Return rows of infinities, which may cancel each other in sums."""
    wild = base[generator.integers(0, len(base), 2 * base.shape[1] + 4)]
    chosen = generator.random(wild.shape) < 0.5
    wild[chosen] = np.where(generator.random(wild.shape) < 0.5, np.inf, -np.inf)[chosen]
    wild[:, is_level] = np.nan
    return np.asarray(wild)


def _some(values: NDArray[Any], most: int) -> NDArray[Any]:
    return values[np.unique(np.linspace(0, max(len(values) - 1, 0), min(most, len(values))).astype(np.int64))]


def _beside(cuts: NDArray[np.float64], most: int) -> NDArray[np.float64]:
    """Return cuts and the numbers next to them, in float64 and in float32."""
    with np.errstate(over="ignore", invalid="ignore"):
        cuts = _some(np.unique(cuts[~np.isnan(cuts)]), most)
        narrow = cuts.astype(np.float32)
        sides = [np.nextafter(own, own.dtype.type(end)) for own in (cuts, narrow) for end in (-np.inf, np.inf)]
        return np.concatenate([cuts, narrow.astype(np.float64), *(side.astype(np.float64) for side in sides)])


def cuts_by_feature(read_model: ReadsRows) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Yield the columns that are compared with numbers, and the numbers."""
    if isinstance(read_model, (ReadRules, ReadVoters)):
        sets = [read_model.rules] if isinstance(read_model, ReadRules) else [own.rules for own in read_model.sets]
        feature = np.concatenate([own.tests.feature for own in (*sets, *sets)])
        cut = np.concatenate([*(own.tests.low for own in sets), *(own.tests.high for own in sets)])
        feature = np.where(feature < len(read_model.columns.names), feature, -1)  # sums
    elif not isinstance(read_model, ReadTrees):
        feature, cut = read_model.knots()
    else:
        trees, own = read_model.trees, read_model.trees.surrogates
        of_cuts = np.repeat(trees.feature, n_entries(trees.cut_start, trees.n_nodes))
        of_nodes = np.where(n_terms_of(trees.linear, trees.n_nodes), -1, trees.feature)
        feature = np.concatenate([of_nodes, of_cuts, own.feature])
        cut = np.concatenate([trees.threshold, trees.cut, own.threshold])
    is_cut = ~np.isnan(cut) & (feature >= 0)
    feature, cut = feature[is_cut], cut[is_cut]
    order = np.argsort(feature, kind="stable")
    feature, cut = feature[order], cut[order]
    ends = np.flatnonzero(np.diff(feature, prepend=-1)).tolist()
    for start, stop in pairwise([*ends, len(feature)]):
        yield int(feature[start]), cut[start:stop]
