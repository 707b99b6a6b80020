"""`dtnumba predict`: answers of a saved model, a block of rows at a time."""

from __future__ import annotations

import csv
import io
import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.cli.command import DataError, UsageError
from dtnumba.cli.files.read_rows import ModelRows
from dtnumba.cli.files.reading import Reading
from dtnumba.cli.model_files import load_model
from dtnumba.cli.output import check_out, results

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from numpy.typing import NDArray


def predict(options: argparse.Namespace) -> None:
    """Do what the command line asks.

    Raises
    ------
    CommandError
        If the model or the file cannot be used.
    """
    check_out(options.out, options.model, options.file)
    began, model = time.perf_counter(), load_model(options.model)
    if options.proba and not hasattr(model, "predict_proba"):
        raise UsageError(f"--proba: {type(model).__name__} predicts numbers, which have no shares of classes")
    with closing(ModelRows(options.file, Reading.of(options), model)) as rows:
        n_rows = _write(options, model, rows)
    seconds = time.perf_counter() - began
    print(f"dtnumba predict: {n_rows:,} rows in {seconds:.2f} s", file=sys.stderr)


def _write(options: argparse.Namespace, model: Any, rows: ModelRows) -> int:
    """Write the answers, and return how many there are."""
    for remark in rows.remarks:
        print(f"dtnumba predict: {remark}", file=sys.stderr)
    answers, n_rows = AnswerLines(model, proba=options.proba), 0
    with results(options.out) as out:
        out.write(answers.header)
        for X in rows.blocks():
            try:
                out.write(answers.of(X))
            except ValueError as error:
                raise DataError(f"{options.file}: {error}") from error
            n_rows += len(X)
    return n_rows


class AnswerLines:
    """AnswerLines of a model as lines of CSV.

    Parameters
    ----------
    model : estimator
        A fitted one.
    proba : bool
        Whether shares of classes are asked for.

    """

    def __init__(self, model: Any, *, proba: bool) -> None:
        self._model, self._proba = model, proba
        n_outputs = int(model.n_outputs_)
        targets = ["prediction"] if n_outputs == 1 else [f"prediction {k}" for k in range(n_outputs)]
        if not proba:
            self.header = _line(targets)
            return
        classes = [model.classes_] if n_outputs == 1 else model.classes_
        of = [""] if n_outputs == 1 else [f" of {target}" for target in targets]
        self.header = _line([f"{label}{own}" for own, labels in zip(of, classes, strict=True) for label in labels])

    def of(self, X: Any) -> bytes:
        """Return the lines of some rows."""
        if not self._proba:
            predicted = np.asarray(self._model.predict(X))
            columns = [predicted] if predicted.ndim == 1 else list(predicted.T)
        else:
            shares = self._model.predict_proba(X)
            columns = [column for own in (shares if isinstance(shares, list) else [shares]) for column in own.T]
        texts = [_texts(column) for column in columns]
        lines = texts[0] if len(texts) == 1 else map(",".join, zip(*texts, strict=True))
        return ("\n".join(lines) + "\n").encode()


def _texts(values: NDArray[Any]) -> Sequence[str]:
    """Return the cell of each value: each value that occurs is spelled once, where they are not all different."""
    if values.dtype.kind == "f":
        bits = np.ascontiguousarray(values, np.float64).view(np.int64)
        few, at = np.unique(bits[: 1 << 12], return_inverse=False), None
        if 4 * len(few) <= min(len(bits), 1 << 12):
            few, at = np.unique(bits, return_inverse=True)
            spelled = np.array([_number(value) for value in few.view(np.float64).tolist()], object)
            return list(spelled[at])
        return [_number(value) for value in values.tolist()]
    if values.dtype.kind in "mM":
        values = values.astype(np.str_)  # as NumPy spells them, not the numbers that nanoseconds are to Python
    seen: dict[Any, str] = {}
    cells = []
    for value in values.tolist():
        cell = seen.get(value)
        if cell is None:
            cell = seen[value] = _line([str(value)]).decode()[:-1]
        cells.append(cell)
    return cells


def _number(value: float) -> str:
    return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def _line(cells: Sequence[str]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue().encode()
