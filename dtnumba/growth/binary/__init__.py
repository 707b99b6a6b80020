"""Trees with two children a node: integer sums, rows partitioned in place.

choose_splitter                  the registry of splitters, and how each is made
train                            table and target to Trees: codes, splitter, limits, growth
grow_subtree                     the loop: find a split, divide, go on with the children; never recursion
grow_in_parallel                 large nodes by all threads together, then a subtree a thread
small_subtrees                   whole subtrees of at most 64 rows, without moving a row
small_classes, small_regression  the cuts of such nodes, on bits or on sums
to_trees                         numbers, thresholds, values and impurities of finished nodes
"""
