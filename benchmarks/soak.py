"""Fit any estimator with any legal parameters on any table, and check what must hold of every fit.

usage: python benchmarks/soak.py [--seed N] [--seconds S]     compiled and interpreted fits side by side
       python benchmarks/soak.py --seed N --kinds 1           repeats a kind of fit
       python benchmarks/soak.py --forests                    forests from many threads at once: see forest_soak.py
       python benchmarks/soak.py --trees --seconds 60         likewise trees, two threads each: see tree_soak.py

``soak_draw`` says what is drawn, ``soak_checks`` and ``soak_peer`` what is checked. Fits run in two processes: one
compiles, on tables of up to 60,000 rows, which repays the seconds that a kind of fit compiles by several tables; the
other one is interpreted, on small tables of many kinds. A process that dies, or does not answer, is a finding, too.
Each finding is printed with a script that repeats it, made as small as it can be in some seconds.
"""

import argparse
import contextlib
import math
import os
import queue
import subprocess
import sys
import threading
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

MOST_TABLES = 12  # of a kind, compiled; interpreted, one
GRACE = 30.0  # seconds, for the last table
PATIENCE, WAIT = 60.0, 600.0  # seconds of work, and by the clock, for all checks of one table
SHRINKING = 10.0  # seconds, for a smaller case
STEP = 1_000_003  # from a kind's seed to those of its tables

SCRIPT = """\
# in the folder benchmarks{how}
import soak_checks, soak_draw, soak_peer
kind = soak_draw.drawn_kind({seed}, small={small})
case = soak_draw.drawn_case(kind, {table}, small={small}){less}
print(case)
{module}.{check}(case, soak_checks.fitted(case, n_jobs=1))
"""


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0, help="of the first kind of fit; each kind adds one")
    parser.add_argument("--seconds", type=float, help="when to stop (60, or never where --kinds says when)")
    parser.add_argument("--kinds", type=int, help="stop after so many kinds of fit in each process")
    parser.add_argument("--only", choices=["compiled", "interpreted"], help="one of the two processes")
    parser.add_argument("--estimator", metavar="NAME", help="that one alone")
    parser.add_argument("--forests", action="store_true", help="fit forests from many threads at once instead")
    parser.add_argument("--trees", action="store_true", help="grow trees from many threads at once instead")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.seconds is None:
        options.seconds = 60.0 if options.kinds is None else math.inf
    return options


class Worker:
    """A process that fits and checks; it is started anew behind the kind of fit that killed it."""

    def __init__(self, name, options, lines):
        self.name, self.options, self.lines = name, options, lines
        self.seed, self.at, self.ended, self.passing = options.seed, None, False, False
        self.tally = Counter()
        self.until = time.monotonic() + options.seconds
        self.start()

    def start(self):
        """Begin at ``seed``, for the time that is left."""
        left = max(0.0, self.until - time.monotonic())
        command = [sys.executable, "-X", "faulthandler", __file__, "--worker", "--only", self.name]
        command += ["--seed", str(self.seed), "--seconds", f"{left:.1f}"]
        if self.options.estimator is not None:
            command += ["--estimator", self.options.estimator]
        if self.options.kinds is not None:
            command += ["--kinds", str(self.options.kinds - (self.seed - self.options.seed))]
        environment = os.environ | {"NUMBA_DISABLE_JIT": "1" if self.name == "interpreted" else "0"}
        environment.setdefault("NUMBA_NUM_THREADS", "3")
        self.process = subprocess.Popen(  # noqa: S603  this script
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        )
        self.heard, self.worked, self.said = time.monotonic(), 0.0, []
        threading.Thread(target=self.listen, args=(self.process,), daemon=True).start()

    def listen(self, process):
        """Pass on what a process prints."""
        for line in process.stdout:
            self.lines.put((self, process, line.rstrip("\n")))
        self.lines.put((self, process, None))

    def hear(self, process, line):
        """Take a line; return what was found, if anything."""
        if process is not self.process:
            return None
        self.heard, self.worked = time.monotonic(), seconds_worked(process.pid)
        if line is None:
            return self.died(process.wait())
        word, _, rest = line.partition(" ")
        if word == "@kind":
            self.seed, self.at = int(rest) + 1, None
            self.tally["kinds"] += 1
        elif word == "@case":
            self.at, self.said = rest, []
        elif word == "@done":
            self.tally[rest] += 1
            self.at = None
        elif word == "@finding":
            self.passing = True
            return rest
        elif word == "@end":
            self.passing, self.at = False, None
        elif self.passing:
            print(line, flush=True)
        else:
            self.said.append(line)
        return None

    def died(self, code):
        """Return what was found where a process ended before its work did."""
        if code == 0 and self.at is None:
            self.ended = True
            return None
        found = self.finding(f"the process ended with {code}:\n" + "\n".join(self.said[-25:]))
        self.begin_anew()
        return found

    def finding(self, what):
        """Return words and a script that repeats the table at hand."""
        seed, table = (self.at or f"{self.seed - 1} 0").split()
        script = SCRIPT.format(seed=seed, table=table, small=self.name == "interpreted", less="", how=how(self.name),
                               module="soak_checks", check="threads")  # fmt: skip
        return f"{what}\n{script}"

    def begin_anew(self):
        """Go on behind the kind of fit at hand, if there is time."""
        left = math.inf if self.options.kinds is None else self.options.kinds - (self.seed - self.options.seed)
        if time.monotonic() < self.until and left > 0:
            self.start()
        else:
            self.ended = True

    def look(self):
        """Kill the process where it has not answered for long; return what was found, if anything."""
        waited, worked = time.monotonic() - self.heard, seconds_worked(self.process.pid) - self.worked
        is_over = time.monotonic() > self.until + GRACE
        if is_over and not self.ended:
            self.ended = True
            self.process.kill()
        if self.ended or (waited < WAIT and worked < PATIENCE):
            return None
        self.process.kill()
        found = self.finding(f"no answer for {waited:.0f} s, of which it worked {worked:.0f} s")
        self.begin_anew()
        return found


