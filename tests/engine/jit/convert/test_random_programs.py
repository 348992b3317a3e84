"""Random small functions: the converted one does what Python does, with Python and with symbolic values."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from engine.jit.convert.convert import convert


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    try:
        return function(*args)
    except (NameError, ZeroDivisionError) as error:
        return type(error), str(error)


SEEDS = 25 if os.environ.get("MODEL_STUDIO_LONG") else 12
SAMPLES = [(0, 0, 0), (1, 2, 3), (-2, 4, 1), (5, -1, 0), (3, 3, 3)]


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("born_anywhere", [False, True])
def test_python_values(plain: Any, define: Any, random_text: Any, seed: int, born_anywhere: bool) -> None:
    text = random_text(seed, python_only=True, born_anywhere=born_anywhere)
    function = define(text)
    converted = convert(function).function
    for sample in SAMPLES:
        assert outcome(converted, *sample) == outcome(function, *sample), text
    assert plain.built == []


@pytest.mark.parametrize("seed", range(SEEDS))
def test_symbolic_values(sym: Any, define: Any, random_text: Any, seed: int) -> None:
    text = random_text(1000 + seed)
    function = define(text)
    converted = convert(function).function
    for sample in SAMPLES:
        built = converted(*map(sym, sample))
        assert sym(built).value == function(*sample), text
