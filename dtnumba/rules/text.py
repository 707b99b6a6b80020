"""Rules as sentences, and sentences as rules.

A rule is a line: ``if outlook is sunny and humidity <= 75.0 then play [covers 2, correct 2, ...]``; the last line,
``otherwise play``, is what answers where no rule holds. Words that are not plain names are written in double quotes.
What stands in brackets may be left out, blank lines and lines that begin with # are skipped. A sum over columns stands
in the place of a column, each with its weight: ``0.5*length - 2.0*(width or 1.5) <= 3.0``, where a missing width counts
as 1.5, and a missing length makes the sum missing.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dtnumba.rules.layout import LEVELS, OUTSIDE, RANGE, Condition, Rules, body_of
from dtnumba.tables.floats import BETWEEN_VALUES, AtFloats, Between, of_columns
from dtnumba.trees.formulas import is_weight, spoken, written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dtnumba.trees.with_sums import Terms


_GRAMMAR = {"if", "and", "then", "otherwise", "is", "in", "not", "or", "missing", "known", "anything"}
_WORDS = _GRAMMAR | {"True", "False", "None", "nan", "inf"}
_PLAIN = re.compile(r"[^\W\d]\w*")
_TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|<=|<|>|[{},()\[\]]|[^\s{},()\[\]<>="]+)')
_NUMBERS = ("covers", "correct", "confidence", "lift")
_FLOATS = {16: np.float16, 32: np.float32, 64: np.float64}
_MOST = 1e100  # of a number in brackets; estimates of errors square it


class Words(NamedTuple):
    """The words for columns, their categories and the classes."""

    names: list[str]
    levels: Sequence[Any]  # of each column, None of one of numbers
    classes: list[str] | None  # None where the text alone says what they are
    cuts_at: Between | AtFloats = BETWEEN_VALUES  # as of Rules
    sums: Sequence[Terms] = ()  # what columns behind these are


class Said(NamedTuple):
    """The rules of a text."""

    bodies: list[list[Condition]]
    label: list[str]
    default: str
    numbers: list[dict[str, float]]  # of each rule, as far as they are there
    sums: dict[Terms, int]  # what columns behind those of the table are, numbered


def names_of(n_features: int, names: NDArray[Any] | None) -> list[str]:
    """Return what columns are called: x0, x1, ... where they have no names."""
    return [f"x{j}" for j in range(n_features)] if names is None else [str(name) for name in names]


def word(value: Any) -> str:
    """Return a name, a label or a level as it is written: in quotes where it is text that could be misread."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, (bool, int, float)):
        return repr(value)
    text = value if isinstance(value, str) else str(value)
    is_plain = _PLAIN.fullmatch(text) and text not in _WORDS
    return text if is_plain else json.dumps(text, ensure_ascii=False)


def value_of(token: str) -> Any:
    """Return the label that a token stands for where nothing else says it: text, a number, True or False."""
    if token in {"True", "False"}:
        return token == str(True)
    if token.startswith('"'):
        return json.loads(token)
    try:
        return float(token) if any(sign in token for sign in ".einE") else int(token)
    except ValueError:
        return token


def sentence(test: Condition, words: Words, most: int | None = None) -> str:
    """Return one test as words; of a long list of levels the first ``most``, and how many more there are."""
    name, levels = _subject(test.feature, words), _levels_of(test.feature, words)
    if test.kind == LEVELS:
        text = _levels(name, test.levels, levels, most)
        is_never = not test.levels
    else:
        text = _range(name, test, levels, words.cuts_at)
        is_never = test.kind == RANGE and test.low == np.inf
    if is_never and test.missing:
        return f"{name} is missing"
    return f"{text} (or missing)" if test.missing else text


def _subject(j: int, words: Words) -> str:
    """Return the name of a column, or a sum over columns with all digits of its weights."""
    p = len(words.names)
    return word(words.names[j]) if j < p else written(words.sums[j - p], lambda column: word(words.names[column]))


def _levels_of(j: int, words: Words) -> Any:
    return words.levels[j] if j < len(words.names) else None


