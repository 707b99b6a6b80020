"""A forest that lives in another interpreter: forest_server.py runs it there, and this is its voice here.

A call costs a line each way, some tens of microseconds; data go through files, before the clock starts.
"""

import json
import subprocess
import tempfile
import weakref
from dataclasses import asdict
from pathlib import Path

import forests
import numpy as np
from measure import HERE


class Elsewhere(forests.Forest):
    """A forest of ``forests``, by the name of its class, in the process of another interpreter."""

    def __init__(self, python, kind, shape):
        super().__init__(shape)
        self.name, self.n_tables = getattr(forests, kind).name, 0
        command = [str(python), str(HERE / "forest_server.py"), kind, json.dumps(asdict(shape))]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603  the caller named it
        self._folder = tempfile.TemporaryDirectory()
        weakref.finalize(self, self._process.stdin.close)  # the server ends with its input

    def ask(self, *words):
        """Say a line, and return what is answered."""
        print(json.dumps(words), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            raise SystemExit(f"{self.name} ended while it was asked to {words[0]}; its own message stands above")
        return json.loads(answer)

    def table(self, X, y=None):
        """Have the server read the data; return the number that it knows them by."""
        self.n_tables += 1
        files = []
        for k, array in enumerate((X,) if y is None else (X, y)):
            files.append(str(Path(self._folder.name) / f"{self.n_tables}-{k}.npy"))
            np.save(files[-1], array)
        self.ask("table", self.n_tables, *files)
        for file in files:
            Path(file).unlink()
        return self.n_tables

    def fit(self, table):
        """Grow the forest there; return it."""
        self.ask("fit", table)
        return self

    def predict(self, table):
        """Predict there; what was predicted is fetched when it is asked for."""
        self.ask("predict", table)
        return self

    def said(self, predicted):
        """Fetch the labels or numbers that were predicted last."""
        file = Path(self._folder.name) / "said.npy"
        self.ask("said", str(file))
        return np.load(file)

    @property
    def n_leaves(self):
        """Leaves of all trees."""
        return self.ask("n_leaves")
