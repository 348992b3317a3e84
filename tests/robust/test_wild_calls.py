"""Wild arguments of public functions give a result, or an error that names the function and the argument.

``--deep`` makes 30 calls of each function, ``--long`` 500, and every run one of every third function.
"""

from __future__ import annotations

import os

import pytest

from engine.tensor.arguments.caught import HOT
from tests.robust.wild_calls import survey

COUNT = 500 if os.environ.get("MODEL_STUDIO_LONG") else 30
PARTS = 4  # tests, so that several workers share the calls


def _explains(name: str) -> bool:
    return name.rpartition(".")[2].rstrip("_") not in HOT


def test_a_wild_call_gives_an_explained_error() -> None:
    found = survey(1, only=lambda name: _explains(name) and len(name) % 3 == 0)
    assert found.calls > 100
    assert not found.examples, found.examples


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("part", range(PARTS))
def test_many_wild_calls_give_explained_errors(part: int) -> None:
    found = survey(COUNT, seed=1, only=lambda name: _explains(name) and len(name) % PARTS == part)
    assert found.calls > COUNT * 50
    assert not found.examples, found.examples
    assert found.slow < found.calls * 0.001


def test_wild_calls_of_short_functions_give_few_raw_errors() -> None:
    found = survey(5, only=lambda name: not _explains(name))
    assert found.calls > 50
    assert found.kinds.total() <= found.calls * 0.1, found.examples
