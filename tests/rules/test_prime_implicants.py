"""Prime implicants and the cheapest cover, against all that there are."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from dtnumba.rules.prime_implicants import cheapest_cover, prime_implicants

pytestmark = pytest.mark.small


def implies(term, allowed):
    """Tell whether a function holds wherever a term does."""
    places = itertools.product(*((0, 1) if sign == 2 else (sign,) for sign in term))
    return all(allowed[place] for place in places)


@given(st.integers(1, 4).flatmap(lambda n: st.lists(st.booleans(), min_size=2**n, max_size=2**n)))
@examples(60)
def test_prime_implicants_are_those_that_stay_none_without_a_test(flags):
    n = len(flags).bit_length() - 1
    allowed = np.array(flags).reshape((2,) * n)
    implicants = [term for term in itertools.product(range(3), repeat=n) if implies(term, allowed)]
    wanted = {
        term
        for term in implicants
        if not any((*term[:v], 2, *term[v + 1 :]) in implicants for v in range(n) if term[v] != 2)
    }
    found = prime_implicants(allowed)
    assert set(map(tuple, found.tolist())) == wanted
    assert len(found) == len(wanted)
    n_tests = (found != 2).sum(axis=1)
    assert (np.diff(n_tests) >= 0).all()


@given(st.integers(1, 6), st.integers(1, 5), st.integers(0, 2**32 - 1))
@examples(60)
def test_the_cover_is_as_cheap_as_any(n_rows, n_columns, seed):
    rng = np.random.default_rng(seed)
    covers, cost = rng.random((n_rows, n_columns)) < 0.4, rng.integers(1, 9, n_rows)
    covers[rng.integers(n_rows, size=n_columns), np.arange(n_columns)] = True  # each column by some row
    subsets = itertools.chain.from_iterable(itertools.combinations(range(n_rows), k) for k in range(n_rows + 1))
    least = min(cost[list(rows)].sum() for rows in subsets if covers[list(rows)].any(axis=0).all())
    found = cheapest_cover(covers, cost)
    assert covers[found].any(axis=0).all()
    assert cost[found].sum() == least
