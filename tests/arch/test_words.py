"""Texts, names and pages avoid the wordings of ``tests/arch/words.py``."""

from __future__ import annotations

import pytest

from tests.arch import words

# What is searched, a row each, so that a failure names its part.
PARTS = (
    "bench",
    "engine",
    "widgets",
    "studio",
    "docs/*.py",
    "docs/decisions",
    "docs/recipes",
    "ARCHITECTURE.md",
    "SECURITY.md",
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    *(f"tests/{name}" for name in ("arch", "bench", "docs", "golden", "oracle", "resources", "robust")),
    *(f"tests/{name}" for name in ("cublaslt_stand_in", "cupy_stand_in", "engine")),
    *(f"tests/{name}" for name in ("scripts", "seeds", "studio", "widgets", "conftest.py", "each.py")),
)


@pytest.mark.parametrize("part", PARTS)
def test_a_part_avoids_the_words(part: str) -> None:
    assert words.texts(part)
    found = words.findings(part)
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
    "all by name; one of a name is shared",
    "the page tells the number",
    "def tells_apart(self)",
    "class ProgramTold",
    "a stranger's file",
    "until it is mended",
    "whoever opens it",
    "the file is not there",
    "def test_what_is_refused()",
])
def test_each_pattern_is_found(text: str) -> None:
    assert words.riddles(f'"""{text}"""')
    assert words.riddles(f"x = 1  # {text}")


@pytest.mark.parametrize("text", [
    "there is no file of that name",
    "where there are no gradients",
    "the old plan is no longer valid",
    "a long list is no slower to read",
    "the loss has not improved for 3 epochs",
    "the file has not been read; read it first",
    "none of the results is larger",
    "it is none of the three files",
    "besides the weights",
    "they intend to amend it",
])
def test_plain_english_is_allowed(text: str) -> None:
    assert words.riddles(f'"""{text}"""') == []
    assert words.riddles(f"# {text}") == []


def test_a_comment_of_several_lines_is_one_text() -> None:
    assert words.riddles("# for a value that is\n# no tensor at all\nx = 1\n")


def test_every_exception_is_needed() -> None:
    for prefix, pattern, reason in words.EXCEPTIONS:
        assert reason
        found = [
            one
            for path in words.texts(prefix)
            for one in words.riddles((words.ROOT / path).read_text(encoding="utf-8"))
            if words.re.search(pattern, one)
        ]
        assert found, f"{prefix}: nothing matches {pattern!r}: remove the exception"
