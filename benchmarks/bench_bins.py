"""Binning alone: float32 values to uint8 codes, against scikit-learn's bin mapper on as many threads.

Codes of new rows, under bins that are known, are timed too: what predicting from codes would cost first.
"""

import numpy as np
from data import H
from measure import Timing, at_most, demand, duration, faster, main, side_by_side
from sklearn.ensemble._hist_gradient_boosting.binning import _BinMapper

from dtnumba.tables.bins import histogram_codes, write_codes
from dtnumba.tables.table import read_table

MOST = 255


def demand_codes(X, codes, bins, peer_codes):
    """Demand that codes count the edges below a value, are spread evenly, and lie where the peer's lie."""
    edges, worst, apart = bins.edges(np.float32), 0.0, 0.0
    for f in range(X.shape[1]):
        own = edges[f, : bins.n_codes[f] - 1]
        demand((np.searchsorted(own, X[:, f]) == codes[:, f]).all(), f"column {f}: codes do not count the edges below")
        share = np.bincount(codes[:, f], minlength=MOST) / len(X)
        worst = max(worst, MOST * share.max())
        apart = max(apart, float(np.abs(codes[:, f].astype(float) - peer_codes[:, f]).mean()))
    said = f"fullest bin {worst:.2f} times its share; codes differ from the peer's by {apart:.2f} on average at most"
    demand(worst < 2 and apart < 4, said)
    return said


def binning(options):
    X, _, X_test, _ = H(options.size(1_000_000, 50_000))
    kept, size = np.arange(len(X), dtype=np.uint32), f"{len(X):,} x {X.shape[1]}"

    def ours():
        return histogram_codes(read_table(X, "benchmark"), kept, MOST, options.threads)

    def peer():
        return _BinMapper(n_bins=MOST + 1, n_threads=options.threads, random_state=0).fit_transform(X)

    (codes, bins), peer_codes = ours(), peer()
    checked = demand_codes(X, codes, bins, peer_codes)
    of_peer, of_ours = side_by_side(peer, ours, options.repeats)
    row = faster(options, f"bins and codes, H {size}, peer on {options.threads} threads", of_peer, of_ours, 3, checked)
    return [row, new_codes(options, X_test, bins, of_ours)]


def new_codes(options, X, bins, whole):
    """Time the codes of further rows, as a share of binning the training rows."""
    codes = np.empty(X.shape, np.uint8)

    def code():
        write_codes(read_table(X, "benchmark"), bins, codes, options.threads)

    code()
    for f in range(X.shape[1]):
        own = bins.edges(np.float32)[f, : bins.n_codes[f] - 1]
        demand((np.searchsorted(own, X[:, f]) == codes[:, f]).all(), f"column {f}: codes of new rows")
    timing: Timing = side_by_side(code, code, options.repeats)[1]
    share = 100 * timing.median / whole.median
    job = f"codes of {len(X):,} new rows, as a share of ours above"
    return at_most(options, job, duration(whole.median), str(timing), share, 10, unit=" %")


if __name__ == "__main__":
    main(__doc__, [binning])
