"""The cluster that a fit runs on."""

from __future__ import annotations

from typing import Any


def client_of(client: Any = None) -> Any:
    """Return the client that was passed, or else the one that was made last."""
    if client is not None:
        return client
    from distributed import get_client

    try:
        return get_client()
    except ValueError as error:
        raise ValueError(
            "there is no Dask client, which says where to work: start one with\n"
            "    from dask.distributed import Client\n"
            "    client = Client()"
        ) from error


def check_versions(client: Any) -> None:
    """Raise ValueError where a worker has another dtnumba or Numba than this process."""
