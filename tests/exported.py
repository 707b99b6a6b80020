"""Fitted models of every kind that exporters write, by name, and their tables."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples, interpreted_only

import dtnumba
from dtnumba import (
    C45Classifier,
    C50Classifier,
    CHAIDClassifier,
    CHAIDRegressor,
    DecisionGraphClassifier,
    DecisionListClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    ID3Classifier,
    IncrementalTreeClassifier,
    IncrementalTreeRegressor,
    MARSClassifier,
    MARSRegressor,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    ObliqueTreeClassifier,
    ObliqueTreeRegressor,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    RuleSetClassifier,
)

COLOURS = ["red", "blue", 'gr"een', "d'or", "grey"]
COSTS = {"costs": [[0, 1, 5], [2, 0, 1], [1, 7, 0]]}


def table(seed=0, n=90, missing=0.1, dtype=object):
    """Two numbers, one of them coarse, text, and numbered categories; three labels and a number."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n, 2))
    numbers[:, 1] = numbers[:, 1].round(1)
    colour, kind = rng.integers(0, 5, n), rng.integers(0, 4, n) * 10
    z = numbers[:, 0] * numbers[:, 1] + (colour == 2) - (kind == 20) + 0.2 * rng.normal(size=n)
    y = np.array(["no", "yes", "it's"])[np.digitize(z, [-0.5, 0.7])]
    if dtype is not object:
        X = np.column_stack([numbers, colour, kind]).astype(dtype)
        X[rng.random(X.shape) < missing] = np.nan
        return X, y, z
    X = np.empty((n, 4), object)
    X[:, :2], X[:, 2], X[:, 3] = numbers, [COLOURS[k] for k in colour], kind
    X[rng.random(X.shape) < missing] = None
    return X, y, z


CATEGORIES = {"categorical_features": [2, 3]}
FOREST = {"n_estimators": 5, "random_state": 0, "max_depth": 5}

