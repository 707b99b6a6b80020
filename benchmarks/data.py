"""The tables that benchmarks run on: seeded, made once and kept in the temporary folder.

Every maker returns (X, y, X_test, y_test), X as float32 in C order if not said otherwise.

H           28 numeric columns, two classes, a twentieth of the labels wrong (scikit-learn's make_classification)
friedman    Friedman-1: 20 columns of which 5 count, and unit noise
categories  ten columns of up to 10,000 levels, as int32
covtype     forest cover types, 12 columns, 7 classes; read from a folder that the caller names
labelled    any table of classes of that folder, as its datasets.json describes it: X as float64, y, and what is nominal
numbers     the same of any table, its target as it stands there
"""

import csv
import gzip
import json
import os
import tempfile
import uuid
from functools import wraps
from pathlib import Path

import numpy as np
import sklearn
from sklearn.datasets import make_classification

PARTS = ("X", "y", "X_test", "y_test")


def _folder():
    user = os.getuid() if hasattr(os, "getuid") else "user"
    folder = Path(tempfile.gettempdir()) / f"dtnumba-benchmarks-{user}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _kept(make):
    """Keep what a maker returns; scikit-learn's version is part of the name, because it makes some of the numbers."""

    @wraps(make)
    def read_or_make(rows, seed=0):
        path = _folder() / f"{make.__name__}-{rows}-{seed}-{sklearn.__version__}.npz"
        if not path.exists():
            draft = path.with_suffix(f".{uuid.uuid4().hex}.npz")
            np.savez(draft, **dict(zip(PARTS, make(rows, seed), strict=True)))
            draft.replace(path)
        with np.load(path) as stored:
            return tuple(stored[part] for part in PARTS)

    return read_or_make


def _parted(X, y, rows):
    return X[:rows], y[:rows], X[rows:], y[rows:]


@_kept
def H(rows, seed=0):  # noqa: N802  the name that the table of targets uses
    X, y = make_classification(
        n_samples=rows + 100_000, n_features=28, n_informative=16, n_redundant=4, n_clusters_per_class=8,
        class_sep=0.7, flip_y=0.05, random_state=seed,
    )  # fmt: skip
    return _parted(X.astype(np.float32), y, rows)


@_kept
def friedman(rows, seed=0):
    draw = np.random.default_rng(seed)
    X = draw.random((rows + 50_000, 20), dtype=np.float32)
    signal = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return _parted(X, signal + draw.standard_normal(len(X)), rows)


@_kept
def categories(rows, seed=0):
    """Ten columns of up to 10,000 levels, few of them common, and a sum of their effects."""
    draw = np.random.default_rng(seed)
    codes = np.minimum(draw.zipf(1.3, size=(rows + 100_000, 10)) - 1, 9_999).astype(np.int32)
    effect = draw.standard_normal((10, 10_000))
    score = effect[np.arange(10), codes].sum(axis=1) + draw.standard_normal(len(codes))
    return _parted(codes, (score > np.median(score)).astype(np.int64), rows)


def covtype(folder, rows=None):
    """Read ``covtype.npz``: an array a column, the target under Cover_Type; a third of the rows are for testing."""
    with np.load(Path(folder) / "covtype.npz") as columns:
        X = np.column_stack([columns[name] for name in columns.files if name != "Cover_Type"]).astype(np.float32)
        y = columns["Cover_Type"].astype(np.int64)
    # Knuth's multiplicative hash of the row number: the same rows whatever reads the file.
    hashed = np.arange(len(y), dtype=np.uint64) * np.uint64(2_654_435_761) % np.uint64(1 << 32)
    is_test = (hashed >> np.uint64(16)) % np.uint64(3) == 2
    return X[~is_test][:rows], y[~is_test][:rows], X[is_test], y[is_test]


def described(folder):
    """Return what ``datasets.json`` says of each table of a folder."""
    return json.loads((folder / "datasets.json").read_text(encoding="utf-8"))


def labelled(folder, name):
    """Read a table: categories as numbers, NaN where missing; the classes; which columns are categories.

    Rows without a class are left out.
    """
    X, y, nominal = numbers(folder, name)
    return X, y.astype(np.int64), nominal


def numbers(folder, name):
    """Read a table as ``labelled`` does, its target as it stands there."""
    about = described(folder)[name]
    path, columns, nominal, y = folder / about["file"], [], [], None
    if path.suffix == ".npz":
        with np.load(path) as stored:
            cells = [stored[column["name"]] for column in about["schema"]]
    else:
        with gzip.open(path, "rt", newline="", encoding="utf-8") as file:
            cells = list(zip(*list(csv.reader(file))[1:], strict=True))
    for given, column in zip(cells, about["schema"], strict=True):
        if path.suffix == ".npz":
            values = given.astype(np.float64)
        elif column["kind"] == "numeric":
            values = np.array([np.nan if cell == "NA" else float(cell) for cell in given])
        else:
            codes = {level: float(i) for i, level in enumerate(column["levels"])}
            values = np.array([codes.get(cell, np.nan) for cell in given])
        if column["name"] == about["target"]:
            y = values
        else:
            columns.append(values)
            nominal.append(column["kind"] == "nominal")
    has_label = ~np.isnan(y)
    return np.column_stack(columns)[has_label], y[has_label], np.array(nominal)
