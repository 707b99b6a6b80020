"""The work behind pruners: passes over trees that decide which subtrees are replaced.

by_depth                     bottom up, where the estimate is a sum over leaves
in_postorder                 one choice after another, where the estimate may look at the whole tree
weakest_link                 cost complexity: the nested trees of every alpha
alpha_table                  which alpha, by folds
subtree_raising, route_rows  the heaviest child of a node in the place of the node, with all its rows
fractional_subtree_raising   subtree raising where rows go down several children in parts
case_lists                   the rows of each node, whole or in parts
expected_errors              what a leaf errs at a confidence level
raised_subtree_errors        errors of a subtree with all rows of its parent, for estimates that look at the whole tree
recount                      trees that were changed, counted anew with their rows
collapse                     subtrees that err no less than a leaf would
c50                          what C5.0 does beyond that
binomial_bound  bounds on the chance of an error
"""
