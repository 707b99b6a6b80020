"""The base of models made of rules: predictions, sentences, and reading sentences.

What only fits and predictions of rules need is imported by these, so that importing the package stays quick.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.estimators.bases.estimator import Classifier
from dtnumba.estimators.bases.fit import Learner
from dtnumba.rules.layout import pack_rules
from dtnumba.rules.text import Words, names_of, read_rules, value_of, word
from dtnumba.tables.floats import AtFloats, of_columns
from dtnumba.tables.labels import read_labels
from dtnumba.tables.table import Seen, Table
from dtnumba.trees.with_sums import sums_from

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from typing_extensions import Self

    from dtnumba.rules.layout import Rules
    from dtnumba.rules.view import RuleList
    from dtnumba.trees.records import Records


class OfModelOrClass:
    """A method that takes the place of ``fit``: of a model with its parameters, of a class with the defaults."""

    def __init__(self, method: Any) -> None:
        self._method, self.__doc__ = method, method.__doc__

    def __get__(self, model: Any, owner: type) -> Any:
        """Return the method of the model, or of a new one."""
        bound = (owner() if model is None else model, self._method)

        @wraps(self._method)
        def call(*args: Any, **options: Any) -> Any:
            return bound[1](bound[0], *args, **options)

        return call


class RuleModel(Learner, Classifier):
    """A classifier that asks rules.

    Attributes
    ----------
    rules_ : RuleList
        The rules in the order in which they are asked; ``print`` shows them as sentences.
    n_rules_ : int
        How many there are, without the default.

    """

    _is_of_one_output = True
    rules_: RuleList

    _confidence = 0.25
    _by_votes = False

    def _learned_of_rules(self, rules: Rules, seen: Seen, classes: NDArray[Any]) -> dict[str, Any]:
        """Return what a model of rules learns."""
        from dtnumba.rules.view import RuleList

        learned = {"_rule": None, "n_outputs_": 1, "classes_": classes, "n_classes_": np.int64(len(classes))}
        return learned | {"rules_": RuleList(rules, seen.names, seen.levels, classes, seen.n_features)}

    def _learn_rules(self, rules: Rules, seen: Seen, classes: NDArray[Any]) -> Self:
        """Take rules about columns as seen in place of a fit; return the model."""
        levels = None if seen.levels is None else tuple(seen.levels)
        table = Table(0, seen.n_features, seen.names, None, None, None, levels)
        return self._learn(table, **self._learned_of_rules(rules, seen, classes))

    @property
    def n_rules_(self) -> int:
        """Number of rules, without the default."""
        return len(self.check_fitted().rules_)

    def _answers(self, X: Any, *, votes: bool = False) -> Any:
        table = self.table_of(X)
        return self.rules_.answers(table, self.n_jobs, votes=votes)

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Return the number of the first rule that holds for every row, ``n_rules_`` where none does."""
        return np.asarray(self._answers(X)[0])

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of every row."""
        answer, votes = self._answers(X, votes=self._by_votes)
        rules = self.rules_.arrays
        if not self._by_votes:
            return np.asarray(self.classes_[np.append(rules.label, rules.default)[answer]])
        codes = np.where(answer == rules.n_rules, rules.default, votes.argmax(axis=1))
        return np.asarray(self.classes_[codes])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the share of each class: among the rows that a rule answered in ``fit``, or of the votes."""
        answer, votes = self._answers(X, votes=self._by_votes)
        shares = self.rules_.shares()
        if not self._by_votes:
            return np.asarray(shares[answer])
        is_open = answer == len(self.rules_)
        votes[is_open] = shares[-1]
        return np.asarray(votes / np.maximum(votes.sum(axis=1, keepdims=True), 1e-300))

    def to_text(self, digits: int | None = 3) -> str:
        """Return the rules as sentences, a line each.

        Parameters
        ----------
        digits : int or None
            Of coverage, confidence and lift; None: all. Bounds are always exact.

        """
        return "\n".join(self.check_fitted().rules_.lines(digits)) + "\n"

    def to_records(self) -> Records:
        """Return the rules as a record array, a row a rule and the default last; see ``rules_.to_records``."""
        return self.check_fitted().rules_.to_records()

    def to_frame(self) -> Any:
        """Return the rules as a frame of pandas, a row a rule and the default last."""
        return self.to_records().to_frame()

    def _read_text(
        self,
        text: str,
        *,
        feature_names: Sequence[str] | int | None = None,
        classes: Any = None,
        categories: Any = None,
    ) -> Self:
        """Take rules from a text, in the words of ``to_text``; return the model.

        Of a fitted model, columns, levels and classes are those of the fit, so that its text may be edited and read
        again. Rules keep their order.

        Parameters
        ----------
        text : str
            A rule a line, ``if TESTS then CLASS``, and at last ``otherwise CLASS``.
        feature_names : list of str or int, optional
            Names of the columns; or how many there are, which are called x0, x1, ...
        classes : array, optional
            The labels; by default those of the text, sorted.
        categories : dict of name to list of levels, optional
            The columns that are categories.

        """
        self.check_params()
        seen, known = _stated(self, feature_names, categories), _classes(self, classes)
        levels = [None] * seen.n_features if seen.levels is None else list(seen.levels)
        shown = None if known is None else [word(label) for label in known.tolist()]
        if shown is not None and len(set(shown)) < len(shown):
            raise ValueError(f"classes: two of them are written alike, so that a text cannot tell them apart: {shown}")
        predicted = read_rules(text, Words(names_of(seen.n_features, seen.names), levels, shown))
        if known is None:
            given = [value_of(token) for token in [*predicted.label, predicted.default]]
            known = read_labels(given, len(given), type(self).__name__).classes[0]
            shown = [word(label) for label in known.tolist()]
        places = {value: k for k, value in enumerate(known.tolist())} | {name: k for k, name in enumerate(shown or ())}
        label = np.array([places[_key(token, places)] for token in predicted.label], np.int64)
        default = places[_key(predicted.default, places)]
        rules = self._rules_said(predicted, label, default, len(known), seen.n_features)
        return self._learn_rules(rules, seen, known)

    from_text = OfModelOrClass(_read_text)

    def _rules_said(
        self, predicted: Any, label: NDArray[np.int64], default: int, n_classes: int, n_features: int
    ) -> Rules:
        """Return the rules of a text; what it does not say of them is taken for certain."""
        from dtnumba.rules.simplify import numbers_of

        prior = np.full(n_classes, 1.0 / n_classes)
        cuts_at: Any = AtFloats(64)  # a text names values as people do
        if self.__sklearn_is_fitted__() and len(self.rules_.arrays.prior) == n_classes:
            prior = self.rules_.arrays.prior
        if self.__sklearn_is_fitted__():
            cuts_at = self.rules_.arrays.cuts_at
        if predicted.sums and isinstance(cuts_at, AtFloats):  # a sum is a float64
            own = of_columns(cuts_at.bits, np.arange(n_features)).tolist()
            cuts_at = AtFloats((*own[:n_features], *(64 for _ in predicted.sums)))
        columns = (("covered", "covers"), ("correct", "correct"), ("confidence", "confidence"), ("lift", "lift"))
        given = {
            name: np.array([one.get(key, np.nan) for one in predicted.numbers], np.float64) for name, key in columns
        }
        covered, correct = np.nan_to_num(given["covered"]), np.nan_to_num(given["correct"])
        numbers = numbers_of(covered, np.minimum(correct, covered), label, prior, self._confidence)
        sure = np.where(covered > 0, numbers["confidence"], 1.0)
        sure = np.where(np.isnan(given["confidence"]), sure, given["confidence"])
        lift = sure / np.maximum(prior[label], 1e-300)
        numbers |= {"confidence": sure, "lift": np.where(np.isnan(given["lift"]), lift, given["lift"])}
        numbers["decided"] = np.zeros((len(label) + 1, n_classes))
        return pack_rules(predicted.bodies, label, default, numbers, cuts_at, sums_from(list(predicted.sums)))


