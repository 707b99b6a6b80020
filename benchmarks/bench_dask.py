"""Forests on clusters of this machine, of processes of one thread, against the local fit: bits, time, memory, bytes.

Every job compares the digest of its trees with that of the local fit. ``hashes`` goes through numbers of workers, both
strategies and uneven partitions; ``speed`` is H 1M x 28, 20 trees; ``killed`` kills a worker at random moments of ten
fits; ``sent`` counts the bytes that workers receive; ``memory`` is 20M x 28 over four workers;
``predicted`` predicts many rows lazily. Without names all are run; ``--quick`` takes small tables.
"""

import argparse
import hashlib
import os
import random
import signal
import threading
import time
from pathlib import Path

import numpy as np
from data import H

import dtnumba
import dtnumba.dask

KIND = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0", "memory_limit": "6GB"}


def digest(trees):
    found = hashlib.sha256()
    for name, column in zip(trees._fields, trees, strict=True):
        if isinstance(column, np.ndarray):
            found.update(name.encode() + np.ascontiguousarray(column).tobytes())
    return found.hexdigest()[:16]


def bytes_of(trees):
    return sum(column.nbytes for column in trees if isinstance(column, np.ndarray))


def cluster_of(n):
    from dask.distributed import Client, LocalCluster

    cluster = LocalCluster(n_workers=n, **KIND)
    return cluster, Client(cluster)


def persisted(client, arrays, n_parts, *, uneven=False):
    import dask.array
    from dask.distributed import wait

    n = len(arrays[0])
    weights = np.arange(1, n_parts + 1) if uneven else np.ones(n_parts)
    cuts = np.diff(np.concatenate([[0], np.cumsum(weights) / weights.sum() * n]).astype(int)).tolist()
    if uneven:
        cuts.insert(1, 0)
    lazy = [dask.array.from_array(array, chunks=(tuple(cuts), *array.shape[1:])).persist() for array in arrays]
    wait(lazy)
    client.rebalance()
    return lazy


def hashes(options):
    n = options.rows or (2_000 if options.quick else 100_000)
    rng = np.random.default_rng(0)
    X, y, *_ = H(n)
    X = X.copy()
    number = np.nan_to_num(X[:, 0].astype(float)) + y
    X[:, 27] = rng.integers(0, 40, n)
    X[rng.random(X.shape) < 0.02] = np.nan
    weight = rng.integers(0, 3, n).astype(float)
    levels = {"categorical_features": [27]}
    jobs = {
        "classes, missing": ("RandomForestClassifier", {}, y, None),
        "classes, missing, weights, categories": ("RandomForestClassifier", levels, y, weight),
        "numbers, missing, weights, categories": ("RandomForestRegressor", levels, number, weight),
        "classes, drawn thresholds": ("ExtraTreesClassifier", {}, y, None),
    }
    shared = {"n_estimators": 4 if options.quick else 8, "random_state": 0, "max_depth": 12, "max_bins": 255}
    found = {name: getattr(dtnumba, kind)(**shared, **params).fit(X, *[one for one in rest if one is not None])
             for name, (kind, params, *rest) in jobs.items()}  # fmt: skip
    for n_workers in (1, 2, 3, 5):
        cluster, client = cluster_of(n_workers)
        with cluster, client:
            for name, (kind, params, *rest) in jobs.items():
                lazy = persisted(client, [X, *[one for one in rest if one is not None]], 7, uneven=True)
                for strategy in ("replicate", "partition"):
                    model = getattr(dtnumba.dask, kind)(**shared, **params, strategy=strategy)
                    model.fit(*lazy, client=client)
                    verdict = "equal" if digest(model.trees_) == digest(found[name].trees_) else "NOT EQUAL"
                    print(f"| {name}, {n_workers} workers, {strategy} | {verdict} |", flush=True)


def speed(options):
    n = 20_000 if options.quick else 1_000_000
    X, y, *_ = H(n)
    local, took = dtnumba.RandomForestClassifier(20, random_state=0), []
    for _ in range(4):
        began = time.perf_counter()
        local.fit(X, y)
        took.append(time.perf_counter() - began)
    cluster, client = cluster_of(2)
    with cluster, client:
        lazy = persisted(client, [X, y], 8)
        for strategy in ("replicate", "partition"):
            model, ours = dtnumba.dask.RandomForestClassifier(20, random_state=0, strategy=strategy), []
            for _ in range(5):
                began = time.perf_counter()
                model.fit(*lazy, client=client)
                ours.append(time.perf_counter() - began)
            assert digest(model.trees_) == digest(local.trees_)
            print(f"| H {n} x 28, 20 trees, {strategy}, 2 workers | {min(ours):.2f} s | local {min(took):.2f} s | "
                  f"{min(ours) / min(took):.2f}x |", flush=True)  # fmt: skip


