"""Where compiled kernels are kept between processes, and when one may be used again.

Numba's own disk cache stamps a kernel with the file it stands in, so an edited *callee* in another file is served stale
after an upgrade, and two processes that compile at once may store two signatures under one file name (numba #1833,
#4807). Here an entry is one file whose name is a digest of all that its code depends on: the whole package, Python,
Numba and its settings, the kernel, its argument types and the CPU. So nothing stale can be found, and there is no index
to race for. Kernels over a user's own types are never stored, because nothing here can know when the user's source
changes.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import sys
import time
import warnings
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from numba.core import compiler, config, sigutils, types
from numba.core.caching import _Cache, dumps
from numba.core.compiler_lock import global_compiler_lock
from numba.core.runtime import rtsys

from dtnumba.runtime import portable
from dtnumba.runtime.notice import NOTICE

try:
    import fcntl
except ImportError:  # Windows: processes may compile the same thing side by side
    _HAS_LOCKS = False
else:
    _HAS_LOCKS = True

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


PACKAGE = Path(__file__).parents[1]
KEPT_STAMPS = 3  # versions that may share one cache directory before the oldest is swept
_CHECKSUM_BYTES = 16
_PATIENCE, _GLANCE = 120.0, 0.005  # seconds that a process waits for another one's kernel, and between two looks


def _sources_in(folder: str, prefix: str) -> Iterator[str]:
    """Yield the names of the source files in a folder; Path takes twice the time, and each import waits for it."""
    for entry in os.scandir(folder):
        if entry.is_dir() and entry.name != "__pycache__":
            yield from _sources_in(entry.path, f"{prefix}{entry.name}/")
        elif entry.name.endswith(".py"):
            yield prefix + entry.name


def stamp_of(package: Path, python: str | None = sys.version) -> str | None:
    """Digest of every source file of a package and of what compiles it; None where there are no sources to read."""
    sources = sorted(_sources_in(str(package), "")) if package.is_dir() else []
    if not sources:  # a zip file, or byte code alone
        return None
    digest = hashlib.sha256(f"{python} numba {numba.__version__} numpy {np.__version__}".encode())
    for name in sources:
        with open(f"{package}/{name}", "rb", buffering=0) as source:  # noqa: PTH123  half the time of a Path
            text = source.read()
        digest.update(f"{name} {len(text)} ".encode())
        digest.update(text)
    return digest.hexdigest()


# Taken while the package is imported: an upgrade under a running process must not stamp the code that it has loaded.
_STAMP = stamp_of(PACKAGE)


@cache
def portable_stamp() -> str:
    """Return the stamp without the build of Python, which another machine need not share."""
    return stamp_of(PACKAGE, sys.implementation.cache_tag) or "without sources"


def settings() -> tuple[str, ...]:
    """Return what users set for Numba that changes the code it makes; bounds checks above all."""
    names = ("BOUNDSCHECK", "OPT", "DEBUGINFO_DEFAULT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "USING_SVML", "JIT_COVERAGE")
    return tuple(repr(getattr(config, name, None)) for name in names)


def _is_private(folder: Path) -> bool:
    """Entries are pickles, so a folder that others may write to is no place to read them from."""
    status = folder.stat()
    return not hasattr(os, "getuid") or (status.st_uid == os.getuid() and not status.st_mode & 0o022)


def _usable(folder: Path, *, private: bool) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700 if private else 0o777)
        probe = folder / f"probe.{os.urandom(16).hex()}"
        probe.touch()
        probe.unlink()
        return not private or _is_private(folder)
    except OSError:
        return False


def _candidate_roots() -> Iterator[tuple[Path, bool]]:
    """Yield (folder, whether it must be the user's alone), the best first."""
    if config.CACHE_DIR:
        # The chosen directory is shared by many projects, and two copies of this package must not sweep each other.
        yield Path(config.CACHE_DIR) / f"dtnumba_{hashlib.sha256(bytes(PACKAGE)).hexdigest()[:8]}", False
    yield PACKAGE / "__pycache__", False
    with contextlib.suppress(RuntimeError):  # no home directory is known
        yield Path.home() / ".cache" / "dtnumba", True
    import tempfile  # here and below: what only some processes need takes milliseconds to import

    user = os.getuid() if hasattr(os, "getuid") else "user"
    yield Path(tempfile.gettempdir()) / f"dtnumba-{user}", True


def _sweep(root: Path) -> None:
    """Remove the kernels of the oldest versions; a process that still runs one merely compiles again."""
    import shutil

    with contextlib.suppress(OSError):
        stamps = sorted(root.glob("kernels-*"), key=lambda folder: folder.stat().st_mtime, reverse=True)
        for folder in stamps[KEPT_STAMPS:]:
            shutil.rmtree(folder, ignore_errors=True)


@cache
def _read_only_folders() -> list[Path]:
    """Return the folders of this version's kernels that others filled, such as whoever built an image."""
    root, _ = next(_candidate_roots())  # the folder that was chosen, or else that of the package
    folder = root / f"kernels-{str(_STAMP)[:16]}"
    return [folder] if _STAMP and folder.is_dir() and folder != cache_folder() else []


@cache
def cache_folder() -> Path | None:
    """Return the folder of this version's kernels, or None (with one warning) where nothing can be written."""
    roots = _candidate_roots() if _STAMP is not None else ()
    for root, private in roots:
        folder = root / f"kernels-{str(_STAMP)[:16]}"
        fresh = not folder.exists()
        if _usable(root, private=private) and _usable(folder, private=private):
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


@cache
def _description(numba_type: Any) -> str | None:
    """Return the full name of a type made of numbers, arrays and the package's own NamedTuples, None of any other.

    Numba's own name of a NamedTuple lacks the module, and two modules may use one class name.
    """
    if isinstance(numba_type, (types.Number, types.Boolean, types.NoneType, types.Array)):
        return repr(numba_type)
    if not isinstance(numba_type, types.BaseTuple):
        return None
    name = "tuple"
    if isinstance(numba_type, types.BaseNamedTuple):
        cls = numba_type.instance_class
        if str(cls.__module__).partition(".")[0] != __name__.partition(".")[0]:
            return None
        name = f"{cls.__module__}.{cls.__qualname__}"
    parts = [_description(part) for part in numba_type]
    return None if None in parts else f"{name}({', '.join(map(str, parts))})"


_WARNED_OF: set[Path] = set()  # folders: where one file is torn, others are
# Called with the name of a kernel that is about to be compiled: ``warmup --check`` raises.
ON_MISS: Callable[[str], None] | None = None
# What of the operating system kept compiled code from being written.
NOT_KEPT: list[OSError] = []
# A folder and a level: what is compiled is kept there, too, for other machines.
ALSO_KEPT: tuple[Path, str] | None = None


class KernelCache(_Cache):  # type: ignore[misc] # Numba's classes are untyped
    """The disk cache of one kernel, in the interface Numba's dispatcher expects."""

    def __init__(self, py_func: Callable[..., Any], *, takes_memory: bool = False) -> None:
        self._py_func = py_func
        self._takes_memory = takes_memory
        self._enabled = True

    @property
    def cache_path(self) -> str:
        """Where entries are, for Numba's statistics."""
        return str(cache_folder())

    def enable(self) -> None:
        """Use the cache."""
        self._enabled = True

    def disable(self) -> None:
        """Compile anew and store nothing."""
        self._enabled = False

    def flush(self) -> None:
        """Forget the entries of this kernel."""
        folder = cache_folder()
        if folder is not None:
            for path in folder.glob(f"{self._name()}-*"):
                path.unlink(missing_ok=True)

    def _name(self) -> str:
        module = self._py_func.__module__.rpartition(".")[2]
        return f"{module}.{self._py_func.__qualname__}".replace("<", "").replace(">", "")

    def _path(self, sig: tuple[Any, ...], codegen: Any) -> Path | None:
        folder = cache_folder() if self._enabled else None
        return None if folder is None else self._entry(folder, sig, (_STAMP, codegen.magic_tuple()))

    def _entry(self, folder: Path, sig: tuple[Any, ...], made: tuple[Any, ...]) -> Path | None:
        """Return the entry of a kernel that was made by this version for that processor; None where it is not kept."""
        described = [_description(part) for part in sig]
        if None in described:
            return None
        key = repr((self._py_func.__module__, self._py_func.__code__.co_firstlineno, described, made, settings()))
        return folder / f"{self._name()}-{hashlib.sha256(key.encode()).hexdigest()[:32]}.nbc"

    def portable(self, sig: tuple[Any, ...], kept: tuple[Path, str] | None = None) -> Path | None:
        """Return the entry in a folder of portable kernels, by default the user's; None where there is none."""
        chosen = portable.chosen_folder() if kept is None and self._enabled else None
        kept = portable.usable(chosen, portable_stamp()) if chosen else kept
        return None if kept is None else self._entry(kept[0], sig, (portable_stamp(), kept[1]))

    def places(self, sig: tuple[Any, ...], codegen: Any) -> list[Path]:
        """Return where an entry for these argument types stands, the own folder first; empty where there is none."""
        if not self._enabled:
            return []
        made = _STAMP, codegen.magic_tuple()
        own = [self._path(sig, codegen), *[self._entry(folder, sig, made) for folder in _read_only_folders()]]
        return [path for path in (*own, self.portable(sig)) if path is not None and path.exists()]

    def load_overload(self, sig: tuple[Any, ...], target_context: Any) -> Any:
        """Return the kernel for these argument types, or None where it must be compiled."""
        found, own = None, self._path(sig, target_context.codegen())
        for path in self.places(sig, target_context.codegen()):
            found = self._loaded(path, target_context)
            if found is not None:
                break
            if path != own:
                _warn_of(path.parent, path.name)
        if found is None and ON_MISS is not None:
            ON_MISS(self._name())
        return found

    def _loaded(self, path: Path, target_context: Any) -> Any:
        # Whatever is wrong with a stored kernel (torn by a full disk, foreign, unreadable), compiling anew is right.
        try:
            entry = path.read_bytes()
            checksum, stored = entry[:_CHECKSUM_BYTES], entry[_CHECKSUM_BYTES:]
            if checksum != _checksum(stored):  # machine code with a wrong bit would crash, not raise
                return None
            # All that Numba would import to compile takes a quarter of a second; kernels need its memory at most.
            if self._takes_memory:
                rtsys.initialize(target_context)
            return compiler.CompileResult._rebuild(target_context, *pickle.loads(stored))  # noqa: S301, SLF001, as Numba does
        except Exception:  # noqa: BLE001
            return None

    def save_overload(self, sig: tuple[Any, ...], data: Any) -> None:
        """Store a kernel that was compiled for these argument types."""
        paths = [self._path(sig, data.codegen), self.portable(sig, ALSO_KEPT) if ALSO_KEPT else None]
        if any(not part.can_cache for part in data.lifted) or data.library.has_dynamic_globals:
            return
        for path in filter(None, paths):
            draft = path.with_name(f"{path.name}.{os.urandom(16).hex()}.tmp")
            try:
                stored = dumps(data._reduce())  # noqa: SLF001, as Numba does
                draft.write_bytes(_checksum(stored) + stored)
                draft.replace(path)
            except OSError as error:  # a full or vanished disk costs the next process a compilation, not this one
                NOT_KEPT.append(error)
                with contextlib.suppress(OSError):
                    draft.unlink()


def _warn_of(folder: Path, name: str) -> None:
    if folder in _WARNED_OF:
        return
    _WARNED_OF.add(folder)
    warnings.warn(
        f"{folder / name} is torn or was not written by dtnumba; the kernel is compiled as usual",
        RuntimeWarning,
        stacklevel=2,
    )


def path_of(kernel: Any, types_of_arguments: tuple[Any, ...]) -> Path | None:
    """Return where a kernel for such arguments is kept, or None where it is not kept."""
    cache = kernel._cache  # noqa: SLF001  there is no public place for it
    known = isinstance(cache, KernelCache)
    return cache._path(types_of_arguments, kernel.targetctx.codegen()) if known else None  # noqa: SLF001


def holds(kernel: Any, types_of_arguments: tuple[Any, ...]) -> bool:
    """Tell whether a kernel for such arguments is on disk."""
    cache = kernel._cache  # noqa: SLF001  there is no public place for it
    return isinstance(cache, KernelCache) and bool(cache.places(types_of_arguments, kernel.targetctx.codegen()))


def is_claimed(kernel: Any, types_of_arguments: tuple[Any, ...]) -> bool:
    """Tell whether another process is compiling a kernel for such arguments."""
    path = path_of(kernel, types_of_arguments)
    if path is None or not _HAS_LOCKS or not path.with_suffix(".lock").exists():
        return False
    try:
        descriptor = os.open(path.with_suffix(".lock"), os.O_RDWR)
    except OSError:
        return False
    try:
        return _try_lock(descriptor) is None
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def claimed(path: Path | None) -> Iterator[None]:
    """Wait while another process compiles an entry, and keep others waiting meanwhile.

    A claim is a lock that the system drops with the process that holds it, so none is left behind.
    """
    lock = None if path is None or path.exists() else _lock_file(path)
    if path is None or lock is None:
        yield
        return
    descriptor, name = lock
    has_claim = _wait_for(descriptor, path)
    try:
        yield
    finally:
        if has_claim:
            with contextlib.suppress(OSError):
                name.unlink()
                fcntl.flock(descriptor, fcntl.LOCK_UN)  # of a child as well that was forked meanwhile
        os.close(descriptor)


def _lock_file(path: Path) -> tuple[int, Path] | None:
    name = path.with_suffix(".lock")
    if not _HAS_LOCKS:
        return None
    try:
        return os.open(name, os.O_CREAT | os.O_RDWR, 0o600), name
    except OSError:
        return None


def _wait_for(descriptor: int, path: Path) -> bool:
    """Take a lock, and return whether it was given in time; compiling twice is better than to wait for ever."""
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end and not path.exists():
        is_mine = _try_lock(descriptor)
        if is_mine is not None:
            return is_mine
        time.sleep(_GLANCE)
    return False


def _try_lock(descriptor: int) -> bool | None:
    """Return whether a lock was taken: None where another process has it, False on a file system without locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return None
    except OSError:
        return False
    return True


@cache
def _claiming(cls: Any) -> Any:
    """Return a class of dispatchers that claim what they compile."""

    def compile_claimed(self: Any, sig: Any) -> Any:
        # Numba's own lock first, always: two threads that wait for each other's would wait for ever.
        with global_compiler_lock:
            arguments = tuple(sigutils.normalize_signature(sig)[0])
            if arguments in self.overloads or holds(self, arguments):
                return cls.compile(self, sig)
            with NOTICE.while_compiling(), claimed(path_of(self, arguments)):
                return cls.compile(self, sig)

    return type(f"Kept{cls.__name__}", (cls,), {"compile": compile_claimed})


def _checksum(stored: bytes) -> bytes:
    return hashlib.blake2b(stored, digest_size=_CHECKSUM_BYTES).digest()


def keep_on_disk(dispatcher: Any) -> Any:
    """Give a dispatcher this cache; where Numba has moved its internals, leave it uncached and say so once."""
    if hasattr(dispatcher, "_cache") and hasattr(compiler.CompileResult, "_rebuild"):
        takes_memory = bool(dispatcher.targetoptions.get("_nrt"))
        dispatcher._cache = KernelCache(dispatcher.py_func, takes_memory=takes_memory)  # noqa: SLF001  no public place
        dispatcher.__class__ = _claiming(type(dispatcher))  # type: ignore[arg-type]
    else:
        warnings.warn(
            f"numba {numba.__version__} keeps its cache where dtnumba does not know it; kernels are compiled in every "
            "process; please report it",
            RuntimeWarning,
            stacklevel=3,
        )
    return dispatcher
