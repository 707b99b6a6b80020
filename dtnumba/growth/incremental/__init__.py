"""Trees that follow their rows: what rows added and taken away change, and nothing else, is grown anew.

state     nodes and lists of rows that stay between changes
lists     the rows of a node in the order of the column it tests
ceilings  what the best cut of a column can be worth, after rows came and went
node_sums  what nodes add up: the sums of growth, and for numbers squares
levels    categories: the best subset, from sums by level
look      the best cut of a column, from sums by code
winner    which column has the best cut of a node
move_cut  rows between two cuts of a column change sides
visit     changes go down the tree: a node keeps its test, moves its cut, or is listed to be grown anew
regrow    all nodes listed grow at once, by the kernels of binary growth
follow    one change of a tree, from rows to nodes
lay_out   a followed tree as Trees
slots     the rows that a model holds, and in what a batch fit would add them up
tally     whether the units of sums stay, from what came and went alone
follow_rows  the tree of the rows in slots
"""