# Name: model, what it learns ("labels", "two" labels, a "number", "both" labels or numbers), type of its table.
KINDS = {
    "tree": (DecisionTreeClassifier(**CATEGORIES), "labels", object),
    "tree, numbers": (DecisionTreeClassifier(), "labels", np.float64),
    "tree, float32": (DecisionTreeClassifier(max_depth=4), "two", np.float32),
    "stump": (DecisionTreeClassifier(max_depth=1), "two", np.float64),
    "leaf": (DecisionTreeClassifier(min_samples_split=10**6), "labels", np.float64),
    "tree, costs": (DecisionTreeClassifier(max_depth=3, **COSTS, **CATEGORIES), "labels", object),
    "tree, two outputs": (DecisionTreeClassifier(max_depth=5, **CATEGORIES), "both labels", object),
    "intervals": (DecisionTreeClassifier(numeric_split="interval", missing="branch", **CATEGORIES), "labels", object),
    "ranges": (DecisionTreeClassifier(numeric_split="multiway", missing="majority", **CATEGORIES), "labels", object),
    "multiway": (DecisionTreeClassifier(categorical_split="multiway", **CATEGORIES), "labels", object),
    "one against the rest": (DecisionTreeRegressor(categorical_split="one_vs_rest", **CATEGORIES), "number", object),
    "fractional": (DecisionTreeClassifier(missing="fractional", **CATEGORIES), "labels", object),
    "fractional, a number": (DecisionTreeRegressor(missing="fractional", max_depth=5, **CATEGORIES), "number", object),
    "surrogates": (DecisionTreeClassifier(missing="surrogate", max_depth=4, **CATEGORIES), "labels", object),
    "surrogates, numbers": (DecisionTreeRegressor(missing="surrogate", max_depth=4), "number", np.float64),
    "no missing": (DecisionTreeClassifier(missing="error", **CATEGORIES), "labels", object),
    "regression": (DecisionTreeRegressor(**CATEGORIES), "number", object),
    "regression, two outputs": (DecisionTreeRegressor(max_depth=5), "both numbers", np.float64),
    "extra tree": (ExtraTreeClassifier(random_state=0, **CATEGORIES), "labels", object),
    "extra tree, a number": (ExtraTreeRegressor(random_state=0), "number", np.float32),
    "id3": (ID3Classifier(**CATEGORIES), "labels", object),
    "c45": (C45Classifier(min_objects=1, **CATEGORIES), "labels", object),
    "c45, float32": (C45Classifier(min_objects=1, prune=None), "labels", np.float32),
    "c45, laplace": (C45Classifier(laplace=True, subset=True, **CATEGORIES), "labels", object),
    "c50": (C50Classifier(**CATEGORIES), "labels", object),
    "c50, costs": (C50Classifier(subset=False, confidence=1.0, **COSTS, **CATEGORIES), "labels", object),
    "c50, trials": (C50Classifier(trials=4, early_stopping=False, **CATEGORIES), "labels", object),
    "c50, trials, float32": (C50Classifier(trials=6, early_stopping=False), "two", np.float32),
    "chaid": (CHAIDClassifier(min_parent=5, min_child=2, alpha_split=0.9, alpha_merge=0.9), "labels", object),
    "chaid, a number": (CHAIDRegressor(min_parent=5, min_child=2, alpha_split=0.9, alpha_merge=0.9), "number", object),
    "optimal": (OptimalTreeClassifier(max_depth=2, **CATEGORIES), "labels", object),
    "optimal, a number": (OptimalTreeRegressor(max_depth=2, thresholds=5, **CATEGORIES), "number", object),
    "incremental": (IncrementalTreeClassifier(**CATEGORIES), "labels", object),
    "incremental, a number": (IncrementalTreeRegressor(max_depth=5), "number", np.float64),
    "forest": (RandomForestClassifier(**FOREST, **CATEGORIES), "labels", object),
    "forest, two classes": (RandomForestClassifier(**FOREST), "two", np.float32),
    "forest, hard": (RandomForestClassifier(voting="hard", **FOREST, **CATEGORIES), "labels", object),
    "forest, costs": (RandomForestClassifier(**FOREST, **COSTS, **CATEGORIES), "labels", object),
    "forest, costs, hard": (RandomForestClassifier(voting="hard", **FOREST, **COSTS, **CATEGORIES), "labels", object),
    "forest, fractional, hard": (
        RandomForestClassifier(voting="hard", missing="fractional", **FOREST, **CATEGORIES),
        "labels",
        object,
    ),
    "forest, fractional": (RandomForestClassifier(missing="fractional", **FOREST, **CATEGORIES), "two", object),
    "forest, surrogates": (RandomForestRegressor(missing="surrogate", **FOREST, **CATEGORIES), "number", object),
    "forest, multiway": (RandomForestClassifier(categorical_split="multiway", **FOREST, **CATEGORIES), "two", object),
    "forest, two outputs": (RandomForestClassifier(**FOREST), "both labels", np.float64),
    "forest of one": (RandomForestClassifier(n_estimators=1, random_state=0), "two", np.float64),
    "regression forest": (RandomForestRegressor(**FOREST, **CATEGORIES), "number", object),
    "extra trees": (ExtraTreesClassifier(**FOREST), "two", np.float64),
    "extra trees, numbers": (ExtraTreesRegressor(**FOREST), "both numbers", np.float64),
    "graph": (DecisionGraphClassifier(**CATEGORIES), "labels", object),
    "graph of a tree": (DecisionGraphClassifier(), "two", np.float64),
    "rules": (RuleSetClassifier(select=None, **CATEGORIES), "labels", object),
    "rules, votes": (RuleSetClassifier(resolve="confidence", **CATEGORIES), "labels", object),
    "decision list": (DecisionListClassifier(**CATEGORIES), "labels", object),
}
# Rules that vote, which have their own tests
VOTING = {
    "c50, rules": (C50Classifier(rules=True, **CATEGORIES), "labels", object),
    "c50, rules, costs": (C50Classifier(rules=True, bands=3, **COSTS, **CATEGORIES), "labels", object),
    "c50, rules, trials": (C50Classifier(rules=True, trials=5, early_stopping=False), "two", np.float32),
}
# Models that are neither trees nor rules, which have their own tests
SPLINES = {
    "splines": (MARSRegressor(missing="indicator", max_degree=2, **CATEGORIES), "number", object),
    "splines, numbers": (MARSRegressor(missing="indicator", max_terms=9), "both numbers", np.float64),
    "splines, two classes": (MARSClassifier(missing="indicator", **CATEGORIES), "two", object),
    "splines, classes": (MARSClassifier(missing="indicator", max_degree=2, max_terms=9), "labels", np.float64),
}

