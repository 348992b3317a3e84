"""What changed between two models, in the language that holds now."""

from __future__ import annotations

import re

from resources.words import marked, tr

_TEXTS = (
    marked("added"),
    marked("removed"),
    marked("moved"),
    marked("added, {0} operators in it"),
    marked("removed, {0} operators in it"),
    marked("moved, {0} operators in it"),
    marked("attribute {0}"),
    marked("input {0}"),
    marked("output {0}"),
    marked("value of output {0}"),
    marked("parameter {0}"),
    marked("regions"),
    marked("replay"),
    marked("results"),
)
_PATTERNS = [(re.compile(re.escape(text).replace(r"\{0\}", "(.+)"), re.DOTALL), text) for text in _TEXTS]


def change_words(found: str) -> str:
    """A change as a comparison names it; what it does not name stays as it is, such as a name."""
    for pattern, text in _PATTERNS:
        match = pattern.fullmatch(found)
        if match is not None:
            return tr(text).format(*match.groups())
    return found
