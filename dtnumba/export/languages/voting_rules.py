"""Rules of C5.0, which vote, as Python of a row, as Python of NumPy, and as SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.export.languages.conditions import of_rule, said_in
from dtnumba.export.languages.source import listed, literal
from dtnumba.export.reading import ExportError
from dtnumba.rules.c50.make_rules import THOUSAND
from dtnumba.rules.c50.votes import UNDECIDED
from dtnumba.rules.layout import body_of

if TYPE_CHECKING:
    from dtnumba.export.languages.conditions import Language
    from dtnumba.export.languages.voters import ReadVoters, VotingRules

_PLAIN_SAID = """\
def said(holding, default):  # rules that hold, as class and vote: what they say, first and all votes, how many
    votes, first = [0] * {k}, [0] * {k}
    for label, vote in holding:
        votes[label] += vote
        first[label] = first[label] or vote
    return (votes.index(max(votes)) if holding else default), first, votes, len(holding)


"""
_PLAIN_ONE = """\
    if not proba:
        return {classes}[label]
    shares = [vote if k == label else vote / n for k, vote in enumerate(first)] if n else [1.0] * {k}
    total = 0.0
    for share in shares:
        total += share
    return [share / total for share in shares]
"""
_PLAIN_MANY = """\
    if not proba:
        return {classes}[totals.index(max(totals))]
    total = 0.0
    for vote in totals:
        total += vote
    return [vote / total for vote in totals]
"""
_NUMPY_SAID = """\

def said(X, rules, label, vote, default):
    votes, first = np.zeros((len(X), {k}), np.int64), np.zeros((len(X), {k}), np.int64)
    n = np.zeros(len(X), np.int64)
    for rule, k, own in zip(rules, label, vote):
        holds = rule(X)
        votes[holds, k] += own
        first[holds & (first[:, k] == 0), k] = own
        n += holds
    return np.where(n == 0, default, votes.argmax(axis=1)), first, votes, n


def shares_of(votes):
    return votes / np.add.accumulate(votes, axis=1)[:, -1:]

"""
_NUMPY_ONE = """\

def predict_proba(X):
    X = np.asarray(X, np.float64)
    label, first, _, n = said(X, *SETS[0])
    shares = np.where(np.arange({k}) == label[:, None], first, first / np.maximum(n, 1)[:, None])
    shares[n == 0] = 1.0
    return shares_of(shares)


def predict(X):
    return CLASSES[0][said(np.asarray(X, np.float64), *SETS[0])[0]]
"""
_NUMPY_MANY = """\

def totals(X):
    X = np.asarray(X, np.float64)
    total, row = np.zeros((len(X), {k})), np.arange(len(X))
    for own in SETS:
        label, first, votes, n = said(X, *own)
        sure = np.maximum(first[row, label], votes[row, label] / np.maximum(n, 1)) / {thousand}
        total[row, label] += np.where(n == 0, {undecided}, sure)
    return total


def predict_proba(X):
    return shares_of(totals(X))


def predict(X):
    return CLASSES[0][totals(X).argmax(axis=1)]
