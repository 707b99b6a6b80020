"""One fit in a process of its own, and how much memory it took: started by bench_memory.py, prints JSON.

usage: peak_memory.py LIBRARY KIND ROWS THREADS      e.g. peak_memory.py Ours histogram 1000000 2
"""

import ctypes
import gc
import json
import resource
import sys
from pathlib import Path

import subjects
from data import H

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
WARM_ROWS = 20_000  # enough for every kernel that threads share


def resident(field):
    """Return a line of the process's status in bytes: VmRSS is what it holds, VmHWM the most it held."""
    for line in STATUS.read_text().splitlines():
        if line.startswith(field + ":"):
            return 1024 * int(line.split()[1])
    raise KeyError(field)


def peak_above(call):
    """Return how many bytes above what the process held before a call it came to hold at most, during it."""
    gc.collect()
    if not RESET.exists():  # not Linux: the most ever held counts, so the answer is at most the truth
        unit = 1 if sys.platform == "darwin" else 1024
        before = unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        call()
        return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    give_back()
    RESET.write_text("5")  # the peak starts anew from what is held now
    before = resident("VmRSS")
    call()
    return resident("VmHWM") - before


def give_back():
    """Have the C library return freed memory to the system, so that the call cannot use it unseen."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def run(library, kind, rows, threads):
    X, y, X_test, y_test = H(int(rows))
    kind_of_tree, options = getattr(subjects, library), {"exact": kind == "exact", "threads": int(threads)}
    kind_of_tree(**options).fit(X[:WARM_ROWS].copy(), y[:WARM_ROWS])
    tree = kind_of_tree(**options)
    above = peak_above(lambda: tree.fit(X, y))
    print(json.dumps({"above": above, "input": X.nbytes, "leaves": tree.n_leaves, "score": tree.score(X_test, y_test)}))


if __name__ == "__main__":
    run(*sys.argv[1:])
