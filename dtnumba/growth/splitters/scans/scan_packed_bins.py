# mypy: ignore-errors
"""Walk the cuts of dense histograms whose bins are one number, rows << 32 | rows of class 1: sum up and score all bins.

Small nodes are scored in single precision first, sixteen cuts at once. Below ``ROUGH_ROWS`` this tells cuts apart that
differ by a millionth; those that come so close to the best one are scored again as all are at a large node, in the same
order, so the same one wins. Scoring took 970 cycles a node of five features instead of 2500.
"""

import numpy as np

from dtnumba.criteria.contract import NO_GAIN, TIE, has_rough_gain, rough_gain
from dtnumba.growth.splitters.candidates import all_are_legal, bar_above, is_legal, record_cut
from dtnumba.growth.targets.contract import bin_sums, rest, rows_in, split_score, zero
from dtnumba.runtime.instructions.bits import lowest_bit
from dtnumba.runtime.instructions.vector_compare import above_among_8, at_least_among_16, largest_of
from dtnumba.runtime.instructions.vector_sums import running_pairs, running_sums
from dtnumba.runtime.kernels import COMPILED, by_having, by_type, inline

_ZERO, _ONE, _TWO = np.uint64(0), np.uint64(1), np.uint64(2)
_8, _16, _32, _LOW = np.uint64(8), np.uint64(16), np.int64(32), np.int64((1 << 32) - 1)
_HALF, _LOW_HALF = np.int64(16), np.int64((1 << 16) - 1)
# Beside the place in the draw of the feature of a list of cuts: missing rows go left; the feature has missing rows.
_LEFT, _MISSING, _PLACE = np.uint64(1), np.uint64(2), np.uint64(2)
# Features whose cuts are scored at once.
GROUP = 8
# Each bin of a group twice, where rows are missing, and what fills up vectors.
MOST_CUTS = GROUP * 2 * 272
ROUGH_ROWS = 4096.0  # products of two counts are exact in single precision, and rows fit into half an int32
_CLOSE = 1e-6  # several times what the roundings may take from a gain, as a share of it
_FEW_TIES = 4.0 * TIE  # scores are at most the rows of a node
_NO_CUT = np.float32(-1.0)


def _no(target):
    return False


has_packed_bins = by_type("packs_bin_in_int64", _no)


@inline
def may_round(job, total):
    """Tell whether single precision may choose among the cuts: not where some are not legal."""
    return has_rough_gain(job.criterion) and all_are_legal(job.limits) and total[0] + total[1] < ROUGH_ROWS


@inline
def _scan_packed_bins(target, splitter, tables, first, last, n, job, scratch, total):
    """Find the best cut of features[first:last] at a node of n rows; return how many features vary.

    Work.codes holds where each list of cuts begins, one a feature and a side of its missing rows, and what it is of.
    """
    limits, least, varying, is_rough = job.limits, job.limits.min_samples_leaf, 0, may_round(job, total)
    hist, base, clears, features = tables.hist, tables.base, tables.clears, scratch.features
    work, out = scratch.work, scratch.candidates
    sums, starts, scores, stride = work.sums, work.codes, work.scores, np.uint64(splitter.n_bins)
    bar, scale, best_left, best_n = NO_GAIN, 0.0, zero(target, work.best), np.int64(0)
    best_list, best_code, best_after = np.uint64(0), np.int64(0), np.int64(-1)
    step = _16 if is_rough else _8
    for group in range(first, last, GROUP):
        m, n_lists, largest = np.uint64(0), np.uint64(0), NO_GAIN
        for i in range(group, min(group + GROUP, last)):
            f = features[i]
            out.gain[f] = NO_GAIN
            table = np.uint64(base) + np.uint64(i - first if clears else f) * stride
            missing = np.uint64(splitter.n_codes[f])
            of_missing = hist[table + missing]
            kind = (np.uint64(i) << _PLACE) | (_MISSING if of_missing != 0 else _ZERO)
            for side in range(2 if of_missing != 0 else 1):
                before = of_missing if side == 1 else np.int64(0)  # side 1: missing rows go left
                length, empties = missing + np.uint64(side == 0), clears and side == np.int64(of_missing != 0)
                end = m + ((length + step - _ONE) & ~(step - _ONE))
                if is_rough:
                    whole = _pair_up(hist, table, length, work.pairs, m, end, before, empties)
                    _score_roughly(job, total, work, m, end, before, whole)
                    scores[n_lists] = largest_of(work.rough, m, end - m)
                    largest = max(largest, scores[n_lists])
                    varying += side == 0 and scores[n_lists] >= 0.0
                else:
                    whole = _sum_up(hist, table, length, sums, m, end, before, empties)
                    n_legal = _score_list(target, job, total, work, m, end, before, whole)
                    varying += side == 0 and n_legal > 0
                starts[n_lists << _ONE] = m
                starts[(n_lists << _ONE) + _ONE] = kind | (_LEFT if side == 1 else _ZERO)
                m, n_lists = end, n_lists + _ONE
            if clears:
                hist[table + missing] = 0
        if is_rough and largest < 0.0:
            continue
        starts[n_lists << _ONE] = m
        close = largest - _CLOSE * largest - _FEW_TIES * (total[0] + total[1]) if is_rough else 0.0
        for at in range(n_lists):
            if is_rough and scores[at] < close:
                continue
            begin, kind = starts[at << _ONE], starts[(at << _ONE) + _ONE]
            for block in range(begin, starts[(at << _ONE) + _TWO], step):  # most are below
                found = at_least_among_16(work.rough, block, close) if is_rough else above_among_8(scores, block, bar)
                while found != 0:
                    k = block + np.uint64(lowest_bit(found))
                    found &= found - _ONE
                    if is_rough:
                        sums[0, k] = _word_of(work.pairs[k])
                    left = bin_sums(target, sums, k)
                    right, f = rest(target, total, left, work.right), features[kind >> _PLACE]
                    score = split_score(target, job.criterion, left, right, work) if is_rough else scores[k]
                    n_left = rows_in(target, sums[:, k], _ZERO, _ONE) if least > 1 else np.int64(0)
                    is_long = least <= 1 or least <= n_left <= n - least
                    if score > bar and is_long and is_legal(target, limits, f, left, right):
                        scale, after = max(scale, abs(score)), k + _ONE
                        bar, best_left, best_n, best_list = bar_above(score, scale), left, n_left, kind
                        while work.pairs[after] == work.pairs[k] if is_rough else sums[0, after] == sums[0, k]:
                            after += _ONE
                        best_code, best_after = np.int64(k - begin), np.int64(after - begin)
    if best_after >= 0:
        f, has_missing = features[best_list >> _PLACE], (best_list & _MISSING) != 0
        split = (best_n, best_code, best_after, np.int64((best_list & _LEFT) != 0), has_missing)
        record_cut(target, splitter, job, total, work, out, f, best_left, split)
    return varying


