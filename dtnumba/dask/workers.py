"""What workers of a cluster have before they fit: the same versions, and compiled code, once a machine.

Workers of one machine share a folder of compiled kernels, and one waits for what another compiles, so nothing has to be
done for it. ``warm_up`` does it ahead, or sends kernels that were compiled elsewhere.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dtnumba.estimators import warm_up as compiling
from dtnumba.estimators.recipes import learners as known_learners
from dtnumba.runtime import disk_cache, portable
from dtnumba.runtime.cluster import check_versions, client_of, demand_version, versions

if TYPE_CHECKING:
    from collections.abc import Sequence

NAME = "dtnumba"  # of the plugin: a later one takes its place


def warm_up(*learners: str, kernels: str | os.PathLike[str] | None = None, client: Any = None) -> dict[str, list[str]]:
    """Give the workers of a cluster compiled code ahead of the first fit, also those that join it later.

    Parameters
    ----------
    *learners : str
        What is compiled, by one worker of each machine: learners such as "RandomForestClassifier".
    kernels : path, optional
        In place of learners: a folder that ``python -m dtnumba warmup --portable LEVEL --out FOLDER`` made. It is sent,
        and no worker whose processor has that level compiles what is in it.
    client : distributed.Client, optional
        Of the cluster; by default the one that was started last.

    Returns
    -------
    dict of str to list of str
        For each worker the kinds of fits that it compiled; empty where all was there.

    """
    if bool(learners) == (kernels is not None):
        raise ValueError(
            f"warm_up: learners={learners!r} and kernels={kernels!r}: pass names of learners, which workers compile, "
            "or kernels, which are sent to them"
        )
    unknown = [name for name in learners if name not in known_learners()]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is no learner that can be compiled; known are {', '.join(known_learners())}")
    files = {} if kernels is None else _read(Path(kernels))
    client = client_of(client)
    check_versions(client)
    client.register_plugin(_plugin(learners, files))
    addresses = list(client.nthreads())
    # In threads of the workers: their loops must go on telling the scheduler that they live.
    sent = [
        client.submit(compiled_ahead, learners, workers=[address], allow_other_workers=False, pure=False)
        for address in addresses
    ]
    try:
        return dict(zip(addresses, client.gather(sent), strict=True))
    finally:
        client.cancel(sent)


def compiled_ahead(learners: Sequence[str]) -> list[str]:
    """Compile what fits of learners need, if no other process of this machine has; return what was compiled here."""
    if not learners:
        return []
    folder = disk_cache.cache_folder()
    if folder is None:
        raise OSError("this worker has no folder to keep compiled kernels in; set NUMBA_CACHE_DIR, or send kernels=")
    names = sorted(set(learners))
    done = folder / f"warm-{hashlib.sha256(' '.join(names).encode()).hexdigest()[:16]}.done"
    with disk_cache.claimed(done):
        if done.exists():
            return []
        found = compiling.warmup(*names, verbose=False)
        done.touch()
        return found


def _read(folder: Path) -> dict[str, bytes]:
    if not (folder / portable.MANIFEST).is_file():
        raise ValueError(
            f"kernels={str(folder)!r} has no {portable.MANIFEST}: pass a folder that `python -m dtnumba warmup "
            "--portable LEVEL --out FOLDER` made"
        )
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


def _plugin(learners: Sequence[str], files: dict[str, bytes]) -> Any:
    """Return the plugin of workers; its class can be made only where distributed is."""
    from distributed import WorkerPlugin

    class Prepared(WorkerPlugin):  # type: ignore[misc] # of a package without types
        """Versions and kernels of a worker, looked after when it starts."""

        name = NAME

        def __init__(self) -> None:
            self.made_by, self.learners, self.files = versions(), tuple(learners), files

        async def setup(self, worker: Any) -> None:
            """Prepare a worker; of another version it does not start."""
            demand_version(self.made_by, f"Worker {worker.address if worker.status.name == 'running' else worker.name}")
            if self.files:
                folder = Path(worker.local_directory) / "dtnumba-kernels"
                await asyncio.to_thread(unpacked, self.files, folder)
                os.environ[portable.FOLDER] = str(folder)
            if worker.status.name != "running":  # it joins, and nobody waits for it
                threading.Thread(target=compiled_ahead, args=(self.learners,), daemon=True).start()

    return Prepared()


def unpacked(files: dict[str, bytes], folder: Path) -> None:
    """Write files to a folder of this user's own, the manifest last: without it the folder is not used."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name in sorted(files, key=lambda name: name == portable.MANIFEST):
        (folder / name).write_bytes(files[name])
