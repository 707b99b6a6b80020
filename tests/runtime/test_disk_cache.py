"""Compiled kernels on disk: found again, never stale, never in the way.

Where a process of its own is needed, it runs a copy of the package reduced to one kernel over one criterion, which
compiles in half a second.
"""

import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from numba import float64, types

import dtnumba
from dtnumba.criteria.classification import Gini
from dtnumba.runtime import disk_cache
from dtnumba.runtime.kernels import COMPILED, kernel

PACKAGE = Path(dtnumba.__file__).parent


def with_imports(*names):
    """Return these modules of the package and all that they import of it."""
    found, open_ = set(), list(names)
    while open_:
        name = open_.pop().replace(".", "/")
        room = name.partition("/")[0]
        files = {f"{room}/__init__.py", f"{name}.py" if (PACKAGE / f"{name}.py").exists() else f"{name}/__init__.py"}
        for file in files - found:
            found.add(file)
            open_ += re.findall(r"^ *from dtnumba\.([\w.]+) import", (PACKAGE / file).read_text(), re.MULTILINE)
            open_ += [
                f"runtime.{part}"
                for part in re.findall(
                    r"^ *from dtnumba.runtime import (\w+)$", (PACKAGE / file).read_text(), re.MULTILINE
                )
            ]
    return sorted(found)


NEEDED = with_imports("runtime.kernels", "criteria")
PROBE = """
from dtnumba.runtime.kernels import kernel
from dtnumba.criteria.contract import impurity_of

@kernel
def probe(criterion, stats, weight):
    return impurity_of(criterion, stats, weight)
"""
# Prints the answer, then how often the kernel was found on disk and how often it was compiled.
ASK = """
from dtnumba.criteria import Gini
from dtnumba.probe import probe
print(probe(Gini(), (1.0, 3.0), 4.0), sum(probe.stats.cache_hits.values()), sum(probe.stats.cache_misses.values()))
"""
RIGHT, EDITED = "0.375", "1.375"


class Copy:
    """A small copy of the package, its own cache directory and a way to run code on it."""

    def __init__(self, folder, run_python):
        self.folder, self.cache, self._run = folder, folder / "cache", run_python
        self.package = folder / "site" / "dtnumba"
        self.package.mkdir(parents=True)
        for file in NEEDED:
            (self.package / file).parent.mkdir(exist_ok=True)
            shutil.copy(PACKAGE / file, self.package / file)
        (self.package / "__init__.py").touch()
        (self.package / "probe.py").write_text(PROBE)

    def ask(self, code=ASK, **environment):
        environment = {"NUMBA_CACHE_DIR": self.cache, "PYTHONDONTWRITEBYTECODE": "1"} | environment
        return self._run(code, path=[self.folder / "site"], **environment).split()

    def edit(self):
        """Change the criterion, which stands in another file than the kernel."""
        source = self.package / "criteria" / "classification.py"
        text = source.read_text()
        assert text.count("1.0 - squares / (weight * weight)") >= 1
        source.write_text(text.replace("1.0 - squares / (weight * weight)", "2.0 - squares / (weight * weight)"))

    def entries(self, root=None):
        return sorted((root or self.cache).rglob("*.nbc"))

    def block_its_own_folder(self):
        """Put a file where the package would make a folder; permissions would not stop a superuser."""
        (self.package / "__pycache__").touch()


@pytest.fixture
def copy(tmp_path, run_python):
    return Copy(tmp_path, run_python)


def test_a_second_process_compiles_nothing(copy):
    assert copy.ask() == [RIGHT, "0", "1"]
    entries = copy.entries()
    assert copy.ask() == [RIGHT, "1", "0"]
    assert copy.entries() == entries
    assert len(entries) == 1


def test_an_edit_of_another_module_takes_effect(copy):
    copy.ask()
    copy.edit()
    assert copy.ask() == [EDITED, "0", "1"]


