"""The soak finds nothing in some seconds of small fits, and would find what is wrong."""

import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
pytestmark = pytest.mark.skipif(not BENCHMARKS.exists(), reason="the benchmarks are not here")


@pytest.fixture(scope="module")
def soak():
    """Import the modules of the soak, which stand beside each other."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        import soak
        import soak_checks
        import soak_draw
        import soak_peer  # noqa: F401
    finally:
        sys.path.remove(str(BENCHMARKS))
    soak.draw, soak.checks = soak_draw, soak_checks
    return soak


def first_case(soak, name, **parameters):
    """Return a small case of an estimator on an array without weights."""
    for seed in range(4000):
        kind = soak.draw.drawn_kind(seed, small=True)
        if kind.name == name and kind.plain and kind.weight == "none" and kind.target in {"few", "normal"}:
            case = soak.draw.drawn_case(kind, seed, small=True).without(*kind.parameters)
            if len(case.X) > 20:
                case.kind.parameters.update(parameters)
                return case
    raise AssertionError(name)


def test_a_few_kinds_of_small_fits_pass():
    done = subprocess.run(
        [sys.executable, BENCHMARKS / "soak.py", "--only", "interpreted", "--seed", "2000", "--kinds", "28"],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "28 kinds" in done.stdout
    assert "0 findings" in done.stdout


def test_every_estimator_and_every_parameter_is_drawn(soak):
    drawn = {name: set() for name in soak.draw.estimators()}
    for seed in range(120 * len(drawn)):
        kind = soak.draw.drawn_kind(seed, small=True)
        drawn[kind.name] |= {*kind.parameters, *kind.asked}
    for name, estimator in soak.draw.estimators().items():
        assert {one.name for one in fields(estimator)} - soak.draw.UNTOUCHED <= drawn[name], name


def test_the_same_seeds_draw_the_same(soak):
    cases = [soak.draw.drawn_case(soak.draw.drawn_kind(5, small=False), 7, small=False) for _ in range(2)]
    assert str(cases[0]) == str(cases[1])
    assert cases[0].X.tobytes() == cases[1].X.tobytes()


@pytest.mark.parametrize(
    ("check", "spoil"),
    [
        ("probabilities", lambda trees: trees._replace(value=trees.value * 2.0)),
        ("shuffled_rows", lambda trees: trees._replace(threshold=trees.threshold + 1e-9)),
        ("threads", lambda trees: trees._replace(gain=trees.gain + 1e-12)),
        ("repeated_rows", lambda trees: trees._replace(value=trees.value[:, ::-1].copy())),
        ("limits", lambda trees: trees._replace(n_samples=np.ones_like(trees.n_samples))),
    ],
)
def test_what_is_wrong_is_found(soak, check, spoil):
    from dataclasses import replace

    from dtnumba.prediction.tree_view import TreeView

    limited = {"min_samples_leaf": 2} if check == "limits" else {}
    case = first_case(soak, "DecisionTreeClassifier", **limited)
    if check == "repeated_rows":
        case = replace(case, kind=replace(case.kind, weight="whole"), weight=np.arange(len(case.X)) % 3 + 1.0)
    model = soak.checks.fitted(case, n_jobs=1)
    assert model.n_nodes_ > 1
    getattr(soak.checks, check)(case, model)
    model.tree_ = TreeView(spoil(model.trees_), case.X.shape[1], [len(model.classes_)])
    with pytest.raises(soak.checks.Wrong):
        getattr(soak.checks, check)(case, model)


def test_only_documented_errors_are_refusals(soak):
    case = first_case(soak, "DecisionTreeClassifier", max_depth=0)
    with pytest.raises(soak.checks.Refused, match="max_depth"):
        soak.checks.fitted(case)
    with pytest.raises(ValueError, match="broadcast") as caught:
        np.zeros(2)[:] = np.zeros(3)
    assert not soak.checks.is_documented(caught.value, "DecisionTreeClassifier")


def test_a_finding_is_made_smaller(soak):
    def of_many_rows(case, model):
        soak.checks.demand(len(case.X) < 6, "six rows or more")

    soak.checks.CHECKS += (of_many_rows,)
    case = first_case(soak, "DecisionTreeClassifier", min_samples_leaf=2)
    try:
        less, small, what = soak.smaller(case, of_many_rows, "", until=float("inf"))
    finally:
        soak.checks.CHECKS = soak.checks.CHECKS[:-1]
    assert len(small.X) == 6
    assert small.kind.parameters == {}
    assert what == "six rows or more"
    assert less.startswith(".without('min_samples_leaf')")
