"""Fit one forest with every library that is here, in turns, and hold dtnumba's time against each."""

import math
import sys
from functools import partial
from importlib.util import find_spec
from typing import NamedTuple

import forests
from elsewhere import Elsewhere
from measure import demand_alike, faster, in_turns

WARM_ROWS = 2_000  # what a peer does at its first fit alone, it does on these


class Goal(NamedTuple):
    """A peer, how much faster ours must be (None: no target), and how far apart the answers may lie."""

    peer: str  # a class of forests.py
    at_least: float | None
    repeats: int
    score: float = 0.01  # that ours may be behind, of accuracy or R2
    leaves: float | None = 0.1  # share


def meet(options, goals, shape):
    """Return (goal, forest) of every peer that is here; say which ones are left out."""
    found = []
    for goal in goals:
        if goal.peer == "OneDal":
            peer = options.onedal and Elsewhere(options.onedal, goal.peer, shape)
        else:
            library = "ydf" if goal.peer.startswith("Ydf") else "sklearn"
            peer = find_spec(library) and getattr(forests, goal.peer)(shape)
        if peer:
            found.append((goal, peer))
        else:
            print(f"{getattr(forests, goal.peer).name} is not here: its rows are left out", file=sys.stderr, flush=True)
    return found


def fit_rows(options, job, tables, shape, goals):
    """Return a row for each peer."""
    X, y, *test = tables
    ours, peers = forests.Ours(shape), meet(options, goals, shape)
    ours.fit((X, y))
    for _, peer in peers:
        peer.fit(peer.table(X[:WARM_ROWS], y[:WARM_ROWS]))
    calls = {one.name: partial(one.fit, one.table(X, y)) for one in (ours, *(peer for _, peer in peers))}
    repeats = {ours.name: options.repeats} | {peer.name: min(goal.repeats, options.repeats) for goal, peer in peers}
    times, rows = in_turns(calls, repeats), []
    for goal, peer in peers:
        limits = {"leaves": goal.leaves, "score": goal.score, "better": math.inf}
        checked = demand_alike(ours, peer, test, len(X), **limits)
        name = f"{job} {len(X):,}, {shape.n_trees} trees, peer {peer.name}"
        rows.append(faster(options, name, times[peer.name], times[ours.name], goal.at_least, checked))
    return rows
