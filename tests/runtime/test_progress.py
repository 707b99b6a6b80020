"""Long work is stopped within its parts, too: in a tree, in its pruning, while rows are drawn and votes counted."""

import _thread
import contextlib
import threading
import time
import warnings
from typing import NamedTuple

import numpy as np
import pytest

from dtnumba import C45Classifier, DecisionListClassifier, DecisionTreeClassifier, RandomForestClassifier
from dtnumba.estimators.bases import prunable
from dtnumba.growth.forest.bootstrap_rows import Bootstrap
from dtnumba.growth.forest.drawn_rows import CountDraws
from dtnumba.rules.select_subset import covers_of, shortest_subsets
from dtnumba.runtime.kernels import COMPILED, kernel_type
from dtnumba.runtime.notice import NOTICE
from dtnumba.runtime.progress import Monitor, Progress, run_heeding
from dtnumba.trees.check import check

only_compiled = pytest.mark.skipif(not COMPILED, reason="interpreted, Ctrl-C is heard anywhere")


def table(n_rows=300):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n_rows, 6))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def test_drawing_rows_ends_when_it_is_told_to():
    """So many draws would take hours."""
    sampling = Bootstrap(np.arange(4, dtype=np.uint32), 1 << 40, np.array([7], np.uint64))
    halt = np.zeros(1, np.int64)
    monitor = Monitor(0, 0.1, 1, 1 << 40)
    began = time.perf_counter()
    assert monitor.run_until(CountDraws(sampling, 0, np.zeros(4, np.int64), np.empty(0), halt), 1, halt)
    assert monitor.stopped == "time"
    assert time.perf_counter() - began < 60  # compiling included


def test_what_has_no_flag_is_left_to_itself():
    monitor = Monitor(0, 0.1, 1, 1 << 40)
    began = time.perf_counter()
    assert monitor.in_background(lambda: time.sleep(20)) is None
    assert monitor.stopped == "time"
    assert time.perf_counter() - began < 10
    assert monitor.in_background(lambda: 7) == 7  # what stopped the work before does not stop this
    with pytest.raises(ZeroDivisionError):
        Monitor(0, None, 1, 1 << 40).in_background(lambda: 1 / 0)


def test_what_watches_looks_again_when_the_time_is_up(monkeypatch):
    monitor = Monitor(0, 2.0, 1, 1 << 40)
    now = [0.0, 1.97, 1.9999, 2.5]
    monkeypatch.setattr(monitor, "seconds_of_work", lambda: now[0])
    found = [(now.__setitem__(0, second), monitor.until_next_look())[1] for second in list(now)]
    assert found == pytest.approx([0.05, 0.03, 0.001, 0.001])
    assert Monitor(0, None, 1, 1 << 40).until_next_look() == 0.05


def test_seconds_of_compiling_do_not_count():
    monitor = Monitor(0, 0.2, 1, 1 << 40)

    def compile_first(worked):
        with NOTICE.while_compiling():
            time.sleep(0.4)
        time.sleep(worked)

    assert not monitor.run_function(lambda _: compile_first(0.0), np.zeros(1, np.int64), lambda: 0)
    assert monitor.run_function(lambda _: compile_first(0.5), np.zeros(1, np.int64), lambda: 0)
    assert monitor.stopped == "time"


FIRST_FOREST = """
import numpy as np
from dtnumba import RandomForestClassifier
X = np.random.default_rng(0).normal(size=(300, 4))
print(RandomForestClassifier(5, max_seconds=0.5, random_state=0).fit(X, X[:, 0] > 0).n_estimators_)
"""


@only_compiled
def test_a_first_forest_has_the_time_that_it_is_given(run_python, tmp_path):
    """Its code takes seconds to compile."""
    environment = {"NUMBA_CACHE_DIR": tmp_path, "DTNUMBA_QUIET": 1}
    assert run_python(FIRST_FOREST, **environment).split() == ["5"]


@kernel_type
class Wait(NamedTuple):
    """A task whose code is nowhere but in the process that compiled it."""

    n: int

    def run(self, worker):
        pass


