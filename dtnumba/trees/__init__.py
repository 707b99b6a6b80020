"""Fitted trees: parallel arrays, and passes over them.

layout       Trees: the arrays, their invariants, and how several are joined
sparse_rows  rows of which nearly all numbers are zero: class shares where classes are very many
assemble     for growth: canonical numbers of nodes, ragged columns in their order
linear       the sums over several columns that nodes may test
check        the invariants, tested
routing      the rule of descent: which child a value goes to
graphs       decision graphs: equal subtrees shared, nodes laid out so that branches join, repeats counted
subtrees     passes over subtrees, a level of depth at a time; trees of which parts are replaced
records      tables of what is printed, as record arrays and as frames
r_numbers    numbers as R writes them, for what prints trees and their subtrees
hinges       terms of splines, and their coefficients
leaf_counts  how many leaves a tree with cases in parts has
compact      trees without the statistics that prediction does not need
"""
