"""Decision graphs: trees whose branches join, laid out of nodes that name their children, or made of equal subtrees.

In ``GraphNodes`` every node stands once. In Trees, which ``laid_out`` makes of them, a node that several others lead to
stands beside the siblings of each (see ``layout``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.tables.floats import BETWEEN_VALUES, AtFloats, Between
from dtnumba.trees.assemble import ragged_of_rows
from dtnumba.trees.layout import BY_CHILD, LEAF, NO_JOINS, Trees, nodes_at
from dtnumba.trees.routing import ways_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


JOINING = "branches join there, and a tree's do not"  # why what is for trees refuses a graph
# Ragged columns, what a Question calls their entries, and their types.
_ENTRIES: tuple[tuple[str, str, Any], ...] = (
    ("cut", "cuts", np.float64),
    ("branch", "branch", np.int32),
    ("level", "levels", np.int32),
)


class Question(NamedTuple):
    """What a node asks: a threshold, levels that go to child 0, or a map of categories over ranges or of their own."""

    feature: int
    threshold: float
    missing: int  # ``missing_left`` of the layout
    levels: tuple[int, ...] = ()
    branch: tuple[int, ...] = ()
    cuts: tuple[float, ...] = ()


class GraphNodes(NamedTuple):
    """The nodes of a graph, each once, the root first."""

    tests: list[Question | None]  # None of leaves
    children: list[tuple[int, ...]]  # nodes
    value: NDArray[np.float64]  # (nodes, width)
    n_samples: NDArray[np.int64]
    weight: NDArray[np.float64]
    impurity: NDArray[np.float64]
    gain: NDArray[np.float64]
    # Rows and weight that each node sends to each of its children; None: what is known of the child, once.
    sent: list[tuple[tuple[int, ...], tuple[float, ...]]] | None = None
    cuts_at: Between | AtFloats = BETWEEN_VALUES


def laid_out(nodes: GraphNodes) -> Trees:
    """Return a graph in the layout of Trees, of those nodes that the root leads to.

    A node gets its number when the last of the nodes that lead to it is reached, first children first, so that the way
    a graph was made leaves no trace; the places of its joins are numbered before. A graph without joins is a tree in
    its canonical numbers.
    """
    waits = np.zeros(len(nodes.tests), np.int64)
    seen, waiting = {0}, [0]
    while waiting:
        for child in nodes.children[waiting.pop()]:
            waits[child] += 1
            if child not in seen:
                seen.add(child)
                waiting.append(child)
    order, parent, way, left, at = [0], [-1], [0], {}, {0: 0}
    waiting = [0]
    while waiting:
        node = waiting.pop()
        children = nodes.children[node]
        if not children:
            continue
        left[node], ready = len(order), []
        for k, child in enumerate(children):
            waits[child] -= 1
            if waits[child] == 0:
                at[child] = len(order)
                ready.append(child)
            order.append(child)
            parent.append(node)
            way.append(k)
        waiting += reversed(ready)
    assert len(at) == len(seen), "branches join, and never lead back"
    return _columns(nodes, np.array(order), parent, way, left, at)


def _columns(
    nodes: GraphNodes,
    order: NDArray[np.int64],
    parent: list[int],
    way: list[int],
    left: dict[int, int],
    at: dict[int, int],
) -> Trees:
    """Return the columns of the places, ``order`` being which node stands in each."""
    m, own = len(order), np.array([at[node] for node in order.tolist()])
    is_join = own != np.arange(m)
    tests = [nodes.tests[node] for node in order.tolist()]
    column = [LEAF if test is None else test.feature for test in tests]
    threshold = [np.nan if test is None else test.threshold for test in tests]
    missing = [0 if test is None else test.missing for test in tests]
    first = np.array([left.get(node, LEAF) for node in order.tolist()])
    fan = np.array([len(nodes.children[node]) for node in order.tolist()])
    n_samples, weight = nodes.n_samples[order].copy(), nodes.weight[order].copy()
    if nodes.sent is not None:
        for place in np.flatnonzero(is_join).tolist():
            rows, weights = nodes.sent[parent[place]]
            n_samples[place], weight[place] = rows[way[place]], weights[way[place]]
    ragged: dict[str, Any] = {}
    for name, part, dtype in _ENTRIES:
        rows_of = {i: getattr(test, part) for i, test in enumerate(tests) if test is not None and getattr(test, part)}
        ragged[f"{name}_start"], ragged[name] = ragged_of_rows(rows_of, m, dtype)
    return Trees(
        root=np.array([0, m], np.int64),
        feature=np.array(column, np.int32),
        threshold=np.array(threshold, np.float64),
        left=first.astype(np.int32),
        right=np.where(first == LEAF, LEAF, first + fan - 1).astype(np.int32),
        missing_left=np.array(missing, np.uint8),
        value=np.ascontiguousarray(nodes.value[order]),
        n_samples=n_samples,
        weight=weight,
        impurity=nodes.impurity[order],
        gain=np.where(is_join, 0.0, nodes.gain[order]),
        policy=BY_CHILD,
        cuts_at=nodes.cuts_at,
        join=np.where(is_join, own, -1).astype(np.int32) if is_join.any() else NO_JOINS,
        **ragged,
    )


def question_at(trees: Trees, node: int) -> Question:
    """Return what an inner node of the layout asks."""
    found = {}
    for name, part, _ in _ENTRIES:
        start = getattr(trees, f"{name}_start")
        found[part] = tuple(getattr(trees, name)[start[node] : start[node + 1]].tolist()) if len(start) > 1 else ()
    return Question(int(trees.feature[node]), float(trees.threshold[node]), int(trees.missing_left[node]), **found)


def ways_to(question: Question, x: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the number of the child that each of many values goes to, missing ones too."""
    parts: dict[str, Any] = {}
    for name, part, dtype in _ENTRIES:
        entries = getattr(question, part)
        parts[f"{name}_start"] = np.array([0, len(entries)]) if entries else np.zeros(1, np.int64)
        parts[name] = np.array(entries, dtype)
    leaf = Trees.of_leaves(1, 1)
    missing = np.array([question.missing], np.uint8)
    return np.asarray(
        ways_of(leaf._replace(threshold=np.array([question.threshold]), missing_left=missing, **parts), 0, x)
    )


