"""What starting costs: the first fit and predict from an empty cache, the second process, and the import."""

import sys
import tempfile
from statistics import median

from measure import Timing, at_most, demand, duration, fresh_process, main

FAMILIES = [
    (estimator, max_bins)
    for estimator in ("DecisionTreeClassifier", "DecisionTreeRegressor", "ExtraTreeClassifier", "ExtraTreeRegressor")
    for max_bins in (0, 255)
]
SMALL, LARGE = 150, 100_000
STEPS = ("import numpy", "import numba", "import dtnumba", "make data", "fit", "predict")
COLD, SECOND, IMPORT = 4.0, 0.7, 0.05  # seconds


def starts(options):
    rows = []
    for size in (SMALL, options.size(LARGE, 20_000)):
        found = {}
        for family in FAMILIES:
            found[named(family)] = start(family, size, options)
            print(f"{named(family)}, {size:,} rows: done", file=sys.stderr, flush=True)
        # With many rows a process does more than start, so only the small table has a target for the second.
        rows += [first_row(options, size, found), second_row(options, size, found, SECOND if size == SMALL else None)]
    return rows


def named(family):
    estimator, max_bins = family
    return f"{estimator}(max_bins={max_bins})" if max_bins else estimator


def start(family, size, options):
    """Return what the steps of first and of second processes took, each pair with a cache of its own."""
    first, second = [], []
    for _ in range(1 if options.quick or size > SMALL else 3):
        with tempfile.TemporaryDirectory() as folder:
            arguments, environment = (*family, size, options.threads), {"NUMBA_CACHE_DIR": folder}
            first.append(fresh_process("first_call.py", *arguments, "again", environment=environment)[0])
            found, whole = fresh_process("first_call.py", *arguments, environment=environment)
            second.append(found | {"whole": whole})
    demand(len({one["answer"] for one in first + second}) == 1, f"{named(family)}: processes differ in their answer")
    return first, second


def first_row(options, size, found):
    """Return the row of the family that takes longest from an empty cache."""
    cold = {name: Timing([one["fit"] + one["predict"] for one in first]) for name, (first, _) in found.items()}
    worst = max(cold, key=lambda name: cold[name].median)
    warm = median(one["fit again"] + one["predict again"] for one in found[worst][0])
    each = ", ".join(f"{name} {duration(timing.median)}" for name, timing in cold.items())
    job = f"first fit + predict from an empty cache, {size:,} rows, the slowest family"
    checked = f"{each}; once warm, the slowest takes {duration(warm)}"
    return at_most(options, job, "-", str(cold[worst]), cold[worst].median, COLD, checked, unit=" s")


def second_row(options, size, found, limit):
    """Return the row of the family whose second process takes longest in all, and where its time goes."""
    whole = {name: Timing([one["whole"] for one in second]) for name, (_, second) in found.items()}
    worst = max(whole, key=lambda name: whole[name].median)
    parts = {step: median(one[step] for one in found[worst][1]) for step in STEPS}
    parts["interpreter, start to exit"] = whole[worst].median - sum(parts.values())
    each = ", ".join(f"{name} {duration(timing.median)}" for name, timing in whole.items())
    steps = ", ".join(f"{step} {duration(max(0, seconds))}" for step, seconds in parts.items())
    job = f"the second process in all, {size:,} rows, the slowest family"
    return at_most(
        options, job, "-", str(whole[worst]), whole[worst].median, limit, f"{each}; the slowest: {steps}", unit=" s"
    )


def imports(options):
    """Return the row of importing the package after Numba; the first two processes warm the files up."""
    found = [fresh_process("first_call.py", *FAMILIES[0], SMALL, 1)[0] for _ in range(2 + options.repeats)][2:]
    numba = Timing([one["import numpy"] + one["import numba"] for one in found])
    ours = Timing([one["import dtnumba"] for one in found])
    job = f"import {FAMILIES[0][0]} from dtnumba after numba; peer: import numba"
    return [at_most(options, job, str(numba), str(ours), ours.median, IMPORT, unit=" s")]


if __name__ == "__main__":
    main(__doc__, [starts, imports])