def _levels(name: str, chosen: tuple[int, ...], levels: Any, most: int | None) -> str:
    inside = set(chosen)
    others = [level for level in range(len(levels)) if level not in inside]
    if chosen and not others:
        return f"{name} is known"
    sign, named = ("not ", others) if len(others) < len(chosen) else ("", list(chosen))
    shown = [word(levels[level]) for level in named[:most]]
    if len(shown) < len(named):
        shown.append(f"and {len(named) - len(shown):,} more")
    if len(shown) == 1:
        return f"{name} is {sign}{shown[0]}"
    return f"{name} {sign}in {{{', '.join(shown)}}}"


def _range(name: str, test: Condition, levels: Any, cuts_at: Between | AtFloats) -> str:
    bits = 64 if isinstance(cuts_at, Between) else int(of_columns(cuts_at.bits, test.feature))

    def bound(x: float) -> str:
        if levels is not None and 0 <= x < len(levels):
            return word(levels[int(x)])
        return repr(float(str(_FLOATS[bits](x))))  # a value of a narrow type has fewer digits there

    low, high = test.low, test.high
    if test.kind == OUTSIDE:
        return f"{name} <= {bound(low)} or > {bound(high)}"
    if low == low and high < np.inf:
        return f"{bound(low)} < {name} <= {bound(high)}"
    if low == low:
        return f"{name} > {bound(low)}"
    return f"{name} <= {bound(high)}" if high < np.inf else f"{name} is known"


def shown_number(value: float, digits: int | None) -> str:
    """Return a number with so many significant digits, or all of them."""
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return repr(float(value)) if digits is None else f"{value:.{digits}g}"


def line_of(rules: Rules, r: int, words: Words, digits: int | None) -> str:
    """Return a rule as a sentence."""
    assert words.classes is not None
    outcomes = " and ".join(sentence(test, words) for test in body_of(rules, r)) or "anything"
    values = (rules.covered[r], rules.correct[r], rules.confidence[r], rules.lift[r])
    numbers = (f"{name} {shown_number(float(x), digits)}" for name, x in zip(_NUMBERS, values, strict=True))
    return f"if {outcomes} then {words.classes[rules.label[r]]} [{', '.join(numbers)}]"


def last_line(rules: Rules, words: Words) -> str:
    """Return the sentence about the default."""
    assert words.classes is not None
    return f"otherwise {words.classes[rules.default]}"


def read_rules(text: str, words: Words) -> Said:
    """Return what a text says; ValueError names the line that cannot be read, and why."""
    if not isinstance(text, str):
        raise TypeError(f"text={text!r}: must be a str, with a rule a line, as to_text() writes them")
    outcomes, default = Said([], [], "", [], {}), ""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        reader = _Line(line, number, words, outcomes.sums)
        if default:
            raise reader.error("it stands after 'otherwise', which answers all that is left", "put it above that line")
        if reader.takes("otherwise"):
            default = reader.label()
            reader.end()
            continue
        reader.expects("if")
        outcomes.bodies.append(reader.body())
        outcomes.label.append(reader.label())
        outcomes.numbers.append(reader.numbers())
        reader.end()
    if not default:
        raise ValueError(
            "text: no line says what answers where no rule holds; end it with 'otherwise CLASS', as to_text() does"
        )
    bounded = {test.feature for body in outcomes.bodies for test in body if test.kind != LEVELS}
    bodies = [[_as_range(test, bounded, words) for test in body] for body in outcomes.bodies]
    _check_kinds(bodies, words)
    return outcomes._replace(default=default, bodies=bodies)


def _as_range(test: Condition, bounded: set[int], words: Words) -> Condition:
    """Return "is known" and "is missing" as a RANGE where the column has levels, and bounds stand among them."""
    if test.kind != LEVELS or test.feature not in bounded:
        return test
    if len(test.levels) not in {0, len(words.levels[test.feature])}:
        return test
    low, high = (np.nan, np.inf) if test.levels else (np.inf, -np.inf)
    return Condition(test.feature, RANGE, low, high, missing=test.missing)


