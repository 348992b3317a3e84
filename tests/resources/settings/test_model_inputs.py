"""The inputs of an exported model as a text."""

from __future__ import annotations

import pytest

from resources.settings.model_inputs import ModelInputRow, parse_inputs, write_inputs


def test_a_text_and_its_inputs():
    rows = parse_inputs("image: None, 1, 8, 8; word: ?,1 int64;row:4,5")
    assert rows == (
        ModelInputRow("image", (-1, 1, 8, 8)),
        ModelInputRow("word", (-1, 1), "int64"),
        ModelInputRow("row", (4, 5)),
    )
    assert write_inputs(rows) == "image: None,1,8,8 float32; word: None,1 int64; row: 4,5 float32"
    assert parse_inputs(write_inputs(rows)) == rows
    assert parse_inputs(" ; ") == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("image", "not an input: got 'image'"),
        ("image:", "not an input: got 'image:'"),
        ("image: 0,1", "image: not a size: got 0"),
        ("image: a b", "image: "),
        ("image: None,1 int3", "image: no such dtype: got 'int3'; choose float32"),
        ("an image: None,1", "letters, digits and underscores: got 'an image'"),
        ("a: None,1; a: None,2", "two inputs have the same name: got a, a"),
    ],
)
def test_invalid_inputs_are_refused(text, message):
    with pytest.raises(ValueError, match=message):
        parse_inputs(text)
