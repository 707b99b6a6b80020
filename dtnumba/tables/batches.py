"""Tables larger than memory become codes, a batch at a time: one byte a value.

The first pass counts the rows, draws a sample of them, and notes all levels of categories and the values of columns
that have few; edges follow from these. The second pass writes the codes into their final place. Where all rows fit into
the sample, it is the table, and nothing is read twice. Whether a row is drawn depends on its number alone, so no code
depends on how rows are cut into batches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.runtime import rng
from dtnumba.runtime.tasks import n_workers
from dtnumba.tables.arrow.table import arrow_batches
from dtnumba.tables.binned_table import BinnedTable
from dtnumba.tables.bins import (
    MOST_BINS,
    Bins,
    add_levels,
    bins_of_sample,
    code_dtype,
    histogram_codes,
    write_codes,
    write_levels,
)
from dtnumba.tables.categories import CATEGORICAL_FEATURES_ARE, Gathered, GatheredLevels, KnownLevels, is_choice
from dtnumba.tables.cells import Cells, cells_of, values_of
from dtnumba.tables.frames import is_frame, speaks_arrow
from dtnumba.tables.table import MOST_ROWS, Table, read_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from dtnumba.tables.categories import Categories


_CALLER = "bin_batches"
_BLOCK_CELLS = 1 << 22  # read at a time from an array, and looked at together
# A sample is held beside the codes, at four bytes a value or more; tables in memory take more rows.
DRAWN_ROWS = 25_000
_SPARE_ROWS = DRAWN_ROWS // 4  # drawn beyond the sample before the largest draws are dropped
_CALL_ANEW = (
    "make_batches is called once per pass and must yield the same rows each time; let it open its source anew at every "
    "call, and seed whatever it draws"
)


def bin_batches(
    make_batches: Callable[[], Iterable[Any]] | Any, max_bins: int = 255, categorical_features: Any = None
) -> BinnedTable:
    """Return the codes of a table that need not fit into memory; ``fit`` of a histogram learner takes them as X.

    Parameters
    ----------
    make_batches : callable, array or memory-mapped array
        Called without arguments once per pass, of which there are at most two. It returns the batches: an iterable of
        arrays, frames or sparse matrices of the same columns and of any number of rows, or one array. An array in its
        place is read in blocks of rows.
    max_bins : int
        Most values of a column of numbers that get codes of their own, 2 to 255. A column of no more distinct values
        is coded exactly; others are cut at quantiles. The levels of a category get a code each, however many there are.
    categorical_features : None, "from_dtype", list of names or indices or boolean mask
        Which columns are categories, as in the learners.

    Returns
    -------
    BinnedTable
        One byte a value; two or four where a category has more than 255 levels. It is the same however the rows are
        cut into batches. Up to 25,000 rows, its codes are those that ``fit`` makes of the values; above, its edges come
        from a sample of so many rows.

    Examples
    --------
    >>> import numpy as np
    >>> from dtnumba import DecisionTreeClassifier, bin_batches
    >>> def make_batches():
    ...     for k in range(4):
    ...         yield np.arange(100.0 * k, 100.0 * (k + 1))[:, None]
    >>> table = bin_batches(make_batches, max_bins=64)
    >>> table
    BinnedTable(400 rows, 1 features, max_bins=64)
    >>> DecisionTreeClassifier(max_bins=64).fit(table, np.arange(400) >= 300).predict([[10.0], [390.0]]).tolist()
    [False, True]

    """
    most, workers = check_choices(max_bins, categorical_features), n_workers(None)
    gathered = GatheredLevels(categorical_features, _CALLER)
    source = _Source(make_batches, gathered)
    seen = _FirstPass(most, workers)
    for cells in source.blocks():
        seen.see(cells)
        del cells
    if seen.n_rows == 0:
        raise ValueError(
            f"make_batches yielded no rows: {_CALLER} needs at least one; a generator that was used up yields none, "
            "and so does a reader"
        )
    found = gathered.finish()
    seen.renumber(found.places)
    dtype = seen.sample.rows.dtype
    if seen.n_rows <= DRAWN_ROWS:
        table = seen.sample.as_table(found)
        codes, bins = histogram_codes(table, np.arange(table.n_rows, dtype=np.uint32), most, workers)
    else:
        bins, n_rows = seen.bins(found), seen.n_rows
        del seen  # the sample, before there are codes
        codes, bins = _second_pass(source, bins, n_rows, dtype, found, workers)
    return BinnedTable(codes, bins, most, dtype, source.names, found.levels, found.nominal)


def check_choices(max_bins: Any, categorical_features: Any) -> int:
    """Return how many values a column may have; raise where that or the choice of categories is not legal."""
    is_int = isinstance(max_bins, (int, np.integer)) and not isinstance(max_bins, (bool, np.bool_))
    if not is_int or not 2 <= max_bins <= MOST_BINS:
        raise ValueError(
            f"max_bins={max_bins!r}: must be an int in the range [2, {MOST_BINS}]; a code is one byte, and one code "
            "stands for missing"
        )
    if not is_choice(categorical_features):
        raise TypeError(f"categorical_features={categorical_features!r}: must be {CATEGORICAL_FEATURES_ARE}")
    return int(max_bins)


class _Source:
    """Batches as blocks of cells, checked to have the same columns."""

    def __init__(self, make_batches: Any, categories: Categories) -> None:
        self.categories = categories
        if not (callable(make_batches) or _is_table(make_batches)):
            is_used_up = hasattr(make_batches, "__next__") or hasattr(make_batches, "__arrow_c_stream__")
            raise TypeError(
                f"make_batches is a {type(make_batches).__name__}"
                + (", which can be read once, and there are two passes" if is_used_up else "")
                + ": pass a function that returns the batches whenever it is called, e.g. the generator function "
                "itself without calling it, or `lambda: batches` for a list; an array is taken, too"
            )
        self._make = make_batches
        self.n_features = 0
        self.names: NDArray[np.object_] | None = None

    def blocks(self) -> Iterator[Cells]:
        """Make the batches and yield the cells of a few rows at a time.

        Whoever loops over them deletes the last ones, as is done here: the next batch is made without them in memory.
        """
        k = 0
        for batch in self._batches():
            if not _is_empty(batch):
                table = self._read(batch, k)
                for _, cells in table.row_blocks():
                    yield from _cut(cells if table.sparse is None else cells._replace(flat=cells.flat.copy()))
                del table, cells
            k += 1  # noqa: SIM113  enumerate would hold the last batch while the next one is made
            del batch

    def _batches(self) -> Iterator[Any]:
        made = self._make() if callable(self._make) else self._make
        if speaks_arrow(made):
            yield from arrow_batches(made)
            return
        if not _is_table(made):
            if not hasattr(made, "__iter__"):
                raise TypeError(
                    f"make_batches returned a {type(made).__name__}: it must return an iterable of batches, or an array"
                )
            yield from made
            return
        if isinstance(made, np.ndarray) and made.ndim == 2 and made.size:
            n_together = max(1, _BLOCK_CELLS // made.shape[1])
            yield from (made[start : start + n_together] for start in range(0, len(made), n_together))
            return
        yield made

    def _read(self, batch: Any, k: int) -> Table:
        if isinstance(batch, tuple) and any(_is_table(part) for part in batch):
            raise TypeError(
                f"batch {k} is a tuple of {len(batch)}: yield the features alone, and pass the whole target to fit"
            )
        try:
            # As in fit: integers that float64 cannot tell apart are an error, within a batch.
            table = read_table(batch, _CALLER, categories=self.categories)
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"batch {k}: {error}") from error
        if self.n_features == 0:
            self.n_features, self.names = table.n_features, table.names
        if table.n_features != self.n_features:
            raise ValueError(
                f"batch {k} has {table.n_features} columns, and the first batch has {self.n_features}: every batch "
                "must have the same columns"
            )
        if not _same_names(table.names, self.names):
            raise ValueError(
                f"batch {k} has {_said(table.names)}, and the first batch has {_said(self.names)}: every batch must "
                "have the same columns in the same order"
            )
        return table


def _is_table(X: Any) -> bool:
    is_one_frame = (hasattr(X, "shape") or speaks_arrow(X)) and is_frame(X)
    return isinstance(X, np.ndarray) or is_one_frame or (hasattr(X, "tocsc") and hasattr(X, "nnz"))


def _is_empty(batch: Any) -> bool:
    shape = getattr(batch, "shape", None)
    if shape is not None:
        return len(shape) > 0 and shape[0] == 0
    return isinstance(batch, (list, tuple)) and len(batch) == 0


def _same_names(one: Any, other: Any) -> bool:
    return (one is None) == (other is None) and (one is None or np.array_equal(one, other))


def _said(names: Any) -> str:
    if names is None:
        return "columns without names"
    return f"the columns {', '.join(names[:8])}" + (", ..." if len(names) > 8 else "")


def _cut(cells: Cells) -> Iterator[Cells]:
    n_together = max(1, _BLOCK_CELLS // cells.n_columns)
    for start in range(0, cells.n_rows, n_together):
        n = min(n_together, cells.n_rows - start)
        yield cells._replace(offset=cells.offset + start * cells.row_step, n_rows=n)


def _as(cells: Cells, dtype: np.dtype[Any]) -> Cells:
    """Return cells of a dtype: a narrower batch is widened, so that all are coded alike."""
    return cells if cells.flat.dtype == dtype else cells_of(values_of(cells).astype(dtype))


class _FirstPass:
    """Number of rows, a sample of them, and the values of columns that have few: what edges are made from."""

    def __init__(self, most: int, workers: int) -> None:
        self.n_rows = 0
        self.most = most
        self.sample = RowSample()
        self.few = FewValues(most, workers)

    def see(self, cells: Cells) -> None:
        """Take a block of rows in."""
        if self.n_rows + cells.n_rows > MOST_ROWS:
            raise ValueError(f"the batches have more than {MOST_ROWS} rows, which is the most that fit into one table")
        dtype = np.promote_types(cells.flat.dtype, self.sample.rows.dtype)
        cells = _as(cells, dtype)
        self.sample.see(cells, self.n_rows)
        self.few.see(cells)
        self.n_rows += cells.n_rows

    def renumber(self, places: Sequence[NDArray[np.float64] | None]) -> None:
        """Give the levels of categories their final numbers."""
        for f, place in enumerate(places):
            if place is None:
                continue
            rows, values = self.sample.rows[: self.sample.n, f], self.few.values[f]
            rows[...] = np.append(place, np.nan)[np.where(np.isnan(rows), len(place), rows).astype(np.int64)]
            self.few.values[f] = None if values is None else np.sort(place[values.astype(np.int64)])

    def bins(self, found: Gathered) -> Bins:
        """Return the bins of more rows than fit into the sample; those of categories without an order stay empty."""
        values = self.few.values
        if found.nominal is not None:
            values = [None if is_one else known for is_one, known in zip(found.nominal, values, strict=True)]
        bins: Bins = bins_of_sample(self.sample.as_table(found), self.most, values, self.few.workers)
        return bins


class RowSample:
    """The rows with the smallest draws, at most as many as edges are made from; all rows while they are few."""

    def __init__(self) -> None:
        self.n = 0
        self.draws = np.empty(0, np.uint64)
        self.rows: NDArray[Any] = np.empty((0, 0), np.float32)
        self.bar = np.uint64(~np.uint64(0))  # no larger draw can be among the smallest
        self.key = rng.stream(0, rng.SAMPLE)  # one seed: two tables of the same rows must not differ

    def see(self, cells: Cells, first: int) -> None:
        """Take in the rows of a block that are drawn; ``first`` is the number of its first row."""
        if self.rows.dtype != cells.flat.dtype:
            self.rows = self.rows.astype(cells.flat.dtype)
        for start in range(0, cells.n_rows, _SPARE_ROWS):
            rows = np.arange(start, min(start + _SPARE_ROWS, cells.n_rows))
            draws = rng.mix_all(self.key, first + rows)
            taken = np.flatnonzero(draws <= self.bar)
            if self.n + len(taken) > DRAWN_ROWS + _SPARE_ROWS:
                self._drop()
            self._reserve(self.n + len(taken), cells.n_columns)
            to = slice(self.n, self.n + len(taken))
            self.draws[to], self.rows[to] = draws[taken], values_of(cells)[rows[taken]]
            self.n += len(taken)

    def _reserve(self, n: int, p: int) -> None:
        if n > len(self.draws):
            capacity = min(max(n, 2 * len(self.draws)), DRAWN_ROWS + _SPARE_ROWS)
            draws, rows = np.empty(capacity, np.uint64), np.empty((capacity, p), self.rows.dtype)
            if self.n:
                draws[: self.n], rows[: self.n] = self.draws[: self.n], self.rows[: self.n]
            self.draws, self.rows = draws, rows

    def _drop(self) -> None:
        """Keep the smallest draws: those behind the sample's end move into the places of those that are dropped."""
        if self.n <= DRAWN_ROWS:
            return
        draws = self.draws[: self.n]
        self.bar = np.partition(draws, DRAWN_ROWS - 1)[DRAWN_ROWS - 1]  # no two draws are the same
        is_kept = draws <= self.bar
        holes = np.flatnonzero(~is_kept[:DRAWN_ROWS])
        movers = DRAWN_ROWS + np.flatnonzero(is_kept[DRAWN_ROWS:])
        self.draws[holes], self.rows[holes] = self.draws[movers], self.rows[movers]
        self.n = DRAWN_ROWS

    @classmethod
    def joined(cls, parts: Sequence[tuple[NDArray[np.uint64], NDArray[Any]]]) -> RowSample:
        """Return the sample of all rows from those of several parts of them: draws, and their rows."""
        sample = cls()
        sample.draws, sample.rows = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        sample.n = len(sample.draws)
        return sample

    def drawn(self) -> tuple[NDArray[np.uint64], NDArray[Any]]:
        """Return the draws of the sample, and their rows."""
        self._drop()
        return self.draws[: self.n], self.rows[: self.n]

    def as_table(self, found: Gathered) -> Table:
        """Return the sample: all rows in their order, or the drawn ones in no order."""
        cells = cells_of(self.drawn()[1])
        return Table(self.n, self.rows.shape[1], None, cells, None, None, found.levels, found.nominal)


