"""`dtnumba train`: read a table, hold rows out, grow a tree, say how good it is and how it begins."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np

import dtnumba
from dtnumba.cli.command import CommandError
from dtnumba.cli.demo_table import sample_table
from dtnumba.cli.feature_column import as_number, as_whole_number, is_missing
from dtnumba.cli.read_file import read_table
from dtnumba.export.as_text import TreeColumns, outline
from dtnumba.runtime.notice import NOTICE

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


class TreeModel(Protocol):
    """Attributes of a tree estimator that are read here."""

    tree_: TreeColumns
    n_leaves_: int
    n_nodes_: int
    depth_: int

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> object:
        """Grow the tree."""

    def predict(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return a label or a number for each row."""


def train(options: argparse.Namespace) -> None:
    """Do what the command line asks; every stage is announced before it starts and timed when it ends.

    Raises
    ------
    CommandError
        If the file, the target or an option cannot be used.
    """
    if options.file is None and (options.target is not None or options.task == "regression"):
        raise CommandError("--target and --task regression need a FILE: the built-in table has one target, of classes")
    if options.file is None and options.category:
        raise CommandError("--category needs a FILE: the built-in table has features of numbers only")
    began = time.perf_counter()
    print(f"dtnumba {dtnumba.__version__}", flush=True)
    with stage("reading") as remarks:
        examples = generated_examples(options.seed) if options.file is None else examples_from_file(options)
        remarks.append(examples.describe())
    for remark in examples.remarks:
        print(f"dtnumba train: {remark}", file=sys.stderr)
    with stage("splitting") as remarks:
        learn, test = split(len(examples.y), options.test_fraction, options.seed)
        X, y, X_test, y_test = examples.X[learn], examples.y[learn], examples.X[test], examples.y[test]
        remarks.append(f"{_counted(len(learn), 'row')} to learn from, {len(test):,} held out")
    model = tree_model(options, examples)
    with stage("compile + fit") as remarks:
        fit(model, X, y)
        remarks.append(f"{_counted(model.n_leaves_, 'leaf', 'leaves')}, {_counted(model.n_nodes_, 'node')}")
        remarks.append(f"depth {model.depth_}")
    if options.file is None:
        # The first fit of a new version compiles; for the sake of a fair impression, say what the next ones take.
        with stage("fit again") as remarks:
            fit(model, X, y)
            remarks.append("nothing left to compile")
    with stage("predict") as remarks:
        predicted = model.predict(X_test)
        remarks.append(_counted(len(test), "row"))
    print()
    report = regression_report if examples.is_regression else class_report
    for line in report(y, y_test, model.predict(X), predicted):
        print(line)
    print(f"\ntop of the tree for {examples.target!r}")
    classes = None if examples.is_regression else cast("Sequence[object]", cast("Any", model).classes_)
    with_missing = np.array([bool(np.isnan(column).any()) for column in X.T])
    levels = levels_of(model, examples)
    for line in outline(model.tree_, examples.names, with_missing, classes, levels):
        print(line)
    print(f"\n{time.perf_counter() - began:.2f} s in all", flush=True)


@contextmanager
def stage(name: str) -> Iterator[list[str]]:
    """Announce a stage; when it ends, print its time and what it has put into the list."""
    print(f"{name + ' ...':<18}", end="", flush=True)
    began = time.perf_counter()
    remarks: list[str] = []
    try:
        yield remarks
    except BaseException:
        print(flush=True)
        raise
    print(f"{time.perf_counter() - began:8.3f} s  {'; '.join(remarks)}", flush=True)


def generated_examples(seed: int) -> Examples:
    """Return the built-in table."""
    X, y, names = sample_table(seed=seed)
    return Examples(names, X, y, "state", is_regression=False, source="built-in table")


def examples_from_file(options: argparse.Namespace) -> Examples:
    """Read a file, leave out the rows without a target, and decide what kind of target it is."""
    raw = read_table(options.file, options.target, options.category)
    has_target = np.array([not is_missing(cell) for cell in raw.target_cells])
    cells = [cell.strip() for cell in raw.target_cells if not is_missing(cell)]
    if len(cells) < FEWEST_ROWS:
        raise CommandError(f"{options.file}: {_counted(len(cells), 'row')} with a value of {raw.target!r}; at least "
                           f"{FEWEST_ROWS} are needed")  # fmt: skip
    y, is_regression = target_values(cells, raw.target, options.task)
    X = raw.X if has_target.all() else raw.X[has_target]
    n_without = int(np.count_nonzero(~has_target))
    source = str(options.file)
    return Examples(raw.names, X, y, raw.target, is_regression, source, n_without, raw.levels, raw.remarks)


def target_values(cells: Sequence[str], target: str, task: str) -> tuple[NDArray[Any], bool]:
    """Turn the target's text into numbers or labels; return them, and whether this is regression.

    Whole numbers become int labels, other numbers labels of one spelling each ("0.5" and "0.50" are one class). Labels
    are as exact as the text: float64 would make one of 2**60 and 2**60 + 1.
    """
    meant = {cell: as_number(cell) for cell in set(cells)}
    texts = [cell for cell, number in meant.items() if number is None]
    if texts and task == "regression":
        raise CommandError(f"column {target!r} holds {min(texts)!r}, which is not a number; "
                           "--task regression needs a target of numbers")  # fmt: skip
    if texts:
        return np.array(cells), False
    numbers = {cell: number for cell, number in meant.items() if number is not None}
    whole = {cell: as_whole_number(cell, number) for cell, number in numbers.items()}
    all_whole = None not in whole.values()
    is_quantity = not all_whole and len(set(numbers.values())) > MANY_VALUES
    if task == "regression" or (task == "auto" and is_quantity):
        return np.array([numbers[cell] for cell in cells], np.float64), True
    if not all_whole:
        names = _one_spelling_each(numbers)
        return np.array([names[cell] for cell in cells]), False
    labels = [whole[cell] for cell in cells]
    fit = all(-(2**63) <= label < 2**63 for label in labels if label is not None)
    return np.array(labels, np.int64) if fit else np.array([str(label) for label in labels]), False


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


def levels_of(model: TreeModel, examples: Examples) -> list[list[str] | None]:
    """Return the levels of each feature in the order in which the tree numbers them; None of one of numbers."""
    if examples.categories is None:
        return [None] * len(examples.names)
    known = cast("Any", model).categories_  # those of the rows that it has learned from
    pairs = zip(known, cast("list[list[str]]", examples.levels), strict=True)
    return [None if codes is None else [own[int(code)] for code in codes] for codes, own in pairs]


def tree_model(options: argparse.Namespace, examples: Examples) -> TreeModel:
    """Make the estimator that the options ask for."""
    parameters = {
        "categorical_features": examples.categories,
        "splitter": options.splitter,
        "max_depth": options.max_depth,
        "min_samples_leaf": options.min_samples_leaf,
        "max_bins": options.max_bins,
        "random_state": options.seed,
    }
    if options.criterion is not None:
        parameters["criterion"] = options.criterion
    estimator = dtnumba.DecisionTreeRegressor if examples.is_regression else dtnumba.DecisionTreeClassifier
    # The cast, because what a fit learns is not there to be seen before it.
    return cast("TreeModel", estimator(**parameters))


def fit(model: TreeModel, X: NDArray[Any], y: NDArray[Any]) -> None:
    """Fit; what the estimator finds wrong with its parameters or data is for the user to mend."""
    try:
        NOTICE.patience = 0.0  # who waits at a shell is told at once
        model.fit(X, y)
    except (ValueError, TypeError) as error:
        raise CommandError(str(error)) from error


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