def test_an_upgrade_under_a_running_process_does_not_stamp_the_old_code_as_new(copy):
    swap = f"""
import dtnumba.probe
from pathlib import Path
source = Path({str(copy.package / "criteria" / "classification.py")!r})
source.write_text(source.read_text().replace("1.0 - squares / (w", "2.0 - squares / (w"))
"""
    assert copy.ask(swap + ASK) == [RIGHT, "0", "1"]
    assert copy.ask() == [EDITED, "0", "1"]


def test_kernels_compiled_without_bounds_checks_are_not_used_with_them(copy):
    copy.ask()
    assert copy.ask(NUMBA_BOUNDSCHECK=1) == [RIGHT, "0", "1"]


def test_kernels_compiled_under_other_settings_of_numba_have_other_names(monkeypatch):
    before = disk_cache.settings()
    monkeypatch.setattr(disk_cache.config, "OPT", 0)
    assert disk_cache.settings() != before


def double(x):
    return 2.0 * x


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the folder that kernels made in this test are kept in."""
    monkeypatch.setattr(disk_cache, "cache_folder", lambda: tmp_path)
    return tmp_path


def hits_and_misses():
    """Call a kernel as a new process would; return how often it was found on disk and how often compiled."""
    again = kernel(double)
    assert again(21.0) == 42.0
    return sum(again.stats.cache_hits.values()), sum(again.stats.cache_misses.values())


def leave_nothing(entry):
    entry.write_bytes(b"")


def leave_half(entry):
    entry.write_bytes(entry.read_bytes()[: entry.stat().st_size // 2])


def flip_one_bit(entry):
    stored = bytearray(entry.read_bytes())
    stored[len(stored) // 2] ^= 1
    entry.write_bytes(stored)


def store_something_else(entry):
    stored = pickle.dumps(["no", "kernel"])
    entry.write_bytes(disk_cache._checksum(stored) + stored)


@pytest.mark.parametrize("damage", [leave_nothing, leave_half, flip_one_bit, store_something_else])
def test_a_damaged_entry_is_compiled_anew_and_replaced(folder, damage):
    assert hits_and_misses() == (0, 1)
    damage(*folder.iterdir())
    assert hits_and_misses() == (0, 1)
    assert hits_and_misses() == (1, 0)


def test_an_entry_that_can_be_neither_read_nor_replaced_does_not_matter(folder):
    hits_and_misses()
    (entry,) = folder.iterdir()
    entry.unlink()
    entry.mkdir()
    assert hits_and_misses() == (0, 1)
    assert list(folder.iterdir()) == [entry]


def test_a_folder_that_vanishes_does_not_matter(folder):
    folder.rmdir()
    assert hits_and_misses() == (0, 1)


def test_flushing_forgets_the_entries_of_one_kernel(folder):
    hits_and_misses()
    (folder / "other.kernel-0123.nbc").touch()
    disk_cache.KernelCache(double).flush()
    assert [entry.name for entry in folder.iterdir()] == ["other.kernel-0123.nbc"]


class Roots:
    """Where a package of another folder would look for room, in this order; each can be blocked by a file."""

    def __init__(self, folder, monkeypatch):
        self.chosen, self.package = folder / "chosen", folder / "package"
        self.home, self.temporary = folder / "home", folder / "temporary"
        for place in (self.chosen, self.package, self.home, self.temporary):
            place.mkdir()
        monkeypatch.setattr(disk_cache.config, "CACHE_DIR", str(self.chosen))
        monkeypatch.setattr(disk_cache, "PACKAGE", self.package)
        monkeypatch.setattr(Path, "home", lambda: self.home)
        monkeypatch.setattr(tempfile, "tempdir", str(self.temporary))

    def found(self):
        return disk_cache.cache_folder.__wrapped__()

    def block(self, place):
        """Put a file where the folder is; permissions would not stop a superuser."""
        shutil.rmtree(place)
        place.touch()


@pytest.fixture
def roots(tmp_path, monkeypatch):
    return Roots(tmp_path, monkeypatch)


def test_where_a_folder_cannot_be_written_the_next_one_is_used(roots):
    for place in (roots.chosen, roots.package, roots.home, roots.temporary):
        assert roots.found().is_relative_to(place)
        roots.block(place)
    with pytest.warns(RuntimeWarning, match="NUMBA_CACHE_DIR"):
        assert roots.found() is None


def test_two_copies_of_the_package_do_not_share_a_chosen_folder(roots, monkeypatch):
    found = roots.found()
    monkeypatch.setattr(disk_cache, "PACKAGE", roots.home)
    assert roots.found().parent != found.parent


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="folders have no owner")
def test_a_folder_that_others_may_write_to_is_not_read_from(roots):
    roots.block(roots.chosen)
    roots.block(roots.package)
    found = roots.found()
    assert found.stat().st_mode & 0o077 == 0
    found.parent.chmod(0o777)
    assert roots.found().is_relative_to(roots.temporary)


def test_the_oldest_versions_are_swept(roots):
    newest = roots.found()
    newest.rmdir()
    old = [newest.with_name(f"kernels-{age}") for age in range(5)]
    for age, folder in enumerate(old):
        folder.mkdir()
        (folder / "kernel.nbc").touch()
        os.utime(folder, (1e9 - age, 1e9 - age))
    assert roots.found() == newest
    assert sorted(newest.parent.iterdir()) == sorted([newest, *old[: disk_cache.KEPT_STAMPS - 1]])


COUNT_WARNINGS = """
import tempfile, warnings
tempfile.tempdir = {blocked!r}
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from dtnumba.criteria import Gini
    from dtnumba.probe import probe
    print(probe(Gini(), (1.0, 3.0), 4.0), probe(Gini(), (2.0, 2.0, 4.0), 8.0))
