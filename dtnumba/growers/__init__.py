"""The second way to grow a tree: a node's rows as (row, weight) pairs, tests with any number of children.

It grows what ``grow`` cannot: a child a category, ranges and intervals of a number, missing values that have a child of
their own, go down all branches in parts, or follow surrogates. One tree is one serial kernel; sums are float64, in a
fixed order, so the bits of a tree depend on nothing but its data.

cases       what a growing tree is made of, and the parts of the work on a node
sums        statistics of rows by the kind of the target
groups      the rows of a node by the codes of one feature
candidates  from the children of a test to its gain, whatever missing values do
numeric     tests on a number
levels      tests on a category
merging     tests on groups of levels, as C4.5 finds them
prices      what a criterion asks of cuts beyond their gain
quinlan     the choice of a test in C4.5 and J48
entropy_cut the cut of largest entropy gain, row by row
surrogates  tests that agree with the chosen one
divide      rows to children
general     the loop
to_trees    from nodes under construction to Trees
grown       tables to trees
c45         tables to trees of C4.5
"""
