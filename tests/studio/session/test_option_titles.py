"""Messages of the engine name settings as the window does."""

from __future__ import annotations

import pytest

from studio.session.option_titles import with_titles


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("t.csv: which column? choose it with --target COLUMN", "t.csv: which column? choose it with Target"),
        ("give a smaller --lr", "give a smaller Learning rate"),
        ("leave --qat out", "leave qat out"),
        ("leave --qat out, or run `train --qat`", "leave qat out, or run `train --qat`"),
        ("a -- b, x--target", "a -- b, x--target"),
    ],
)
def test_options_become_titles(message: str, words: str) -> None:
    assert with_titles(message) == words
