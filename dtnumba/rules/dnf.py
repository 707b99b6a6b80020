"""One class of a tree as an "or" of "and"s: short, and the same function.

Each test of the tree is a variable; of a number those of its cuts, "is x <= t". Variables of one column hang together
(x <= 1 is never true where x <= 2 is false), so a row has, for each column, one of few patterns.

Up to twelve variables the terms are fewest, and of so few the shortest: all prime implicants (Quine 1952), and of these
the cheapest cover. Beyond, the paths of the tree are widened until no test of a term can be left out, and then terms
are until none can.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dtnumba.rules.layout import LEVELS, OUTSIDE, Condition

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray


MOST_VARIABLES = 12
_MOST_WORK = 1_000_000  # looks at a column by the search for the cheapest cover: about a second; then the best serves
_A_TERM = 1000  # costs more than any number of tests
_NEVER = 1 << 60
Literal = tuple[int, bool]  # number of a variable, and whether it holds
Region = dict[int, int]  # of some columns, the bits of the places where a row may lie


class Variable(NamedTuple):
    """A test of a tree: x <= cut of a number, or being one of some levels."""

    feature: int
    cut: float
    levels: tuple[int, ...] | None = None


class Space(NamedTuple):
    """All variables, and where rows can lie: a column of numbers between its cuts, one of categories at its levels."""

    variables: list[Variable]
    places: dict[int, int]  # of each column, how many
    holds: list[int]  # of each variable, the bits of the places where it does

    def region(self, term: Sequence[Literal]) -> Region:
        """Return where a term holds."""
        found: Region = {}
        for v, sign in term:
            j = self.variables[v].feature
            whole = (1 << self.places[j]) - 1
            found[j] = found.get(j, whole) & (self.holds[v] if sign else whole & ~self.holds[v])
        return found

    def regions(self, terms: Sequence[Sequence[Literal]]) -> list[Region]:
        """Return where each of the terms holds, without those that never do."""
        return [found for found in map(self.region, terms) if all(found.values())]

    def within(self, inner: Region, outer: Region) -> bool:
        """Tell whether one region lies in another, and is somewhere at all."""
        return all(inner.get(j, (1 << self.places[j]) - 1) & ~mask == 0 for j, mask in outer.items())

    def patterns(self) -> NDArray[np.bool_]:
        """Return every pattern of the variables that a row can have."""
        columns = sorted(self.places)
        own = []
        for j in columns:
            mine = [v for v, variable in enumerate(self.variables) if variable.feature == j]
            own.append(sorted({tuple((v, self.holds[v] >> k & 1) for v in mine) for k in range(self.places[j])}))
        found = np.zeros((int(np.prod([len(one) for one in own])), len(self.variables)), bool)
        for row, chosen in enumerate(itertools.product(*own)):
            for v, value in itertools.chain.from_iterable(chosen):
                found[row, v] = value
        return found


def _meet(first: Region, second: Region) -> bool:
    return all(mask & second.get(j, mask) for j, mask in first.items())


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
    holds = []
    for variable in variables:
        if variable.levels is not None:
            holds.append(sum(1 << level for level in variable.levels))
        else:
            holds.append((1 << (sorted(cuts[variable.feature]).index(variable.cut) + 1)) - 1)
    return Space(variables, places, holds), terms


def shortest(space: Space, positive: list[list[Literal]], negative: list[list[Literal]]) -> list[list[Literal]]:
    """Return the terms of a function that holds on some paths and on no other."""
    n = len(space.variables)
    if not positive or not all(positive):
        return [[]] if positive else []
    if n <= MOST_VARIABLES:
        return _fewest(space, positive)
    refused = space.regions(negative)
    widened = {tuple(sorted(_widened(space, term, refused))) for term in positive}
    return [list(term) for term in _irredundant(space, sorted(widened, key=lambda term: (len(term), term)))]


def computes(
    space: Space, terms: list[list[Literal]], positive: list[list[Literal]], negative: list[list[Literal]]
) -> bool:
    """Tell whether terms hold on all of the paths that they should hold on, and nowhere on the others."""
    regions = [space.region(term) for term in terms]
    refused = space.regions(negative)
    if any(_meet(one, other) for one in regions for other in refused):
        return False
    return all(_is_covered(space, space.region(path), regions) for path in positive)


def _widened(space: Space, term: list[Literal], refused: list[Region]) -> list[Literal]:
    """Return a term without the tests that are not needed to keep it off the regions refused."""
    kept = list(term)
    for literal in term[::-1]:
        fewer = [one for one in kept if one != literal]
        region = space.region(fewer)
        if not any(_meet(region, other) for other in refused):
            kept = fewer
    return kept


def _irredundant(space: Space, terms: list[tuple[Literal, ...]]) -> list[tuple[Literal, ...]]:
    """Return terms without those that the others cover, the longest looked at first."""
    kept = list(terms)
    for term in terms[::-1]:
        others = [space.region(one) for one in kept if one != term]
        if _is_covered(space, space.region(term), others):
            kept.remove(term)
    return kept


def _is_covered(space: Space, region: Region, others: list[Region]) -> bool:
    """Tell whether regions together cover another one: cut it in two until one of them does, or none meets it."""
    if not all(region.values()):
        return True
    near = [other for other in others if _meet(region, other)]
    if not near:
        return False
    if any(space.within(region, other) for other in near):
        return True
    own = {j: region.get(j, (1 << space.places[j]) - 1) for j in near[0]}
    j = next(j for j, mask in near[0].items() if own[j] & ~mask)
    parts = ({**region, j: own[j] & near[0][j]}, {**region, j: own[j] & ~near[0][j]})
    return all(_is_covered(space, part, near) for part in parts)


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
    primes = _primes(allowed)
    wanted = patterns[holds].astype(np.int8)
    covers = np.ones((len(primes), len(wanted)), bool)
    for sign, value in zip(primes.T, wanted.T, strict=True):
        covers &= (sign[:, None] == 2) | (sign[:, None] == value)
    useful = covers.any(axis=1)
    primes, covers = primes[useful], covers[useful]
    chosen = _Search(covers, (primes != 2).sum(axis=1) + _A_TERM).cheapest()
    return [[(v, bool(value)) for v, value in enumerate(primes[p].tolist()) if value != 2] for p in sorted(chosen)]


def _primes(allowed: NDArray[np.bool_]) -> NDArray[np.int8]:
    """Return the prime implicants, a row each: 0 and 1 for a variable's sign, 2 where it is left out.

    One array of three places a variable, the third for "left out", which is allowed where the other two are.
    """
    for axis in range(allowed.ndim):
        both = allowed.take([0], axis) & allowed.take([1], axis)
        allowed = np.concatenate([allowed, both], axis)
    prime = allowed.copy()
    for axis in range(allowed.ndim):
        signed = [slice(None)] * allowed.ndim
        signed[axis] = slice(0, 2)
        prime[tuple(signed)] &= ~allowed.take([2], axis)
    # Fewest tests first, then in order
    found = np.argwhere(prime).astype(np.int8)
    return found[np.argsort((found != 2).sum(axis=1), kind="stable")]


class _Search:
    """Branch and bound over which rows to take; rows and columns are sets of bits."""

    def __init__(self, covers: NDArray[np.bool_], cost: NDArray[np.int64]) -> None:
        self._rows = [_bits_of(row) for row in covers]
        self._columns = [_bits_of(column) for column in covers.T]
        self._cost: list[int] = cost.tolist()
        self._work = 0
        self._best: list[int] = []

    def cheapest(self) -> list[int]:
        """Return the rows of least cost that cover all columns."""
        columns = list(range(len(self._columns)))
        self._best = self._greedy((1 << len(columns)) - 1)
        self._look(columns, [], (1 << len(self._rows)) - 1)
        return self._best

    def _spent(self, chosen: list[int]) -> int:
        return sum(self._cost[p] for p in chosen)

    def _look(self, left: list[int], chosen: list[int], usable: int) -> None:
        """Try what rows can be added to those chosen to cover the columns left."""
        spent, least = self._spent(chosen), self._spent(self._best)
        if not left:
            self._best = chosen if spent < least else self._best
            return
        if self._work > _MOST_WORK or spent + self._least(left, usable) >= least:
            return
        for p in _members(self._columns[self._rarest(left, usable)] & usable):
            row = self._rows[p]
            self._look([k for k in left if not row >> k & 1], [*chosen, p], usable)
            usable &= ~(1 << p)

    def _greedy(self, left: int) -> list[int]:
        rows, chosen = self._rows, []
        while left:
            p = max(range(len(rows)), key=lambda one: ((rows[one] & left).bit_count(), -self._cost[one], -one))
            chosen.append(p)
            left &= ~rows[p]
        kept = list(chosen)
        for p in chosen:
            others = 0
            for other in kept:
                others |= rows[other] if other != p else 0
            if rows[p] & ~others == 0:
                kept.remove(p)
        return kept

    def _rarest(self, left: list[int], usable: int) -> int:
        """Return the column that the fewest rows cover."""
        self._work += len(left)
        return min(left, key=lambda k: (self._columns[k] & usable).bit_count())

    def _least(self, left: list[int], usable: int) -> int:
        """Return what covering columns costs at least: those of which no row covers two need a row each."""
        total = 0
        while left:
            mine = _members(self._columns[self._rarest(left, usable)] & usable)
            if not mine:
                return _NEVER
            total += min(self._cost[p] for p in mine)
            together = 0
            for p in mine:
                together |= self._rows[p]
            left = [k for k in left if not together >> k & 1]
        return total


def _bits_of(flags: NDArray[np.bool_]) -> int:
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")


def _members(bits: int) -> list[int]:
    """Return the places of set bits, ascending."""
    found = []
    while bits:
        found.append((bits & -bits).bit_length() - 1)
        bits &= bits - 1
    return found
