"""What the package shows: its names, its version, and how little importing it takes along."""

import ast
import re
from importlib.util import find_spec
from pathlib import Path

import dtnumba

SOURCE = Path(find_spec("dtnumba").origin)


def public_names(source):
    """Return the names a module binds, as far as they do not start with an underscore, and its version."""
    names = set()
    for node in ast.parse(source.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets}
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
    return {name for name in names if not name.startswith("_")} | {"__version__"}


def test_all_lists_the_public_names():
    assert set(dtnumba.__all__) == public_names(SOURCE)
    assert list(dtnumba.__all__) == sorted(dtnumba.__all__)


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
