"""Batches of Parquet, Feather and Arrow files; pyarrow reads the files, and what it reads comes as any Arrow table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dtnumba.cli.command import DataError
from dtnumba.cli.files.reading import Reading, RowBlock
from dtnumba.cli.files.spelling import Spelling
from dtnumba.tables.arrow.table import read_arrow

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


ARROW_SUFFIXES = (".parquet", ".arrow", ".feather")
_BATCH_ROWS = 1 << 16


class ArrowFile:
    """A file that is open, its schema read."""

    def __init__(self, path: str, reading: Reading) -> None:
        self.path, self.spelling = path, Spelling()
        self.remarks: list[str] = []
        suffix = Path(path).suffix.lower()
        try:
            Path(path).open("rb").close()  # a missing file is the same error for every format
            import pyarrow as pa
        except ImportError as error:
            raise DataError(f"{path}: reading {suffix} needs pyarrow: pip install 'dtnumba[frames]'") from error
        except OSError as error:
            raise DataError(f"{path}: {error.strerror or error}") from error
        self._errors: Any = (pa.ArrowException, OSError)
        self._suffix = suffix
        try:
            schema, self._batches = _opened(Path(path))
        except self._errors as error:
            raise self._damaged(error) from error
        self.names = [str(name) for name in schema.names]
        stated = (schema.metadata or {}).get(b"pandas")
        listed = [] if stated is None else json.loads(stated).get("index_columns", [])
        self.index = tuple(name for name in listed if isinstance(name, str) and self.names.count(name) == 1)
        for position, name in enumerate(self.names):
            if name in self.names[:position]:
                raise DataError(f"{path}: two columns are named {name!r}; rename one")

    def close(self) -> None:
        """Do nothing: pyarrow closes its files."""

    def blocks(self, wanted: Sequence[int], numeric: Sequence[int] = ()) -> Iterator[RowBlock]:
        """Yield the batches."""
        batches = iter(self._batches)
        while True:
            try:
                batch = next(batches, None)
            except self._errors as error:
                raise self._damaged(error) from error
            if batch is None:
                return
            for start in range(0, batch.num_rows, _BATCH_ROWS):
                table = read_arrow(batch.slice(start, _BATCH_ROWS))
                assert table is not None
                yield RowBlock(len(table), [table.columns[j] for j in wanted])

    def _damaged(self, error: BaseException) -> DataError:
        return DataError(f"{self.path}: not a {self._suffix} file ({error})")


def _opened(path: Path) -> tuple[Any, Any]:
    """Return the schema of a file, and its batches."""
    import pyarrow as pa

    if path.suffix.lower() == ".parquet":
        import pyarrow.parquet

        parquet = pyarrow.parquet.ParquetFile(path)
        return parquet.schema_arrow, parquet.iter_batches(batch_size=_BATCH_ROWS)
    with path.open("rb") as file:
        mark = file.read(6)
    if mark.startswith(b"FEA1"):
        import pyarrow.feather

        table = pyarrow.feather.read_table(path)
        return table.schema, table.to_batches()
    mapped = pa.memory_map(str(path))
    # An .arrow file may be either of the two IPC formats; only one of them starts with this mark.
    if mark == b"ARROW1":
        reader = pa.ipc.open_file(mapped)
        return reader.schema, (reader.get_batch(k) for k in range(reader.num_record_batches))
    stream = pa.ipc.open_stream(mapped)
    return stream.schema, stream
