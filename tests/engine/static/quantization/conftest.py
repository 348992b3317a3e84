"""Static mode, with names and values of each test's own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine import static
from tests.engine.fresh_static import fresh_static


@pytest.fixture(autouse=True)
def scope() -> Iterator[static.Scope]:
    with fresh_static() as made:
        yield made
