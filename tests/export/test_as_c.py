"""C source, compiled, says what the model says, to the bit."""

import shutil
import subprocess

import numpy as np
import pytest
from exported import ALL_KINDS, KINDS, made, of_any_table

from dtnumba import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreesRegressor, export
from dtnumba.export.languages import c_tables

pytestmark = pytest.mark.skipif(not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="there is no C compiler")
RULES = {"rules", "rules, votes", "decision list"}


@pytest.mark.parametrize("name", ALL_KINDS)
def test_it_says_what_the_model_says(name):
    model, X = made(name)
    if name in RULES:
        with pytest.raises(export.ExportError, match="this format has no nodes for"):
            export.c(model)
    else:
        assert export.verify(export.c(model), model, X)


@of_any_table(set(KINDS) - RULES)
def test_it_does_so_for_any_table(name, model, X):
    assert export.verify(export.c(model), model, X)


@pytest.mark.parametrize("name", ["tree", "fractional", "forest, two classes", "surrogates, numbers"])
def test_large_tables_are_strings(name, monkeypatch):
    monkeypatch.setattr(c_tables, "MOST_NUMBERS", 0)
    model, X = made(name)
    source = export.c(model)
    assert '= {\n"\\' in source
    assert export.verify(source, model, X)
    big_endian = type(source)(source.replace("__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__", "0"))
    vars(big_endian).update({key: value for key, value in vars(source).items() if key != "_libraries"})
    assert big_endian != source
    assert export.verify(big_endian, model, X)


@pytest.mark.parametrize("name", ["tree", "fractional", "surrogates", "ranges", "forest, two outputs", "c45, laplace"])
def test_no_compiler_warns(name, tmp_path):
    source = export.c(made(name)[0], "some_name")
    (tmp_path / "some_name.c").write_text(source)
    (tmp_path / "some_name.h").write_text(source.header)
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))))
    command = [compiler, "-std=c99", "-O2", "-Wall", "-Wextra", "-pedantic", "-Werror", "-c", "some_name.c"]
    done = subprocess.run(command, check=False, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "#include" not in source.replace("#include <stdint.h>", "")


def test_thresholds_are_in_single_precision_where_that_is_exact():
    X = np.arange(8.0)[:, None]
    assert "#define STRIDE 3" in export.c(DecisionTreeRegressor().fit(X, X[:, 0]))
    assert "#define STRIDE 4" in export.c(DecisionTreeRegressor().fit(X / 10, X[:, 0]))


def test_its_size_is_linear_in_the_nodes(monkeypatch):
    monkeypatch.setattr(c_tables, "MOST_NUMBERS", 0)
    X = np.random.default_rng(0).normal(size=(300, 3))
    sizes = []
    for n in (1, 4):
        forest = ExtraTreesRegressor(n_estimators=n, random_state=0).fit(X, X[:, 0])
        sizes.append(len(export.c(forest)) / forest.trees_.n_nodes)
    assert sizes[1] < 1.1 * sizes[0]


def test_names_of_any_kind_are_shown_in_a_comment():
    X = np.array([["*/ ??/", "x"], ["b\n", "y"]], object)
    tree = DecisionTreeClassifier().fit(X, ["*/", "é"])
    source = export.c(tree)
    assert source.count("*/") == 1
    assert export.verify(source, tree, X)
    with pytest.raises(ValueError, match="name='a b': must be a name in C"):
        export.c(tree, "a b")