"""


def _conditions(own: VotingRules, language: Language) -> list[list[str]]:
    """Return what each rule asks, the most specific rule first."""
    return [[said_in(language, of_rule(test)) for test in body_of(own.rules, int(r))] for r in own.order]


def used_by(found: ReadVoters) -> list[int]:
    """Return the columns that rules ask about."""
    return sorted({int(j) for own in found.sets for j in own.rules.tests.feature})


def plain_source(found: ReadVoters, language: Language, head: list[str]) -> str:
    """Return the source of a function of a row, which begins with the lines ``head``."""
    assert found.columns.classes is not None
    k = found.columns.sizes[0]
    lines, is_one = list(head), len(found.sets) == 1
    lines += [] if is_one else [f"    totals = [0.0] * {k}"]
    for own in found.sets:
        lines.append("    holding = []")
        for r, parts in zip(own.order.tolist(), _conditions(own, language), strict=True):
            lines.append(f"    if {' and '.join(parts) or 'True'}:")
            lines.append(f"        holding.append(({int(own.rules.label[r])}, {int(own.vote[r])}))")
        lines.append(f"    label, first, votes, n = said(holding, {own.rules.default})")
        sure = f"max(first[label], votes[label] / n) / {THOUSAND} if n else {UNDECIDED!r}"
        lines += [] if is_one else [f"    totals[label] += {sure}"]
    classes = f"[{', '.join(map(literal, found.columns.classes[0]))}]"
    end = (_PLAIN_ONE if is_one else _PLAIN_MANY).format(classes=classes, k=k)
    return _PLAIN_SAID.format(k=k) + "\n".join(lines) + "\n" + end


def numpy_rules(found: ReadVoters, language: Language) -> str:
    """Return the source of functions of an array, behind the head of a source that has CLASSES."""
    k = found.columns.sizes[0]
    text = _NUMPY_SAID.format(k=k) + "\nSETS = [\n"
    for own in found.sets:
        text += "    ([\n"
        for parts in _conditions(own, language):
            text += f"        lambda X: {' & '.join(parts) or 'np.full(len(X), True)'},\n"
        label, vote = (listed(numbers[own.order].astype(np.int64)) for numbers in (own.rules.label, own.vote))
        text += f"    ], [{label}], [{vote}], {own.rules.default}),\n"
    template = _NUMPY_ONE if len(found.sets) == 1 else _NUMPY_MANY
    return f"{text}]\n" + template.format(k=k, undecided=repr(UNDECIDED), thousand=THOUSAND)


_MOST_RULES = 800  # that a query adds up


def rules_query(query: Any, found: ReadVoters) -> str:
    """Return a query of what rules say."""
    p, number, k = query.prefix, query.words.number, found.columns.sizes[0]
    most = max(own.rules.n_rules for own in found.sets)
    if most > _MOST_RULES:
        raise ExportError(f"sql: {most} rules vote, more than the {_MOST_RULES} that a query adds up; export as Python")
    sets = range(len(found.sets))
    conditions = [_conditions(own, query.language) for own in found.sets]
    inner = query.coded(used_by(found))
    holds = [[f"{p}h{s}_{r}" for r in range(len(conditions[s]))] for s in sets]
    added = [
        f"CASE WHEN {' AND '.join(parts) or '1 = 1'} THEN 1 ELSE 0 END AS {name}"
        for s in sets
        for parts, name in zip(conditions[s], holds[s], strict=True)
    ]
    inner = query.around(inner, added)
    added, first = [], [[f"{p}f{s}_{c}" for c in range(k)] for s in sets]
    votes = [[f"{p}v{s}_{c}" for c in range(k)] for s in sets]
    for s, own in enumerate(found.sets):
        label, vote = own.rules.label[own.order].tolist(), own.vote[own.order].tolist()
        added.append(f"{' + '.join(holds[s]) or '0'} AS {p}n{s}")
        for c in range(k):
            pairs = [(name, vote[r]) for r, name in enumerate(holds[s]) if label[r] == c]
            added.append(f"{' + '.join(f'{v} * {name}' for name, v in pairs) or '0'} AS {votes[s][c]}")
            cases = " ".join(f"WHEN {name} = 1 THEN {number(float(v))}" for name, v in pairs)
            added.append(f"{f'CASE {cases} ELSE {number(0.0)} END' if cases else number(0.0)} AS {first[s][c]}")
    inner = query.around(inner, added)
    is_one = len(found.sets) == 1
    carried = [name for s in sets for name in (f"{p}n{s}", *first[s], *([] if is_one else votes[s]))]
    labels = [
        f"CASE WHEN {p}n{s} = 0 THEN {own.rules.default} ELSE {query.largest_of(votes[s])} END AS {p}label{s}"
        for s, own in enumerate(found.sets)
    ]
    inner = query.around(inner, labels, carried)
    shares = []
    for c in range(k):
        terms = []
        for s in sets:
            if is_one:
                rest = f"{first[s][c]} / CASE {p}label{s} WHEN {c} THEN {number(1.0)} ELSE {p}n{s} END"
                terms.append(f"CASE {p}n{s} WHEN 0 THEN {number(1.0)} ELSE {rest} END")
            else:
                mean = f"{votes[s][c]} * {number(1.0)} / {p}n{s}"
                larger = f"CASE WHEN {first[s][c]} < {mean} THEN {mean} ELSE {first[s][c]} END"
                own_sure = f"{larger} / {number(float(THOUSAND))}"
                sure = f"CASE {p}n{s} WHEN 0 THEN {number(UNDECIDED)} ELSE {own_sure} END"
                terms.append(f"CASE {p}label{s} WHEN {c} THEN {sure} ELSE {number(0.0)} END")
        shares.append(f"{' + '.join([number(0.0), *terms])} AS {p}s{c}")
    inner = query.around(inner, shares, [f"{p}label0"] if is_one else [])
    s_names = [f"{p}s{c}" for c in range(k)]
    total = f"({' + '.join([number(0.0), *s_names])})"
    label = f"{p}label0" if is_one else query.largest_of(s_names)
    return str(query.final(inner, [label], [f"{one} / {total}" for one in s_names]))
