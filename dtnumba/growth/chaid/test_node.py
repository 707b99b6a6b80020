# mypy: ignore-errors
"""The tests of all predictors at a node: tables of codes, merged categories, chances."""

from typing import NamedTuple

import numpy as np

from dtnumba.growth.chaid.bonferroni import FLOATING, NOMINAL, log_multiplier
from dtnumba.growth.chaid.chi_squared_and_f import LOG_P, find, weight_of
from dtnumba.growth.chaid.merge_categories import (
    NOTHING,
    absorb_small,
    is_large,
    join,
    merge,
    most_alike_of,
    take_groups,
)
from dtnumba.runtime.kernels import entry, inline
from dtnumba.runtime.records import own_copy


class NodeTables(NamedTuple):
    """Rows as codes, and what each adds to the table of a node."""

    codes: np.ndarray  # (p, n) uint8 or uint16
    n_codes: np.ndarray  # (p,) int64: codes of values; the next one is that of missing values
    kinds: np.ndarray  # (p,) int64: NOMINAL or ORDINAL
    label: np.ndarray  # (n,) int32: class; 0 where the target is a number
    weight: np.ndarray  # (n,) int64
    moments: np.ndarray  # (n, 2) int64: weight times y, and times its square; (1, 2) of classes
    units: np.ndarray  # (width,) float64: of the sums
    counts: np.ndarray  # (most codes + 1, width) int64 scratch


class Findings(NamedTuple):
    """The tests of a node, a row a predictor."""

    finding: np.ndarray  # (p, N_FINDING) float64
    adjusted: np.ndarray  # (p,) float64: logarithm of the chance times the multiplier; 0 where there is no split
    n_categories: np.ndarray  # (p,) int64
    n_groups: np.ndarray  # (p,) int64; 0 where there is no split
    first: np.ndarray  # (p + 1,) int64: where the codes of a predictor begin
    child: np.ndarray  # int32: the child of each code, or NOTHING of one that the node has no rows of


@inline
def count_rows(cells, f, rows, start, stop):
    """Write the table of a predictor, sums of the target by code, from the rows of a node."""
    counts, codes, weight, label = cells.counts, cells.codes, cells.weight, cells.label
    for code in range(cells.n_codes[f] + 1):
        for k in range(counts.shape[1]):
            counts[code, k] = 0
    if len(cells.moments) == 1:
        for i in range(start, stop):
            row = rows[i]
            counts[codes[f, row], label[row]] += weight[row]
        return
    for i in range(start, stop):
        row = rows[i]
        code = codes[f, row]
        counts[code, 0] += weight[row]
        counts[code, 1] += cells.moments[row, 0]
        counts[code, 2] += cells.moments[row, 1]


@inline
def _list_categories(cells, scratch, statistic, f):
    """Write the categories that the node has rows of, each with its code and its sums; return how many there are."""
    m = np.int64(0)
    for code in range(cells.n_codes[f] + 1):
        for k in range(cells.counts.shape[1]):
            scratch.given[m, k] = cells.counts[code, k] * cells.units[k]
        if weight_of(statistic, scratch.given, m) > 0.0:
            scratch.slot_code[m] = code
            scratch.kept[m] = m
            m += 1
    return m


@inline
def _place_missing(rules, kind, scratch, missing_slot, n_groups, m):
    """Join missing values to the group most like them if chance explains the groups less then; return the groups."""
    find(rules.statistic, scratch.sums, scratch.alive, m, scratch.whole, scratch.finding)
    alone = scratch.finding[LOG_P]
    if n_groups < 3:
        return n_groups
    for s in range(m):
        scratch.kept[s] = scratch.group[s]
    partner = most_alike_of(rules, kind, missing_slot, scratch, missing_slot, m)
    join(scratch, partner, missing_slot, m)
    find(rules.statistic, scratch.sums, scratch.alive, m, scratch.whole, scratch.finding)
    if scratch.finding[LOG_P] < alone:
        return n_groups - 1
    return take_groups(scratch, scratch.kept, missing_slot, m)


@inline
def merge_predictor(rules, kind, scratch, has_missing, m):
    """Merge the categories of a predictor, write the finding, and return the groups; 0 where there is no split."""
    missing_slot = m - 1 if kind != NOMINAL and has_missing else np.int64(NOTHING)
    n_groups = take_groups(scratch, scratch.kept, missing_slot, m)
    # Values in order merge first without those that are missing, which then are a group already.
    is_apart = missing_slot != NOTHING and not rules.exhaustive
    n_ordered = missing_slot if is_apart else m
    place = np.int64(NOTHING) if is_apart else missing_slot
    n_groups = merge(rules, kind, place, scratch, n_groups - is_apart, 1 if is_apart else 2, n_ordered)
    if is_apart:
        n_groups = _place_missing(rules, kind, scratch, missing_slot, n_groups + 1, m)
    elif rules.exhaustive:
        n_groups = take_groups(scratch, scratch.kept, missing_slot, m)
    if missing_slot != NOTHING and not scratch.alive[missing_slot]:
        missing_slot = np.int64(NOTHING)
    n_groups = absorb_small(rules, kind, missing_slot, scratch, n_groups, m)
    find(rules.statistic, scratch.sums, scratch.alive, m, scratch.whole, scratch.finding)
    return n_groups if is_large(rules, scratch, m) else np.int64(0)


@inline
def _write_children(scratch, child, first, n_codes, m):
    """Write the number of its group for each code; groups are numbered in the order of their first slots."""
    for code in range(n_codes + 1):
        child[first + code] = NOTHING
    number = np.int32(0)
    for s in range(m):
        if scratch.alive[s]:
            scratch.near[s] = number
            number += 1
        child[first + scratch.slot_code[s]] = scratch.near[scratch.group[s]]


class NodeStudy(NamedTuple):
    """What ``study_node`` is handed by address."""

    cells: NodeTables
    rules: object
    scratch: object
    found: Findings
    rows: np.ndarray  # (n,) int64


@entry
def study_node(given, start, stop, _):
    """Write the test of every predictor by the rows of a node: its groups, statistic and adjusted chance."""
    own = own_copy(given)
    cells, rules, scratch, found, rows = own.cells, own.rules, own.scratch, own.found, own.rows
    for f in range(len(cells.n_codes)):
        count_rows(cells, f, rows, start, stop)
        m = _list_categories(cells, scratch, rules.statistic, f)
        found.n_categories[f], found.n_groups[f], found.adjusted[f] = m, 0, 0.0
        if m < 2:
            continue
        has_missing = scratch.slot_code[m - 1] == cells.n_codes[f]
        kind = cells.kinds[f]
        n_groups = merge_predictor(rules, kind, scratch, has_missing, m)
        for k in range(len(scratch.finding)):
            found.finding[f, k] = scratch.finding[k]
        if n_groups == 0:
            continue
        full_kind = FLOATING if kind != NOMINAL and has_missing else kind
        log_b = log_multiplier(rules.multiplier, full_kind, m, n_groups, scratch.row)
        found.adjusted[f], found.n_groups[f] = min(scratch.finding[LOG_P] + log_b, 0.0), n_groups
        _write_children(scratch, found.child, found.first[f], cells.n_codes[f], m)
    return np.int64(0)
