"""Run every benchmark, each script in a process of its own, and print one Markdown table.

usage: python benchmarks/all.py [--quick] [--data FOLDER] [--repeats N] [--threads N]
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import HERE, Row, parse, surroundings, table

SCRIPTS = ("bins", "exact", "histogram", "regression", "predict", "small", "criterion", "memory", "start")


def rows_of(script, arguments):
    """Return the rows of one script; where it stops, a row that says why."""
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "rows.json"
        command = [sys.executable, str(HERE / script), *arguments, "--json", str(found)]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)  # noqa: S603  this interpreter, on a script that stands beside this one
        if done.returncode == 0:
            return [Row(**row) for row in json.loads(found.read_text())]
    why = (done.stderr.strip().splitlines() or ["no message"])[-1].replace("|", "/")
    return [Row(script, "-", "-", "-", "-", "**failed**", why)]


def run():
    options, rows = parse(__doc__), []
    around = surroundings(options)
    for name in SCRIPTS:
        script = f"bench_{name}.py"
        print(f"{script} ...", file=sys.stderr, flush=True)
        rows += rows_of(script, sys.argv[1:])
    print("\n".join([*around, "", *table(rows)]))
    if options.json is not None:
        options.json.write_text(json.dumps([vars(row) for row in rows]))
    return int(any(row.reached == "**failed**" for row in rows))


if __name__ == "__main__":
    sys.exit(run())
