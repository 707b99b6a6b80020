"""Trees as columns of a file, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.tables.floats import BETWEEN_VALUES, AtFloats
from dtnumba.trees.check import check
from dtnumba.trees.layout import BY_SURROGATE, Surrogates, Trees
from dtnumba.trees.sparse_rows import SparseValues

if TYPE_CHECKING:
    from dtnumba.model_files.values import Reader, Writer

# The types of the columns, and of those that are ragged or have an entry for something else than a node.
_TYPES: dict[str, Any] = {
    "root": np.int64,
    "feature": np.int32,
    "threshold": np.float64,
    "left": np.int32,
    "right": np.int32,
    "missing_left": np.uint8,
    "branch_start": np.int64,
    "branch": np.int32,
    "cut_start": np.int64,
    "cut": np.float64,
    "n_samples": np.int64,
    "weight": np.float64,
    "impurity": np.float64,
    "gain": np.float64,
    "value_row": np.uint32,
    "level_start": np.int64,
    "level": np.int32,
    "share": np.float64,
}
# The types that columns of some trees have, to save memory.
_NARROW: dict[str, Any] = {"feature": np.int16, "n_samples": np.int32}
_OF_SURROGATES: dict[str, Any] = {
    "start": np.int64,
    "feature": np.int32,
    "threshold": np.float64,
    "below_left": np.uint8,
    "branch_start": np.int64,
    "branch": np.int32,
    "agreement": np.float64,
    "adjusted": np.float64,
}
_SPARSE: dict[str, Any] = {"start": np.int64, "column": np.int32, "number": np.float64}


def dump_trees(trees: Trees, writer: Writer, name: str) -> dict[str, Any]:
    """Return Trees as the header says them, their columns stored."""
    said: dict[str, Any] = {"object": "Trees", "policy": int(trees.policy), "cuts_at": None}
    for column in _TYPES:
        said[column] = writer.column(f"{name}.{column}", getattr(trees, column))
    value: Any = trees.value
    if isinstance(value, SparseValues):
        parts = {part: writer.column(f"{name}.value.{part}", getattr(value, part)) for part in _SPARSE}
        said["sparse_value"] = parts | {"width": int(value.width)}
    else:
        said["value"] = writer.column(f"{name}.value", value)
    if len(trees.surrogates.start) > 1:
        said["surrogates"] = {
            part: writer.column(f"{name}.surrogates.{part}", getattr(trees.surrogates, part)) for part in _OF_SURROGATES
        }
    if isinstance(trees.cuts_at, AtFloats):
        said["cuts_at"] = writer.value(f"{name}.cuts_at", trees.cuts_at.bits)
    said["narrow"] = [column for column, dtype in _NARROW.items() if getattr(trees, column).dtype == dtype]
    return said


def load_trees(said: dict[str, Any], reader: Reader, n_features: int, width: int) -> Trees:
    """Return Trees of a file that keep every invariant of the layout, over so many columns and with so wide values."""
    narrow = said.get("narrow")
    legal = isinstance(narrow, list) and all(isinstance(one, str) and one in _NARROW for one in narrow)
    reader.demand(legal, "its columns are of no known types")
    types = _TYPES | {one: _NARROW[one] for one in narrow or ()}
    columns: dict[str, Any] = {name: reader.column(said.get(name), dtype, (None,)) for name, dtype in types.items()}
    columns["value"] = _values(said, reader, width)
    given = said.get("surrogates")
    if given is not None:
        reader.demand(isinstance(given, dict), "its surrogates are none")
        own = {part: reader.column(given.get(part), dtype, (None,)) for part, dtype in _OF_SURROGATES.items()}
        columns["surrogates"] = _checked(Surrogates(**own), reader, len(columns["feature"]), n_features)
    columns["cuts_at"] = _cuts_at(reader.value(said.get("cuts_at")), reader, n_features)
    policy: Any = said.get("policy")
    reader.demand(type(policy) is int, "the policy of its missing values is not known")
    trees = Trees(**columns, policy=policy)
    reader.demand(trees.n_trees > 0, "it has no tree")
    check(trees, n_features)
    return trees


def _values(said: dict[str, Any], reader: Reader, width: int) -> Any:
    sparse = said.get("sparse_value")
    if sparse is None:
        value = reader.column(said.get("value"), np.float64, (None, width))
        reader.demand(np.isfinite(value).all(), "its values must be finite numbers")
        return value
    reader.demand(isinstance(sparse, dict) and sparse.get("width") == width, "its values are of other classes")
    start, column, number = (reader.column(sparse.get(part), dtype, (None,)) for part, dtype in _SPARSE.items())
    fits = len(start) > 0 and start[0] == 0 and start[-1] == len(column) == len(number) and (np.diff(start) >= 0).all()
    reader.demand(fits, "its values do not begin and end where they should")
    reader.demand(((column >= 0) & (column < width)).all() and np.isfinite(number).all(), "its values are no shares")
    return SparseValues(start, column, number, width)


def _checked(own: Surrogates, reader: Reader, n_nodes: int, n_features: int) -> Surrogates:
    fits = len(own.start) == n_nodes + 1 and own.start[0] == 0 and (np.diff(own.start) >= 0).all()
    fits = fits and all(len(getattr(own, part)) == len(own.feature) for part in BY_SURROGATE)
    fits = fits and len(own.branch_start) == len(own.feature) + 1 and own.branch_start[0] == 0
    reader.demand(fits, "its surrogates do not belong to its nodes")
    reader.demand(((own.feature >= 0) & (own.feature < n_features)).all(), "its surrogates test columns it has not got")
    return own


def _cuts_at(bits: Any, reader: Reader, n_features: int) -> Any:
    if bits is None:
        return BETWEEN_VALUES
    each = bits if isinstance(bits, tuple) and len(bits) == n_features else [bits]
    reader.demand(all(type(one) is int and one in {16, 32, 64} for one in each), "its cuts are of no known floats")
    return AtFloats(bits)
