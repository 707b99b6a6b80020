"""The best tree of a depth and a number of tests, proven, or the best so far with a bound.

columns            features as ordered columns of small numbers
losses             what leaves lose, as whole numbers
objectives         losses made ready: whole numbers a row, and their unit
rule               what trees are allowed, and which column is tried first
greedy             a tree to begin with, and what rows lose that are alike
known_sets         sets of rows that were solved
bit_rows           rows as bits
two_levels         the best tree of two levels over columns of 0 and 1
bit_search         branch and bound above it
bit_job            the memory of that search
sorted_rows        rows in the order of each column
sorted_two_levels  the best tree of two levels over ordered columns
sorted_search      the search over ordered columns: ranges of cuts are halved and skipped
sorted_job         the memory of that search
engines            a search, its memory and its kernels
train              columns and a loss to the best tree, under limits
to_trees           tests that were found to Trees
"""