print(len(caught), caught[0].category.__name__, "NUMBA_CACHE_DIR" in str(caught[0].message))
"""


def test_without_any_folder_kernels_work_after_one_warning(copy):
    copy.block_its_own_folder()
    blocked = str(copy.package / "__pycache__" / "below a file")
    printed = copy.ask(COUNT_WARNINGS.format(blocked=blocked), NUMBA_CACHE_DIR=blocked, HOME=blocked)
    assert printed == [RIGHT, "0.625", "1", "RuntimeWarning", "True"]
    assert copy.entries(copy.folder) == []


def test_processes_that_compile_at_once_do_not_disturb_each_other(copy):
    variables = os.environ | {"PYTHONPATH": str(copy.folder / "site"), "NUMBA_CACHE_DIR": str(copy.cache)}
    running = [
        subprocess.Popen([sys.executable, "-c", ASK], env=variables, cwd=copy.folder, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    answers = [process.communicate(timeout=120)[0].split() for process in running]
    assert [answer[0] for answer in answers] == [RIGHT] * 4
    assert [process.returncode for process in running] == [0] * 4
    assert len(copy.entries()) == 1
    assert not list(copy.cache.rglob("*.tmp"))
    assert copy.ask() == [RIGHT, "1", "0"]


@pytest.mark.skipif(sys.platform == "win32", reason="files cannot be kept small there")
def test_a_full_disk_costs_no_fit(copy):
    """A disk on which no byte can be written, so nothing is kept, and no half of a file is left behind."""
    full = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n" + ASK
    answers = [copy.ask(full) for _ in range(2)]
    assert [answer[0] for answer in answers] == [RIGHT] * 2
    assert copy.entries() == []
    assert not list(copy.cache.rglob("*.tmp"))
    assert not list(copy.cache.rglob("*.lock"))
    assert copy.ask() == [RIGHT, "0", "1"]


def test_a_package_without_sources_has_no_stamp(tmp_path):
    """As in a zip file: nothing would tell two versions apart, so nothing may be stored."""
    assert disk_cache.stamp_of(tmp_path) is None


def test_a_stamp_tells_a_moved_border_between_files_apart(tmp_path):
    (tmp_path / "a.py").write_text("xy")
    (tmp_path / "b.py").write_text("z")
    before = disk_cache.stamp_of(tmp_path)
    (tmp_path / "a.py").write_text("x")
    (tmp_path / "b.py").write_text("yz")
    assert disk_cache.stamp_of(tmp_path) != before


def test_types_of_equal_names_in_two_modules_are_told_apart():
    twin = type("Gini", (Gini,), {"__slots__": (), "__module__": "dtnumba.elsewhere"})
    ours, theirs = types.NamedTuple((), Gini), types.NamedTuple((), twin)
    assert repr(ours) == repr(theirs)
    assert disk_cache._description(ours) != disk_cache._description(theirs)


def test_kernels_over_types_from_elsewhere_are_not_stored():
    users = type("Gini", (Gini,), {"__slots__": (), "__module__": "__main__"})
    nested = types.Tuple((float64, types.Tuple((types.NamedTuple((), users), float64))))
    assert disk_cache._description(types.NamedTuple((), users)) is None
    assert disk_cache._description(nested) is None
    assert disk_cache._description(types.unicode_type) is None


class DispatcherOfAnotherNumba:
    def py_func(self):
        pass


def test_a_numba_that_keeps_its_cache_elsewhere_is_left_uncached_with_a_warning():
    dispatcher = DispatcherOfAnotherNumba()
    with pytest.warns(RuntimeWarning, match="does not know it"):
        assert disk_cache.keep_on_disk(dispatcher) is dispatcher


USERS = """
import os
from pathlib import Path
from typing import NamedTuple
from dtnumba.criteria import Gini, resolve_criterion
from dtnumba.probe import probe
from beside import function

