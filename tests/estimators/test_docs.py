"""``help`` shows every parameter of every estimator, with its default, and each is described once in the source."""

import inspect
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

import dtnumba

PUBLIC = [getattr(dtnumba, name) for name in dtnumba.__all__]
ESTIMATORS = [one for one in PUBLIC if isinstance(one, type) and is_dataclass(one) and hasattr(one, "fit")]
pytestmark = pytest.mark.small


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_parameter_is_documented_with_its_default(estimator):
    assert len(ESTIMATORS) >= 14
    doc = inspect.getdoc(estimator)
    assert "\nParameters\n----------\n" in doc
    assert "\nAttributes\n----------\n" in doc
    lines = doc.splitlines()
    for one in fields(estimator):
        heads = [at for at, line in enumerate(lines) if line.startswith(f"{one.name} : ")]
        assert len(heads) == 1, one.name
        assert lines[heads[0]].endswith(f", default={one.default!r}")
        assert lines[heads[0] + 1].startswith("    ")


def test_no_docstring_sends_the_reader_elsewhere():
    for estimator in ESTIMATORS:
        assert "Params" not in estimator.__doc__


def test_what_a_base_describes_is_not_written_again():
    source = Path(inspect.getfile(dtnumba.RandomForestClassifier)).read_text(encoding="utf-8")
    assert "max_depth : " not in source
    assert "Longest path" in dtnumba.RandomForestClassifier.__doc__


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_attribute_is_described_once(estimator):
    doc = inspect.getdoc(estimator)
    section = doc.partition("\nAttributes\n----------\n")[2].partition("\n\n")[0].splitlines()
    names = [name.strip() for line in section if line[0] != " " for name in line.partition(" : ")[0].split(",")]
    assert len(set(names)) == len(names)
    assert {"n_features_in_", "feature_names_in_", "categories_", "n_outputs_"} <= set(names)
    assert doc.count("\nExamples\n--------\n") <= 1


def test_a_callback_is_given_a_public_progress():
    told = []
    dtnumba.RandomForestClassifier(2, verbose=told.append, random_state=0).fit([[0], [1], [2], [3]], [0, 0, 1, 1])
    assert all(isinstance(one, dtnumba.Progress) for one in told)
    assert told[-1].done == told[-1].total == 2
