"""Compile ahead what learners need: in processes side by side, each with a kind of fit at a time."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dtnumba.estimators.recipes import Recipe, learners, recipes_of
from dtnumba.runtime import disk_cache, portable, side_by_side, tasks, tiers
from dtnumba.runtime.notice import QUIET

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator, Sequence

_WOULD_COMPILE, _COULD_NOT_KEEP, _LOOK = 3, 4, 0.02


class _WouldCompileError(Exception):
    """Ends a recipe whose kernels are not all there."""


def warmup(
    *names: str,
    jobs: int | None = None,
    check: bool = False,
    level: str | None = None,
    out: str | os.PathLike[str] | None = None,
    verbose: bool = True,
) -> list[str]:
    """Compile what fits and predictions of learners need, so that none of them waits for it later.

    Parameters
    ----------
    *names : str
        Learners, such as "RandomForestClassifier"; all of them by default.
    jobs : int, optional
        Processes that compile side by side; one a core by default.
    check : bool
        Compile nothing; only find out what a first fit would compile.
    level, out : str and path, optional
        Compile for any processor of a level, "x86-64-v3" or "x86-64-v4" (elsewhere only for that of this machine), into
        a folder that other machines load from, by ``DTNUMBA_KERNELS=folder``. The own cache stays as it is.
    verbose : bool
        Write a line a kind of fit to stderr.

    Returns
    -------
    list of str
        The kinds of fits that were compiled, or with ``check`` would be; empty where all was there.

    """
    recipes = recipes_of(_known(names))
    n_jobs, is_own = _number_of_jobs(jobs), level is None and out is None
    if check and not is_own:
        raise ValueError("check looks at what is used here: with DTNUMBA_KERNELS at the folder, and no level or out")
    if not sys.executable:
        raise OSError("there is no Python to start: sys.executable is empty; call warmup from a plain Python")
    with _own_folder(check=check) if is_own else _portable_folder(level, out) as environment:
        orders = {"check": check, "kept": None if out is None else (str(Path(out).resolve()), level)}
        return _Kitchen(recipes, orders, environment, n_jobs, verbose=verbose).cooked()


def _known(names: Sequence[str]) -> list[str]:
    unknown = [name for name in names if name not in learners()]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is no learner that can be compiled ahead; known are {', '.join(learners())}")
    return list(names)


def _number_of_jobs(jobs: int | None) -> int:
    if jobs is not None and (isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1):
        raise ValueError(f"jobs={jobs!r} is not a number of processes; pass 1 or more, or None for one a core")
    return jobs or os.cpu_count() or 1


@contextlib.contextmanager
def _own_folder(*, check: bool) -> Iterator[dict[str, str]]:
    if disk_cache.cache_folder() is None:
        raise OSError("there is no folder to keep compiled kernels in; set NUMBA_CACHE_DIR to one that can be written")
    yield {portable.FOLDER: ""} if not check else {}


@contextlib.contextmanager
def _portable_folder(level: str | None, out: Any) -> Iterator[dict[str, str]]:
    """Yield the settings of processes that compile for a level; what they compile is kept in the folder ``out``."""
    if level is None or out is None:
        raise ValueError(f"level={level!r} and out={out!r} belong together: a level of processors and a folder")
    if level not in portable.known_levels():
        raise ValueError(
            f"level={level!r} cannot be compiled for here; this machine knows {', '.join(portable.known_levels())}"
        )
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    described = json.dumps(portable.manifest(level, disk_cache.portable_stamp()), indent=2) + "\n"
    manifest = folder / portable.MANIFEST
    if manifest.exists() and manifest.read_text(encoding="utf-8") != described:
        raise ValueError(f"out={str(folder)!r} holds kernels of another version or level; pass an empty folder")
    scratch = tempfile.mkdtemp(prefix="dtnumba-portable-")
    target = {"NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": ""} if level in portable.LEVELS else {}
    try:
        yield {"NUMBA_CACHE_DIR": scratch, portable.FOLDER: "", **target}
        draft = manifest.with_suffix(".tmp")  # the last to be written: without it the folder is not used
        draft.write_text(described, encoding="utf-8")
        draft.replace(manifest)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


class _Kitchen:
    """Processes that cook recipes."""

    def __init__(
        self, recipes: list[Recipe], orders: dict[str, Any], environment: dict[str, str], n_jobs: int, *, verbose: bool
    ) -> None:
        self._recipes, self._orders, self._n_jobs, self._verbose = recipes, orders, n_jobs, verbose
        self._environment = {QUIET: "1", **environment}
        self._compiled: list[str] = []
        self._done = 0

    def cooked(self) -> list[str]:
        """Cook all, and return the names of those that compiled something."""
        waiting = list(enumerate(self._recipes))
        running: list[tuple[Recipe, float, subprocess.Popen[bytes]]] = []
        try:
            while waiting or running:
                while waiting and len(running) < self._n_jobs:
                    k, recipe = waiting.pop(0)
                    running.append((recipe, time.perf_counter(), self._start(k)))
                time.sleep(_LOOK)
                for one in [one for one in running if one[2].poll() is not None]:
                    running.remove(one)
                    self._finish(*one)
        finally:
            for _, _, process in running:  # after Ctrl-C; what is compiled stays
                process.kill()
                process.wait()
        return self._compiled

    def _start(self, k: int) -> subprocess.Popen[bytes]:
        recipe = self._recipes[k]
        message = self._orders | {"recipe": (recipe.learner, recipe.kind)}
        return side_by_side.start_python(work, message, self._environment, keep_errors=True)

    def _finish(self, recipe: Recipe, began: float, process: subprocess.Popen[bytes]) -> None:
        said = process.stderr.read().decode(errors="replace") if process.stderr is not None else ""
        if process.stderr is not None:
            process.stderr.close()
        if process.returncode == _COULD_NOT_KEEP:
            raise OSError(f"{recipe.name}: what was compiled could not be kept, {said.strip()}")
        if process.returncode not in {0, _WOULD_COMPILE}:
            last = said.strip().splitlines()[-1:] or [f"exit {process.returncode}"]
            raise RuntimeError(f"{recipe.name}: {last[0]}")
        self._done += 1
        is_new = process.returncode == _WOULD_COMPILE
        if is_new:
            self._compiled.append(recipe.name)
        if self._verbose:
            is_check = self._orders["check"]
            what = ("would compile" if is_check else "compiled") if is_new else "is there"
            seconds = "" if is_check else f", {time.perf_counter() - began:.1f} s"
            sys.stderr.write(f"{self._done} of {len(self._recipes)}: {recipe.name} {what}{seconds}\n")
            sys.stderr.flush()


def work(orders: dict[str, Any]) -> int:
    """Cook one recipe in this process; the exit code says whether it compiled, or would compile, a kernel."""
    # What small fits of users do without, larger ones need.
    tiers.SMALL_WORK_IS_PLAIN, tasks.PYTHON_STEPS = False, 0
    side_by_side.STARTS_HELPERS = False
    missed: list[str] = []
    disk_cache.ON_MISS = _raise if orders["check"] else missed.append
    if orders["kept"] is not None:
        folder, level = orders["kept"]
        disk_cache.ALSO_KEPT = Path(folder), level
    learner, kind = orders["recipe"]
    recipe = next(one for one in recipes_of([learner]) if one.kind == kind)
    try:
        recipe.cook()
    except _WouldCompileError:
        return _WOULD_COMPILE
    if disk_cache.NOT_KEPT:
        sys.stderr.write(str(disk_cache.NOT_KEPT[0]))
        return _COULD_NOT_KEEP
    return _WOULD_COMPILE if missed else 0


def _raise(name: str) -> None:
    raise _WouldCompileError(name)
