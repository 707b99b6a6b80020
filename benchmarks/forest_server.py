"""Run a forest of a peer for a process of another interpreter: started by elsewhere.py, a line of JSON for each call.

usage: forest_server.py CLASS SHAPE      e.g. forest_server.py OneDal '{"n_trees": 20}'
"""

import json
import os
import sys

import forests
import numpy as np


class Server:
    """A forest, its tables by number, and what it predicted last."""

    def __init__(self, kind, shape):
        self.forest = getattr(forests, kind)(forests.Shape(**json.loads(shape)))
        self.tables, self.predicted = {}, None

    def table(self, number, *files):
        """Read a table; the arrays are the process's own."""
        self.tables[number] = self.forest.table(*(np.load(file) for file in files))

    def fit(self, number):
        """Grow the forest."""
        self.forest.fit(self.tables[number])

    def predict(self, number):
        """Predict, and keep the answer."""
        self.predicted = self.forest.predict(self.tables[number])

    def said(self, file):
        """Write what was predicted last."""
        np.save(file, self.forest.said(self.predicted))

    def n_leaves(self):
        """Return the leaves of all trees."""
        return self.forest.n_leaves


def run(kind, shape):
    # What a library prints must not stand between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    server = Server(kind, shape)
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        print(json.dumps(getattr(server, name)(*arguments)), file=answers, flush=True)


if __name__ == "__main__":
    run(*sys.argv[1:])
