"""Kernels for a level of processors: found where they fit, refused with one warning where they do not."""

import json
import warnings

import pytest

from dtnumba import warmup
from dtnumba.runtime import portable
from dtnumba.runtime.kernels import COMPILED

STAMP = "a stamp"
FIT = """
import numpy as np
from dtnumba import DecisionListClassifier
X = np.random.default_rng(0).integers(0, 3, size=(300, 3)).astype(float)
model = DecisionListClassifier(categorical_features=[0, 1, 2]).fit(X, X[:, 0] == X[:, 1])
print(model.predict_proba(X).tobytes().hex()[:4000], model.predict(X).sum())
"""


@pytest.fixture(autouse=True)
def _forget():
    portable.usable.cache_clear()
    yield
    portable.usable.cache_clear()


def write(folder, **changed):
    level = portable.known_levels()[0]
    (folder / portable.MANIFEST).write_text(json.dumps(portable.manifest(level, STAMP) | changed))
    return str(folder)


def test_a_folder_that_fits_is_used(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert portable.usable(write(tmp_path), STAMP) == (tmp_path, portable.known_levels()[0])


@pytest.mark.parametrize("name", ["numba", "numpy", "python", "dtnumba", "system"])
def test_another_version_is_refused_with_its_name(tmp_path, name):
    with pytest.warns(RuntimeWarning, match=f"another version or system.*{name}") as told:
        assert portable.usable(write(tmp_path, **{name: "0.0"}), STAMP) is None
    assert len(told) == 1
    assert str(tmp_path) in str(told[0].message)


def test_a_level_that_this_machine_has_not_is_refused(tmp_path):
    with pytest.warns(RuntimeWarning, match="x86-64-v9"):
        assert portable.usable(write(tmp_path, level="x86-64-v9"), STAMP) is None


@pytest.mark.parametrize("text", [None, "", "[1, 2]", '{"level": 3}', "\x00"])
def test_a_folder_that_cannot_be_read_is_refused(tmp_path, text):
    if text is not None:
        (tmp_path / portable.MANIFEST).write_text(text)
    with pytest.warns(RuntimeWarning, match=portable.FOLDER):
        assert portable.usable(str(tmp_path), STAMP) is None


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
def test_portable_kernels_give_the_same_bits_and_leave_nothing_to_compile(run_python, tmp_path):
    folder, first, second, third = (tmp_path / name for name in ("kernels", "first", "second", "third"))
    level = portable.known_levels()[0]
    run_python(
        "from dtnumba import warmup\n"
        f"warmup('DecisionListClassifier', jobs=2, level={level!r}, out={str(folder)!r}, verbose=False)",
        NUMBA_CACHE_DIR=first,
    )
    assert not list(first.rglob("*.nbc"))  # the own cache stays as it is
    (tmp_path / "checked").mkdir()
    check = "from dtnumba import warmup\nprint(warmup('DecisionListClassifier', check=True, verbose=False))"
    assert run_python(check, NUMBA_CACHE_DIR=tmp_path / "checked", DTNUMBA_KERNELS=folder).strip() == "[]"
    manifest = folder / portable.MANIFEST
    kept = manifest.read_text()
    manifest.write_text(kept.replace(level, "another"))
    with pytest.raises(ValueError, match="another version or level"):
        warmup("DecisionListClassifier", level=level, out=folder)
    manifest.write_text(kept)
    compiled = run_python(FIT, NUMBA_CACHE_DIR=second, DTNUMBA_QUIET=1)
    loaded = run_python(FIT, NUMBA_CACHE_DIR=third, DTNUMBA_KERNELS=folder)
    assert compiled == loaded
    assert not list(third.rglob("*.nbc"))
    for entry in folder.glob("*.nbc"):
        entry.write_bytes(entry.read_bytes()[:100])
    torn = run_python(FIT, NUMBA_CACHE_DIR=third, DTNUMBA_KERNELS=folder, DTNUMBA_QUIET=1, warnings="ignore")
    assert torn == compiled
