"""Pseudo-translation: each text in ⟦⟧ and 40 % longer, so that what is not translated can be seen."""

from __future__ import annotations

import math
import re
from typing import Any, cast

from resources.words import use_catalogue

# A value that is put into a text.
PLACE = re.compile(r"(\{[^{}]*\})")
OPEN, CLOSE, LONGER = "\u27e6", "\u27e7", "\u00f6"


def marked(text: str) -> str:
    """The text as a language would have it whose words are 40 % longer. What is put into it has no mark."""
    return "".join(
        part if PLACE.fullmatch(part) or not re.search(r"[^\W\d_]", part) else _longer(part)
        for part in PLACE.split(text)
    )


def _longer(text: str) -> str:
    words = re.sub(r"\S+", lambda word: word[0] + LONGER * math.ceil(0.4 * len(word[0])), text)
    return f"{OPEN}{words}{CLOSE}"


def unmarked(text: str) -> str:
    """What of a text is outside of all marks."""
    before = ""
    while before != text:
        before, text = text, re.sub(f"{OPEN}[^{OPEN}{CLOSE}]*{CLOSE}", " ", text)
    # An ellipsis may stand for one end.
    return re.sub(f"{OPEN}[^{CLOSE}]*\u2026|\u2026[^{OPEN}]*{CLOSE}", " ", text)


class _Marks:
    """A catalogue that has every text."""

    def find(self, text: str, context: str = "") -> str:
        return marked(text)

    def find_plural(self, one: str, many: str, number: int, context: str = "") -> str:
        return marked(one if number == 1 else many)

    def message(self, message: str) -> str:
        # One that is made in the window has its marks.
        return message if OPEN in message else "\n".join(map(marked, message.splitlines()))


class Language:
    """Lets the marked language hold in all windows, or English again."""

    @staticmethod
    def marked() -> None:
        """Switch to the marked language, under the name of one that commands know."""
        use_catalogue("zh_CN", cast(Any, _Marks()))

    @staticmethod
    def english() -> None:
        """Switch to English."""
        use_catalogue("en", None)
