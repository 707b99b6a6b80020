"""The shell's `predict` on a long CSV file: peak memory, and the time of a row beyond reading the file."""

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from measure import at_most, demand, duration, fresh_process, main

import dtnumba

COLUMNS, BLOCK = 20, 100_000
NAMES = [f"c{j}" for j in range(COLUMNS)]
MODELS = {
    "one tree": dtnumba.DecisionTreeClassifier(random_state=0),
    "20 trees": dtnumba.RandomForestClassifier(20, random_state=0),
}


class Named:
    """An array with names of its columns, as a frame is passed."""

    columns = NAMES

    def __init__(self, array):
        self._array = array

    def __array__(self, dtype=None, copy=None):
        return self._array


def write_file(path, n_rows):
    """Write rows of four decimals; the same block again and again, with its number in the last column."""
    X = np.random.default_rng(0).normal(size=(min(BLOCK, n_rows), COLUMNS)).round(4)
    lines = [",".join(map(repr, row)) for row in X[:, :-1].tolist()]
    with path.open("w") as file:
        file.write(",".join(NAMES) + "\n")
        for start in range(0, n_rows, len(lines)):
            file.write("".join(f"{line},{start / n_rows}\n" for line in lines[: n_rows - start]))
    return X


def read_alone(path):
    """Read all cells as `predict` reads them, and do nothing with them; return the seconds."""
    from dtnumba.cli.files.csv_file import CsvFile
    from dtnumba.cli.files.reading import Reading

    began = time.perf_counter()
    for block in CsvFile(str(path), Reading()).blocks(range(COLUMNS)):
        del block
    return time.perf_counter() - began


def predict(options):
    size, rows = options.size(10_000_000, 300_000), []
    with tempfile.TemporaryDirectory() as folder:
        path, saved, answers = (Path(folder) / name for name in ("rows.csv", "model", "answers.csv"))
        X = write_file(path, size)
        y = np.where(X[:, 0] * X[:, 1] + X[:, 2] > 0, "yes", "no")
        for name, model in MODELS.items():
            model.fit(Named(X[:20_000]), y[:20_000]).save(saved)
            command = [sys.executable, "-m", "dtnumba", "predict", str(saved), str(path), "--out", str(answers)]
            for _ in range(2):  # the first time, kernels may be compiled
                done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
            took = float(re.search(r"rows in ([\d.]+) s", done.stderr)[1])
            found = answers.read_text().splitlines()[1:]
            demand(len(found) == size and found[:1000] == model.predict(_last_zero(X[:1000])).tolist(), "other answers")
            alone = min(read_alone(path) for _ in range(2))
            peak = fresh_process("peak_shell.py", saved, path, answers)[0]["peak"]
            job = f"predict by the shell, {size:,} x {COLUMNS}, {name}: beyond reading, us a row"
            beyond = (took - alone) / size * 1e6
            rows.append(at_most(options, job, duration(alone), duration(took), beyond, 1.0, unit=" us"))
            job = f"predict by the shell, {size:,} x {COLUMNS}, {name}: peak memory"
            rows.append(at_most(options, job, "-", f"{peak / 1e6:,.0f} MB", peak / 1e6, 600.0, unit=" MB"))
    return rows


def _last_zero(X):
    """Return rows as the first block of the file has them."""
    X = X.copy()
    X[:, -1] = 0
    return Named(X)


if __name__ == "__main__":
    main(__doc__, [predict])