def _key(token: str, places: dict[Any, int]) -> Any:
    return token if token in places else value_of(token)


def _stated(model: Any, feature_names: Any, categories: Any) -> Seen:
    """Return the columns that a text is about."""
    if feature_names is None:
        if categories is not None:
            raise ValueError("categories: pass feature_names, too, so that the text has columns")
        if not model.__sklearn_is_fitted__():
            raise ValueError(
                "feature_names=None: a text does not say which columns a table has; pass their names in order, or how "
                "many there are, or read it with a fitted model"
            )
        seen: Seen = model.columns_seen
        return seen
    if isinstance(feature_names, (int, np.integer)) and not isinstance(feature_names, bool):
        if feature_names < 1:
            raise ValueError(f"feature_names={feature_names}: a table has at least one column")
        n, names = int(feature_names), None
    else:
        listed = list(feature_names)
        if not listed or not all(isinstance(name, str) for name in listed) or len(set(listed)) < len(listed):
            raise ValueError(f"feature_names={feature_names!r}: must be different names, one for each column")
        n, names = len(listed), np.array(listed, object)
    if categories is None:
        return Seen(n, names)
    called = names_of(n, names)
    if not isinstance(categories, Mapping):
        raise TypeError(f"categories={categories!r}: must be a dict of name to list of levels")
    unknown = [name for name in categories if name not in called]
    if unknown:
        raise ValueError(f"categories: {unknown[0]!r} is none of the columns {called[:10]}")
    return Seen(n, names, [_levels(categories[name]) if name in categories else None for name in called])


def _levels(given: Any) -> NDArray[Any]:
    levels = np.array(list(given), object)
    kinds = {type(level) for level in levels.tolist()}
    return np.array(levels.tolist()) if kinds <= {int, float} or kinds == {bool} else levels


def _classes(model: Any, given: Any) -> NDArray[Any] | None:
    if given is not None:
        if isinstance(given, str) or not hasattr(given, "__len__"):
            raise TypeError(f"classes={given!r}: must be the labels, as a list or an array")
        labels = read_labels(given, len(given), type(model).__name__)
        return labels.classes[0]
    return model.classes_ if model.__sklearn_is_fitted__() else None
