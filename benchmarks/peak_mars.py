"""One fit of splines in a process of its own, and how much memory it took: started by bench_mars.py, prints JSON.

usage: peak_mars.py ROWS THREADS
"""

import json
import sys

from bench_mars import friedman
from peak_memory import peak_above

from dtnumba import MARSRegressor


def run(rows, threads):
    X, y = friedman(int(rows), 10)
    model = MARSRegressor(n_jobs=int(threads))
    model.fit(X[:20_000].copy(), y[:20_000])
    above = peak_above(lambda: model.fit(X, y))
    print(json.dumps({"above": above, "input": X.nbytes, "terms": model.n_terms_}))


if __name__ == "__main__":
    run(*sys.argv[1:])
