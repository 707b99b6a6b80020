"""Decision graphs: branches that join again, learned by the length of the message that says the labels.

sample      rows as codes, and the bits of the labels in a leaf
forks       the best test of each column for the rows of a leaf
growing     a graph under construction: its leaves and tests, its message, and how it becomes Trees
candidates  what could be done next: the best fork of each leaf, what each pair of nodes would save
look_ahead  forks that pay only together
by_length   forks and joins, the largest saving first
oblivious   one column a level
diagram     a forest as one diagram
"""
