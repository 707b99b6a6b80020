# mypy: ignore-errors
"""Search a categorical feature at a node: a kernel of its own, which growth calls by address.

It is half of what growth with categories takes to compile, and compiles beside the other half. Its last number says
what to do: where the sums of the categories stand, if they are there, or else one of the tasks below.
"""

import numpy as np

from dtnumba.growth import columns as col
from dtnumba.growth.categories.by_median import arrange_by_rows, score_ranks
from dtnumba.growth.categories.node_categories import forget_sums, list_present, sum_feature
from dtnumba.growth.categories.subset_search import DRAWN_SUBSET, arrange, part_two_rows, score_sums, write_left
from dtnumba.growth.nodes import in_hand
from dtnumba.growth.targets.contract import around, load
from dtnumba.runtime.addresses import call_at
from dtnumba.runtime.kernels import by_having, by_type, entry, inline

# Write the best split of the only two rows of a node; find again which categories its split sends left.
TWO_ROWS, FIND_LEFT = -1, -2


@inline
def search(job, scratch, node, f, task):
    """Search a feature at a node; return CONSTANT, BARREN or FOUND, or what the task returns."""
    return call_at(job.calls.levels, in_hand(job, scratch), np.int64(node), np.int64(f), np.int64(task))


@entry
def search_levels(subtree, node, f, task):
    """Search a categorical feature at a node; see ``search``."""
    job, scratch = subtree.job, subtree.scratch
    return search_within(job.splitter, job, scratch, node, f, task)


@inline
def search_within(splitter, job, scratch, node, f, task):
    """Do what ``search_levels`` does, for a splitter of categories that stands within another."""
    if task == FIND_LEFT:
        return _find_left(splitter, job, scratch, node, f)
    return _score(job.target, splitter, job, scratch, node, f, task)


@inline
def _find_left(splitter, job, scratch, node, f):
    """Write the categories that the split of a node sends left to ``own.kept``; return how many there are."""
    nodes, own = job.growing.nodes, scratch.own
    m, kind = _arrange_again(job.target, splitter, job, scratch, node, f), np.int64(nodes[node, col.FIRST_RIGHT])
    c = write_left(own, np.int64(nodes[node, col.START]), m, kind, np.int64(nodes[node, col.LAST_LEFT]))
    for j in range(m if splitter.how == DRAWN_SUBSET else 0):
        own.chosen[j] = 0
    return c


@inline
def _arrange_by_sums(target, splitter, job, scratch, node, f):
    """Write the categories of a node and the order in which they were cut; return how many there are."""
    nodes, own, base = job.growing.nodes, scratch.own, np.uint64(0)
    start, stop = np.int64(nodes[node, col.START]), np.int64(nodes[node, col.STOP])
    sum_feature(splitter, target, own, f, start, stop)
    m = list_present(target, splitter, own, f, own.tables, base, start, stop)
    arrange(target, splitter, job, scratch, node, f, own.tables, base, m)
    forget_sums(target, splitter, own, f, own.tables, base, m)
    return m


@inline
def _score_by_sums(target, splitter, job, scratch, node, f, task):
    total = around(target, load(target, job.growing.sums[node, 0], scratch.work.total), scratch.work)
    if task == TWO_ROWS and splitter.is_level[f]:
        return part_two_rows(target, splitter, job, scratch, node, f, total)
    if task == TWO_ROWS:
        return part_by_number(splitter, job, scratch, node, f, total)
    return score_summed(splitter, job, scratch, node, f, np.uint64(task), total)


@inline
def _score_by_ranks(target, splitter, job, scratch, node, f, task):
    total = load(target, job.growing.sums[node, 0], scratch.work.total)
    return score_ranks(target, splitter, job, scratch, node, f, total)


def _score_own_sums(splitter, job, scratch, node, f, at, total):
    return score_sums(job.target, splitter, job, scratch, node, f, scratch.own.tables, at, total)


def _never_asked(splitter, job, scratch, node, f, total):
    return 0


# Write the split of the only two rows of a node by a feature that is a number.
part_by_number = by_type("part_by_number", _never_asked)
# Write the best split of a category whose sums begin at a place of the splitter's table.
score_summed = by_type("score_summed", _score_own_sums)
_score = by_having("rank_rows", _score_by_ranks, _score_by_sums)
_arrange_again = by_having("rank_rows", arrange_by_rows, _arrange_by_sums)
