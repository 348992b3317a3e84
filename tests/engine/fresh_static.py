"""Static mode with Programs, names and values of one test's own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import engine
from engine import static


@contextmanager
def fresh_static() -> Iterator[static.Scope]:
    """Within the block static mode holds, with an empty scope, which it gives."""
    engine.enable_static()
    made = static.Scope()
    with (
        engine.utils.unique_name.guard(),
        static.scope_guard(made),
        static.program_guard(static.Program(), static.Program()),
    ):
        yield made
    engine.disable_static()
