"""Fits of parts of a table on a Dask cluster: the table goes once to each worker, a task is a few splits by number.

A fit depends on its split and its number alone, so it has the bits that it has here, wherever it is done and however
often. What a worker took with it when it died is sent and done again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from dtnumba.runtime.cluster import check_versions, client_of, demand_version, versions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dtnumba.validation.folds import Split, Splits

_TASKS_A_THREAD = 4  # so that no thread idles long at the end, and small fits do not wait for the scheduler
_TRIALS = 5


class Refitting(NamedTuple):
    """``work(index, split, fitted)`` of every split of one table."""

    refits: Any
    splits: Splits
    work: Callable[[int, Split, Any], Any]


class _SentRefitting(NamedTuple):
    """A job, and the versions that its answers are those of."""

    job: Refitting
    made_by: dict[str, str]


class _Part(NamedTuple):
    """Splits [start, stop) of a job, done by a task."""

    job: int
    start: int
    stop: int


def cluster_of(client: Any, n_jobs: int | None) -> Any:
    """Return a client whose workers may be asked to fit; raise where they may not."""
    if n_jobs is not None:
        raise ValueError(
            f"n_jobs={n_jobs!r} counts threads of this process, and with client= the threads of its workers fit: pass "
            "one of the two"
        )
    client = client_of(client)
    if not client.nthreads():
        raise ValueError("client: its cluster has no workers yet; wait for some by client.wait_for_workers(1)")
    check_versions(client)
    return client


def done_on_cluster(client: Any, jobs: Sequence[Refitting]) -> list[list[Any]]:
    """Return the answers of each job, in the order of its splits."""
    n_threads = sum(client.nthreads().values())
    waiting = _parts(jobs, n_threads)
    answers: dict[_Part, list[Any]] = {}
    n_splits = sum(len(job.splits) for job in jobs)
    for _ in range(_TRIALS):
        lacking = {part.job for part in waiting}
        # In a list: of a tuple Dask would send each part by itself.
        sent = {j: client.scatter([_SentRefitting(jobs[j], versions())], hash=False)[0] for j in lacking}
        futures = {
            client.submit(_fits, sent[part.job], part.start, part.stop, n_threads // n_splits, pure=False): part
            for part in waiting
        }
        try:
            answers |= _answers(futures)
        finally:  # of an error, or Ctrl-C, too
            client.cancel([*futures, *sent.values()])
        waiting = [part for part in waiting if part not in answers]
        if not waiting:
            break
    else:
        raise RuntimeError(
            f"client: its cluster lost the workers that held the table, {_TRIALS} times; look at their logs and memory"
        )
    found: list[list[Any]] = [[] for _ in jobs]
    for part in sorted(answers):
        found[part.job] += answers[part]
    return found


def _answers(futures: dict[Any, _Part]) -> dict[_Part, list[Any]]:
    """Return what tasks found; without those that a worker took the table from when it died."""
    from distributed import as_completed

    done = as_completed(futures)
    return {futures[future]: future.result() for future in done if future.status not in {"cancelled", "lost"}}


def _parts(jobs: Sequence[Refitting], n_threads: int) -> list[_Part]:
    n_splits = sum(len(job.splits) for job in jobs)
    together = max(1, n_splits // (_TASKS_A_THREAD * n_threads))
    return [
        _Part(j, start, min(start + together, len(job.splits)))
        for j, job in enumerate(jobs)
        for start in range(0, len(job.splits), together)
    ]


def _fits(sent: _SentRefitting, start: int, stop: int, threads: int) -> list[Any]:
    from distributed import get_worker

    demand_version(sent.made_by, "This worker")
    refits, splits, work = sent.job
    threads = max(1, min(threads, get_worker().state.nthreads))
    found = []
    for index in range(start, stop):
        split = splits[index]
        found.append(work(index, split, refits.fitted(split, index, threads=threads)))
    return found
