"""Fitted trees: parallel arrays, and passes over them.

``replicated(model)`` says how much of a tree says again what another part of it says.

layout       Trees: the arrays, their invariants, and how several are joined
sparse_rows  rows of which nearly all numbers are zero: class shares where classes are very many
assemble     for growth: canonical numbers of nodes, ragged columns in their order
linear       the sums over several columns that nodes may test
formulas     sums as text with all digits, and back
with_sums    these sums as columns behind those of a table, for what tests one column at a time
check        the invariants, tested
routing      the rule of descent: which child a value goes to
graphs       decision graphs: equal subtrees shared, nodes laid out so that branches join, repeats counted
message_length  bits that describe trees and graphs, and the labels of their rows
subtrees     passes over subtrees, a level of depth at a time; trees of which parts are replaced
records      tables of what is printed, as record arrays and as frames
r_numbers    numbers as R writes them, for what prints trees and their subtrees
hinges       terms of splines, and their coefficients
leaf_counts  how many leaves a tree with cases in parts has
compact      trees without the statistics that prediction does not need
"""

from typing import TYPE_CHECKING

from dtnumba.runtime.lazy_names import lazy_names

if TYPE_CHECKING:
    from dtnumba.trees.graphs import Replication as Replication
    from dtnumba.trees.graphs import replicated as replicated

_HOME = {"Replication": "graphs", "replicated": "graphs"}
__all__ = [*_HOME]  # noqa: PLE0604  names all of them
__getattr__, __dir__ = lazy_names(__name__, _HOME)
