"""What the package shows: its names, its version, and how little importing it takes along."""

import ast
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

import dtnumba

SOURCE = Path(find_spec("dtnumba").origin)


def public_names(source):
    """Return the names that a package shows to who checks types, and its version."""
    shown = [node for node in ast.parse(source.read_text(encoding="utf-8")).body if isinstance(node, ast.If)]
    imports = [node for block in shown for node in block.body]
    return {alias.name for node in imports for alias in node.names} | {"__version__"}


def test_all_lists_the_public_names():
    assert set(dtnumba.__all__) == public_names(SOURCE)
    assert list(dtnumba.__all__) == sorted(dtnumba.__all__)


def test_names_are_where_they_are_said_to_be_and_no_others():
    assert set(dtnumba.__all__) <= set(dir(dtnumba))
    assert {*dtnumba._HOME, "criteria", "export", "information", "pruners", "validation", "__version__"} == set(
        dtnumba.__all__
    )
    with pytest.raises(AttributeError, match="no attribute 'CARTClassifier'"):
        dtnumba.CARTClassifier  # noqa: B018


def test_what_is_not_asked_for_is_not_read(run_python):
    """All modules take 0.1 s. Rooms are there without an import of their own."""
    code = """
import sys, dtnumba
print(*sorted(name for name in sys.modules if name.startswith("dtnumba.")))
dtnumba.RandomForestClassifier
print(dtnumba.criteria.CostGini.__name__)
print(*{"dtnumba.estimators.chaid", "dtnumba.estimators.c45", "dtnumba.validation.cross_validation"} & set(sys.modules))
"""
    assert run_python(code).split() == ["dtnumba.runtime", "dtnumba.runtime.lazy_names", "CostGini"]


def test_every_public_name_says_what_it_is():
    for name in set(dtnumba.__all__) - {"__version__"}:
        assert (getattr(dtnumba, name).__doc__ or "").strip(), name


def test_the_version_is_a_literal():
    """It is read without importing the package."""
    (written,) = re.findall(r'^__version__ = "([^"]+)"$', SOURCE.read_text(encoding="utf-8"), re.MULTILINE)
    assert written == dtnumba.__version__
    assert re.fullmatch(r"\d+\.\d+\.\d+(rc\d+)?", written)


def test_importing_it_imports_nothing_that_numba_does_not(run_python):
    code = """
import sys, numba
before = set(sys.modules)
import dtnumba
added = {name.partition(".")[0] for name in set(sys.modules) - before}
print(*sorted(added - set(sys.stdlib_module_names) - {"numpy", "numba", "llvmlite", "__mp_main__"}))
"""
    assert run_python(code).split() == ["dtnumba"]


def test_growing_and_asking_a_tree_of_arrays_imports_nothing_more(run_python):
    """Nothing optional, that is: Numba may take SciPy along, for its linear algebra."""
    code = """
import sys
from dtnumba import DecisionTreeClassifier
DecisionTreeClassifier(n_jobs=1).fit([[0.0], [1.0]], ["no", "yes"]).predict([[0.5]])
print(*{"sklearn", "pandas", "polars", "pyarrow", "joblib", "matplotlib"} & set(sys.modules))
"""
    assert run_python(code).split() == []


@pytest.mark.parametrize("name", ["", "export", "pruners", "validation"])
def test_dir_lists_what_is_public(name, run_python):
    room = f"dtnumba.{name}".rstrip(".")
    code = (
        f"import dtnumba; room = {room}; print(*[one for one in dir(room) if not one.startswith('__')], *room.__all__)"
    )
    shown = run_python(code).split()
    listed = [one for one in shown if not one.startswith("__")]
    assert sorted(listed) == sorted([*set(listed)] * 2)
    assert not {"lazy_names", "_HOME", "TYPE_CHECKING"} & set(shown)


def test_help_names_all_that_is_public_before_anything_else():
    head = dtnumba.__doc__.partition("The rooms")[0]
    assert [name for name in dtnumba.__all__ if name not in head and name != "__version__"] == []