# Models whose tests are sums over several columns, which some formats do not say
SUMS = {
    "sums": (ObliqueTreeClassifier(search="lda", max_depth=3), "two", np.float64),
    "sums, categories": (ObliqueTreeClassifier(search="lda", max_depth=4, **CATEGORIES), "labels", object),
    "sums, costs": (ObliqueTreeClassifier(search="lda", max_depth=3, **COSTS), "labels", np.float32),
    "sums, a number": (ObliqueTreeRegressor(search="ridge", max_depth=3), "number", np.float64),
    "sums, two numbers": (ObliqueTreeRegressor(search="ridge", max_depth=3), "both numbers", np.float64),
    "forest of sums": (ObliqueForestClassifier(n_estimators=2, max_depth=3, random_state=0), "two", np.float64),
    "forest of sums, hard": (ObliqueForestClassifier(voting="hard", **FOREST, **CATEGORIES), "labels", object),
    "forest of sums, a number": (ObliqueForestRegressor(n_estimators=2, max_depth=3), "number", np.float64),
}


def fitted(name, seed=0, n=90):
    """Return a fitted model and rows to ask it about."""
    model, target, dtype = (KINDS | VOTING | SPLINES | SUMS)[name]
    X, y, z = table(seed, n, 0.0 if name == "no missing" else 0.1, dtype)
    targets = {
        "labels": y,
        "two": y == "yes",
        "number": z,
        "both labels": np.stack([y, np.where(z > 0, "more", "less")], axis=1),
        "both numbers": np.stack([z, z**2], axis=1),
    }
    params = model.get_params()
    if name == "graph of a tree":
        return DecisionGraphClassifier.from_tree(DecisionTreeClassifier(max_depth=6, n_jobs=1).fit(X, y == "yes")), X
    return type(model)(**params | {"n_jobs": 1} if "n_jobs" in params else params).fit(X, targets[target]), X


assert {type(model) for model, _, _ in (KINDS | SPLINES | SUMS).values()} >= {
    getattr(dtnumba, name) for name in dtnumba.__all__ if name.endswith(("Classifier", "Regressor"))
}, "every learner is exported"

# The others show interpreted what the same text says: compiling every learner takes minutes.
COMPILED_KINDS = ("tree", "fractional", "surrogates, numbers", "c45, float32", "forest", "forest, two classes", "rules")
ALL_KINDS = [name if name in COMPILED_KINDS else pytest.param(name, marks=interpreted_only) for name in KINDS]
MADE = {}


def made(name):
    """Return a fitted model and its rows, fitted once a process."""
    if name not in MADE:
        MADE[name] = fitted(name)
    return MADE[name]


def of_any_table(kinds):
    """Ask a test of a name, a model and rows about models of these kinds, fitted to tables that are drawn."""

    def asked(test):
        @interpreted_only
        @given(st.sampled_from(sorted(kinds)), st.integers(0, 2**16), st.integers(6, 60))
        @examples(40)
        def of_a_drawn_one(name, seed, n):
            try:
                model, X = fitted(name, seed, n)
            except ValueError:
                return  # costs of three classes, and the table has two
            test(name, model, X)

        of_a_drawn_one.__name__ = of_a_drawn_one.__qualname__ = test.__name__
        return of_a_drawn_one

    return asked
