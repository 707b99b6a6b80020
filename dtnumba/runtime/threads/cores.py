"""How many cores this process may use at once: what Numba was given, and no more than the quota of its container.

A container that may use half a core has all the cores of its machine, and is stopped for the rest of a tenth of a
second when it has used its share. More threads than that only stop sooner.
"""

from __future__ import annotations

import math
import os
from functools import cache
from pathlib import Path

from numba.core import config


def cores() -> int:
    """Return the number of cores."""
    return max(1, math.ceil(min(int(config.NUMBA_NUM_THREADS), own_quota())))


def has_free_core(root: Path = Path("/")) -> bool:
    """Tell whether one more thread would find a core free just now; True where the system does not say."""
    try:
        running = (root / "proc/loadavg").read_text(encoding="ascii").split()[3]  # how many of how many threads
        return int(running.split("/")[0]) < (os.cpu_count() or 1)
    except (OSError, ValueError, IndexError):
        return True


@cache
def own_quota() -> float:
    """Return the quota of this process, which is read once."""
    return quota()


def quota(root: Path = Path("/")) -> float:
    """Return how many cores Linux lets the control group of this process use, and those around it; or infinity."""
    least = math.inf
    try:
        lines = (root / "proc/self/cgroup").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return least
    for line in lines:
        number, controllers, path = [*line.split(":", 2), "", ""][:3]
        if number == "0" and not controllers:
            folder, read = root / "sys/fs/cgroup", _read_second
        elif "cpu" in controllers.split(","):
            folder, read = root / "sys/fs/cgroup/cpu", _read_first
        else:
            continue
        inside = [part for part in path.split("/") if part not in {"", ".."}]
        # In a container the path may be that of the host, of which only the end is to be seen.
        for depth in range(len(inside) + 1):
            least = min(least, read(folder.joinpath(*inside[:depth])))
    return least


def _read_second(folder: Path) -> float:
    try:
        most, period = (folder / "cpu.max").read_text(encoding="ascii").split()
        return math.inf if most == "max" else int(most) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return math.inf


def _read_first(folder: Path) -> float:
    try:
        files = (folder / "cpu.cfs_quota_us", folder / "cpu.cfs_period_us")
        most, period = (int(file.read_text(encoding="ascii")) for file in files)
        return math.inf if most < 0 else most / period
    except (OSError, ValueError, ZeroDivisionError):
        return math.inf
