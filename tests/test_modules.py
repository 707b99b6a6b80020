"""The tests of a module run in a process of their own, and are told of as if they had not."""

import os
import subprocess
import sys
from pathlib import Path

import modules
import pytest

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forks on Linux only")

MODULES = {
    "test_one": "import os\ndef test_tells_its_process():\n    open(f'{os.getpid()}.process', 'w').close()\n",
    "test_other": "import os\ndef test_tells_its_process():\n    open(f'{os.getpid()}.process', 'w').close()\n",
    "test_wrong": "def test_is_wrong():\n    print('said aloud')\n    assert 1 == 2\n",
    "test_last": "def test_needs_a_folder(tmp_path):\n    assert tmp_path.exists()\n",
}
DEATH = """
import os, signal

def test_dies():
    os.kill(os.getpid(), signal.SIGSEGV)

def test_never_runs():
    pass
"""


def run(folder, texts, *options):
    (folder / "conftest.py").write_text("from modules import pytest_addoption, pytest_runtestloop\n")
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", *options]
    paths = os.pathsep.join([str(Path(modules.__file__).parent), str(folder)])
    environment = os.environ | {"PYTHONPATH": paths, "COLUMNS": "200"}
    return subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder, env=environment)


def test_each_module_has_a_process_and_failures_are_shown(tmp_path):
    done = run(tmp_path, MODULES)
    assert done.returncode == 1
    assert "1 failed, 3 passed" in done.stdout
    assert "assert 1 == 2" in done.stdout
    assert "said aloud" in done.stdout
    assert len(list(tmp_path.glob("*.process"))) == 2
    places = [done.stdout.index(f"{name}.py") for name in sorted(MODULES)]
    assert places == sorted(places)


def test_a_module_that_dies_fails_and_the_others_run(tmp_path):
    done = run(tmp_path, MODULES | {"test_dying": DEATH})
    assert "2 failed, 3 passed" in done.stdout
    assert "ended with status -11 during this test" in done.stdout
    assert "test_dying.py::test_dies" in done.stdout


def test_the_first_failure_may_end_the_run(tmp_path):
    done = run(tmp_path, {"test_a": MODULES["test_wrong"], "test_b": MODULES["test_one"] * 2}, "-x")
    assert "stopping after 1 failures" in done.stdout
    assert done.returncode == 1


def test_all_modules_may_share_a_process(tmp_path):
    run(tmp_path, MODULES, "--together")
    assert len(list(tmp_path.glob("*.process"))) == 1


def test_what_begins_first_is_there():
    """A module that moves would begin where its name puts it."""
    tests = Path(modules.__file__).parent
    for name in modules._LONGEST:
        found = tests.parent / name if name.startswith("tests/") else next(tests.rglob(name), None)
        assert found is not None, name
        assert found.is_file(), name
