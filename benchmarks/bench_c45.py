"""C4.5 on tables of a folder (``--data``), against c50py and Weka's J48, and the rules of its trees.

J48 runs where ``--weka`` names a weka.jar and ``java`` comes with a compiler. It is timed inside its virtual machine,
without the start of that, and counts with its best fit, because its first ones run before they are compiled.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from data import described, labelled
from measure import HERE, Timing, at_most, demand, faster, in_turns, main, side_by_side

from dtnumba import C45Classifier, RuleSetClassifier

MOST_ROWS = 60_000
WEKA_FITS = 8


def has_data(options):
    if options.data is None:
        print("--data names no folder: C4.5 is left out, which is measured on the tables in one", file=sys.stderr)
    return options.data is not None


def trained_on(options, name, full=None):
    """Return rows of a table to learn from, rows held out, and which columns are categories."""
    X, y, nominal = labelled(options.data, name)
    is_test = np.random.default_rng(0).random(len(y)) < 1 / 3
    rows = options.size(full or len(y), 2_000)
    return X[~is_test][:rows], y[~is_test][:rows], X[is_test], y[is_test], nominal


def small_tables(options):
    """Time the mean of one fit over all tables of classes that are not large."""
    if not has_data(options):
        return []
    jobs, tables = {}, []
    for name, entry in described(options.data).items():
        if entry.get("task") != "class" or entry["rows"] >= MOST_ROWS:
            continue
        X, y, nominal = labelled(options.data, name)
        model = C45Classifier(categorical_features=nominal, n_jobs=1)
        jobs[name] = lambda model=model, X=X, y=y: model.fit(X, y)
        commonest = np.bincount(y).max() / len(y)
        demand(jobs[name]().score(X, y) >= commonest, f"{name}: worse than always saying the same")
        tables.append((f"{name} {len(y):,}", model))
    times = in_turns(jobs, dict.fromkeys(jobs, options.repeats))
    mean = float(np.mean([time_of.median for time_of in times.values()]))
    slowest = max(times, key=lambda name: times[name].median)
    checked = f"slowest {slowest}: {times[slowest]}; leaves: " + ", ".join(f"{n} {m.n_leaves_}" for n, m in tables)
    job = f"C4.5, one fit, mean over {len(jobs)} tables of fewer than {MOST_ROWS:,} rows"
    return [at_most(options, job, "-", f"{mean * 1e3:.3g} ms", mean, 0.05, checked, unit=" s")]


def against_peers(options):
    if not has_data(options):
        return []
    rows = []
    for name in ("adult", "letter"):
        X, y, X_test, y_test, nominal = trained_on(options, name)
        ours = C45Classifier(categorical_features=nominal, n_jobs=1)
        rows += against_c50py(options, name, ours, (X, y, X_test, y_test, nominal))
        rows += against_weka(options, name, ours, (X, y, nominal))
    return rows


def against_c50py(options, name, ours, parts):
    if find_spec("c50py") is None:
        print("c50py is not installed: it is left out", file=sys.stderr)
        return []
    from c50py import C5Classifier

    X, y, X_test, y_test, nominal = parts
    listed = np.flatnonzero(nominal).tolist()

    def peer():
        return C5Classifier(categorical_features=listed).fit(X, y)

    theirs = peer().score(X_test, y_test)
    score = ours.fit(X, y).score(X_test, y_test)
    checked = f"held-out accuracy {score:.4f} (peer {theirs:.4f})"
    demand(score > theirs - 0.03, checked)
    took, own = side_by_side(peer, lambda: ours.fit(X, y), options.repeats, peer_repeats=min(2, options.repeats))
    return [faster(options, f"C4.5, {name} {len(X):,}, peer c50py", took, own, 20, checked)]


def against_weka(options, name, ours, parts):
    java = shutil.which("java")
    if options.weka is None or java is None:
        print("--weka names no weka.jar, or there is no java: J48 is left out", file=sys.stderr)
        return []
    X, y, nominal = parts
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.arff"
        path.write_text(arff(X, y, nominal), encoding="ascii")
        command = [java, "-cp", str(options.weka), str(HERE / "WekaTimes.java"), str(path), str(WEKA_FITS)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  what the caller named
    demand(done.returncode == 0, f"J48 failed, which needs a java with a compiler:\n{done.stderr}")
    found = json.loads(done.stdout)
    ours.fit(X, y)
    same = float(np.mean(ours.predict(X) == np.array(found["labels"])))
    sizes = f"{ours.n_leaves_:,} leaves and {ours.n_nodes_:,} nodes (peer {found['leaves']:,} and {found['nodes']:,})"
    checked = f"{sizes}, the same label for {same:.2%} of the rows"
    demand(same > 0.98 and (ours.n_leaves_, ours.n_nodes_) == (found["leaves"], found["nodes"]), checked)
    own = in_turns({"ours": lambda: ours.fit(X, y)}, {"ours": options.repeats})["ours"]
    peer = Timing([min(found["seconds"])])
    job = f"C4.5, {name} {len(X):,}, peer Weka's J48, its best of {WEKA_FITS}"
    return [faster(options, job, peer, own, 5, checked)]


def arff(X, y, nominal):
    """Return a table as Weka reads it; a category declares the levels that it has."""
    lines, cells = ["@relation table"], []
    for j in range(X.shape[1]):
        levels = np.unique(X[~np.isnan(X[:, j]), j])
        kind = "{" + ",".join(f"v{v:g}" for v in levels) + "}" if nominal[j] else "numeric"
        lines.append(f"@attribute x{j} {kind}")
        shown = [f"v{v:g}" for v in X[:, j]] if nominal[j] else [repr(v) for v in X[:, j].tolist()]
        cells.append(["?" if cell in ("nan", "vnan") else cell for cell in shown])
    lines.append("@attribute y {" + ",".join(f"c{k}" for k in range(y.max() + 1)) + "}")
    rows = (",".join(row) for row in zip(*cells, (f"c{k}" for k in y.tolist()), strict=True))
    return "\n".join([*lines, "@data", *rows]) + "\n"


def large_table(options):
    if not has_data(options):
        return []
    X, y, X_test, y_test, nominal = trained_on(options, "covtype", 387_313)
    model = C45Classifier(categorical_features=nominal, n_jobs=options.threads)
    fit = {"ours": lambda: model.fit(X, y)}
    model.fit(X[:1_000], y[:1_000])
    took = in_turns(fit, {"ours": min(3, options.repeats)})["ours"]
    score = model.score(X_test, y_test)
    demand(score > (0.9 if options.is_full else 0.5), f"held-out accuracy {score:.4f}")
    checked = f"{model.n_leaves_:,} leaves, held-out accuracy {score:.4f}"
    return [at_most(options, f"C4.5, covtype {len(X):,}", "-", str(took), took.median, 10.0, checked, unit=" s")]


def rules(options):
    """Time the rules of the tree of the letters, and what they say of 100,000 rows."""
    if not has_data(options):
        return []
    X, y, X_test, y_test, nominal = trained_on(options, "letter")
    tree = C45Classifier(categorical_features=nominal, prune=None, n_jobs=options.threads).fit(X, y)
    model = RuleSetClassifier(n_jobs=options.threads).from_tree(tree, X, y)
    score, of_tree = model.score(X_test, y_test), tree.score(X_test, y_test)
    checked = f"held-out accuracy {score:.4f} (the tree's {of_tree:.4f})"
    demand(score > of_tree - 0.03, checked)
    many = np.tile(X, (1 + options.size(100_000, 2_000) // len(X), 1))[: options.size(100_000, 2_000)]
    voting = RuleSetClassifier(resolve="confidence", n_jobs=options.threads).from_tree(tree, X, y)
    jobs = {
        "made": lambda: model.from_tree(tree, X, y),
        "asked": lambda: model.predict(many),
        "voting": lambda: voting.predict(many),
    }
    for job in jobs.values():
        job()
    times = in_turns(jobs, dict.fromkeys(jobs, options.repeats))
    asked = f"these rules predict {len(many):,} rows"
    said = {
        "made": (f"{model.n_rules_:,} rules of the tree of {tree.n_leaves_:,} leaves, letter {len(X):,}", 5.0, checked),
        "asked": (f"{asked}, the first that holds", 0.1, ""),
        "voting": (f"{asked}, all that hold vote", 0.1, ""),
    }
    return [
        at_most(options, job, "-", str(times[name]), times[name].median, limit, note, unit=" s")
        for name, (job, limit, note) in said.items()
    ]


if __name__ == "__main__":
    main(__doc__, [small_tables, against_peers, large_table, rules])
