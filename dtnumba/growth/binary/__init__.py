"""Trees with two children a node: integer sums, rows partitioned in place.

choose_splitter                  the registry of splitters, and how each is made
train                            table and target to Trees: codes, splitter, limits, growth
grow_subtree                     the loop: find a split, divide, go on with the children; never recursion
grow_in_parallel                 one tree on several threads, in one launch
crew                             what one thread leads in and others help with: large nodes in pieces, subtrees whole
small_subtrees                   whole subtrees of at most 64 rows, without moving a row
small_classes, small_regression  the cuts of such nodes, on bits or on sums
small_sums     the same where nodes may test a sum of several columns
to_trees                         numbers, thresholds, values and impurities of finished nodes
"""
