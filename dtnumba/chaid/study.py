"""What every predictor of a node has to say: tables of codes, mergers, chances."""

from typing import NamedTuple

import numpy as np

from dtnumba._jit import address_of, inline, kernel
from dtnumba.chaid.association import LOG_P, find, weight_of
from dtnumba.chaid.merging import NOTHING, absorb_small, is_large, join, merge, most_alike_of, take_groups
from dtnumba.chaid.multipliers import FLOATING, NOMINAL, log_multiplier


class NodeTables(NamedTuple):
    """Rows as codes, and what they add to the table of a node."""

    codes: np.ndarray  # (p, n) uint16
    n_codes: np.ndarray  # (p,) int64: codes of values; the next one is that of missing values
    kinds: np.ndarray  # (p,) int64: NOMINAL or ORDINAL
    label: np.ndarray  # (n,) int32: class; 0 where the target is a number
    weight: np.ndarray  # (n,) int64
    moments: np.ndarray  # (n, 2) int64: weight times y, and times its square; (1, 2) of classes
    units: np.ndarray  # (width,) float64: of the sums
    counts: np.ndarray  # (most codes + 1, width) int64 scratch


class Findings(NamedTuple):
    """What a node found, a row a predictor."""

    finding: np.ndarray  # (p, N_FINDING) float64
    adjusted: np.ndarray  # (p,) float64: logarithm of the chance times the multiplier; 0 where there is no split
    n_categories: np.ndarray  # (p,) int64
    n_groups: np.ndarray  # (p,) int64; 0 where there is no split
    first: np.ndarray  # (p + 1,) int64: where the ways of a predictor begin
    way: np.ndarray  # int32: the child of each code, or NOTHING of one that the node has no rows of


@inline
def count_rows(cells, f, rows, start, stop):
    """Fill the table of a predictor from the rows of a node."""
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
def _list_categories(cells, desk, statistic, f):
    """Make a slot of each code that has rows, remember its code, and return how many there are."""
    m = np.int64(0)
    for code in range(cells.n_codes[f] + 1):
        for k in range(cells.counts.shape[1]):
            desk.given[m, k] = cells.counts[code, k] * cells.units[k]
        if weight_of(statistic, desk.given, m) > 0.0:
            desk.slot_code[m] = code
            desk.kept[m] = m
            m += 1
    return m


@inline
def _place_missing(rules, kind, desk, loose, n_groups, m):
    """Join missing values to the group most like them if chance explains the groups less then; return the groups."""
    find(rules.statistic, desk.sums, desk.alive, m, desk.whole, desk.finding)
    alone = desk.finding[LOG_P]
    if n_groups < 3:
        return n_groups
    for s in range(m):
        desk.kept[s] = desk.group[s]
    partner = most_alike_of(rules, kind, loose, desk, loose, m)
    join(desk, partner, loose, m)
    find(rules.statistic, desk.sums, desk.alive, m, desk.whole, desk.finding)
    if desk.finding[LOG_P] < alone:
        return n_groups - 1
    return take_groups(desk, desk.kept, loose, m)


@inline
def merge_predictor(rules, kind, desk, has_missing, m):
    """Merge the categories of a predictor, write the finding, and return the groups; 0 where there is no split."""
    loose = m - 1 if kind != NOMINAL and has_missing else np.int64(NOTHING)
    n_groups = take_groups(desk, desk.kept, loose, m)
    # Values in order merge first without those that are missing, which then are a group already.
    is_apart = loose != NOTHING and not rules.exhaustive
    n_ordered = loose if is_apart else m
    place = np.int64(NOTHING) if is_apart else loose
    n_groups = merge(rules, kind, place, desk, n_groups - is_apart, 1 if is_apart else 2, n_ordered)
    if is_apart:
        n_groups = _place_missing(rules, kind, desk, loose, n_groups + 1, m)
    elif rules.exhaustive:
        n_groups = take_groups(desk, desk.kept, loose, m)
    if loose != NOTHING and not desk.alive[loose]:
        loose = np.int64(NOTHING)
    n_groups = absorb_small(rules, kind, loose, desk, n_groups, m)
    find(rules.statistic, desk.sums, desk.alive, m, desk.whole, desk.finding)
    return n_groups if is_large(rules, desk, m) else np.int64(0)


@inline
def _write_ways(desk, way, first, n_codes, m):
    """Number the groups in the order of their first slots, and say which one each code belongs to."""
    for code in range(n_codes + 1):
        way[first + code] = NOTHING
    number = np.int32(0)
    for s in range(m):
        if desk.alive[s]:
            desk.near[s] = number
            number += 1
        way[first + desk.slot_code[s]] = desk.near[desk.group[s]]


@kernel
def study_node(given_cells, given_rules, given_desk, given_findings, rows, start, stop):
    """Write what every predictor says about the rows of a node.

    rows (n,) int64
    """
    cells, rules, desk, found = (
        address_of(given_cells),
        address_of(given_rules),
        address_of(given_desk),
        address_of(given_findings),
    )
    for f in range(len(cells.n_codes)):
        count_rows(cells, f, rows, start, stop)
        m = _list_categories(cells, desk, rules.statistic, f)
        found.n_categories[f], found.n_groups[f], found.adjusted[f] = m, 0, 0.0
        if m < 2:
            continue
        has_missing = desk.slot_code[m - 1] == cells.n_codes[f]
        kind = cells.kinds[f]
        n_groups = merge_predictor(rules, kind, desk, has_missing, m)
        for k in range(len(desk.finding)):
            found.finding[f, k] = desk.finding[k]
        if n_groups == 0:
            continue
        full_kind = FLOATING if kind != NOMINAL and has_missing else kind
        log_b = log_multiplier(rules.multiplier, full_kind, m, n_groups, desk.row)
        found.adjusted[f], found.n_groups[f] = min(desk.finding[LOG_P] + log_b, 0.0), n_groups
        _write_ways(desk, found.way, found.first[f], cells.n_codes[f], m)
