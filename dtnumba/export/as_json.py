"""A model as JSON: everything that predicts, and what explains nodes; and back."""

from __future__ import annotations

import json as _json
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.export.languages.source import ExportedText, literals
from dtnumba.export.languages.voters import ReadVoters
from dtnumba.export.reading import ReadTrees, codes_of, read
from dtnumba.export.replay import AskedRows, Replies, model_answers
from dtnumba.export.splines.in_json import content_of, splines_of
from dtnumba.export.splines.reading import TakesSomeRows
from dtnumba.prediction.forest_view import ForestView
from dtnumba.prediction.fractional import probabilities_of
from dtnumba.prediction.tree_view import TreeView
from dtnumba.rules.c50.answers import C50Answers
from dtnumba.rules.layout import Conditions, Rules
from dtnumba.rules.view import RuleList
from dtnumba.runtime.tasks import n_workers
from dtnumba.tables.costs import LeastCost
from dtnumba.tables.floats import BETWEEN_VALUES, AtFloats, Between
from dtnumba.tables.labels import Labels, Values
from dtnumba.tables.table import Seen, Table, read_table
from dtnumba.trees.check import check
from dtnumba.trees.layout import NO_SURROGATES, Surrogates, Trees
from dtnumba.trees.linear import AXIS_TESTS, NO_INDICATORS, AxisTests, LinearTests
from dtnumba.trees.sparse_rows import SparseValues

if TYPE_CHECKING:
    from numpy.typing import NDArray

FORMAT, VERSION = "dtnumba", 1
KINDS_OF_LEVELS = (str, bool, int, float)
_NAMED = {"Infinity": np.inf, "-Infinity": -np.inf, None: np.nan}
_OTHERS_OF_TREES = {"surrogates", "cuts_at", "adds_both", "policy", "value", "join", "linear"}
_NO_COLUMNS = {"tests", "default", "linear"}  # of Rules
_ENTRIES_OF_TREES = tuple(name for name in Trees._fields if name not in _OTHERS_OF_TREES)


class JsonText(ExportedText):
    """JSON as text; ``export.from_json`` reads it."""

    def run(self, rows: AskedRows) -> Replies:
        """Read the text, and predict."""
        return model_answers(from_json(self), rows.codes)


def _read_splines(model: Any) -> Any:
    from dtnumba.export.splines.reading import read_splines

    return read_splines(model)


class _JsonOfSplines(TakesSomeRows, JsonText):
    """JSON of splines."""


def json(model: Any, indent: int | None = None) -> JsonText:
    """Return a model as JSON: an object of the columns, the classes and the arrays of its nodes or rules.

    Parameters
    ----------
    model : fitted estimator
        Of trees, rules or splines.
    indent : int or None
        Of inner objects; None: one line.

    Examples
    --------
    >>> from dtnumba import DecisionTreeClassifier, export
    >>> tree = DecisionTreeClassifier().fit([[1.0], [9.0]], ["low", "high"])
    >>> text = export.json(tree)
    >>> export.from_json(text).predict([[2.0]]).tolist()
    ['low']

    """
    found: Any = None
    if hasattr(model, "splines_"):
        found = _read_splines(model)
    else:
        found = read(model, sums=True, rule_sums=True, indicators=True)
    columns = found.columns
    for listed in (*columns.levels, *(columns.classes or ())):
        literals(listed or [], "json", KINDS_OF_LEVELS)
    seen, rule = model.columns_seen, model.label_rule
    content: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "model": model.kind if isinstance(model, JsonModel) else type(model).__name__,
        "columns": seen.n_features if seen.names is None else columns.names,
        "levels": None if seen.levels is None else [None if own is None else _array(own) for own in seen.levels],
        "classes": None if columns.classes is None else [_array(own) for own in model.class_lists()],
        "costs": None if rule is None else rule.costs.tolist(),
        "n_outputs": len(columns.sizes),
    }
    if isinstance(found, ReadTrees):
        content["voting"] = model.voting if found.is_mean else None
        content["trees"] = _of_trees(model.trees_)
        if found.prior is not None:
            content["votes" if found.are_sure else "adds_prior"] = True
        if found.label_from:
            content["shares"] = _of_value(model._speaking().trees.value)  # noqa: SLF001  corrected ones
    elif hasattr(model, "splines_"):
        content["splines"] = content_of(model.splines_)
    elif isinstance(found, ReadVoters):
        content["rule_sets"] = [_of_rules(own.arrays) for own in model.rules_]
    else:
        content["by_votes"] = found.by_votes
        content["rules"] = _of_rules(model.rules_.arrays)
    written = _json.dumps(content, indent=indent, allow_nan=False, ensure_ascii=False)
    text = JsonText(written)
    if hasattr(model, "splines_"):
        text = _JsonOfSplines(written)
        text.fill = model.splines_.hinges.fill
    text.columns = columns._replace(row_types=(np.dtype(np.float64), np.dtype(np.float32)))
    return text


