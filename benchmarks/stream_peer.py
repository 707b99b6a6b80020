"""One tree of river on a stream, in an interpreter that has it: each row is predicted, then learned.

Called as ``stream_peer.py KIND GIVEN.npz LEVELS``: LEVELS is how many of the last columns are categories. Prints the
share of labels that were right before they were learned, and the seconds of CPU.
"""

import json
import sys
import time

import numpy as np


def learner(kind, nominal):
    """Return the model that is asked for."""
    from river import tree

    made = {
        "hoeffding": tree.HoeffdingTreeClassifier,
        "efdt": tree.ExtremelyFastDecisionTreeClassifier,
        "adaptive": tree.HoeffdingAdaptiveTreeClassifier,
    }[kind]
    # Every million rows river estimates its memory, and the adaptive tree then divides by zero (0.26.1).
    seeded = {"seed": 0, "memory_estimate_period": 1 << 40} if kind == "adaptive" else {}
    return made(delta=1e-7, grace_period=200, nominal_attributes=nominal, **seeded)


if __name__ == "__main__":
    kind, given, n_levels = sys.argv[1:]
    with np.load(given) as stored:
        X, y = stored["X"], stored["y"]
    names = [str(column) for column in range(X.shape[1])]
    model, right = learner(kind, names[X.shape[1] - int(n_levels) :]), 0
    began = time.process_time()
    for values, label in zip(X, y, strict=True):
        row = dict(zip(names, values.tolist(), strict=True))
        right += model.predict_one(row) == label
        model.learn_one(row, int(label))
    seconds = time.process_time() - began
    print(json.dumps({"accuracy": right / len(y), "seconds": seconds}))
