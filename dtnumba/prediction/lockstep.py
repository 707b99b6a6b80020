# mypy: ignore-errors
"""Twelve walks in lockstep, which hide the latency of each other's loads; they stay in registers.

Written out, because a loop over an array of walks loads and stores each of them at every node.
"""

import numpy as np

from dtnumba.prediction.packed_forest import plain_step, step
from dtnumba.runtime.kernels import inline


@inline
def twelve(array, i):
    """Return the items from i on."""
    return (
        array[i], array[i + 1], array[i + 2], array[i + 3], array[i + 4], array[i + 5],
        array[i + 6], array[i + 7], array[i + 8], array[i + 9], array[i + 10], array[i + 11],
    )  # fmt: skip


@inline
def put_twelve(array, n):
    """Write twelve items to an array."""
    array[0], array[1], array[2], array[3], array[4], array[5] = n[0], n[1], n[2], n[3], n[4], n[5]
    array[6], array[7], array[8], array[9], array[10], array[11] = n[6], n[7], n[8], n[9], n[10], n[11]


@inline
def same(item):
    """Return an item twelve times."""
    return (item, item, item, item, item, item, item, item, item, item, item, item)


@inline
def rotated(n):
    """Return the items with the first one behind the others."""
    return (n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9], n[10], n[11], n[0])


@inline
def total(n):
    """Return the sum of the walks."""
    return n[0] + n[1] + n[2] + n[3] + n[4] + n[5] + n[6] + n[7] + n[8] + n[9] + n[10] + n[11]


@inline
def steps(q, f, n, x, b):
    """Step from the nodes n of the trees at f, for the rows at b."""
    return (
        step(q, f[0], n[0], x, b[0]), step(q, f[1], n[1], x, b[1]), step(q, f[2], n[2], x, b[2]),
        step(q, f[3], n[3], x, b[3]), step(q, f[4], n[4], x, b[4]), step(q, f[5], n[5], x, b[5]),
        step(q, f[6], n[6], x, b[6]), step(q, f[7], n[7], x, b[7]), step(q, f[8], n[8], x, b[8]),
        step(q, f[9], n[9], x, b[9]), step(q, f[10], n[10], x, b[10]), step(q, f[11], n[11], x, b[11]),
    )  # fmt: skip


@inline
def plain_steps(q, f, n, x, b):
    """Step where no value is missing."""
    return (
        plain_step(q, f[0], n[0], x, b[0]), plain_step(q, f[1], n[1], x, b[1]), plain_step(q, f[2], n[2], x, b[2]),
        plain_step(q, f[3], n[3], x, b[3]), plain_step(q, f[4], n[4], x, b[4]), plain_step(q, f[5], n[5], x, b[5]),
        plain_step(q, f[6], n[6], x, b[6]), plain_step(q, f[7], n[7], x, b[7]), plain_step(q, f[8], n[8], x, b[8]),
        plain_step(q, f[9], n[9], x, b[9]), plain_step(q, f[10], n[10], x, b[10]),
        plain_step(q, f[11], n[11], x, b[11]),
    )  # fmt: skip


@inline
def walk(nodes, depth, firsts, flat, bases):
    """Return the leaves of the rows that begin at ``bases``, each in its tree.

    Whether they have arrived is asked every fourth step: children have larger numbers, so if the sum stays, nobody
    moved.
    """
    at, before, level = same(np.uint64(1)), np.uint64(0), 0
    while level < depth:
        at = steps(nodes, firsts, at, flat, bases)
        level += 1
        if level & 3 == 3:
            before = total(at)
        elif level & 3 == 0 and total(at) == before:
            break
    return at


@inline
def plain_walk(nodes, depth, firsts, flat, bases):
    """Return the leaves of the rows that begin at ``bases``, where no value is missing."""
    at, before, level = same(np.uint64(1)), np.uint64(0), 0
    while level < depth:
        at = plain_steps(nodes, firsts, at, flat, bases)
        level += 1
        if level & 3 == 3:
            before = total(at)
        elif level & 3 == 0 and total(at) == before:
            break
    return at