def _array(values: Any) -> dict[str, Any]:
    array = np.asarray(values)
    return {"dtype": array.dtype.str if array.dtype.kind != "O" else "O", "values": _numbers(array)}


def _numbers(array: NDArray[Any]) -> list[Any]:
    """Return an array as JSON can hold it: NaN is null, infinities are named."""
    found: list[Any] = array.tolist()
    if array.dtype.kind != "f" or np.isfinite(array).all():
        return found
    if array.ndim > 1:
        return [_numbers(row) for row in array]
    return [x if x - x == 0.0 else None if x != x else "Infinity" if x > 0 else "-Infinity" for x in found]


def _cuts_at(cuts_at: Between | AtFloats) -> Any:
    return None if isinstance(cuts_at, Between) else cuts_at.bits


def _of_trees(trees: Trees) -> dict[str, Any]:
    found = {name: _array(getattr(trees, name)) for name in _ENTRIES_OF_TREES}
    own = {name: _array(column) for name, column in trees.surrogates._asdict().items()}
    more = {"policy": int(trees.policy), "surrogates": own if len(trees.surrogates.feature) else None}
    more |= {"adds_both": True} if trees.adds_both else {}
    more |= {"join": _array(trees.join)} if trees.is_graph else {}
    more |= {**_of_sums(trees.linear), "cuts_at": _cuts_at(trees.cuts_at)}
    return {**found, "value": _of_value(trees.value), **more}


def _of_sums(linear: AxisTests | LinearTests) -> dict[str, Any]:
    if not isinstance(linear, LinearTests):
        return {}
    return {"sums": {name: _array(own) for name, own in linear._asdict().items() if name != "level" or len(own)}}


def _of_value(value: Any) -> dict[str, Any]:
    if isinstance(value, SparseValues):
        parts = {name: _array(getattr(value, name)) for name in ("start", "column", "number")}
        return {**parts, "width": value.width}
    return {**_array(np.asarray(value, np.float64)), "width": int(value.shape[1])}


def _of_rules(rules: Rules) -> dict[str, Any]:
    names = [name for name in Rules._fields if name not in _NO_COLUMNS]
    found = {name: _array(getattr(rules, name)) for name in names}
    tests = {name: _array(getattr(rules.tests, name)) for name in Conditions._fields if name != "cuts_at"}
    tests |= {"cuts_at": _cuts_at(rules.cuts_at)}
    return {**found, "default": int(rules.default), "tests": tests, **_of_sums(rules.linear)}


# Back


def from_json(text: str) -> JsonModel:
    """Return a model that predicts what the one did that ``export.json`` was given.

    Parameters
    ----------
    text : str
        As ``export.json`` writes it.

    """
    if not isinstance(text, str):
        raise TypeError(f"text: must be a str, as export.json returns it, not {type(text).__name__}")
    try:
        content = _json.loads(text)
    except ValueError as error:
        raise ValueError(f"text: is no JSON: {error}; pass what export.json has written") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError("text: is JSON of something else; pass what export.json has written")
    if content.get("version") != VERSION:
        raise ValueError(
            f"text: is of version {content.get('version')!r} of the format, and this package reads {VERSION}; write it "
            "again, or read it with the package that wrote it"
        )
    try:
        return JsonModel(content)
    except (KeyError, TypeError, IndexError, AttributeError, AssertionError) as error:
        raise ValueError(f"text: lacks a part, or has one of another kind ({error!r}); write it again") from error


def _read_array(given: dict[str, Any]) -> NDArray[Any]:
    dtype, values = np.dtype(given["dtype"]), given["values"]
    if dtype.kind not in "biufUO":
        raise ValueError(f"text: holds an array of the type {dtype}, which no model has")
    if dtype.kind == "f":
        values = [_NAMED.get(x, x) if x is None or isinstance(x, str) else x for x in values]
    if dtype.kind == "O":
        array = np.empty(len(values), object)
        array[:] = values
        return array
    return np.array(values, dtype)


