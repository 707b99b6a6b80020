"""`dtnumba show`, `info` and `convert`: a saved model in words, in numbers, and in other formats."""

from __future__ import annotations

from dataclasses import fields
from inspect import signature
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba import export
from dtnumba.cli.command import DataError, UsageError
from dtnumba.cli.learners import meant
from dtnumba.cli.model_files import load_model
from dtnumba.cli.output import check_out, results
from dtnumba.export.as_text import Told, outline
from dtnumba.export.reading import ReadTrees, read
from dtnumba.export.text_styles.printed import plain

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray


MOST_LINES = 200
SHOWN_LEVELS = 4  # of a category, in a line
_NO_FORMATS = {"verify", "from_json", "frame", "splits", "to_sklearn"}  # what export has besides


def show(options: argparse.Namespace) -> None:
    """Print what a model says, or write it as a page."""
    check_out(options.html, options.model, option="--html")
    model = load_model(options.model)
    if options.html is not None:
        try:
            page = export.html(model, title=f"{type(model).__name__}, {Path(options.model).name}")
        except export.ExportError as error:
            raise DataError(f"{options.model}: --html: {error}") from error
        with results(options.html) as out:
            out.write(page.encode())
        return
    for line in summary(model):
        print(line)
    print()
    for line in top(model, options.levels):
        print(line)


def info(options: argparse.Namespace) -> None:
    """Print what a model is."""
    model = load_model(options.model)
    size = Path(options.model).stat().st_size
    for line in summary(model):
        print(line)
    print(f"file       {size:,} bytes")
    for field in fields(model):
        value, default = vars(model)[field.name], field.default
        if value is not default and not (type(value) is type(default) and value == default):
            print(f"parameter  {field.name}={value!r}")
    for line in columns_of(model):
        print(line)


def convert(options: argparse.Namespace) -> None:
    """Write a model in another format."""
    formats = sorted(name for name in export.__all__ if name.islower() and name not in _NO_FORMATS)
    if options.to not in formats:
        raise UsageError(f"--to {options.to}: no such format; there are {', '.join(formats)}")
    check_out(options.out, options.model)
    model = load_model(options.model)
    write = getattr(export, options.to)
    known = list(signature(write).parameters)[1:]
    # A word of Python has a sign behind it there: class_.
    given = {f"{name}_" if f"{name}_" in known else name: meant(text) for name, text in options.set}
    given = {name: _label(model, values) if name == "class_" else values[0] for name, values in given.items()}
    try:
        signature(write).bind_partial(model, **given)
    except TypeError as error:
        raise UsageError(f"--to {options.to}: {error}; its options are: {', '.join(known) or 'none'}") from error
    if "class_" in known and "class_" not in given:
        classes = _listed([plain(label) for label in np.ravel(getattr(model, "classes_", []))])
        raise UsageError(f"--to {options.to}: it is written for one class: --set class=LABEL says which, of {classes}")
    try:
        result = write(model, **given)
    except (ValueError, TypeError, AttributeError, ImportError) as error:
        raise DataError(f"{options.model}: --to {options.to}: {error}") from error
    data = bytes(result) if hasattr(result, "__bytes__") or isinstance(result, bytes) else str(result).encode()
    with results(options.out) as out:
        out.write(data if data.endswith(b"\n") or hasattr(result, "__bytes__") else data + b"\n")


def _label(model: Any, values: list[Any]) -> Any:
    """Return the first of the values that a text may mean that is a class of the model."""
    classes = model.classes_.tolist() if isinstance(getattr(model, "classes_", None), np.ndarray) else []
    return next((value for value in values if not isinstance(value, (list, dict)) and value in classes), values[0])


def summary(model: Any) -> Iterator[str]:
    """Yield what a model is, in a few lines."""
    yield f"learner    {type(model).__name__}"
    if hasattr(model, "classes_"):
        several = [model.classes_] if int(model.n_outputs_) == 1 else model.classes_
        for classes in several:
            yield f"classes    {_listed([plain(label) for label in classes])}"
    yield f"columns    {int(model.n_features_in_):,}"
    trials = getattr(model, "n_trials_", 1)
    if trials > 1:
        yield f"trials     {trials:,}"
    if isinstance(getattr(model, "rules_", None), list):  # of each trial
        yield f"rules      {sum(map(len, model.rules_)):,}"
    elif hasattr(model, "n_leaves_"):
        yield f"tree       {model.n_leaves_:,} leaves, {model.n_nodes_:,} nodes, depth {model.depth_}"
    elif hasattr(model, "n_estimators_"):
        yield f"forest     {model.n_estimators_:,} trees"
    if hasattr(model, "n_rules_"):
        yield f"rules      {model.n_rules_:,}"
    if hasattr(model, "n_terms_"):
        yield f"terms      {model.n_terms_:,}"


def columns_of(model: Any) -> Iterator[str]:
    """Yield a line for each column: its name, and what it holds."""
    n = int(model.n_features_in_)
    names = [plain(name) for name in getattr(model, "feature_names_in_", range(n))]
    levels = getattr(model, "categories_", None) or [None] * n
    kinds = getattr(model, "column_kinds_", ["number"] * n)
    for name, own, kind in zip(names, levels, kinds, strict=True):
        held = str(kind) if own is None else f"category of {_listed([plain(level) for level in own])}"
        yield f"column     {name}: {held}"


def top(model: Any, levels: int = 3, has_missing: NDArray[np.bool_] | None = None) -> Iterator[str]:
    """Yield the top of a tree, or of the first of a forest, as an outline; rules as sentences, splines as an equation.

    ``has_missing`` tells of which columns it is said where missing values go; by default of all.
    """
    found = None if hasattr(model, "splines_") else read(model, sums=True, indicators=True)
    if not isinstance(found, ReadTrees):
        lines = iter(export.text(model).splitlines())
    else:
        if found.is_mean or found.are_sure:
            yield f"the first of {found.trees.n_trees:,} trees"
        lines = outline(Told(found, model, None, SHOWN_LEVELS, has_missing), 0, levels)
    yield from islice(lines, MOST_LINES)
    if next(lines, None) is not None:
        yield "..."


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
