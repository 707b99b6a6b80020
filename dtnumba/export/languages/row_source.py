"""A model as Python that needs no package: tables, and a function that follows one row through them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from dtnumba.export.languages.source import listed, literal, number
from dtnumba.export.languages.tables import LoopTables
from dtnumba.prediction.confident_votes import EVEN
from dtnumba.tables.costs import LeastCost

if TYPE_CHECKING:
    from dtnumba.export.reading import ReadTrees

_VALUE = """\
{i}value = x[FEATURE[at]]
"""
_STEP = """\
{i}child = -1
{i}if value == value:
"""
_SUM = """\
{i}if TERM_START[at] < TERM_START[at + 1]:
{i}    value, is_known = 0.0, False
{i}    for term in range(TERM_START[at], TERM_START[at + 1]):
{i}        own = x[TERM[term]]
{i}        is_known = is_known or own == own
{i}        value += WEIGHT[term] * (own if own == own else COUNTS_AS[term])
{i}    value = value if is_known else float('nan')
"""
_THRESHOLD = "{i}    child = LEFT[at] + (not value <= THRESHOLD[at])\n"
_KINDS = """\
{i}    kind = KIND[at]
{i}    if kind == 1:
{i}        child = LEFT[at] + (not value <= THRESHOLD[at])
"""
_LEVELS = """\
{i}    elif kind == 2:
{i}        child = LEFT[at] + (value not in LEVEL[LEVEL_START[at]:LEVEL_START[at + 1]])
"""
_CUTS = """\
{i}    elif kind == 3:
{i}        way = sum(cut < value for cut in CUT[CUT_START[at]:CUT_START[at + 1]])
"""
_CUTS_MAP = """\
{i}        if BRANCH_START[at] < BRANCH_START[at + 1]:
{i}            way = BRANCH[BRANCH_START[at] + way]
"""
_CUTS_CHILD = "{i}        child = LEFT[at] + way if way >= 0 else -1\n"
_MAP = """\
{i}    elif kind == 4 and 0 <= value < BRANCH_START[at + 1] - BRANCH_START[at]:
{i}        way = BRANCH[BRANCH_START[at] + int(value)]
{i}        child = LEFT[at] + way if way >= 0 else -1
"""
_STAND_INS = """\
{i}other = OTHER_START[at]
{i}while child < 0 and other < OTHER_START[at + 1]:
{i}    value = x[OTHER_FEATURE[other]]
{i}    first = OTHER_BRANCH_START[other]
{i}    if value == value and not OTHER_IS_MAP[other]:
{i}        child = LEFT[at] + ((value <= OTHER_THRESHOLD[other]) != (OTHER_BELOW[other] == 1))
{i}    elif 0 <= value < OTHER_BRANCH_START[other + 1] - first and OTHER_BRANCH[first + int(value)] >= 0:
{i}        child = LEFT[at] + OTHER_BRANCH[first + int(value)]
{i}    other += 1
"""
_WALK = """\
    for at in ROOT:
        while FEATURE[at] >= 0:
{step}            if child < 0:
                child = ABSENT[at]
                if child == at:
                    break
            at = child
        own = SAID[ROW[at]]
"""
_PARTS = """\
    for root in ROOT:
        own, waiting = [0.0] * {width}, [(root, 1.0)]
        while waiting:
            at, part = waiting.pop()
            if FEATURE[at] < 0:
                own = [total + part * say for total, say in zip(own, SAID[ROW[at]])]
                continue
{step}            if child >= 0:
                waiting.append((child, part))
            else:
                children = range(LAST[at], LEFT[at] - 1, -1)
                waiting += [(child, part * SHARE[child]) for child in children if SHARE[child] > 0.0]
"""
_SURE = """\
        *own, n = own
        best = next(k for k, share in enumerate(own) if share >= max(own) - {even!r})
        sure = (own[best] * n + prior[best]) / (n + 1.0)
        own = [sure if k == best else 0.0 for k in range({width})]
"""
_SHARES = """\
        total = 0.0
        for vote in totals:
            total += vote
        return [vote / total for vote in totals]
"""
_COSTS = """\
def least(shares):
    costs = [sum(share * cost for share, cost in zip(shares, column)) for column in COSTS]
    return [cost <= min(costs) * (1.0 + 1e-09) for cost in costs].index(True)


