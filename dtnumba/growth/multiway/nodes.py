# mypy: ignore-errors
"""The records of multiway growth: nodes with their rows as (row, weight) pairs, the options, the scratch of a worker.

A kernel allocates nothing. It stops where an array is full, its state stands in the arrays, and it goes on from there
once the caller has made them larger.
"""

from typing import Any, NamedTuple

import numpy as np

MOST_PAIRED = 128  # categories whose pairs are kept in memory, each with what its merger means


class GrowthRules(NamedTuple):
    """Which splits are candidates, and what missing values do."""

    missing: int
    categorical: int
    numeric: int
    empty_leaves: int  # 1: a category that no row of a node has gets a leaf with the value of the node
    two_suffice: int  # 1: two children as large as leaves must be are enough, the others may be smaller
    use_surrogate: int
    surrogate_style: int
    max_surrogates: int
    of_classes: int  # 1: the target is classes
    proven_order: int  # 1: the best subset of categories is a prefix of their order
    shared_from: int  # so many rows times columns of a node are worked on by all threads
    apart_from: int  # subtrees of so many, ...
    apart_below: int  # ... and fewer than this, are left to be grown by themselves


class GrownNodes(NamedTuple):
    """A tree under construction."""

    nodes: np.ndarray  # (m, N_MULTIWAY_COLUMNS) int64
    numbers: np.ndarray  # (m, 3) float64
    keys: np.ndarray  # (m,) uint64: path from the root
    sums: np.ndarray  # (m, n_stats) float64
    value: np.ndarray  # (m, n_outputs) float64 of numbers; (m, 0) of classes, whose sums say it
    measure: np.ndarray  # (m, ...) float64: what the sums of numbers are measured in, see ``NumberSums``
    frontier: np.ndarray  # (m,) int64: nodes that have a test and wait to be divided
    state: np.ndarray  # (N_STATE,) int64
    row: np.ndarray  # (c,) uint32: rows of the open nodes
    weight: np.ndarray  # (c,) float64
    part: np.ndarray  # (c,) float64: what of the row it is; (0,) where rows are whole, weight's own where all weigh 1
    outcome: np.ndarray  # (c,) int32 class or float64 number of a target of one output; (0,) of several
    orders: np.ndarray  # (s, c) uint64: keys, ascending in each node (see ``ordered_columns``)
    place_bits: Any  # uint64, of a key, below the class; 32 where it has none
    place_mask: Any  # uint64
    cuts: np.ndarray  # (k, 2) int64: codes on both sides of each
    branch: np.ndarray  # int32
    level: np.ndarray  # int32
    surrogates: np.ndarray  # (s, 6) int64
    agreements: np.ndarray  # (s, 2) float64


