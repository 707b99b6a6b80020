"""DecisionListClassifier: rules of few tests, asked one after another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dtnumba.categories import FROM_DTYPE, LearnedLevels
from dtnumba.estimators._docs import documented
from dtnumba.estimators._parameters import CATEGORICAL_FEATURES, N_JOBS, Legal, is_int, is_real, parameter
from dtnumba.estimators._rules import OfModelOrClass, RuleModel, seen_by
from dtnumba.labels import read_labels
from dtnumba.table import Seen, read_table
from dtnumba.weights import read_weight

if TYPE_CHECKING:
    from typing_extensions import Self


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class DecisionListClassifier(RuleModel):
    """A k-decision list: terms of at most k tests, the first that holds answers (Rivest 1987).

    Learned greedily: next comes the term that answers most of the rows left without an error; of equal ones the
    shortest, then the one of the first columns, "below" before "above". A missing value fails every test.

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

    Attributes
    ----------
    rules_ : RuleList
        The list; ``print`` shows it as sentences. A term covers the rows that it answers.
    n_rules_ : int
        How many terms there are.
    classes_ : array
        The labels, sorted.
    n_classes_ : int
        How many there are.
    n_features_in_ : int
        Columns of the table in ``fit``.
    feature_names_in_ : array of str
        Names of the columns; only where all of them are text.
    categories_ : list of array or None
        The levels of each column, None of one of numbers; only where there are categories.

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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the list.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (rows, features)
            Numbers and categories; NaN, None and a frame's nulls are missing values. A column of many values is cut at
            even shares of its rows, in so few places that there are 100,000 terms at most.
        y : array of shape (rows,)
            Labels of any hashable kind.
        sample_weight : array of shape (rows,) or number, optional
            What each row counts; rows of weight 0 do not influence anything.

        Returns
        -------
        DecisionListClassifier
            The model itself; as it was if anything fails.

        """
        from dtnumba.decision_list import greedy_list
        from dtnumba.rule_making import Sample, describe

        self._check_params()
        caller = type(self).__name__
        table = read_table(X, caller, None, LearnedLevels(self.categorical_features, caller))
        labels = self._one_output(read_labels(y, table.n_rows, caller))
        weight = read_weight(sample_weight, table.n_rows)
        sample = Sample(table, labels.codes[:, 0].astype("int64"), weight, len(labels.classes[0]))
        most = min(int(self.max_tests), table.n_features)
        bodies, label, default = greedy_list(sample, most, float(self.min_objects))
        rules = describe(bodies, label, default, sample, self._confidence, of_answered=True)
        return self._learn_rules(rules, Seen(table.n_features, table.names, table.levels), labels.classes[0])

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
        arrays = rules._fitted().rules_.arrays  # noqa: SLF001  of the same kind
        lengths = arrays.start[1:] - arrays.start[:-1]
        made = self._learn_rules(arrays, seen_by(rules), rules.classes_)
        made.max_tests = max(1, int(lengths.max(initial=1)))
        return made

    from_rules = OfModelOrClass(_from_rules)
