"""Static mode, with names and values of each test's own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import engine
from engine import static


@pytest.fixture(autouse=True)
def scope() -> Iterator[static.Scope]:
    engine.enable_static()
    made = static.Scope()
    with (
        engine.utils.unique_name.guard(),
        static.scope_guard(made),
        static.program_guard(static.Program(), static.Program()),
    ):
        yield made
    engine.disable_static()
