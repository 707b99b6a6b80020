"""What compiling costs: few signatures a kernel whatever is passed, and a bound on a first fit from an empty cache."""

import json

COUNT = """
import gc, json
import numpy as np
from numba.core.dispatcher import Dispatcher
from dtnumba import DecisionTreeClassifier

n = 40
rng = np.random.default_rng(0)
base, y = rng.normal(size=(n, 3)).round(1), np.arange(n) % 2

def layouts(dtype):
    X = base.astype(dtype)
    yield X
    yield np.asfortranarray(X)
    yield np.repeat(X, 2, axis=0)[::2]
    yield X[::-1]
    frozen = X.copy()
    frozen.setflags(write=False)
    yield frozen
    yield X.astype(X.dtype.newbyteorder())

tables = [X for dtype in (np.float64, np.float32) for X in layouts(dtype)]
tables += [base.tolist(), (base * 10).astype(np.int64), (base * 10).astype(np.int8), base > 0]
weights = [None, np.ones(n, np.float32), np.arange(n), np.linspace(0, 1, n)[::-1], [1] * n]
labels = [y, y.astype(np.int8), y.astype(str), y.tolist(), y.astype(bool), y[::-1][::-1]]

for at, X in enumerate(tables):
    for max_depth in (None, 3):
        model = DecisionTreeClassifier(max_depth=max_depth, min_impurity_decrease=at / 100, n_jobs=1)
        model.fit(X, labels[at % len(labels)], weights[at % len(weights)])
        model.predict(X), model.predict_proba(X), model.apply(X)

counts = {}
for found in gc.get_objects():
    if isinstance(found, Dispatcher) and found.py_func.__module__.startswith("dtnumba."):
        for signature in found.signatures:
            # A task is one kernel to the caller, whichever launches it, by itself or by its address.
            first = signature[0] if signature else None
            task = getattr(getattr(first, "dtype", first), "instance_class", None)
            name = f"{found.py_func.__module__}.{found.py_func.__qualname__} {task.__name__ if task else ''}"
            counts[name] = counts.get(name, 0) + 1
print(json.dumps(counts))
"""


def test_a_kernel_has_at_most_one_signature_a_float_type(run_python):
    """For C and Fortran order, strided, reversed, read-only and byte-swapped tables, lists, integers, any weights."""
    counts = json.loads(run_python(COUNT))
    assert len(counts) > 3
    assert {name: count for name, count in counts.items() if count > 2} == {}


COLD = """
import time
import numpy as np
from dtnumba import DecisionTreeClassifier
X = np.arange(300.0).reshape(150, 2) % 17
model = DecisionTreeClassifier().fit(X, np.arange(150) % 3)
model.predict(X)
print(time.process_time())
"""


def test_a_first_fit_and_predict_from_an_empty_cache_takes_seconds(run_python, tmp_path):
    """Of processor time, which other programs on the machine do not stretch much; a benchmark measures it closely."""
    cold = float(run_python(COLD, NUMBA_CACHE_DIR=tmp_path))
    warm = float(run_python(COLD, NUMBA_CACHE_DIR=tmp_path))
    print(f"processor seconds: {cold:.1f} from an empty cache, {warm:.1f} from a full one")  # noqa: T201, a measurement
    assert cold < 25
    assert warm < 5
    assert warm < cold / 2
