"""Kernels compiled for a level of processors, which another machine of that level loads from a folder.

``DTNUMBA_KERNELS`` names the folder. A kernel is looked for there where this machine's own cache has none. What it was
compiled by and for stands in the folder; where that does not fit, one warning says so, and all is compiled as usual.
"""

from __future__ import annotations

import os
import sys
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
from llvmlite import binding

FOLDER = "DTNUMBA_KERNELS"
MANIFEST = "dtnumba-kernels.json"
# What processors of a level can do, as LLVM names it.
_V3 = ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sse4.2")
LEVELS: dict[str, tuple[str, ...]] = {
    "x86-64-v3": _V3,
    "x86-64-v4": (*_V3, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"),
}


def _machine() -> str:
    import platform  # a fit without portable kernels need not import it

    return platform.machine()


def native_level() -> str:
    """Return the level of this very machine, for processors that have no levels."""
    return f"{_machine()}-{binding.get_host_cpu_name()}"


def known_levels() -> list[str]:
    """Return the levels that kernels can be compiled for on this machine, the plainest first."""
    of_pc = _machine() in {"x86_64", "AMD64"}
    return [level for level in LEVELS if _has(LEVELS[level])] if of_pc else [native_level()]


def _has(features: tuple[str, ...]) -> bool:
    there = binding.get_host_cpu_features()
    return all(there.get(feature, False) for feature in features)


def manifest(level: str, stamp: str) -> dict[str, Any]:
    """Return what kernels are compiled by and for."""
    return {
        "level": level,
        "system": f"{sys.platform} {_machine()}",
        "python": sys.implementation.cache_tag,
        "numba": numba.__version__,
        "numpy": np.__version__,
        "dtnumba": stamp,
    }


@cache
def usable(folder: str, stamp: str) -> tuple[Path, str] | None:
    """Return the folder of portable kernels and their level, or None, after one warning, where they do not fit."""
    import json

    path = Path(folder)
    try:
        found = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
        level = str(found["level"])
        here = manifest(level, stamp)
        differ = [name for name in here if found.get(name) != here[name]]
        wrong = [name if name == "dtnumba" else f"{name} {found.get(name)}" for name in differ]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        why = f"cannot be read ({type(error).__name__}: {error})"
    else:
        if not wrong and level in known_levels():
            return path, level
        why = f"is for another version or system ({', '.join(wrong)})"
        if not wrong:
            why = f"is for processors of level {level}, and this one is not"
    warnings.warn(
        f"{FOLDER}={folder} {why}; kernels are compiled as usual. `python -m dtnumba warmup --portable LEVEL "
        "--out FOLDER` makes another one",
        RuntimeWarning,
        stacklevel=2,
    )
    return None


def chosen_folder() -> str | None:
    """Return the folder that the user names, or None."""
    return os.environ.get(FOLDER) or None
