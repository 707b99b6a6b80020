"""C5.0 on tables of a folder (``--data``): trees, trials and rules, against c50py, and the memory that a fit takes."""

import sys
from importlib.util import find_spec

import numpy as np
from bench_c45 import MOST_ROWS, has_data, trained_on
from data import described, labelled
from measure import at_most, demand, faster, fresh_process, in_turns, main, side_by_side

from dtnumba import C50Classifier


def small_tables(options):
    """Time the mean of one fit over all tables of classes that are not large."""
    if not has_data(options):
        return []
    jobs, tables = {}, []
    for name, entry in described(options.data).items():
        if entry.get("task") != "class" or entry["rows"] >= MOST_ROWS:
            continue
        X, y, nominal = labelled(options.data, name)
        model = C50Classifier(categorical_features=nominal, n_jobs=1)
        jobs[name] = lambda model=model, X=X, y=y: model.fit(X, y)
        commonest = np.bincount(y).max() / len(y)
        demand(jobs[name]().score(X, y) >= commonest, f"{name}: worse than always saying the same")
        tables.append((f"{name} {len(y):,}", model))
    times = in_turns(jobs, dict.fromkeys(jobs, options.repeats))
    mean = float(np.mean([time_of.median for time_of in times.values()]))
    slowest = max(times, key=lambda name: times[name].median)
    checked = f"slowest {slowest}: {times[slowest]}; leaves: " + ", ".join(f"{n} {m.n_leaves_}" for n, m in tables)
    job = f"C5.0, one fit, mean over {len(jobs)} tables of fewer than {MOST_ROWS:,} rows"
    return [at_most(options, job, "-", f"{mean * 1e3:.3g} ms", mean, 0.02, checked, unit=" s")]


def committees(options):
    """Time ten trials of one table, and the rules of two."""
    if not has_data(options):
        return []
    rows = []
    for name, params, target in (
        ("adult", {"trials": 10}, 0.8), ("adult", {"rules": True}, 1.5), ("letter", {"rules": True}, 1.5),
    ):  # fmt: skip
        X, y, nominal = labelled(options.data, name)
        model = C50Classifier(categorical_features=nominal, **params)

        def fit(model=model, X=X, y=y):
            return model.fit(X, y)

        found = fit()
        demand(found.errors_ < (1.0 - np.bincount(y).max() / len(y)) * len(y), f"{name}: worse than one class")
        time_of = in_turns({name: fit}, {name: options.repeats})[name]
        job = f"C5.0, {name} {len(y):,}, " + ", ".join(f"{key}={value}" for key, value in params.items())
        checked = f"sizes {found.sizes_}"
        rows.append(at_most(options, job, "-", str(time_of), time_of.median, target, checked, unit=" s"))
    return rows


def against_c50py(options):
    if not has_data(options):
        return []
    if find_spec("c50py") is None:
        print("c50py is not installed: it is left out", file=sys.stderr)
        return []
    from c50py import C5Classifier

    rows = []
    for name in ("adult", "letter"):
        X, y, X_test, y_test, nominal = trained_on(options, name)
        ours, listed = C50Classifier(categorical_features=nominal, n_jobs=1), np.flatnonzero(nominal).tolist()

        def peer(X=X, y=y, listed=listed):
            return C5Classifier(categorical_features=listed).fit(X, y)

        theirs, score = peer().score(X_test, y_test), ours.fit(X, y).score(X_test, y_test)
        checked = f"held-out accuracy {score:.4f} (peer {theirs:.4f})"
        demand(score > theirs - 0.03, checked)

        def own(ours=ours, X=X, y=y):
            return ours.fit(X, y)

        took, mine = side_by_side(peer, own, options.repeats, peer_repeats=min(2, options.repeats))
        rows.append(faster(options, f"C5.0, {name} {len(X):,}, peer c50py", took, mine, 30, checked))
    return rows


def memory(options):
    """Compare what a fit holds at its peak, its table as it is read included, with the codes of the table."""
    if not has_data(options):
        return []
    rows = []
    for name, full in (("adult", 48_842), ("covtype", 400_000)):
        if name == "covtype" and not (options.data / "covtype.npz").exists():
            continue
        found, _ = fresh_process("peak_c50.py", options.data, name, options.size(full, 2_000), options.threads)
        share = found["above"] / found["codes"]
        job = f"C5.0, memory of a fit, {name} {found['rows']:,}"
        rows.append(at_most(options, job, "-", f"{found['above'] / 1e6:.0f} MB", share, 3, unit="x the codes"))
    return rows


if __name__ == "__main__":
    main(__doc__, [small_tables, committees, against_c50py, memory])
