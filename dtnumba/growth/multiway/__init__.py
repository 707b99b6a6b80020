"""Growth of trees whose nodes have any number of children: the rows of a node are (row, weight) pairs.

It grows what binary growth cannot: a child for each category, ranges and intervals of a number, missing values that
have a child of their own, go to all children in parts, or follow surrogates. Numbers are put in order once, and stay
so. Columns of a large node are worked on side by side, and then subtrees; all sums are exact, so the bits of a tree
depend on nothing but its data.

columns           the columns of the arrays of growing nodes
nodes             records of nodes, options, scratch and arguments
coded_columns     a table as codes, and numbers in order
ordered_columns   the keys of numbers in order, divided as nodes are
node_sums         statistics of rows by the kind of the target
splits            the tests of a node
divide            the split of a node written, its rows dealt to its children
grow              the loop
arrays            scratch, and room for nodes, enlarged where it is full
grow_together     one tree on several threads
join_subtrees     subtrees that were grown by themselves put into their tree
to_trees          from nodes under construction to Trees
train             from a table to Trees
c50               C5.0: its criterion, and from codes to Trees
c45               C4.5 and J48: their criterion, and from a table to Trees
"""
