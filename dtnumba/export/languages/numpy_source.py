"""A model as Python that needs NumPy alone: tables, and functions that follow all rows of an array through them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.export.languages.conditions import of_rule, said_in
from dtnumba.export.languages.source import listed, literal, number
from dtnumba.export.languages.tables import LoopTables
from dtnumba.export.languages.voters import ReadVoters
from dtnumba.export.languages.voting_rules import numpy_rules
from dtnumba.export.reading import ReadRules
from dtnumba.prediction.confident_votes import EVEN
from dtnumba.rules.layout import body_of
from dtnumba.tables.costs import LeastCost
from dtnumba.trees.with_sums import n_sums_of, terms_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dtnumba.export.reading import Columns, ReadTrees

_HEAD = '''\
"""A model written by dtnumba. X has a column each of {names}; categories are places in LEVELS, NaN is missing."""

import numpy as np

'''
_VALUE = """\

def children(X, row, at):
    value = X[row, FEATURE[at]].astype(np.float64)
"""
_SUMS = """\
    here = np.flatnonzero(TERM_START[at] < TERM_START[at + 1])
    first, last = TERM_START[at[here]], TERM_START[at[here] + 1]
    total, is_known = np.zeros(len(here)), np.zeros(len(here), bool)
    with np.errstate(all="ignore"):
        for k in range(int((last - first).max(initial=0))):
            some = np.flatnonzero(first + k < last)
            term = first[some] + k
            own = X[row[here[some]], TERM[term]].astype(np.float64)
            is_known[some] |= own == own
            total[some] += WEIGHT[term] * np.where(own == own, own, COUNTS_AS[term])
    value[here] = np.where(is_known, total, np.nan)
"""
_STEP = """\
    child = np.where(value == value, LEFT[at] + ~(value <= THRESHOLD[at]), -1)
"""
_KINDS = "    kind = np.where(value == value, KIND[at], 0)\n    child = np.where(kind == 1, child, -1)\n"
_LEVELS = """\
    here = np.flatnonzero(kind == 2)
    key = at[here] * PLACES + value[here].astype(np.int64)
    place = np.minimum(np.searchsorted(LEVEL_KEY, key), len(LEVEL_KEY) - 1)
    child[here] = LEFT[at[here]] + (LEVEL_KEY[place] != key)
"""
_CUTS = """\
    here = np.flatnonzero(kind == 3)
    start, stop = CUT_START[at[here]], CUT_START[at[here] + 1]
    way = np.zeros(len(here), np.int64)
    for k in range(int((stop - start).max(initial=0))):
        way += (start + k < stop) & (CUT[np.minimum(start + k, len(CUT) - 1)] < value[here])
"""
_CUTS_MAP = """\
    first, mapped = BRANCH_START[at[here]], BRANCH_START[at[here] + 1] > BRANCH_START[at[here]]
    way = np.where(mapped, BRANCH[np.minimum(first + way, len(BRANCH) - 1)], way)
"""
_CUTS_CHILD = "    child[here] = np.where(way >= 0, LEFT[at[here]] + way, -1)\n"
_MAP = """\
    here = np.flatnonzero(kind == 4)
    first, n = BRANCH_START[at[here]], BRANCH_START[at[here] + 1] - BRANCH_START[at[here]]
    inside = (value[here] >= 0) & (value[here] < n)
    way = BRANCH[first + np.where(inside, value[here], 0).astype(np.int64)]
    child[here] = np.where(inside & (way >= 0), LEFT[at[here]] + way, -1)
"""
_STAND_INS = """\
    for k in range(int(np.diff(OTHER_START).max(initial=0))):
        here = np.flatnonzero((child < 0) & (OTHER_START[at] + k < OTHER_START[at + 1]))
        other = OTHER_START[at[here]] + k
        value = X[row[here], OTHER_FEATURE[other]].astype(np.float64)
        side = ((value <= OTHER_THRESHOLD[other]) != (OTHER_BELOW[other] == 1)).astype(np.int64)
        first, n = OTHER_BRANCH_START[other], OTHER_BRANCH_START[other + 1] - OTHER_BRANCH_START[other]
        inside = (value >= 0) & (value < n)
        at_map = np.minimum(first + np.where(inside, value, 0).astype(np.int64), max(len(OTHER_BRANCH) - 1, 0))
        of_map = np.where(inside, OTHER_BRANCH[at_map], -1) if len(OTHER_BRANCH) else np.full(len(here), -1)
        side = np.where(OTHER_IS_MAP[other] == 1, of_map, np.where(value == value, side, -1))
        child[here] = np.where(side >= 0, LEFT[at[here]] + side, -1)
