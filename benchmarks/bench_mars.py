"""MARS against R's earth and mars-earth, to a million rows; predictions, and growth of time with rows.

earth is run by ``Rscript`` where that and the package are installed (Debian: r-cran-earth), and times its forward and
backward pass by itself. ``DTNUMBA_MARS_EARTH`` names a Python that has mars-earth.
"""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from measure import Timing, at_most, demand, faster, fresh_process, in_turns, main

from dtnumba import MARSRegressor

EARTH = """
suppressMessages(library(earth)); args <- commandArgs(TRUE)
n <- as.integer(args[2]); p <- as.integer(args[3])
d <- matrix(readBin(args[1], "double", n * (p + 1)), n); x <- d[, 1:p]; y <- d[, p + 1]
for (i in seq_len(as.integer(args[6]))) {
  t <- system.time(m <- earth(x, y, degree = as.integer(args[4]), nk = as.integer(args[5]), thresh = 0))
  cat(t[3], "\\n")
}
cat(format(m$rsq, digits = 15), "\\n")
"""
PURE = """
import json, sys, time
import numpy as np
from pymars import Earth
d = np.load(sys.argv[1]); X, y = d[:, :-1], d[:, -1]
began = time.perf_counter()
model = Earth(max_degree=int(sys.argv[2]), max_terms=int(sys.argv[3])).fit(X, y)
print(json.dumps([time.perf_counter() - began, float(model.score(X, y))]))
"""
JOBS = [(10_000, 10, 2, 21, 3.0), (100_000, 20, 1, 41, 4.0)]


def friedman(n, p, seed=0):
    """Return columns of which five make up Friedman's first function, and that with noise.

    They reach to 100, because earth takes a column for no news where the square of what is new of it is below 0.01.
    """
    rng = np.random.default_rng(seed)
    X = rng.random((n, p))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return 100.0 * X, y + rng.normal(size=n)


def model_of(options, degree, terms):
    return MARSRegressor(max_degree=degree, max_terms=terms, threshold=0.0, n_jobs=options.threads)


def warm(options, degree=1):
    for rows in (1_000, 20_000):
        X, y = friedman(rows, 6)
        model_of(options, degree, 11).fit(X, y).predict(X)


def by_earth(X, y, degree, terms, repeats):
    """Return seconds of earth's fits and its R squared, or None where it is not installed."""
    r = shutil.which("Rscript")
    if r is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        data, script = Path(folder, "data"), Path(folder, "earth.R")
        np.asfortranarray(np.column_stack([X, y])).T.tofile(data)
        script.write_text(EARTH)
        command = [r, str(script), str(data), *map(str, (*X.shape, degree, terms, repeats))]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  found above
    if done.returncode:
        return None
    *seconds, rsq = map(float, done.stdout.split())
    return Timing(seconds), rsq


def against_earth(options):
    rows = []
    for n, p, degree, terms, at_least in JOBS:
        n = options.size(n, n // 10)
        X, y = friedman(n, p)
        warm(options, degree)
        model = model_of(options, degree, terms)
        ours = in_turns({"ours": lambda m=model, X=X, y=y: m.fit(X, y)}, {"ours": options.repeats})["ours"]
        found = by_earth(X, y, degree, terms, min(3, options.repeats))
        job = f"{n:,} x {p}, degree {degree}, {terms} terms, peer earth"
        if found is None:
            rows.append(at_most(options, job, "not installed", str(ours), ours.median, None, unit=" s"))
            continue
        theirs, rsq = found
        demand(abs(model.rsq_ - rsq) < 1e-6 * max(rsq, 1e-9), f"R squared {model.rsq_} and {rsq}")
        rows.append(faster(options, job, theirs, ours, at_least, f"R squared {model.rsq_:.6f}, {model.n_terms_} terms"))
    return rows


def against_mars_earth(options):
    """Of few rows, because every candidate is a fit of NumPy's there."""
    python = os.environ.get("DTNUMBA_MARS_EARTH")
    if not python:
        return []
    X, y = friedman(options.size(200, 100), 5)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "data.npy")
        np.save(data, np.column_stack([X, y]))
        command = [python, "-c", PURE, str(data), "2", "11"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603  the caller named it
    seconds, rsq = json.loads(done.stdout)
    warm(options, 2)
    model = model_of(options, 2, 11)
    ours = in_turns({"ours": lambda: model.fit(X, y)}, {"ours": options.repeats}, calls=5)["ours"]
    said = f"R squared {model.rsq_:.4f} (peer {rsq:.4f})"
    job = f"{len(X):,} x 5, degree 2, 11 terms, peer mars-earth"
    return [faster(options, job, Timing([seconds]), ours, 50.0, said)]


def a_million(options):
    X, y = friedman(options.size(1_000_000, 50_000), 10)
    warm(options)
    model = MARSRegressor(n_jobs=options.threads)
    took = in_turns({"fit": lambda: model.fit(X, y)}, {"fit": min(3, options.repeats)})["fit"]
    job = f"{len(X):,} x 10, degree 1"
    rows = [at_most(options, job, "-", str(took), took.median, 10.0, f"R squared {model.rsq_:.4f}", unit=" s")]
    found, _ = fresh_process("peak_mars.py", len(X), options.threads)
    share = found["above"] / found["input"]
    rows.append(
        at_most(options, f"memory, {job}", "-", f"{found['above'] / 1e6:.0f} MB", share, 5.0, unit="x the input")
    )
    return rows


def predictions(options):
    X, y = friedman(options.size(1_000_000, 50_000), 10)
    warm(options)
    model = MARSRegressor(max_terms=31, threshold=0.0, prune=None, max_pruned_terms=20, n_jobs=options.threads)
    model.fit(X[:20_000], y[:20_000])
    times = in_turns({"predict": lambda: model.predict(X)}, {"predict": options.repeats})["predict"]
    job = f"predict {len(X):,} rows, {model.n_terms_} terms"
    return [at_most(options, job, "-", str(times), times.median, 0.1, unit=" s")]


def growth(options):
    """Time by rows: a tenth of the rows must not take less than a fifteenth of the time, from 10,000 on."""
    sizes = [1_000, 10_000, 100_000, 1_000_000] if options.is_full else [1_000, 10_000]
    X, y = friedman(sizes[-1], 10)
    warm(options)
    rows, before = [], None
    for n in sizes:
        model = model_of(options, 1, 21)
        took = in_turns({"fit": lambda m=model, n=n: m.fit(X[:n], y[:n])}, {"fit": min(3, options.repeats)})["fit"]
        ratio = took.median / before.median if before else 1.0
        limit = 15.0 if before and n > 10_000 else None
        rows.append(
            at_most(options, f"{n:,} x 10, degree 1, 21 terms, of ten times fewer", "-", str(took), ratio, limit)
        )
        before = took
    return rows


if __name__ == "__main__":
    main(__doc__, [against_earth, against_mars_earth, a_million, predictions, growth])
