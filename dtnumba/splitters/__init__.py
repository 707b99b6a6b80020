"""How a node finds its split: presorted (exact), histogram, or random thresholds.

A splitter is a NamedTuple of arrays with these methods, for kernels:

new_scratch(n, workers)                (Python) what workers need to grow subtrees of n rows, a row of each array a
                                       worker; a part itself, whose pick(worker) is one worker's
row_at(i)                              the row at a position of the node order
row_in_order(o, i)                     the same in the order of output o's target, where the target kind wants one
begin(growing, target, limits, own, node)  prepare to look at a node; ``own`` is what pick gave
look(job, scratch, node, first, last, total)
                                       fill the candidates of scratch.features[first:last]; return how many of these
                                       features are not constant
divide(job, scratch, node)             move the rows of a node that has its split; return the border
divide_by_level(start, stop, codes, column, side, buffer)
                                       move rows [start, stop) to the side that side[codes[row, column]] says
inherit(growing, target, own, node, left)  hand on to the children (left and left + 1) what they can use
release(growing, own, node)            forget what was kept for a node

and for forests:

with_rows(rows, n)                     the same splitter over other rows
copies_codes                           (Python) whether with_codes can be given those of a few rows, copied side by side
with_codes(codes)                      the same splitter over other codes
twice(codes)                           (Python) the splitter of twice as many columns; left out: a row of n_codes and of
                                       what codes stand for is all that it knows of a column

and where small subtrees are grown in another way:

is_few(job, scratch, node)             whether an open node is to be the root of one
grow_few(job, scratch, root, free, chunk_end)  grow everything below such a node, straight after it was asked
few_scratch(workers)                   (Python) what workers need for that
"""

from dtnumba._jit import by_type

pick_own = by_type("pick")  # of a splitter's scratch
begin = by_type("begin")
look = by_type("look")
divide = by_type("divide")
inherit = by_type("inherit")
release = by_type("release")
with_rows = by_type("with_rows")


def _same(splitter, codes):
    return splitter


with_codes = by_type("with_codes", _same)


def _never(splitter, job, scratch, node):
    return False


def _nothing_grown(splitter, job, scratch, root, free, chunk_end):
    return free, chunk_end


is_few = by_type("is_few", _never)
grow_few = by_type("grow_few", _nothing_grown)
