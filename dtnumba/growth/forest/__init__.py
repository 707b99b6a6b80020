"""Many trees: each is grown, numbered and described by the worker that drew its ticket.

plan            table, target and sampling to what all trees share
bootstrap_rows  how often each row counts in a tree
row_keys        what a row is to draws that know it by itself
held_rows       rows that a forest holds so that it can forget some
row_draws       draws that each row makes by itself
keyed_codes     codes of values by rows that their keys choose
grow            binary trees
grow_multiway   trees of the multiway growth
parts           a tree whose rows lie in several parts, step by step
summed_tables   its splits, where rows are elsewhere and their tables were added up
regrow          trees whose rows have left, grown again where these were
splice          such trees put together of what grew and of what stayed
arena           where finished trees are put: one set of arrays
shares          values of very many classes, of which most are zero
drawn_rows      the rows that each tree drew, drawn again when they are asked for
"""
