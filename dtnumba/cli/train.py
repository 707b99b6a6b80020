"""`dtnumba train`: read a table, hold rows out, grow a tree, say how good it is and how it begins."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import dtnumba
from dtnumba.cli.command import DataError, UsageError
from dtnumba.cli.demo_table import sample_table
from dtnumba.cli.files.columns import DATE, SPELLED, LevelColumn
from dtnumba.cli.files.read_table import read_table
from dtnumba.cli.files.reading import Reading
from dtnumba.cli.files.spelling import Spelling
from dtnumba.cli.learners import check_together, tasks_of, with_labels, with_parameters
from dtnumba.cli.output import check_out
from dtnumba.cli.show import top
from dtnumba.runtime.notice import NOTICE
from dtnumba.tables.columns import NUMBER, ArrayColumn, Column, ColumnTable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray


MANY_VALUES = 20  # a target of more different numbers, not all of them whole, is a quantity, not a class
FEWEST_ROWS = 4  # two to learn from, two held out


@dataclass(frozen=True)
class Examples:
    """Rows with a target: what a tree learns from."""

    names: list[str]
    X: NDArray[np.float64]
    y: NDArray[Any]
    target: str
    is_regression: bool
    source: str
    n_without_target: int = 0
    levels: list[list[str] | None] | None = None  # of each feature, whose number is their place; None of numbers
    remarks: tuple[str, ...] = ()  # what was guessed about the file
    dates: tuple[str, ...] = ()  # features that are days since 1970

    def rows(self, at: NDArray[np.intp] | None = None) -> ColumnTable:
        """Return features of some rows as `fit` takes them: numbers, and categories by their names."""
        X = self.X if at is None else self.X[at]
        columns: list[Column] = []
        for j, (name, own) in enumerate(zip(self.names, self.levels or [None] * len(self.names), strict=True)):
            columns.append(ArrayColumn(X[:, j], name) if own is None else LevelColumn(name, X[:, j], own))
        return ColumnTable(self.names, columns, len(X), X if self.categories is None else None)

    def kinds(self) -> NDArray[np.object_]:
        """Return what each feature is: a number, a date or a category."""
        named = ["category" if own is not None else NUMBER for own in self.levels or [None] * len(self.names)]
        return np.array([DATE if name in self.dates else kind for name, kind in zip(self.names, named, strict=True)])

    @property
    def categories(self) -> list[int] | None:
        """The features that are categories; None where none is."""
        return [j for j, own in enumerate(self.levels or []) if own is not None] or None

    def describe(self) -> str:
        """Say in one line what was read."""
        n_rows, n_columns = self.X.shape
        missing = np.count_nonzero(np.isnan(self.X)) / self.X.size
        kind = "numbers" if self.is_regression else _counted(len(np.unique(self.y)), "class", "classes")
        n_nominal = len(self.categories or [])
        nominal = f" ({_counted(n_nominal, 'category', 'categories')})" if n_nominal else ""
        size = f"{_counted(n_rows, 'row')}, {_counted(n_columns, 'feature')}{nominal}, {missing:.1%} missing"
        left_out = f"; {_counted(self.n_without_target, 'row')} without it left out" if self.n_without_target else ""
        return f"{self.source}: {size}; {self.target!r}: {kind}{left_out}"


def train(options: argparse.Namespace) -> None:
    """Do what the command line asks; every stage is announced before it starts and timed when it ends.

    Raises
    ------
    CommandError
        If the file, the target or an option cannot be used.
    """
    if options.file is None and (options.target is not None or options.task == "regression"):
        raise UsageError("--target and --task regression need a FILE: the built-in table has one target, of classes")
    if options.file is None and (options.category or options.number or options.ignore):
        raise UsageError("--category, --number and --ignore need a FILE")
    makers = learners(options)
    check_out(options.out, options.file)
    began = time.perf_counter()
    print(f"dtnumba {dtnumba.__version__}", file=sys.stderr, flush=True)
    with stage("reading") as remarks:
        examples = generated_examples(options.seed) if options.file is None else examples_from_file(options, makers)
        remarks.append(examples.describe())
    for remark in examples.remarks:
        print(f"dtnumba train: {remark}", file=sys.stderr)
    with stage("splitting") as remarks:
        learn, test = split(len(examples.y), options.test_fraction, options.seed)
        X, y, X_test, y_test = examples.rows(learn), examples.y[learn], examples.rows(test), examples.y[test]
        remarks.append(f"{_counted(len(learn), 'row')} to learn from, {len(test):,} held out")
    make = makers[examples.is_regression]
    model = with_labels(make(), examples.y)
    with stage("compile + fit") as remarks:
        fit(model, X, y)
        remarks += size_of(model)
    if options.file is None:
        # The first fit of a new version compiles; for the sake of a fair impression, say what the next ones take.
        with stage("fit again") as remarks:
            fit(model, X, y)
            remarks.append("nothing left to compile")
    with stage("predict") as remarks:
        predicted = model.predict(X_test)
        remarks.append(_counted(len(test), "row"))
    report = regression_report if examples.is_regression else class_report
    for line in report(y, y_test, model.predict(X), predicted):
        print(line)
    print(f"\ntop of the model for {examples.target!r}")
    has_missing = np.array([bool(np.isnan(column).any()) for column in examples.X[learn].T])
    for line in top(model, has_missing=has_missing):
        print(line)
    sys.stdout.flush()
    if options.out is not None:
        save(with_labels(make(), examples.y), examples, options.out)
    print(f"{time.perf_counter() - began:.2f} s in all", file=sys.stderr, flush=True)


def learners(options: argparse.Namespace) -> dict[bool, Any]:
    """Return functions that make the model that the options ask for, of classes (False) and of numbers (True)."""
    makers: dict[bool, Any] = {}
    errors: dict[bool | None, UsageError] = {}
    wanted = {"class": False, "regression": True}.get(options.task)
    for is_regression, name in tasks_of(options.model).items():
        cls = getattr(dtnumba, name)
        known = {one.name for one in fields(cls)}
        given = [(key, str(getattr(options, key))) for key in _TREE_OPTIONS if getattr(options, key) is not None]
        try:
            parameters = with_parameters(cls, [*given, *options.set])
            if "random_state" in known:
                parameters = {"random_state": options.seed} | parameters
            check_together(cls(**parameters), "numbers" if is_regression else "classes")
        except UsageError as error:
            errors[is_regression] = error
            continue
        makers[is_regression] = _maker(cls, parameters)
    if not makers or wanted in errors:
        raise errors.get(wanted, next(iter(errors.values())))
    if wanted is not None and wanted not in makers:
        words = "numbers" if wanted else "classes"
        raise UsageError(f"--task {options.task}: {options.model} is not a learner of {words}; --model tree is one")
    return makers


_TREE_OPTIONS = ("criterion", "splitter", "max_depth", "min_samples_leaf", "max_bins")


def _maker(cls: Any, parameters: dict[str, Any]) -> Any:
    def make() -> Any:
        return cls(**parameters)

    return make


def size_of(model: Any) -> list[str]:
    """Return how large a fitted model is."""
    if hasattr(model, "n_leaves_"):
        shape = f"{_counted(model.n_leaves_, 'leaf', 'leaves')}, {_counted(model.n_nodes_, 'node')}"
        return [shape, f"depth {model.depth_}"]
    if hasattr(model, "n_estimators_"):
        return [_counted(model.n_estimators_, "tree")]
    if hasattr(model, "n_terms_"):
        return [_counted(model.n_terms_, "term")]
    return [_counted(len(model.rules_), "rule")]


def save(model: Any, examples: Examples, path: str) -> None:
    """Learn from all rows, and write the model."""
    with stage("all rows") as remarks:
        fit(model, examples.rows(), examples.y)
        model.column_kinds_ = examples.kinds()
        try:
            model.save(path)
        except OSError as error:
            raise DataError(f"{path}: it cannot be written: {error.strerror or error}") from error
        except (TypeError, ValueError) as error:
            raise DataError(f"{path}: {error}") from error
        remarks.append(f"{path}: {Path(path).stat().st_size:,} bytes; " + "; ".join(size_of(model)))


@contextmanager
def stage(name: str) -> Iterator[list[str]]:
    """Announce a stage; when it ends, print its time and what it has put into the list."""
    print(f"{name + ' ...':<18}", end="", file=sys.stderr, flush=True)
    began = time.perf_counter()
    remarks: list[str] = []
    try:
        yield remarks
    except BaseException:
        print(file=sys.stderr, flush=True)
        raise
    print(f"{time.perf_counter() - began:8.3f} s  {'; '.join(remarks)}", file=sys.stderr, flush=True)


def generated_examples(seed: int) -> Examples:
    """Return the built-in table."""
    X, y, names = sample_table(seed=seed)
    return Examples(names, X, y, "state", is_regression=False, source="built-in table")


def examples_from_file(options: argparse.Namespace, tasks: dict[bool, Any]) -> Examples:
    """Read a file, leave out the rows without a target, and decide what kind of target it is."""
    raw = read_table(options.file, options.target, Reading.of(options))
    has_target = np.array([not raw.spelling.is_missing(cell) for cell in raw.target_cells])
    cells = [cell.strip() for cell in raw.target_cells if not raw.spelling.is_missing(cell)]
    if len(cells) < FEWEST_ROWS:
        raise DataError(f"{options.file}: {_counted(len(cells), 'row')} with a value of {raw.target!r}; at least "
                        f"{FEWEST_ROWS} are needed")  # fmt: skip
    # A learner of one kind of target alone takes its values for that.
    task = options.task if len(tasks) == 2 else "regression" if True in tasks else "class"
    asked = SPELLED if raw.target in options.category else NUMBER if raw.target in options.number else ""
    y, is_regression, remark = target_values(cells, raw.target, task, raw.spelling, asked)
    X = raw.X if has_target.all() else raw.X[has_target]
    n_without = int(np.count_nonzero(~has_target))
    remarks = (*raw.remarks, f"{options.file}: {raw.kinds.said()}", *([f"{options.file}: {remark}"] if remark else []))
    dates = tuple(raw.kinds.dates)
    return Examples(raw.names, X, y, raw.target, is_regression, options.file, n_without, raw.levels, remarks, dates)


class Target(NamedTuple):
    """Values of a target: numbers of a regression, or labels; and what there is to say about them."""

    values: NDArray[Any]
    is_regression: bool
    remark: str = ""


def target_values(
    cells: Sequence[str], target: str, task: str, spelling: Spelling | None = None, asked: str = ""
) -> Target:
    """Turn the target's text into numbers or labels.

    Whole numbers become int labels, other numbers labels of one spelling each. Labels are as exact as the text: float64
    would make one of 2**60 and 2**60 + 1. Where equal numbers are spelled in several ways (1, 01, 1.0), each spelling
    is a class, unless the caller asks for numbers; SPELLED asks for the text itself.
    """
    spelling = Spelling() if spelling is None else spelling
    meant = {cell: spelling.as_number(cell) for cell in set(cells)}
    texts = [cell for cell, number in meant.items() if number is None]
    wants_numbers = "--task regression" if task == "regression" else f"--number {target}" if asked == NUMBER else ""
    if (texts or asked == SPELLED) and wants_numbers:
        held = f"holds {min(texts)!r}, which is not a number" if texts else "is a category by --category"
        raise DataError(f"column {target!r} {held}; {wants_numbers} needs a target of numbers")
    if texts or asked == SPELLED:
        return Target(np.array(cells), is_regression=False)
    numbers = {cell: number for cell, number in meant.items() if number is not None}
    whole = {cell: spelling.as_whole_number(cell, number) for cell, number in numbers.items()}
    all_whole = None not in whole.values()
    is_quantity = not all_whole and len(set(numbers.values())) > MANY_VALUES
    if task == "regression" or (task == "auto" and is_quantity):
        return Target(np.array([numbers[cell] for cell in cells], np.float64), is_regression=True)
    names: dict[str, Any] = dict(whole) if all_whole else dict(_one_spelling_each(numbers))
    twice = _equal_cells(names)
    if twice and asked != NUMBER:
        one, other = twice
        remark = (
            f"{one!r} and {other!r} of {target!r} are two classes, because their texts differ; --number {target!r} "
            "takes equal numbers for one"
        )
        return Target(np.array(cells), is_regression=False, remark=remark)
    labels = [names[cell] for cell in cells]
    fit = all_whole and all(-(2**63) <= label < 2**63 for label in names.values())
    values = np.array(labels, np.int64) if fit else np.array([str(label) for label in labels])
    return Target(values, is_regression=False)


def _equal_cells(names: dict[str, Any]) -> tuple[str, str] | None:
    """Return two cells that have the same name, None where none have."""
    seen: dict[Any, str] = {}
    for cell in sorted(names):
        other = seen.setdefault(names[cell], cell)
        if other != cell:
            return other, cell
    return None


def _one_spelling_each(numbers: dict[str, float]) -> dict[str, str]:
    """Return a name for each cell of a number, the same for equal ones: that of its float64 where this is exact."""
    spelled: dict[object, str] = {}
    names = {}
    for cell in sorted(numbers):
        own = repr(numbers[cell])
        exact = Decimal(own)
        with suppress(InvalidOperation):  # of an exponent beyond all bounds
            exact = Decimal(cell)
        names[cell] = spelled.setdefault(
            str(exact) if exact.is_nan() else exact, own if exact == Decimal(own) else cell
        )
    return names


def split(n_rows: int, test_fraction: float, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows to learn from and the rows held out, drawn at random, each in the table's order."""
    n_test = min(max(round(test_fraction * n_rows), 2), n_rows - 2)
    drawn = np.random.default_rng(seed).permutation(n_rows)
    return np.sort(drawn[n_test:]), np.sort(drawn[:n_test])