def _read_value(given: dict[str, Any]) -> Any:
    width = int(given["width"])
    if "start" in given:
        start, column, number = (_read_array(given[name]) for name in ("start", "column", "number"))
        return SparseValues(start, column, number, width)
    return np.array(given["values"], np.float64).reshape(-1, width)


def _read_cuts_at(given: Any) -> Between | AtFloats:
    if given is None:
        return BETWEEN_VALUES
    return AtFloats(tuple(given) if isinstance(given, list) else int(given))


def _read_trees(given: dict[str, Any]) -> Trees:
    columns: dict[str, Any] = {name: _read_array(given[name]) for name in _ENTRIES_OF_TREES}
    own = given["surrogates"]
    surrogates = NO_SURROGATES if own is None else Surrogates(**{name: _read_array(own[name]) for name in own})
    more: dict[str, Any] = {"policy": int(given["policy"]), "cuts_at": _read_cuts_at(given["cuts_at"])}
    more["adds_both"] = bool(given.get("adds_both", False))
    more |= {"join": _read_array(given["join"])} if "join" in given else {}
    linear = _read_sums(given)
    return Trees(**columns, value=_read_value(given["value"]), surrogates=surrogates, linear=linear, **more)


def _read_sums(given: dict[str, Any]) -> AxisTests | LinearTests:
    if "sums" not in given:
        return AXIS_TESTS
    own = {name: _read_array(one) for name, one in given["sums"].items()}
    return LinearTests(**{"level": NO_INDICATORS, **own})


def _read_rules(given: dict[str, Any]) -> Rules:
    own = dict(given["tests"])
    cuts_at = _read_cuts_at(own.pop("cuts_at"))
    columns: dict[str, Any] = {name: _read_array(column) for name, column in own.items()}
    names = [name for name in Rules._fields if name not in _NO_COLUMNS]
    parts: dict[str, Any] = {name: _read_array(given[name]) for name in names}
    parts["decided"] = parts["decided"].reshape(-1, len(parts["prior"]))
    tests = Conditions(**columns, cuts_at=cuts_at)
    return Rules(tests=tests, default=int(given["default"]), linear=_read_sums(given), **parts)


