"""DecisionListClassifier: rules of few tests, asked one after another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.estimators.bases.docs import documented
from dtnumba.estimators.bases.parameters import CATEGORICAL_FEATURES, N_JOBS, Legal, is_int, is_real, parameter
from dtnumba.estimators.bases.rules import OfModelOrClass, RuleModel
from dtnumba.rules.decision_list import greedy_list
from dtnumba.rules.layout import pack_rules
from dtnumba.rules.simplify import Sample, numbers_of
from dtnumba.tables.categories import FROM_DTYPE
from dtnumba.tables.table import Seen
from dtnumba.tables.weights import weight_in_rows

if TYPE_CHECKING:
    from typing_extensions import Self

    from dtnumba.estimators.bases.fit import TrainingData


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class DecisionListClassifier(RuleModel):
    """A k-decision list: terms of at most k tests, the first that holds answers (Rivest 1987).

    Learned greedily: next comes the term that answers most of the rows left without an error; of equal ones the
    shortest, then the one of the first columns, "below" before "above". A missing value fails every test. A column
    of many values is cut at even shares of its rows, in so few places that there are 100,000 terms at most. A term
    covers the rows that it answers. Weights of rows that are no whole numbers are scaled to add up to the number of
    rows of positive weight, so that their unit does not matter.

    Parameters
    ----------
    max_tests : int
        Most tests of a term, each of another column; more than there are columns means all of them.
    min_objects : int or float
        Least weight of the rows that a term answers. Where no term answers so many without an error, the one of the
        best Laplace estimate ``(right + 1) / (rows + classes)`` comes next, until that of the commonest class among the
        rows left is as good. With 1 a list without errors is found wherever there is one of at most ``max_tests`` tests
        a term.
    categorical_features : "from_dtype", list of names or indices, boolean mask or None
        As of trees. The tests of a category are "is this level" and "is not".
    n_jobs : int or None
        Threads of predictions; None is every core, but one inside a worker of another pool.

    Examples
    --------
    >>> from dtnumba import DecisionListClassifier
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["same", "other", "other", "same"]
    >>> print(DecisionListClassifier(min_objects=1).fit(X, y).rules_[0].tests)
    ('x0 <= 0.5', 'x1 <= 0.5')

    """

    max_tests: int = parameter(2, Legal(lambda value: is_int(value) and value >= 1, "an int in the range [1, inf)"))
    min_objects: float = parameter(
        2, Legal(lambda value: is_real(value) and value > 0, "a number in the range (0, inf), a weight of rows")
    )
    categorical_features: Any = parameter(FROM_DTYPE, CATEGORICAL_FEATURES)  # noqa: RUF009  a field
    n_jobs: int | None = parameter(None, N_JOBS)

    def _learned(self, data: TrainingData) -> dict[str, Any]:
        table, labels = data.table, data.outcome
        sample = Sample(table, labels.codes[:, 0].astype(np.int64), weight_in_rows(data.weight), len(labels.classes[0]))
        most = min(int(self.max_tests), table.n_features)
        found = greedy_list(sample, most, float(self.min_objects))
        covered, correct = found.decided[:-1].sum(axis=1), found.decided[np.arange(len(found.label)), found.label]
        sizes = sample.rows.sizes
        numbers = numbers_of(covered, correct, found.label, sizes / sizes.sum(), self._confidence)
        rules = pack_rules(found.bodies, found.label, found.default, {**numbers, "decided": found.decided})
        seen = Seen(table.n_features, table.names, table.levels)
        return self._learned_of_rules(rules, seen, labels.classes[0])

    def _from_rules(self, rules: Any) -> Self:
        """Make a list of fitted rules, in their order; return the model.

        ``max_tests`` becomes that of the longest. A RuleSetClassifier with ``resolve="order"``, or the rules of a tree
        (``tree.to_rules()``), say the same as the list.

        Parameters
        ----------
        rules : fitted RuleSetClassifier or DecisionListClassifier
            The rules.

        """
        if not isinstance(rules, RuleModel):
            raise TypeError(
                f"rules={rules!r}: must be a fitted RuleSetClassifier or DecisionListClassifier; of a tree, pass "
                "tree.to_rules()"
            )
        arrays = rules.check_fitted().rules_.arrays
        lengths = arrays.start[1:] - arrays.start[:-1]
        made = self._learn_rules(arrays, rules.columns_seen, rules.classes_)
        made.max_tests = max(1, int(lengths.max(initial=1)))
        return made

    from_rules = OfModelOrClass(_from_rules)
