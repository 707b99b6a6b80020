"""Growth of trees whose nodes have any number of children: the rows of a node are (row, weight) pairs.

It grows what binary growth cannot: a child for each category, ranges and intervals of a number, missing values that
have a child of their own, go to all children in parts, or follow surrogates. One tree is one serial kernel; sums are
float64, in a fixed order, so the bits of a tree depend on nothing but its data.

columns           the columns of the arrays of growing nodes
nodes             records of nodes, options, scratch and arguments
node_sums         statistics of rows by the kind of the target
group_rows        the rows of a node by the codes of one feature
judge_test        gain of a split from the sums of its children, whatever missing values do
number_tests      splits on a number
entropy_cut       the threshold of largest entropy gain, row by row
category_tests    splits on categories
merge_categories  splits on groups of categories, as C4.5 finds them
criterion_hooks   methods of a criterion beyond its gain
surrogates        splits that agree with the chosen one
divide            the split of a node written, its rows dealt to its children
grow              the loop
to_trees          from nodes under construction to Trees
train             from a table to Trees
c45               C4.5 and J48: their criterion, and from a table to Trees
"""
