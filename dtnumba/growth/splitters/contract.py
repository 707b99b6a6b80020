# mypy: ignore-errors
"""How a node finds its split: presorted (exact), histogram, or random thresholds.

A splitter is a NamedTuple of arrays with these methods, for kernels:

new_scratch(n, workers)                (Python) what workers need to grow subtrees of n rows, a row of each array a
                                       worker: arrays that ``per_worker`` made, of which ``worker_part`` takes one's
row_at(i)                              the row at a position of the node order
row_in_order(o, i)                     the same in the order of output o's target, where the target kind wants one
begin(growing, target, limits, own, node)  prepare to look at a node; ``own`` is what pick gave
score_features(job, scratch, node, first, last, total)
                                       fill the candidates of scratch.features[first:last]; return how many of these
                                       features are not constant
divide(job, scratch, node)             move the rows of a node that has its split; return the border
divide_by_level(start, stop, codes, column, side, buffer)
                                       move rows [start, stop) to the side that side[codes[row, column]] says
inherit(growing, target, own, node, left)  hand on to the children (left and left + 1) what they can use
release(growing, own, node)            forget what was kept for a node

and for a tree that all threads grow together, in Python; left out, one thread does so:

divide_together(nodes, node, buffer, workers)  ``divide``, a part of the work a worker
fill_together(target, start, stop, workers)    histograms of the rows at [start, stop), one int64 array

and for forests:

with_rows(rows, n)                     the same splitter over other rows
copies_codes                           (Python) whether with_codes can be given those of a few rows, copied side by side
with_codes(codes)                      the same splitter over other codes
twice(codes, ends)                     (Python) the splitter of twice as many columns, the second half like the first;
                                       ``ends`` are the values that these codes stand for
draws_thresholds                       (Python) whether the candidates' cuts are thresholds; left out: they are codes
kernel                                 (Python) a kernel of its own that it calls by address, as
                                       ``job.calls.levels``; left out: there is none
grows_small                            (Python) whether small subtrees may be grown from ``codes`` and ``rows`` alone
"""

from dtnumba.runtime.kernels import by_type

begin, score_features, divide = map(by_type, ("begin", "score_features", "divide"))
inherit, release, with_rows = map(by_type, ("inherit", "release", "with_rows"))


def _same(splitter, codes):
    return splitter


with_codes = by_type("with_codes", _same)


def _no_levels(splitter, own, feature, kind, start, stop, out, at):
    return at


note_levels = by_type("note_levels", _no_levels)
