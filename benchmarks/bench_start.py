"""What starting costs: the first fit and predict from an empty cache, the second process, and the import."""

import tempfile
from statistics import median

from measure import at_most, demand, duration, fresh_process, main

ESTIMATORS = ("DecisionTreeClassifier", "DecisionTreeRegressor", "ExtraTreeClassifier", "ExtraTreeRegressor")
SMALL, LARGE = 150, 100_000
COLD, SECOND, IMPORT = 4.0, 0.7, 0.05


def starts(options):
    rows, children = [], 1 if options.quick else 3
    for size in (SMALL, options.size(LARGE, LARGE)):
        for estimator in ESTIMATORS:
            for max_bins in (0, 255):
                rows += start(options, estimator, max_bins, size, children)
    return rows


def start(options, estimator, max_bins, size, children):
    """Return the rows of one estimator: cold, and the process after it."""
    arguments = ("first_call.py", estimator, max_bins, size, options.threads)
    first, second = [], []
    for _ in range(children):
        with tempfile.TemporaryDirectory() as folder:
            environment = {"NUMBA_CACHE_DIR": folder}
            first.append(fresh_process(*arguments, "again", environment=environment)[0])
            found, whole = fresh_process(*arguments, environment=environment)
            second.append(found | {"whole process": whole})
    demand(len({found["answer"] for found in first + second}) == 1, f"{estimator}: processes differ in their answer")
    name = f"{estimator}{f'(max_bins={max_bins})' if max_bins else ''}, {size:,} rows"
    cold = [found["fit"] + found["predict"] for found in first]
    warm = median(found["fit again"] + found["predict again"] for found in first)
    whole = [found["whole process"] for found in second]
    # With many rows the process does more than start, so only the small table has a target.
    limit = SECOND if size == SMALL else None
    return [
        at_most(options, f"first fit + predict, empty cache: {name}", "-", spread(cold), median(cold), COLD,
                f"of which {duration(warm)} once warm", unit=" s"),
        at_most(options, f"second process in all: {name}", "-", spread(whole), median(whole), limit,
                breakdown(second), unit=" s"),
    ]  # fmt: skip


def spread(seconds):
    return f"{duration(median(seconds))} (min {duration(min(seconds))} of {len(seconds)})"


def breakdown(found):
    """Say what the whole process consisted of."""
    steps = ("import numpy", "import numba", "import dtnumba", "make data", "fit", "predict")
    parts = {step: median(one[step] for one in found) for step in steps}
    parts["interpreter"] = median(one["whole process"] for one in found) - sum(parts.values())
    return ", ".join(f"{step} {duration(seconds)}" for step, seconds in parts.items())


def imports(options):
    found = [fresh_process("first_call.py", ESTIMATORS[0], 0, SMALL, 1)[0] for _ in range(2 + options.repeats)][2:]
    ours = [one["import dtnumba"] for one in found]
    numba = [one["import numpy"] + one["import numba"] for one in found]
    job = "import dtnumba, after import numba; peer: import numba"
    return [at_most(options, job, spread(numba), spread(ours), median(ours), IMPORT, unit=" s")]


if __name__ == "__main__":
    main(__doc__, [starts, imports])
