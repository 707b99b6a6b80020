"""Many trees: each is grown, numbered and described by the worker that drew its ticket.

plan            table, target and sampling to what all trees share
bootstrap_rows  how often each row counts in a tree
grow            binary trees
grow_multiway   trees of the multiway growth
parts           a tree whose rows lie in several parts, step by step
arena           where finished trees are put: one set of arrays
shares          values of very many classes, of which most are zero
drawn_rows      the rows that each tree drew, drawn again when they are asked for
"""
