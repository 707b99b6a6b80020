"""The least and the largest of many numbers."""

import numpy as np
import pytest

from dtnumba.runtime.instructions.extremes import extremes_of
from dtnumba.runtime.kernels import kernel


@kernel
def _extremes(array, at, n):
    return extremes_of(array, np.uint64(at), np.uint64(n))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_missing_numbers_are_noticed_and_no_extremes(dtype):
    generator = np.random.default_rng(0)
    for share in (0.0, 0.3, 1.0):
        array = generator.normal(size=100).astype(dtype)
        array[generator.random(100) < share] = np.nan
        for at, n in ((0, 0), (3, 16), (20, 80)):
            part = array[at : at + n]
            known = part[~np.isnan(part)].astype(float)
            expected = known.min(initial=np.inf), known.max(initial=-np.inf), len(known) < n
            assert _extremes(array, at, n) == expected