@pytest.mark.skipif(not COMPILED, reason="interpreted, nothing is compiled")
def test_the_first_fit_says_once_that_it_compiles(capsys):
    halt, told = np.zeros(1, np.int64), []
    Monitor(told.append, None, 1, 1).run_until(Wait(1), 1, halt)
    assert "compiling" not in capsys.readouterr().err  # a callable is told of progress alone
    assert {type(one) for one in told} == {Progress}
    for task, n_times in ((Wait(np.ones(2)), 1), (Wait(np.ones(2)), 0)):
        monitor = Monitor(1, None, 1, 1)
        monitor.run_until(task, 1, halt)
        monitor.run_until(Wait(1.5), 1, halt)
        err = capsys.readouterr().err
        assert err.count("compiling") == n_times
        assert err.startswith("compiling") == (n_times == 1)


def forest(stage, answer, told=None):
    """A forest whose callback gives an answer in a stage."""

    def listen(progress):
        if told is not None:
            told.append(progress.stage)
        return answer() if progress.stage == stage else None

    return RandomForestClassifier(12, random_state=0, oob_score=True, verbose=listen)


def test_a_callback_may_stop_the_votes_and_all_trees_stay():
    X, y = table()
    told = []
    model = forest("out of bag", lambda: False, told)
    with pytest.warns(UserWarning, match="Out-of-bag results are NaN: the work was stopped"):
        model.fit(X, y)
    assert told[-1] == "out of bag"
    assert np.isnan(model.oob_score_)
    assert np.isnan(model.oob_decision_function_).all()
    assert check(model.trees_, 6).n_trees == 12
    model.set_params(warm_start=True, verbose=0)
    with pytest.warns(UserWarning, match="does not fit new trees"):
        model.fit(X, y)
    assert model.oob_score_ == RandomForestClassifier(12, random_state=0, oob_score=True).fit(X, y).oob_score_


@pytest.mark.parametrize("stage", ["trees", "out of bag"])
def test_ctrl_c_keeps_the_trees_and_a_callbacks_error_keeps_the_model_as_it_was(stage):
    X, y = table()

    def press():
        raise KeyboardInterrupt

    def fail():
        raise ZeroDivisionError

    model = forest(stage, press)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert hasattr(model, "trees_") == (stage == "out of bag")
    assert not hasattr(model, "oob_score_")
    model = forest(stage, fail)
    with pytest.raises(ZeroDivisionError):
        model.fit(X, y)
    assert not hasattr(model, "trees_")


def test_votes_are_counted_where_a_stop_ended_growth():
    """So fitting as many trees again gives the same results."""
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(20_000, 6)), generator.integers(0, 2, 20_000)
    params = {"random_state": 0, "oob_score": True, "max_depth": 8}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # few trees: some rows are drawn by all
        stopped = RandomForestClassifier(3000, verbose=lambda one: one.done < 12, **params).fit(X, y)
        whole = RandomForestClassifier(stopped.n_estimators_, **params).fit(X, y)
    assert 12 <= stopped.n_estimators_ < 3000
    assert np.array_equal(stopped.oob_decision_function_, whole.oob_decision_function_, equal_nan=True)


@contextlib.contextmanager
def interrupted(after):
    """Press Ctrl-C so many seconds after the body begins; it must be heard soon, while the body works for long."""
    pressed = []

    def press():
        pressed.append(time.perf_counter())
        _thread.interrupt_main()

    timer = threading.Timer(after, press)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            yield
        assert time.perf_counter() - pressed[0] < 1.0
    finally:
        timer.cancel()


def noise(n_rows, n_columns):
    generator = np.random.default_rng(0)
    return generator.normal(size=(n_rows, n_columns)), generator.integers(0, 2, n_rows)


@only_compiled
def test_ctrl_c_ends_a_tree_with_any_number_of_children_and_the_model_stays():
    """The whole tree takes seconds."""
    X, y = noise(60_000, 10)
    model = DecisionTreeClassifier(numeric_split="interval").fit(X[:300], y[:300])
    trees = model.trees_
    # Compiles what large tables take, which hears nothing
    DecisionTreeClassifier(numeric_split="interval", max_depth=2).fit(X, y)
    with interrupted(after=0.5):
        model.fit(X, y)
    assert model.trees_ is trees
    assert model.fit(X[:300], y[:300]).score(X[:300], y[:300]) == 1.0


