"""A model as Python source: plain, which imports nothing and answers a row, or of NumPy, which answers a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.export.languages import voting_rules
from dtnumba.export.languages.conditions import branches, of_rule, said_in
from dtnumba.export.languages.numpy_source import numpy_source
from dtnumba.export.languages.row_source import loop_source
from dtnumba.export.languages.source import ExportedText, literal, literals, number
from dtnumba.export.languages.voters import ReadVoters
from dtnumba.export.languages.voting_rules import used_by
from dtnumba.export.reading import ExportError, Nodes, ReadRules, ReadTrees, SumTerm, read, used_columns
from dtnumba.export.replay import AskedRows, Replies, places_of
from dtnumba.rules.layout import body_of
from dtnumba.rules.paths import ways_to_leaves
from dtnumba.trees.layout import depths
from dtnumba.trees.with_sums import terms_of

if TYPE_CHECKING:
    from collections.abc import Sequence

PYTHON_STYLES = ("plain", "numpy")
_MOST_DEPTH, _MOST_NODES = 40, 20_000  # of a tree that is written as one "if" in another; Python refuses 100


class PythonSource(ExportedText):
    """Python source as text; ``predict`` is its function."""

    style: str

    def run(self, rows: AskedRows) -> Replies:
        """Run the source on rows."""
        space: dict[str, Any] = {"__name__": "exported"}
        exec(compile(self, "<exported>", "exec"), space)  # noqa: S102  what this package has just written
        if self.style == "numpy":
            labels = space["predict"](rows.codes)
            shares = space["predict_proba"](rows.codes) if self.columns.classes is not None else labels
            listed = np.asarray(labels, object).reshape(len(rows.codes), -1).T.tolist()
            numbers = np.asarray(shares).reshape(len(rows.codes), -1)
        else:
            predict, given = space["predict"], rows.values()
            answers = [predict(row) for row in given]
            n_outputs = len(self.columns.sizes)
            listed = [answers] if n_outputs == 1 else [list(column) for column in zip(*answers, strict=True)]
            if self.columns.classes is not None:
                answers = [predict(row, proba=True) for row in given]
                if n_outputs > 1:
                    answers = [[x for part in answer for x in part] for answer in answers]
            numbers = np.array(answers, np.float64).reshape(len(given), -1)
        if self.columns.classes is None:
            return Replies(None, numbers)
        codes = [places_of(own, classes) for own, classes in zip(listed, self.columns.classes, strict=True)]
        return Replies(np.stack(codes, axis=1), numbers)


def python(model: Any, style: str = "plain", row_type: str = "float64") -> PythonSource:
    """Return a model as Python source.

    Parameters
    ----------
    model : fitted estimator
        Of trees, rules or splines.
    style : "plain" or "numpy"
        "plain": a function ``predict(row, proba=False)`` of a list of values, which needs no package: a small tree is
        one "if" in another, anything larger a loop over tables. "numpy": functions ``predict(X)`` and
        ``predict_proba(X)`` of an array; categories are places in the list ``LEVELS`` of the source.
    row_type : "float64" or "float32"
        Of the rows; it matters for C4.5, whose cuts are values of the table.

    Examples
    --------
    >>> from dtnumba import DecisionTreeClassifier, export
    >>> tree = DecisionTreeClassifier().fit([["sun", 1.0], ["rain", 2.0], ["fog", 8.0]], ["go", "stay", "stay"])
    >>> print(export.python(tree), end="")
    def predict(row, proba=False):
        x0 = {'fog': 0, 'rain': 1, 'sun': 2}.get(row[0], float('nan'))  # x0
        if x0 in {2}:
            return [1.0, 0.0] if proba else 'go'
        else:
            return [0.0, 1.0] if proba else 'stay'

    """
    if style not in PYTHON_STYLES:
        raise ValueError(f"style={style!r}: must be one of {', '.join(map(repr, PYTHON_STYLES))}")
    if hasattr(model, "splines_"):
        return _of_splines(model, style)
    found = read(model, row_type, sums=True, rule_sums=True)
    columns = found.columns
    for levels in (*columns.levels, *(columns.classes or ())):
        literals(levels or [], "python")
    if style == "numpy":
        text = numpy_source(found)
    elif isinstance(found, ReadVoters):
        text = voting_rules.plain_source(found, _Python(), [header(found), *reading_lines(found, used_by(found))])
    elif isinstance(found, ReadRules):
        text = _rules(found)
    elif _is_small(found):
        text = _nested(found)
    else:
        text = loop_source(found)
    source = PythonSource(text)
    source.columns, source.style = columns, style
    return source


def _of_splines(model: Any, style: str) -> PythonSource:
    from dtnumba.export.splines import in_python
    from dtnumba.export.splines.reading import TakesSomeRows, read_splines

    class SplineSource(TakesSomeRows, PythonSource):
        """Source of splines."""

    found = read_splines(model)
    for listed in (*found.columns.levels, *(found.columns.classes or ())):
        literals(listed or [], "python")
    source = SplineSource((in_python.numpy_source if style == "numpy" else in_python.plain_source)(found))
    source.columns, source.style, source.fill = found.columns, style, found.hinges.fill
    source.is_close = found.columns.classes is not None
    return source


def _is_small(found: ReadTrees) -> bool:
    trees = found.trees
    if found.is_mean or found.is_shared or trees.n_nodes > _MOST_NODES:
        return False
    if trees.is_graph and 2 * ways_to_leaves(trees) > _MOST_NODES:  # one "if" in another says each way for itself
        return False
    return int(depths(trees).max()) <= _MOST_DEPTH


class _Python:
    """Conditions in Python, about variables x0, x1, ... that are NaN where a value is missing."""

    def le(self, feature: int, cut: float) -> str:
        return f"x{feature} <= {number(cut)}"

    def gt(self, feature: int, cut: float) -> str:
        return f"x{feature} > {number(cut)}"

    def among(self, feature: int, codes: Sequence[int]) -> str:
        return f"x{feature} in {{{', '.join(map(str, codes))}}}" if codes else "False"

    def not_among(self, feature: int, codes: Sequence[int]) -> str:
        return f"(x{feature} == x{feature} and x{feature} not in {{{', '.join(map(str, codes))}}})"

    def missing(self, feature: int) -> str:
        return f"x{feature} != x{feature}"

    def known(self, feature: int) -> str:
        return f"x{feature} == x{feature}"

    def both(self, parts: Sequence[str]) -> str:
        return f"({' and '.join(parts)})"

    def either(self, parts: Sequence[str]) -> str:
        return f"({' or '.join(parts)})"

    def choose(self, pairs: Sequence[tuple[str, str]], otherwise: str) -> str:
        return f"({' else '.join([*(f'({one}) if ({known})' for known, one in pairs), otherwise])})"

    def constant(self, *, holds: bool) -> str:
        return str(holds)

    def sum_le(self, terms: Sequence[SumTerm], cut: float) -> str:
        return f"({self._any_known(terms)} and {self._sum(terms)} <= {number(cut)})"

    def sum_gt(self, terms: Sequence[SumTerm], cut: float) -> str:
        return f"({self._any_known(terms)} and {self._sum(terms)} > {number(cut)})"

    def sum_of(self, terms: Sequence[SumTerm]) -> str:
        return f"{self._sum(terms)} if {self._any_known(terms)} else float('nan')"

    def _any_known(self, terms: Sequence[SumTerm]) -> str:
        return self.either([self.known(term.column) for term in terms])

    def _sum(self, terms: Sequence[SumTerm]) -> str:
        parts = ((number(weight), f"x{j}", number(stand_in)) for j, weight, stand_in in terms)
        return " + ".join(f"{weight} * ({x} if {x} == {x} else {instead})" for weight, x, instead in parts)


def reading_lines(found: ReadTrees | ReadRules | ReadVoters, used: Sequence[int]) -> list[str]:
    """Return the lines that make numbers of the values of a row that are asked for."""
    columns, lines = found.columns, []
    for j in used:
        levels, name = columns.levels[j], columns.names[j]
        note = f"  # {name}" if name.isprintable() else ""
        if levels is None:
            lines.append(f"    x{j} = float('nan') if row[{j}] is None else float(row[{j}]){note}")
        else:
            places = ", ".join(f"{literal(level)}: {k}" for k, level in enumerate(levels))
            lines.append(f"    x{j} = {{{places}}}.get(row[{j}], float('nan')){note}")
    return lines


def says(columns: Any, codes: Sequence[int] | None, numbers: Sequence[float]) -> str:
    """Return what a place says that rows end at, as an expression."""
    if columns.classes is None:
        return number(numbers[0]) if len(numbers) == 1 else f"[{', '.join(map(number, numbers))}]"
    assert codes is not None
    parts, start = [], 0
    for size in columns.sizes:
        parts.append(f"[{', '.join(map(number, numbers[start : start + size]))}]")
        start += size
    labels = [literal(classes[k]) for classes, k in zip(columns.classes, codes, strict=True)]
    shares, label = (parts[0], labels[0]) if len(parts) == 1 else (f"[{', '.join(parts)}]", f"[{', '.join(labels)}]")
    return f"{shares} if proba else {label}"


def header(found: ReadTrees | ReadRules | ReadVoters) -> str:
    """Return the line that begins the function."""
    return "def predict(row):" if found.columns.classes is None else "def predict(row, proba=False):"


def _nested(found: ReadTrees) -> str:
    trees, nodes, language = found.trees, Nodes(found.trees), _Python()
    lines = [header(found), *reading_lines(found, used_columns(trees))]
    waiting: list[tuple[int, int, str | None]] = [(0, 1, None)]
    while waiting:
        node, depth, lead = waiting.pop()
        if lead is not None:
            lines.append(f"{'    ' * (depth - 1)}{lead}")
        if node < 0 or nodes.is_leaf(node):
            at = ~node if node < 0 else node
            codes = None if found.codes is None else found.codes[at].tolist()
            numbers = found.said[at, : found.columns.width].tolist()
            lines.append(f"{'    ' * depth}return {says(found.columns, codes, numbers)}")
            continue
        test = nodes.test(node)
        own = branches(test)
        for k, (condition, child) in reversed(list(enumerate(own))):
            asked = f"{'if' if k == 0 else 'elif'} {_bare(said_in(language, condition))}:"
            said = asked if k < len(own) - 1 else "else:"
            if len(own) == 1:
                said = "if True:"
            waiting.append((~node if child is None else test.children[child], depth + 1, said))
    return "\n".join(lines) + "\n"


def _bare(text: str) -> str:
    """Return a condition without brackets around all of it."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    level = 0
    for at, sign in enumerate(text):
        level += (sign == "(") - (sign == ")")
        if level == 0 and at < len(text) - 1:
            return text
    return text[1:-1]


