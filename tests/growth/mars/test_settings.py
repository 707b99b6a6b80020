"""Where knots may stand, and what a model costs: Friedman's numbers, and those of R's earth."""

import math

import pytest
from naive import mars as naive

from dtnumba.growth.mars.settings import ForwardSettings, gcv_of, spans_of

pytestmark = pytest.mark.small
PLAIN = ForwardSettings(1, 21, 2.0, 0.001, 0, 0, 2.0, 0.0, 20, 1.0, True)


@pytest.mark.parametrize(("p", "n", "gap"), [(2, 31, 4), (1, 41, 3), (10, 100, 5), (10, 1000, 7), (100, 10_000, 9)])
def test_rows_between_knots_are_friedmans(p, n, gap):
    assert spans_of(n, p, 1, n, PLAIN).gap == gap


@pytest.mark.parametrize(("p", "end"), [(1, 7), (2, 8), (10, 10), (100, 13)])
def test_rows_at_the_ends_are_friedmans(p, end):
    assert spans_of(10_000, p, 1, 10_000, PLAIN).end == end
    assert spans_of(10_000, p, 2, 10_000, PLAIN).end == 3 * end
    assert spans_of(10_000, p, 2, 10_000, PLAIN._replace(adjust_endspan=0.5)).end == end + math.floor(end / 2 + 0.5)


@pytest.mark.parametrize("minspan", [0, 1, 2, 7, -1, -3, -10, -200])
@pytest.mark.parametrize("endspan", [0, 1, 5, 40])
def test_spans_are_those_of_the_definition(minspan, endspan):
    settings = PLAIN._replace(minspan=minspan, endspan=endspan)
    options = naive.options_of(3, minspan=minspan, endspan=endspan)
    for n in (2, 3, 5, 17, 40, 101):
        for n_positive in (0, 1, n // 2, n):
            for degree in (1, 2, 3):
                assert tuple(spans_of(n, 3, degree, n_positive, settings)) == naive.spans(
                    n, 3, degree, n_positive, options
                )


def test_the_price_of_terms_and_knots():
    assert gcv_of(50.0, 100, 5, 3.0) == pytest.approx(0.631233, abs=5e-7)
    assert gcv_of(50.0, 100, 5, -1) == 0.5
    assert gcv_of(50.0, 10, 5, 3.0) == math.inf
    assert gcv_of(209.113855, 31, 4, 2.0) == pytest.approx(11.254391, abs=1e-6)
