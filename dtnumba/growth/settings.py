"""Settings of growth: limits as the caller gave them, and the options of missing values, categories and cuts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.growth import columns as col

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dtnumba.growth.policies.interactions import Groups


MISSING_POLICIES = {"learned": 0, "branch": 1, "majority": 2, "fractional": 3, "surrogate": 4, "error": 2}
CATEGORICAL_SPLITS = {"subset": 0, "multiway": 1, "one_vs_rest": 2}
MERGED, GROUPED = "merged", "grouped"  # groups of categories, of learners of their own
NUMERIC_SPLITS = {"threshold": 0, "interval": 1, "multiway": 2}


@dataclass(frozen=True, kw_only=True)
class Options:
    """See ``GrowthParams`` for the first six; the last two are for learners of their own."""

    missing: str = "learned"
    categorical_split: str = "subset"
    numeric_split: str = "threshold"
    use_surrogate: int = 2
    surrogate_style: int = 0
    max_surrogates: int = 5
    empty_leaves: bool = False  # a category that no row of a multiway node has gets a leaf that says what the node says
    two_suffice: bool = False  # two children as large as leaves must be are enough

    @property
    def are_plain(self) -> bool:
        """Whether the fast growth serves: two children, learned missing values or none at all."""
        plain_missing = self.missing in {"learned", "error"}
        return plain_missing and self.categorical_split != "multiway" and self.numeric_split == "threshold"

    def check(self, kind: str, n_outputs: int, criterion: object, splitter: str) -> None:
        """Raise ValueError where the options do not go together, or not with the target."""
        if self.are_plain:
            return
        shown = {
            name: getattr(self, name)
            for name in ("missing", "categorical_split", "numeric_split")
            if getattr(self, name) != getattr(Options, name)
        }
        given = ", ".join(f"{name}={value!r}" for name, value in shown.items())
        if splitter == "random":
            raise ValueError(
                f"splitter='random' draws thresholds, and {given} asks for more: use splitter='best', or a random "
                "forest in place of extra trees"
            )
        if splitter != "best":
            raise ValueError(f"splitter={splitter!r} splits in two, and {given} asks for more: use splitter='best'")
        if getattr(type(criterion), "target", "") == "ranks":
            raise ValueError(
                f"criterion='absolute_error' looks at the order of the targets, and {given} works on sums: use "
                "criterion='squared_error', or the default of that parameter"
            )
        several = "multiway" in (self.categorical_split, self.numeric_split)
        if self.missing == "surrogate" and several:
            raise ValueError(
                f"{given}: a surrogate stands in for a test of two children; use categorical_split='subset' or "
                "'one_vs_rest' and numeric_split='threshold' or 'interval', or another value of missing"
            )
        if self.numeric_split == "multiway" and (kind != "classes" or n_outputs > 1):
            raise ValueError(
                "numeric_split='multiway' makes ranges by the description length of one output of classes, and y is "
                f"{n_outputs} output(s) of {kind}: use numeric_split='threshold' or 'interval'"
            )


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The parameters of growth, resolved to numbers."""

    splitter: str  # a name of SPLITTERS
    max_bins: int | None
    max_depth: int
    min_samples_split: int
    min_samples_leaf: int
    min_weight_leaf: float
    min_decrease: float
    max_leaves: int
    n_drawn: int
    seed: int
    workers: int
    min_significance: float | None = None
    signs: NDArray[np.int8] | None = None  # of the features whose effect is monotonic; None where none is
    groups: Groups | None = None  # of features that may stand on one path; None where all may
    options: Options = field(default_factory=Options)
    sums: SumSettings | None = None  # how nodes find sums over several columns; None: they test one each

    def check_options(self, kind: str, n_outputs: int, criterion: Any) -> None:
        """Raise ValueError where tests and missing values as asked for do not go with the target or with the rest."""
        self.options.check(kind, n_outputs, criterion, self.splitter)
        if self.options.are_plain:
            return
        others = {"monotonic_cst": self.signs, "interaction_cst": self.groups}
        for name, value in (others | {"min_significance": self.min_significance}).items():
            if value is not None:
                raise ValueError(
                    f"{name} is kept by growth in two-way tests with learned missing values, and missing="
                    f"{self.options.missing!r}, categorical_split={self.options.categorical_split!r}, numeric_split="
                    f"{self.options.numeric_split!r} ask for others: leave out {name}, or leave these at their defaults"
                )

    def doubled(self) -> Settings:
        """Return the settings for twice as many features, of which the second half mirrors the first."""
        signs = None if self.signs is None else np.tile(self.signs, 2)
        return replace(self, signs=signs, groups=None if self.groups is None else self.groups.doubled())


SEARCHES = ("soft_entropy", "oc1", "cart_lc", "lda", "ridge", "random")


@dataclass(frozen=True, kw_only=True)
class SumSettings:
    """Which sums over several columns a node tries; see ``ObliqueParams``."""

    search: str
    n_restarts: int
    n_projections: int  # 0: as many as a node has columns, and at least ten
    most_terms: int
    axis_bias: float
    scaling: str | None
    has_indicators: bool = False  # of the levels of categories, as columns


UNLIMITED = int(col.NO_LIMIT)
