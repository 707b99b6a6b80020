"""A Dask cluster as seen from here: its client, and whether its workers run the same versions."""

from __future__ import annotations

import sys
from typing import Any

import numba

_HOW_TO_START = "from dask.distributed import Client\n    client = Client()"


def versions() -> dict[str, str]:
    """Return the versions that answers and compiled code depend on."""
    return {"dtnumba": str(sys.modules["dtnumba"].__version__), "numba": numba.__version__}


def demand_version(theirs: dict[str, str], who: str) -> None:
    """Raise where a process of other versions sent something to this one, ``who``."""
    ours = versions()
    if theirs != ours:
        raise VersionsDifferError(
            f"{who} runs {_told(ours)}, and what it is sent comes from {_told(theirs)}: {_REMEDY}"
        )


_REMEDY = "bits are promised of equal versions only; install the same on the client, the scheduler and all workers"


class VersionsDifferError(ValueError):
    """Raised where a worker runs another dtnumba or Numba than the process that asks it."""


def _told(found: dict[str, Any]) -> str:
    return f"dtnumba {found['dtnumba']} with Numba {found['numba']}"


def client_of(client: Any = None) -> Any:
    """Return the client of a Dask cluster.

    Parameters
    ----------
    client : distributed.Client, optional
        It is returned. Otherwise a task gets that of its worker, and everybody else the one that was started last.

    """
    try:
        import distributed
    except ImportError as error:
        raise ImportError("Dask's distributed is not installed: pip install 'dtnumba[dask]'") from error
    if client is not None:
        if not isinstance(client, distributed.Client):
            raise TypeError(
                f"client={client!r:.80}: must be a Client of dask.distributed; start one by\n    {_HOW_TO_START}"
            )
        if client.status != "running":
            raise ValueError(f"client={client!r:.80} is {client.status}; start another one by\n    {_HOW_TO_START}")
        if client.asynchronous:
            raise TypeError("client is asynchronous: pass one that waits for answers, Client(asynchronous=False)")
        return client
    try:
        return distributed.get_client()
    except ValueError as error:
        raise ValueError(
            f"There is no Dask client here. These two lines start one on this machine:\n    {_HOW_TO_START}"
        ) from error


def check_versions(client: Any) -> None:
    """Raise where a worker of a cluster runs another dtnumba or Numba than this process, or none.

    Parameters
    ----------
    client : distributed.Client
        Of the cluster. The scheduler takes no part in answers and is not asked.

    """
    ours = versions()
    for worker, found in client.run(_asker()).items():
        if found["dtnumba"] is None:
            raise VersionsDifferError(
                f"Worker {worker} has no dtnumba ({found['error']}), and this process runs {_told(ours)}: install "
                "dtnumba[dask] on all workers"
            )
        if {name: found[name] for name in ours} != ours:
            raise VersionsDifferError(f"Worker {worker} runs {_told(found)}, and this process {_told(ours)}: {_REMEDY}")


def _asker() -> Any:
    """Return a function that tells the versions of a worker; it travels by value, to those without dtnumba, too."""

    def found() -> dict[str, Any]:
        from importlib import import_module

        try:
            return {name: import_module(name).__version__ for name in ("dtnumba", "numba")}
        except ImportError as error:
            return {"dtnumba": None, "numba": None, "error": str(error)}

    return found
