"""Time two ways of doing a job side by side, hold the ratio against its target, print rows of a Markdown table."""

import argparse
import gc
import json
import math
import os
import platform
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median

HERE = Path(__file__).parent
VERSIONED = ("dtnumba", "numba", "llvmlite", "numpy", "scikit-learn", "tbb", "c50py", "ydf", "onnxruntime", "skl2onnx")
COLUMNS = ("job", "peer", "ours", "ratio", "target", "reached")


@dataclass(frozen=True)
class Options:
    """What the command line says."""

    rows: int | None
    repeats: int
    threads: int
    quick: bool
    data: Path | None
    json: Path | None
    onedal: Path | None
    weka: Path | None
    peers: Path | None

    def size(self, full, quick):
        """Return the number of rows of a job whose target is for ``full`` rows."""
        return self.rows or (quick if self.quick else full)

    @property
    def is_full(self):
        """Whether the targets apply, which are for the full sizes."""
        return self.rows is None and not self.quick


@dataclass(frozen=True)
class Row:
    """A line of the table, and beside it what was checked about the answers."""

    job: str
    peer: str
    ours: str
    ratio: str
    target: str
    reached: str
    checked: str = ""


@dataclass(frozen=True)
class Timing:
    """Seconds of every repeat."""

    seconds: list

    @property
    def median(self):
        """Seconds of the middle repeat."""
        return median(self.seconds)

    def __str__(self):
        """Say the median, and the best of how many."""
        if len(self.seconds) == 1:
            return f"{duration(self.median)} (once)"
        return f"{duration(self.median)} (min {duration(min(self.seconds))} of {len(self.seconds)})"