def _rules(found: ReadRules) -> str:
    rules, language, columns = found.rules, _Python(), found.columns
    assert columns.classes is not None
    p, tested = len(columns.names), sorted(set(rules.tests.feature.tolist()))
    sums = {j: [SumTerm(*term) for term in terms_of(rules.linear, j - p)] for j in tested if j >= p}
    used = {j for j in tested if j < p} | {term.column for terms in sums.values() for term in terms}
    lines = [header(found), *reading_lines(found, sorted(used))]
    lines += [f"    x{j} = {language.sum_of(terms)}" for j, terms in sums.items()]
    n_classes = len(columns.classes[0])
    if found.by_votes:
        lines.append(f"    votes, holds = [0.0] * {n_classes}, False")
    for r in range(rules.n_rules):
        parts = [said_in(language, of_rule(test)) for test in body_of(rules, r)]
        lines.append(f"    if {' and '.join(parts) or 'True'}:")
        label = int(rules.label[r])
        if found.by_votes:
            lines += [f"        votes[{label}] += {number(float(rules.confidence[r]))}", "        holds = True"]
        else:
            lines.append(f"        return {says(columns, [label], found.shares[r].tolist())}")
    default = says(columns, [rules.default], found.shares[-1].tolist())
    if not found.by_votes:
        return "\n".join([*lines, f"    return {default}"]) + "\n"
    if n_classes > _SEQUENTIAL:
        raise ExportError(
            f"python: the shares of {n_classes} classes are sums of votes in an order of NumPy's own, which plain "
            "Python does not have; pass style='numpy'"
        )
    labels = f"[{', '.join(map(literal, columns.classes[0]))}]"
    lines += [
        "    if not holds:",
        f"        return {default}",
        "    total = 0.0",
        "    for vote in votes:",
        "        total += vote",
        f"    return [vote / max(total, 1e-300) for vote in votes] if proba else {labels}[votes.index(max(votes))]",
    ]
    return "\n".join(lines) + "\n"


_SEQUENTIAL = 7  # numbers that NumPy adds up one after another; eight and more it adds in pairs
