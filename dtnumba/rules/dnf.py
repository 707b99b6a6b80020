"""One class of a tree as an "or" of "and"s: short, and the same function.

Each test of the tree is a variable; of a number those of its cuts, "is x <= t". Variables of one column hang together
(x <= 1 is never true where x <= 2 is false), so a row has, for each column, one of few patterns.

Up to twelve variables the terms are fewest, and of so few the shortest: all prime implicants (Quine 1952), and of these
the cheapest cover. Beyond, the paths of the tree are widened until no test of a term can be left out, and then terms
are until none can. Which paths a region meets is found by the tests that paths share, as rows go down the tree; to ask
all paths about all others would take the square of their number.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dtnumba.rules.layout import LEVELS, OUTSIDE, Condition
from dtnumba.rules.prime_implicants import cheapest_cover, prime_implicants

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray


MOST_VARIABLES = 12
_A_TERM = 1000  # costs more than any number of tests
Literal = tuple[int, bool]  # number of a variable, and whether it holds
Range = tuple[int, int]  # of a column of numbers, places from the first to before the second
Places = int | Range  # of one of categories the bits of levels
Region = dict[int, Places]  # of some columns, the places where a row may lie


class Variable(NamedTuple):
    """A test of a tree: x <= cut of a number, or being one of some levels."""

    feature: int
    cut: float
    levels: tuple[int, ...] | None = None


class Space(NamedTuple):
    """All variables, and where rows can lie: a column of numbers between its cuts, one of categories at its levels."""

    variables: list[Variable]
    places: dict[int, int]  # of each column, how many
    holds: list[Places]  # of each variable, the places where it does

    def whole(self, j: int, kind: Places) -> Places:
        """Return all places of a column, in the form that its places have."""
        return (1 << self.places[j]) - 1 if isinstance(kind, int) else (0, self.places[j])

    def narrowed(self, places: Places | None, literal: Literal) -> Places:
        """Return those of some places of a column, or of all, where a literal about it holds."""
        v, sign = literal
        own = self.holds[v]
        places = self.whole(self.variables[v].feature, own) if places is None else places
        if isinstance(own, int):
            assert isinstance(places, int)
            return places & own if sign else places & ~own
        assert not isinstance(places, int)
        return (places[0], min(places[1], own[1])) if sign else (max(places[0], own[1]), places[1])

    def region(self, term: Sequence[Literal]) -> Region:
        """Return where a term holds."""
        found: Region = {}
        for literal in term:
            j = self.variables[literal[0]].feature
            found[j] = self.narrowed(found.get(j), literal)
        return found

    def within(self, inner: Region, outer: Region) -> bool:
        """Tell whether one region lies in another, and is somewhere at all."""
        return all(not any(map(_is_any, _beyond(inner.get(j, self.whole(j, own)), own))) for j, own in outer.items())

    def patterns(self) -> NDArray[np.bool_]:
        """Return every pattern of the variables that a row can have."""
        columns = sorted(self.places)
        own = []
        for j in columns:
            mine = [v for v, variable in enumerate(self.variables) if variable.feature == j]
            own.append(sorted({tuple((v, _holds_at(self.holds[v], k)) for v in mine) for k in range(self.places[j])}))
        found = np.zeros((int(np.prod([len(one) for one in own])), len(self.variables)), bool)
        for row, chosen in enumerate(itertools.product(*own)):
            for v, value in itertools.chain.from_iterable(chosen):
                found[row, v] = value
        return found


def _holds_at(places: Places, k: int) -> bool:
    return bool(places >> k & 1) if isinstance(places, int) else places[0] <= k < places[1]


def _is_any(places: Places) -> bool:
    return places != 0 if isinstance(places, int) else places[0] < places[1]


def _both(first: Places, second: Places) -> Places:
    if isinstance(first, int):
        assert isinstance(second, int)
        return first & second
    assert not isinstance(second, int)
    return max(first[0], second[0]), min(first[1], second[1])


def _beyond(first: Places, second: Places) -> list[Places]:
    """Return the places of one that are not among those of another, in one piece or two."""
    if isinstance(first, int):
        assert isinstance(second, int)
        return [first & ~second]
    assert not isinstance(second, int)
    return [(first[0], min(first[1], second[0])), (max(first[0], second[1]), first[1])]


def _meet(first: Region, second: Region) -> bool:
    return all(j not in second or _is_any(_both(own, second[j])) for j, own in first.items()) and all(
        map(_is_any, second.values())
    )


class Paths:
    """Terms by the literals that they begin with: those that a region meets are found without asking all of them.

    Parameters
    ----------
    space : Space
        Of the terms.
    terms : sequence of list of Literal
        They are numbered as they come; one that never holds meets nothing.

    """

    def __init__(self, space: Space, terms: Sequence[Sequence[Literal]]) -> None:
        # Of each node the ways on, by literal: column, places of all literals about it up to there, next node
        self._ways: list[dict[Literal, tuple[int, Places, int]]] = [{}]
        self._ends: dict[int, list[int]] = {}
        for number, term in enumerate(terms):
            region: Region = {}
            node = 0
            for literal in term:
                j = space.variables[literal[0]].feature
                region[j] = space.narrowed(region.get(j), literal)
                if not _is_any(region[j]):
                    break
                if literal not in self._ways[node]:
                    self._ways[node][literal] = (j, region[j], len(self._ways))
                    self._ways.append({})
                node = self._ways[node][literal][2]
            else:
                self._ends.setdefault(node, []).append(number)

    def meeting(self, region: Region) -> Iterator[int]:
        """Yield the terms that hold somewhere in a region, which is somewhere."""
        waiting = [0]
        while waiting:
            node = waiting.pop()
            yield from self._ends.get(node, ())
            for j, places, way in self._ways[node].values():
                own = region.get(j)
                if own is None or _is_any(_both(own, places)):
                    waiting.append(way)

    def meets(self, region: Region) -> bool:
        """Tell whether any term holds somewhere in a region."""
        return all(map(_is_any, region.values())) and next(self.meeting(region), None) is not None


def space_of(paths: Sequence[Sequence[Condition]], n_levels: Callable[[int], int]) -> tuple[Space, list[list[Literal]]]:
    """Return the variables of a tree's paths, and each path in these."""
    numbers: dict[Variable, int] = {}
    everything: dict[int, frozenset[int]] = {}
    terms = []
    for path in paths:
        term: list[Literal] = []
        for test in path:
            if test.kind == LEVELS:
                whole = everything.setdefault(test.feature, frozenset(range(n_levels(test.feature))))
                others = tuple(sorted(whole - set(test.levels)))
                sign = (len(test.levels), 0 not in test.levels) <= (len(others), 0 not in others)
                chosen = test.levels if sign else others
                term.append((numbers.setdefault(Variable(test.feature, 0.0, chosen), len(numbers)), sign))
                continue
            assert test.kind != OUTSIDE, "a path of ranges"
            ends = [(test.low, False)] if test.low == test.low else []
            ends += [(test.high, True)] if test.high < np.inf else []
            term += [(numbers.setdefault(Variable(test.feature, end), len(numbers)), sign) for end, sign in ends]
        terms.append(list(dict.fromkeys(term)))
    variables = list(numbers)
    cuts: dict[int, list[float]] = {}
    for variable in variables:
        if variable.levels is None:
            cuts.setdefault(variable.feature, []).append(variable.cut)
    places = {j: len(own) + 1 for j, own in cuts.items()} | {j: len(own) for j, own in everything.items()}
    place = {j: {cut: k + 1 for k, cut in enumerate(sorted(own))} for j, own in cuts.items()}
    holds: list[Places] = []
    for variable in variables:
        if variable.levels is not None:
            holds.append(sum(1 << level for level in variable.levels))
        else:
            holds.append((0, place[variable.feature][variable.cut]))
    return Space(variables, places, holds), terms


