"""C5.0's rules: a set that votes, made of the nodes of a tree.

node_paths     the way to each node, its categories those that it has rows of
shorter_paths  tests left out that do not help
shortest_set   the rules that say the classes in the fewest bits; which of them matter most
make_rules     a tree and rows to rules, step by step
votes          what the rules that hold for a row vote for, and how sure they are
one_row        the same of a single row, in microseconds
answers        what one tree says of rows, one set of rules, or trials that vote
"""