"""
_WALK = """\
    return child


def ends(X, root):
    at, going = np.full(len(X), root), np.arange(len(X))
    while True:
        going = going[FEATURE[at[going]] >= 0]
        if not len(going):
            return at
        child = children(X, going, at[going])
        child = np.where(child < 0, ABSENT[at[going]], child)
        going, child = going[child != at[going]], child[child != at[going]]
        at[going] = child


def said(X, root):
    return SAID[ROW[ends(X, root)]]

"""
_PARTS = """\
    return child


def said(X, root):
    row, at, part = np.arange(len(X)), np.full(len(X), root), np.ones(len(X))
    done = []
    while len(row):
        is_leaf = FEATURE[at] < 0
        done.append((row[is_leaf], at[is_leaf], part[is_leaf]))
        row, at, part = row[~is_leaf], at[~is_leaf], part[~is_leaf]
        child = children(X, row, at)
        to = child < 0
        row_of, at_of, part_of = row[to], at[to], part[to]
        n = LAST[at_of] - LEFT[at_of] + 1
        each = np.repeat(np.arange(len(n)), n)
        child_of = LEFT[at_of][each] + np.arange(len(each)) - np.repeat(np.cumsum(n) - n, n)
        part_of = part_of[each] * SHARE[child_of]
        keep = SHARE[child_of] > 0.0
        row = np.concatenate([row[~to], row_of[each][keep]])
        at = np.concatenate([child[~to], child_of[keep]])
        part = np.concatenate([part[~to], part_of[keep]])
    row, at, part = (np.concatenate(own) for own in zip(*done))
    order = np.lexsort((PREORDER[at], row))
    row, at, part = row[order], at[order], part[order]
    place = np.arange(len(row)) - np.searchsorted(row, row)
    total = np.zeros((len(X), SAID.shape[1]))
    for k in range(int(place.max(initial=-1)) + 1):
        here = place == k
        total[row[here]] += part[here, None] * SAID[ROW[at[here]]]
    return total

"""
_COSTS = """\

def labels(shares):
    costs = shares @ COSTS
    return (costs <= costs.min(axis=1, keepdims=True) * (1.0 + 1e-09)).argmax(axis=1)

"""
_LARGEST = """\

def labels(shares):
    return shares.argmax(axis=1)

"""
_SURE = """\

def sure(own, prior):
    shares, n = own[:, :-1], own[:, -1]
    best = (shares >= shares.max(axis=1, keepdims=True) - {even!r}).argmax(axis=1)
    row, votes = np.arange(len(own)), np.zeros(shares.shape)
    votes[row, best] = (shares[row, best] * n + prior[best]) / (n + 1.0)
    return votes

"""
_TOTALS = """\

def totals(X):
    total = np.full((len(X), {width}), {begin})
    for {root} in {roots}:
        total += {said}
{rest}    return total