class JsonModel:
    """A model read from JSON: it predicts, and exporters write it.

    Attributes
    ----------
    classes_ : array, or a list of one for each output
        The labels; only of classifiers.
    trees_ : Trees
        The arrays of the nodes, or ``rules_``, a RuleList.

    """

    def __init__(self, content: dict[str, Any]) -> None:
        names, levels = content["columns"], content["levels"]
        if not isinstance(names, (int, list)):
            raise TypeError(f"text: the columns must be a list of names or a number, not {names!r}")
        self.kind, self.n_outputs_ = str(content["model"]), int(content["n_outputs"])
        self.n_features_in_ = names if isinstance(names, int) else len(names)
        self.columns_seen = Seen(
            self.n_features_in_,
            None if isinstance(names, int) else np.array(names, object),
            None if levels is None else [None if own is None else _read_array(own) for own in levels],
        )
        costs = content["costs"]
        self.label_rule = None if costs is None else LeastCost(np.array(costs, np.float64))
        if content["classes"] is not None:
            self._classes = [_read_array(own) for own in content["classes"]]
            self.classes_: Any = self._classes[0] if self.n_outputs_ == 1 else self._classes
            sizes = [len(own) for own in self._classes]
        else:
            sizes = [1] * self.n_outputs_
        self.sizes, self._by_votes = sizes, bool(content.get("by_votes"))
        self._votes: C50Answers | None = None
        self.trees_vote = bool(content.get("votes"))
        self.adds_prior = bool(content.get("adds_prior")) or self.trees_vote
        if "splines" in content:
            self.splines_ = splines_of(content["splines"], self.n_features_in_)
            return
        if "rule_sets" in content:
            sets, seen = [_read_rules(own) for own in content["rule_sets"]], self.columns_seen
            self.rules_: Any = [RuleList(own, seen.names, seen.levels, self.classes_, seen.n_features) for own in sets]
            self._votes = C50Answers(None, sets, self.n_features_in_)
            return
        if "rules" in content:
            rules = _read_rules(content["rules"])
            seen = self.columns_seen
            self.rules_ = RuleList(rules, seen.names, seen.levels, self.classes_, self.n_features_in_)
            return
        trees = check(_read_trees(content["trees"]), self.n_features_in_)
        self.voting = content["voting"]
        if self.trees_vote:
            self._votes = C50Answers(trees, [], self.n_features_in_)
        if self.voting is not None:
            self.forest_ = ForestView(trees, self.n_features_in_, sizes)
        else:
            self.tree_ = self._shown = TreeView(trees, self.n_features_in_, sizes)
            if "shares" in content:
                corrected = trees._replace(value=_read_value(content["shares"]))
                self._shown = TreeView(corrected, self.n_features_in_, sizes)

    def __repr__(self) -> str:
        """Say what it was."""
        return f"<{self.kind} from JSON, {self.n_features_in_} columns>"

    def check_fitted(self) -> JsonModel:
        """Return the model."""
        return self

    def class_lists(self) -> list[NDArray[Any]]:
        """Return the classes of each output."""
        return self._classes

    @property
    def target_seen(self) -> Any:
        """The classes, or the number of numbers, without rows."""
        if hasattr(self, "classes_"):
            return Labels(self._classes, np.empty((0, self.n_outputs_), np.int64))
        return Values(np.empty((0, self.n_outputs_)))

    @property
    def trees_(self) -> Trees:
        """The arrays of the nodes."""
        return self.tree_.trees if self.voting is None else self.forest_.trees

    def _speaking(self) -> Any:
        return self._shown if self.voting is None else None

    def _voting(self) -> Any:
        hard = "hard" if self.label_rule is None else self.label_rule
        return "soft" if self.voting == "soft" else hard

    def table_of(self, X: Any) -> Table:
        """Return rows as the model reads them."""
        return X if type(X) is Table else read_table(X, self.kind, self.columns_seen)

    def _of_splines(self, table: Table, *, proba: bool) -> NDArray[Any]:
        from dtnumba.growth.mars.logistic import codes_and_shares
        from dtnumba.prediction.splines import sums_of

        sums = np.asarray(sums_of(table, self.splines_.hinges, self.splines_.coefficients, 1))
        if not hasattr(self, "classes_"):
            return sums[:, 0] if self.n_outputs_ == 1 else sums
        codes, shares = codes_and_shares(sums, self.sizes[0])
        return shares if proba else np.asarray(self.classes_[codes])

    def _totals(self, table: Table) -> NDArray[np.float64]:
        if self._votes is not None:
            return self._votes.shares(table, n_workers(None))
        if self.voting is not None:
            return self.forest_.means(table, self._voting(), None)
        if self.adds_prior:
            return np.asarray(probabilities_of(table, self.tree_.trees, n_workers(None)))
        shares = self._shown.shares(table) if hasattr(self, "classes_") else [self._shown.numbers(table)]
        return np.concatenate(shares, axis=1)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of every row, or its number."""
        table = self.table_of(X)
        if hasattr(self, "splines_"):
            return self._of_splines(table, proba=False)
        if not hasattr(self, "classes_"):
            totals = self._totals(table)
            return totals[:, 0] if self.n_outputs_ == 1 else totals
        if self._votes is None and hasattr(self, "rules_"):
            answer, votes = self.rules_.answers(table, None, votes=self._by_votes)
            rules = self.rules_.arrays
            codes = np.append(rules.label, rules.default)[answer]
            if self._by_votes:
                codes = np.where(answer == rules.n_rules, rules.default, votes.argmax(axis=1))
            return np.asarray(self.classes_[codes])
        if self._votes is not None:
            codes = self._votes.codes(table, n_workers(None), None)[:, None]
        elif self.adds_prior:
            codes = codes_of(self._totals(table), self.sizes, self.label_rule)
        elif self.voting is None:
            codes = self.tree_.label_codes(table, None, self.label_rule)
        else:
            totals, rule = self._totals(table), self.label_rule if self.voting == "soft" else None
            codes = codes_of(totals, self.sizes, rule)
        labels = [classes[codes[:, o]] for o, classes in enumerate(self._classes)]
        return labels[0] if len(labels) == 1 else np.stack(labels, axis=1)

    def predict_proba(self, X: Any) -> Any:
        """Return the shares of the classes for every row; a list for several outputs."""
        table = self.table_of(X)
        if hasattr(self, "splines_"):
            return self._of_splines(table, proba=True)
        if self._votes is None and hasattr(self, "rules_"):
            answer, votes = self.rules_.answers(table, None, votes=self._by_votes)
            shares = self.rules_.shares()
            if not self._by_votes:
                return shares[answer]
            votes[answer == len(self.rules_)] = shares[-1]
            return votes / np.maximum(votes.sum(axis=1, keepdims=True), 1e-300)
        parts = np.split(self._totals(table), np.cumsum(self.sizes)[:-1], axis=1)
        return parts[0] if len(parts) == 1 else parts
