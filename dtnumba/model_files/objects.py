"""What models hold beside numbers, each with how it is written and how it is made again of a file that may lie.

``DUMPS`` and ``LOADS`` are the kinds: a line of each a kind, and nothing else is ever made of a file.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba import criteria
from dtnumba.explain.importances import Importances
from dtnumba.growth.chaid.report import PredictorTest
from dtnumba.growth.forest import bootstrap_rows, row_draws
from dtnumba.growth.forest.drawn_rows import Drawing
from dtnumba.growth.forest.held_rows import RowsKept
from dtnumba.model_files.container import is_count
from dtnumba.model_files.stored_views import StoredForest, StoredTree
from dtnumba.model_files.tree_columns import StoredTrees, dump_sums, dump_trees, load_sums
from dtnumba.model_files.values import NotStoredError
from dtnumba.prediction.forest_view import ForestView
from dtnumba.prediction.tree_view import TreeView
from dtnumba.pruners.registry import PRUNERS
from dtnumba.rules.layout import LEVELS, Conditions, Rules
from dtnumba.rules.view import RuleList
from dtnumba.tables.costs import LeastCost
from dtnumba.tables.floats import BETWEEN_VALUES, AtFloats
from dtnumba.trees.hinges import Hinges, SplinePath, Splines, check_hinges
from dtnumba.trees.linear import AXIS_TESTS, LinearTests
from dtnumba.trees.with_sums import n_sums_of

if TYPE_CHECKING:
    from dtnumba.model_files.values import Reader, Writer

_SHOWN = [getattr(criteria, name) for name in criteria.__all__]
_CRITERIA = {cls.__name__: cls for cls in _SHOWN if isinstance(cls, type)}
_PRUNERS = {cls.__name__: cls for cls in PRUNERS.values() if cls.__module__.startswith("dtnumba.")}
_DRAWS = {name: getattr(bootstrap_rows, name) for name in ("Bootstrap", "WeightedBootstrap", "Subset", "Everything")}
_DRAWS |= {name: getattr(row_draws, name) for name in ("ByRow", "WeightedByRow")}
_GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")


def _dump_view(view: Any, writer: Writer, name: str) -> dict[str, Any]:
    kind, n_classes = "TreeView" if isinstance(view, TreeView) else "ForestView", view.n_classes.tolist()
    trees, importances = dump_trees(view.trees, writer, name, n_classes), view._importances  # noqa: SLF001
    said = {"object": kind, "n_features": int(view.n_features), "n_classes": n_classes}
    return said | {"trees": trees, "importances": writer.value(f"{name}.importances", importances)}


def _load_view(said: dict[str, Any], reader: Reader) -> Any:
    n_features, n_classes = said["n_features"], said["n_classes"]
    legal = is_count(n_features) and 0 < n_features < 1 << 31 and isinstance(n_classes, list) and len(n_classes) > 0
    legal = legal and all(is_count(k) and 0 < k < 1 << 31 for k in n_classes)
    reader.demand(legal and isinstance(said["trees"], dict), "its trees have no columns or no outputs")
    stored = StoredTrees(said["trees"], reader, n_features, n_classes)
    is_one, importances = said["object"] == "TreeView", reader.value(said["importances"])
    reader.demand(not is_one or stored.n_trees == 1, "its tree is several")
    each = () if importances is None else (importances,) if is_one else importances
    fits = isinstance(each, tuple) and all(_is_real(one, (n_features,)) for one in each)
    reader.demand(fits and (is_one or len(each) in {0, 2}), "its importances are not of its columns")
    return (StoredTree if is_one else StoredForest)(stored, importances)


def _is_real(array: Any, shape: tuple[int, ...]) -> bool:
    return isinstance(array, np.ndarray) and array.dtype == np.float64 and array.shape == shape


_TEST_TYPES: dict[str, Any] = {
    "feature": np.int32,
    "kind": np.uint8,
    "low": np.float64,
    "high": np.float64,
    "missing": np.uint8,
    "word_start": np.int64,
    "word": np.uint64,
}
_RULE_TYPES = {"covered": np.float64, "correct": np.float64, "confidence": np.float64, "lift": np.float64}


def _dump_rules(given: RuleList, writer: Writer, name: str) -> dict[str, Any]:
    names, levels, n_features = given._given  # noqa: SLF001
    rules = given.arrays
    said: dict[str, Any] = {"object": "RuleList", "default": int(rules.default), "n_features": int(n_features)}
    said["tests"] = {part: writer.column(f"{name}.{part}", getattr(rules.tests, part)) for part in _TEST_TYPES}
    said |= {part: writer.column(f"{name}.{part}", getattr(rules, part)) for part in ("start", "label", *_RULE_TYPES)}
    said |= {part: writer.value(f"{name}.{part}", getattr(rules, part)) for part in ("decided", "prior")}
    cuts_at = rules.cuts_at.bits if isinstance(rules.cuts_at, AtFloats) else None
    said |= {"cuts_at": writer.value(name, cuts_at), "names": writer.value(f"{name}.names", names)}
    if isinstance(rules.linear, LinearTests):
        said["linear"] = dump_sums(rules.linear, writer, name)
    listed = None if levels is None else list(levels)
    said |= {"levels": writer.value(f"{name}.levels", listed), "tuple_of_levels": isinstance(levels, tuple)}
    return said | {"classes": writer.value(f"{name}.classes", given.classes)}


def _load_rules(said: dict[str, Any], reader: Reader) -> RuleList:
    tests = {part: reader.column(said["tests"].get(part), dtype, (None,)) for part, dtype in _TEST_TYPES.items()}
    bits = reader.value(said["cuts_at"])
    rules = Rules(
        start=reader.column(said["start"], np.int64, (None,)),
        tests=Conditions(**tests, cuts_at=BETWEEN_VALUES if bits is None else AtFloats(bits)),
        label=reader.column(said["label"], np.int32, (None,)),
        **{part: reader.column(said[part], dtype, (None,)) for part, dtype in _RULE_TYPES.items()},
        decided=reader.value(said["decided"]),
        prior=reader.value(said["prior"]),
        default=said["default"],
        linear=load_sums(said["linear"], reader) if "linear" in said else AXIS_TESTS,
    )
    asked = ("names", "levels", "n_features", "classes")
    names, levels, n_features, classes = (reader.value(said[part]) for part in asked)
    reader.demand(is_count(n_features) and n_features > 0 and is_count(rules.default), "its rules are about no columns")
    n_columns = n_features + n_sums_of(rules.linear)
    each = bits if isinstance(bits, tuple) and len(bits) == n_columns else [64 if bits is None else bits]
    reader.demand(all(type(one) is int and one in {16, 32, 64} for one in each), "its bounds are of no known floats")
    k = len(rules.prior)
    fits: Any = _is_real(rules.prior, (k,)) and _is_real(rules.decided, (rules.n_rules + 1, k))
    fits = fits and np.isfinite(rules.decided).all() and isinstance(classes, np.ndarray) and classes.shape == (k,)
    reader.demand(fits, "its rules are of other classes than it has")
    starts = rules.tests.word_start
    fits = len(starts) == len(rules.tests.feature) + 1 and starts[0] == 0 and (np.diff(starts) >= 0).all()
    reader.demand(fits, "the levels of its rules do not begin and end where they should")
    known = [None] * n_features if levels is None else levels
    reader.demand(isinstance(known, list) and len(known) == n_features, "its levels are not of its columns")
    reader.demand(names is None or len(names) == n_features, "its names are not of its columns")
    n_words = np.diff(starts)
    for t in np.flatnonzero(rules.tests.kind == LEVELS):
        one = known[rules.tests.feature[t]] if 0 <= rules.tests.feature[t] < n_features else None
        n_levels = 64 if one is None else len(one)
        reader.demand(n_words[t] <= n_levels // 64 + 1, "a rule names levels that its column has not got")
    return RuleList(rules, names, tuple(known) if said["tuple_of_levels"] and levels else levels, classes, n_features)


def _dump_fields(value: Any, writer: Writer, name: str) -> dict[str, Any]:
    """Return a NamedTuple as its fields."""
    return {"object": type(value).__name__} | {
        part: writer.value(f"{name}.{part}", getattr(value, part)) for part in value._fields
    }


def _load_test(said: dict[str, Any], reader: Reader) -> PredictorTest:
    return PredictorTest(**{part: reader.value(said[part]) for part in PredictorTest._fields})


def _load_hinges(said: dict[str, Any], reader: Reader) -> Hinges:
    found = Hinges(**{part: reader.value(said[part]) for part in Hinges._fields})
    reader.demand(all(isinstance(column, np.ndarray) for column in found), "its terms are no columns")
    try:
        return check_hinges(found, len(found.fill))
    except ValueError as error:
        reader.demand(False, str(error))
        raise


def _load_splines(said: dict[str, Any], reader: Reader) -> Splines:
    hinges, coefficients = reader.value(said["hinges"]), reader.value(said["coefficients"])
    reader.demand(isinstance(hinges, Hinges) and isinstance(coefficients, np.ndarray), "its splines have no terms")
    fits = coefficients.ndim == 2 and _is_real(coefficients, (hinges.n_terms, coefficients.shape[1]))
    reader.demand(fits and coefficients.shape[1] > 0, "its coefficients are not of its terms")
    return Splines(hinges, np.ascontiguousarray(coefficients))


def _load_path(said: dict[str, Any], reader: Reader) -> SplinePath:
    rss, gcv, terms = (reader.value(said[part]) for part in SplinePath._fields)
    fits = isinstance(rss, np.ndarray) and rss.ndim == 1 and isinstance(terms, list) and len(terms) == len(rss)
    reader.demand(fits and _is_real(rss, rss.shape) and _is_real(gcv, rss.shape), "its path has no sizes")
    for k, some in enumerate(terms):
        legal = isinstance(some, np.ndarray) and some.dtype == np.int64 and some.shape == (k + 1,)
        reader.demand(legal and bool((some >= 0).all() and (some < len(rss)).all()), "its path has other terms")
    return SplinePath(rss, gcv, terms)


def _load_importances(said: dict[str, Any], reader: Reader) -> Importances:
    found = Importances(**{part: reader.value(said[part]) for part in Importances._fields})
    legal = isinstance(found.kind, str) and is_count(found.n_trees) and is_count(found.n_measured)
    legal = legal and isinstance(found.mean, np.ndarray) and _is_real(found.mean, (len(found.mean),))
    reader.demand(legal and _is_real(found.squares, found.mean.shape), "its importances are none")
    return found


def _dump_drawing(value: Drawing, writer: Writer, name: str) -> dict[str, Any]:
    sampling = value.sampling
    parts = {part: writer.value(f"{name}.{part}", getattr(sampling, part)) for part in sampling._fields}
    said = {"object": "Drawing", "way": type(sampling).__name__, "parts": parts}
    return said | {"n_rows": int(value.n_rows), "whole": bool(value.whole)}


def _load_drawing(said: dict[str, Any], reader: Reader) -> Drawing:
    way, n_rows, whole = _DRAWS[said["way"]], said["n_rows"], said["whole"]
    parts = {part: reader.value(said["parts"][part]) for part in way._fields}
    reader.demand(is_count(n_rows) and 0 < n_rows < 1 << 40 and type(whole) is bool, "its rows were drawn of none")
    reader.demand(is_count(int(parts["n_draws"])), "its rows were drawn in no known way")
    kept: Any = parts.get("kept")
    up_to = parts.get("up_to")
    legal = kept is None or (kept.dtype == np.uint32 and kept.ndim == 1 and (whole or (kept < n_rows).all()))
    legal = legal and (kept is None or whole or len(kept) > 0)
    legal = legal and (up_to is None or _is_real(up_to, (n_rows if whole else len(kept),)))
    legal = legal and ("keys" not in parts or (parts["keys"].dtype == np.uint64 and parts["keys"].ndim == 1))
    k = n_rows if whole or kept is None else len(kept)
    own = [parts[part] for part in ("means", "none") if part in parts]
    legal = legal and all(_is_real(part, (k,)) and bool((part >= 0.0).all()) for part in own)
    legal = legal and (not own or float(own[0].max()) <= row_draws.MOST_MEAN)
    given = parts.get("row_keys")
    legal = legal and (given is None or (given.dtype == np.uint64 and given.shape == (k,)))
    legal = legal and ("chances" not in parts or _is_real(parts["chances"], (len(parts["chances"]),)))
    reader.demand(legal, "its rows were drawn in no known way")
    return Drawing(way(**parts), n_rows, whole)


def _load_held(said: dict[str, Any], reader: Reader) -> RowsKept:
    legal: Any
    found = RowsKept(**{part: reader.value(said[part]) for part in RowsKept._fields})
    values, outcome, weight, nominal, bits = found
    legal = all(isinstance(part, np.ndarray) and part.ndim == 2 for part in (values, outcome))
    legal = legal and values.dtype in (np.float32, np.float64) and outcome.dtype in (np.uint8, np.int32, np.float64)
    legal = legal and len(values) > 0 and bool(np.isfinite(outcome).all())
    legal = legal and bool(outcome.dtype == np.float64 or outcome.min() >= 0)
    is_weight = weight is None or (_is_real(weight, (len(values),)) and np.isfinite(weight).all() and weight.min() >= 0)
    is_mask = nominal is None or (isinstance(nominal, np.ndarray) and nominal.dtype == bool)
    each = bits if isinstance(bits, tuple) and len(bits) == values.shape[1] else (bits,)
    legal = legal and bool(is_weight) and is_mask and all(type(one) is int and one in {16, 32, 64} for one in each)
    reader.demand(legal and (nominal is None or nominal.shape == values.shape[1:]), "the rows that it holds are none")
    return found


def _dump_rule(rule: LeastCost, writer: Writer, name: str) -> dict[str, Any]:
    return {"object": "LeastCost", "costs": writer.value(f"{name}.costs", rule.costs)}


def _load_rule(said: dict[str, Any], reader: Reader) -> LeastCost:
    costs = reader.value(said["costs"])
    square = isinstance(costs, np.ndarray) and costs.ndim == 2 and _is_real(costs, (len(costs), len(costs)))
    reader.demand(square and np.isfinite(costs).all(), "its costs are no square of numbers")
    return LeastCost(costs)


def _dump_criterion(value: Any, writer: Writer, name: str) -> dict[str, Any]:
    return {"object": "criterion", "name": type(value).__name__, "fields": writer.value(name, tuple(value))}


def _load_criterion(said: dict[str, Any], reader: Reader) -> Any:
    return _CRITERIA[said["name"]](*reader.value(said["fields"]))


def _dump_class(value: type, writer: Writer, name: str) -> dict[str, Any]:
    if _CRITERIA.get(value.__name__) is not value:
        raise NotStoredError(f"{value.__module__}.{value.__qualname__}")
    return {"object": "criterion class", "name": value.__name__}


def _load_class(said: dict[str, Any], reader: Reader) -> Any:
    return _CRITERIA[said["name"]]


def _dump_pruner(value: Any, writer: Writer, name: str) -> dict[str, Any]:
    parts = {one.name: writer.value(f"{name}.{one.name}", getattr(value, one.name)) for one in fields(value)}
    return {"object": "pruner", "name": type(value).__name__, "fields": parts}


def _load_pruner(said: dict[str, Any], reader: Reader) -> Any:
    return _PRUNERS[said["name"]](**{name: reader.value(one) for name, one in said["fields"].items()})


def _dump_generator(value: Any, writer: Writer, name: str) -> dict[str, Any]:
    old = isinstance(value, np.random.RandomState)
    state = value.get_state(legacy=False) if old else value.bit_generator.state
    if state["bit_generator"] not in _GENERATORS:
        raise NotStoredError(f"a generator of numbers by {state['bit_generator']}")
    return {"object": type(value).__name__, "state": writer.value(f"{name}.state", state)}


def _load_generator(said: dict[str, Any], reader: Reader) -> Any:
    state = reader.value(said["state"])
    places = [state["state"].get("pos", 0), state.get("buffer_pos", 0)]  # NumPy reads there without a look
    within = all(type(place) is int and 0 <= place <= most for place, most in zip(places, (624, 4), strict=True))
    reader.demand(within, "its generator of numbers is not known")
    if said["object"] == "RandomState":
        made = np.random.RandomState()
        made.set_state(state)
        return made
    reader.demand(state["bit_generator"] in _GENERATORS, "its generator of numbers is not known")
    bits = getattr(np.random, state["bit_generator"])()
    bits.state = state
    return np.random.Generator(bits)


DUMPS: dict[type, Any] = {
    TreeView: _dump_view,
    ForestView: _dump_view,
    StoredTree: _dump_view,
    StoredForest: _dump_view,
    RuleList: _dump_rules,
    PredictorTest: _dump_fields,
    Hinges: _dump_fields,
    Splines: _dump_fields,
    SplinePath: _dump_fields,
    Importances: _dump_fields,
    Drawing: _dump_drawing,
    RowsKept: _dump_fields,
    LeastCost: _dump_rule,
    type: _dump_class,
    np.random.RandomState: _dump_generator,
    np.random.Generator: _dump_generator,
    **dict.fromkeys(_CRITERIA.values(), _dump_criterion),
    **dict.fromkeys(_PRUNERS.values(), _dump_pruner),
}
LOADS: dict[str, Any] = {
    "TreeView": _load_view,
    "ForestView": _load_view,
    "RuleList": _load_rules,
    "PredictorTest": _load_test,
    "Hinges": _load_hinges,
    "Splines": _load_splines,
    "SplinePath": _load_path,
    "Importances": _load_importances,
    "Drawing": _load_drawing,
    "RowsKept": _load_held,
    "LeastCost": _load_rule,
    "criterion": _load_criterion,
    "criterion class": _load_class,
    "pruner": _load_pruner,
    "RandomState": _load_generator,
    "Generator": _load_generator,
}