def fit(model: Any, X: Any, y: NDArray[Any]) -> None:
    """Fit; what the estimator finds wrong with its parameters or data is for the user to mend."""
    try:
        NOTICE.patience = 0.0  # who waits at a shell is told at once
        model.fit(X, y)
    except (ValueError, TypeError) as error:
        raise DataError(str(error)) from error


def class_report(y: NDArray[Any], y_test: NDArray[Any], fitted: NDArray[Any], predicted: NDArray[Any]) -> Iterator[str]:
    """Yield the shares of right answers, beside those of always naming the commonest class."""
    classes, counts = np.unique(y, return_counts=True)
    commonest = classes[counts.argmax()]
    yield f"held-out accuracy  {np.mean(predicted == y_test):.4f}"
    yield f"majority class     {np.mean(y_test == commonest):.4f}  (always {str(commonest)!r})"
    yield f"training accuracy  {np.mean(fitted == y):.4f}"


def regression_report(
    y: NDArray[Any], y_test: NDArray[Any], fitted: NDArray[Any], predicted: NDArray[Any]
) -> Iterator[str]:
    """Yield the root mean squared errors and R2, beside those of always naming the mean."""
    yield f"held-out error     {_error(y_test, predicted)}"
    yield f"mean alone         {_error(y_test, np.full(len(y_test), y.mean()))}  (always {y.mean():.6g})"
    yield f"training error     {_error(y, fitted)}"


def _error(y: NDArray[Any], predicted: NDArray[Any]) -> str:
    squared = float(np.mean((y - predicted) ** 2))
    variance = float(np.var(y))
    r2 = f"{1 - squared / variance:.4f}" if variance > 0 else "undefined, all targets are equal"
    return f"{squared**0.5:.6g}  R2 {r2}"


def _counted(number: int, singular: str, plural: str | None = None) -> str:
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"
