"""Messages of engine and session in another language: recognised by templates, part by part.

A message is ``where: what is wrong: values; what to do``. Each part between semicolons is looked up, without
the location; where one of them is unknown, all stay in English. Values stay as they are; one that is a
message itself is translated too. A text that is joined to the words after it, as ``free memory, or `` before
``compute on the CPU``, must be known as well.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from string import Formatter

MOST_CHARACTERS = 4000  # of a message that is recognised; longer ones hold texts of others
MOST_PARTS = 8
MOST_LOCATIONS = 4
DEPTH = 2  # of messages in values
REMEMBERED = 512  # messages that were shown last
SEPARATOR = "; "
_FIELD = "\0"
_WORDS = re.compile(rf"(?<![\w{_FIELD}])[^\W\d_]{{2,}}(?![\w{_FIELD}])").findall
_KIND = re.compile(r" \((?:[A-Z][a-z]+){1,3}\)$")  # Paddle's word for the kind of error, at the end
_LINE = re.compile(r" \([^()\s]+:\d+\)$")  # of the user, at the end of a part
# What stands before a colon and says where: a name or two, a path, a line.
_LOCATION = re.compile(r"[^\s;]+(?: [^\s;]+){0,2}|.*[/\\\"'].*|.*\bline \d+.*", re.DOTALL).fullmatch
_SUBJECT = re.compile(r"'[^']*' ").match  # may be before the text as well
_PROSE = re.compile(r"\b(?!or |and )[a-z]{2,} (?!or\b|and\b)[a-z]{2,}\b").search
_IS_CHINESE = re.compile(r"[\u3400-\u9fff，。：；（）]").match
_OPENS = re.compile(r"(?:[:(\[]|: got)\s?$").search
_MANY_WORDS = 4
_MOST_PLACES = 50  # at which a literal is looked for
_OPENING = tuple("'\"[({")
# Words that no value is, so that "{0} images" is not found in "the images".
_NO_VALUES = frozenset(("an", "the", "its", "this", "these", "each", "every", "any", "it", "they", "there"))


class Template:
    """A source with fields and its translation.

    ``names`` are those of its fields, ``words`` what a message has as whole words, ``length`` is that of the
    texts around the fields; ``joined`` says of each field whether a word follows without a space,
    and ``after_comma`` is what follows a field and a comma, where that is all.
    """

    def __init__(self, source: str, translation: str) -> None:
        self._literals, self.names = _split(source)
        self._pieces, self._fields = _split(translation)
        self.words = _WORDS(_FIELD.join(self._literals))
        self.length = sum(map(len, self._literals))
        self.after_comma = source[4:] if source.startswith("{0},") and len(self.names) == 1 else ""
        self.joined = [text[:2].isalpha() for text in self._literals[1:]]

    def values(self, message: str) -> list[str] | None:
        """What the fields are in ``message``; None where it is another message. Takes linear time."""
        first, *middle, last = self._literals
        if not message.startswith(first) or not message.endswith(last):
            return None
        found, at, end = [], len(first), len(message) - len(last)
        for literal in middle:
            start = _end_of_value(message, literal, at, end)
            if start < 0:
                return None
            found.append(message[at:start])
            at = start + len(literal)
        if at > end:
            return None
        return [*found, message[at:end]]

    def takes(self, values: list[str], is_value: bool) -> bool:
        """Whether these, without those that are known, may be its values, and not words of another message.

        A template of few words takes no sentence as a value, unless it is after a colon or a bracket, where
        messages of others are. One of a word at most begins with it, or is a value itself.
        """
        if len(self.words) > _MANY_WORDS:
            return True
        if len(self.words) > 1:
            inner = [value for value, text in zip(values, self._literals, strict=False) if not _OPENS(text)]
            return not any(map(_PROSE, inner))
        begins = bool(self._literals[0]) or self.joined[0] or is_value
        return not any(values) or (begins and not any(map(_PROSE, values)))

    def begins_with_location(self, values: list[str]) -> bool:
        """Whether the first value is a text with its location, which another template may know."""
        return not self._literals[0] and ": " in values[0] and not values[0].startswith(_OPENING)

    def filled(self, values: list[str]) -> str:
        """The translation with these values."""
        by_name = dict(zip(self.names, values, strict=True))
        text = self._pieces[0]
        for name, piece in zip(self._fields, self._pieces[1:], strict=True):
            value = by_name[name]
            # Between Latin and Chinese letters is a space, but not between Chinese ones.
            if text.endswith(" ") and _IS_CHINESE(text[-2:-1]) and _IS_CHINESE(value[:1]):
                text = text[:-1]
            if piece.startswith(" ") and _IS_CHINESE(piece[1:2]) and _IS_CHINESE(value[-1:]):
                piece = piece[1:]
            text += value + piece
        return text


def _end_of_value(message: str, literal: str, at: int, end: int) -> int:
    """Where ``literal`` follows a value that begins at ``at``, outside of brackets if there; -1 for none."""
    first = start = message.find(literal, at, end)
    for _ in range(_MOST_PLACES):
        if start < 0:
            return first
        value = message[at:start]
        if all(value.count(left) == value.count(right) for left, right in ("[]", "()", "{}")):
            return start
        start = message.find(literal, start + 1, end)
    return first


def _split(text: str) -> tuple[list[str], list[str]]:
    """The texts around the fields of a template, and the names of the fields between them."""
    texts, names = [""], []
    for literal, name, _, _ in Formatter().parse(text):
        texts[-1] += literal
        if name is not None:
            names.append(name)
            texts.append("")
    return texts, names


class Messages:
    """Finds the translation of a message.

    Args:
        texts: translations of texts without values.
        templates: sources with fields, each with its translation.
    """

    def __init__(self, texts: Mapping[str, str], templates: Iterable[tuple[str, str]]) -> None:
        self._texts = texts
        self._separator = texts.get(SEPARATOR, SEPARATOR)
        made = [made for each in templates if (made := Template(*each)).names]
        # Those such as "{0}, or", by the words after the comma.
        self._ends = {each.after_comma: each for each in made if each.after_comma}
        count = Counter(word for each in made for word in each.words)
        self._by_word: dict[str, list[Template]] = {}  # each under the rarest of its words
        for each in made:
            if each.words:
                self._by_word.setdefault(min(each.words, key=count.__getitem__), []).append(each)
        self.shown = lru_cache(REMEMBERED)(self._shown)

    def _shown(self, message: str) -> str:
        """The message translated; in English where it is unknown."""
        if len(message) > MOST_CHARACTERS:
            return message
        return self._recognised(message, DEPTH)[1] or message

    def _recognised(self, message: str, depth: int) -> tuple[int, str]:
        """How many of its characters are known, and the translation; 0 and nothing if it is unknown."""
        exact = self._texts.get(message)
        if exact is not None:
            return len(message), exact
        kind = _KIND.search(message)
        if kind is not None:
            score, known = self._recognised(message[: kind.start()], depth)
            return score, known and known + kind[0]
        best, best_score = "", 0
        for location, rest in _located(message):
            score, parts = self._parts(rest.split(SEPARATOR), depth)
            # Of two that are as good the later: a value contains no location.
            if score and score >= best_score:
                best, best_score = location + self._separator.join(parts), score
        if not best and "\n" in message:
            lines = [self._recognised(line, depth) if line else (1, "") for line in message.split("\n")]
            if all(score for score, _ in lines):
                return sum(score for score, _ in lines), "\n".join(line for _, line in lines)
        return best_score, best

    def _parts(self, parts: list[str], depth: int) -> tuple[int, list[str]]:
        """The parts translated, with the number of their characters that are known; 0 where one is unknown.

        A value may have semicolons too: then a part is several of these.
        """
        if len(parts) > MOST_PARTS:
            return 0, []
        for end in range(1, len(parts) + 1):
            score, known = self._part(SEPARATOR.join(parts[:end]), depth)
            if score and end < len(parts):
                more, rest = self._parts(parts[end:], depth)
                if more:
                    return score + more, [known, *rest]
            elif score:
                return score, [known]
        return 0, []

    def _part(self, part: str, depth: int) -> tuple[int, str]:
        exact = self._texts.get(part)
        if exact is not None:
            return len(part), exact
        line = _LINE.search(part)
        if line is not None:
            score, known = self._part(part[: line.start()], depth)
            if score:
                return score, known + line[0]
        last_choice: tuple[int, str] | None = None
        near = {id(each): each for word in set(_WORDS(part)) for each in self._by_word.get(word, ())}
        for template in sorted(near.values(), key=lambda each: -each.length):
            values = template.values(part)
            if values is not None and all(map(_may_be_value, values)):
                shown = self._values(values, template.joined, depth)
                if shown is not None and template.takes(shown[2], depth < DEPTH):
                    found = template.length + shown[0], template.filled(shown[1])
                    if not template.begins_with_location(values):
                        return found
                    last_choice = last_choice or found
        return last_choice or (0, "")

    def _values(
        self, values: list[str], joined: list[bool], depth: int
    ) -> tuple[int, list[str], list[str]] | None:
        """The number of known characters, the values as far as they are known, and those that are not.

        None where words that are not known are joined to a word.
        """
        known, shown, unknown = 0, [], []
        for value, is_joined in zip(values, joined, strict=True):
            # An option, as in "pip install --upgrade numpy", is not a sentence.
            is_text = is_joined and bool(value) and not value.startswith("-")
            score, text = self._joined(value, depth) if is_text else self._value(value, depth)
            if not text and is_text:
                return None
            known += score
            shown.append(text or value)
            unknown.append("" if text else value)
        return known, shown, unknown

    def _joined(self, text: str, depth: int) -> tuple[int, str]:
        """A text before other words, such as ``free memory, or`` and ``free memory,``."""
        if not text.endswith(" "):
            return 0, "" if text[-1].isalpha() else text
        if not depth:
            return 0, ""
        bare = text.rstrip()
        first, comma, last = bare.rpartition(",")
        score, known = self._recognised(first, depth - 1) if comma else (0, "")
        if known and not last:
            return score, known + self._separator.rstrip()
        if known and last in self._ends:
            return score + len(last), self._ends[last].filled([known])
        return self._recognised(bare, depth - 1)

    def _value(self, value: str, depth: int) -> tuple[int, str]:
        bare = value.strip()
        score, known = self._recognised(bare, depth - 1) if depth and " " in bare else (0, "")
        if not known:
            return 0, ""
        # Around Chinese letters are the spaces of the template alone.
        before = "" if _IS_CHINESE(known) else value[: len(value) - len(value.lstrip())]
        after = "" if _IS_CHINESE(known[-1:]) else value[len(value.rstrip()) :]
        return score, before + known + after


def _may_be_value(text: str) -> bool:
    """Not a location with its colon, several parts of a message, nor a word of grammar."""
    if text.strip().lower() in _NO_VALUES:
        return False
    return not text.endswith(":") and (SEPARATOR not in text or text.startswith(_OPENING))


def _located(message: str) -> Iterator[tuple[str, str]]:
    """The message as location and rest: as a whole, and after each colon that follows a location."""
    yield "", message
    subject = _SUBJECT(message)
    if subject is not None:
        yield subject[0], message[subject.end() :]
    at = 0
    for _ in range(MOST_LOCATIONS):
        at = message.find(": ", at) + 2
        if at < 2:
            return
        if not _LOCATION(message[: at - 2]):
            continue
        yield message[:at], message[at:]
        subject = _SUBJECT(message, at)
        if subject is not None:
            yield message[: subject.end()], message[subject.end() :]
