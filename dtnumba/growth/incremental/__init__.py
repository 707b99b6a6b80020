"""Trees that follow their rows: what rows added and taken away change, and nothing else, is grown anew.

state     nodes and lists of rows that stay between changes
lists     the rows of a node in the order of the column it tests
ceilings  what the best cut of a column can be worth, after rows came and went
visit     changes go down the tree: a node keeps its test, moves its cut, or is listed to be grown anew
regrow    all nodes listed grow at once, by the kernels of binary growth
follow    one change of a tree, from rows to nodes
"""
