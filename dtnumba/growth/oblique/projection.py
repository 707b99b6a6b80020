# mypy: ignore-errors
"""The rows of a node in the order of a sum, and the best cut of it: exact, by the target's and the criterion's code."""

import numpy as np

from dtnumba.criteria.contract import NO_GAIN
from dtnumba.growth import columns as col
from dtnumba.growth.splitters.candidates import FIRST_ABOVE, FOUND, LAST_BELOW, NOTHING
from dtnumba.growth.splitters.scans.scan_rows import scan_order
from dtnumba.growth.targets.leaf_values import row_at
from dtnumba.runtime import rng
from dtnumba.runtime.kernels import inline, outlined
from dtnumba.tables.presort import MISSING, NEW, ROW, Format, is_missing, key_of, sort_by_key

LEAST_WEIGHT = 1e-3  # of the largest: a term below says nothing
_FEW = 48  # rows up to which insertion is faster
_SIGN, _INFINITY = np.uint64(1 << 63), np.uint64(0x7FF0000000000000)


@inline
def stream_of(job, node):
    """Return the stream of random numbers of a node: by the seed, the tree and the way to the node."""
    return rng.mix(rng.mix(job.limits.cuts_key, rng.DIRECTIONS), job.growing.keys[node])


@outlined
def try_weights(splitter, job, scratch, node, d, total):
    """Scan the sum with ``own.weights`` of the node's d columns, and keep its best cut where it beats those so far."""
    own, out, best, now = scratch.own, scratch.candidates, splitter.n_features, splitter.n_features + 1
    m = scan_sum(splitter, job, scratch, node, d, total)
    if m < 2 or m > splitter.most_terms or out.gain[now] <= out.gain[best]:
        return
    out.gain[best], out.information[best] = out.gain[now], out.information[now]
    for k in range(4):
        out.where[best, k] = out.where[now, k]
    for k in range(out.sums.shape[1]):
        out.sums[best, k] = out.sums[now, k]
    out.cut[best] = _cut_between(splitter, own, m, out.where[now, LAST_BELOW], out.where[now, FIRST_ABOVE])
    _keep_terms(job.growing.terms[node], own, m, splitter.most_terms)


@outlined
def scan_sum(splitter, job, scratch, node, d, total):
    """Write the best cut of the sum with ``own.weights`` as the candidate in hand; return its terms, 0 for no cut."""
    own, nodes = scratch.own, job.growing.nodes
    start, stop = np.int64(nodes[node, col.START]), np.int64(nodes[node, col.STOP])
    m, n = _list_terms(own, d), stop - start
    if m == 0:
        return m
    for i in range(n):
        own.sums[i] = sum_of_row(splitter, own, m, np.int64(row_at(splitter, start + i)))
    return m if scan_numbers(splitter, job, scratch, node, total) else np.int64(0)


@outlined
def scan_numbers(splitter, job, scratch, node, total):
    """Write the best cut of the numbers that ``own.sums`` has of a node's rows; return whether there is any."""
    own, nodes, now = scratch.own, job.growing.nodes, splitter.n_features + 1
    start, stop = np.int64(nodes[node, col.START]), np.int64(nodes[node, col.STOP])
    _order_rows(splitter, own, start, stop - start)
    found = scan_order(job.target, own.sequence, 0, stop - start, start, now, job, scratch, total)
    return found == FOUND


@inline
def _list_terms(own, d):
    """List the terms of the weights in ``own``, in the units of the columns; return how many there are."""
    largest, m, total = 0.0, np.int64(0), 0.0
    for k in range(d):
        largest = max(largest, abs(own.weights[k]))
    if not 0.0 < largest < np.inf:
        return m
    for k in range(d):
        share = own.weights[k] / largest
        weight = share * own.scale[k]
        if abs(share) >= LEAST_WEIGHT and abs(weight) > 0.0:
            own.term_column[m], own.term_weight[m], own.term_share[m] = own.columns[k], weight, abs(share)
            own.stand_in[m] = own.low[k] + own.mean[k] / own.scale[k]
            total += abs(share)
            m += 1
    for k in range(m):
        own.term_share[k] /= total
    return m


@inline
def sum_of_row(splitter, own, m, row):
    """Return the sum of the terms listed for a row, as prediction adds it up."""
    cells, total, n_known = splitter.cells, 0.0, 0
    at = cells.offset + row * cells.row_step
    for k in range(m):
        x = float(cells.flat[at + own.term_column[k] * cells.column_step])
        is_known = x == x
        n_known += is_known
        total += float(own.term_weight[k]) * (x if is_known else float(own.stand_in[k]))
    return total if n_known > 0 else np.nan


@inline
def _order_rows(splitter, own, start, n):
    """Write the rows of a node in the order of their sums, as records that a scan can walk."""
    sort, form = own.sort, Format(_SIGN, _INFINITY)
    for i in range(n):
        sort.keys[i], sort.rows[i] = key_of(own.bits[i], form), row_at(splitter, start + i)
    if n <= _FEW:
        for i in range(1, n):
            key, row, j = sort.keys[i], sort.rows[i], i
            while j > 0 and sort.keys[j - 1] > key:
                sort.keys[j], sort.rows[j] = sort.keys[j - 1], sort.rows[j - 1]
                j -= 1
            sort.keys[j], sort.rows[j] = key, row
        _write_records(own.sequence, sort.keys, sort.rows, n)
    elif sort_by_key(sort, n):
        _write_records(own.sequence, sort.other_keys, sort.other_rows, n)
    else:
        _write_records(own.sequence, sort.keys, sort.rows, n)


@inline
def _write_records(sequence, keys, rows, n):
    before = keys[0]
    for i in range(n):
        record = rows[i] & ROW
        if keys[i] != before:
            record |= NEW
        if is_missing(keys[i]):
            record |= MISSING
        sequence[i], before = record, keys[i]


@inline
def _cut_between(splitter, own, m, last_left, first_right):
    """Return the threshold halfway between two rows, and never on the right one; infinity where none is right."""
    if first_right == NOTHING:
        return np.inf
    below = sum_of_row(splitter, own, m, np.int64(last_left))
    above = sum_of_row(splitter, own, m, np.int64(first_right))
    middle = below / 2.0 + above / 2.0
    return middle if below <= middle < above and middle - middle == 0.0 else below


@inline
def _keep_terms(terms, own, m, most):
    """Write the terms listed into a node's row: how many, then columns, weights, what stands in, and shares."""
    terms[0] = m
    for k in range(m):
        terms[1 + k], terms[1 + most + k] = own.term_column[k], own.term_weight[k]
        terms[1 + 2 * most + k], terms[1 + 3 * most + k] = own.stand_in[k], own.term_share[k]


@inline
def goes_left(splitter, growing, node, row):
    """Tell whether the sum that a node keeps sends a row left."""
    cells, terms, most, total, n_known = splitter.cells, growing.terms[node], splitter.most_terms, 0.0, 0
    at = cells.offset + row * cells.row_step
    for k in range(np.int64(terms[0])):
        x = float(cells.flat[at + np.int64(terms[1 + k]) * cells.column_step])
        is_known = x == x
        n_known += is_known
        total += float(terms[1 + most + k]) * (x if is_known else float(terms[1 + 2 * most + k]))
    if n_known == 0 or total != total:
        return growing.nodes[node, col.MISSING_LEFT] == 1
    return total <= growing.numbers[node, col.CUT]


@inline
def forget_sums(splitter, scratch):
    """Forget the sums that were tried at an earlier node."""
    scratch.candidates.gain[splitter.n_features] = NO_GAIN
