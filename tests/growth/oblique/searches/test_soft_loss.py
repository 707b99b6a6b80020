"""The loss of a soft split by its definition, and its gradient by differences."""

import numpy as np
import pytest

from dtnumba.growth.oblique.searches.descent import descend, new_descent
from dtnumba.growth.oblique.searches.soft_loss import ClassLoss, NumberLoss, new_sample, soft_loss, total_up
from dtnumba.runtime.kernels import COMPILED
from dtnumba.runtime.records import worker_part

pytestmark = pytest.mark.skipif(COMPILED, reason="looked at from inside, which kernels do not allow")
N, D = 40, 3
KINDS = {"classes": (3,), "two outputs of classes": (3, 2), "numbers": ()}


def rows_of(kind, seed=0):
    """Return the loss, a sample of rows, and what they say."""
    generator, sizes = np.random.default_rng(seed), KINDS[kind]
    if sizes:
        first = np.cumsum([0, *sizes])
        said = np.stack([generator.integers(0, k, N) + at for k, at in zip(sizes, first[:-1], strict=True)], axis=1)
        loss = ClassLoss(int(first[-1]))
    else:
        first, said, loss = np.arange(3), generator.uniform(-0.5, 0.5, (N, 2)), NumberLoss(3)
    sample = worker_part(new_sample(N, D, said.shape[1], first, loss.n_numbers, 1), 0)
    sample.by_row[:] = generator.uniform(-1, 1, (N, D))
    sample.by_column[:] = sample.by_row.T
    sample.said[:], sample.weight[:] = said, generator.integers(64, 257, N) / 256  # as searches round weights
    sample.size[:] = N, D
    total_up(loss, sample)
    return loss, sample


def by_definition(sample, kind, weights):
    s = 1.0 / (1.0 + np.exp(sample.by_row @ weights[:-1] + weights[-1]))
    total = 0.0
    for side in (s, 1.0 - s):
        w = sample.weight * side
        if KINDS[kind]:
            for o in range(sample.said.shape[1]):
                shares = np.bincount(sample.said[:, o].astype(int), w)
                shares = shares[shares > 0] / w.sum()
                total -= w.sum() * (shares * np.log(shares)).sum()
        else:
            total += sum((w * (y - (w * y).sum() / w.sum()) ** 2).sum() for y in sample.said.T)
    return total / sample.weight.sum()


@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_is_the_impurity_of_both_sides_up_to_a_constant(kind):
    loss, sample = rows_of(kind)
    generator, found, expected = np.random.default_rng(1), [], []
    for _ in range(4):
        weights = generator.normal(size=D + 1)
        found.append(soft_loss(loss, sample, weights, np.zeros(D + 1)))
        expected.append(by_definition(sample, kind, weights))
    assert np.allclose(np.diff(found), np.diff(expected), atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_the_gradient_is_that_of_differences(kind):
    loss, sample = rows_of(kind)
    weights, gradient = np.random.default_rng(2).normal(size=D + 1), np.zeros(D + 1)
    soft_loss(loss, sample, weights, gradient)
    for k, step in enumerate(np.eye(D + 1) * 1e-4):
        ends = [soft_loss(loss, sample, weights + sign * step, np.zeros(D + 1)) for sign in (1, -1)]
        assert gradient[k] == pytest.approx((ends[0] - ends[1]) / 2e-4, abs=2e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_no_order_of_the_rows_changes_a_bit(kind):
    loss, sample = rows_of(kind)
    order = np.random.default_rng(3).permutation(N)
    weights, gradients = np.random.default_rng(4).normal(size=D + 1), np.zeros((2, D + 1))
    total_up(loss, sample)
    before = soft_loss(loss, sample, weights, gradients[0])
    for column in (sample.by_row, sample.said, sample.weight):
        column[:] = column[order]
    sample.by_column[:] = sample.by_row.T
    total_up(loss, sample)
    assert soft_loss(loss, sample, weights, gradients[1]) == before
    assert np.array_equal(gradients[0], gradients[1])


@pytest.mark.parametrize("kind", KINDS)
def test_a_descent_goes_down(kind):
    loss, sample = rows_of(kind)
    start, gradient = np.random.default_rng(5).normal(size=D + 1), np.zeros(D + 1)
    descent = worker_part(new_descent(D + 1, 1), 0)
    descent.at[:] = start
    before = soft_loss(loss, sample, start, gradient)
    after = descend(loss, sample, descent, 25)
    assert after < before
    assert after == soft_loss(loss, sample, descent.at, gradient)