def nodes_of(trees: Trees) -> GraphNodes:
    """Return the nodes of a tree or a graph, each once."""
    demand_one(trees)
    place = np.flatnonzero(trees.join < 0) if trees.is_graph else np.arange(trees.n_nodes)
    number = np.full(trees.n_nodes, -1)
    number[place] = np.arange(len(place))
    tests: list[Question | None] = []
    children: list[tuple[int, ...]] = []
    sent: list[tuple[tuple[int, ...], tuple[float, ...]]] = []
    into = nodes_at(trees, np.arange(trees.n_nodes))
    came_n, came = trees.n_samples.copy(), trees.weight.copy()
    joins = np.flatnonzero(trees.join >= 0) if trees.is_graph else np.zeros(0, np.int64)
    np.subtract.at(came_n, trees.join[joins], trees.n_samples[joins])
    np.subtract.at(came, trees.join[joins], trees.weight[joins])
    for node in place.tolist():
        own = slice(trees.left[node], trees.right[node] + 1)
        is_leaf = trees.feature[node] == LEAF
        tests.append(None if is_leaf else question_at(trees, node))
        children.append(() if is_leaf else tuple(number[into[own]].tolist()))
        sent.append(((), ()) if is_leaf else (tuple(came_n[own].tolist()), tuple(came[own].tolist())))
    names = ("value", "n_samples", "weight", "impurity", "gain")
    columns: dict[str, Any] = {name: np.asarray(getattr(trees, name)[place]) for name in names}
    return GraphNodes(tests, children, **columns, sent=sent, cuts_at=trees.cuts_at)


def may_join(trees: Trees) -> bool:
    """Tell whether a graph can be made of a tree: a row goes one way, and the nodes still hold their rows."""
    is_one_way = trees.policy == BY_CHILD and not len(trees.surrogates.feature) and not trees.may_stay
    return is_one_way and trees.n_trees == 1 and not trees.is_compact and not trees.has_sums


