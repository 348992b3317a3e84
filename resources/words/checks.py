"""Checks of a translation: it formats what its source formats, and has no mark that its source lacks."""

from __future__ import annotations

import re
from collections import Counter

# Characters that need a look: braces, percent signs of Qt and Python, tags of HTML and of rich, line breaks,
# and invisible ones, such as control characters and marks of direction. Some languages need ZWNJ and ZWJ.
_INVISIBLE = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\uffff"
    "\ud800-\udfff\U000e0000-\U000e0fff"
)
_MARKS = re.compile(rf"[{{}}%<\[\n\t{_INVISIBLE}]").search
_HIDDEN = re.compile(f"[{_INVISIBLE}]").findall
_BRACES = re.compile(r"\{\{|\}\}|\{[^{}]*\}|[{}]").findall
_PERCENT = re.compile(r"%[A-Za-z0-9(%]").findall
_TAGS = re.compile(r"<[A-Za-z/!?][^<>]*>?|\[[a-z#/@][^\[\]]*\]?").findall
_PLAIN_FIELD = re.compile(r"\{[^{}]+\}|\{\}").fullmatch


def problem_of(source: str, translation: str, may_omit: bool = False) -> str:
    """What is wrong with a translation; empty where nothing is.

    Args:
        may_omit: the translation may lack placeholders of its source, as "one file" does of "{0} files".
    """
    if len(translation) > 4 * len(source) + 100:
        return f"is {len(translation):,} characters long for {len(source):,}"
    if _MARKS(translation) is None and _MARKS(source) is None:
        return ""
    hidden = _HIDDEN(translation)
    if hidden and (more := Counter(hidden) - Counter(_HIDDEN(source))):
        return f"has the invisible character {_code(min(more))}"
    for mark, name in (("\n", "a line break"), ("\t", "a tabulator")):
        if mark in translation and mark not in source:
            return f"has {name} that its source lacks"
    ours, theirs = _BRACES(source), _BRACES(translation)
    problem = "" if ours == theirs else _problem_of_braces(ours, theirs, may_omit)
    if problem:
        return problem
    if "%" in source + translation and Counter(_PERCENT(source)) != Counter(_PERCENT(translation)):
        return "has other percent signs than its source"
    tags = _TAGS(translation) if "<" in translation or "[" in translation else []
    return "has other tags than its source" if tags and sorted(tags) != sorted(_TAGS(source)) else ""


def _problem_of_braces(source: list[str], translation: list[str], may_omit: bool) -> str:
    if all(map(_PLAIN_FIELD, source)):
        more, fewer = set(translation) - set(source), set(source) - set(translation)
        # {} counts: it takes the next value each time.
        if (
            more
            or (fewer and not may_omit)
            or ("{}" in source and source.count("{}") != translation.count("{}"))
        ):
            named = ", ".join(sorted(more | fewer)) or "{}"
            return f"has other placeholders than its source: {named[:60]}"
        return ""
    return "" if source == translation else "has other braces than its source"


def _code(character: str) -> str:
    return f"U+{ord(character):04X}"
