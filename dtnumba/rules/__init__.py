"""Trees as rules, and rules as models.

layout, text, view                rules as arrays, as sentences, as a sequence
paths                             the way to each leaf of a tree
simplify                          a tree and rows to rules: the three steps below
drop_tests, select_subset, order  tests left out; rules of a class chosen; rules put in order
row_bits, exact_test              which rows pass which tests; whether a rule is more than chance
matching                          rows to rules
c50                               rules of C5.0, which vote
term_tests                        the tests that terms of decision lists are made of
term_search                       the best term of some rows
decision_list                     rules of few tests, one after another, learned greedily
dnf                               formulas in disjunctive normal form
prime_implicants                  the shortest of few variables
"""