"""


def loop_source(found: ReadTrees) -> str:
    """Return the source of a function of one row, in time and size linear in the nodes."""
    from dtnumba.export.as_python import header, reading_lines

    tables, columns = LoopTables(found), found.columns
    lines = [f"ROOT = ({listed(tables.root)},)"]
    for name, column in {**tables.of_nodes, **tables.ragged}.items():
        lines.append(f"{name} = ({listed(column)}{',' * (len(column) == 1)})")
    rows = [f"({', '.join(map(number, row))},)" for row in tables.said.tolist()]
    lines.append(f"SAID = ({', '.join(rows)},)")
    if tables.label is not None:
        lines.append(f"LABEL = ({', '.join(f'({listed(row)},)' for row in tables.label)},)")
    if columns.classes is not None:
        lists = [f"[{', '.join(map(literal, classes))}]" for classes in columns.classes]
        lines.append(f"CLASSES = [{', '.join(lists)}]")
    if found.are_sure:
        assert found.prior is not None
        rows = [f"({', '.join(map(number, row))},)" for row in found.prior.tolist()]
        lines.append(f"PRIOR = ({', '.join(rows)},)")
    text = "\n".join(lines) + "\n\n\n"
    rule = found.late_votes if isinstance(found.late_votes, LeastCost) else found.rule
    if rule is not None and tables.label is None:
        cells = [f"[{', '.join(map(number, column))}]" for column in rule.costs.T.tolist()]
        text += f"COSTS = [{', '.join(cells)}]\n\n\n{_COSTS}"
    text += "\n".join([header(found), f"    x = [float('nan')] * {max(len(columns.names), 1)}"]) + "\n"
    for j, line in zip(tables.used, reading_lines(found, tables.used), strict=True):
        text += line.replace(f"x{j} = ", f"x[{j}] = ", 1) + "\n"
    return text + f"    totals = [{found.begin!r}] * {found.n_summed}\n" + _body(found, tables)


def _body(found: ReadTrees, tables: LoopTables) -> str:
    walk = (_PARTS if found.is_shared else _WALK).format(step=step_of(tables, " " * 12), width=tables.width)
    if found.are_sure:
        walk = walk.replace("for root in ROOT:", "for root, prior in zip(ROOT, PRIOR):", 1)
        walk += _SURE.format(even=EVEN, width=found.n_summed)
    elif found.late_votes is not None:
        start, pieces = 0, []
        by_cost = isinstance(found.late_votes, LeastCost)
        pick = "least(own[{0}:{1}])" if by_cost else "own[{0}:{1}].index(max(own[{0}:{1}]))"
        for size in found.columns.sizes:
            chosen = f"[float(k == {pick.format(start, start + size)}) for k in range({size})]"
            pieces.append(chosen)
            start += size
        walk += f"        own = {' + '.join(pieces)}\n"
    text = walk + "        totals = [total + say for total, say in zip(totals, own)]\n"
    if found.is_mean:
        text += f"    totals = [total / {len(tables.root)} for total in totals]\n"
    if found.says_second:
        text += "    totals = [1.0 - totals[0], totals[0]]\n"
    if found.prior is not None and not found.are_sure:
        prior = f"({', '.join(map(number, found.prior.tolist()))},)"
        text += f"    *totals, n = totals\n    totals = [(x * n + p) / (n + 1.0) for x, p in zip(totals, {prior})]\n"
    classes = found.columns.classes
    if classes is None:
        return text + ("    return totals[0]\n" if tables.width == 1 else "    return totals\n")
    ends = np.cumsum([0, *found.columns.sizes]).tolist()
    shares = [f"totals[{start}:{stop}]" for start, stop in itertools.pairwise(ends)]
    said = f"        return {shares[0] if len(shares) == 1 else '[' + ', '.join(shares) + ']'}\n"
    text += f"    if proba:\n{_SHARES if found.are_sure else said}"
    if tables.label is not None:
        labels = [f"CLASSES[{o}][LABEL[ROW[at]][{o}]]" for o in range(len(shares))]
    else:
        labels = []
        for o, (start, stop) in enumerate(itertools.pairwise(ends)):
            own = f"totals[{start + found.label_from}:{stop + found.label_from}]"
            labels.append(f"CLASSES[{o}][{f'least({own})' if found.rule is not None else f'{own}.index(max({own}))'}]")
    return text + f"    return {labels[0] if len(labels) == 1 else '[' + ', '.join(labels) + ']'}\n"


def step_of(tables: LoopTables, indent: str) -> str:
    """Return the lines that find the child of node ``at`` that a row goes to, -1 where its value is missing."""
    text = _VALUE + _SUM * tables.has_sums + _STEP
    if tables.is_plain:
        text += _THRESHOLD
    else:
        text += _KINDS + _LEVELS * tables.has_levels
        if tables.has_cuts:
            text += _CUTS + _CUTS_MAP * tables.has_maps + _CUTS_CHILD
        text += _MAP * tables.has_codes
    return (text + _STAND_INS * tables.has_stand_ins).format(i=indent)