"""


def numpy_source(found: ReadTrees | ReadRules | ReadVoters) -> str:
    """Return the source of functions of an array of rows."""
    names = ", ".join(name for name in found.columns.names if name.isprintable())
    text = _HEAD.format(names=names.replace("\\", "").replace('"', "'")) + _labels(found.columns)
    if isinstance(found, ReadVoters):
        return text + numpy_rules(found, _NumPy())
    if isinstance(found, ReadRules):
        return text + _rules(found)
    tables = LoopTables(found)
    columns: dict[str, NDArray[Any]] = {"ROOT": tables.root, **tables.of_nodes, **tables.ragged}
    if found.is_shared:
        columns["PREORDER"] = tables.preorder
    if tables.has_levels:
        start, level = columns.pop("LEVEL_START"), columns.pop("LEVEL")
        places = int(max(level.max(), *(len(own or ()) for own in found.columns.levels))) + 1
        columns["LEVEL_KEY"] = np.repeat(np.arange(len(start) - 1), np.diff(start)) * places + level
        text += f"PLACES = {places}\n"
    for name, column in columns.items():
        text += array_line(name, column)
    text += array_line("SAID", tables.said)
    if found.are_sure:
        assert found.prior is not None
        text += array_line("PRIOR", found.prior)
    if tables.label is not None:
        text += array_line("LABEL", tables.label)
    rule = found.late_votes if isinstance(found.late_votes, LeastCost) else found.rule
    if rule is not None and tables.label is None:
        text += array_line("COSTS", rule.costs) + _COSTS
    elif found.columns.classes is not None and tables.label is None:
        text += _LARGEST
    text += _VALUE + _SUMS * tables.has_sums + _STEP + _KINDS * (not tables.is_plain)
    if tables.has_levels:
        text += _LEVELS
    if tables.has_cuts:
        text += _CUTS + _CUTS_MAP * tables.has_maps + _CUTS_CHILD
    text += _MAP * tables.has_codes + _STAND_INS * tables.has_stand_ins
    text += _PARTS if found.is_shared else _WALK
    return text + _answers(found, tables)


def array_line(name: str, column: NDArray[Any]) -> str:
    """Return an array as a line of source."""
    dtype = column.dtype if column.dtype.kind == "f" else np.dtype(np.int64)
    cells = listed(column.reshape(-1)).replace("float('nan')", "np.nan").replace("float('inf')", "np.inf")
    cells = cells.replace("float('-inf')", "-np.inf")
    shape = f".reshape{column.shape}" if column.ndim > 1 else ""
    return f"{name} = np.array([{cells}], np.{dtype.name}){shape}\n"


def _labels(columns: Columns) -> str:
    levels = [f"{literal(name)}: [{', '.join(map(literal, own))}]" for name, own in _categories(columns)]
    text = f"LEVELS = {{{', '.join(levels)}}}\n"
    if columns.classes is not None:
        lists = [f"np.array([{', '.join(map(literal, own))}]{_object(own)})" for own in columns.classes]
        text += f"CLASSES = [{', '.join(lists)}]\n"
    return text


def _categories(columns: Columns) -> list[tuple[str, list[Any]]]:
    return [(name, own) for name, own in zip(columns.names, columns.levels, strict=True) if own is not None]


def _object(values: Sequence[Any]) -> str:
    return ", object" if len({type(value) for value in values}) > 1 else ""


def _answers(found: ReadTrees, tables: LoopTables) -> str:
    ends = np.cumsum([0, *found.columns.sizes]).tolist()
    own = list(itertools.pairwise(ends))
    said = "said(X, root)"
    if found.late_votes is not None and not found.are_sure:
        pick = "np.eye({2})[labels(own[:, {0}:{1}])]" if isinstance(found.late_votes, LeastCost) else ""
        pick = pick or "np.eye({2})[own[:, {0}:{1}].argmax(axis=1)]"
        parts = [pick.format(start, stop, stop - start) for start, stop in own]
        said = f"(lambda own: np.concatenate([{', '.join(parts)}], axis=1))(said(X, root))"
    root, roots = "root", "ROOT"
    if found.are_sure:
        said, root, roots = "sure(said(X, root), prior)", "root, prior", "zip(ROOT, PRIOR)"
    rest = f"    total /= {len(tables.root)}\n" if found.is_mean else ""
    rest += "    total = np.concatenate([1.0 - total, total], axis=1)\n" if found.says_second else ""
    if found.prior is not None and not found.are_sure:
        prior = ", ".join(map(number, found.prior.tolist()))
        rest += f"    total = (total[:, :-1] * total[:, -1:] + np.array([{prior}])) / (total[:, -1:] + 1.0)\n"
    text = _SURE.format(even=EVEN) if found.are_sure else ""
    width = found.n_summed if found.are_sure else "SAID.shape[1]"
    text += _TOTALS.format(width=width, begin=repr(found.begin), root=root, roots=roots, said=said, rest=rest)
    shares = [f"total[:, {start}:{stop}]" for start, stop in own]
    if found.columns.classes is None:
        what = "total[:, 0]" if len(own) == 1 else "total"
        return f"{text}\ndef predict(X):\n    total = totals(np.asarray(X))\n    return {what}\n"
    joined = shares[0] if len(own) == 1 else f"[{', '.join(shares)}]"
    joined = joined if len(own) == 1 else f"np.concatenate({joined}, axis=1)"
    joined = "total / np.add.accumulate(total, axis=1)[:, -1:]" if found.are_sure else joined
    text += f"\ndef predict_proba(X):\n    total = totals(np.asarray(X))\n    return {joined}\n\n\ndef predict(X):\n"
    if tables.label is not None:
        text += "    code = LABEL[ROW[ends(np.asarray(X), ROOT[0])]]\n"
        chosen = [f"CLASSES[{o}][code[:, {o}]]" for o in range(len(own))]
    else:
        text += "    total = totals(np.asarray(X))\n"
        shift = found.label_from
        chosen = [f"CLASSES[{o}][labels(total[:, {a + shift}:{b + shift}])]" for o, (a, b) in enumerate(own)]
    said = chosen[0] if len(own) == 1 else f"np.stack([{', '.join(chosen)}], axis=1)"
    return f"{text}    return {said}\n"


class _NumPy:
    """Conditions about columns of X, each an array of a bool a row."""

    def le(self, feature: int, cut: float) -> str:
        return f"(X[:, {feature}] <= {number(cut)})"

    def gt(self, feature: int, cut: float) -> str:
        return f"(X[:, {feature}] > {number(cut)})"

    def among(self, feature: int, codes: Sequence[int]) -> str:
        return f"np.isin(X[:, {feature}], [{', '.join(map(str, codes))}])"

    def not_among(self, feature: int, codes: Sequence[int]) -> str:
        return f"({self.known(feature)} & ~{self.among(feature, codes)})"

    def missing(self, feature: int) -> str:
        return f"(X[:, {feature}] != X[:, {feature}])"

    def known(self, feature: int) -> str:
        return f"(X[:, {feature}] == X[:, {feature}])"

    def both(self, parts: Sequence[str]) -> str:
        return f"({' & '.join(parts)})"

    def either(self, parts: Sequence[str]) -> str:
        return f"({' | '.join(parts)})"

    def choose(self, pairs: Sequence[tuple[str, str]], otherwise: str) -> str:
        for known, one in reversed(pairs):
            otherwise = f"np.where({known}, {one}, {otherwise})"
        return otherwise

    def constant(self, *, holds: bool) -> str:
        return f"np.full(len(X), {holds})"


_BEHIND = """\


