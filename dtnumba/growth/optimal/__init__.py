"""The best tree of a depth and a number of tests, proven, or the best so far with a bound.

columns            features as ordered columns of small numbers
losses             what leaves lose, as whole numbers
objectives         losses made ready: whole numbers a row, and their unit
rule               what trees are allowed, and which column is tried first
greedy             a tree to begin with, and what rows lose that are alike
known_sets         sets of rows that were solved
crew               threads that help the one that searches
bits               the search over columns of 0 and 1
ordered            the search over ordered columns
engines            a search, its memory and its kernels
train              columns and a loss to the best tree, under limits
to_trees           tests that were found to Trees
"""
