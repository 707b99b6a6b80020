"""Long files of plain text, read as bytes by kernels: no quotes, UTF-8, numbers with a point.

Blocks are read by several threads side by side, and given in their order. A block with a quote is not read here, nor
any behind it. The cells are those of Python's ``csv``, and their numbers those of its ``float``.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.cli.files.decimal_kernel import POWERS, TENS, UNEVEN, UNREAD, index_cells, parse_numbers
from dtnumba.runtime.threads.cores import cores
from dtnumba.tables.arrow.number_texts import in_a_table

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from numpy.typing import NDArray

    from dtnumba.cli.files.spelling import Spelling


BLOCK_BYTES = 1 << 22
LONG_BYTES = 1 << 23  # of a file that repays the kernels
_HARD_SHARE = 0.1  # of cells that are no plain number, from which on a column is read as text


class ByteCells:
    """The cells of a column in a block.

    Parameters
    ----------
    data : uint8 array
        The block.
    starts, stops : int32 array
        Where the cells begin and end in it.

    """

    def __init__(self, data: NDArray[np.uint8], starts: NDArray[np.int32], stops: NDArray[np.int32]) -> None:
        self._data, self._starts, self._stops = data, starts, stops

    def __len__(self) -> int:
        return len(self._starts)

    def __getitem__(self, i: int) -> str:
        return self._data[self._starts[i] : self._stops[i]].tobytes().decode()

    def __iter__(self) -> Iterator[str]:
        return map(self.__getitem__, range(len(self)))

    @cached_property
    def parsed(self) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """The numbers, and the cells that hold none as usually spelled."""
        n = len(self)
        numbers, hard, value = np.empty(n), np.empty(n, np.int32), np.empty(1)
        with np.errstate(over="ignore"):  # as kernels do
            scratch = value, value.view(np.uint64), POWERS, TENS
            n_hard = parse_numbers(self._data, (self._starts, self._stops), numbers, hard, scratch)
        return numbers, hard[:n_hard]

    def numbers(self, spelling: Spelling) -> NDArray[np.float64] | None:
        """Return the cells as numbers, NaN where there is none; None where a cell is none."""
        numbers, hard = self.parsed
        if len(hard) > max(_HARD_SHARE * len(numbers), 100):
            return None
        for i in hard.tolist():
            number = spelling.as_number(self[i])
            if number is None:
                return None
            numbers[i] = number
        return numbers

    def first_with_zero(self) -> str:
        """Return the first cell that is a zero and digits behind it, or nothing."""
        after = np.minimum(self._starts + 1, len(self._data) - 1)
        second = self._data[after] - np.uint8(ord("0"))
        found = np.flatnonzero((self._data[self._starts] == ord("0")) & (second < 10))
        return self[int(found[0])] if len(found) else ""

    def distinct(self) -> tuple[list[str], NDArray[np.int64], NDArray[np.int64]]:
        """Return the different cells as they come, the row of each, and the number of each row's."""
        codes, first = in_a_table(self._data, self._starts, self._stops)
        return [self[i] for i in first.tolist()], first, codes

    def texts(self) -> list[str]:
        """Return the cells, one string for all that are the same."""
        found, _, codes = self.distinct()
        return np.array([*found, None], object)[codes].tolist()  # type: ignore[no-any-return]


class ByteRows:
    """What a block of bytes holds: its cells, or what is wrong with it."""

    def __init__(self, data: bytes, separator: int, width: int, numeric: Sequence[int]) -> None:
        if not data.isascii():
            data.decode()  # an error of what is no UTF-8, wherever it stands
        array = np.frombuffer(data, np.uint8)
        n_most = data.count(b"\n")
        starts, lines = np.empty((n_most, width + 1), np.int32), np.empty(n_most, np.int32)
        n_rows, self.n_lines, self.n_cells = index_cells(array, separator, width, starts, lines)
        self.is_ragged, self.is_other = n_rows == UNEVEN, n_rows == UNREAD
        self.n_rows = max(n_rows, 0)
        self.lines = lines[: self.n_rows]
        self._data, self._starts = array, starts[: self.n_rows]
        self._columns = {j: self.column(j) for j in numeric}
        for column in self._columns.values():
            _ = column.parsed  # here, on this thread

    def column(self, j: int) -> ByteCells:
        """Return the cells of a column."""
        bounds = np.ascontiguousarray(self._starts[:, j]), self._starts[:, j + 1] - np.int32(1)
        return ByteCells(self._data, *bounds)

    def columns(self, wanted: Sequence[int]) -> list[ByteCells]:
        """Return the cells of columns."""
        return [self._columns.get(j) or self.column(j) for j in wanted]


def byte_blocks(head: bytes, file: Any) -> Iterator[bytes]:
    """Yield whole lines, the last of which ends with a newline like all others."""
    parts: list[bytes] = []
    more = head or file.read(BLOCK_BYTES)
    while more:
        end = more.rfind(b"\n") + 1
        if end:
            yield b"".join([*parts, more[:end]])
            parts.clear()
        parts.append(more[end:])
        more = file.read(BLOCK_BYTES)
    last = b"".join(parts)
    if last:
        yield last + b"\n"


class ReadAhead:
    """Blocks and what they hold, in their order; the next ones are read meanwhile.

    Parameters
    ----------
    blocks : iterator of bytes
        Of whole lines.
    separator : int
        The byte between cells.
    width : int
        How many cells a row has.
    numeric : sequence of int
        Columns of which the numbers are wanted.

    """

    def __init__(self, blocks: Iterator[bytes], separator: int, width: int, numeric: Sequence[int]) -> None:
        self._blocks, self._how = blocks, (separator, width, numeric)
        self._waiting: deque[tuple[bytes, Any]] = deque()

    def blocks(self) -> Generator[tuple[bytes, ByteRows], None, None]:
        """Yield the blocks and what they hold."""
        n_threads = max(1, cores())
        ByteRows(b"0\n", ord(","), 1, [0])  # what has to be compiled is, once, before threads ask for it
        with ThreadPoolExecutor(n_threads) as pool:
            try:
                for data in self._blocks:
                    self._waiting.append((data, pool.submit(ByteRows, data, *self._how)))
                    if len(self._waiting) > n_threads:
                        yield self._next()
                while self._waiting:
                    yield self._next()
            finally:
                for _, future in self._waiting:
                    future.cancel()

    def _next(self) -> tuple[bytes, ByteRows]:
        data, future = self._waiting.popleft()
        return data, future.result()

    def left(self) -> Iterator[bytes]:
        """Yield the blocks that have not been given."""
        yield from [data for data, _ in self._waiting]
        yield from self._blocks
