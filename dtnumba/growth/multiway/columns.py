"""Columns and states of the arrays of the multiway growth, with those of ``growth.columns`` that both growths have."""

from dtnumba.growth.columns import DEPTH, FEATURE, GAIN, LEAF, LEFT, OPEN, PARENT, PRIORITY, START, STOP  # noqa: F401

# What missing values do
LEARNED, BRANCH, MAJORITY, FRACTIONAL, SURROGATE = range(5)
# How a category is tested
ONE_SUBSET, EACH_CATEGORY, ONE_CATEGORY, MERGED_CATEGORIES, GROUPED_CATEGORIES = range(5)
# How a number is tested
THRESHOLD, INTERVAL, RANGES = range(3)
# Columns of GrownNodes.nodes: those of ``growth.nodes`` that both growths have, and between them
FAN_OUT, MISSING_TO, CUT_AT, N_CUTS, BRANCH_AT = 2, 3, 4, 8, 9
N_BRANCHES, LEVEL_AT, N_LEVELS, SURROGATE_AT, N_SURROGATES, ROWS, ARE_ONE = range(11, 18)
N_MULTIWAY_COLUMNS = 18
IMPURITY = 1  # column of GrownNodes.numbers, between GAIN and PRIORITY
# Entries of GrownNodes.state: how much of each array is in use
N_NODES, N_SOUGHT, N_LEAVES, N_FRONTIER, N_CASES, STATUS = range(6)
CUTS_USED, BRANCHES_USED, LEVELS_USED, SURROGATES_USED = range(6, 10)
STEP, NODE_IN_HAND = 10, 11  # what was done last for which node, where growth is to go on from there
N_VARYING = 12  # of the columns that others looked at
N_STATE = 13
GROWING, DONE, NODES_FULL, CASES_FULL, RAGGED_FULL, TOO_WIDE, STOPPED = range(7)
# Entries STATUS and STEP where columns are worked on by whoever called, on several threads
LOOK, FIND_SURROGATES, DIVIDE_COLUMNS, LEAVE_APART = range(7, 11)
APART = -3  # in the column FEATURE: the subtree is grown by itself
# Rows of NodeScratch.sides
PRESENT_SUMS, MISSING_SUMS, BELOW, ABOVE, BEST_BELOW, BEST_ABOVE, WHOLE, ASIDE = range(8)
# Entries of NodeScratch.test: the test of the feature looked at last
N_CHILDREN, MISSING_CHILD, N_TEST_CUTS, TESTED, N_GROUPS, N_ALLOWED = range(6)
N_TEST = 6
NOT_ORDERED = -1  # in ColumnPlaces: no order of that column is kept, or no codes
# In NodeScratch.row_child: a row that goes to all children in parts, and one that ends at the node
ALL_CHILDREN, NO_CHILD = -1, -2
# Columns of GrownNodes.surrogates
S_FEATURE, S_LAST, S_NEXT, S_BELOW_LEFT, S_BRANCH_AT, S_N_BRANCHES = range(6)
NOTHING = -1  # the code behind a cut where only missing values go right
