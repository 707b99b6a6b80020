"""ID3: the test of largest gain, a branch a value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.criteria.contract import resolve_criterion
from dtnumba.estimators.bases.classical import ClassicalParams, ClassicalTree
from dtnumba.estimators.bases.docs import documented
from dtnumba.estimators.bases.fit import train_tree
from dtnumba.estimators.bases.parameters import Legal, integer, is_real, one_of, parameter, yes_or_no
from dtnumba.growth.settings import UNLIMITED, Options, Settings
from dtnumba.runtime.tasks import n_workers
from dtnumba.trees.layout import LEAF, STAYS

if TYPE_CHECKING:
    from dtnumba.estimators.bases.fit import TrainingData
    from dtnumba.tables.labels import Labels
    from dtnumba.tables.weights import Weights
    from dtnumba.trees.layout import Trees


# A gain below is what rounding leaves of none.
_SOME_GAIN = 1e-12
_BASE = Legal(lambda value: is_real(value) and value > 1.0, "a finite number above 1")  # below 1 entropy is negative


def ending_unseen(trees: Trees) -> Trees:
    """Return the trees in which a missing value ends at every node that has no branch for it."""
    stays = (trees.feature != LEAF) & ~np.isposinf(trees.threshold)  # infinity parts missing values from the rest
    if len(trees.branch_start) > 1:
        owner = np.repeat(np.arange(trees.n_nodes), np.diff(trees.branch_start))
        shared = np.zeros(trees.n_nodes, bool)  # with values: the branch of missing ones, which may come from a default
        shared[owner[trees.branch == trees.missing_left[owner]]] = True
        stays &= shared | (np.diff(trees.branch_start) == 0)
    return trees._replace(missing_left=np.where(stays, STAYS, trees.missing_left).astype(np.uint8))


@dataclass(kw_only=True, eq=False, repr=False)
class ID3Params(ClassicalParams):
    """Parameters of ID3.

    Parameters
    ----------
    measure : "entropy", "gini" or "error"
        Whose decrease is the gain of a test.
    base : float
        Of the logarithms of entropy: 2 measures bits, ``math.e`` nats. It scales what is shown and chooses nothing.
    numeric : "threshold" or "error"
        What a column of numbers does: is tested against cuts, or is an error.
    binary : bool
        Whether a test on a category is one value against the rest, and not a branch a value.
    max_bins : int or None
        None: every value of a column of numbers may be a cut. A number from 2 to 255: at most so many.
    require_gain : bool
        True: where no test gains anything the node is a leaf. False: it is divided all the same, which XOR needs.

    """

    measure: str = parameter("entropy", one_of("entropy", "gini", "error"))
    base: float = parameter(2, _BASE)
    numeric: str = parameter("threshold", one_of("threshold", "error"))
    binary: bool = yes_or_no(False)
    require_gain: bool = yes_or_no(True)
    max_bins: int | None = parameter(None, integer(2, 255))
    max_depth: int | None = parameter(None, integer(1))
    max_leaf_nodes: Any = parameter(None, integer(2))  # noqa: RUF009  a field


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class ID3Classifier(ClassicalTree, ID3Params):
    """A tree of ID3 (Quinlan 1986).

    Each node tests the column of largest gain, the first one on ties, and has a branch for each of its values: a
    category is tested once on a path. A value that no row of a node has gets a leaf that says what the node says. A
    missing value is one more value where ``fit`` met it; where it did not, the answer is that of the node, as it is
    for a value that ``fit`` never saw.

    Attributes
    ----------
    tree_ : TreeView
        The tree under scikit-learn's column names; its gains and impurities are in units of ``base``.

    Examples
    --------
    >>> from dtnumba import ID3Classifier
    >>> X = [["sunny", "hot"], ["sunny", "mild"], ["rain", "mild"], ["overcast", "hot"]]
    >>> tree = ID3Classifier().fit(X, ["stay", "stay", "play", "play"])
    >>> tree.n_leaves_, tree.predict([["overcast", "mild"], ["snow", "hot"]]).tolist()
    (3, ['play', 'play'])

    """

    missing = "branch"

    @property
    def criterion(self) -> str:
        """The criterion whose values the nodes show as impurity."""
        return self.measure

    def _grow(self, table: Any, outcome: Labels, weights: Weights) -> Trees:
        self._refuse_numbers(table)
        settings = Settings(
            splitter="best",
            max_bins=None if self.max_bins is None else int(self.max_bins),
            max_depth=UNLIMITED if self.max_depth is None else min(int(self.max_depth), UNLIMITED),
            min_samples_split=2,
            min_samples_leaf=1,
            min_weight_leaf=0.0,
            min_decrease=_SOME_GAIN if self.require_gain else 0.0,
            max_leaves=UNLIMITED if self.max_leaf_nodes is None else min(int(self.max_leaf_nodes), UNLIMITED),
            n_drawn=table.n_features,
            seed=0,
            workers=n_workers(self.n_jobs),
            options=Options(
                missing="branch",
                categorical_split="one_vs_rest" if self.binary else "multiway",
                empty_leaves=True,
            ),
        )
        criterion = resolve_criterion(self.measure, "classes", weights.total, table.n_features)
        trees = train_tree(table, outcome, criterion, weights, settings)
        unit = math.log2(self.base) if self.measure == "entropy" else 1.0
        return trees._replace(impurity=trees.impurity / unit, gain=trees.gain / unit)

    def _learned_trees(self, data: TrainingData) -> Trees:
        return ending_unseen(super()._learned_trees(data))

    def _refuse_numbers(self, table: Any) -> None:
        if self.numeric != "error":
            return
        nominal = np.zeros(table.n_features, bool) if table.nominal is None else np.asarray(table.nominal)
        if not nominal.all():
            j = int(nominal.argmin())
            name = f"column {j}" if table.names is None else f"column {table.names[j]!r}"
            raise ValueError(
                f"numeric='error': {name} holds numbers, and ID3 as first published knows categories alone; list it in "
                "categorical_features, make ranges of it, or pass numeric='threshold'"
            )
