# mypy: ignore-errors
"""How a node finds its split: presorted (exact), histogram, or random thresholds.

A splitter is a NamedTuple of arrays with these methods, for kernels:

new_scratch(n, workers)                (Python) what workers need to grow subtrees of n rows, a row of each array a
                                       worker: arrays that ``per_worker`` made, of which ``worker_part`` takes one's
row_at(i)                              the row at a position of the node order
row_in_order(o, i)                     the same in the order of output o's target, where the target kind wants one
begin(growing, limits, own, node)      prepare to look at a node, with a worker's scratch ``own``; return the table that
                                       is to be filled from the node's rows, or -1
score_features(job, scratch, node, first, last, total)
                                       fill the candidates of scratch.features[first:last]; return how many of these
                                       features are not constant
divide(job, scratch, node)             move the rows of a node that has its split; return the border
divide_by_level(start, stop, codes, column, side, buffer)
                                       move rows [start, stop) to the side that side[codes[row, column]] says
inherit(growing, own, node, left)      hand on to the children (left and left + 1) what they can use; return the table
                                       that is to be filled from the rows of the smaller one, or -1
subtract(growing, own, node, left, slot)  after that: make the parent's table the larger one's
release(growing, own, node)            forget what was kept for a node

where tables are kept (``keeps_tables`` in Python):

clear_table(own, slot)                 make a table that of no rows
fill_table(target, own, slot, start, stop, first, last)  add the rows at [start, stop) to columns [first, last)
add_table(own, slot, other)            add the spare table of another worker's scratch
spare_slot(own)                        the table of a worker that is never kept
table_cells()                          how many numbers a table has
with_tables_of(own, other)             a worker's scratch with the tables of another one's

and where another splitter within does that, from ``begin`` to here, so that it is asked instead:

keeper()                               the splitter within
of_keeper(own)                         its part of a worker's scratch

and for a tree that several threads grow together; left out, one thread divides a node:

shares_of_division(job, node)          (first, last, work): ``divide`` as a range that can be cut into pieces
prepare_division(job, node)            what comes before these
divide_share(job, scratch, node, first, last)  one piece; return a number that ``finish_division`` finds in ``borders``
finish_division(job, scratch, node, borders, step)  after pieces of ``step``; return the border

and for forests:

with_rows(rows, n)                     the same splitter over other rows
copies_codes                           (Python) whether with_codes can be given those of a few rows, copied side by side
with_codes(codes)                      the same splitter over other codes
with_copies(room, n)                   the same splitter over those of n rows; left out: only codes are read
twice(codes, ends)                     (Python) the splitter of twice as many columns, the second half like the first;
                                       ``ends`` are the values that these codes stand for
draws_thresholds                       (Python) whether the candidates' cuts are thresholds; left out: they are codes
kernel                                 (Python) a kernel of its own that it calls by address, as
                                       ``job.calls.levels``; left out: there is none
grows_small                            (Python) whether small subtrees may be grown from ``codes`` and ``rows`` alone

and where candidates are no features (``oblique``):

offer(job, scratch, node, n)           add to the n candidates listed; return how many these are then
offer_kernel                           (Python) the kernel for that, called by address as ``job.calls.offer``
n_offered, term_width                  (Python) places for such candidates, and numbers that a node keeps of its own
"""

import numpy as np

from dtnumba.runtime.kernels import by_type

begin, score_features, divide = map(by_type, ("begin", "score_features", "divide"))
inherit, release, with_rows = map(by_type, ("inherit", "release", "with_rows"))


def _not_in_shares(splitter, job, node):
    return np.int64(0), np.int64(0), np.int64(0)


def _nothing_before(splitter, job, node):
    pass


def _no_share(splitter, job, scratch, node, first, last):
    return np.int64(0)


def _no_table_left(splitter, growing, own, node, left, slot):
    pass


def _no_table(splitter, own, slot):
    pass


def _no_tables(splitter, own, slot, other):
    pass


def _nothing_filled(splitter, target, own, slot, start, stop, first, last):
    pass


def _no_slot(splitter, own):
    return np.int64(0)


def _itself(splitter):
    return splitter


def _whole_scratch(splitter, own):
    return own


def _own_tables(splitter, own, other):
    return own


def _no_cells(splitter):
    return np.int64(0)


def _not_divided(splitter, job, scratch, node, borders, step):
    return np.int64(0)


shares_of_division = by_type("shares_of_division", _not_in_shares)
prepare_division = by_type("prepare_division", _nothing_before)
divide_share, finish_division = by_type("divide_share", _no_share), by_type("finish_division", _not_divided)
subtract, clear_table = by_type("subtract", _no_table_left), by_type("clear_table", _no_table)
fill_table, add_table = by_type("fill_table", _nothing_filled), by_type("add_table", _no_tables)
spare_slot, table_cells = by_type("spare_slot", _no_slot), by_type("table_cells", _no_cells)
with_tables_of = by_type("with_tables_of", _own_tables)
keeper, of_keeper = by_type("keeper", _itself), by_type("of_keeper", _whole_scratch)


def _same(splitter, codes):
    return splitter


with_codes = by_type("with_codes", _same)


def _codes_alone(splitter, room, n):
    return with_codes(splitter, room.small_codes)


with_copies = by_type("with_copies", _codes_alone)


def _nothing_offered(splitter, job, scratch, node, n):
    return n


offer = by_type("offer", _nothing_offered)


def _no_levels(splitter, own, feature, kind, start, stop, out, at):
    return at


note_levels = by_type("note_levels", _no_levels)
