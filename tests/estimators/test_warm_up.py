"""Compiling ahead: what is told, what is refused, and that nothing is left to compile after it."""

import subprocess
import sys
import time

import pytest

import dtnumba as dt
from dtnumba.cli.command import main
from dtnumba.estimators.recipes import learners, recipes_of
from dtnumba.runtime.kernels import COMPILED

compiled_only = pytest.mark.skipif(not COMPILED, reason="nothing is compiled")


def test_every_learner_has_recipes():
    known = {name for name in dt.__all__ if name.endswith(("Classifier", "Regressor"))}
    assert set(learners()) == known
    assert len(recipes_of([])) == len({recipe.name for recipe in recipes_of([])})


def test_an_unknown_name_lists_the_known_ones(capsys):
    with pytest.raises(ValueError, match=r"'Forest' is no learner.*RandomForestClassifier"):
        dt.warmup("Forest")
    assert main(["warmup", "Forest"]) == 2
    assert "RandomForestClassifier" in capsys.readouterr().err


@pytest.mark.parametrize("jobs", [0, -1, 1.5, True])
def test_a_number_of_processes_is_whole_and_positive(jobs):
    with pytest.raises(ValueError, match="jobs="):
        dt.warmup("CHAIDClassifier", jobs=jobs)


def test_a_check_is_of_what_is_used_here(tmp_path):
    with pytest.raises(ValueError, match="DTNUMBA_KERNELS"):
        dt.warmup("CHAIDClassifier", check=True, level="x86-64-v3", out=tmp_path / "kernels")
    assert not (tmp_path / "kernels").exists()


@pytest.mark.parametrize("options", [{"level": "x86-64-v3"}, {"out": "folder"}, {"level": "z80", "out": "folder"}])
def test_a_level_and_a_folder_belong_together(options, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="level="):
        dt.warmup("CHAIDClassifier", **options)


@compiled_only
def test_after_a_warm_up_nothing_is_left_to_compile(tmp_path, run_python):
    command = [sys.executable, "-m", "dtnumba", "warmup", "DecisionListClassifier"]

    def run(*more):
        import os

        done = subprocess.run(
            [*command, *more],
            check=False,
            capture_output=True,
            text=True,
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
        )
        return done.returncode, done.stderr

    code, said = run("--check")
    assert code == 1
    assert "would compile" in said
    code, said = run("--jobs", "1")
    assert code == 0
    assert "1 of 1: DecisionListClassifier" in said
    code, said = run("--check")
    assert (code, "is there" in said) == (0, True)


@compiled_only
def test_two_that_warm_up_at_once_do_not_disturb_each_other(tmp_path):
    import os

    command = [sys.executable, "-m", "dtnumba", "warmup", "DecisionListClassifier", "--jobs", "1"]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    started = [subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate(timeout=300)[1] for process in started]
    assert [process.returncode for process in started] == [0, 0], said
    assert list(tmp_path.rglob("*.lock")) == list(tmp_path.rglob("*.tmp")) == []
    assert subprocess.run([*command, "--check"], env=environment, capture_output=True, check=False).returncode == 0


@compiled_only
@pytest.mark.skipif(sys.platform == "win32", reason="files cannot be kept small there")
def test_a_warm_up_on_a_full_disk_says_that_it_was_for_nothing(tmp_path):
    import os

    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
        "from dtnumba.cli.command import main; sys.exit(main(['warmup', 'DecisionListClassifier', '--jobs', '1']))"
    )
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "could not be kept" in done.stderr
    assert "Traceback" not in done.stderr


@compiled_only
def test_an_interrupted_warm_up_keeps_what_it_has_and_can_be_taken_up_again(tmp_path):
    import os
    import signal

    command = [sys.executable, "-m", "dtnumba", "warmup", "--jobs", "1"]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    # A shell has what it runs in the background ignore the signal, and what that starts, and so on.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True)
    finally:
        signal.signal(signal.SIGINT, before)
    for _ in range(600):
        if list(tmp_path.rglob("*.nbc")):
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in said
    assert list(tmp_path.rglob("*.nbc"))
    command.insert(4, "DecisionListClassifier")
    assert subprocess.run(command, env=environment, capture_output=True, check=False).returncode == 0
