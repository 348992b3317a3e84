"""A mistake in source in one line of words."""

from __future__ import annotations

import ast

import pytest

from resources.syntax_words import syntax_words


def words_of(source: str) -> str:
    with pytest.raises(SyntaxError) as raised:
        ast.parse(source, filename="/home/me/net.py")
    return syntax_words(raised.value)


def test_file_line_text_and_place() -> None:
    assert words_of("class Net:\n    def forward(self x):\n        return x\n") == (
        "net.py:2: invalid syntax: def forward(self ^x):; correct it where the ^ stands"
    )


def test_a_long_line_is_cut_around_the_place() -> None:
    words = words_of("value = [" + "1, " * 100 + "= 2, " + "3, " * 100 + "]\n")
    assert words.startswith("net.py:1: ")
    assert "..." in words
    assert "^" in words
    assert len(words) < 180


def test_an_error_without_a_text() -> None:
    assert syntax_words(SyntaxError("source code cannot contain null bytes")) == (
        "the file: source code cannot contain null bytes; correct it"
    )