class NodeScratch(NamedTuple):
    """Arrays for the work on one node; only the permutation of the draws lasts longer.

    ``order``, ``place`` and ``fill`` serve one kernel after the other; each says at its head what they hold. What
    several threads read of the node in hand is that of the one that leads.
    """

    sides: np.ndarray  # (8, n_stats) float64
    table: np.ndarray  # (t, n_stats) float64: a group a row
    group_weight: np.ndarray  # (t,) float64: of children, or of groups of categories
    code: np.ndarray  # (t,) int64: of each group
    by_code: np.ndarray  # (t, n_stats) float64: sums of the rows of each code, zero between two looks
    held: np.ndarray  # (t // 64 + 1,) uint64: a bit for each code that a row of the node has, likewise
    keys: np.ndarray  # (n,) uint64: code and place of each row of a node, sorted
    other_keys: np.ndarray
    digits: np.ndarray  # (256,) int64
    row_child: np.ndarray  # (n,) int32: number of the child of each row of a node
    side: np.ndarray  # (n,) uint8, where surrogates are sought: that number, 2 where a row lacks its value
    new_place: np.ndarray  # (n,) uint32: place of each row in its child; of one in parts, its place among such
    child_start: np.ndarray  # (t,) int64: where the rows of each child begin, and end
    # (3,) int64: how many children; 1 where not each row of the node goes to one of them; 1 where ``new_place`` tells
    # all that divides the columns of the node
    dealt: np.ndarray
    n_whole: np.ndarray  # (t,) int64: rows of each child that go there whole, -1 of one that no part goes to
    row: np.ndarray  # (n,) uint32
    weight: np.ndarray  # (n,) float64
    part: np.ndarray  # (n,) float64, or (0,)
    outcome: np.ndarray  # (n,) as in GrownNodes
    category_child: np.ndarray  # (t,) int32: number of the child of each category
    cut: np.ndarray  # (t, 2) int64
    range_child: np.ndarray  # (t,) int32: number of the child of each range between cuts
    fill: np.ndarray  # (t,) int64: where the next row of each child goes, ...
    order: np.ndarray  # (t,) int64: groups in order, group of each category, number of each child, ...
    place: np.ndarray  # (t,) float64: sort keys or impurities of groups, shares of children
    axes: np.ndarray  # (3, n_stats) float64
    terms: np.ndarray  # (2, n_stats) int64: of each class on both sides of a cut
    test: np.ndarray  # (N_TEST,) int64
    votes: np.ndarray  # (t, 4) float64: of surrogates
    pairs: np.ndarray  # (m, m, 2) float64: of groups of categories, what their mergers mean
    agreed: np.ndarray  # (p, 3) float64: with the best surrogate on each column: weight that agrees, heavier side, all
    agreed_cut: np.ndarray  # (p, 3) int64: its cut and direction
    features: np.ndarray  # (p,) int64, and so on: as in the scratch of binary growth
    drawn: np.ndarray
    listed: np.ndarray
    gain: np.ndarray  # (p,) float64
    information: np.ndarray
    fan: np.ndarray  # (p,) int64: branches of the test on a category that was found in groups, one for missing values


class Calls(NamedTuple):
    """Addresses of the kernels that a fit needs (``entry_of``): no other one is compiled, and none twice."""

    judge: Any = 0
    divide: Any = 0
    number: Any = 0  # finds the split on a number
    category: Any = 0
    agree: Any = 0  # finds the best surrogate on a column
    surrogates: Any = 0
    columns: Any = 0  # divides a column in order
    classes: Any = 0  # writes the classes into its keys


class NodeContext(NamedTuple):
    """The arguments of growth that do not depend on the type of the criterion.

    Kernels that take only these are compiled once for all criteria.
    """

    codes: np.ndarray  # (q, n_rows), the code of a missing value is n_codes
    code_at: np.ndarray  # (p,) int64: row of the codes of a column, or NOT_ORDERED
    order_at: np.ndarray  # (p,) int64: row of the orders of a column, or NOT_ORDERED
    n_codes: np.ndarray  # (p,) int64
    nominal: np.ndarray  # (p,) uint8
    target: object
    limits: object
    rules: GrowthRules
    grown: GrownNodes
    scratch: NodeScratch
    calls: Calls
    n_rows: int  # of the tree
    plain: np.ndarray  # (n_rows,) float64: what rows count without costs and priors; empty: as they grow
    # (n_classes,) float64: of each class, what a row counts without costs, of what it weighs, where those that lack a
    # value are shared out; empty: as they grow
    class_cases: np.ndarray
    halt: np.ndarray  # (1,) int64: not 0 where growth is to stop soon, and what was grown will be dropped


class TestContext(NamedTuple):
    """``NodeContext`` and the criterion: the argument of kernels that find splits.

    Its attributes fall through to those of the context (``embeds``), in Python and in kernels alike.
    """

    context: NodeContext
    criterion: object

    def __getattr__(self, name):
        """Return an attribute of the embedded context, as kernels do."""
        return getattr(self.context, name)


class GrowerContext(NamedTuple):
    """``TestContext`` with the drawing of features."""

    test_context: TestContext
    drawing: object  # of features
    root_key: int  # uint64
    root_depth: int
    is_root: int  # 0: of a subtree that is grown by itself

    def __getattr__(self, name):
        """Return an attribute of the embedded context, as kernels do."""
        return getattr(self.test_context, name)


TestContext.embeds, GrowerContext.embeds = "context", "test_context"
