"""One fit of a peer of oblique trees, in an interpreter that has it: obliquetree, or a forest of treeple.

Called as ``oblique_peer.py KIND GIVEN.npz FOUND.npy PARAMS``: writes what it predicts of the rows held out, and prints
the seconds of the fit.
"""

import json
import sys
import time

import numpy as np


def learner(kind, params):
    """Return the model that is asked for."""
    if kind.startswith("obliquetree"):
        import obliquetree

        made = obliquetree.Regressor if kind.endswith("regressor") else obliquetree.Classifier
        return made(use_oblique=True, random_state=0, **params)
    import treeple

    return treeple.ObliqueRandomForestClassifier(random_state=0, **params)


if __name__ == "__main__":
    kind, given, found, params = sys.argv[1:]
    with np.load(given) as stored:
        X, y, X_test = stored["X"], stored["y"], stored["X_test"]
    model = learner(kind, json.loads(params))
    began = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - began
    np.save(found, model.predict(X_test))
    print(seconds)
