"""Small public tables, and the rows of them on which other programs were run."""

import csv
from pathlib import Path

import numpy as np

from dtnumba import DecisionTreeClassifier
from dtnumba.pruners import CostComplexity

NAMES = ["Age", "Number", "Start"]  # of kyphosis
DATA = Path(__file__).parent / "data"


def kyphosis():
    with (DATA / "kyphosis.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    X = np.array([[float(row[name]) for name in ("Age", "Number", "Start")] for row in rows])
    return X, np.array([row["Kyphosis"] for row in rows])


def as_rpart(**params):
    """Return the tree of kyphosis with rpart's defaults."""
    pruner = CostComplexity(cp=0.01)
    model = DecisionTreeClassifier(
        min_samples_split=20, min_samples_leaf=7, missing="surrogate", n_jobs=1, prune=pruner, **params
    )
    return model.fit(*kyphosis())


def named(name, words=()):
    """Return the names of the columns, the table and the labels of a file; ``words`` are columns of text."""
    with (DATA / name).open(newline="", encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    X = np.array(rows, object)[:, :-1]
    for j, column in enumerate(names[:-1]):
        X[:, j] = [None if x == "NA" else x if column in words else float(x) for x in X[:, j]]
    return names[:-1], X, np.array([row[-1] for row in rows])


def train_rows(n):
    """The rows on which rpart was run: two of three, by a hash of their number."""
    return ((np.arange(n, dtype=np.uint64) * np.uint64(2654435761)) % np.uint64(2**32) >> np.uint64(16)) % 3 != 2