def shortest(space: Space, positive: list[list[Literal]], negative: list[list[Literal]]) -> list[list[Literal]]:
    """Return the terms of a function that holds on some paths and on no other."""
    n = len(space.variables)
    if not positive or not all(positive):
        return [[]] if positive else []
    if n <= MOST_VARIABLES:
        return _fewest(space, positive)
    refused = Paths(space, negative)
    widened = {tuple(sorted(_widened(space, term, refused))) for term in positive}
    ordered = sorted(widened, key=lambda term: (len(term), term))
    return [list(term) for term in _irredundant(space, ordered, Paths(space, positive))]


def computes(
    space: Space, terms: list[list[Literal]], positive: list[list[Literal]], negative: list[list[Literal]]
) -> bool:
    """Tell whether terms hold on all of the paths that they should hold on, and nowhere on the others."""
    regions, refused = [space.region(term) for term in terms], Paths(space, negative)
    if any(map(refused.meets, regions)):
        return False
    near: dict[int, list[Region]] = {}
    paths = Paths(space, positive)
    for region in regions:
        for path in paths.meeting(region) if all(map(_is_any, region.values())) else ():
            near.setdefault(path, []).append(region)
    return all(_is_covered(space, space.region(path), near.get(p, [])) for p, path in enumerate(positive))


