"""No time: what edges cost in accuracy that are made from a sample of so many rows, over twenty tables.

usage: python benchmarks/bins_study.py [--data FOLDER] [--seeds N] [--sample N] [--reference N] [--only NAME ...]

Each seed draws rows to train on and to test with. A forest of 20 trees and a histogram tree are fitted with edges from
the sample and with edges from the reference; a line a table holds the means of both and their difference in standard
errors (of the paired differences). The last lines hold the same over all tables, each difference in units of the
table's standard error.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from data import H, labelled

import dtnumba
from dtnumba.tables import bins

N_TRAIN, N_TEST = 60_000, 30_000
N = N_TRAIN + N_TEST


def uniform(draw, p=6):
    return draw.random((N, p))


def friedman(draw, X):
    """Friedman-1 of the first five columns, with unit noise."""
    a, b, c, d, e = X[:, :5].T
    return 10 * np.sin(np.pi * a * b) + 20 * (c - 0.5) ** 2 + 10 * d + 5 * e + draw.standard_normal(len(X))


def plain_friedman(draw):
    X = uniform(draw, 10)
    return X, friedman(draw, X)


def heavy_tailed(draw):
    """The target depends on the logarithm of columns that range over twenty orders of magnitude."""
    X = uniform(draw)
    return 10.0 ** (20 * X - 10), friedman(draw, X)


def cauchy(draw):
    """What lies far out in the tails counts as much as the middle."""
    X = np.tan(np.pi * (uniform(draw, 4) - 0.5))
    return X, np.sin(np.log1p(np.abs(X)) * 3).sum(axis=1) + 0.1 * draw.standard_normal(N)


def rare_regions(draw):
    """Steps at quantiles of a few thousandths, which count as much as all the rest together."""
    X = uniform(draw)
    z = X[:, 0] + X[:, 1]
    for f, quantile, size in ((0, 0.99, 5), (1, 0.006, -5), (2, 0.985, 4), (3, 0.993, 7), (4, 0.01, 4)):
        z = z + size * (X[:, f] > quantile if quantile > 0.5 else X[:, f] < quantile)
    return X, z + 0.2 * draw.standard_normal(N)


def rare_classes(draw):
    """Three classes of a half per cent and less, each in a corner of its own."""
    X = draw.standard_normal((N, 5))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    y[(X[:, 2] > 2.6)] = 2
    y[(X[:, 3] < -2.8)] = 3
    y[(X[:, 4] > 2.0) & (X[:, 3] > 1.2)] = 4
    wrong = draw.random(N) < 0.02
    return X, np.where(wrong, draw.integers(0, 5, N), y)


def many_classes(draw):
    """Forty classes, of which the last has a hundredth of the rows of the first."""
    X = draw.standard_normal((N, 6))
    share = 1 / np.arange(1, 41)
    edges = np.quantile(X[:, 0] + X[:, 1] ** 2, np.cumsum(share / share.sum())[:-1])
    return X, np.digitize(X[:, 0] + X[:, 1] ** 2, edges)


def stripes(draw):
    """Two hundred stripes of two classes: each needs an edge of its own."""
    X = uniform(draw, 3)
    return X, (np.floor(X[:, 0] * 200) % 2).astype(int)


def uneven_steps(draw):
    """A hundred steps at random places of one column."""
    X, at = uniform(draw, 3), np.sort(draw.random(100))
    return X, draw.standard_normal(101)[np.digitize(X[:, 0], at)] + 0.1 * draw.standard_normal(N)


def counts(draw):
    X = np.minimum(draw.zipf(1.4, (N, 6)), 10**6).astype(float)
    return X, np.log(X[:, :4]).sum(axis=1) + np.sin(X[:, 4] / 20) + 0.3 * draw.standard_normal(N)


def prices(draw):
    """Rounded values: some of a column are very common, most are rare."""
    X = np.round(10 ** (3 * uniform(draw)), 1)
    X[draw.random(X.shape) < 0.5] = 9.9
    return X, np.log(X).sum(axis=1) + 0.3 * draw.standard_normal(N)


def waves(draw, X):
    return 5 * np.sin(6 * X).sum(axis=1) + 0.5 * draw.standard_normal(N)


def mostly_missing(draw):
    X, is_missing = uniform(draw, 4), draw.random((N, 4)) < 0.9
    return np.where(is_missing, np.nan, X), waves(draw, np.where(is_missing, 0.0, X))


def mostly_zero(draw):
    X = np.where(draw.random((N, 4)) < 0.95, 0.0, uniform(draw, 4))
    return X, waves(draw, X)


def rings(draw):
    X = draw.standard_normal((N, 4))
    return X, (np.floor(3 * np.hypot(X[:, 0], X[:, 1])) % 2).astype(int)


def linear(draw):
    X = draw.standard_normal((N, 10))
    return X, X @ np.arange(10.0) + 3 * draw.standard_normal(N)


def two_scales(draw):
    """A column whose structure lies within a thousandth of its range."""
    X = uniform(draw, 4)
    X[:, 0] = np.where(draw.random(N) < 0.05, X[:, 0] * 1e-3, X[:, 0])
    return X, np.where(X[:, 0] < 1e-3, 5 * np.sin(X[:, 0] * 2e4), X[:, 1]) + 0.1 * draw.standard_normal(N)


def h(draw):
    X, y, X_test, y_test = H(100_000)
    return some_of(draw, np.concatenate([X, X_test]), np.concatenate([y, y_test]))


def some_of(draw, X, y):
    rows = draw.permutation(len(X))[:N]
    return X[rows], y[rows]


MADE = (h, plain_friedman, heavy_tailed, cauchy, rare_regions, rare_classes, many_classes, stripes, uneven_steps,
        counts, prices, mostly_missing, mostly_zero, rings, linear, two_scales)  # fmt: skip
# What is read, and the columns left out, which make it harder
READ = {"adult": (), "covtype": (), "diamonds": (), "flights_nyc": (), "flights_nyc, harder": (5, 9)}


def fitted_score(X, y, seed, kind, sample_rows):
    """Return the accuracy or R squared of one model on the rows behind those it was fitted to."""
    bins.SAMPLE_ROWS = sample_rows
    n = min(N_TRAIN, 2 * len(X) // 3)
    of = "Classifier" if y.dtype.kind == "i" else "Regressor"
    if kind == "forest":
        model = getattr(dtnumba, f"RandomForest{of}")(20, random_state=seed)
    else:
        model = getattr(dtnumba, f"DecisionTree{of}")(max_bins=255, min_samples_leaf=5)
    return model.fit(X[:n], y[:n]).score(X[n:], y[n:])


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="a folder with adult, covtype, diamonds and flights_nyc")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--sample", type=int, default=bins.SAMPLE_ROWS, help="rows that edges are made from")
    parser.add_argument("--reference", type=int, default=200_000)
    parser.add_argument("--only", nargs="+", metavar="NAME")
    return parser.parse_args()


def main():
    options, found = parse(), {"forest": [], "tree": []}
    makers = {make.__name__: make for make in MADE}
    for name, without in READ.items() if options.data else ():
        X, y, _ = labelled(options.data, name.split(",", maxsplit=1)[0])
        y = y if len(np.unique(y)) < 50 else y.astype(float)
        keep = np.setdiff1d(np.arange(X.shape[1]), without)
        makers[name] = lambda draw, X=X[:, keep], y=y: some_of(draw, X, y)
    print(f"| table | model | {options.sample:,} | {options.reference:,} | difference | standard errors |")
    for name in options.only or makers:
        for kind, all_differences in found.items():
            scores = []
            for seed in range(options.seeds):
                X, y = makers[name](np.random.default_rng(seed))
                X = X.astype(np.float32)
                scores.append([fitted_score(X, y, seed, kind, n) for n in (options.sample, options.reference)])
            ours, reference = np.mean(scores, axis=0)
            difference = np.subtract(*np.transpose(scores))
            error = difference.std(ddof=1) / np.sqrt(len(difference)) or 1e-12
            all_differences.append(difference.mean() / error)
            print(f"| {name} | {kind} | {ours:.5f} | {reference:.5f} | {ours - reference:+.5f} "
                  f"| {difference.mean() / error:+.1f} |", flush=True)  # fmt: skip
    for kind, errors in found.items():
        mean, n = np.mean(errors), len(errors)
        print(
            f"{kind}: mean difference {mean:+.2f} standard errors of a table, {mean * np.sqrt(n):+.2f} of the mean "
            f"over {n} tables, {sum(e < -0.5 for e in errors)} below -0.5, {sum(e > 0.5 for e in errors)} above 0.5"
        )


if __name__ == "__main__":
    sys.exit(main())
