"""Words of nodes: shares that are all or nothing only where they are."""

import pytest

from dtnumba.export.pictures.words import share

pytestmark = pytest.mark.small


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0%"), (3 / 600, "<1%"), (1e-9, "<1%"), (0.0051, "1%"), (0.5, "50%"), (597 / 600, ">99%"), (1.0, "100%")],
)
def test_a_share_is_nothing_or_all_only_where_it_is(value, text):
    assert share(value) == text
