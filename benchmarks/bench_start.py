"""What starting costs: first fits from an empty cache, the next kind of fit, warming up, second processes, imports.

Exits with 1 where a first fit takes a tenth longer than the kept figure. ``--profile LEARNER ...`` prints where the
processor time of first fits goes instead.
"""

import sys
import tempfile
import time

from compile_profile import print_profiles
from measure import Timing, at_most, demand, duration, fresh_process, main

# Learners, and seconds of the first process in all, of 500 rows x 5.
FIRST = {
    "DecisionTreeClassifier": 2.5,
    "DecisionTreeRegressor": 2.5,
    "RandomForestClassifier": 5.0,
    "RandomForestRegressor": 5.0,
    "ExtraTreesClassifier": 5.0,
}
OTHERS = (
    *("ExtraTreesRegressor", "ExtraTreeClassifier", "ExtraTreeRegressor", "C45Classifier", "ID3Classifier"),
    *("CHAIDClassifier", "CHAIDRegressor", "RuleSetClassifier", "DecisionListClassifier"),
    *("MARSClassifier", "MARSRegressor", "OptimalTreeClassifier", "OptimalTreeRegressor"),
)
# What these took on 2026-11-19, in imports of NumPy and Numba by the same machine: slower machines do both more slowly.
KEPT = {
    "DecisionTreeClassifier": 16.5,
    "DecisionTreeRegressor": 16.0,
    "RandomForestClassifier": 23.0,
    "RandomForestRegressor": 25.5,
    "ExtraTreesClassifier": 21.5,
}
GROWN = "a first process in imports of NumPy and Numba"
# What a process fits first, and what it fits then.
NEXT = (
    ("RandomForestClassifier", "RandomForestClassifier:categories"),
    ("RandomForestClassifier", "RandomForestClassifier:outputs"),
    ("RandomForestClassifier", "RandomForestRegressor"),
    ("DecisionTreeClassifier", "DecisionTreeClassifier:categories"),
)
SMALL, LARGE = 500, 100_000
OTHER_LIMIT, NEXT_LIMIT, LARGE_LIMIT, WARM_UP, PORTABLE, SECOND, IMPORT = 6.0, 4.0, 9.0, 90.0, 1.2, 0.55, 0.05


def processes(options, works, rows=SMALL, repeats=None, environment=None):
    """Return what first and second processes took, each pair with a cache of its own: (steps, whole) a process."""
    first, second = [], []
    for _ in range(repeats or (1 if options.quick else 3)):
        with tempfile.TemporaryDirectory() as folder:
            settings = {"NUMBA_CACHE_DIR": folder, "DTNUMBA_QUIET": "1", **(environment or {})}
            for found in (first, second):
                found.append(fresh_process("first_call.py", rows, options.threads, *works, environment=settings))
    demand(len({steps["answer"] for steps, _ in first + second}) == 1, f"{works}: processes differ in their answer")
    return first, second


def whole(found):
    """Return the seconds of processes from their start to their end."""
    return Timing([seconds for _, seconds in found])


def starts(options):
    """Return rows of first and second processes."""
    rows, seconds = [], {}
    for learner, limit in FIRST.items():
        first, second = processes(options, [learner])
        seconds[learner] = whole(second)
        job = f"first process in all, 500 rows x 5: {learner}"
        rows.append(at_most(options, job, "-", str(whole(first)), whole(first).median, limit, unit=" s"))
        numba = Timing([steps["import numpy"] + steps["import numba"] for steps, _ in first + second])
        ratio = whole(first).median / numba.median
        rows.append(at_most(options, f"{GROWN}: {learner}", str(numba), str(whole(first)), ratio, 1.1 * KEPT[learner]))
    others = {learner: processes(options, [learner], repeats=1) for learner in OTHERS}
    slowest = max(others, key=lambda learner: whole(others[learner][0]).median)
    each = ", ".join(f"{learner} {duration(whole(first).median)}" for learner, (first, _) in others.items())
    time_of = whole(others[slowest][0])
    rows.append(
        at_most(options, f"the slowest of the others: {slowest}", "-", str(time_of), time_of.median, OTHER_LIMIT, each,
                unit=" s")
    )  # fmt: skip
    slowest = max(seconds, key=lambda learner: seconds[learner].median)
    job = f"second process, import to prediction: {slowest}"
    rows.append(at_most(options, job, "-", str(seconds[slowest]), seconds[slowest].median, SECOND, unit=" s"))
    return rows


