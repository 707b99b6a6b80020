"""One row at a time through 500 trees of depth 6, against ONNX Runtime on scikit-learn's forest of that shape."""

import sys
from importlib.util import find_spec
from itertools import cycle

import numpy as np
from data import H
from forests import Ours, ScikitLearn, Shape
from measure import at_most, demand, main, side_by_side

N_ROWS = 256  # that take turns, so that no path through the trees is known by heart


def onnx_session(peer, X):
    """Return ONNX Runtime's session of a forest of scikit-learn, and the name of its input."""
    import onnxruntime
    import skl2onnx

    model = skl2onnx.to_onnx(peer.model, X[:1], options={"zipmap": False})
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1  # more only cost it time at one row
    session = onnxruntime.InferenceSession(model.SerializeToString(), settings, providers=["CPUExecutionProvider"])
    return session, session.get_inputs()[0].name


def one_row(options):
    if find_spec("onnxruntime") is None or find_spec("skl2onnx") is None:
        print("ONNX Runtime or skl2onnx is not here: its rows are left out", file=sys.stderr, flush=True)
        return []
    X, y, X_test, _ = H(options.size(20_000, 3_000))
    shape = Shape(n_trees=500, max_depth=6, threads=options.threads)
    ours, peer = Ours(shape).fit((X, y)), ScikitLearn(shape).fit((X, y))
    session, entry = onnx_session(peer, X)
    flat = [row.copy() for row in X_test[:N_ROWS]]
    rows = [row[None] for row in flat]
    predictor, out = ours.model.compile_predictor(), np.empty(2)
    shares = np.array([predictor(row, out).copy() for row in flat])
    demand(np.array_equal(shares, ours.model.predict_proba(X_test[:N_ROWS])), "compile_predictor and predict_proba")
    theirs = np.concatenate([session.run(None, {entry: row})[1] for row in rows])
    demand(np.allclose(theirs, peer.model.predict_proba(X_test[:N_ROWS]), atol=1e-4), "ONNX Runtime and scikit-learn")
    apart = np.abs(shares - theirs).max()
    checked = f"leaves {ours.n_leaves:,} (peer {peer.n_leaves:,}), shares differ by {apart:.3f} at most"
    demand(abs(ours.n_leaves / peer.n_leaves - 1) < 0.1, checked)

    flat_turn, turn, own_turn = cycle(flat), cycle(rows), cycle(rows)
    calls = {
        "compile_predictor()": (lambda: predictor(next(flat_turn), out), 1, 2_000),
        "predict_proba": (lambda: ours.model.predict_proba(next(own_turn)), 6, 500),
        "predict": (lambda: ours.model.predict(next(own_turn)), None, 500),
    }
    found = []
    for name, (call, limit, n) in calls.items():
        n = 50 if not options.is_full else n
        onnx, own = side_by_side(lambda: session.run(None, {entry: next(turn)}), call, options.repeats, calls=n)
        job = f"one row, 500 trees of depth 6, {name}, peer ONNX Runtime"
        said = checked if limit == 1 else ""
        found.append(at_most(options, job, str(onnx), str(own), own.median / onnx.median, limit, said))
    return found


if __name__ == "__main__":
    main(__doc__, [one_row])
