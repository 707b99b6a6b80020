"""A word on stderr where compiling takes long: once, from the main process, and not where it is unwanted."""

import threading
import time

import pytest

from dtnumba.runtime.notice import QUIET, Notice

pytestmark = pytest.mark.small


@pytest.fixture(autouse=True)
def _may_speak(monkeypatch):
    monkeypatch.delenv(QUIET, raising=False)


def test_it_is_said_once_after_a_while(capsys):
    notice = Notice(patience=0.05)
    for _ in range(2):
        with notice.while_compiling():
            time.sleep(0.2)
    said = capsys.readouterr().err
    assert said.count("warmup") == 1
    assert QUIET in said


def test_short_compilations_add_up(capsys):
    notice = Notice(patience=0.3)
    for _ in range(4):
        with notice.while_compiling():
            time.sleep(0.1)
    assert "warmup" in capsys.readouterr().err


def test_nothing_is_said_of_what_is_quick_or_within_another(capsys):
    notice = Notice(patience=5.0)
    with notice.while_compiling(), notice.while_compiling():
        pass
    assert capsys.readouterr().err == ""


def test_seconds_are_counted_once_whoever_compiles_and_while_it_lasts():
    notice = Notice(patience=9.0, is_told=True)
    apart = threading.Event()

    def compile_beside():
        with notice.while_compiling():
            apart.wait(9.0)

    thread = threading.Thread(target=compile_beside)
    began = time.perf_counter()
    thread.start()
    with notice.while_compiling(), notice.while_compiling():
        time.sleep(0.1)
    assert notice.seconds >= 0.1
    apart.set()
    thread.join()
    lasted = time.perf_counter() - began
    assert 0.1 <= notice.seconds <= lasted
    before = notice.seconds
    time.sleep(0.02)
    assert notice.seconds == before


def test_it_can_be_told_not_to(capsys, monkeypatch):
    monkeypatch.setenv(QUIET, "1")
    notice = Notice(patience=0.01)
    with notice.while_compiling():
        time.sleep(0.1)
    assert capsys.readouterr().err == ""
    assert not notice.is_told


def test_a_closed_stderr_is_no_error(monkeypatch):
    monkeypatch.setattr("sys.stderr", None)
    notice = Notice()
    notice.tell()
    assert notice.is_told
