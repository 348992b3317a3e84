"""The order of the palette's entries: by how well they match what is typed, then by use and by page."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Protocol, TypeVar

# How well one word of what is typed matches an entry; the title counts more than the help.
BEGINS, WORD, INSIDE, INITIALS, HELP_WORD, HELP, SCATTERED = 100, 80, 60, 55, 20, 10, 5
OTHER = 30  # less for what is not a command: a setting, a run, a page of the help
USED = 15  # more for what was used last


class Ranked(Protocol):
    """What is known of an entry. The id of one that is not a command contains a colon; ``english`` is what
    its title is in English, where the window has another language."""

    @property
    def id(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def english(self) -> str: ...
    @property
    def help(self) -> str: ...
    @property
    def why_not(self) -> str: ...


_Entry = TypeVar("_Entry", bound=Ranked)


def ranked(
    entries: Sequence[_Entry], text: str, recent: Sequence[str] = (), here: Collection[str] = ()
) -> list[_Entry]:
    """The entries that match ``text``, the best first; letters may be omitted where no entry has the words.

    Args:
        text: what is typed; empty matches all.
        recent: the ids of what was used, the last first.
        here: the ids of the commands of the page that is shown.
    """
    words = text.lower().split()
    for scattered in (False, True):
        points = {entry.id: _points(entry, words, scattered) for entry in entries}
        found = [entry for entry in entries if points[entry.id] > 0 or not words]
        if found:
            break
    else:
        return []

    def key(entry: _Entry) -> tuple[float, ...]:
        is_other = ":" in entry.id
        possible = not entry.why_not
        use = recent.index(entry.id) if entry.id in recent else len(recent)
        if not words:
            used = possible and use < len(recent)
            return (not used, use if used else 0, is_other, not possible, entry.id not in here)
        score = points[entry.id] - OTHER * is_other + USED * (use < len(recent))
        return (not possible, -score, use, entry.id not in here)

    return sorted(found, key=key)


def _points(entry: Ranked, words: Sequence[str], scattered: bool) -> float:
    """How well the entry matches all words; 0 where one of them does not."""
    titles = [title.lower() for title in (entry.title, entry.english) if title]
    each = [
        max(_points_of_word(word, title, entry.help.lower(), scattered) for title in titles) for word in words
    ]
    if not each or 0 in each:
        return 0
    return sum(each) / len(each) - len(entry.title) / 1000  # the shorter of two alike first


def _points_of_word(word: str, title: str, about: str, scattered: bool) -> float:
    if title.startswith(word):
        return BEGINS
    if _begins_a_word(word, title):
        return WORD
    if word in title:
        return INSIDE
    if len(word) > 1 and "".join(re.findall(r"\b\w", title)).startswith(word):
        return INITIALS
    if word in about:
        return HELP_WORD if _begins_a_word(word, about) else HELP
    return SCATTERED * _density(word, title) if scattered else 0


def _begins_a_word(word: str, text: str) -> bool:
    return re.search(rf"\b{re.escape(word)}", text) is not None


def _density(word: str, title: str) -> float:
    """The share of the letters of ``word`` in the shortest part of ``title`` that has them in this order."""
    best, begin = 0.0, title.find(word[0])
    while begin >= 0:
        at = begin
        for letter in word[1:]:
            at = title.find(letter, at + 1)
            if at < 0:
                return best
        best = max(best, len(word) / (at - begin + 1))
        begin = title.find(word[0], begin + 1)
    return best
