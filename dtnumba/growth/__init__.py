"""From codes to nodes under construction: how trees grow.

columns        the columns of the arrays of growing nodes
nodes          these arrays, and the records that growth passes around
settings       what growth is asked for: limits and options
choose_growth  which growth a fit takes
targets        what a row adds to the statistics of a node
policies       which node comes next, which features it looks at, which splits are allowed
splitters      the best split of a node on numbers
categories     the best split of a node on categories
binary         two children a node: the fast growth of CART, and of the trees of forests
incremental    trees that follow their rows, whatever comes and goes
hoeffding      trees of streams, whose rows nobody keeps
multiway       any number of children: C4.5, ID3, missing-value policies, intervals, ranges
oblique        tests on sums over several columns, beside those of one column
forest         many trees: rows drawn, trees grown on all workers
optimal        the best tree of all, proven, or the best so far with a bound
chaid          merged categories and tests by significance
mars           terms of hinges, added and taken away
graphs         branches that join again

A room below imports the rooms above it, never the other way round.
"""
