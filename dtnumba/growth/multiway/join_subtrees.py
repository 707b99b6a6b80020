# mypy: ignore-errors
"""Subtrees that were grown by themselves, put into the tree that they were left out of."""

import numpy as np

from dtnumba.growth.multiway import columns as col


def cut_to_size(grown):
    """Return a tree without what only its growth needs, and without the room that it did not take; no view keeps it."""
    m, k, b, v, s = (int(grown.state[c]) for c in _USED)
    cut = {name: getattr(grown, name)[:m].copy() for name in ("nodes", "numbers", "sums", "value")}
    return grown._replace(
        **cut,
        keys=grown.keys[:0].copy(),
        measure=grown.measure[:0].copy(),
        frontier=grown.frontier[:0].copy(),
        row=grown.row[:0].copy(),
        weight=grown.weight[:0].copy(),
        part=grown.part[:0].copy(),
        outcome=grown.outcome[:0].copy(),
        orders=grown.orders[:0].copy(),
        cuts=grown.cuts[:k].copy(),
        branch=grown.branch[:b].copy(),
        level=grown.level[:v].copy(),
        surrogates=grown.surrogates[:s].copy(),
        agreements=grown.agreements[:s].copy(),
    )


_USED = (col.N_NODES, col.CUTS_USED, col.BRANCHES_USED, col.LEVELS_USED, col.SURROGATES_USED)


def joined_subtrees(top, pieces):
    """Return a tree with its subtrees in place."""
    top = cut_to_size(top)
    parts = {name: [getattr(top, name)] for name in _JOINED}
    used = {name: len(getattr(top, name)) for name in _JOINED}
    for node, piece in sorted(pieces, key=lambda one: one[0]):
        nodes, surrogates, first = piece.nodes, piece.surrogates, used["nodes"]
        # The root takes the place it was left out at, and the others follow behind all that stands.
        has_children = nodes[:, col.LEFT] > 0
        nodes[has_children, col.LEFT] += first - 1
        parent = nodes[1:, col.PARENT]
        nodes[1:, col.PARENT] = np.where(parent == 0, node, parent + first - 1)
        nodes[0, col.PARENT] = top.nodes[node, col.PARENT]
        for column, name in ((col.CUT_AT, "cuts"), (col.BRANCH_AT, "branch"), (col.LEVEL_AT, "level")):
            nodes[:, column] += used[name]
        nodes[:, col.SURROGATE_AT] += used["surrogates"]
        surrogates[:, col.S_BRANCH_AT] += used["branch"]
        for name in ("nodes", "numbers", "sums", "value"):
            getattr(top, name)[node] = getattr(piece, name)[0]
        for name in _JOINED:
            own = getattr(piece, name)
            parts[name].append(own[1:] if name in _OF_NODES else own)
            used[name] += len(parts[name][-1])
    state = top.state.copy()
    state[col.N_NODES] = used["nodes"]
    return top._replace(state=state, **{name: np.concatenate(each) for name, each in parts.items()})


_OF_NODES = ("nodes", "numbers", "sums", "value")
_JOINED = (*_OF_NODES, "cuts", "branch", "level", "surrogates", "agreements")