@only_compiled
def test_time_ends_a_tree_with_any_number_of_children_in_a_forest():
    X, y = noise(100_000, 10)
    params = {"numeric_split": "interval", "n_jobs": 1, "random_state": 0}
    RandomForestClassifier(1, **params).fit(X[:300], y[:300])
    began = time.perf_counter()
    with pytest.raises(TimeoutError, match="no tree was finished"):
        RandomForestClassifier(1, max_seconds=0.5, **params).fit(X, y)
    assert time.perf_counter() - began < 2.0


@only_compiled
def test_ctrl_c_ends_the_pruning_of_c45(monkeypatch):
    X, y = noise(120_000, 3)
    model = C45Classifier(min_objects=1, mdl_correction=False).fit(X[:300], y[:300])
    trees = model.trees_

    def late(self, data, trees, drawn=None):
        with interrupted(after=0.3):
            prunable.Prunable._pruned(self, data, trees, drawn)
        raise ZeroDivisionError

    monkeypatch.setattr(C45Classifier, "_pruned", late)
    with pytest.raises(ZeroDivisionError):
        model.fit(X, y)
    assert model.trees_ is trees


@only_compiled
def test_ctrl_c_ends_the_choice_of_rules():
    generator = np.random.default_rng(0)
    covered = [np.sort(generator.choice(20_000, 4000, replace=False)) for _ in range(800)]
    label, code = np.zeros(800, np.int64), generator.integers(0, 2, 20_000)
    covers = covers_of(covered, label, code, np.ones(20_000), 2)
    few = covers_of([rows[:20] for rows in covered[:20]], label[:20], code, np.ones(20_000), 2)
    shortest_subsets(few, np.ones(20), 0, 1)
    with interrupted(after=0.1):
        shortest_subsets(covers, generator.random(800), 0, 1)


def test_what_stops_the_work_is_raised_and_other_threads_are_not_asked():
    halt, given = np.zeros(1, np.int64), []

    def work(entitled):
        given.append(entitled)
        while halt[0] == 0:
            time.sleep(0.01)

    with interrupted(after=0.1):
        run_heeding(work, 1 << 40, halt)
    assert (halt[0], given) == (1, [True])
    other = threading.Thread(target=run_heeding, args=(work, 1 << 40, halt))
    other.start()
    other.join()
    assert given == [True, False]
    run_heeding(given.append, 1, halt)
    assert given == [True, False, False]


@only_compiled
@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_ends_a_tree_of_two_children_whoever_grows_it(workers):
    """The whole tree takes seconds, and so does each of its first nodes."""
    X, y = noise(600_000, 10)
    model = DecisionTreeClassifier(n_jobs=workers).fit(X[:6_000], y[:6_000])
    trees = model.trees_
    with interrupted(after=0.25):
        model.fit(X, y)
    assert model.trees_ is trees
    assert model.fit(X[:300], y[:300]).score(X[:300], y[:300]) == 1.0


@pytest.mark.parametrize("workers", [1, 2])
def test_work_without_a_flag_is_left_to_itself(workers):
    done = []

    def work(is_main):
        time.sleep(2.0)
        done.append(is_main)

    with interrupted(after=0.2):
        run_heeding(work, 1 << 40, workers=workers)
    assert not done
    run_heeding(done.append, 10)
    assert done == [False]
    with pytest.raises(ZeroDivisionError):
        run_heeding(lambda _: 1 / 0, 1 << 40)


@only_compiled
def test_ctrl_c_ends_a_decision_list():
    """Each of its terms takes seconds."""
    X, y = noise(300_000, 12)
    model = DecisionListClassifier(max_tests=3).fit(X[:300], y[:300])
    rules = model.rules_
    with interrupted(after=1.0):
        model.fit(X, y)
    assert model.rules_ is rules
