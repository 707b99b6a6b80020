"""How C5.0 prunes: below, node by node, and the tree as a whole.

pooled_errors     expected errors of a subtree, small branches as one leaf
deal_cases        the cases of each node, dealt to its children in place or behind the others
branch_on_trial   what a branch would cost in the place of its parent, told from what changes
regrown_branches  leaves, or branches in the place of their parents, grown anew
global_pruning    weak links that chance may have made
join_leaves       leaves of one class below a test of categories
"""
