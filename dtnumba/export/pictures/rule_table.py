"""Rules as a table of a page: conditions, class, and how sure each is; and as columns, to trace rows."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.export.languages.voters import ReadVoters
from dtnumba.export.pictures.node_columns import column
from dtnumba.export.pictures.page_parts import shown
from dtnumba.export.pictures.words import NodeWords, number
from dtnumba.export.reading import ReadRules
from dtnumba.rules.c50.make_rules import THOUSAND
from dtnumba.rules.c50.votes import UNDECIDED
from dtnumba.rules.layout import body_of, condition_at

if TYPE_CHECKING:
    from dtnumba.rules.layout import Rules

_HEAD = ("", "If", "Then", "Covers", "Correct", "Confidence", "Lift")


def _sets(read_model: ReadRules | ReadVoters) -> list[Rules]:
    return [read_model.rules] if isinstance(read_model, ReadRules) else [own.rules for own in read_model.sets]


def rule_data(read_model: ReadRules | ReadVoters) -> dict[str, Any]:
    """Return what the program of the page reads: the tests of the rules as columns, and what a rule says."""
    sets = _sets(read_model)
    levels = [condition_at(own.tests, t).levels for own in sets for t in range(len(own.tests.feature))]
    of_tests = ("feature", "kind", "low", "high", "missing")
    columns: dict[str, Any] = {
        "n_tests": np.concatenate([np.diff(own.start) for own in sets]),
        **{name: np.concatenate([getattr(own.tests, name) for own in sets]) for name in of_tests},
        "n_levels": np.array([len(own) for own in levels], np.int64),
        "level": np.array([level for own in levels for level in own], np.int64),
        "label": np.concatenate([own.label for own in sets]),
    }
    said: dict[str, Any] = {"nRules": sum(own.n_rules for own in sets), "default": int(sets[0].default)}
    if isinstance(read_model, ReadRules):
        columns |= {"confidence": sets[0].confidence, "shares": read_model.shares}
        said["byVotes"] = read_model.by_votes
    else:
        begin = np.cumsum([0, *(own.n_rules for own in sets)])
        orders = [own.order + at for own, at in zip(read_model.sets, begin, strict=False)]
        columns |= {
            "vote": np.concatenate([own.vote for own in read_model.sets]),
            "order": np.concatenate(orders).astype(np.int64),
            "set_stop": begin[1:],
            "defaults": np.array([own.default for own in sets]),
        }
        said |= {"byVotes": True, "undecided": UNDECIDED, "thousand": THOUSAND}
    return said | {"rules": {name: column(own) for name, own in columns.items()}}


def rule_table(read_model: ReadRules | ReadVoters) -> str:
    """Return the rules as markup, the default last, and a field that filters them."""
    sets, columns = _sets(read_model), read_model.columns
    assert columns.classes is not None
    words = NodeWords(columns)
    classes = columns.classes[0]
    lines = []
    for trial, rules, r in ((t, own, r) for t, own in enumerate(sets) for r in range(own.n_rules)):
        tests = [f'<bdi dir="ltr" data-test>{escape(words.of_rule(test))}</bdi>' for test in body_of(rules, r)]
        numbers = (rules.covered[r], rules.correct[r], rules.confidence[r], rules.lift[r])
        label = f"<bdi>{shown(classes[rules.label[r]])}</bdi>"
        place = f"{trial}/{r + 1:,}" if len(sets) > 1 else f"{r + 1:,}"
        cells = [f"{place}<small></small>", "<br>and ".join(tests) or "anything", label]
        cells += [number(float(x)) for x in numbers]
        lines.append(f'<tr data-rule tabindex="-1">{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>')
    said = [f"<bdi>{shown(classes[own.default])}</bdi>" for own in sets]
    otherwise = ", ".join(f"{t}: {one}" for t, one in enumerate(said)) if len(sets) > 1 else said[0]
    default = f"<td><small></small></td><td>otherwise</td><td>{otherwise}</td>"
    lines.append(f'<tr data-default tabindex="-1">{default}{"<td></td>" * 4}</tr>')
    head = "".join(f'<th scope="col">{name}</th>' for name in _HEAD)
    how = "Of all rules that hold, the classes are weighed by confidence."
    if isinstance(read_model, ReadVoters) and len(sets) > 1:
        how = f"Of the rules of each of {len(sets)} trials those that hold vote for a class, and then the trials do."
    elif isinstance(read_model, ReadRules) and not read_model.by_votes:
        how = "The first rule that holds answers."
    return (
        f'<section><p>{how} <input id="rule-filter" type="search" placeholder="Find column or class" '
        'aria-label="Find column or class"> <span id="found" class="dim" role="status"></span> '
        '<label id="only-label" hidden><input id="only-passed" type="checkbox"> only rules that hold</label></p>'
        f'<table class="rule-table"><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table></section>'
    )