def demand_one(trees: Trees) -> None:
    """Raise ValueError where trees are not one whole tree of tests of one column each."""
    if trees.n_trees != 1:
        raise ValueError(f"a decision graph is made of one tree, and there are {trees.n_trees}")
    if trees.is_compact:
        raise ValueError("compact() dropped what a decision graph is made of; fit the model again, and leave it whole")
    if trees.has_sums:
        raise ValueError(
            "a decision graph tests one column at a node, and the tree has sums over several; fit it with max_terms=1"
        )


def demand_plain(trees: Trees) -> None:
    """Raise ValueError where trees have what a graph cannot hold."""
    demand_one(trees)
    if trees.policy != BY_CHILD or len(trees.surrogates.feature) or trees.may_stay:
        raise ValueError(
            "a decision graph sends a missing value to one child, and the tree sends it to several, by surrogates, or "
            "nowhere; fit it with missing='learned', 'branch' or 'majority'"
        )


def shared(trees: Trees) -> Trees:
    """Return the graph in which equal subtrees of a tree stand once: equal tests, and at leaves equal values.

    It predicts the same of every row. A test whose children are all one node goes. What stands once has the rows of all
    that it stands for.
    """
    demand_plain(trees)
    return laid_out(shared_nodes(nodes_of(trees)))


def shared_nodes(given: GraphNodes) -> GraphNodes:
    """Return the nodes of a graph in which one stands for all that are equal, with the rows of all of them."""
    m = len(given.tests)
    same, passes = np.arange(m), np.zeros(m, bool)
    known: dict[Any, int] = {}
    for node in range(m - 1, -1, -1):  # children first: they stand behind their parents
        test = given.tests[node]
        if test is None:
            key: Any = given.value[node].tobytes()
        else:
            children = tuple(same[list(given.children[node])].tolist())
            if len(set(children)) == 1:
                same[node], passes[node] = children[0], True
                continue
            key = test._replace(threshold=np.float64(test.threshold).tobytes()), children  # type: ignore[arg-type]
        same[node] = known.setdefault(key, node)
    return _regrouped(given, same, passes)


def _regrouped(given: GraphNodes, same: NDArray[np.int64], passes: NDArray[np.bool_]) -> GraphNodes:
    """Return the nodes in which ``same[node]`` stands for each; rows only pass through those that are left out."""
    m, counts = len(given.tests), ~passes
    number = np.full(m, -1)
    kept = np.unique(same)
    root = int(same[0])
    kept = np.concatenate([[root], kept[kept != root]])
    number[kept] = np.arange(len(kept))
    to = number[same[counts]]
    n_samples, weight = np.zeros(len(kept), np.int64), np.zeros(len(kept))
    np.add.at(n_samples, to, given.n_samples[counts])
    np.add.at(weight, to, given.weight[counts])
    columns = [given.value, given.impurity, given.gain]
    if len(kept) < m:
        stood_for = np.bincount(to, minlength=len(kept))
        several = (stood_for > 1) & (weight > 0) & np.array([given.tests[node] is not None for node in kept.tolist()])
        for k, column in enumerate(columns):
            sums = np.zeros((len(kept), *column.shape[1:]))
            np.add.at(sums, to, (column.T * given.weight).T[counts])
            columns[k] = column[kept].copy()
            columns[k][several] = (sums[several].T / weight[several]).T
    sent: list[Any] = [None] * len(kept)
    for node in np.flatnonzero(counts).tolist():
        children, at = given.children[node], int(number[same[node]])
        if given.sent is None:
            rows = tuple(int(given.n_samples[child]) for child in children)
            own = tuple(float(given.weight[child]) for child in children)
        else:
            rows, own = given.sent[node]
        if sent[at] is not None:
            before_rows, before = sent[at]
            rows = tuple(map(sum, zip(rows, before_rows, strict=True)))
            own = tuple(map(sum, zip(own, before, strict=True)))
        sent[at] = rows, own
    tests = [given.tests[node] for node in kept.tolist()]
    into = number[same]
    leads = [tuple(into[list(given.children[node])].tolist()) for node in kept.tolist()]
    return GraphNodes(tests, leads, columns[0], n_samples, weight, columns[1], columns[2], sent, given.cuts_at)


