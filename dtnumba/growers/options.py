"""Which tests a fit looks at and what missing values do: parameters of these names, in one place for both growths."""

from dataclasses import dataclass

MISSING = {"learned": 0, "branch": 1, "majority": 2, "fractional": 3, "surrogate": 4, "error": 2}
CATEGORICAL = {"subset": 0, "multiway": 1, "one_vs_rest": 2}
MERGED = "merged"  # groups of categories, of a learner of its own
NUMERIC = {"threshold": 0, "interval": 1, "multiway": 2}


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
            raise ValueError(f"splitter='random' draws thresholds, and {given} asks for more: use splitter='best'")
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