def next_kinds(options):
    """Return rows of the kind of fit that comes second in a process."""
    rows = []
    for works in NEXT:
        first, _ = processes(options, works)
        found = Timing([steps[f"fit {works[1]}"] + steps[f"predict {works[1]}"] for steps, _ in first])
        job = f"the next kind of fit in the same process: {works[1]} after {works[0]}"
        rows.append(at_most(options, job, "-", str(found), found.median, NEXT_LIMIT, unit=" s"))
    return rows


def large(options):
    """Return the row of a first forest on a large table."""
    first, _ = processes(options, ["RandomForestClassifier"], options.size(LARGE, 20_000))
    job = f"RandomForestClassifier on {options.size(LARGE, 20_000):,} x 28 rows, fit and predict, first process in all"
    return [at_most(options, job, "-", str(whole(first)), whole(first).median, LARGE_LIMIT, unit=" s")]


def warm_ups(options):
    """Return rows of compiling ahead, and of a first process with portable kernels."""
    import os
    import subprocess
    from pathlib import Path

    from dtnumba.runtime.portable import known_levels

    names = ["DecisionTreeClassifier"] if options.quick else []
    command = [sys.executable, "-m", "dtnumba", "warmup", *names, "--jobs", "2"]
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"NUMBA_CACHE_DIR": folder}
        began = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, env=environment)  # noqa: S603  this package
        took = time.perf_counter() - began
        again = subprocess.run([*command, "--check"], check=False, capture_output=True, env=environment)  # noqa: S603
        demand(again.returncode == 0, "after a warm-up something would still compile")
    job = "warmup of everything, two processes"
    rows = [at_most(options, job, "-", duration(took), took, WARM_UP, unit=" s")]
    with tempfile.TemporaryDirectory() as folder:
        made = [*command[:4], "DecisionTreeClassifier", "--portable", known_levels()[0], "--out", folder]
        subprocess.run(made, check=True, capture_output=True)  # noqa: S603
        demand(any(Path(folder).glob("*.nbc")), "no portable kernel was written")
        works = ["DecisionTreeClassifier"]
        first, _ = processes(options, works, environment={"DTNUMBA_KERNELS": folder})
        plain, _ = processes(options, works, repeats=1)
        demand(first[0][0]["answer"] == plain[0][0]["answer"], "portable kernels answer differently")
    job = "first process with a portable cache: DecisionTreeClassifier"
    return [*rows, at_most(options, job, "-", str(whole(first)), whole(first).median, PORTABLE, unit=" s")]


def imports(options):
    """Return the row of importing the package after Numba; the first two processes warm the files up."""
    learner = "DecisionTreeClassifier"
    found = [fresh_process("first_call.py", SMALL, 1, learner)[0] for _ in range(2 + options.repeats)][2:]
    numba = Timing([one["import numpy"] + one["import numba"] for one in found])
    ours = Timing([one[f"import {learner}"] for one in found])
    job = f"import {learner} from dtnumba after numba; peer: import numba"
    return [at_most(options, job, str(numba), str(ours), ours.median, IMPORT, unit=" s")]


if __name__ == "__main__":
    if "--profile" in sys.argv:
        print_profiles(sys.argv[sys.argv.index("--profile") + 1 :] or ["RandomForestClassifier"])
    else:
        rows = main(__doc__, [starts, next_kinds, large, warm_ups, imports])
        sys.exit(any(row.job.startswith(GROWN) and "no" in row.reached for row in rows))
