"""What growth asks at a node besides the gain of a split.

node_order         which open node is divided next
feature_sampling   which features a node looks at
interactions       which features may stand on one path
monotonic          with which features predictions only rise, or only fall
limits             what stops the growth of a tree
constraints        what callers say of the last two, checked
significance_test  whether chance alone would explain the best split
"""