class FewValues:
    """The distinct values of every column that has few, over all rows: a sample would miss the rare ones."""

    def __init__(self, most: int, workers: int) -> None:
        self.most = most
        self.workers = workers
        self.values: list[NDArray[np.float64] | None] = []  # ascending; None where there are more than ``most``

    def see(self, cells: Cells) -> None:
        """Take a block of rows in."""
        if not self.values:
            self.values = [np.empty(0)] * cells.n_columns
        head = values_of(cells)[: 4 * self.most]  # it shows already that a column of real values has many
        for f, values in enumerate(self.values):
            if values is not None:
                self.values[f] = self._joined(values, head[~np.isnan(head[:, f]), f])
        few = [(f, known) for f, known in enumerate(self.values) if known is not None]
        if not few:
            return
        columns, known = zip(*few, strict=True)
        part = cells if len(few) == cells.n_columns else cells_of(values_of(cells)[:, columns])
        table, codes = Table.block(part), np.empty((cells.n_rows, len(few)), np.uint8)
        for k in write_codes(table, _exact_bins(known), codes, self.workers, np.ones(len(few), bool)):
            column = values_of(part)[:, k]
            new = column[np.append(known[k], np.nan)[codes[:, k]] != column]
            self.values[columns[k]] = self._joined(known[k], new[~np.isnan(new)])

    def _joined(self, known: NDArray[np.float64], new: NDArray[Any]) -> NDArray[np.float64] | None:
        for part in (new[: 4 * self.most], new):  # in the head, too, where only rare values came before
            values = np.union1d(known, part.astype(np.float64)) + 0.0
            if len(values) > self.most:
                return None
        return values