def _widened(space: Space, term: list[Literal], refused: Paths) -> list[Literal]:
    """Return a term without the tests that are not needed to keep it off the paths refused."""
    kept, region = list(term), space.region(term)
    for literal in term[::-1]:
        j = space.variables[literal[0]].feature
        others = [one for one in kept if one != literal and space.variables[one[0]].feature == j]
        wider = {column: own for column, own in region.items() if column != j} | space.region(others)
        if not refused.meets(wider):
            kept.remove(literal)
            region = wider
    return kept


def _irredundant(space: Space, terms: list[tuple[Literal, ...]], positive: Paths) -> list[tuple[Literal, ...]]:
    """Return terms without those that the others cover, the longest looked at first.

    Two terms meet in one of the positive paths if at all, for nowhere else does one hold.
    """
    regions = [space.region(term) for term in terms]
    on_path: dict[int, list[int]] = {}
    paths = [list(positive.meeting(region)) for region in regions]
    for t, own in enumerate(paths):
        for path in own:
            on_path.setdefault(path, []).append(t)
    is_kept = [True] * len(terms)
    for t in range(len(terms) - 1, -1, -1):
        near = {other for path in paths[t] for other in on_path[path] if is_kept[other] and other != t}
        is_kept[t] = not _is_covered(space, regions[t], [regions[other] for other in sorted(near)])
    return [term for term, is_left in zip(terms, is_kept, strict=True) if is_left]


def _is_covered(space: Space, region: Region, others: list[Region]) -> bool:
    """Tell whether regions together cover another one: cut it until one of them covers each part, or none meets it."""
    waiting = [(region, others)]
    while waiting:
        part, near = waiting.pop()
        if not all(map(_is_any, part.values())):
            continue
        near = [other for other in near if _meet(part, other)]
        if not near:
            return False
        if any(space.within(part, other) for other in near):
            continue
        for j, own in near[0].items():
            mine = part.get(j, space.whole(j, own))
            pieces = [piece for piece in _beyond(mine, own) if _is_any(piece)]
            if pieces:
                waiting += [({**part, j: piece}, near) for piece in (_both(mine, own), *pieces)]
                break
    return True


def _fewest(space: Space, positive: list[list[Literal]]) -> list[list[Literal]]:
    """Return the cheapest terms by Quine and McCluskey."""
    n = len(space.variables)
    patterns = space.patterns()
    holds = np.zeros(len(patterns), bool)
    for path in positive:
        holds |= np.array([patterns[:, v] == sign for v, sign in path]).reshape(len(path), -1).all(axis=0)
    # A pattern that no row has may be covered or not
    allowed = np.ones((2,) * n, bool)
    allowed[tuple(patterns[~holds].T.astype(np.int64))] = False
    primes = prime_implicants(allowed)
    wanted = patterns[holds].astype(np.int8)
    covers = np.ones((len(primes), len(wanted)), bool)
    for sign, value in zip(primes.T, wanted.T, strict=True):
        covers &= (sign[:, None] == 2) | (sign[:, None] == value)
    useful = covers.any(axis=1)
    primes, covers = primes[useful], covers[useful]
    chosen = cheapest_cover(covers, (primes != 2).sum(axis=1) + _A_TERM)
    return [[(v, bool(value)) for v, value in enumerate(primes[p].tolist()) if value != 2] for p in sorted(chosen)]