def killed(options):
    n, rounds = (2_000, 2) if options.quick else (100_000, 10)
    X, y, *_ = H(n)
    local = dtnumba.RandomForestClassifier(24, random_state=0).fit(X, y)
    generator = random.Random(0)  # noqa: S311  moments, no secrets
    for strategy in ("replicate", "partition"):
        equal, length = 0, 0.0
        for k in range(rounds + 1):  # the first one says how long a fit takes
            cluster, client = cluster_of(3)
            with cluster, client:
                import dask.array

                lazy = [dask.array.from_array(array, chunks=(n // 6, *array.shape[1:])) for array in (X, y)]
                model = dtnumba.dask.RandomForestClassifier(24, random_state=0, strategy=strategy)
                victim = generator.choice(list(client.run(os.getpid).values()))
                timer = threading.Timer(generator.random() * length, os.kill, (victim, signal.SIGKILL))
                if k:
                    timer.start()
                began = time.perf_counter()
                is_same = digest(model.fit(*lazy, client=client).trees_) == digest(local.trees_)
                length = length or time.perf_counter() - began
                equal += is_same and k > 0
                timer.cancel() if not k else timer.join()
        print(f"| a worker killed at {rounds} random moments, {strategy} | {equal} of {rounds} equal |", flush=True)


def received(dask_worker):
    """Return the bytes of partitions that a worker received since it was asked last, and those of all else."""
    keys = [item for entry in dask_worker.transfer_incoming_log for item in entry["keys"].items()]
    dask_worker.transfer_incoming_log.clear()
    moved = sum(n for key, n in keys if str(key).startswith(("part_of_rows", "labels_of")))
    return moved, sum(n for _, n in keys) - moved


def sent(options):
    from dask import delayed

    n = options.rows or (20_000 if options.quick else 400_000)
    for n_workers in (2, 4):
        cluster, client = cluster_of(n_workers)
        with cluster, client:
            # Partitions that are made where they are read: those in memory are moved by Dask as it likes.
            parts = [delayed(part_of_rows)(seed, n // 8) for seed in range(8)]
            lazy = parts, [delayed(labels_of)(part) for part in parts]
            for strategy, depth in (("replicate", None), ("partition", None), ("partition", 8)):
                model = dtnumba.dask.RandomForestClassifier(8, random_state=0, max_depth=depth, strategy=strategy)
                client.run(received)
                model.fit(*lazy, client=client)
                time.sleep(0.5)
                moved, measured = (sum(each) for each in zip(*client.run(received).values(), strict=True))
                told = model.sent_bytes_
                print(f"| received by {n_workers} workers, {strategy}, depth {depth} | {measured / 1e6:.1f} MB | "
                      f"formula {told / 1e6:.1f} MB, {measured / told:.2f}x | "
                      f"partitions that Dask moved {moved / 1e6:.1f} MB |", flush=True)  # fmt: skip


def peak(dask_worker):
    # What getrusage says begins with the process that started this one.
    status = Path("/proc/self/status").read_text(encoding="ascii").split("VmHWM:")[1]
    return int(status.split()[0]) * 1024


def part_of_rows(seed, n):
    rng = np.random.default_rng(seed)
    return rng.random((n, 28), dtype=np.float32)


def labels_of(X):
    return (X[:, 0] + X[:, 1] * X[:, 2] > 0.75).astype(np.uint8)


def memory(options):
    from dask import delayed

    n, n_parts = (40_000, 8) if options.quick else (20_000_000, 200)
    if options.rows:
        n, n_parts = options.rows, max(8, options.rows // 100_000)
    cluster, client = cluster_of(4)
    with cluster, client:
        parts = [delayed(part_of_rows)(seed, n // n_parts) for seed in range(n_parts)]
        targets = [delayed(labels_of)(part) for part in parts]
        idle = max(client.run(peak).values())
        began = time.perf_counter()
        model = dtnumba.dask.RandomForestClassifier(4, random_state=0, max_depth=8, strategy="partition")
        model.fit(parts, targets, client=client)
        seconds = time.perf_counter() - began
        most, share = max(client.run(peak).values()), n * 28 / 4
        bound = 1.6 * share + 3e8
        print(f"| memory of a worker, partition, {n} x 28 over 4 workers, depth 8 | {most / 1e6:.0f} MB, idle "
              f"{idle / 1e6:.0f} MB | at most {bound / 1e6:.0f} MB | {seconds:.0f} s |", flush=True)  # fmt: skip


def predicted(options):
    import dask.array

    n = 20_000 if options.quick else 20_000_000
    X, y, *_ = H(100_000)
    model, took = dtnumba.RandomForestClassifier(20, random_state=0, max_depth=10).fit(X, y), {}
    for n_workers in (1, 2):
        cluster, client = cluster_of(n_workers)
        with cluster, client:
            rows = dask.array.random.default_rng(0).random((n, 28), chunks=(max(n // 100, 1), 28), dtype=np.float32)
            model.predict(rows[: n // 100]).compute()
            began = time.perf_counter()
            total = int(model.predict(rows).sum().compute())
            took[n_workers] = time.perf_counter() - began
    print(f"| {n} rows predicted lazily | one worker {took[1]:.1f} s, two {took[2]:.1f} s | "
          f"{took[1] / took[2]:.2f}x | {total} |", flush=True)  # fmt: skip


JOBS = {job.__name__: job for job in (hashes, speed, killed, sent, memory, predicted)}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("jobs", nargs="*", default=list(JOBS), choices=[*JOBS, []])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rows", type=int, help="of hashes, sent and memory")
    given = parser.parse_args()
    for job in given.jobs:
        JOBS[job](given)
