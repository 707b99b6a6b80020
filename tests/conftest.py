"""What all tests share: a folder for compiled kernels, how hypothesis draws, how to run code in a fresh process."""

import os
import signal
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import hypothesis
import pytest
from modules import pytest_addoption as add_options_of_modules
from modules import pytest_runtestloop  # noqa: F401  a hook

TESTS = Path(__file__).parent
# Where the package under test is, which may be installed; looked up without importing it.
SITE = Path(find_spec("dtnumba").origin).parents[1]

# Before Numba is imported, here and in the processes that tests start. The package names the folder in it that it uses
# by a digest of its sources, and sweeps out the oldest.
_user = os.getuid() if hasattr(os, "getuid") else "user"
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(tempfile.gettempdir()) / f"dtnumba-tests-{_user}"))
os.environ.setdefault("DTNUMBA_QUIET", "1")  # how long compiling takes is no answer of a test

hypothesis.settings.register_profile(
    "dtnumba",
    deadline=None,  # the first example compiles
    derandomize=True,
    database=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("dtnumba")


@pytest.fixture(scope="session", autouse=True)
def _fast_kernels_for_small_tables():
    """Let small work run the kernels of large work: a fit of a user would not compile them for so little."""
    from dtnumba.runtime import side_by_side, tasks, tiers

    tiers.SMALL_WORK_IS_PLAIN, tasks.PYTHON_STEPS = False, 0
    side_by_side.STARTS_HELPERS = False  # one of several modules that compile


@pytest.fixture(scope="session")
def run_python(tmp_path_factory):
    """Run code or a script in a fresh interpreter, by default with warnings as errors; return what it prints."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")  # a script finds what is beside it before what is installed

    def run(code, *, timeout=300, path=(), warnings="error", **environment):
        folders = [*map(str, path), str(SITE), str(TESTS)]
        variables = os.environ | {"PYTHONPATH": os.pathsep.join(folders)} | environment
        variables = {name: str(value) for name, value in variables.items() if value is not None}
        script = [str(code)] if isinstance(code, Path) else ["-c", code]
        done = subprocess.run(
            [sys.executable, "-X", "faulthandler", "-W", warnings, *script],
            check=False,
            capture_output=True,
            text=True,
            cwd=elsewhere,
            env=variables,
            timeout=timeout,
        )
        assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    return run


@pytest.fixture(scope="module", params=["kernel", "numpy"])
def few_cells(request):
    """Run the tests of a module twice: small tables are sorted by NumPy, and here by the kernels too."""
    from dtnumba.tables import presort

    before = presort.FEW_CELLS
    presort.FEW_CELLS = before if request.param == "numpy" else 0
    yield
    presort.FEW_CELLS = before


def pytest_addoption(parser):
    add_options_of_modules(parser)
    parser.addoption("--all-compiled", action="store_true", help="compile what is otherwise shown interpreted, too")


def pytest_configure(config):
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # begun in the background: tests press Ctrl-C
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.addinivalue_line("markers", "small: little data; runs again with NUMBA_DISABLE_JIT=1 (test_legs.py)")
    config.addinivalue_line("markers", "interpreted: runs with NUMBA_DISABLE_JIT=1 alone, to save compiling")


def pytest_itemcollected(item):
    if item.get_closest_marker("interpreted"):
        from dtnumba.runtime.kernels import COMPILED

        item.add_marker("small")
        if COMPILED and not item.config.getoption("--all-compiled"):
            item.add_marker(pytest.mark.skip(reason="shown interpreted (test_legs.py), to save compiling"))
