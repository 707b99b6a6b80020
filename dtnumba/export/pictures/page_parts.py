"""One page of its parts: a frame, a style, data that no text can break out of, and a program."""

from __future__ import annotations

import json
import re
from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from dtnumba.export.pictures.words import clean

if TYPE_CHECKING:
    from collections.abc import Iterable

_PROGRAM = ("model.js", "tidy.js", "view.js", "form.js", "page.js")
_TO_REPORT = '<a class="link" href="#report">Report</a>\n'
_RULES_PROGRAM = ("model.js", "form.js", "rules.js")
_PLACE = re.compile(r"@([A-Z]+)@")


class Html(str):
    """A page, or a part of one: text that is written to a file as it is, and that notebooks show."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """Show a page in a frame of its own, so that its style and its program stay there."""
        return f'<iframe srcdoc="{escape(self)}" style="width: 100%; height: 640px; border: 0"></iframe>'


class Page(NamedTuple):
    """What stands on a page; all but ``data`` is markup already."""

    title: str
    facts: Iterable[str]
    about: str
    rules: str  # their table; of trees, which are drawn, nothing
    report: str
    data: dict[str, Any]


@cache
def asset(name: str) -> str:
    """Return the text of a file beside this module."""
    return (files("dtnumba.export.pictures") / name).read_text(encoding="utf-8")


def shown(value: Any) -> str:
    """Return text for a page, as one line that cannot be read as markup."""
    return escape(clean(value), quote=True)


def as_data(value: Any) -> str:
    """Return JSON that may stand inside a script: no sign that ends it, or that a line ends with."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def written(page: Page) -> Html:
    """Return the page as one text."""
    form, has_tree = asset("row_form.html"), not page.rules
    if has_tree:
        body = _filled(asset("tree_body.html"), {"ABOUT": page.about, "FORM": form})
    else:
        body = _filled(asset("rules_body.html"), {"TABLE": page.rules, "ABOUT": page.about, "FORM": form})
    parts = {
        "TITLE": shown(page.title),
        "FACTS": " &middot; ".join(page.facts),
        "STYLE": asset("page.css"),
        "TOOLS": (asset("tree_tools.html") if has_tree else "") + (_TO_REPORT if page.report else ""),
        "BODY": body,
        "REPORT": page.report,
        "DATA": as_data(page.data),
        "PROGRAM": "".join(asset(name) for name in (_PROGRAM if has_tree else _RULES_PROGRAM)),
    }
    return Html(_filled(asset("page.html"), parts))


def _filled(frame: str, parts: dict[str, str]) -> str:
    """Return a frame with its places filled, once: what is filled in is not looked at again."""
    return _PLACE.sub(lambda match: parts[match[1]], frame)


def table_of_facts(facts: Iterable[tuple[str, Any]]) -> str:
    """Return names and values as a list of definitions."""
    rows = "".join(f"<dt>{shown(name)}</dt><dd><bdi>{shown(value)}</bdi></dd>" for name, value in facts)
    return f"<dl>{rows}</dl>"