def seconds_worked(pid):
    """Return the seconds that a process was given a core, 0 where the system does not tell."""
    try:
        parts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


def how(name):
    return ", with NUMBA_DISABLE_JIT=1" if name == "interpreted" else ", with NUMBA_NUM_THREADS=3"


def work(options):
    """Fit and check, in a process of its own."""
    import soak_draw

    warnings.simplefilter("ignore")
    small, began, k = options.only == "interpreted", time.monotonic(), 0
    while k != options.kinds and time.monotonic() - began < options.seconds:
        seed = options.seed + k
        kind = soak_draw.drawn_kind(seed, small=small)
        k += 1
        if options.estimator not in {None, kind.name}:
            continue
        say(f"@kind {seed}")
        taken, refusals = [], 0
        for i in range(1 if small else MOST_TABLES):
            # Tables of a kind until they have taken as long as the first one, which compiled
            is_late = time.monotonic() - began > options.seconds
            if is_late or (i > 2 and sum(taken[1:]) > taken[0]):
                break
            started = time.monotonic()
            table = seed * STEP + i
            say(f"@case {seed} {table}")
            found = tried(soak_draw.drawn_case(kind, table, small=small))
            if isinstance(found, tuple):
                report(options.only, seed, table, found)
                break
            taken.append(time.monotonic() - started)
            say(f"@done {found}")
            refusals = refusals + 1 if found == "refused" else 0
            if refusals > 1:
                break


def tried(case):
    """Return what is wrong with the fits of a case, (check or None, words); or in a word how it went."""
    import soak_checks
    import soak_peer

    check = None
    try:
        model = soak_checks.fitted(case, n_jobs=1)
        for check in (*soak_checks.CHECKS, *soak_peer.PEER_CHECKS):
            check(case, model)
    except soak_checks.Refused:
        return "refused"
    except soak_checks.Wrong as wrong:
        return check, str(wrong)
    except Exception as error:  # noqa: BLE001  whatever it is, it is a finding
        return check, "".join(traceback.format_exception(error)[-3:])
    return "checked"


def report(name, seed, table, found):
    """Print a finding, and a script that repeats it on as little as possible."""
    import soak_draw

    check, what = found
    small, until = name == "interpreted", time.monotonic() + SHRINKING
    case = soak_draw.drawn_case(soak_draw.drawn_kind(seed, small=small), table, small=small)
    less, case, what = smaller(case, check, what, until)
    script = SCRIPT.format(
        seed=seed,
        table=table,
        small=small,
        less=less,
        how=how(name),
        module="soak_checks" if check is None else check.__module__,
        check="arrays_are_trees" if check is None else check.__name__,
    )
    say(f"@finding {name}, kind {seed}, table {table}: {what}\n{case}\n{script}@end")


def smaller(case, check, what, until):
    """Leave out parameters and rows while the same check fails; return that as code, the case, and what is wrong."""
    less = ""

    def fails(other):
        found = tried(other)
        return found[1] if isinstance(found, tuple) and found[0] is check else None

    for name in [*case.kind.parameters, *case.parameters]:
        if time.monotonic() < until and (now := fails(case.without(name))):
            case, what, less = case.without(name), now, f"{less}.without({name!r})"
    shrinks = True
    while shrinks and len(case.X) > 4 and time.monotonic() < until:
        shrinks = False
        n = len(case.X)
        for rows in (slice(0, n // 2), slice(n // 2, n), slice(0, n - n // 4), slice(0, n - 1)):
            if time.monotonic() < until and (now := fails(case.kept(rows))):
                less = f"{less}.kept({rows})"
                case, what, shrinks = case.kept(rows), now, True
                break
    return less, case, what


def say(line):
    print(line, flush=True)


def run():
    options = parse()
    if options.worker:
        with contextlib.suppress(BrokenPipeError):
            work(options)
        return 0
    if options.forests:
        import forest_soak

        return forest_soak.run(options.seed, options.kinds or forest_soak.N_ROUNDS)
    if options.trees:
        import tree_soak

        return tree_soak.run(options.seed, options.seconds)
    lines, began, n_findings = queue.Queue(), time.monotonic(), 0
    workers = [Worker(name, options, lines) for name in ("compiled", "interpreted") if options.only in {None, name}]
    while not all(worker.ended for worker in workers):
        try:
            worker, process, line = lines.get(timeout=0.5)
            found = worker.hear(process, line)
        except queue.Empty:
            found = next(filter(None, (worker.look() for worker in workers)), None)
        if found is not None:
            n_findings += 1
            print(f"FOUND {found}", flush=True)
    for worker in workers:
        print(f"{worker.name}: {', '.join(f'{count} {name}' for name, count in worker.tally.items())}")
    print(f"from seed {options.seed}: {n_findings} findings in {time.monotonic() - began:.0f} s")
    return int(n_findings > 0)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    sys.exit(run())
