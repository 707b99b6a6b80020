"""Digests of every kind of model: what a change that should change no answer is held against.

usage: python benchmarks/bits.py > before.txt, and after the change: python benchmarks/bits.py | diff before.txt -

One line a model and number of threads: a digest of all arrays of its trees (or of its rules), a digest of what it
predicts, and its name. With NUMBA_DISABLE_JIT=1 every small case runs interpreted, which needs no compiling; otherwise
one case a mechanism runs compiled, and large ones with it.
"""

import hashlib
import os
import sys

import numpy as np

import dtnumba as dt

INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT", "0") == "1"
N_SMALL, N_LARGE = 90, 6000
CLASS_CRITERIA = ("gini", "entropy", "error", "gain_ratio", "twoing", "chi2", "mdl")
NUMBER_CRITERIA = ("squared_error", "absolute_error", "poisson", "friedman_mse")
PRUNERS = (
    "cost_complexity",
    "reduced_error",
    "error_based",
    "pessimistic",
    "minimum_error",
    "mdl",
    "bound",
)


def table(n, n_columns, seed=0):
    """Return X (continuous and coarse columns, the last two of categories, 5 % missing), two labels, four, a number."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_columns))
    X[:, ::3] = X[:, ::3].round(1)
    X[:, -2] = rng.integers(0, 3, n)
    X[:, -1] = rng.integers(0, 9, n)
    z = X[:, 0] * X[:, 1] + 0.3 * (X[:, -1] % 3) + rng.normal(size=n) * 0.5
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, (z > 0).astype(int), np.digitize(z, [-0.5, 0.2, 0.9]), z


def arrays_in(part):
    """Yield every array and number of a nest of tuples, in order."""
    if isinstance(part, (tuple, list)):
        for item in part:
            yield from arrays_in(item)
    elif isinstance(part, np.ndarray) and part.dtype == object:
        yield from arrays_in(part.tolist())
    elif isinstance(part, (np.ndarray, int, float, np.generic, str, bool)):
        yield np.asarray(part)


def digest(*parts):
    """Return a short digest of arrays."""
    found = hashlib.sha256()
    for array in arrays_in(parts):
        found.update(str(array.dtype).encode())
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:12]


def answers(model, X):
    """Return what a model predicts: values, probabilities, leaves, importances."""
    found = [np.asarray(model.predict(X))]
    found += [getattr(model, method)(X) for method in ("predict_proba", "apply") if hasattr(model, method)]
    if hasattr(model, "feature_importances_"):
        found.append(model.feature_importances_)
    return found


def model_of(model):
    """Return what a model is made of: arrays of trees, or the text of rules."""
    if hasattr(model, "trees_"):
        return model.trees_
    return str(model.rules_) if hasattr(model, "rules_") else ""


def small_cases():
    """Yield (name, model, X, y, weight) of every learner, criterion, policy and pruner on a small table."""
    X, two, four, z = table(N_SMALL, 6)
    full = np.nan_to_num(X)
    whole, real = np.arange(N_SMALL) % 3 + 1.0, np.linspace(0.1, 1.7, N_SMALL)
    tree, number, cats = dt.DecisionTreeClassifier, dt.DecisionTreeRegressor, [4, 5]
    for c in CLASS_CRITERIA:
        yield f"tree {c} exact", tree(criterion=c, min_samples_leaf=2), X, two, None
        yield f"tree {c} bins weights", tree(criterion=c, max_bins=16), X, four, real
        yield f"tree {c} categories", tree(criterion=c, categorical_features=cats), X, four, whole
    for c in NUMBER_CRITERIA:
        y = np.abs(z)
        yield f"number {c} exact", number(criterion=c, min_samples_leaf=2), X, y, None
        yield f"number {c} bins", number(criterion=c, max_bins=16), X, y, whole
        yield f"number {c} categories", number(criterion=c, categorical_features=cats, max_depth=4), X, y, real
    yield "numbers", number(max_leaf_nodes=9), X, np.stack([z, z**2], 1), None
    yield "pairs", tree(max_leaf_nodes=9), X, np.stack([two, four], 1), whole
    yield "monotonic", number(monotonic_cst=[1, -1, 0, 0, 0, 0]), full, z, None
    yield "interactions", tree(interaction_cst=[[0, 1], [2, 3, 4, 5]]), X, two, None
    yield "costs", tree(costs=[[0, 5], [1, 0]], categorical_features=cats), X, two, None
    yield "priors", tree(priors=[0.3, 0.7]), X, two, None
    yield "significance", tree(min_significance=0.05), X, four, None
    yield "validation", tree(validation_fraction=0.25, random_state=0), X, four, None
    yield "validation number", number(validation_fraction=0.25, random_state=0), X, z, real
    yield "size by folds", number(max_leaf_nodes="cv", random_state=0), X, z, None
    yield "ccp", tree(ccp_alpha=0.01), X, four, None
    yield "extra tree", dt.ExtraTreeClassifier(random_state=0), X, four, None
    yield "extra tree bins", dt.ExtraTreeRegressor(random_state=0, max_bins=32), X, z, None
    for missing in ("branch", "majority", "fractional", "surrogate"):
        yield f"missing {missing}", tree(missing=missing, categorical_features=cats), X, four, whole
        yield f"missing {missing} number", number(missing=missing, categorical_features=cats, max_depth=4), X, z, None
    for how in ("multiway", "one_vs_rest"):
        yield f"categories {how}", tree(categorical_split=how, categorical_features=cats), X, four, None
    for how in ("interval", "multiway"):
        yield f"numbers {how}", tree(numeric_split=how, criterion="gain_ratio"), X, four, None
    yield "categories drawn", dt.ExtraTreeClassifier(categorical_features=cats, random_state=1), X, four, None
    for p in (*PRUNERS, dt.pruners.CriticalValue(0.05), dt.pruners.Simplify()):
        yield f"pruned {p}", tree(prune=p, random_state=0), X, four, None
    for p in ("cost_complexity", "reduced_error"):
        yield f"pruned number {p}", number(prune=p, random_state=0), X, z, None
    yield "raising", tree(prune=dt.pruners.ErrorBased(raising=True)), X, four, None
    yield "raising parts", tree(prune=dt.pruners.ErrorBased(raising=True), missing="fractional"), X, four, None
    for measure in ("entropy", "gini", "error"):
        yield f"id3 {measure}", dt.ID3Classifier(measure=measure), full, four, None
    yield "c45", dt.C45Classifier(categorical_features=cats), X, four, None
    yield "c45 subset", dt.C45Classifier(subset=True, categorical_features=cats, variant="release8"), X, four, whole
    yield "c45 reduced", dt.C45Classifier(prune="reduced_error", random_state=0), X, two, None
    yield "chaid", dt.CHAIDClassifier(min_parent=10, min_child=4, categorical_features=cats), X, four, None
    yield "chaid exhaustive", dt.CHAIDClassifier(min_parent=10, min_child=4, exhaustive=True), X, two, None
    yield "chaid number", dt.CHAIDRegressor(min_parent=10, min_child=4), X, z, None
    for select in ("mdl", "chi2", "fisher", None):
        yield f"rules {select}", dt.RuleSetClassifier(select=select), X, four, None
    yield "decision list", dt.DecisionListClassifier(), X, two, None
    yield from forests(X, two, four, z, whole, cats)


def forests(X, two, four, z, whole, cats):
    """Yield small forests of every kind."""
    classes, numbers = dt.RandomForestClassifier, dt.RandomForestRegressor
    extra, extra_numbers = dt.ExtraTreesClassifier, dt.ExtraTreesRegressor
    few = {"n_estimators": 4, "random_state": 0}
    yield "forest two", classes(**few), X, two, None
    yield "forest four weights", classes(**few), X, four, whole / 3
    yield "forest exact", classes(max_bins=None, **few), X, two, None
    yield "forest exact four", classes(max_bins=None, **few), X, four, None
    yield "forest categories", classes(categorical_features=cats, **few), X, four, None
    yield "forest hard", classes(voting="hard", criterion="entropy", **few), X, four, None
    yield "forest oob", classes(oob_score=True, **few | {"n_estimators": 12}), X, two, None
    yield "forest corrected", classes(importance="impurity_corrected", **few), X, two, None
    yield "forest permutation", classes(importance="permutation", **few), X, two, None
    yield "forest fractional", classes(missing="fractional", categorical_features=cats, **few), X, four, None
    yield "forest no bootstrap", numbers(bootstrap=False, max_features=0.5, **few), X, z, None
    yield "forest number", numbers(**few), X, z, None
    yield "forest number exact", numbers(max_bins=None, **few), X, z, whole
    yield "forest numbers", numbers(max_samples=0.7, **few), X, np.stack([z, z**2], 1), None
    yield "forest absolute", numbers(criterion="absolute_error", max_depth=4, **few), X, z, None
    yield "extra two", extra(**few), X, two, None
    yield "extra exact", extra(max_bins=None, **few), X, four, None
    yield "extra number", extra_numbers(**few), X, z, None


def large_cases():
    """Yield cases whose tables are large enough that threads share a tree, and that small subtrees lie below large."""
    X, two, four, z = table(N_LARGE, 8, seed=1)
    whole, cats = np.arange(N_LARGE) % 3 + 1.0, [6, 7]
    tree, number, few = dt.DecisionTreeClassifier, dt.DecisionTreeRegressor, {"n_estimators": 3, "random_state": 0}
    yield "large exact", tree(), X, two, None
    yield "large exact four", tree(min_samples_leaf=3), X, four, whole
    yield "large bins", tree(max_bins=255), X, two, None
    yield "large bins four", tree(max_bins=255, categorical_features=cats), X, four, None
    yield "large bins number", number(max_bins=255), X, z, whole
    yield "large exact number", number(), X, z, None
    yield "large extra", dt.ExtraTreeClassifier(max_bins=255, random_state=0), X, four, None
    yield "large c45", dt.C45Classifier(categorical_features=cats), X, four, None
    yield "large surrogate", tree(missing="surrogate", max_depth=6), X, two, None
    yield "large forest", dt.RandomForestClassifier(**few), X, two, None
    yield "large forest four", dt.RandomForestClassifier(categorical_features=cats, **few), X, four, None
    yield "large forest exact", dt.RandomForestClassifier(max_bins=None, **few), X, two, None
    yield "large forest number", dt.RandomForestRegressor(**few), X, z, None
    yield "large forest number exact", dt.RandomForestRegressor(max_bins=None, **few), X, z, None
    yield "large extra trees", dt.ExtraTreesClassifier(**few), X, two, None
    yield "large extra number", dt.ExtraTreesRegressor(**few), X, z, None
    yield "large error based", tree(prune=dt.pruners.ErrorBased(raising=True)), X, four, None
    yield "large ccp", tree(ccp_alpha=0.002), X, four, None
    yield "large chaid", dt.CHAIDClassifier(categorical_features=cats), X, four, None
    yield "large rules", dt.RuleSetClassifier(), X[:1500], two[:1500], None


# What is compiled of the small cases: one of each mechanism, or compiling would take half an hour.
SHOWN = (
    "tree gini", "tree entropy exact", "tree mdl exact", "number squared_error", "number absolute_error exact", "pairs",
    "monotonic", "significance", "missing fractional", "categories multiway", "numbers interval", "pruned", "raising",
    "id3 entropy", "c45", "chaid", "rules mdl", "rules fisher", "decision", "forest", "extra number", "extra tree",
)  # fmt: skip


def main():
    cases = list(small_cases())
    if not INTERPRETED:
        cases = [case for case in cases if case[0].startswith(SHOWN)] + list(large_cases())
    for name, model, X, y, weight in cases:
        for n_jobs in (1,) if INTERPRETED else (1, 2):
            if "n_jobs" in model.get_params():
                model.set_params(n_jobs=n_jobs)
            elif n_jobs == 2:
                continue
            try:
                args = (X, y) if weight is None else (X, y, weight)
                fitted = model.fit(*args)
                line = f"{digest(model_of(fitted))} {digest(answers(fitted, X))}"
            except (ValueError, TypeError) as error:
                line = f"refused: {type(error).__name__}"
            print(f"{line} {name}, {n_jobs} thread{'s' * (n_jobs > 1)}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
