"""Tails of chi-squared and F against SciPy, and far below its smallest number against what is known there."""

import itertools
import math

import numpy as np
import pytest
from scipy import special, stats

from dtnumba.criteria.significance import chi2_log_sf, chi2_sf, f_log_sf, f_sf


@pytest.mark.parametrize("df", [0.5, 1, 2, 3, 7, 20, 99, 1000, 10000])
def test_the_tail_of_chi_squared_is_scipys(df):
    for x in [1e-6, 0.01, 0.9, 1.5, df / 2, df - 0.01, df, df + 1.99, df + 2.01, 1.2 * df, 5 * df, df + 600]:
        expected = stats.chi2.sf(x, df)
        if expected > 1e-300:
            assert chi2_sf(x, df) == pytest.approx(expected, rel=1e-10), x


@pytest.mark.parametrize("between", [1, 2, 5, 50])
def test_the_tail_of_f_is_scipys(between):
    points = [1e-6, 0.3, 0.999, 1.0, 1.5, 2.9, 3.1, 10, 200, 1e5]
    for within, x in itertools.product([0.5, 1, 2, 3.5, 10, 300, 5000, 1e6], points):
        expected = stats.f.sf(x, between, within)
        if expected > 1e-300:
            assert f_sf(x, between, within) == pytest.approx(expected, rel=1e-10), (within, x)


def test_logarithms_go_on_where_numbers_end():
    for x in (1e3, 1e5, 1e7):
        assert chi2_log_sf(x, 2) == pytest.approx(-x / 2, rel=1e-14)
        assert chi2_log_sf(x, 1) == pytest.approx(math.log(2) + special.log_ndtr(-math.sqrt(x)), rel=1e-13)
    assert f_log_sf(1e200, 2, 50) == pytest.approx(-25 * math.log1p(1e200 / 25), rel=1e-13)
    assert chi2_sf(1e5, 3) == 0.0


def test_the_ends_of_the_range():
    for x in (0.0, -1.0):
        assert chi2_sf(x, 3) == f_sf(x, 1, 5) == 1.0
    assert chi2_log_sf(math.inf, 3) == f_log_sf(math.inf, 1, 5) == -math.inf


def test_tails_fall():
    x = np.linspace(0.01, 30, 400)
    assert (np.diff([chi2_log_sf(at, 4) for at in x]) < 0).all()
    assert (np.diff([f_log_sf(at, 1, 9) for at in x]) < 0).all()


@pytest.mark.parametrize("df", [0, -1, math.inf, math.nan])
def test_degrees_of_freedom_must_be_positive(df):
    with pytest.raises(ValueError, match="degrees of freedom must be a finite number > 0"):
        chi2_sf(1.0, df)
    with pytest.raises(ValueError, match="df_within"):
        f_sf(1.0, 1, df)
