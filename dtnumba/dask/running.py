"""Tasks of a fit on a cluster: sent, watched, and taken back; whatever ends the fit, nothing of it stays there."""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.runtime.cluster import demand_version, versions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from typing_extensions import Self

    from dtnumba.runtime.progress import Monitor, Progress


_TICK = 0.05  # seconds between two looks at what runs


class Tasks:
    """The tasks of one fit, which are forgotten by the cluster when the ``with`` block ends.

    Parameters
    ----------
    client : distributed.Client
        Of the cluster.

    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self._sent: list[Any] = []
        # Results come past the scheduler where workers can be reached for sure; a client may say so, too.
        hosts = {_host(address) for address in [client.scheduler.address, *client.nthreads()]}
        self._is_near = True if len(hosts) == 1 and client.direct_to_workers is None else None

    def __enter__(self) -> Self:
        """Begin with no tasks."""
        return self

    def __exit__(self, *_: object) -> None:
        """Cancel what still runs, and forget the results."""
        sent, self._sent = self._sent, []
        running = [future for future in sent if not future.done()]
        if running:
            self.client.cancel(running, force=True)
        for future in sent:
            future.release()

    def send(self, function: Any, *args: Any, worker: str | None = None, name: str = "") -> Any:
        """Send one task, whose arguments may be futures; return its future. A worker is a wish, not a condition."""
        where = {} if worker is None else {"workers": [worker], "allow_other_workers": True}
        key = f"{name or function.__name__}-{_token()}"
        future = self.client.submit(OfVersion(function), *args, key=key, pure=False, **where)
        self._sent.append(future)
        return future

    def send_each(self, function: Any, parts: Sequence[Any], *args: Any, each: Sequence[Any] = ()) -> list[Any]:
        """Send a task a partition: ``function(X, y, weight, *args, one of each)``; return their futures.

        Partitions are read in the same graph, so that none stays in memory for longer than its task, unless the
        caller keeps it there.
        """
        from dask.delayed import delayed

        task = delayed(OfVersion(function), pure=False, traverse=False)
        own: Sequence[Any] = each or [()] * len(parts)
        made = [task(*part, *args, *one, dask_key_name=f"{function.__name__}-{_token()}")
                for part, one in zip(parts, own, strict=True)]  # fmt: skip
        futures = self.client.compute(made, optimize_graph=False)
        self._sent += futures
        return list(futures)

    def forget(self, futures: Sequence[Any]) -> None:
        """Let go of results: the cluster keeps how to make them as long as other tasks need them."""
        gone = {id(future) for future in futures}
        self._sent = [future for future in self._sent if id(future) not in gone]
        for future in futures:
            future.release()

    def keep(self, futures: Sequence[Any]) -> None:
        """Leave results on the cluster, to whoever holds their futures."""
        kept = {id(future) for future in futures}
        self._sent = [future for future in self._sent if id(future) not in kept]

    def wait(self, futures: Sequence[Any], monitor: Monitor) -> None:
        """Wait for futures; raise where one failed, or where the monitor stopped the work before."""
        halt = np.zeros(1, np.int64)

        def stay(_: bool) -> None:
            for future in futures:
                while not future.done() and halt[0] == 0:
                    _wait(future)
                if future.status == "error":
                    future.result()

        monitor.run_function(stay, halt, lambda: 0)
        if halt[0]:
            raise monitor.error or _stopped_early()

    def results(self, futures: Sequence[Any], monitor: Monitor, counts: Sequence[int] = ()) -> list[Any]:
        """Return the results of futures, in their order, as far as they were there when the monitor stopped the work.

        ``counts``: how many trees each of them is, for whoever looks at the progress. A result that is missing, and
        those behind it, are left out.
        """
        halt, numbers = np.zeros(1, np.int64), list(counts) or [0] * len(futures)
        found: list[Any] = []

        def done() -> int:
            return sum(number for number, future in zip(numbers, futures, strict=True) if future.done())

        def fetch(_: bool) -> None:
            # One by one, so that a result travels while the next one is made.
            for future in futures:
                while not future.done() and halt[0] == 0:
                    _wait(future)
                if not future.done():
                    break
                found.append(self.client.gather(future, direct=self._is_near))

        monitor.run_function(fetch, halt, done)
        if halt[0]:
            self.client.cancel([future for future in futures if not future.done()], force=True)
        return found

    def all_results(self, futures: Sequence[Any], monitor: Monitor) -> list[Any]:
        """Return the results of futures; raise where the monitor stopped the work before they were all there."""
        found = self.results(futures, monitor)
        if len(found) < len(futures):
            raise monitor.error or _stopped_early()
        return found


class OfVersion:
    """A function that refuses workers of other versions, also those that join after the fit began."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.made_by = function, versions()

    def __call__(self, *args: Any) -> Any:
        """Return what the function returns."""
        demand_version(self.made_by, "This worker")
        return self.function(*args)


def _stopped_early() -> TimeoutError:
    return TimeoutError(
        "the work was stopped while rows were read, before the first tree was begun; allow more time (max_seconds), "
        "or keep the partitions in the workers' memory (persist)"
    )


def _wait(future: Any) -> None:
    from distributed import wait

    try:
        wait([future], timeout=_TICK)
    except (TimeoutError, OSError):
        time.sleep(0)


def _host(address: str) -> str:
    return address.partition("://")[2].rpartition(":")[0]


def _token() -> str:
    return uuid.uuid4().hex


def threads_of(client: Any) -> list[str]:
    """Return the address of a worker for each thread of the cluster, the first one of every worker before the second.

    The order is that of the addresses, so it does not depend on when workers came.
    """
    threads: dict[str, int] = client.nthreads()
    most = max(threads.values(), default=0)
    return [address for k in range(most) for address in sorted(threads) if k < threads[address]]


def unless_cancelled() -> Callable[[Progress], bool]:
    """Return a callback for the work of a task: it stops once the cluster does not want the result any more."""
    try:
        from distributed import get_worker
        from distributed.worker import thread_state

        worker, key = get_worker(), thread_state.key
    except (AttributeError, ImportError, ValueError):  # no task: called directly, or by a scheduler of this process
        return lambda _: True

    def is_wanted(_: Progress) -> bool:
        task = worker.state.tasks.get(key)
        return task is not None and task.state not in {"cancelled", "released", "forgotten"}

    return is_wanted
