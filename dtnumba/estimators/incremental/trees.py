"""IncrementalTreeClassifier and IncrementalTreeRegressor: trees that take rows and give rows back."""

from __future__ import annotations

import copy
import threading
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.estimators.bases.docs import documented
from dtnumba.estimators.bases.parameters import SHARE, number, one_of, parameter, whole, yes_or_no
from dtnumba.estimators.decision_tree import DecisionTree, DecisionTreeClassifier, DecisionTreeRegressor
from dtnumba.estimators.incremental.follow import Follower, label_lists
from dtnumba.estimators.incremental.held_rows import HeldRows
from dtnumba.estimators.incremental.streams import (
    known_stream,
    learned_stream,
    predictor_of_stream,
    refuse_of_batches,
    settled_stream,
    stored_stream,
    stream_shares,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self

    from dtnumba.estimators.incremental.history import ReplacedSplit
    from dtnumba.estimators.rule_set import RuleSetClassifier
    from dtnumba.prediction.row_predictor import RowPredictor


# What is learned of the rows held, once somebody asks
_LEARNED = (
    *("tree_", "classes_", "n_classes_", "n_outputs_", "categories_", "max_features_", "max_leaf_nodes_", "cv_errors_"),
    *("_rule", "_class_order", "_bayes_leaves"),
)


class IncrementalTree(DecisionTree):
    """A tree that follows its rows.

    Attributes
    ----------
    ids_ : array of int
        Ids of the rows held, in the order in which they came: the first row that ever came is 0.
    n_seen_ : int
        How many rows came.
    history_ : list of ReplacedSplit
        Tests that gave way to others, from one look at the tree to the next: when, where, from what to what. At most
        the last thousand.
    memory_ : dict
        Bytes of the rows held ("rows") and of the "statistics" by which the tree follows them.

    """

    restructure: str
    approximate: bool
    _batch: Any  # the class of the batch tree

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # type: ignore[override]
        """Forget all rows, and take these in; see ``partial_fit``."""
        self.check_params()
        rows = HeldRows(type(self).__name__, self.categorical_features)
        if self.approximate:
            self._learn_stream(rows, None, X, y, None, sample_weight)
        else:
            self._change(rows, rows.read(X, y, sample_weight, self), _NOBODY)
        if self.restructure == "eager":
            self._settle()
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Take rows in.

        Parameters
        ----------
        X : array or frame of shape (rows, features)
            As in ``fit``; the columns are those of the first call.
        y : array of shape (rows,) or (rows, outputs)
            Labels, of new classes too, or numbers.
        classes : array, optional
            Labels that count among ``classes_`` before rows of them come; of several outputs a list of these.
        sample_weight : array of shape (rows,) or number, optional
            What each row counts.

        Returns
        -------
        estimator
            The estimator itself; as it was if anything fails.

        """
        self.check_params()
        rows = self._rows()
        announced = None if classes is None else label_lists(classes, self)
        if self.approximate:
            return self._learn_stream(rows, vars(self).get("_stream"), X, y, announced, sample_weight)
        return self._change(rows, rows.read(X, y, sample_weight, self), _NOBODY, announced)

    def forget(self, X: Any, y: Any) -> Self:
        """Give rows back, each the oldest held of those that are alike; an error if one of them is not held."""
        self.check_params()
        rows = self._held("forget")
        return self._change(rows, None, rows.find(X, y, self))

    def forget_ids(self, ids: Any) -> Self:
        """Give rows back by their ids, as ``ids_`` lists them."""
        self.check_params()
        rows = self._held("forget_ids")
        return self._change(rows, None, rows.slots_of(ids))

    def _rows(self) -> HeldRows:
        found: HeldRows | None = vars(self).get("_held_rows")
        return HeldRows(type(self).__name__, self.categorical_features) if found is None else found

    def _held(self, asked: str) -> HeldRows:
        if self.approximate:
            raise ValueError(
                f"{asked}: approximate=True keeps no rows, so none can be forgotten: use approximate=False, or "
                "drift='handled', which lets go of what no longer holds"
            )
        rows = self._rows()
        if rows.n_rows == 0:
            raise ValueError(f"{asked}: this {type(self).__name__} holds no rows: call partial_fit first")
        return rows

    def _learn_stream(self, rows: HeldRows, stream: Any, X: Any, y: Any, announced: Any, sample_weight: Any) -> Self:
        """Learn rows of a stream; an error leaves the model as it was, an interrupt the rows learned so far."""
        refuse_of_batches(self)
        stream = learned_stream(self, rows, stream, (X, y, sample_weight), announced)
        self._know(rows)
        vars(self)["_stream"] = stream
        return self

    def _change(self, rows: HeldRows, came: Any, went: NDArray[np.int64], announced: Any = None) -> Self:
        """Hold rows that came, drop others; an error or an interrupt leaves all as it was."""
        before, held = dict(vars(self)), rows.state()
        try:
            rows.change(came, went, announced)
            self._know(rows)
            if rows.n_rows == 0:
                self._know_no_rows(rows)
            elif self.restructure == "eager":
                self._follow(rows)
        except BaseException:
            rows.restore(held)
            vars(self).clear()
            vars(self).update(before)
            raise
        return self

    def _know(self, rows: HeldRows) -> None:
        """Know rows, and nothing yet of what is learned of them."""
        state = vars(self)
        for name in (*_LEARNED, "feature_names_in_", "_stream"):
            state.pop(name, None)
        state |= {"_held_rows": rows, "n_features_in_": rows.n_features}
        if rows.names is not None:
            state["feature_names_in_"] = rows.names

    def _know_no_rows(self, rows: HeldRows) -> None:
        """Be unfitted; columns, levels and classes stay known to the rows."""
        rows.let_go()
        rows.follower = None
        for name in ("n_features_in_", "feature_names_in_"):
            vars(self).pop(name, None)

    def _follow(self, rows: HeldRows) -> None:
        """Let the tree follow what came and went since it was last asked to."""
        batch = self._batch(**{one.name: vars(self)[one.name] for one in fields(self._batch)})
        follower, rows.follower = rows.follower or Follower(rows), None  # which is halfway until it is through
        follower.follow(batch)
        rows.let_go()
        rows.follower = follower

    def _settle(self) -> None:
        """See to it that what is learned of the rows is there."""
        state = vars(self)
        if "tree_" in state or "n_features_in_" not in state:
            return
        with _ONE_AT_A_TIME:
            rows: HeldRows = state["_held_rows"]
            if "tree_" in state:
                return
            if "_stream" in state:
                learned = settled_stream(state["_stream"], rows, self)
            else:
                if rows.pending or rows.follower is None:
                    self._follow(rows)
                learned = rows.follower.learned()
            tree = learned.pop("tree_")
            if "_stream" not in state:
                rows.show(tree)
            state |= learned
            state["tree_"] = tree  # last: other threads look for it

    def check_fitted(self) -> Self:
        """Return the estimator if it is fitted."""
        self._settle()
        return super().check_fitted()

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the tree and the rows; what follows these is made anew of them."""
        self._settle()
        return super().__getstate__()

    def stored(self) -> dict[str, Any]:
        """Return what a file holds: with the rows, or what the tree of a stream saw, so that a loaded model goes on."""
        if "_stream" in vars(self):
            return vars(self) | {"_rows": stored_stream(self)}
        return vars(self) | {"_rows": vars(self)["_held_rows"].stored()}

    def take_stored(self, learned: dict[str, Any]) -> None:
        """Know what a file held."""
        rows, names = learned.pop("_rows"), learned.get("feature_names_in_")
        held = HeldRows.of_stored(type(self).__name__, self.categorical_features, names, rows)
        held.shown, learned["_held_rows"] = learned["tree_"], held
        vars(self).update(learned)
        if "stream" in rows:
            vars(self).update(known_stream(self, held, rows))

    def __copy__(self) -> Self:
        """Copy the rows, too: a copy changes by itself."""
        made = type(self).__new__(type(self))
        made.__setstate__(self.__getstate__())
        for name in ("_held_rows", "_stream"):
            if name in vars(made):
                vars(made)[name] = copy.deepcopy(vars(made)[name])
        return made

    def __getattr__(self, name: str) -> Any:
        """Learn of the rows what is asked for."""
        if name in _LEARNED:
            self._settle()
            if name in vars(self):
                return vars(self)[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __sklearn_tags__(self) -> Any:
        """Describe the estimator to scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        if self.approximate:
            tags.target_tags.multi_output = False
            for own in (tags.classifier_tags, tags.regressor_tags):
                if own is not None:
                    own.poor_score = True  # of so few rows
        return tags

    @property
    def n_seen_(self) -> int:
        """How many rows came."""
        return self._rows().n_seen

    @property
    def history_(self) -> list[ReplacedSplit]:
        """The tests that gave way to others, from one look at the tree to the next; the last thousand of them."""
        self._settle()
        return list(self._rows().history)

    @property
    def memory_(self) -> dict[str, int]:
        """Bytes of the rows held, with slots for more, and of the statistics by which the tree follows them."""
        rows = self._rows()
        follower = rows.follower
        own = 0 if rows.slots is None else rows.slots.n_bytes
        return {"rows": own, "statistics": 0 if follower is None else follower.n_bytes}

    @property
    def drifts_(self) -> NDArray[np.int64]:
        """The rows of a stream, by how many came before, with which the errors of the tree had risen."""
        return np.array(self._followed_stream("drifts_").drifts, np.int64)

    @property
    def n_idle_leaves_(self) -> int:
        """How many leaves of the tree of a stream have no room for what they see, and do not split."""
        return int(self._followed_stream("n_idle_leaves_").n_idle)

    def _followed_stream(self, asked: str) -> Any:
        found = vars(self.check_fitted()).get("_stream")
        if found is None:
            raise AttributeError(f"{asked} tells of streams: {type(self).__name__} has it with approximate=True")
        return found

    @property
    def ids_(self) -> NDArray[np.int64]:
        """Ids of the rows held, in the order in which they came."""
        return self._rows().ids


_NOBODY = np.empty(0, np.int64)
_ONE_AT_A_TIME = threading.RLock()  # threads that ask a model which has not followed its rows yet


@dataclass(kw_only=True, eq=False, repr=False)
class IncrementalParams:
    """Parameters of incremental trees.

    Parameters
    ----------
    restructure : "eager" or "lazy"
        When the tree follows its rows: with each call, or when somebody asks.
    approximate : bool
        True: the tree of a stream. Rows are learned one by one and not kept, and a leaf splits when chance no longer
        explains how much better its best test is (Hoeffding trees: Domingos & Hulten 2000).
    delta : float
        With approximate=True, the chance that a split is a wrong one, as far as Hoeffding's bound tells.
    tie_threshold : float
        With approximate=True, two tests are as good as equal where the bound is below this, and the better is taken.
    grace_period : int
        With approximate=True, the weight of rows between two tries of a leaf to split.
    reconsider : bool
        With approximate=True, whether a node whose test is no longer the best takes the one that is (Manapragada et al.
        2018).
    leaf_prediction : "adaptive", "majority" or "naive_bayes"
        With approximate=True, what a leaf of classes says: its commonest class, naive Bayes, or whichever was right
        more often.
    drift : "ignored", "shown" or "handled"
        With approximate=True and "shown", ``drifts_`` tells when the errors of the tree had risen (adaptive windows:
        Bifet & Gavalda 2007). "handled": a node whose errors have risen becomes a leaf that has seen nothing, too.
    max_bytes : int
        With approximate=True, the memory for nodes and for what they saw. Where it is used up, the least promising
        node gives up what it saw for a leaf that promises more; ``n_idle_leaves_`` tells how many leaves have nothing.

    """

    restructure: str = parameter("eager", one_of("eager", "lazy"))
    approximate: bool = yes_or_no(False)
    delta: float = parameter(1e-7, SHARE)
    tie_threshold: float = parameter(0.05, number(0.0, 1.0))
    grace_period: int = parameter(200, whole(1, 1 << 40))
    reconsider: bool = yes_or_no(True)
    leaf_prediction: str = parameter("adaptive", one_of("adaptive", "majority", "naive_bayes"))
    drift: str = parameter("ignored", one_of("ignored", "shown", "handled"))
    max_bytes: int = parameter(1 << 26, whole(1 << 12, 1 << 40))


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class IncrementalTreeClassifier(IncrementalTree, IncrementalParams, DecisionTreeClassifier):
    """A tree of classes that takes rows, gives rows back, and stays the tree of a batch fit.

    After any calls ``tree_`` equals, array for array, that of a DecisionTreeClassifier with the same parameters fitted
    to the rows held, in whatever order they came.

    Examples
    --------
    >>> from dtnumba import IncrementalTreeClassifier
    >>> tree = IncrementalTreeClassifier().partial_fit([[0], [1], [2]], ["no", "no", "yes"])
    >>> tree.partial_fit([[3], [4]], ["yes", "perhaps"]).predict([[0], [3], [4]]).tolist()
    ['no', 'yes', 'perhaps']
    >>> tree.forget([[4]], ["perhaps"]).predict([[4]]).tolist(), tree.ids_.tolist()
    (['yes'], [0, 1, 2, 3])

    """

    _batch = DecisionTreeClassifier

    @property
    def bayes_leaves_(self) -> NDArray[np.int64]:
        """Ids of the leaves that answer by naive Bayes, of the tree of a stream; what ``tree_`` says is their rows."""
        found: NDArray[np.int64] | None = vars(self.check_fitted()).get("_bayes_leaves")
        return np.empty(0, np.int64) if found is None else found

    def _n_bayes_leaves(self) -> int:
        return len(vars(self.check_fitted()).get("_bayes_leaves", ()))

    def predict_proba(self, X: Any, check_input: bool = True) -> Any:
        """Return the share of each class in every row's leaf; of a stream's tree, as its leaves answer."""
        if self._n_bayes_leaves() == 0:
            return super().predict_proba(X)
        return stream_shares(self, self.table_of(X))

    def predict(self, X: Any, check_input: bool = True) -> NDArray[Any]:
        """Return the label of every row."""
        if self._n_bayes_leaves() == 0:
            return super().predict(X)
        labels: NDArray[Any] = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return labels

    def compile_predictor(self) -> RowPredictor:
        """Return a function ``p(row, out=None)`` that answers one row in microseconds, as ``predict_proba`` does."""
        if self._n_bayes_leaves() == 0:
            return super().compile_predictor()
        return predictor_of_stream(self)

    def to_rules(self, X: Any = None, y: Any = None, sample_weight: Any = None, **options: Any) -> RuleSetClassifier:
        """Return the tree as rules; an error where leaves answer by naive Bayes."""
        n = self._n_bayes_leaves()
        if n:
            raise ValueError(
                f"to_rules: {n} leaves of this {type(self).__name__} answer by naive Bayes, "
                "which no rule says; learn the stream with leaf_prediction='majority'"
            )
        return super().to_rules(X, y, sample_weight, **options)


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class IncrementalTreeRegressor(IncrementalTree, IncrementalParams, DecisionTreeRegressor):
    """A tree of numbers that takes rows, gives rows back, and stays the tree of a batch fit.

    After any calls ``tree_`` equals, array for array, that of a DecisionTreeRegressor with the same parameters fitted
    to the rows held, in whatever order they came.

    Examples
    --------
    >>> from dtnumba import IncrementalTreeRegressor
    >>> tree = IncrementalTreeRegressor().partial_fit([[0], [1]], [1.0, 2.0])
    >>> tree.partial_fit([[2]], [5.0]).forget_ids([1]).predict([[0], [2]]).tolist()
    [1.0, 5.0]

    """

    _batch = DecisionTreeRegressor