class Replication(NamedTuple):
    """How much of a tree says again what another part of it says."""

    n_nodes: int
    n_repeats: int  # subtrees of a test or more that stand elsewhere, too; those inside of one are not counted
    n_nodes_repeated: int  # nodes that sharing would save, leaves included
    n_rows_repeated: int  # rows that learned such a repeat apart from those of the first one
    weight_repeated: float
    largest: tuple[tuple[int, int], ...]  # of repeats: how often a subtree stands there, and its nodes; largest first


def replicated(model: Any) -> Replication:
    """Return how many subtrees of a fitted tree are repeats of others, and what they cost in nodes and rows.

    Parameters
    ----------
    model : fitted estimator
        Of one tree.

    """
    if not hasattr(model, "check_fitted") or not hasattr(type(model), "trees_"):
        raise TypeError(f"model={model!r}: must be a fitted estimator of one tree")
    return replication(model.check_fitted().trees_)


def replication(trees: Trees) -> Replication:
    """Return how many subtrees of a tree are repeats: equal tests, and leaves that say the same class, or number.

    Shares of classes are not compared: they differ where rows do.
    """
    given = nodes_of(trees)
    m = len(given.tests)
    said = given.value.argmax(axis=1) if given.value.shape[1] > 1 else None
    known: dict[Any, int] = {}
    same, size = np.zeros(m, np.int64), np.ones(m, np.int64)
    for node in range(m - 1, -1, -1):
        test = given.tests[node]
        if test is None:
            key: Any = given.value[node].tobytes() if said is None else int(said[node])
        else:
            children = list(given.children[node])
            size[node] += size[children].sum()
            key = test._replace(threshold=np.float64(test.threshold).tobytes()), tuple(same[children].tolist())  # type: ignore[arg-type]
        same[node] = known.setdefault(key, len(known))
    first, repeats, inside = {}, [], np.zeros(m, bool)
    for node in range(m):  # parents first
        if given.tests[node] is not None and not inside[node]:
            if int(same[node]) in first:
                repeats.append(node)
                inside[list(_below(given, node))] = True
            else:
                first[int(same[node])] = node
    times: dict[int, int] = {}
    for node in repeats:
        times[int(same[node])] = times.get(int(same[node]), 1) + 1
    found = ((n, int(size[first[key]])) for key, n in times.items())
    largest = sorted(found, key=lambda one: (-one[0] * one[1], -one[1]))
    return Replication(
        m,
        len(repeats),
        int(size[repeats].sum()),
        int(given.n_samples[repeats].sum()),
        float(given.weight[repeats].sum()),
        tuple(largest),
    )


def _below(given: GraphNodes, node: int) -> Iterator[int]:
    waiting = list(given.children[node])
    while waiting:
        one = waiting.pop()
        yield one
        waiting += given.children[one]


def rows_through(trees: Trees, values: NDArray[Any]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield each node of a tree or graph that rows reach, and the rows that do, ascending; parents before children.

    Parameters
    ----------
    trees : Trees
        Of one tree, with thresholds that rows are compared with as they are.
    values : array of shape (rows, columns)
        The rows.

    """
    waiting: dict[int, list[NDArray[np.int64]]] = {0: [np.arange(len(values))]}
    for node in range(trees.n_nodes):
        parts = waiting.pop(node, None)
        if parts is None:
            continue
        rows = parts[0] if len(parts) == 1 else np.sort(np.concatenate(parts))
        yield node, rows
        if trees.feature[node] == LEAF:
            continue
        way = ways_of(trees, node, values[rows, trees.feature[node]].astype(np.float64))
        for k in range(int(trees.right[node] - trees.left[node]) + 1):
            own = rows[way == k]
            if len(own):
                child = int(nodes_at(trees, np.array([trees.left[node] + k]))[0])
                waiting.setdefault(child, []).append(own)