def _check_kinds(bodies: list[list[Condition]], words: Words) -> None:
    kinds: dict[int, bool] = {}
    for body in bodies:
        for test in body:
            if kinds.setdefault(test.feature, test.kind == LEVELS) != (test.kind == LEVELS):
                raise ValueError(
                    f"text: {words.names[test.feature]!r} is compared with bounds in one rule and with levels in "
                    "another; use one of both throughout"
                )


def _is_readable(token: str) -> bool:
    if token.startswith('"'):
        try:
            json.loads(token)
        except ValueError:
            return False
    return True


@dataclass
class _Line:
    """One line, read from the left."""

    line: str
    number: int
    words: Words
    sums: dict[Terms, int]  # those met so far, in out

    def __post_init__(self) -> None:
        self._tokens, self._at, at = [], 0, 0
        line = self.line.rstrip()
        while at < len(line):
            match = _TOKEN.match(line, at)
            if match is None:
                raise self.error(f"{line[at:].strip()!r} cannot be read", "write it as to_text() does")
            if not _is_readable(match[1]):
                raise self.error(f"{match[1]} is no text in quotes", r'write \\ for \ and \" for " between quotes')
            self._tokens.append(match[1])
            at = match.end()

    def error(self, what: str, remedy: str) -> ValueError:
        """Return the error about this line."""
        return ValueError(f"text, line {self.number}, {self.line.strip()!r}: {what}; {remedy}")

    def peek(self, ahead: int = 0) -> str:
        """Return the next token, "" at the end."""
        at = self._at + ahead
        return self._tokens[at] if at < len(self._tokens) else ""

    def next(self) -> str:
        """Return the next token, and go past it."""
        token = self.peek()
        if not token:
            raise self.error("it ends too early", "write 'if TESTS then CLASS'")
        self._at += 1
        return token

    def takes(self, *expected: str) -> bool:
        """Go past tokens if they are the next ones; tell whether they were."""
        is_there = all(self.peek(k) == token for k, token in enumerate(expected))
        self._at += len(expected) if is_there else 0
        return is_there

    def expects(self, token: str) -> None:
        """Go past a token that must be the next one."""
        if not self.takes(token):
            raise self.error(f"{token!r} should stand where {self.peek() or 'its end'!r} does", "write it as to_text()")

    def end(self) -> None:
        """Check that nothing is left."""
        if self.peek():
            raise self.error(f"{self.peek()!r} is one word too many", "put words with blanks or signs in double quotes")

    def label(self) -> str:
        """Read a class."""
        token = self.next()
        known = self.words.classes
        if known is not None and token not in known:
            raise self.error(f"{token} is none of the classes {', '.join(known[:10])}", "use one of these")
        return token

    def body(self) -> list[Condition]:
        """Read the tests of a rule, up to its class."""
        found: list[Condition] = []
        if not self.takes("anything"):
            found.append(self._test())
            while self.takes("and"):
                found.append(self._test())
        self.expects("then")
        return found

    def _test(self) -> Condition:
        test = self._bare_test()
        return test._replace(missing=True) if self.takes("(", "or", "missing", ")") else test

    def _bare_test(self) -> Condition:
        if self.peek(1) == "<":
            start = self.next()
            self.next()
            j = self._subject()
            self.expects("<=")
            return Condition(j, RANGE, self._bound(start, j), self._bound(self.next(), j))
        j = self._subject()
        if self.takes("<="):
            high = self._bound(self.next(), j)
            if self.takes("or", ">"):
                return Condition(j, OUTSIDE, high, self._bound(self.next(), j))
            return Condition(j, RANGE, np.nan, high)
        if self.takes(">"):
            return Condition(j, RANGE, self._bound(self.next(), j))
        return self._named(j)

    def _named(self, j: int) -> Condition:
        """Read what stands after the name of a column, other than bounds."""
        levels, name = _levels_of(j, self.words), self._called(j)
        if self.takes("is", "missing"):
            nothing = Condition(j, RANGE, np.inf, -np.inf) if levels is None else Condition(j, LEVELS)
            return nothing._replace(missing=True)
        if self.takes("is", "known"):
            return Condition(j) if levels is None else Condition(j, LEVELS, levels=tuple(range(len(levels))))
        is_not = self.takes("is", "not") or self.takes("not")
        if (is_not and self.takes("in", "{")) or self.takes("in", "{"):
            named = []
            while not self.takes("}"):
                named.append(self._level(self.next(), j))
                if self.peek() != "}":
                    self.expects(",")
        elif is_not or self.takes("is"):
            named = [self._level(self.next(), j)]
        else:
            raise self.error(
                f"{self.peek() or 'nothing'!r} after {name} is no test",
                "write <=, >, 'is', 'in {...}', 'is missing' or 'is known'",
            )
        if levels is None:
            raise self.error(f"{name} has no levels", "compare it by <= or >")
        chosen = set(range(len(levels))) - set(named) if is_not else set(named)
        return Condition(j, LEVELS, levels=tuple(sorted(chosen)))

    def _called(self, j: int) -> str:
        p = len(self.words.names)
        return repr(self.words.names[j]) if j < p else "the sum"

    def _subject(self) -> int:
        """Read a column, or a sum over columns."""
        if not is_weight(self.peek()):
            return self._feature(self.next())
        try:
            found, self._at = spoken(self._tokens, self._at)
        except ValueError as error:
            raise self.error(str(error), "write weight*column, joined by + and -") from error
        terms = []
        for name, weight, stand_in in found:
            j = self._feature(name)
            if self.words.levels[j] is not None:
                raise self.error(f"{self.words.names[j]!r} is a category", "add up columns of numbers")
            terms.append((j, weight, self._bound(stand_in, j) if stand_in else np.nan))
        if len({j for j, _, _ in terms}) < len(terms) or not all(0.0 < abs(weight) < np.inf for _, weight, _ in terms):
            raise self.error("this is no sum", "name a column once, with a weight that is a number and not 0")
        return len(self.words.names) + self.sums.setdefault(tuple(terms), len(self.sums))

    def _feature(self, token: str) -> int:
        name = json.loads(token) if token.startswith('"') else token
        if name not in self.words.names:
            raise self.error(
                f"there is no column {name!r}", f"the columns are {', '.join(map(repr, self.words.names[:10]))}"
            )
        return self.words.names.index(name)

    def _level(self, token: str, j: int) -> int:
        levels = _levels_of(j, self.words)
        if levels is None:
            what = f"{self.words.names[j]!r} is a column" if j < len(self.words.names) else "it is a sum"
            raise self.error(f"{what} of numbers", "compare it by <= or >")
        known = [word(level) for level in levels]
        if token not in known:
            raise self.error(
                f"{token} is no level of {self.words.names[j]!r}", f"its levels are {', '.join(known[:10])}"
            )
        return known.index(token)

    def _bound(self, token: str, j: int) -> float:
        levels = _levels_of(j, self.words)
        if levels is not None and token in map(word, levels):
            return float(self._level(token, j))
        try:
            bound = float(token)
        except ValueError:
            bound = np.nan
        if bound != bound:
            raise self.error(f"{token} is no number to compare {self._called(j)} with", "write one, e.g. 1.5")
        return bound

    def numbers(self) -> dict[str, float]:
        """Read what stands in brackets, if anything does."""
        found: dict[str, float] = {}
        if not self.takes("["):
            return found
        while not self.takes("]"):
            name, token = self.next(), self.next()
            try:
                found[name] = float(token)
            except ValueError:
                found[name] = np.nan
            most = 1.0 if name == "confidence" else _MOST
            if name not in _NUMBERS or not 0.0 <= found[name] <= most:
                raise self.error(
                    f"{name} {token} is not what brackets hold",
                    "write covers, correct and lift with numbers of 0 or more, and confidence with one from 0 to 1",
                )
            if self.peek() != "]":
                self.expects(",")
        return found
