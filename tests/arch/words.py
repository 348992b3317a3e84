"""Wordings that this project's texts, names and pages avoid; ``python -m tests.arch.words [PATH...]`` lists
them.

Each pattern is a word or a turn of phrase that readers stumble over, with the words to use instead. Files are
searched as plain text, so that identifiers, strings, comments and docstrings count alike: ``_`` and capitals
separate the words of a name.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from functools import cache
from itertools import accumulate

from tests.arch.repository_files import ROOT, repository_files

SUFFIXES = (".py", ".md", ".toml", ".yaml", ".cu", ".h")

# pattern -> the words to use instead. A pattern begins and ends at a letter; see _compiled.
WORDS = {
    r"told|tells": "report, show, print, raise (of a program); distinguish (apart)",
    r"mend(?:s|ed|ing)?": "fix, repair",
    r"strangers?": "untrusted, third-party",
    r"whoever": "name the code or the user",
    r"nobody|somebody": "name the code or the user: 'nothing reads it', 'the user scrolls'",
    r"beside": "next to, alongside, in addition to",
    r"(?:is|are|was|were) had": "say who does what: 'the effects take place'",
    r"(?<!there )(?<!There )(?:is|are) no (?!\w+er\b|more\b|less\b)\w+": "'is not a ...'",
    r"is none of(?! (?:it|its|the|them|these|those|this|that)\b)": "'is not one of ...'",
    r"(?:for|of|from|to|with|by) what (?:is|are) (?:no|none|neither|nor)": "'that is not a ...'",
    r"(?:has|have) not(?=[.,;:)]|$)": "'does not have'",
    r"(?:shape|list|name|type) that is none": "'that is not a ...'",
    r"(?:to|for|of|from|with) who": "name the code or the reader",
    r"one of a name": "'those of the same name'",
    r"beside the way": "'not needed'",
    r"in vain|thereof": "plain words",
    r"(?:is|are) not there": "'does not exist', 'is missing', 'was not found'",
    r"test_what": "name the test by the behaviour: test_invalid_ranges_are_refused",
}

# Files that need one of these words, with the reason: (path or prefix of paths, pattern, reason).
EXCEPTIONS: tuple[tuple[str, str, str], ...] = (
    ("tests/arch/words.py", "", "the table of these words"),
    ("tests/arch/test_words.py", "", "tests the table"),
    ("tests/oracle/", "stranger|no index|that is none", "keys of calls that were recorded from Paddle"),
    ("tests/scripts/tutorials/", "nobody", "a text that a tutorial learns from"),
)


@cache
def _compiled() -> re.Pattern[str]:
    """All patterns as one: a name's parts are words, in snake_case and in CamelCase."""
    words = "|".join(f"(?P<w{n}>{pattern})" for n, pattern in enumerate(WORDS))
    return re.compile(
        rf"(?<![A-Za-z])(?i:{words})(?![a-z])|(?<=[a-z])(?P<camel>Told|Strangers?|Nobody|Beside)(?![a-z])"
    )


# The patterns are tried around these only, which takes a fifth of the time; no match is longer than _NEAR.
_NEAR = 60
_ANY = re.compile(
    r"told|tells|mend|stranger|whoever|nobody|somebody|beside|in vain|thereof|one of a name"
    r"|not there|test_what"
    r"|(?:is|are|was|were) (?:no|had)|(?:has|have) not|that is none|what (?:is|are)"
    r"|(?:to|for|of|from|with) who\b"
)
_MARGIN = re.compile(r"\n[ \t]*(?:#[: ]?[ \t]*)?")


def _matches(flat: str) -> list[re.Match[str]]:
    found = {}
    lower = flat.lower()
    for near in _ANY.finditer(
        lower if len(lower) == len(flat) else flat
    ):  # a few capitals become two letters
        for match in _compiled().finditer(flat, max(0, near.start() - _NEAR), near.end() + _NEAR):
            if match.start() <= near.end() and near.start() <= match.end():
                found[match.start()] = match
    return [found[start] for start in sorted(found)]


def riddles(text: str) -> list[str]:
    """``line: word in context: write ...`` for each hit; line breaks count as single spaces."""
    lines = _MARGIN.sub("\n", "\n" + text)[1:].split("\n")
    flat = " ".join(lines)
    found = []
    for match in _matches(flat):
        line = bisect_right(list(accumulate(len(each) + 1 for each in lines)), match.start()) + 1
        number = next(
            (int(key[1:]) for key, value in match.groupdict().items() if value and key != "camel"), 0
        )
        around = flat[max(0, match.start() - 40) : match.end() + 30]
        remedy = list(WORDS.values())[number]
        found.append(f"{line}: {match.group()!r} in {around!r}: write {remedy}")
    return found


def excepted(path: str, found: str) -> bool:
    """Whether a finding in the file is one of the EXCEPTIONS."""
    return any(path.startswith(prefix) and re.search(pattern, found) for prefix, pattern, _ in EXCEPTIONS)


def texts(*paths: str) -> list[str]:
    """The text files of the repository below the paths, relative to its top."""
    found = [path.relative_to(ROOT).as_posix() for path in repository_files(*(paths or ("*",)))]
    return [path for path in found if path.endswith(SUFFIXES)]


def findings(*paths: str) -> list[str]:
    """``file:line: ...`` for each finding in the text files below the paths, exceptions omitted."""
    return [
        f"{path}:{found}"
        for path in texts(*paths)
        for found in riddles((ROOT / path).read_text(encoding="utf-8"))
        if not excepted(path, found)
    ]


if __name__ == "__main__":
    print(*findings(*sys.argv[1:]), sep="\n")
