"""Wordings that the product's docstrings, comments and messages do not fall back to.

Each pattern is a turn of phrase that readers stumble over, with what to write in its place. The rooms that
are free of them are listed; a room is added once it is, and none is taken off.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# pattern -> what to write in its place
RIDDLES = {
    r"\b(?:is|are|was|were) had\b": "say who does what: 'the effects take place'",
    r"(?<!there )(?<!There )\b(?:is|are) no (?!(?:long|small|larg|slow|fast|bett)er\b|more\b|less\b)":
        "'is not a ...'",
    r"\bis none of\b(?! (?:it|its|the|them|these|those|this|that)\b)": "'is not one of ...'",
    r"\b(?:for|of|from|to|with|by) what (?:is|are) (?:no|none|neither|nor)\b": "'that is not a ...'",
    r"\b(?:has|have) not(?=[.,;:)]|$)": "'does not have'",
    r"\b(?:shape|list|name|type) that is none\b": "'that is not a ...'",
    r"\b(?:nobody|somebody)\b": "name the code that reads or calls: 'nothing reads it'",
    r"\b(?:to|for|of|from|with) who\b": "name the code or the reader",
    r"\bone of a name\b": "'those of the same name'",
    r"\bbeside the way\b": "'not needed'",
    r"\bin vain\b|\bthereof\b": "plain words"
}

CLEAN = (
    "engine/autodiff", "engine/autograd", "engine/base", "engine/core", "engine/dataset", "engine/device",
    "engine/eager", "engine/files", "engine/fluid", "engine/framework", "engine/incubate", "engine/io",
    "engine/jit/*.py", "engine/kernels", "engine/metric", "engine/nn", "engine/ops", "engine/optimizer",
    "engine/program", "engine/slim", "engine/static", "engine/tensor", "engine/utils", "engine/vision"
)


def prose(source: str) -> Iterator[tuple[int, str]]:
    """Docstrings, comments and strings of several words, with their lines; ``{}`` for computed parts."""
    parts = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            parts |= {id(inner) for inner in ast.walk(node)}
            yield (
                node.lineno,
                "".join(str(v.value) if isinstance(v, ast.Constant) else "{}" for v in node.values),
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            yield node.lineno, node.value
    yield from _comments(source)


def _comments(source: str) -> Iterator[tuple[int, str]]:
    """Comments, those on successive lines as one text."""
    tails = [line.partition("#")[2].strip() for line in source.splitlines()]
    if not _words().search(" ".join(tails)):  # most files: reading their tokens takes longer than all else
        return
    begin, block = 0, ""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            begin, block = begin or token.start[0], f"{block} {token.string.lstrip('# ')}"
        elif token.type != tokenize.NL and block:
            yield begin, block
            begin, block = 0, ""


@cache
def _words() -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in RIDDLES))


def riddles(source: str) -> list[str]:
    """``line: text: remedy`` for each pattern that the source's prose contains."""
    found = []
    for line, text in prose(source):
        text = re.sub(r"\s+", " ", text)
        if _words().search(text):
            found += [
                f"{line}: {m.group()!r} in {text[max(0, m.start() - 40) : m.end() + 30]!r}: write {remedy}"
                for pattern, remedy in RIDDLES.items()
                for m in re.finditer(pattern, text)
            ]
    return found


@pytest.mark.parametrize("room", CLEAN)
def test_a_clean_room_stays_clean(room: str) -> None:
    files = sorted(ROOT.glob(room) if room.endswith(".py") else (ROOT / room).rglob("*.py"))
    assert files
    found = [
        f"{file.relative_to(ROOT).as_posix()}:{each}"
        for file in files
        for each in riddles(file.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("text", [
    "the effects were had",
    "DTypeError for what is no Variable",
    "mode {mode!r} is none of 'a', 'b'",
    "label {n} is no class of {classes}",
    "keeps a dimension that {x} has not.",
    "what nobody reads",
    "a Variable to who computes with it",
    "nothing that is beside the way",
    "all by name; one of a name is shared"
])
def test_each_pattern_is_found(text: str) -> None:
    assert riddles(f'"""{text}"""')
    assert riddles(f"x = 1  # {text}")
    assert riddles(f"raise ValueError(f{text!r})".replace("{mode!r}", "{mode}"))


@pytest.mark.parametrize("text", [
    "there is no file of that name",
    "where there are no gradients",
    "the old plan is no longer valid",
    "a long list is no slower to read",
    "the loss has not improved for 3 epochs",
    "the file has not been read; read it first",
    "none of the results is larger",
    "it is none of the three files",
    "whoever holds the Tensor"
])
def test_plain_english_is_let_through(text: str) -> None:
    assert riddles(f'"""{text}"""') == []
    assert riddles(f"# {text}") == []


def test_a_comment_of_several_lines_is_one_text() -> None:
    assert riddles("# for a value that is\n# no tensor at all\nx = 1\n")
