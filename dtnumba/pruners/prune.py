"""Make a fitted model smaller: the function that users call."""

from __future__ import annotations

from typing import Any, TypeVar

Model = TypeVar("Model")


def prune(
    model: Model, method: Any, X: Any = None, y: Any = None, *, sample_weight: Any = None, **options: Any
) -> Model:
    """Return a smaller model; the given one stays as it is.

    Parameters
    ----------
    model : fitted tree or forest
        Not compact. Each tree of a forest is pruned by itself.
    method : str or an object of ``dtnumba.pruners``
        How to prune: a name, to which ``options`` belong, or an object that has its own.
    X, y : rows and their targets, optional
        What the method looks at: the rows that the trees were grown on where it asks for these, or rows held out for
        "reduced_error". A method that looks at no rows needs none.
    sample_weight : array of shape (rows,) or number, optional
        What each row counts.
    **options
        Options of the method, such as ``delta=0.01`` for "bound".

    Returns
    -------
    model of the same class
        A copy with smaller trees. Out-of-bag results of a forest are left out, because they were those of other trees.

    Examples
    --------
    >>> from dtnumba import DecisionTreeClassifier, prune
    >>> X, y = [[0], [1], [2], [3], [4], [5]], [0, 0, 0, 1, 0, 1]
    >>> tree = DecisionTreeClassifier().fit(X, y)
    >>> tree.n_leaves_, prune(tree, "critical_value", value=0.6).n_leaves_
    (4, 1)

    """
    door = getattr(model, "prune", None)
    if not callable(door) or not hasattr(type(model), "trees_"):
        raise TypeError(f"prune: {type(model).__name__} has no trees to prune; pass a fitted tree or forest of dtnumba")
    smaller: Model = door(method, X, y, sample_weight=sample_weight, **options)
    return smaller