def _exact_bins(columns: Sequence[NDArray[np.float64]]) -> Bins:
    """Return bins with a code for each of the values of every column."""
    n_codes, values = np.array([len(values) for values in columns], np.int64), np.concatenate(columns)
    first_code = np.concatenate([[0], np.cumsum(n_codes)])
    return Bins(n_codes, first_code, values, values, np.ones(len(columns), bool))


def _second_pass(
    source: _Source, bins: Bins, n_rows: int, dtype: np.dtype[Any], found: Gathered, workers: int
) -> tuple[NDArray[Any], Bins]:
    """Write the codes of all rows where they stay."""
    source.categories = KnownLevels(found.levels, f"which the first pass had not: {_CALL_ANEW}")
    complete = add_levels(bins, found.levels, found.nominal)
    codes, at = np.empty((n_rows, source.n_features), code_dtype(complete)), 0
    for cells in source.blocks():
        if at + cells.n_rows > n_rows:
            raise ValueError(f"the second pass has more rows than the first, which had {n_rows}: {_CALL_ANEW}")
        if np.promote_types(cells.flat.dtype, dtype) != dtype:
            raise ValueError(f"the second pass has {cells.flat.dtype} values, the first had {dtype}: {_CALL_ANEW}")
        values = _as(cells, dtype)
        table = Table(cells.n_rows, cells.n_columns, None, values, None, None, found.levels, found.nominal)
        block = codes[at : at + cells.n_rows]
        # Kernels write bytes alone.
        narrow = block if codes.dtype == np.uint8 else np.empty(block.shape, np.uint8)
        strays = write_codes(table, bins, narrow, workers, bins.exhaustive)
        if len(strays):
            raise ValueError(
                f"the second pass has a value in column {int(strays[0])} that the first had not: {_CALL_ANEW}"
            )
        if narrow is not block:
            block[...] = narrow
        write_levels(table, block)
        at += cells.n_rows
        del table, values, cells
    if at < n_rows:
        raise ValueError(f"the second pass has {at} rows, the first had {n_rows}: {_CALL_ANEW}")
    return codes, complete
