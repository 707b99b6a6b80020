import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnumba.validation.folds import Folds, Resamples, Split, given_folds, held_out, k_folds, one_a_row


def counts(fold_of, codes, k):
    return np.array([[np.sum((fold_of == f) & (codes == c)) for c in np.unique(codes)] for f in range(k)])


@settings(max_examples=60)
@given(st.data())
def test_folds_part_the_rows_and_are_even_in_every_class(data):
    n = data.draw(st.integers(4, 60))
    k, seed = data.draw(st.integers(2, n)), data.draw(st.integers(0, 9))
    codes = np.random.default_rng(seed).integers(0, 3, n)
    folds = k_folds(n, k, seed, strata=codes, repeats=2)
    assert len(folds) == 2 * k
    for repeat in range(2):
        splits = list(folds)[repeat * k : (repeat + 1) * k]
        assert sorted(np.concatenate([split.test for split in splits])) == list(range(n))
        for train, test in splits:
            assert sorted([*train, *test]) == list(range(n))
            assert (np.diff(train) > 0).all()
        found = counts(folds.fold_of[repeat], codes, k)
        assert (np.ptp(found, axis=0) <= 1).all()
        assert np.ptp(found.sum(axis=1)) <= 1


@settings(max_examples=40)
@given(st.integers(0, 1000), st.booleans())
def test_groups_are_never_split_and_no_fold_is_empty(seed, stratified):
    rng = np.random.default_rng(seed)
    groups = rng.choice(list("abcdefgh"), rng.integers(20, 60))
    k = int(rng.integers(2, len(set(groups)) + 1))
    codes = rng.integers(0, 2, len(groups)) if stratified else None
    (fold_of,) = k_folds(len(groups), k, seed, strata=codes, groups=groups).fold_of
    assert all(len(set(fold_of[groups == group])) == 1 for group in groups)
    assert set(fold_of) == set(range(k))


def test_groups_of_one_class_each_are_dealt_evenly():
    groups = np.repeat(np.arange(12), 5)
    codes = (groups % 2).astype(int)
    (fold_of,) = k_folds(60, 3, 0, strata=codes, groups=groups).fold_of
    assert (counts(fold_of, codes, 3) == 10).all()


def test_the_seed_alone_says_who_is_dealt_where():
    first, again, other = (k_folds(50, 5, seed).fold_of for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    repeated = k_folds(50, 5, 1, repeats=2).fold_of
    assert np.array_equal(repeated[0], first[0])
    assert not np.array_equal(repeated[1], first[0])


@settings(max_examples=40)
@given(st.integers(2, 80), st.floats(0.01, 0.99), st.integers(0, 9))
def test_a_share_of_each_class_is_held_out(n, share, seed):
    codes = np.random.default_rng(seed).integers(0, 3, n)
    train, test = held_out(n, share, seed, strata=codes)
    assert sorted([*train, *test]) == list(range(n))
    assert len(test) == min(max(round(share * n), 1), n - 1)
    for code in range(3):
        expected = np.sum(codes == code) * len(test) / n
        assert abs(np.sum(codes[test] == code) - expected) < 1.0 + 1e-9


def test_whole_groups_are_held_out():
    groups = np.repeat(np.arange(10), 6)
    train, test = held_out(60, 0.3, 4, groups=groups)
    assert len(test) == 18
    assert not set(groups[train]) & set(groups[test])


def test_a_sample_and_the_rows_that_it_missed():
    samples = list(Resamples(30, 50, seed=3))
    for drawn, left_out in samples:
        assert len(drawn) == 30
        assert sorted({*drawn, *left_out}) == list(range(30))
        assert not set(drawn) & set(left_out)
    share = np.mean([len(left_out) for _, left_out in samples]) / 30
    assert abs(share - (1 - 1 / 30) ** 30) < 0.03


def test_folds_of_the_caller():
    folds = given_folds([7, 7, -1, 2, 2], 5)
    assert isinstance(folds, Folds)
    assert [split.test.tolist() for split in folds] == [[3, 4], [0, 1]]
    assert next(iter(folds)).train.tolist() == [0, 1, 2]
    pairs = given_folds([([0, 1], [2]), (np.array([2, 1]), [False, False, False, True, True])], 5)
    assert [(split.train.tolist(), split.test.tolist()) for split in pairs] == [([0, 1], [2]), ([1, 2], [3, 4])]
    assert all(isinstance(split, Split) for split in pairs)


def test_one_row_a_fold():
    assert [split.test.tolist() for split in one_a_row(3)] == [[0], [1], [2]]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: k_folds(5, 6, 0), "k=6: must be from 2 to the number of rows, which is 5"),
        (lambda: k_folds(5, 3, 0, groups=list("aabbb")), "k=3: must be at most the number of groups, which is 2"),
        (lambda: k_folds(5, 2, 0, groups=[1, 2]), "groups: must have one entry for each of the 5 rows"),
        (lambda: one_a_row(1), "leaving one out needs at least 2"),
        (lambda: held_out(1, 0.5, 0), "1 rows: holding some out needs at least 2"),
        (lambda: given_folds([0, 0, 0], 3), "not all of them at once"),
        (lambda: given_folds([0, 1], 3), "must be a number of folds"),
        (lambda: given_folds([([0, 9], [1])], 3), "rows must be from 0 to 2; got 0 to 9"),
        (lambda: given_folds([([0, 1], [])], 3), "at least one row to fit and one to try"),
    ],
)
def test_what_cannot_be_dealt_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize("cv", ["x", "loo ", 5, None])
def test_folds_that_are_none_say_what_folds_are(cv):
    with pytest.raises(TypeError, match=r"cv=.*: must be 'loo', the number of the fold of each of the 20 rows.* as k"):
        given_folds(cv, 20)


@pytest.mark.parametrize("is_stratified", [False, True])
def test_rows_of_no_weight_are_on_neither_side_and_change_nothing(is_stratified):
    weight = np.array([1.0, 0, 2, 1, 0, 0, 3, 1, 1, 0])
    codes = np.array([0, 1, 0, 1, 0, 1, 0, 1, 0, 1]) if is_stratified else None
    rows = np.flatnonzero(weight)
    train, test = held_out(10, 0.3, 2, strata=codes, weight=weight)
    assert sorted([*train, *test]) == rows.tolist()
    alone = held_out(len(rows), 0.3, 2, strata=codes[rows] if is_stratified else None)
    assert rows[alone.test].tolist() == test.tolist()
