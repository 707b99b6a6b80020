"""What a growing tree is made of: rows of nodes as (row, weight) pairs, and what one worker needs beside them.

A kernel allocates nothing. It stops where an array is full, its state stands in the arrays, and it goes on from there
once the caller has made them larger.
"""

from typing import NamedTuple

import numpy as np

# What missing values do
LEARNED, BRANCH, MAJORITY, FRACTIONAL, SURROGATE = range(5)
# How a category is tested
SUBSET, MULTIWAY, ONE_VS_REST, MERGED = range(4)
# How a number is tested
THRESHOLD, INTERVAL, RANGES = range(3)

# Columns of GrownNodes.nodes
(
    FEATURE,
    LEFT,
    FAN,
    START,
    STOP,
    DEPTH,
    MISSING,
    CUT_AT,
    N_CUTS,
    BRANCH_AT,
    N_BRANCHES,
    LEVEL_AT,
    N_LEVELS,
    SURROGATE_AT,
    N_SURROGATES,
    ROWS,
    PARENT,
) = range(17)
N_COLUMNS = 17
# Columns of GrownNodes.numbers; the third is where ``frontier`` looks for it
GAIN, IMPURITY, PRIORITY = range(3)
LEAF, OPEN = -1, -2
# Entries of GrownNodes.state: how much of each array is in use
N_NODES, N_SOUGHT, N_LEAVES, N_FRONTIER, N_CASES, STATUS = range(6)
CUTS_USED, BRANCHES_USED, LEVELS_USED, SURROGATES_USED = range(6, 10)
N_STATE = 10
GROWING, DONE, NODES_FULL, CASES_FULL, RAGGED_FULL, TOO_WIDE = range(6)

# Rows of Desk.sides
KNOWN, GONE, BELOW, ABOVE, BEST_BELOW, BEST_ABOVE, WHOLE, SPARE = range(8)
# Entries of Desk.test: the test of the feature looked at last
N_CHILDREN, MISSING_CHILD, N_TEST_CUTS, TESTED, N_GROUPS, N_ALLOWED = range(6)
N_TEST = 6
# Ways of a row that are no child
ALL_WAYS, NO_WAY = -1, -2
# Columns of GrownNodes.surrogates
S_FEATURE, S_LAST, S_NEXT, S_BELOW_LEFT, S_BRANCH_AT, S_N_BRANCHES = range(6)
NOTHING = -1  # the code behind a cut where only missing values go right


class GrowthRules(NamedTuple):
    """Which tests are looked at, and what missing values do."""

    missing: int
    categorical: int
    numeric: int
    empty_leaves: int  # 1: a category that no row of a node has gets a leaf that says what the node says
    two_suffice: int  # 1: two children as large as leaves must be are enough, the others may be smaller
    use_surrogate: int
    surrogate_style: int
    max_surrogates: int
    of_classes: int  # 1: the target holds classes
    proven_order: int  # 1: the best subset of categories is a prefix of their order


class GrownNodes(NamedTuple):
    """A tree under construction."""

    nodes: np.ndarray  # (m, N_COLUMNS) int64
    numbers: np.ndarray  # (m, 3) float64
    keys: np.ndarray  # (m,) uint64: path from the root
    sums: np.ndarray  # (m, n_stats) float64
    value: np.ndarray  # (m, n_outputs) float64 of numbers; (m, 0) of classes, whose sums say it
    frontier: np.ndarray  # (m,) int64: nodes that have a test and wait to be divided
    state: np.ndarray  # (N_STATE,) int64
    row: np.ndarray  # (c,) uint32: rows of the open nodes
    weight: np.ndarray  # (c,) float64
    cuts: np.ndarray  # (k, 2) int64: codes on both sides of each
    branch: np.ndarray  # int32
    level: np.ndarray  # int32
    surrogates: np.ndarray  # (s, 6) int64
    agreements: np.ndarray  # (s, 2) float64


class Desk(NamedTuple):
    """What the work on a node needs; nothing in it outlives that but the draws' permutation."""

    sides: np.ndarray  # (8, n_stats) float64
    table: np.ndarray  # (t, n_stats) float64: a group a row
    shares: np.ndarray  # (t,) float64: weights of children
    code: np.ndarray  # (t,) int64: of each group
    keys: np.ndarray  # (n,) uint64: code and place of each row of a node, sorted
    other_keys: np.ndarray
    digits: np.ndarray  # (256,) int64
    way: np.ndarray  # (n,) int32: child of each row of a node
    row: np.ndarray  # (n,) uint32
    weight: np.ndarray  # (n,) float64
    child: np.ndarray  # (t,) int32: child of each category
    cut: np.ndarray  # (t, 2) int64
    ranges: np.ndarray  # (t,) int32: child of each range between cuts
    fill: np.ndarray  # (t,) int64
    order: np.ndarray  # (t,) int64: of groups
    place: np.ndarray  # (t,) float64: of groups in that order
    axes: np.ndarray  # (3, n_stats) float64
    test: np.ndarray  # (N_TEST,) int64
    votes: np.ndarray  # (t, 4) float64: of surrogates
    features: np.ndarray  # (p,) int64, and so on: as in growing.Scratch
    drawn: np.ndarray
    listed: np.ndarray
    gain: np.ndarray  # (p,) float64
    information: np.ndarray


class Calls(NamedTuple):
    """The kernels a fit needs, as ``entry_of`` gives them: no other one is compiled, and none twice."""

    number: int  # looks at a number
    category: int
    judge: int
    divide: int
    surrogates: int  # finds them


class Ground(NamedTuple):
    """What growth reads and writes that no criterion looks at: kernels that take it serve every criterion."""

    codes: np.ndarray  # (p, n_rows), the code of a missing value is n_codes
    n_codes: np.ndarray  # (p,) int64
    nominal: np.ndarray  # (p,) uint8
    target: object
    limits: object
    rules: GrowthRules
    grown: GrownNodes
    desk: Desk
    calls: Calls
    plain: np.ndarray  # (n_rows,) float64: what rows count without costs and priors; empty: as they grow


class Scoring(NamedTuple):
    """What the kernels take that look for tests; the items of the ground are as its own."""

    ground: Ground
    criterion: object

    def __getattr__(self, name):
        """Read what is embedded, as kernels do."""
        return getattr(self.ground, name)


class GeneralWork(NamedTuple):
    """All that growth reads, and what it writes; kernels hand it to one another by its address."""

    scoring: Scoring
    order: object  # of division
    drawing: object  # of features

    def __getattr__(self, name):
        """Read what is embedded, as kernels do."""
        return getattr(self.scoring, name)


Scoring.embeds, GeneralWork.embeds = "ground", "scoring"
for _kind in (GrowthRules, GrownNodes, Desk, Calls, Ground, Scoring):
    _kind.by_address = True
del _kind
