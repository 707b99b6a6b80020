"""What leaves lose, as whole numbers: what optimal trees make least.

contract      what a loss says of rows, and what each says in its own way
labels        weight of wrong labels, and costs of labels
spreads       gini, entropy, squares
message       bits of a tree and its exceptions
absolute      distances from the median
lane_by_lane  both sides of many cuts, for losses of which one cut at a time is known, or by tables
"""