@inline
def _sum_up(hist, table, length, sums, m, end, before, empties):
    """Write the sums of a table's bins up to each to sums[0, m:end], the last again behind it, and return that one."""
    in_vectors = length & ~(_8 - _ONE)
    total = running_sums(hist, table, in_vectors, sums, m, before, empties)
    for code in range(in_vectors, length):
        total += hist[table + code]
        sums[0, m + code] = total
        if empties:
            hist[table + code] = 0
    for k in range(m + length, end):
        sums[0, k] = total
    return total


@inline
def _pair_up(hist, table, length, pairs, m, end, before, empties):
    """Write running sums of a table's bins to pairs[m:end], as rows << 16 | rows of class 1; return the last one."""
    in_vectors = length & ~(_16 - _ONE)
    total = running_pairs(hist, table, in_vectors, pairs, m, _pair_of(before), empties)
    for code in range(in_vectors, length):
        total += _pair_of(hist[table + code])
        pairs[m + code] = total
        if empties:
            hist[table + code] = 0
    for k in range(m + length, end):
        pairs[k] = total
    return total


@inline
def _pair_of(word):
    return (word >> _HALF) | (word & _LOW_HALF)


@inline
def _word_of(pair):
    return (np.int64(pair) >> _HALF << _32) | (np.int64(pair) & _LOW_HALF)


@inline
def _score_list(target, job, total, work, begin, end, before, whole):
    """Score the cuts in [begin, end) and return how many part rows: neither none of a feature's rows go left nor all.

    Of cuts that part the same rows the first one will count.
    """
    sums, scores, n_legal = work.sums, work.scores, np.int64(0)
    for k in range(begin, end):
        parts = (sums[0, k] != before) & (sums[0, k] != whole)
        if COMPILED or parts:  # no branch in vectors; interpreted, an empty side would divide by zero
            left = bin_sums(target, sums, k)
            score = split_score(target, job.criterion, left, rest(target, total, left, work.right), work)
            scores[k] = score if parts else NO_GAIN
        else:
            scores[k] = NO_GAIN
        n_legal += np.int64(parts)
    return n_legal


@inline
def _score_roughly(job, total, work, begin, end, before, whole):
    """Score the cuts in [begin, end) in single precision; cuts that part no rows score below zero."""
    pairs, rough = work.pairs, work.rough
    all_rows, all_second = np.float32(total[0] + total[1]), np.float32(total[1])
    none, everything = np.int32(_pair_of(before)), np.int32(whole)
    for k in range(begin, end):
        pair = pairs[k]
        parts = (pair != none) & (pair != everything)
        if COMPILED or parts:
            rows, second = np.float32(np.int32(pair >> _HALF)), np.float32(np.int32(pair & _LOW_HALF))
            gain = rough_gain(job.criterion, second, rows, all_second, all_rows)
            rough[k] = gain if parts else _NO_CUT
        else:
            rough[k] = _NO_CUT


@inline
def _no_packed_bins(target, splitter, tables, first, last, n, job, scratch, total):
    return 0


scan_packed_bins = by_having("packs_bin_in_int64", _scan_packed_bins, _no_packed_bins)
