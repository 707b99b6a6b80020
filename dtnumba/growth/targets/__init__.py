"""The label side of a split: what one row adds to the statistics of a node.

contract                                    what a target kind implements, and how kernels call it
choose                                      which kind serves the labels or numbers, the weights and the criterion
two_classes, counted_classes, many_classes  classes
regression, ranked                          numbers: by their moments, or by their order (absolute_error)
plain                                       the same without what only large work repays
reach                                       targets whose squares leave float64, in another unit
fixed_point                                 numbers as integers: one each, or several where they lie far apart
leaf_values                                 value, weight and impurity of a node from the exact sums of its rows
"""
