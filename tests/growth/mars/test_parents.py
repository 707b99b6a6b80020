"""Which parents a step looks at: new ones, and the best when last looked at, of which the old fall behind."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive.mars import Queue

from dtnumba.growth.mars.parents import Parents

pytestmark = pytest.mark.small


def test_new_terms_come_first_and_old_ones_fall():
    queue = Parents(100.0, 3, 1.0)
    assert queue.next() == [0]
    queue.looked_at(0, 50.0, 1)
    queue.add(2, 1)
    assert queue.next() == [1, 2, 0]
    queue.looked_at(1, 5.0, 3)
    queue.looked_at(2, 9.0, 3)
    queue.add(2, 3)
    assert queue.next() == [3, 4, 2]  # the first gained more than the third, and is two slots older
    assert Parents(1.0, 1, 0.0)._most == 3
    assert len(Parents(1.0, 0, 1.0).next()) == 1


@given(st.lists(st.tuples(st.integers(1, 2), st.lists(st.floats(-1, 10), min_size=5, max_size=5)), max_size=8),
       st.sampled_from([0, 3, 20]), st.sampled_from([0.0, 1.0, 2.5]))  # fmt: skip
def test_it_is_the_queue_of_the_definition(steps, most, ageing):
    queue, other, slot = Parents(7.0, most, ageing), Queue(7.0, most, ageing), 1
    for n_terms, gains in steps:
        assert queue.next() == other.next()
        for place, gain in zip(queue.next(), gains, strict=False):
            queue.looked_at(place, gain, slot)
            other.gains[place], other.when[place] = gain, slot
        queue.add(n_terms, slot)
        other.add(n_terms, slot)
        slot += 2
    assert queue.next() == other.next()
    assert all(not math.isnan(gain) for gain in other.gains)
