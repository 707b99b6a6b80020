"""What models with trees share to have them pruned: after growth, with ``prune=``, and whenever asked."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.estimators._base import Estimator
from dtnumba.held_out import held_out_rows
from dtnumba.labels import Labels, codes_of
from dtnumba.pruner import Pruner, Rows, Subject, resolve_pruner
from dtnumba.table import Seen, read_table
from dtnumba.trees import check
from dtnumba.weakest_link import cut_weak, impurity_risk
from dtnumba.weights import read_weight

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from dtnumba.binned_table import Features
    from dtnumba.trees import Trees


class Grown(NamedTuple):
    """What a fit knows of the rows when the trees are grown."""

    table: Features
    known: Any  # Labels or Values
    weight: NDArray[np.float64] | None  # what each row counts to the pruner
    given: tuple[Any, Any, Any]  # X, y, sample_weight as passed
    drawing: Any = None  # of a forest: how its trees drew their rows
    seed: int = 0
    first: int = 0  # number of the first of these trees
    rule: Any = None  # how a row is labelled, where costs say so


class MethodAndParameter:
    """An attribute that is read as a method and set as a parameter: ``model.prune(...)``, ``Model(prune=...)``."""

    def __init__(self, method: Any) -> None:
        self._method, self.__doc__ = method, method.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        """Learn under which name the parameter is kept."""
        self._name = name

    def __get__(self, model: Any, owner: type) -> Any:
        """Return the method."""
        return self._method.__get__(model, owner)

    def __set__(self, model: Any, value: Any) -> None:
        """Set the parameter."""
        vars(model)[self._name] = value


class Prunable(Estimator):
    """A model whose trees can be pruned."""

    # From Classifier or Regressor, and from the kind of model
    ccp_alpha: float
    n_features_in_: int
    trees_: Any
    _classes: Any
    _read_y: Any
    _sizes: Any
    _weigh: Any
    _with_trees: Any
    _drawn_by: Any

    def _prune(self, method: Any, X: Any = None, y: Any = None, *, sample_weight: Any = None, **options: Any) -> Any:
        """Return a smaller model; this one stays as it is. See ``dtnumba.prune`` for the parameters."""
        trees = self._fitted().trees_
        self._refuse_compact("prune")
        pruner = resolve_pruner(method, options)
        seen = Seen(self.n_features_in_, vars(self).get("feature_names_in_"), vars(self).get("categories_"))
        is_classes, sizes = hasattr(self, "classes_"), self._sizes()
        classes = self._classes() if is_classes else None
        read = partial(self._read_rows, seen, classes, sizes)
        known, rows, given = None, None, None
        if X is None and y is None:
            if sample_weight is not None:
                raise ValueError("prune: sample_weight belongs to X and y; pass these, too")
            if pruner.needs_rows:
                raise ValueError(f"prune: {pruner!r} looks at rows: pass X and y. {pruner.which_rows}")
        else:
            known, rows = self._read_known(seen, classes, sizes, X, y, sample_weight)
            given = (X, y, sample_weight)
        subject = Subject(
            self,
            trees,
            self.n_features_in_,
            sizes,
            is_classes,
            rows,
            given,
            read,
            partial(self._weights_in_tree, known, rows, self._drawn_by()),
            vars(self).get("_rule"),
        )
        return self._with_trees(check(pruner.pruned(subject), self.n_features_in_))

    prune: Any = MethodAndParameter(_prune)

    def _refuse_compact(self, what: str) -> None:
        if self.trees_.is_compact:
            raise ValueError(
                f"{what}: compact() dropped the statistics of this {type(self).__name__} that it reads; fit the model "
                "again, and do this before compact()"
            )

    def _read_rows(self, seen: Seen, classes: Any, sizes: list[int], X: Any, y: Any, sample_weight: Any) -> Rows:
        return self._read_known(seen, classes, sizes, X, y, sample_weight)[1]

    def _read_known(
        self, seen: Seen, classes: Any, sizes: list[int], X: Any, y: Any, sample_weight: Any
    ) -> tuple[Any, Rows]:
        """Return the targets, in codes of the model, and the rows."""
        if X is None or y is None:
            raise ValueError(f"prune: pass both X and y, got {'y' if X is None else 'X'} alone")
        table = read_table(X, type(self).__name__, seen)
        self._refuse_missing(table)
        known = self._read_y(y, table.n_rows)
        weight = _ones_or(read_weight(sample_weight, table.n_rows), table.n_rows)
        if classes is not None:
            known = Labels(classes, codes_of(known, classes))
            return known, Rows(table, known.codes, weight)
        if known.width != len(sizes):
            raise ValueError(f"y has {known.width} outputs, and the model was fitted to {len(sizes)}")
        return known, Rows(table, known.y, weight)

    def _weights_in_tree(
        self, known: Any, rows: Any, drawn: Callable[[int], NDArray[np.int64]] | None, tree: int
    ) -> NDArray[np.float64]:
        """Return what each row counted when a tree was grown, its class weight included."""
        if drawn is None:
            return _ones_or(self._weigh(known, rows.weight), len(rows.weight))
        counts = drawn(tree)
        if len(counts) != len(rows.weight):
            raise ValueError(
                f"prune: X has {len(rows.weight)} rows, and the forest was grown on {len(counts)}; raising asks for "
                "these very rows; pass them, or raising=False"
            )
        return counts.astype(np.float64)

    def _pruner(self) -> Pruner | None:
        """Return the pruner that the parameter stands for."""
        method = vars(self)["prune"]
        return None if method is None else resolve_pruner(method)

    def _strong(self, trees: Trees) -> Trees:
        """Return the trees of a fit without the links that ``ccp_alpha`` is too much for."""
        return cut_weak(trees, impurity_risk(trees), self.ccp_alpha) if self.ccp_alpha > 0 else trees

    def _pruned(self, pruner: Pruner, trees: Trees, sizes: list[int], grown: Grown) -> Trees:
        """Return the trees of a fit, pruned."""
        known, table = grown.known, grown.table
        is_classes = isinstance(known, Labels)
        rows = Rows(table, known.codes if is_classes else known.y, _ones_or(grown.weight, table.n_rows))
        seen = Seen(table.n_features, table.names, table.levels)
        drawn = None if grown.drawing is None else drawn_by(grown.drawing, grown.seed, grown.first)
        subject = Subject(
            self,
            trees,
            table.n_features,
            sizes,
            is_classes,
            rows,
            grown.given,
            partial(self._read_rows, seen, known.classes if is_classes else None, sizes),
            partial(self._weights_in_tree, known, rows, drawn),
            grown.rule,
        )
        return check(pruner.pruned(subject), table.n_features)


def drawn_by(drawing: Any, seed: int, first: int = 0) -> Callable[[int], NDArray[np.int64]] | None:
    """Return the function that says how often a tree drew each row; None where every tree counts them by weight."""
    return None if drawing.is_everything else lambda tree: drawing.counts(seed, first + tree)


def _ones_or(weight: NDArray[np.float64] | None, n_rows: int) -> NDArray[np.float64]:
    return np.ones(n_rows) if weight is None else weight


def split_weight(
    pruner: Pruner | None, weight: NDArray[np.float64] | None, n_rows: int, seed: int
) -> tuple[NDArray[np.float64] | None, NDArray[np.float64] | None]:
    """Return what each row counts to growth, and to a pruner that sets rows aside; None for one that does not."""
    if pruner is None or pruner.held_out is None:
        return weight, None
    is_held = held_out_rows(n_rows, pruner.held_out, seed, weight)
    counts = np.ones(n_rows) if weight is None else weight
    return np.where(is_held, 0.0, counts), np.where(is_held, counts, 0.0)
