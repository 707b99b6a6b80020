"""Oblique trees and forests: accuracy and size beside trees of single columns, time, and peers.

``--peers PYTHON`` names an interpreter that has obliquetree and perhaps treeple. Tables come from ``--data``.
"""

import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from data import H, labelled, numbers
from forests import Shape, YdfOblique
from measure import HERE, Row, at_most, in_turns, main, side_by_side, verdict

from dtnumba import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ObliqueForestClassifier,
    ObliqueTreeClassifier,
    ObliqueTreeRegressor,
    RandomForestClassifier,
)

FOLDS = 10
SEARCHES = ("lda", "ridge", "soft_entropy", "random", "cart_lc", "oc1")
SMALL = ("iris", "ionosphere", "breast_w", "pima", "pima2", "kyphosis")
LARGE = {"letter": ("lda", "ridge", "soft_entropy", "random"), "higgs7k": ("lda", "ridge", "soft_entropy", "random")}


def asked_of_peer(options, kind, X, y, X_test, **params):
    """Return what a learner in another interpreter predicts, and the seconds of its fit; None where there is none."""
    if options.peers is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        given, found = Path(folder) / "given.npz", Path(folder) / "found.npy"
        np.savez(given, X=X, y=y, X_test=X_test)
        command = [str(options.peers), str(HERE / "oblique_peer.py"), kind, str(given), str(found), json.dumps(params)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  the caller named it
        if done.returncode:
            raise SystemExit(f"--peers {options.peers}: {kind} failed:\n{done.stderr[-2000:]}")
        return np.load(found), float(done.stdout.splitlines()[-1])


def held_out(X, y, seed=42, share=0.2):
    """Return scikit-learn's split of a table."""
    return held_out_of(X, y, seed=seed, share=share)


def held_out_of(*tables, seed=42, share=0.2):
    """Return scikit-learn's split of several tables of the same rows."""
    from sklearn.model_selection import train_test_split

    return train_test_split(*tables, test_size=share, random_state=seed)


def diagonal(options):
    """The border that no tree of single columns draws (Raschka)."""
    rng = np.random.default_rng(0)
    X, Z = rng.uniform(-1, 1, (1000, 2)), rng.uniform(-1, 1, (100_000, 2))
    y, z = X.sum(axis=1) > 0, Z.sum(axis=1) > 0
    common = {"random_state": 0, "n_jobs": options.threads}
    slanted = ObliqueTreeClassifier(max_depth=1, **common).fit(X, y)
    right = slanted.score(Z, z)
    steps = [DecisionTreeClassifier(max_leaf_nodes=n, **common).fit(X, y) for n in (2, 5, 10, 20, 40)]
    full = DecisionTreeClassifier(**common).fit(X, y)
    said = ", ".join(f"{tree.n_leaves_} leaves {tree.score(Z, z):.4f}" for tree in (*steps, full))
    return [
        Row(
            "diagonal, 1,000 points, one test: held-out accuracy",
            f"{full.score(Z, z):.4f} ({full.n_leaves_} leaves)",
            f"{right:.4f}",
            "-",
            ">= 0.99",
            verdict(options, right >= 0.99),
            f"single columns: {said}",
        )
    ]


def california(options):
    """Depth 3, two columns a test, columns standardised, as in obliquetree's notebook."""
    if options.data is None:
        return []
    X, y = housing(options.data)
    X, X_test, y, y_test = held_out(X, y)
    mean, spread = X.mean(axis=0), X.std(axis=0)
    X, X_test = (X - mean) / spread, (X_test - mean) / spread
    common = {"max_depth": 3, "random_state": 0, "n_jobs": options.threads}
    single = DecisionTreeRegressor(**common).fit(X, y)

    def error(said):
        return float(np.mean((said - y_test) ** 2))

    searches = ("soft_entropy", "ridge", "random", "cart_lc", "oc1")
    errors = {
        search: error(ObliqueTreeRegressor(search=search, max_terms=2, **common).fit(X, y).predict(X_test))
        for search in searches
    }
    peer = asked_of_peer(options, "obliquetree regressor", X, y, X_test, max_depth=3, n_pair=2)
    ours = errors["soft_entropy"]
    said = ", ".join(f"{search} {mse:.4f}" for search, mse in errors.items())
    return [
        Row(
            "California housing, depth 3, 2 columns: test MSE",
            "-" if peer is None else f"obliquetree {error(peer[0]):.4f}",
            f"{ours:.4f}",
            "-",
            "<= 0.51",
            verdict(options, ours <= 0.51),
            f"single columns {error(single.predict(X_test)):.4f}; {said}",
        )
    ]


def housing(folder):
    """Return scikit-learn's eight columns of California from what its file counts, and values in 100,000 dollars."""
    X, y, _ = numbers(folder, "california")
    longitude, latitude, age, rooms, bedrooms, people, households, income = X.T[:8]
    columns = (income, age, rooms / households, bedrooms / households, people, people / households, latitude, longitude)
    return np.column_stack(columns), y / 1e5


def census(options):
    """Depth 2, a random split of a fifth: categories tested by themselves, and as indicators beside the numbers."""
    if options.data is None:
        return []
    X, y, nominal = labelled(options.data, "adult")
    coded = np.flatnonzero(nominal).tolist()
    Z = with_indicators(X, nominal)
    X, X_test, Z, Z_test, y, y_test = held_out_of(X, Z, y)
    common = {"max_depth": 2, "random_state": 0, "n_jobs": options.threads}
    by_themselves = common | {"categorical_features": coded}
    single = DecisionTreeClassifier(**by_themselves).fit(X, y).score(X_test, y_test)
    found = {
        f"{search}{words}": ObliqueTreeClassifier(search=search, max_terms=terms, **by_themselves).fit(X, y)
        for search in ("soft_entropy", "lda", "ridge")
        for terms, words in ((2, " of 2 columns"), (None, ""))
    }
    right = {name: (model.score(X, y), model.score(X_test, y_test)) for name, model in found.items()}
    for criterion in ("gini", "entropy", "error"):
        model = ObliqueTreeClassifier(criterion=criterion, categorical_features=None, **common).fit(Z, y)
        right[f"soft_entropy of indicators, {criterion}"] = model.score(Z, y), model.score(Z_test, y_test)
    peer = asked_of_peer(options, "obliquetree classifier", X, y, X_test, max_depth=2, n_pair=2, categories=coded)
    ours = max(right.values())[1]  # of the model that is best on the rows of the fit
    said = ", ".join(f"{name} {after:.4f} (in the fit {before:.4f})" for name, (before, after) in right.items())
    return [
        Row(
            "adult, depth 2: test accuracy",
            "-" if peer is None else f"obliquetree {float(np.mean(peer[0] == y_test)):.4f}",
            f"{ours:.4f}",
            "-",
            ">= 0.851",
            verdict(options, ours >= 0.851),
            f"single columns {single:.4f}; {said}",
        )
    ]


def with_indicators(X, nominal):
    """Return a table with a column of 0 and 1 for each level in place of each category; a missing one is in none."""
    columns = []
    for column, is_nominal in zip(X.T, nominal, strict=True):
        levels = np.unique(column[~np.isnan(column)]) if is_nominal else ()
        columns += [(column == level) * 1.0 for level in levels] if is_nominal else [column]
    return np.column_stack(columns)


def folds_of(y, seed=0):
    """Return the fold of each row, classes spread evenly."""
    order = np.random.default_rng(seed).permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    fold = np.empty(len(y), np.int64)
    fold[order] = np.arange(len(y)) % FOLDS
    return fold


def study(options):
    """Ten folds of tables of numbers, trees pruned by cost and complexity: accuracy and leaves of every search."""
    if options.data is None or options.quick:
        return []
    rows, all_found = [], []
    for name in (*SMALL, *LARGE):
        X, y, nominal = labelled(options.data, name)
        common = {"prune": "cost_complexity", "random_state": 0, "n_jobs": options.threads}
        common["categorical_features"] = np.flatnonzero(nominal).tolist()
        searches = LARGE.get(name, SEARCHES)
        models = {"axis": DecisionTreeClassifier(**common)}
        models |= {search: ObliqueTreeClassifier(search=search, **common) for search in searches}
        found, fold = {kind: [] for kind in models}, folds_of(y)
        for k in range(FOLDS):
            held = fold == k
            for kind, model in models.items():
                model.fit(X[~held], y[~held])
                found[kind].append((model.score(X[held], y[held]), model.n_leaves_))
        means = {kind: np.mean(each, axis=0) for kind, each in found.items()}
        all_found.append(means)
        said = ", ".join(f"{kind} {means[kind][0]:.4f} ({means[kind][1]:.1f})" for kind in searches)
        words = [f"{means[kind][0]:.4f} ({means[kind][1]:.1f})" for kind in ("axis", "lda")]
        share = f"{means['lda'][1] / means['axis'][1]:.2f}"
        rows.append(Row(f"{name}, 10 folds: accuracy (leaves)", words[0], words[1], share, "-", "-", said))
    for kind in SEARCHES:
        own = [means for means in all_found if kind in means]
        gain = np.mean([means[kind][0] - means["axis"][0] for means in own])
        share = np.exp(np.mean([np.log(means[kind][1] / means["axis"][1]) for means in own]))
        base, ours = (np.mean([means[one][0] for means in own]) for one in ("axis", kind))
        is_met = gain >= 0.01 and share <= 0.5
        target = "+ 0.01, <= 0.5 of the leaves"
        job = f"{kind}, mean of {len(own)} tables"
        rows.append(Row(job, f"{base:.4f}", f"{ours:.4f}", f"{share:.2f}", target, verdict(options, is_met)))
    return rows


def forests(options):
    """A hundred trees beside a random forest and YDF's sparse oblique one."""
    n = options.size(100_000, 5_000)
    X, y, X_test, y_test = H(n)
    common = {"n_estimators": 100, "random_state": 0, "n_jobs": options.threads}
    plain, ours = RandomForestClassifier(**common), ObliqueForestClassifier(**common)
    shape = Shape(n_trees=100, threads=options.threads)
    peer = YdfOblique(shape)
    given = peer.table(X, y)
    for model in (plain, ours):
        model.fit(X[:2000], y[:2000])
    repeats = {"plain": 1, "ours": 1, "peer": 1}
    jobs = {"plain": lambda: plain.fit(X, y), "ours": lambda: ours.fit(X, y), "peer": lambda: peer.fit(given)}
    times = in_turns(jobs, repeats)
    right = [model.score(X_test, y_test) for model in (plain, ours)]
    theirs = peer.score(X_test, y_test)
    words = [f"{one:.4f}" for one in right]
    job = f"H {n:,}, 100 trees"
    ratio = times["ours"].median / times["plain"].median
    to_peer = times["ours"].median / times["peer"].median
    gap = right[1] - right[0]
    found = [
        Row(f"{job}: accuracy", words[0], words[1], f"{100 * gap:+.2f} points", ">= +0.5 points",
            verdict(options, gap >= 0.005), f"YDF sparse oblique {theirs:.4f}"),
        at_most(options, f"{job}: fit beside a random forest", str(times["plain"]), str(times["ours"]), ratio, 3.0),
        at_most(options, f"{job}: fit beside YDF's", str(times["peer"]), str(times["ours"]), to_peer, 0.5),
    ]  # fmt: skip
    rows = np.tile(X_test, (options.size(1_000_000, 20_000) // len(X_test) + 1, 1))[: options.size(1_000_000, 20_000)]
    as_large = RandomForestClassifier(max_leaf_nodes=mean_leaves(ours), **common).fit(X, y)
    for model in (as_large, ours):
        model.predict(rows[:1000])
    single, sums = side_by_side(lambda: as_large.predict(rows), lambda: ours.predict(rows), 3)
    said = f"leaves a tree: {mean_leaves(as_large):,} and {mean_leaves(ours):,}"
    ratio = sums.median / single.median
    found.append(at_most(options, f"predict {len(rows):,} rows, 100 trees", str(single), str(sums), ratio, 2.5, said))
    return found


def mean_leaves(model):
    """Return the leaves of a tree of a forest."""
    return int(model.trees_.n_leaves // model.trees_.n_trees)


def single_trees(options):
    """One tree, fully grown, by two searches."""
    n = options.size(100_000, 5_000)
    X, y, _, _ = H(n)
    found = []
    for search, limit in (("soft_entropy", 5.0), ("lda", 1.0)):
        model = ObliqueTreeClassifier(search=search, random_state=0, n_jobs=options.threads)
        model.fit(X[:2000, :20], y[:2000])
        took = in_turns({"fit": lambda model=model: model.fit(X[:, :20], y)}, {"fit": min(3, options.repeats)})["fit"]
        said = f"{model.n_leaves_:,} leaves"
        job = f"one tree, {search}, {n:,} x 20"
        found.append(at_most(options, job, "-", str(took), took.median, limit, said, " s"))
    return found


if __name__ == "__main__":
    main(__doc__, [diagonal, california, census, study, forests, single_trees])
