"""Run every benchmark, each script in a process of its own, and print one Markdown table.

usage: python benchmarks/all.py [NAME ...] [--quick] [--data FOLDER] [--repeats N] [--threads N]
           [--onedal PYTHON] [--weka JAR]

A name is that of a script without bench_ and .py; forests stands for all that measure forests. None: everything.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import HERE, Row, parse, surroundings, table

TREES = (
    "bins",
    "exact",
    "histogram",
    "regression",
    "predict",
    "small",
    "criterion",
    "pruning",
    "memory",
    "batches",
    "classes",
    "categories",
    "c45",
    "c50",
    "multiway",
    "mars",
    "graphs",
    "start",
    "shell",
)
CHOOSING = ("validation",)
FORESTS = (
    "forest",
    "forest_regression",
    "forest_exact",
    "extra_trees",
    "forest_small",
    "forest_predict",
    "one_row",
    "forest_size",
    "exports",
    "scaling",
)


def rows_of(script, arguments):
    """Return the rows of one script; where it stops, a row that says why."""
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "rows.json"
        command = [sys.executable, str(HERE / script), *arguments, "--json", str(found)]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)  # noqa: S603  this interpreter, on a script that stands beside this one
        sys.stderr.writelines(line for line in done.stderr.splitlines(keepends=True) if "left out" in line)
        if done.returncode == 0:
            return [Row(**row) for row in json.loads(found.read_text())]
    why = (done.stderr.strip().splitlines() or ["no message"])[-1].replace("|", "/")
    return [Row(script, "-", "-", "-", "-", "**failed**", why)]


def run():
    known = {"forests": FORESTS} | {name: (name,) for name in (*TREES, *CHOOSING, *FORESTS)}
    chosen = [name for argument in sys.argv[1:] for name in known.get(argument, ())] or [*TREES, *CHOOSING, *FORESTS]
    arguments = [argument for argument in sys.argv[1:] if argument not in known]
    options, rows = parse(__doc__, arguments), []
    around = surroundings(options)
    for name in chosen:
        script = f"bench_{name}.py"
        print(f"{script} ...", file=sys.stderr, flush=True)
        rows += rows_of(script, arguments)
    print("\n".join([*around, "", *table(rows)]))
    if options.json is not None:
        options.json.write_text(json.dumps([vars(row) for row in rows]))
    return int(any(row.reached == "**failed**" for row in rows))


if __name__ == "__main__":
    sys.exit(run())
