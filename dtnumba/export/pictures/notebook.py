"""A model in a notebook: parameters, what ``fit`` has found, the top of a tree that unfolds; markup alone, small."""

from __future__ import annotations

from dataclasses import MISSING, fields
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.export.pictures.facts import facts_of, parameters_of
from dtnumba.export.pictures.page_parts import shown
from dtnumba.export.pictures.picture_nodes import PictureNodes
from dtnumba.trees.layout import depths, one_tree

if TYPE_CHECKING:
    from collections.abc import Iterable

_DEEP, _MOST_NODES, _MOST_RULES, _LONGEST = 4, 64, 20, 120
_STYLE = """<style>
.dtnumba { font: 13px/1.5 system-ui, sans-serif; max-width: 900px; border: 1px solid rgb(128 128 128 / 35%);
  border-radius: 8px; padding: 8px 12px; }
.dtnumba summary { cursor: pointer; } .dtnumba details details, .dtnumba .leaf { margin-left: 18px; }
.dtnumba .leaf { padding-left: 14px; } .dtnumba .dim { opacity: 0.65; }
.dtnumba dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 14px; margin: 4px 0 8px 18px; }
.dtnumba dt, .dtnumba dd { margin: 0; padding: 0; font-weight: 400; } .dtnumba .changed { font-weight: 600; }
.dtnumba ol { margin: 4px 0 8px; }
</style>"""


def shown_in_notebook(model: Any) -> str:
    """Return a model as markup, fitted or not."""
    is_fitted = model.__sklearn_is_fitted__()
    facts = " &middot; ".join(map(shown, facts_of(model))) if is_fitted else "not fitted"
    parts = [
        _STYLE,
        f'<div class="dtnumba"><strong>{shown(type(model).__name__)}</strong> <span class="dim">{facts}</span>',
    ]
    parts.append(_parameters(model))
    if is_fitted and hasattr(model, "rules_"):
        parts.append(_rules(model))
    elif is_fitted and hasattr(model, "splines_"):
        parts.append(_terms(model))
    elif is_fitted and hasattr(model, "trees_"):
        parts.append(_tree(model.estimators_[0] if hasattr(model, "trial_trees_") else model))
    return "".join([*parts, "</div>"])


def _parameters(model: Any) -> str:
    defaults = {field.name: field.default for field in fields(model)}
    rows, n_changed = [], 0
    for name, text in parameters_of(model):
        default = defaults.get(name, MISSING)
        is_changed = default is MISSING or text != repr(default)
        n_changed += is_changed
        kind = ' class="changed"' if is_changed else ""
        rows.append(f"<dt{kind}>{shown(name)}</dt><dd{kind}><bdi>{shown(_short(text))}</bdi></dd>")
    how = f"{n_changed} set, " if n_changed else ""
    return _folded(f"Parameters <span class='dim'>({how}{len(rows)} in all)</span>", f"<dl>{''.join(rows)}</dl>")


def _rules(model: Any) -> str:
    rules = model.rules_[0] if isinstance(model.rules_, list) else model.rules_  # of the first trial
    lines = [f"<li><bdi>{shown(_short(str(rule)))}</bdi></li>" for rule in islice(rules, _MOST_RULES)]
    n_more = len(rules) - len(lines)
    more = f"<div class='leaf dim'>and {n_more:,} more</div>" if n_more else ""
    last = f"<div class='leaf'>otherwise <bdi>{shown(_short(str(rules.default)))}</bdi></div>"
    return _folded("Rules", f"<ol>{''.join(lines)}</ol>{more}{last}")


def _terms(model: Any) -> str:
    from dtnumba.export.as_text import text

    lines = text(model).splitlines()
    items = [f"<li><bdi>{shown(_short(line.strip()))}</bdi></li>" for line in lines[:_MOST_RULES]]
    n_more = len(lines) - len(items)
    more = f"<div class='leaf dim'>and {n_more:,} more</div>" if n_more else ""
    return _folded("Terms", f"<ol>{''.join(items)}</ol>{more}")


def _tree(model: Any) -> str:
    of_level = np.cumsum(np.bincount(depths(one_tree(model.trees_, 0))))
    deep = min(_DEEP, max(0, int(np.searchsorted(of_level, _MOST_NODES, side="right")) - 1))
    nodes = PictureNodes(model, 0, deep)
    n_trees = model.trees_.n_trees
    title = "Tree" if n_trees == 1 else f"Tree 0 <span class='dim'>of {n_trees:,}</span>"
    whole: list[str] = [""] * len(nodes.ids)
    for at in range(len(nodes.ids) - 1, -1, -1):  # children stand behind their parents
        own = "".join(whole[child] for child in nodes.children[at])
        if own:
            whole[at] = _folded(_node(nodes, at), own, is_open=at == 0)
            continue
        more = "" if nodes.is_leaf(at) else f" <span class='dim'>+ {nodes.below(at):,} nodes below</span>"
        whole[at] = f"<div class='leaf'>{_node(nodes, at)}{more}</div>"
    return _folded(title, whole[0])


def _node(nodes: PictureNodes, at: int) -> str:
    says = ", ".join(f"{_short(label)} {part}".rstrip() for label, part in nodes.says(at)[:4])
    parts: Iterable[str] = filter(None, (f"<bdi dir='ltr'>{escape(says)}</bdi>" if says else "", nodes.rows(at)))
    way = f"<b><bdi dir='ltr'>{escape(_short(nodes.way(at)))}</bdi></b>"
    return f"{way} <span class='dim'>{' &middot; '.join(parts)}</span>"


def _folded(title: str, body: str, *, is_open: bool = False) -> str:
    return f"<details{' open' * is_open}><summary>{title}</summary>{body}</details>"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "\u2026"
