"""Where compiled kernels are kept between processes, and when one may be used again.

Numba's own disk cache stamps a kernel with the file it stands in, so an edited *callee* in another file is served stale
after an upgrade, and two processes that compile at once may store two signatures under one file name (numba #1833,
#4807). Here an entry is one file whose name is a digest of the whole package, the kernel, its argument types and the
CPU: nothing stale can be found, and there is no index to race for. Kernels over a user's own types are never stored,
because nothing here can know when the user's source changes.
"""

import contextlib
import hashlib
import os
import pickle
import shutil
import tempfile
import uuid
import warnings
from functools import cache
from pathlib import Path

import numba
from numba.core import compiler, types
from numba.core.caching import _Cache, dumps

PACKAGE = Path(__file__).parent
KEPT_STAMPS = 3  # versions that may share one cache directory before the oldest is swept


@cache
def package_stamp():
    """Digest of every source file of the package and of Numba's version: the age of a kernel."""
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(PACKAGE.rglob("*.py")):
        digest.update(path.relative_to(PACKAGE).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _is_private(folder):
    """Entries are pickles, so a folder that others may write to is no place to read them from."""
    status = folder.stat()
    return not hasattr(os, "getuid") or (status.st_uid == os.getuid() and not status.st_mode & 0o022)


def _usable(folder, *, private=False):
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700 if private else 0o777)
        probe = folder / f"probe.{uuid.uuid4().hex}"
        probe.touch()
        probe.unlink()
        return not private or _is_private(folder)
    except OSError:
        return False


def _candidate_roots():
    if numba.config.CACHE_DIR:
        # The chosen directory is shared by many projects, and two copies of this package must not sweep each other.
        yield Path(numba.config.CACHE_DIR) / f"dtnumba_{hashlib.sha256(bytes(PACKAGE)).hexdigest()[:8]}", False
    yield PACKAGE / "__pycache__", False
    with contextlib.suppress(RuntimeError):  # no home directory is known
        yield Path.home() / ".cache" / "dtnumba", True
    user = os.getuid() if hasattr(os, "getuid") else "user"
    yield Path(tempfile.gettempdir()) / f"dtnumba-{user}", True


def _sweep(root):
    """Remove the kernels of the oldest versions; a process that still runs one merely compiles again."""
    with contextlib.suppress(OSError):
        stamps = sorted(root.glob("kernels-*"), key=lambda folder: folder.stat().st_mtime, reverse=True)
        for folder in stamps[KEPT_STAMPS:]:
            shutil.rmtree(folder, ignore_errors=True)


@cache
def cache_folder():
    """Return the folder of this version's kernels, or None (with one warning) where nothing can be written."""
    for root, private in _candidate_roots():
        folder = root / f"kernels-{package_stamp()[:16]}"
        if folder.is_dir() or _usable(root, private=private):
            fresh = not folder.exists()
            if _usable(folder, private=private):
                if fresh:
                    _sweep(root)
                return folder
    warnings.warn(
        "dtnumba found no folder to keep compiled kernels in, so every process compiles anew; "
        "set NUMBA_CACHE_DIR to a writable folder",
        RuntimeWarning,
        stacklevel=2,
    )
    return None


def _has_foreign_part(numba_type):
    """Tell whether a type contains a NamedTuple defined outside the package: a user's criterion."""
    if isinstance(numba_type, types.CPointer):
        return _has_foreign_part(numba_type.dtype)
    if isinstance(numba_type, types.BaseNamedTuple):
        module = getattr(numba_type.instance_class, "__module__", "")
        if module != "dtnumba" and not module.startswith("dtnumba."):
            return True
    if isinstance(numba_type, types.BaseTuple):
        return any(_has_foreign_part(part) for part in numba_type)
    return False


class KernelCache(_Cache):
    """The disk cache of one kernel, in the interface Numba's dispatcher expects."""

    def __init__(self, py_func):
        self._py_func = py_func
        self._enabled = True

    @property
    def cache_path(self):
        return str(cache_folder())

    def enable(self):
        self._enabled = True

    def disable(self):
        self._enabled = False

    def flush(self):
        folder = cache_folder()
        if folder is not None:
            for path in folder.glob(f"{self._name()}-*"):
                path.unlink(missing_ok=True)

    def _name(self):
        return f"{self._py_func.__module__.rpartition('.')[2]}.{self._py_func.__qualname__}".replace("<", "").replace(">", "")

    def _path(self, sig, codegen):
        folder = cache_folder() if self._enabled else None
        if folder is None or any(_has_foreign_part(part) for part in sig):
            return None
        key = repr((package_stamp(), self._name(), self._py_func.__code__.co_firstlineno, sig, codegen.magic_tuple()))
        return folder / f"{self._name()}-{hashlib.sha256(key.encode()).hexdigest()[:32]}.nbc"

    def load_overload(self, sig, target_context):
        target_context.refresh()
        path = self._path(sig, target_context.codegen())
        if path is None:
            return None
        # Whatever is wrong with a stored kernel (torn by a full disk, foreign, unreadable), compiling anew is right.
        try:
            return compiler.CompileResult._rebuild(target_context, *pickle.loads(path.read_bytes()))
        except FileNotFoundError:
            return None
        except Exception:
            return None

    def save_overload(self, sig, data):
        path = self._path(sig, data.codegen)
        if path is None or any(not part.can_cache for part in data.lifted) or data.library.has_dynamic_globals:
            return
        draft = path.with_name(f"{path.name}.{uuid.uuid4().hex}.tmp")
        try:
            draft.write_bytes(dumps(data._reduce()))
            os.replace(draft, path)
        except OSError:  # a full or vanished disk costs the next process a compilation, not this one its result
            with contextlib.suppress(OSError):
                draft.unlink()


def keep_on_disk(dispatcher):
    """Give a dispatcher this cache; where Numba has moved its internals, leave it uncached and say so once."""
    if hasattr(dispatcher, "_cache") and hasattr(compiler.CompileResult, "_rebuild"):
        dispatcher._cache = KernelCache(dispatcher.py_func)
    else:
        warnings.warn(
            f"numba {numba.__version__} keeps its cache where dtnumba does not know it; kernels are compiled in every "
            "process; please report it",
            RuntimeWarning,
            stacklevel=3,
        )
    return dispatcher
