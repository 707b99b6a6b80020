"""``help`` shows every parameter of every estimator, with its default, and each is described once in the source."""

import inspect
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

import dtnumba

PUBLIC = [getattr(dtnumba, name) for name in dtnumba.__all__]
ESTIMATORS = [one for one in PUBLIC if isinstance(one, type) and is_dataclass(one)]
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
