"""Groups of categories: what they pay, and the grouping that is found."""

import math

import numpy as np
import pytest
from naive.c50 import Grower, stirling

from dtnumba import C50Classifier
from dtnumba.growth.multiway.c50 import C50Grower, C50Growth, _stirling_table, c50_columns, least_gain
from dtnumba.growth.multiway.splits.group_categories import log_stirling
from dtnumba.runtime.kernels import COMPILED, kernel
from dtnumba.tables.binned_table import read_features
from dtnumba.tables.labels import read_labels

pytestmark = pytest.mark.small


@kernel
def asked(table, n, out):
    for k in range(1, n + 1):
        out[k] = log_stirling(table, n, k)


@pytest.mark.parametrize("n", [1, 2, 5, 30, 60])
def test_few_things_are_counted_and_of_many_the_count_is_near(n):
    exact, out = np.array(stirling(n)), np.empty(n + 1)
    asked(_stirling_table(60), n, out)
    assert np.allclose(out[1:], exact[1:])
    asked(_stirling_table(1), n, out)
    assert np.allclose(out[1:], exact[1:], atol=0.02 if n > 5 else 0.2)


def test_thousands_of_things_are_counted():
    out = np.empty(5001)
    asked(_stirling_table(10), 5000, out)
    assert out[2] == pytest.approx(4999, abs=0.01)  # 2 ** 4999 - 1
    assert out[4999] == pytest.approx(math.log2(5000 * 4999 / 2), abs=0.01)
    assert out[5000] == 0.0
    assert np.isfinite(out[1:]).all()


def grown(x, y, k):
    """Return the tree of one column of categories, as it is grown."""
    table, labels = read_features(x[:, None], "test", None, [0]), read_labels(y, len(y), "test")
    rows = np.arange(len(y), dtype=np.uint32)
    asked = C50Growth(subset=True, min_cases=2.0, min_gain=least_gain(len(y), k), n_cases=len(y))
    return C50Grower(c50_columns(table, labels, rows, 1), asked, len(y)).tree(rows, np.ones(len(y)))


@pytest.mark.parametrize("seed", range(6))
def test_the_grouping_is_that_of_looking_at_all_pairs(seed):
    rng = np.random.default_rng(seed)
    n_levels, k = int(rng.integers(3, 25)), int(rng.integers(2, 5))
    x = np.concatenate([np.arange(n_levels), rng.integers(0, n_levels, 300)])
    y = np.concatenate(
        [np.arange(k), np.where(rng.random(len(x) - k) < 0.6, x[k:] % k, rng.integers(0, k, len(x) - k))]
    )
    slow = Grower(x[:, None].astype(float), y, ["nominal"], [n_levels], k)
    wanted = slow.choose(np.arange(len(x)), np.ones(len(x)), set())
    tree = grown(x, y, k)
    if wanted is None:
        assert tree.n_nodes == 1
    else:
        assert np.array_equal(tree.branch[: tree.branch_start[1]], wanted.group)
        assert tree.gain[0] == pytest.approx(wanted.gain)


def test_a_column_of_a_thousand_levels_is_grouped():
    rng, k = np.random.default_rng(0), 1000 if COMPILED else 300
    x = np.concatenate([np.arange(k), rng.integers(0, k, 4 * k)])
    y = np.where(rng.random(5 * k) < 0.8, x % 2, rng.integers(0, 2, 5 * k))
    model = C50Classifier(categorical_features=[0], confidence=1.0).fit(x[:, None], y)
    assert model.score(x[:, None], y) > 0.8


def test_mergers_go_by_ratio_while_most_of_the_gain_is_left():
    # Rows and wins of levels of schooling among 8,778 rows of the adult data; by loss alone, "12th" goes to the left
    of = {"10th": (303, 39), "11th": (313, 29), "12th": (118, 22), "1st-4th": (72, 5), "5th-6th": (141, 10),
          "7th-8th": (303, 27), "9th": (204, 20), "Assoc-acdm": (395, 174), "Assoc-voc": (560, 222),
          "HS-grad": (4067, 1126), "Preschool": (14, 0), "Some-college": (2288, 879)}  # fmt: skip
    x = np.repeat(np.arange(len(of)), [n for n, _ in of.values()])
    y = np.concatenate([np.arange(n) < won for n, won in of.values()]).astype(int)
    group = grown(x, y, 2).branch[: len(of)]
    few = {name for name, own in zip(of, group, strict=True) if own == group[0]}
    assert few == {"10th", "11th", "1st-4th", "5th-6th", "7th-8th", "9th", "Preschool"}
