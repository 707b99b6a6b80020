"""Where jobs could fall off a cliff: busy cores, sparse and wide tables, many classes, levels, deep trees; and growth.

usage: python benchmarks/bench_cliffs.py [--only TEXT] [--busy] [--layer omp|tbb|workqueue] [--limit S] [--threads N]

``cliff_jobs.py`` names the jobs. Each side of a job runs in a process of its own, which is ended after ``--limit``
seconds of work, so that a cliff is a row and not the end. Peer is scikit-learn where the row does not say what else; of
"threads", ours on one. ``--busy`` starts processes that use a core meanwhile. The last rows grow one dimension by four:
ratio is the exponent of our time, and the peer's stands in brackets.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import threading
from contextlib import contextmanager

from cliff_jobs import JOBS
from measure import HERE, Row, duration, table

SETUP = 400.0  # seconds to make the table and to compile


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", metavar="TEXT", help="jobs whose names hold this")
    parser.add_argument("--busy", nargs="?", type=int, const=1, default=0, metavar="N", help="busy neighbours (1)")
    parser.add_argument("--layer", choices=["omp", "tbb", "workqueue"], help="threading layer")
    parser.add_argument("--limit", type=float, default=60.0, metavar="S", help="seconds of work of a side (60)")
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


@contextmanager
def neighbours(n):
    """Have so many processes use a core each."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(n)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()


def side(options, name, who, scale):
    """Return what one side of a job took, or None where it was ended; {"failed": words} where it failed."""
    command = [sys.executable, str(HERE / "cliff_jobs.py"), name, who, str(scale), str(options.threads)]
    layer = {} if options.layer is None else {"NUMBA_THREADING_LAYER": options.layer}
    process = subprocess.Popen(  # noqa: S603  this interpreter, on a script that stands beside this one
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | layer
    )
    timer = threading.Timer(SETUP, process.kill)
    timer.start()
    found, started = None, False
    for line in process.stdout:
        if line.startswith("@start"):
            started = True
            timer.cancel()
            timer = threading.Timer(options.limit, process.kill)
            timer.start()
        elif line.startswith("{"):
            found = json.loads(line)
            break
    timer.cancel()
    words = process.stderr.read().strip().splitlines()
    code = process.wait()
    if found is None and code > 0:
        return {"failed": words[-1][:80] if words else f"exit {code}"}
    return found if started else {"failed": f"not ready after {SETUP:.0f} s"}


def shown(options, found):
    if found is None:
        return f"> {options.limit:g} s"
    return found["failed"] if "failed" in found else duration(found["seconds"])


def seconds_of(options, found):
    """Return seconds; where a side was ended, the limit, which it took at least."""
    return math.nan if found is not None and "failed" in found else options.limit if found is None else found["seconds"]


def row(options, name):
    """Return the row of a job of one size."""
    target = JOBS[name].target
    ours = side(options, name, "ours", 1)
    has_peer = "list" not in name and "CHAID" not in name
    peer = side(options, name, "peer", 1) if has_peer else {"failed": "-"}
    taken, theirs = seconds_of(options, ours), seconds_of(options, peer)
    done = ours is not None and "failed" not in ours
    held, words = [done], []
    most = target.busy if options.busy and target.busy is not None else target.ratio
    if target.seconds is not None:
        held.append(taken <= target.seconds)
        words.append(f"<= {target.seconds:g} s")
    if most is not None:
        held.append(taken <= most * theirs)
        words.append(f"<= {most:.2f}x of the peer's")
    answer = f"{taken / theirs:.2f}x" if theirs == theirs else "-"
    for limit, unit, size in ((target.memory, "x the input", None), (target.megabytes, " MB", 1e6)):
        if limit is not None and done:
            amount = ours["held"] / (size or ours["input"])
            held.append(amount <= limit)
            words.append(f"peak <= {limit:g}{unit}")
            answer += f", peak {amount:.3g}{unit}"
    checked = ""
    if done and peer is not None and "failed" not in peer:
        checked = f"scores: ours {ours['score']:.4f}, peer {peer['score']:.4f}"
        if ours["score"] < peer["score"] - target.noise:
            held.append(False)
            checked += ", **below by more than noise**"
    reached = "yes" if all(held) else "**no**"
    return Row(name, shown(options, peer), shown(options, ours), answer, ", ".join(words), reached, checked)


def growth(options, name):
    """Return the row of a job whose time is to grow no faster than by an exponent."""
    found = {who: [side(options, name, who, scale) for scale in (1, 4)] for who in ("ours", "peer")}
    times = {who: [seconds_of(options, one) for one in both] for who, both in found.items()}
    powers = {who: math.log(one[1] / one[0], 4) for who, one in times.items()}
    limit = max(JOBS[name].target.exponent, powers["peer"] if powers["peer"] == powers["peer"] else 0.0)
    ended = found["ours"][1] is None
    scores = {who: [(one or {}).get("score", math.nan) for one in pair] for who, pair in found.items()}
    noise = JOBS[name].target.noise
    worse = any(mine < theirs - noise for mine, theirs in zip(scores["ours"], scores["peer"], strict=True))
    both = {who: " to ".join(shown(options, one) for one in pair) for who, pair in found.items()}
    reached = "yes" if powers["ours"] <= limit and not ended and not worse else "**no**"
    checked = ", ".join(f"{who} {pair[0]:.4f} and {pair[1]:.4f}" for who, pair in scores.items())
    ratio, target = f"{powers['ours']:.2f} ({powers['peer']:.2f})", f"exponent <= {limit:.2f}"
    return Row(f"4x the {name}", both["peer"], both["ours"], ratio, target, reached, f"scores: {checked}")


def run():
    options, rows = parse(), []
    with neighbours(options.busy):
        for name in JOBS:
            if options.only is None or options.only in name:
                make = row if JOBS[name].target.exponent is None else growth
                rows.append(make(options, name))
                print(f"{name}: {rows[-1].ours}, peer {rows[-1].peer}, {rows[-1].reached}", file=sys.stderr, flush=True)
    print(f"{options.threads} threads, layer {options.layer or 'as Numba chooses'}, {options.busy} busy neighbours\n")
    print("\n".join(table(rows)))
    return int(any(one.reached != "yes" for one in rows))


if __name__ == "__main__":
    sys.exit(run())
