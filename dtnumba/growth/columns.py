"""Columns of the arrays of growing nodes, and what stands in them; read as ``col.FEATURE``."""

import numpy as np

# Columns of Growing.nodes
FEATURE, LEFT, LAST_LEFT, FIRST_RIGHT, MISSING_LEFT, START, STOP, DEPTH, SLOT, LEFT_ROWS = range(10)
N_COLUMNS = 10
PARENT = N_COLUMNS  # only where interactions are constrained
LEAF = -1
OPEN = -2  # in the column FEATURE: neither a leaf nor split yet
# The column SLOT holds the table kept for a node; NO_SLOT where there is none; and, below that, minus the number of
# descendants of a node whose descendants were written in the order of their final numbers.
NO_SLOT = -1
# Columns of Growing.numbers
GAIN, CUT, PRIORITY = range(3)
N_NUMBERS = 3
LOWER, UPPER = N_NUMBERS, N_NUMBERS + 1  # of a node's value; only where a feature is monotonic
# Workers take room for nodes in chunks, so that the nodes of a tree lie together whoever grew them. Where a node lies
# differs from run to run; ``to_trees`` numbers them anew.
CHUNK = 1024
UNKNOWN = -1  # first sum of a node of which nobody took the sums yet; no sum that comes first is negative
NEXT_CHUNK, FIRST_CHUNK = 0, 1  # entries of Growing.room: the next free chunk, and the node at which chunk 0 begins

# scikit-learn's slack when it compares an improvement with min_impurity_decrease
EPSILON = np.finfo(np.float64).eps
NO_LIMIT = np.int64(1 << 62)
