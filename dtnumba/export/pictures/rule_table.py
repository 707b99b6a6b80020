"""Rules as a table of a page: conditions, class, and how sure each is."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from dtnumba.export.pictures.page_parts import shown
from dtnumba.export.pictures.words import NodeWords, number
from dtnumba.rules.layout import body_of

if TYPE_CHECKING:
    from dtnumba.export.reading import ReadRules

_HEAD = ("", "If", "Then", "Covers", "Correct", "Confidence", "Lift")


def rule_data(read_model: ReadRules) -> dict[str, Any]:
    """Return what the program of the page reads: how many rules there are."""
    return {"nRules": read_model.rules.n_rules}


def rule_table(read_model: ReadRules) -> str:
    """Return the rules as markup, the default last, and a field that filters them."""
    rules, columns = read_model.rules, read_model.columns
    assert columns.classes is not None
    words = NodeWords(columns)
    classes = columns.classes[0]
    lines = []
    for r in range(rules.n_rules):
        tests = [f"<bdi>{escape(words.of_rule(test))}</bdi>" for test in body_of(rules, r)]
        numbers = (rules.covered[r], rules.correct[r], rules.confidence[r], rules.lift[r])
        cells = [str(r + 1), "<br>and ".join(tests) or "anything", f"<bdi>{shown(classes[rules.label[r]])}</bdi>"]
        cells += [number(float(x)) for x in numbers]
        lines.append(f"<tr data-rule>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    default = f"<td></td><td>otherwise</td><td><bdi>{shown(classes[rules.default])}</bdi></td>"
    lines.append(f"<tr>{default}{'<td></td>' * 4}</tr>")
    head = "".join(f'<th scope="col">{name}</th>' for name in _HEAD)
    how = (
        "Of all rules that hold, the classes are weighed by confidence."
        if read_model.by_votes
        else "The first rule that holds answers."
    )
    return (
        f'<section class="rules"><p>{how} <input id="rule-filter" type="search" placeholder="Find column or class" '
        'aria-label="Find column or class"> <span id="found" class="dim" role="status"></span></p>'
        f'<table class="rule-table"><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table></section>'
    )
