"""The tree of a stream as plain arrays and numbers, and whether such are one: a file may lie."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.growth.hoeffding import stream as st
from dtnumba.growth.hoeffding.drift import N_LOSSES, Windows
from dtnumba.growth.hoeffding.stream_tree import DEEPEST, WAYS, StreamOptions, StreamTree

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NODES, _SEEN = ("link", "number", "sums"), ("n_points", "point", "mass", "moments", "level_mass", "owner")
_OTHERS = ("used", "slots", "windows", "n_levels", "n_classes", "drifts", "n_seen", "n_nodes", "n_slots", "options")
_KEYS = {*_NODES, *_SEEN, *_OTHERS}
_DRIFTS = ("ignored", "shown", "handled")


def stored(tree: StreamTree) -> dict[str, Any]:
    """Return a tree as arrays, lists and numbers, of which ``of_stored`` makes it again."""
    state = tree.__getstate__()
    names = ("used", "slots", "windows")
    said: dict[str, Any] = state["parts"] | {name: state[name] for name in names}
    said |= {"n_levels": tree.n_levels, "n_classes": int(tree.n_classes), "options": dict(tree.options._asdict())}
    said |= {"drifts": np.array(tree.drifts, np.int64), "n_seen": int(tree.n_seen)}
    n_nodes, n_slots = state["sizes"]
    return said | {"n_nodes": int(n_nodes), "n_slots": int(n_slots)}


def of_stored(said: dict[str, Any], criterion: Any) -> StreamTree:
    """Return the tree that ``stored`` says."""
    tree = StreamTree.__new__(StreamTree)
    own = {name: said[name] for name in ("n_levels", "n_classes", "n_seen")}
    own |= {"options": StreamOptions(**said["options"]), "criterion": criterion, "drifts": said["drifts"].tolist()}
    parts = {name: said[name] for name in (*_NODES, *_SEEN)}
    rest = {name: said[name] for name in ("slots", "windows", "used")}
    tree.__setstate__({"own": own, "parts": parts, "sizes": (said["n_nodes"], said["n_slots"])} | rest)
    return tree


def is_stream(said: Any, n_levels: NDArray[np.int64], n_classes: int) -> bool:
    """Tell whether something is what ``stored`` says of a tree of such columns and classes."""
    if not isinstance(said, dict) or set(said) != _KEYS or not _are_options(said["options"]):
        return False
    options, link, slots = StreamOptions(**said["options"]), said["link"], said["slots"]
    fits = _is(said["n_levels"], np.int64, (len(n_levels),)) and bool((said["n_levels"] == n_levels).all())
    if not fits or type(said["n_classes"]) is not int or said["n_classes"] != n_classes:
        return False
    m, k, n_sums = len(link), len(slots), n_classes or 3
    q, depth = int((n_levels == 0).sum()), min(options.max_depth, DEEPEST)
    shapes = {
        "link": (np.int32, (m, st.N_STREAM_LINKS)),
        "number": (np.float64, (m, st.N_STREAM_NUMBERS)),
        "sums": (np.float64, (m, n_sums)),
        "n_points": (np.int32, (k, q)),
        "point": (np.float64, (k, q, st.N_POINTS)),
        "mass": (np.float64, (k, q, st.N_POINTS, n_sums)),
        "moments": (np.float64, (k, q, n_classes, 3)),
        "level_mass": (np.float64, (k, int(n_levels.sum()), n_sums)),
        "owner": (np.int32, (k,)),
        "slots": (np.int64, (k,)),
        "used": (np.int64, (8,)),
    }
    if not all(_is(said[name], *shape) for name, shape in shapes.items()):
        return False
    sizes = [said[name] for name in ("n_nodes", "n_slots", "n_seen")]
    if not all(type(size) is int and 0 <= size < 1 << 62 for size in sizes):
        return False
    n_slots = StreamTree.most_slots(options, n_levels, n_classes)
    most = max(256, 3 * m + max(2, int(n_levels.max(initial=0))) * (DEEPEST + 2))
    if not (1 <= m <= said["n_nodes"] <= most and said["n_slots"] == n_slots and k <= n_slots):
        return False
    drifts = said["drifts"]
    if not isinstance(drifts, np.ndarray) or drifts.dtype != np.int64 or drifts.ndim != 1:
        return False
    rises = bool((np.diff(drifts) > 0).all()) and (len(drifts) == 0 or 0 <= drifts[0] <= drifts[-1] < said["n_seen"])
    finite = all(bool(np.isfinite(said[name]).all()) for name in ("sums", "level_mass"))
    fits = rises and finite and bool(((said["n_points"] >= 0) & (said["n_points"] <= st.N_POINTS)).all())
    fits = fits and _is_tree(said, n_levels, depth) and _are_slots(said, n_slots)
    return fits and _are_windows(said["windows"], {"ignored": 0, "shown": 1, "handled": k + 1}[options.drift])


def _is(value: Any, dtype: Any, shape: tuple[int, ...]) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == dtype and value.shape == shape


def _are_options(given: Any) -> bool:
    if not isinstance(given, dict) or set(given) != set(StreamOptions._fields):
        return False
    is_legal: dict[str, Any] = {
        "delta": lambda value: type(value) is float and 0.0 < value < 1.0,
        "tie_threshold": lambda value: type(value) is float and 0.0 <= value <= 1.0,
        "grace_period": lambda value: type(value) is float and value >= 1.0,
        "reconsider": lambda value: type(value) is bool,
        "max_depth": lambda value: type(value) is int and value >= 1,
        "answers": lambda value: isinstance(value, str) and value in WAYS,
        "drift": lambda value: isinstance(value, str) and value in _DRIFTS,
        "max_bytes": lambda value: type(value) is int and 1 << 12 <= value <= 1 << 40,
    }
    return all(holds(given[name]) for name, holds in is_legal.items())


def _is_tree(said: dict[str, Any], n_levels: NDArray[np.int64], depth: int) -> bool:
    """Tell whether nodes lead to nodes behind them, each from one at most, by tests of the columns."""
    link, m = said["link"].astype(np.int64), len(said["link"])
    feature, left, n_branches = (link[:, at] for at in (st.FEATURE, st.LEFT, st.N_BRANCHES))
    inner = np.flatnonzero(feature >= 0)
    column, k = feature[inner], n_branches[inner]
    if (column >= len(n_levels)).any() or link[0, st.STREAM_DEPTH] != 0 or said["used"][st.NEXT_NODE] != m:
        return False
    n = n_levels[column]
    is_test = np.where(n == 0, k == 2, (k >= 1) & (k <= n))
    missing = link[inner, st.MISSING_BRANCH]
    is_test &= (left[inner] > inner) & (left[inner] + k <= m) & (missing >= 0) & (missing < k)
    if not is_test.all():
        return False
    child = np.repeat(left[inner] - np.cumsum(k) + k, k) + np.arange(int(k.sum()))
    if len(np.unique(child)) != len(child):
        return False
    # Nodes that nobody leads to any more may say what they like of how deep they were.
    is_reached, parent = np.zeros(m, bool), np.full(m, -1)
    parent[child], is_reached[0] = np.repeat(inner, k), True
    for node in np.sort(child):
        is_reached[node] = is_reached[parent[node]]
    deep = link[:, st.STREAM_DEPTH]
    own = child[is_reached[child]]
    return bool((deep[own] == deep[parent[own]] + 1).all() and (deep[own] <= depth).all())


def _are_slots(said: dict[str, Any], n_slots: int) -> bool:
    """Tell whether nodes and what they saw name each other, and the rest of the slots is free."""
    slots, owner, at = said["slots"], said["owner"], said["link"][:, st.SEEN_AT]
    k = len(slots)
    if k and (slots[0] < 0 or slots[-1] >= n_slots or (np.diff(slots) <= 0).any()):
        return False
    if ((owner < 0) | (owner >= len(at))).any() or said["used"][st.N_FREE] != n_slots - k:
        return False
    return bool((said["used"] >= 0).all() and (at[owner] == slots).all() and np.count_nonzero(at >= 0) == k)


def _are_windows(windows: Any, n: int) -> bool:
    """Tell whether windows count as many losses as their buckets hold."""
    one: Any = Windows.new(1)
    if not isinstance(windows, list) or len(windows) != len(one):
        return False
    if not all(_is(part, new.dtype, (n, *new.shape[1:])) for part, new in zip(windows, one, strict=True)):
        return False
    own = Windows(*windows)
    if not (np.isfinite(own.total).all() and np.isfinite(own.sums).all()):
        return False
    counts = own.n_buckets.astype(np.float64)
    held = counts @ 2.0 ** np.arange(counts.shape[1])
    legal = ((own.n_buckets >= 0) & (own.n_buckets < own.sums.shape[2])).all()
    return bool(legal and (held == own.total[:, N_LOSSES]).all() and (own.total >= -1e300).all())
