"""One fit of C5.0 in a process of its own, and how much memory it took: started by bench_c50.py, prints JSON.

usage: peak_c50.py FOLDER TABLE ROWS THREADS      e.g. peak_c50.py data adult 48842 2
"""

import json
import sys
from pathlib import Path

import numpy as np
from data import covtype, labelled
from peak_memory import WARM_ROWS, peak_above

from dtnumba import C50Classifier
from dtnumba.growth.multiway.coded_columns import coded
from dtnumba.tables.binned_table import read_features


def run(folder, name, rows, threads):
    folder, rows = Path(folder), int(rows)
    if name == "covtype":
        X, y, *_ = covtype(folder, rows)
        nominal = None
    else:
        X, y, nominal = labelled(folder, name)
        X, y = X[:rows], y[:rows]
    model = C50Classifier(categorical_features=nominal, n_jobs=int(threads))
    model.fit(X[:WARM_ROWS], y[:WARM_ROWS])
    above = peak_above(lambda: model.fit(X, y))
    table = read_features(X, "bench", None, nominal)
    codes = coded(table, np.arange(len(X), dtype=np.uint32), None, 1).codes.nbytes
    print(json.dumps({"above": above, "codes": codes, "rows": len(X)}))


if __name__ == "__main__":
    run(*sys.argv[1:])
