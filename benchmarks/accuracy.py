"""All learners of classes side by side (Nilsson 1998, section 6.7): how often each is right on rows held out.

The tables are those that come with scikit-learn, or those of a folder that is given, with ``datasets.json`` and the
``dtdata.py`` that reads them: ``accuracy.py [FOLDER [MOST_ROWS]]``. Each row of what is printed is a learner on a
table: accuracy by ten-fold cross-validation with its standard error, the leaves of the tree of all rows (of a forest,
of all trees together; of rules, how many), and the seconds of a fit.
"""

import sys
import time
from dataclasses import dataclass

import numpy as np

import dtnumba
from dtnumba.validation.cross_validation import cross_validate

FOLDS = 10
MOST_ROWS = 20_000  # of a table of the folder; learners with ten fits each take seconds on these

# By the name of the class, so that what is not there is left out.
LEARNERS = {
    "CART": ("DecisionTreeClassifier", {}),
    "CART, pruned by cost": ("DecisionTreeClassifier", {"prune": "cost_complexity", "random_state": 0}),
    "CART, pruned by rows": ("DecisionTreeClassifier", {"prune": "reduced_error", "random_state": 0}),
    "ID3": ("ID3Classifier", {}),
    "ID3, pruned": ("ID3Classifier", {"prune": "pessimistic"}),
    "C4.5": ("C45Classifier", {"variant": "release8"}),
    "C4.5, groups": ("C45Classifier", {"variant": "release8", "subset": True}),
    "J48": ("C45Classifier", {}),
    "J48, not pruned": ("C45Classifier", {"prune": None}),
    "CHAID": ("CHAIDClassifier", {}),
    "C4.5 rules": ("RuleSetClassifier", {}),
    "decision list": ("DecisionListClassifier", {}),
    "random forest": ("RandomForestClassifier", {"n_estimators": 100, "random_state": 0}),
    "extra trees": ("ExtraTreesClassifier", {"n_estimators": 100, "random_state": 0}),
}


@dataclass(frozen=True, eq=False)
class Table:
    """Rows to learn from; ``nominal`` lists the columns that are categories."""

    name: str
    X: np.ndarray
    y: np.ndarray
    nominal: list


def bundled():
    """Yield the tables that come with scikit-learn."""
    from sklearn import datasets

    for name in ("iris", "wine", "breast_cancer", "digits"):
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        yield Table(name, X, y, [])


def of_folder(folder, most_rows):
    """Yield the tables of classes of a folder, but for those of more rows."""
    sys.path.insert(0, str(folder))
    import dtdata

    for name, entry in dtdata.registry(folder).items():
        if entry.get("task") != "class" or not 100 <= entry["rows"] <= most_rows:
            continue
        columns, schema, entry = dtdata.load(folder, name)
        kinds = {one["name"]: one["kind"] for one in schema}
        y = np.asarray(columns[entry["target"]], float)
        names = [one["name"] for one in schema if one["name"] != entry["target"]]
        cells = [np.asarray(columns[one], float) for one in names]
        cells = [
            x if kinds[one] == "numeric" else np.where(x < 0, np.nan, x) for one, x in zip(names, cells, strict=True)
        ]
        kept = ~np.isnan(y) & (y >= 0)
        nominal = [j for j, one in enumerate(names) if kinds[one] == "nominal"]
        yield Table(name, np.column_stack(cells)[kept], y[kept].astype(int), nominal)


def size_of(model):
    """Return the leaves of a model, or its rules; a dash where it has neither."""
    for name in ("n_leaves_", "n_rules_"):
        if hasattr(model, name):
            return str(getattr(model, name))
    return str(model.trees_.n_leaves) if hasattr(model, "trees_") else "-"


def measure(kind, params, table):
    """Return (accuracy, its standard error, size, seconds of a fit) of a learner."""
    model = kind(categorical_features=table.nominal, **params)
    scores = cross_validate(model, table.X, table.y, FOLDS)
    start = time.perf_counter()
    model.fit(table.X, table.y)
    return scores.mean, scores.standard_error, size_of(model), time.perf_counter() - start


def main(folder=None, most_rows=MOST_ROWS):
    tables = bundled() if folder is None else of_folder(folder, int(most_rows))
    print("| table | rows | learner | accuracy | +- | leaves | fit |")
    print("|---|---|---|---|---|---|---|")
    for table in tables:
        for title, (name, params) in LEARNERS.items():
            kind = getattr(dtnumba, name, None)
            if kind is None:
                continue
            mean, error, size, seconds = measure(kind, params, table)
            assert 0.0 <= mean <= 1.0
            cells = table.name, len(table.y), title, f"{mean:.3f}", f"{error:.3f}", size, f"{seconds * 1e3:.0f} ms"
            print("| " + " | ".join(map(str, cells)) + " |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:3])
