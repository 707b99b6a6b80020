"""Rules as a table of a page: conditions, class, and how sure each is; and as columns, to trace rows."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.export.pictures.node_columns import column
from dtnumba.export.pictures.page_parts import shown
from dtnumba.export.pictures.words import NodeWords, number
from dtnumba.rules.layout import body_of, condition_at

if TYPE_CHECKING:
    from dtnumba.export.reading import ReadRules

_HEAD = ("", "If", "Then", "Covers", "Correct", "Confidence", "Lift")


def rule_data(read_model: ReadRules) -> dict[str, Any]:
    """Return what the program of the page reads: the tests of the rules as columns, and what a rule says."""
    rules, tests = read_model.rules, read_model.rules.tests
    levels = [condition_at(tests, t).levels for t in range(len(tests.feature))]
    columns = {
        "n_tests": np.diff(rules.start),
        "feature": tests.feature,
        "kind": tests.kind,
        "low": tests.low,
        "high": tests.high,
        "missing": tests.missing,
        "n_levels": np.array([len(own) for own in levels], np.int64),
        "level": np.array([level for own in levels for level in own], np.int64),
        "label": rules.label,
        "confidence": rules.confidence,
        "shares": read_model.shares,
    }
    said = {"nRules": rules.n_rules, "byVotes": read_model.by_votes, "default": int(rules.default)}
    return said | {"rules": {name: column(own) for name, own in columns.items()}}


def rule_table(read_model: ReadRules) -> str:
    """Return the rules as markup, the default last, and a field that filters them."""
    rules, columns = read_model.rules, read_model.columns
    assert columns.classes is not None
    words = NodeWords(columns)
    classes = columns.classes[0]
    lines = []
    for r in range(rules.n_rules):
        tests = [f'<bdi dir="ltr" data-test>{escape(words.of_rule(test))}</bdi>' for test in body_of(rules, r)]
        numbers = (rules.covered[r], rules.correct[r], rules.confidence[r], rules.lift[r])
        label = f"<bdi>{shown(classes[rules.label[r]])}</bdi>"
        cells = [f"{r + 1:,}<small></small>", "<br>and ".join(tests) or "anything", label]
        cells += [number(float(x)) for x in numbers]
        lines.append(f'<tr data-rule tabindex="-1">{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>')
    default = f"<td><small></small></td><td>otherwise</td><td><bdi>{shown(classes[rules.default])}</bdi></td>"
    lines.append(f'<tr data-default tabindex="-1">{default}{"<td></td>" * 4}</tr>')
    head = "".join(f'<th scope="col">{name}</th>' for name in _HEAD)
    how = (
        "Of all rules that hold, the classes are weighed by confidence."
        if read_model.by_votes
        else "The first rule that holds answers."
    )
    return (
        f'<section><p>{how} <input id="rule-filter" type="search" placeholder="Find column or class" '
        'aria-label="Find column or class"> <span id="found" class="dim" role="status"></span> '
        '<label id="only-label" hidden><input id="only-passed" type="checkbox"> only rules that hold</label></p>'
        f'<table class="rule-table"><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table></section>'
    )
