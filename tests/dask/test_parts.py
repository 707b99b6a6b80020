"""What trees take that grow in parts, held against what is told before they start."""

import tracemalloc

import numpy as np
import pytest
from strategies import interpreted_only

import dtnumba
from dtnumba.dask.codes import code_part, edges_of, sample_part
from dtnumba.dask.columns import Sealed, joined, joined_target, look, read_target_part
from dtnumba.dask.in_parts import in_parts_of
from dtnumba.dask.levels import Prices
from dtnumba.dask.partition import advanced, begin_trees, begun, listed, picked
from dtnumba.dask.parts import drawing_of, part_of, plan_without_rows, share_of, whole_of
from dtnumba.dask.strategy import extent_of, lists_bytes, whole_bytes

N, PARTS = 8_000, 4
SCRATCH = 6_000  # of small arrays and of what Python itself takes, in bytes


def traced(function):
    """Return what a function returns, the bytes that stay, and those that it took at most."""
    tracemalloc.start()
    try:
        found = function()
        return found, *tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()


KINDS = [
    ("RandomForestClassifier", {}, False),
    ("RandomForestClassifier", {}, True),
    ("RandomForestClassifier", {"bootstrap": False}, False),
    ("RandomForestClassifier", {"class_weight": "balanced_subsample"}, False),
    ("RandomForestRegressor", {}, False),
]


@interpreted_only
@pytest.mark.parametrize(("name", "params", "weighted"), KINDS)
def test_what_is_told_is_at_least_what_is_used(monkeypatch, name, params, weighted):
    monkeypatch.setattr("dtnumba.dask.partition._BLOCK", 256)
    rng = np.random.default_rng(0)
    X = rng.random((N, 3)).astype(np.float32)
    y, weight = X[:, 0] + X[:, 1] * X[:, 2], rng.integers(1, 4, N) / 2 if weighted else None
    y = (y > 0.75) + 0 if name.endswith("Classifier") else y
    model = getattr(dtnumba, name)(1, random_state=0, max_depth=3, max_bins=8, n_jobs=1, **params)
    sealed, cuts = Sealed(model), [np.split(array, PARTS) for array in (X, y)]
    weights = [None] * PARTS if weight is None else np.split(weight, PARTS)
    columns = joined([look(*part, None, sealed) for part in zip(*cuts, strict=True)], name, "from_dtype")
    known = Sealed(columns)
    extent = in_parts_of(extent_of(columns, 1, weighted, 4), model, columns)
    shares = [sample_part(part, None, None, name, 8, known, None) for part in cuts[0]]
    edges = edges_of(known, 8, True, *shares)
    pieces = [read_target_part(*part, sealed, known) for part in zip(*cuts, weights, strict=True)]

    whole, _, _ = traced(lambda: whole_of(sealed, known, edges, joined_target(known, *pieces)))
    given = sum(one.nbytes for one in whole._given[2] if isinstance(one, np.ndarray)) + N * extent.target_bytes // 2
    _, _, peak = traced(whole.read)
    assert given + peak <= whole_bytes(extent) + 4 * SCRATCH

    plan, own = plan_without_rows(whole), N // PARTS
    codes = code_part(cuts[0][0], None, None, name, known, edges)
    part = part_of(plan, drawing_of(whole), share_of(whole, [(0, own)]), [(0, own)], codes)
    state = begin_trees(plan, 0, 1, Prices(0, 1, 1))
    # Of lists of all rows none is touched where trees draw from all; tracemalloc counts those, too.
    untouched = 4 * N if params.get("bootstrap", True) and not weighted else 0
    lists, drawn = lists_bytes(extent, own, PARTS), N * extent.count_bytes
    (states, told), _, peak = traced(lambda: begun(part, state[1]))
    assert peak - untouched <= drawn + lists + SCRATCH
    for _ in range(2):
        state = picked(state, told)
        before = sum(one.rows.nbytes + one.counts.nbytes for one in states)
        (states, told), _, peak = traced(lambda states=states, state=state: advanced(part, states, state[1]))
        assert before + peak <= lists + own * (1 + extent.count_bytes) + SCRATCH


@pytest.mark.parametrize("n", [0, 1, 255, 256, 1000])
def test_rows_that_count_are_listed_block_by_block(monkeypatch, n):
    monkeypatch.setattr("dtnumba.dask.partition._BLOCK", 256)
    counts = np.random.default_rng(n).poisson(1.0, n).astype(np.uint8)
    rows = listed(counts)
    assert rows.dtype == np.uint32
    assert np.array_equal(rows, np.flatnonzero(counts))
