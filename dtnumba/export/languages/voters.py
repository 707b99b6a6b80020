"""Rules of C5.0, which vote, as exporters read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from dtnumba.export.reading import Columns, ExportError, bounded, named_columns
from dtnumba.rules.c50.make_rules import votes_of
from dtnumba.rules.c50.votes import by_cover

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dtnumba.rules.layout import Rules


class VotingRules(NamedTuple):
    """A set of rules of C5.0."""

    rules: Rules  # bounds are those that rows are compared with
    vote: NDArray[np.int64]  # (r,) of each rule, in thousandths
    order: NDArray[np.int64]  # (r,) the rules, those that cover the fewest rows first


class ReadVoters(NamedTuple):
    """Sets of rules of C5.0.

    All rules of a set that hold for a row vote for their class. A set says the class of most votes, the first on ties,
    or its default where no rule holds. It is as sure of it as the vote of the first rule of this class that holds, or
    as the votes of its class divided by the number of rules that hold, whichever is more; of its default UNDECIDED.
    Several sets vote for what they say by how sure they are, and the sums of their votes are the answer. Of one set,
    the share of a class is the vote of its first rule that holds; those of classes that it does not say are divided by
    the number of rules that hold. Where none holds all classes have equal shares.
    """

    columns: Columns
    sets: list[VotingRules]


def read_voters(model: Any, bits: int) -> ReadVoters:
    """Return a model of sets of rules as exporters read it, for rows of floats of so many bits."""
    sets, row_types = bounded([own.arrays for own in model.rules_], bits)
    found = [VotingRules(own, votes_of(own.covered, own.correct), by_cover(own.covered)) for own in sets]
    return ReadVoters(named_columns(model, row_types), found)


def refuse_voting_rules(model: Any, format_: str) -> None:
    """Raise ExportError where rules of C5.0 answer, which are made of trees."""
    if isinstance(getattr(model, "rules_", None), list):
        n = sum(map(len, model.rules_))
        raise ExportError(
            f"{format_}: this {type(model).__name__} answers by the votes of {n} rules, which are no tree; write it by "
            "export.python, sql, json, html, rules or text, or export one of model.estimators_, the trees they are of"
        )
