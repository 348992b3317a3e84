"""Templates are read from the sources, and real messages are recognised by them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import engine as paddle
from docs.words.collecting import collected
from docs.words.messages import messages, messages_of
from docs.words.updating import catalogue_files, read, text_of, updated
from resources.settings import RUN_SETTINGS
from resources.words.messages import Messages

SOURCE = '''
"""The docstring is left out."""
LIMIT = "not a message of an error call"

def check(x, path, error):
    "Nor is this one here."
    if x < 0:
        raise ValueError(f"check: {x!r} is {'an integer' if x else 'a number'} below 0; give {LIMIT}")
    raise wrong(f"{path}: too large: {x:,} bytes", "split the file")

def why_not(x) -> str:
    if x:
        return "Nothing is selected."
    return f"above {x}" if x else ""

def advice():
    return "this function makes no messages"
'''


def test_templates_of_error_calls_are_their_parts() -> None:
    assert messages_of(SOURCE) == {
        "{0} is an integer below 0",
        "{0} is a number below 0",
        "give {0}",
        "too large: {0} bytes",
        "split the file",
        "Nothing is selected.",
        "above {0}",
    }


def test_of_some_rooms_all_sentences_are_taken() -> None:
    more = messages_of(SOURCE, whole=True) - messages_of(SOURCE)
    assert more == {"not a message of an error call", "this function makes no messages", "an integer"}


@pytest.fixture(scope="module")
def templates() -> dict[str, set[str]]:
    return messages()


@pytest.mark.parametrize("language", catalogue_files())
def test_each_translated_message_is_one_of_the_sources(templates: dict[str, set[str]], language: str) -> None:
    path = catalogue_files()[language]
    file = read(path)
    change = updated(file, collected().texts, templates)
    assert change.unused == [], "run python -m docs.words"
    assert path.read_text(encoding="utf-8") == text_of(file, language), "run python -m docs.words"


def _ones(*shape: int) -> Any:
    return paddle.ones(list(shape))


REAL: list[Callable[[], Any]] = [
    lambda: paddle.matmul(_ones(2, 3), _ones(2, 3)),
    lambda: paddle.reshape(_ones(2, 3), [5]),
    lambda: paddle.concat([_ones(2, 3), _ones(3, 4)]),
    lambda: _ones(2, 3) + _ones(4, 5),
    lambda: paddle.nn.Conv2D(3, 4, 3)(_ones(1, 2, 8, 8)),
    lambda: paddle.nn.Conv2D(3, 4, 3, groups=2),
    lambda: paddle.nn.Linear(3, 4)(_ones(1, 5)),
    lambda: paddle.argmax(_ones(2, 3), axis=5),
    lambda: paddle.to_tensor("abc"),
    lambda: paddle.nn.functional.cross_entropy(_ones(2, 3), _ones(4)),
    lambda: paddle.load("/absent"),
    lambda: paddle.jit.load("/absent/x"),
    lambda: paddle.squeeze(_ones(2, 3), axis=7),
    lambda: paddle.transpose(_ones(2, 3), [0]),
    lambda: paddle.split(_ones(4, 3), 3),
    lambda: paddle.gather(_ones(3, 2), _ones(2)),
    lambda: paddle.nn.BatchNorm2D(3)(_ones(1, 4, 2, 2)),
    lambda: paddle.nn.LSTM(3, 4)(_ones(2, 3, 5)),
    lambda: paddle.nn.Embedding(3, 4)(_ones(2)),
    lambda: paddle.nn.functional.dropout(_ones(2), p=3),
    lambda: paddle.einsum("ij,jk->ik", _ones(2, 3), _ones(2, 3)),
    lambda: paddle.linalg.inv(_ones(2, 3)),
    lambda: paddle.nn.MaxPool2D(9)(_ones(1, 1, 3, 3)),
    lambda: paddle.io.DataLoader([], batch_size=0),
    lambda: paddle.cast(_ones(2), "foo"),
    lambda: paddle.topk(_ones(3), 9),
    lambda: _ones(2, 3)[5],
    lambda: paddle.Model(3),
    lambda: paddle.vision.transforms.Resize(-1)(np.zeros((2, 2, 3), "uint8")),
]


def test_messages_of_real_errors_are_recognised(templates: dict[str, set[str]]) -> None:
    marks = {text: f"<{text}>" for text in templates}
    recogniser = Messages(marks, [(text, mark) for text, mark in marks.items() if "{0" in text])
    seen = [f"batch_size: {RUN_SETTINGS['batch_size'].problem(value)}" for value in (0, "x")]
    for call in REAL:
        with pytest.raises(Exception, match=r"\w") as caught:
            call()
        seen.append(str(caught.value))
    assert [message for message in seen if recogniser.shown(message) == message] == []
