"""The protocol between models of trees and the rooms below ``estimators``: the names that these may use.

Trees and forests that grow by GrowthParams have all of these names, and can be fitted to parts of a table that was read
once. Every other estimator of the library has the names marked with a star, and is fitted like a foreign one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from dtnumba.growth.settings import Settings
    from dtnumba.tables.costs import ClassCosts
    from dtnumba.tables.table import Table


class ModelProtocol:
    """A model of trees that can be fitted again and again to parts of one table."""

    # Before the fit
    check_params: Callable[[], None]  # * raises where a parameter is not legal
    read_target: Callable[[Any, int], Any]  # * (y, rows) -> Labels or Values
    class_costs: Callable[[Any], ClassCosts]  # * (target) -> what costs and priors do to a fit
    row_weights: Callable[..., NDArray[np.float64] | None]  # * (target, weight) -> with class weights; None: one each
    growth_settings: Callable[..., Settings]  # of a table of so many rows and columns
    grows_on_sorted_columns: bool

    # Of a fitted model
    trees_: Any  # * Trees
    columns_seen: Any  # * Seen: how many columns there were, their names and their levels
    label_rule: Any  # * LeastCost: how shares become a label; None: the commonest class, or no labels
    check_fitted: Callable[[], Any]  # * the model; raises where it is not fitted
    table_of: Callable[[Any], Table]  # * (X) -> rows to predict
    target_seen: Any  # * Labels or Values without rows: the classes of each output, or the number of outputs
    read_known: Callable[[Any, Any], Any]  # * (X, y) -> rows and their target, in these columns and classes
    refuse_compact: Callable[[str], None]  # * raises where ``compact`` has dropped what the named work reads

    # Set by Refits: the columns of categories of which the rows of the fit lacked levels, and which levels
    unmet_levels: Sequence[tuple[int, NDArray[np.bool_]]] = ()
