"""Several threads find what one finds: the same tree, losses, bounds and sets."""

import time

import numpy as np
import pytest
from growth.optimal.test_searches import FAR, NONE, loss_kind, problems, ready
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import optimal as naive
from strategies import interpreted_only

from dtnumba import OptimalTreeClassifier
from dtnumba.growth.optimal import crew, engines
from dtnumba.growth.optimal.bits import ahead
from dtnumba.growth.optimal.bits import search as bit_search
from dtnumba.growth.optimal.bits.job import bit_job, bit_kernels
from dtnumba.growth.optimal.ordered import batches
from dtnumba.growth.optimal.ordered.job import sorted_job, sorted_kernels
from dtnumba.growth.optimal.rule import ALL_TESTS, S_BEST
from dtnumba.runtime import tasks
from dtnumba.runtime.addresses import call_entry
from dtnumba.runtime.kernels import COMPILED

needs_threads = pytest.mark.skipif(not COMPILED, reason="interpreted, nobody helps")


@pytest.fixture
def helpers(monkeypatch):
    """Let helpers come before a search begins; return the accounts of all searches."""
    accounts, call = [], engines.Engine.call_helpers

    def call_and_wait(self):
        call(self)
        accounts.append(self.job.crew.account)
        late = time.perf_counter() + 60
        while self.job.crew.present[0] < self.helpers and self.depth > 2 and time.perf_counter() < late:
            time.sleep(0.001)

    monkeypatch.setattr(engines.Engine, "call_helpers", call_and_wait)
    monkeypatch.setattr(engines, "_SOON", 0)
    monkeypatch.setattr(engines, "_LATER", 0)
    monkeypatch.setattr(tasks, "cores", lambda: 8)
    return accounts


@needs_threads
@pytest.mark.parametrize("of_bits", [True, False])
@pytest.mark.parametrize("params", [{"max_depth": 4}, {"max_depth": 3, "max_nodes": 5, "min_samples_leaf": 3}])
def test_the_tree_is_the_same_on_any_number_of_threads(helpers, of_bits, params):
    """With many ties: rows and columns are alike."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 30 if of_bits else 5)).round(1)
    y = (X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=len(X)) > 0).astype(int)
    X = np.tile((X > 0).astype(float) if of_bits else X, (3, 1))
    y = np.tile(y, 3)
    models = [OptimalTreeClassifier(**params, n_jobs=workers).fit(X, y) for workers in (1, 2, 8)]
    for model in models[1:]:
        for a, b in zip(models[0].trees_[:7], model.trees_[:7], strict=True):
            assert np.array_equal(a, b, equal_nan=True)
        assert model.lower_bound_ == models[0].lower_bound_ == model.objective_
        assert model.n_explored_ == models[0].n_explored_
    # Who came in time to take some of it is the system's affair.
    assert sum(account[crew._ALL] for account in helpers) > 0


@interpreted_only  # where constants can be changed
@settings(max_examples=30, deadline=None)
@given(problem=problems(4), kind=st.sampled_from(["error", "gini"]))
def test_cuts_that_are_tried_together(problem, kind):
    codes, y, weight, n_classes, rule, rng = problem
    loss, unit, values, slow = loss_kind(kind, y, weight, n_classes, rng)
    tests = naive.divisions_of_codes(codes)
    expected = naive.best_loss(np.ones(len(codes), bool), tests, slow, rule.depth, rule.most, rule.least, rule.price)
    scaled = rule._replace(price=round(rule.price / unit))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crew, "LEAST_WORK", 0)
        patch.setattr(batches, "LEAST_WORK", 0)
        patch.setattr(batches, "_BY_ONE", 0)
        patch.setattr(batches, "_MORE", 1)
        codes32 = np.ascontiguousarray(codes.T).astype(np.int32)
        job, code = ready(
            sorted_job(codes32, values, loss, scaled, weight if kind == "error" else NONE), sorted_kernels
        )
        job.crew.present[0], job.crew.share_at[0] = 1, crew.share_out
        call_entry(code, FAR, ALL_TESTS, FAR)
    assert abs(int(job.levels.state[0, S_BEST]) * unit - expected) < 1e-6
    found, sizes = naive.loss_of_tree(job.levels.best[0].tolist(), codes, slow, rule.price)
    assert abs(found - expected) < 1e-6
    assert len(sizes) - 1 <= rule.most
    assert len(sizes) == 1 or min(sizes) >= rule.least


@interpreted_only  # where constants can be changed
@settings(max_examples=30, deadline=None)
@given(problem=problems(1), budget=st.sampled_from([1, ALL_TESTS]))
def test_tests_that_are_solved_ahead(problem, budget):
    codes, y, weight, n_classes, rule, rng = problem
    loss, _, values, _ = loss_kind("error", y, weight, n_classes, rng)
    ones = codes.sum(axis=0)
    kept = np.flatnonzero((ones >= rule.least) & (len(codes) - ones >= rule.least))
    found = []
    with pytest.MonkeyPatch.context() as patch, np.errstate(over="ignore"):
        patch.setattr(crew, "LEAST_WORK", 0)
        patch.setattr(bit_search, "LEAST_WORK", 0)
        for present in (0, 1):
            job, code = ready(
                bit_job(codes[:, kept].T.astype(np.uint8), None, values, loss, rule, NONE, 64), bit_kernels
            )
            job.crew.present[0], job.crew.share_at[0] = present, bit_search.take_ahead
            call_entry(code, FAR, budget, FAR)
            frames = job.frames
            found.append([int(frames.state[0, S_BEST]), frames.best[0].tolist(), frames.explored.tolist()])
            assert present or not job.crew.item[:, ahead.I_SOLVED].any()
    assert found[0] == found[1]
