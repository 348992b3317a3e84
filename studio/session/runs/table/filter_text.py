"""The language of filters, ``lr < 0.01 and accuracy > 90 %``: from text to conditions with positions."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

LONGEST, DEEPEST = 2000, 50
OPERATORS = ("<", "<=", ">", ">=", "=", "!=", "~", "!~")
# What a number may be followed by, and what it is multiplied by.
UNITS = {
    "%": 0.01,
    **{"µs": 1e-6, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0},
    **{"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "k": 1e3, "M": 1e6},
}
_NUMBER = r"[+\-\u2212]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_TOKEN = re.compile(
    rf"""\s*(?:
    (?P<quoted>"[^"]*"?)
    | (?P<operator><=|>=|==|!=|!~|<|>|=|~|\u2264|\u2265|\u2260)
    | (?P<mark>[(),])
    | (?P<number>{_NUMBER})(?P<unit>\s*%|\s*(?:µs|us|ms|min|s|h|kB|MB|GB|B|k|M)(?![\w.\-]))?(?![\w.\-:])
    | (?P<word>[^\s(),<>=!~"\u2264\u2265\u2260]+)
    | (?P<other>\S)
    )""",
    re.VERBOSE,
)
_SAME = {"==": "=", "\u2264": "<=", "\u2265": ">=", "\u2260": "!="}
VALUE = 'a number, a word or "text"'
CONDITION = 'a column with an operator, a word, "text", not or ('


class FilterError(ValueError):
    """A filter that can't be used: ``position`` counts characters from 0, ``length`` those that are wrong."""

    def __init__(self, message: str, position: int, length: int = 1) -> None:
        super().__init__(f"position {position + 1}: {message}")
        self.position, self.length = position, max(length, 1)


@dataclass(frozen=True)
class Operand:
    """A value: ``number`` is None for a text."""

    text: str
    number: float | None
    position: int
    unit: str = ""


@dataclass(frozen=True)
class Words:
    """A text that must be in the name, tags, note, model, data or state."""

    text: str


@dataclass(frozen=True)
class Comparison:
    """A column, an operator and its value; ``in`` has several."""

    column: str
    operator: str
    values: tuple[Operand, ...]
    position: int
    place: int  # of the operator


@dataclass(frozen=True)
class Not:
    """The opposite of a condition."""

    condition: Condition


@dataclass(frozen=True)
class Both:
    """``and`` or ``or`` of conditions."""

    word: Literal["and", "or"]
    conditions: tuple[Condition, ...]


Condition: TypeAlias = Words | Comparison | Not | Both


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    position: int
    number: float | None = None
    unit: str = ""

    @property
    def length(self) -> int:
        return max(len(self.text), 1)

    def is_word(self, *words: str) -> bool:
        return self.kind == "word" and self.text.lower() in words


def parse_filter(text: str) -> Condition | None:
    """The condition that a filter states; None for an empty one.

    Raises:
        FilterError: with the position, what was read there, and what is allowed.
    """
    if len(text) > LONGEST:
        raise FilterError(f"the filter is too long: {len(text)} characters; at most {LONGEST}", LONGEST)
    parser = _Parser(_tokens(text), len(text))
    return parser.whole() if len(parser.tokens) > 1 else None


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    at = 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        assert match is not None
        kind = str(match.lastgroup if match.lastgroup != "unit" else "number")
        start, part = match.start(kind), match[kind]
        if kind == "quoted" and (len(part) < 2 or not part.endswith('"')):
            raise FilterError('the quotation mark is not closed; add " at the end', start, len(part))
        if kind == "other":
            raise FilterError(f"{part!r} has no meaning here; allowed: {CONDITION}", start)
        number, unit = None, (match["unit"] or "").strip()
        if kind == "number":
            number = float(part.replace("\u2212", "-")) * UNITS.get(unit, 1.0)
        found.append(_Token(kind, _SAME.get(part, part), start, number, unit))
        at = match.end()
    return [*found, _Token("end", "", len(text))]


class _Parser:
    """Reads conditions from left to right: ``or`` binds least, then ``and``, then ``not``."""

    def __init__(self, tokens: list[_Token], end: int) -> None:
        self.tokens, self._at, self._depth = tokens, 0, 0

    @property
    def _next(self) -> _Token:
        return self.tokens[self._at]

    def _take(self) -> _Token:
        token = self.tokens[self._at]
        self._at += 1
        return token

    def whole(self) -> Condition:
        condition = self._any()
        token = self._next
        if token.kind != "end":
            raise self._wrong("and, or, or another condition")
        return condition

    def _any(self) -> Condition:
        return self._joined("or", self._all, lambda: self._next.is_word("or"))

    def _all(self) -> Condition:
        def goes_on() -> bool:
            token = self._next
            return token.kind != "end" and token.text not in (")", ",") and not token.is_word("or")

        return self._joined("and", self._one, goes_on)

    def _joined(
        self, word: Literal["and", "or"], read: Callable[[], Condition], goes_on: Callable[[], bool]
    ) -> Condition:
        found = [read()]
        while goes_on():
            if self._next.is_word(word):
                self._take()
            found.append(read())
        return found[0] if len(found) == 1 else Both(word, tuple(found))

    def _one(self) -> Condition:
        token = self._next
        self._depth += 1
        if self._depth > DEEPEST:
            raise FilterError(f"too many parentheses inside each other; at most {DEEPEST}", token.position)
        try:
            if token.is_word("not"):
                self._take()
                return Not(self._one())
            if token.text == "(" and token.kind == "mark":
                self._take()
                inner = self._any()
                if self._next.text != ")":
                    raise self._wrong("and, or, or )")
                self._take()
                return inner
            return self._test()
        finally:
            self._depth -= 1

    def _test(self) -> Condition:
        token = self._next
        if token.kind not in ("word", "quoted", "number") or token.is_word("and", "or", "in"):
            raise self._wrong(CONDITION)
        self._take()
        after = self._next
        text = token.text.strip('"') if token.kind == "quoted" else token.text
        if after.kind == "operator":
            if token.kind == "number":
                raise FilterError(
                    f"a column must be before {after.text}: got {token.text}; write e.g. lr < 0.01",
                    token.position,
                    token.length,
                )
            self._take()
            return Comparison(text, after.text, (self._value(),), token.position, after.position)
        is_column = token.kind == "word"
        if is_column and after.is_word("in"):
            return Comparison(text, "in", self._list(), token.position, after.position)
        if is_column and after.is_word("not") and self.tokens[self._at + 1].is_word("in"):
            self._take()
            return Not(Comparison(text, "in", self._list(), token.position, after.position))
        return Words(token.text.strip('"'))

    def _list(self) -> tuple[Operand, ...]:
        self._take()
        if self._next.text != "(":
            raise self._wrong("( and values with commas between")
        self._take()
        found = [self._value()]
        while self._next.text == ",":
            self._take()
            found.append(self._value())
        if self._next.text != ")":
            raise self._wrong(", or )")
        self._take()
        return tuple(found)

    def _value(self) -> Operand:
        token = self._next
        if token.kind not in ("word", "quoted", "number") or token.is_word("and", "or", "not", "in"):
            raise self._wrong(VALUE)
        self._take()
        text = token.text[1:-1] if token.kind == "quoted" else token.text
        return Operand(text, token.number, token.position, token.unit)

    def _wrong(self, allowed: str) -> FilterError:
        token = self._next
        got = "the filter ends" if token.kind == "end" else f"got {token.text!r}"
        return FilterError(f"{got}; allowed: {allowed}", token.position, token.length)
