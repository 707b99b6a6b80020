# mypy: ignore-errors
"""How many errors a leaf is expected to make: those it made, and what a confidence level adds (Quinlan 1993)."""

import math
from typing import NamedTuple

from dtnumba.runtime.kernels import inline, kernel, outlined


class Costs(NamedTuple):
    """The cost of a leaf: its errors, and those that a confidence level adds."""

    log_confidence: float
    z: float
    high: float  # share of what is left that is added where nearly all rows are errors
    slack: float  # by how much a leaf, or a raised branch, may cost more and still win
    raises: bool
    adds: bool  # False: nothing is added to the errors made


@inline
def _normal_extra(n, errors, z, high):
    """Return U of a leaf that made one error or more, by the normal approximation of the binomial distribution."""
    e, squared = errors + 0.5, z * z
    if e >= n:
        return high * max(n - errors, 0.0)
    inside = squared * (e * (1.0 - e / n) + squared / 4.0)
    return n * (e + squared / 2.0 + math.sqrt(max(inside, 0.0))) / (n + squared) - errors


@inline
def _extra(log_confidence, z, high, n, errors):
    """Return U(n, errors): how many more errors a leaf of weight n > 0 is expected to make than it made."""
    none = -n * math.expm1(log_confidence / n)
    if errors < 1e-6:
        return none
    if errors < 0.9999:
        return none + errors * (_normal_extra(n, 1.0, z, high) - none)
    return _normal_extra(n, errors, z, high)


@kernel
def extra_of_leaves(log_confidence, z, high, n, errors, out):
    """Write U(n, errors) of every leaf to ``out``; 0 for a leaf without rows. All (leaves,) float64."""
    for i in range(len(n)):
        out[i] = _extra(log_confidence, z, high, n[i], errors[i]) if n[i] > 0.0 else 0.0


@outlined
def cost_of_leaf(costs, sums):
    """Return the expected errors of a leaf with these weights of the classes."""
    n = largest = 0.0
    for k in range(len(sums)):
        n += sums[k]
        largest = max(largest, sums[k])
    errors = n - largest
    if costs.adds and n > 0.0:
        return errors + _extra(costs.log_confidence, costs.z, costs.high, n, errors)
    return errors