def duration(seconds):
    """Write seconds with three digits and a fitting unit."""
    for unit, name in ((1, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= unit or name == "us":
            return f"{seconds / unit:#.3g} {name}".replace(". ", " ")
    raise AssertionError


def in_turns(jobs, repeats, calls=1):
    """Call named jobs in turns, so that a bad minute of the machine hits all; return their Timings. All must be warm.

    ``repeats`` says how often each is called. What is too short for the clock is called several times a repeat; the
    Timing is of one call.
    """
    times = {name: [] for name in jobs}
    for k in range(max(repeats.values())):
        for name, call in jobs.items():
            if k < repeats[name]:
                gc.collect()
                began = time.perf_counter()
                for _ in range(calls):
                    call()
                times[name].append((time.perf_counter() - began) / calls)
    return {name: Timing(seconds) for name, seconds in times.items()}


def side_by_side(peer, ours, repeats, peer_repeats=None, calls=1):
    """Time a job of ours beside one of a peer, as ``in_turns`` does; return both Timings."""
    counts = {"peer": repeats if peer_repeats is None else peer_repeats, "ours": repeats}
    times = in_turns({"peer": peer, "ours": ours}, counts, calls)
    return times["peer"], times["ours"]


def verdict(options, reached):
    """Say whether a target is met; a size that it is not meant for has no verdict."""
    if reached is None or not options.is_full:
        return "-"
    return "yes" if reached else "**no**"


def faster(options, job, peer, ours, at_least, checked):
    """Return the row of a job that must take at most 1 / ``at_least`` of the peer's time; None: no target."""
    ratio = peer.median / ours.median
    target, reached = ("-", None) if at_least is None else (f">= {at_least:g}x", ratio >= at_least)
    return Row(job, str(peer), str(ours), f"{ratio:.2f}x", target, verdict(options, reached), checked)


def at_most(options, job, peer, ours, ratio, limit, checked="", unit="x"):
    """Return the row of a job whose ``ratio`` must not exceed a limit; None: no target."""
    target, reached = ("-", None) if limit is None else (f"<= {limit:.3g}{unit}", ratio <= limit)
    return Row(job, peer, ours, f"{ratio:.3g}{unit}", target, verdict(options, reached), checked)


def demand(holds, said):
    """Stop where an answer is wrong: a time for it would mean nothing. Unlike assert, this holds under -O too."""
    if not holds:
        raise SystemExit(f"the answers disagree: {said}")


def demand_alike(ours, peer, test, rows, *, leaves=0.01, score=0.005, better=0.005):
    """Demand leaves within a share of the peer's (None: any), and its held-out score; return what was found.

    The limits are for 100k rows and more. Ties are broken differently, so trees of fewer rows differ by more.
    """
    scores, wider = (ours.score(*test), peer.score(*test)), max(1.0, math.sqrt(100_000 / rows))
    said = (
        f"leaves {ours.n_leaves:,} (peer {peer.n_leaves:,}), held-out "
        f"{'accuracy' if ours.of_classes else 'R2'} {scores[0]:.4f} (peer {scores[1]:.4f})"
    )
    demand(leaves is None or abs(ours.n_leaves - peer.n_leaves) <= wider * leaves * peer.n_leaves, said)
    demand(-wider * score <= scores[0] - scores[1] <= wider * better, said)
    return said


def fresh_process(script, *arguments, environment=None):
    """Run a script of this folder in a process of its own; return its last line, read as JSON, and the wall seconds."""
    command = [sys.executable, str(HERE / script), *map(str, arguments)]
    began = time.perf_counter()
    done = subprocess.run(  # noqa: S603  this interpreter, on a script that stands beside this one
        command, capture_output=True, text=True, check=False, env=os.environ | (environment or {})
    )
    seconds = time.perf_counter() - began
    demand(done.returncode == 0, f"{' '.join(command[1:])} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1]), seconds


def parse(description, argv=None):
    """Read the options that every script takes."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--rows", type=int, metavar="N", help="rows of every table, for trying a script out")
    parser.add_argument("--repeats", type=int, default=5, metavar="N", help="of what is not too slow (default: 5)")
    threads = min(2, os.cpu_count() or 1)
    parser.add_argument("--threads", type=int, default=threads, metavar="N", help="ours (default: 2, as the targets)")
    parser.add_argument("--quick", action="store_true", help="small tables; the targets do not apply")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="has covtype.npz, datasets.json: real data")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows there, too")
    parser.add_argument(
        "--onedal",
        type=Path,
        metavar="PYTHON",
        default=os.environ.get("DTNUMBA_ONEDAL_PYTHON") or None,
        help="a Python that has scikit-learn-intelex, for the rows against oneDAL (default: $DTNUMBA_ONEDAL_PYTHON)",
    )
    parser.add_argument(
        "--weka",
        type=Path,
        metavar="JAR",
        default=os.environ.get("DTNUMBA_WEKA_JAR") or None,
        help="weka.jar, for the rows against Weka's J48 (default: $DTNUMBA_WEKA_JAR)",
    )
    parser.add_argument(
        "--peers", type=Path, metavar="PYTHON", help="a Python that has obliquetree, or river, for the rows against it"
    )
    return Options(**vars(parser.parse_args(argv)))


def surroundings(options):
    """Say in lines what the numbers depend on."""
    versions = [f"{name} {installed_version(name)}" for name in VERSIONED]
    return [
        f"{platform.python_implementation()} {platform.python_version()}, {', '.join(versions)}",
        f"{_processor()}, {os.cpu_count()} cores; {options.threads} threads for dtnumba; load {_load()}",
        f"oneDAL: {onedal_version(options.onedal)}",
        "times are medians; ratios are of medians; a job marked `once` takes the peer too long to repeat",
    ]


def installed_version(name):
    """Return the version of a package; of this one as it says itself, because another copy may be installed."""
    if name == "dtnumba":
        return import_module(name).__version__
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def onedal_version(python):
    """Return the versions in the interpreter that runs oneDAL, or what to do where there is none."""
    if python is None:
        return "left out; --onedal PYTHON names an interpreter that has scikit-learn-intelex"
    names = ("scikit-learn-intelex", "daal", "scikit-learn")
    code = f"from importlib.metadata import version; print(*(n + ' ' + version(n) for n in {names}), sep=', ')"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)  # noqa: S603  the caller named it
    if done.returncode:
        raise SystemExit(f"--onedal {python}: scikit-learn-intelex is not installed there:\n{done.stderr}")
    return done.stdout.strip()


def _processor():
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _load():
    return f"{os.getloadavg()[0]:.1f} at the start" if hasattr(os, "getloadavg") else "unknown"


def table(rows):
    """Return the lines of a Markdown table and, below it, of what was checked."""
    lines = [f"| {' | '.join(COLUMNS)} |", f"|{'---|' * len(COLUMNS)}"]
    lines += [f"| {' | '.join(getattr(row, column) for column in COLUMNS)} |" for row in rows]
    checked = [f"- {row.job}: {row.checked}" for row in rows if row.checked]
    return [*lines, "", "checked:", *checked] if checked else lines


def main(description, jobs):
    """Run the jobs of a script, functions of the options that return rows, print their table, and return the rows."""
    options = parse(description)
    around = surroundings(options)
    rows = []
    for job in jobs:
        rows += job(options)
        print(f"{job.__name__}: done", file=sys.stderr, flush=True)
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(row) for row in rows]))
    print("\n".join([*around, "", *table(rows)]), flush=True)
    return rows
