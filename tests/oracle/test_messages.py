"""What is refused is refused in our own words: where, what is wrong, the values seen."""

from __future__ import annotations

import re

import pytest

import engine
from engine.core.errors import EngineError
from tests.oracle.cases.errors import CALLS
from tests.oracle.scope import Scope

# "flip: axis 2 is out of range for 2 dimensions; use -2 to 1"
FORM = re.compile(r"[\w. ]+: .{15,}", re.DOTALL)


@pytest.mark.parametrize("name", CALLS)
def test_message(name: str) -> None:
    raised: list[BaseException] = []
    got = Scope(engine, raised).run(CALLS[name])
    assert raised, f"{CALLS[name]} is not refused: {str(got)[:200]}"
    error = raised[0]
    said = f"{CALLS[name]}: {error!r}"
    assert isinstance(error, EngineError), said
    assert FORM.fullmatch(str(error)), said