def with_sums(X):
    sums = []
    for terms in SUMS:
        total, is_known = np.zeros(len(X)), np.zeros(len(X), bool)
        with np.errstate(all="ignore"):
            for column, weight, stand_in in terms:
                own = X[:, column]
                is_known |= own == own
                total += weight * np.where(own == own, own, stand_in)
        sums.append(np.where(is_known, total, np.nan))
    return np.column_stack([X, *sums])

"""
_FIRST = """\

def first(X):
    {head}
    answer = np.full(len(X), {n})
    for k in range({n} - 1, -1, -1):
        answer[RULES[k](X)] = k
    return answer


def predict_proba(X):
    return SHARES[first(X)]


def predict(X):
    return CLASSES[0][LABEL[first(X)]]
"""
_VOTES = """\

def votes(X):
    {head}
    total, is_open = np.zeros((len(X), SHARES.shape[1])), np.ones(len(X), bool)
    for k in range({n}):
        holds = RULES[k](X)
        total[holds, LABEL[k]] += CONFIDENCE[k]
        is_open &= ~holds
    return total, is_open


def predict_proba(X):
    total, is_open = votes(X)
    total[is_open] = SHARES[-1]
    return total / np.maximum(total.sum(axis=1, keepdims=True), 1e-300)


def predict(X):
    total, is_open = votes(X)
    return CLASSES[0][np.where(is_open, LABEL[-1], total.argmax(axis=1))]
"""


def _rules(found: ReadRules) -> str:
    rules, language = found.rules, _NumPy()
    lines = []
    for r in range(rules.n_rules):
        parts = [said_in(language, of_rule(test)) for test in body_of(rules, r)]
        lines.append(f"    lambda X: {' & '.join(parts) or 'np.full(len(X), True)'},\n")
    sums = [list(terms_of(rules.linear, k)) for k in range(n_sums_of(rules.linear))]
    text = f"RULES = [\n{''.join(lines)}]\n"
    text += array_line("LABEL", np.append(rules.label, rules.default).astype(np.int64))
    text += array_line("SHARES", np.atleast_2d(found.shares))
    if found.by_votes:
        text += array_line("CONFIDENCE", rules.confidence)
    if sums:
        shown = (", ".join(f"({j}, {number(w)}, {number(s)})" for j, w, s in own) for own in sums)
        text += f"SUMS = [{', '.join(f'[{one}]' for one in shown)}]\n" + _BEHIND
    head = "X = with_sums(np.asarray(X, np.float64))" if sums else "X = np.asarray(X, np.float64)"
    return text + (_VOTES if found.by_votes else _FIRST).format(n=rules.n_rules, head=head)
