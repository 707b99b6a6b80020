"""How many cores a process may use: those of Numba, or what a control group leaves of them."""

import math

import pytest

from dtnumba.runtime import tasks
from dtnumba.runtime.threads import cores


def write(folder, **files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("cpu_", "cpu.")).write_text(text)


@pytest.fixture
def root(tmp_path):
    write(tmp_path / "proc/self")
    return tmp_path


@pytest.mark.parametrize(
    ("text", "expected"),
    [("50000 100000\n", 0.5), ("max 100000\n", math.inf), ("250000 100000", 2.5), ("", math.inf), ("x y", math.inf)],
)
def test_a_container_of_the_second_kind_says_its_quota(root, text, expected):
    (root / "proc/self/cgroup").write_text("0::/\n")
    write(root / "sys/fs/cgroup", cpu_max=text)
    assert cores.quota(root) == expected


def test_the_least_quota_of_all_groups_around_counts(root):
    (root / "proc/self/cgroup").write_text("0::/outer/inner\n")
    write(root / "sys/fs/cgroup/outer", cpu_max="150000 100000")
    write(root / "sys/fs/cgroup/outer/inner", cpu_max="300000 100000")
    assert cores.quota(root) == 1.5


@pytest.mark.parametrize(("quota", "expected"), [("50000", 0.5), ("-1", math.inf)])
def test_a_container_of_the_first_kind_says_its_quota(root, quota, expected):
    (root / "proc/self/cgroup").write_text("9:name=systemd:/\n4:memory:/a\n1:cpu,cpuacct:/of/the/host\n")
    write(root / "sys/fs/cgroup/cpu", cpu_cfs_quota_us=quota, cpu_cfs_period_us="100000")
    assert cores.quota(root) == expected


def test_other_systems_have_no_quota(tmp_path):
    assert cores.quota(tmp_path) == math.inf


@pytest.mark.parametrize(("quota", "expected"), [(0.5, 1), (1.5, 2), (math.inf, 4), (64.0, 4)])
def test_no_more_threads_work_than_the_quota_lets_run(monkeypatch, quota, expected):
    monkeypatch.setattr(cores.config, "NUMBA_NUM_THREADS", 4)
    monkeypatch.setattr(cores, "own_quota", lambda: quota)
    monkeypatch.setattr(tasks, "_pool_is_inherited", False)
    assert [tasks.n_workers(n_jobs) for n_jobs in (None, 8, -1)] == [expected] * 3
    assert tasks.n_workers(1) == 1


@pytest.mark.parametrize(("running", "expected"), [("1/300", True), ("4/300", False), ("9/300", False)])
def test_a_core_is_free_where_fewer_threads_run_than_there_are_cores(root, monkeypatch, running, expected):
    monkeypatch.setattr(cores.os, "cpu_count", lambda: 4)
    (root / "proc/loadavg").write_text(f"0.52 0.58 0.59 {running} 26306\n")
    assert cores.has_free_core(root) is expected


def test_a_core_counts_as_free_where_the_system_does_not_say(root):
    assert cores.has_free_core(root)
    (root / "proc/loadavg").write_text("no numbers")
    assert cores.has_free_core(root)
