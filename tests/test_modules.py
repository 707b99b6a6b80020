"""Modules of a folder share a process, those of another run in another, and are told of as if there were one."""

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


def run(folder, texts, *options, settings=""):
    hooks = "import modules\nfrom modules import pytest_addoption, pytest_runtestloop\n"
    (folder / "conftest.py").write_text(hooks + settings)
    for name, text in texts.items():
        path = folder / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", *options]
    paths = os.pathsep.join([str(Path(modules.__file__).parent), str(folder)])
    environment = os.environ | {"PYTHONPATH": paths, "COLUMNS": "200"}
    return subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder, env=environment)


def test_failures_are_shown_in_the_order_of_modules(tmp_path):
    done = run(tmp_path, MODULES)
    assert done.returncode == 1
    assert "1 failed, 3 passed" in done.stdout
    assert "assert 1 == 2" in done.stdout
    assert "said aloud" in done.stdout
    places = [done.stdout.index(f"{name}.py") for name in sorted(MODULES)]
    assert places == sorted(places)


PLACES = [
    f"{folder}/test_{folder}_{name}" for folder in ("trees", "rules", "runtime") for name in ("one", "two", "three")
]
TELLS = """
import os
from pathlib import Path

def test_tells_its_process():
    (Path(__file__).parent / f"{os.getpid()}.process").touch()
"""


@pytest.mark.parametrize(
    ("settings", "processes"),
    [
        ("modules.N_AT_ONCE = 1", {"trees": 1, "rules": 1, "runtime": 3}),
        ("modules.N_AT_ONCE = 2", {"runtime": 3}),
        ("modules.N_AT_ONCE = 1\nmodules.MOST_BYTES = 0", {"trees": 3, "rules": 3, "runtime": 3}),
    ],
)
def test_modules_of_a_folder_share_a_process_until_it_is_large(tmp_path, settings, processes):
    """Those of the runtime never do, as they change what a process is."""
    done = run(tmp_path, dict.fromkeys(PLACES, TELLS), settings=settings)
    assert "9 passed" in done.stdout
    assert {folder: len(list((tmp_path / folder).glob("*.process"))) for folder in processes} == processes


def test_a_module_that_dies_fails_and_the_others_run(tmp_path):
    done = run(tmp_path, MODULES | {"test_dying": DEATH})
    assert "2 failed, 3 passed" in done.stdout
    assert "ended with status -11 during this test" in done.stdout
    assert "test_dying.py::test_dies" in done.stdout


def test_a_module_after_one_that_died_runs_in_another_process(tmp_path):
    texts = {"test_a": MODULES["test_one"], "test_dying": DEATH, "test_z": MODULES["test_one"]}
    done = run(tmp_path, texts, settings="modules.N_AT_ONCE = 1")
    assert "1 failed, 2 passed" in done.stdout
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