class Mine(NamedTuple):
    def impurity(self, stats, weight):
        return CONSTANT * stats[0] / weight

names = {"__name__": "__main__"}
exec("def cell(stats, weight): return CONSTANT * stats[0] / weight", names)

def entries():
    return sorted(Path(os.environ["NUMBA_CACHE_DIR"]).rglob("*.nbc"))

probe(Gini(), (1.0, 3.0), 4.0)
before = entries()
for criterion in (Mine(), names["cell"], function):
    print(probe(resolve_criterion(criterion, "classes", 4.0), (1.0, 3.0), 4.0))
print(len(before), entries() == before)
"""
BESIDE = "def function(stats, weight): return CONSTANT * stats[0] / weight"


def test_an_edit_of_a_users_criterion_takes_effect_and_leaves_nothing_behind(copy):
    """A class of the script, a function as of a notebook's cell, and a function of a module beside the script."""
    for constant, answer in (("2", "0.5"), ("4", "1.0")):
        (copy.folder / "site" / "beside.py").write_text(BESIDE.replace("CONSTANT", constant))
        assert copy.ask(USERS.replace("CONSTANT", constant)) == [answer] * 3 + ["1", "True"]


READ_ONLY = """
import numpy as np
from dtnumba.runtime import disk_cache
if READ_ONLY:
    disk_cache._usable = lambda folder, private: private and (folder.mkdir(parents=True, exist_ok=True) or True)
missed = []
disk_cache.ON_MISS = missed.append
from dtnumba import DecisionTreeClassifier
X = np.random.default_rng(0).normal(size=(100, 3))
DecisionTreeClassifier().fit(X, X[:, 0] > 0).predict(X)
print(len(missed), disk_cache.cache_folder())
"""


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
def test_what_others_compiled_is_loaded_from_a_folder_that_cannot_be_written(run_python, tmp_path):
    settings = {"NUMBA_CACHE_DIR": tmp_path / "image", "HOME": tmp_path / "home", "DTNUMBA_QUIET": 1}
    missed, _, folder = run_python("READ_ONLY = False" + READ_ONLY, **settings).partition(" ")
    assert int(missed) > 0
    assert "image" in folder
    missed, _, folder = run_python("READ_ONLY = True" + READ_ONLY, **settings).partition(" ")
    assert int(missed) == 0
    assert "image" not in folder
