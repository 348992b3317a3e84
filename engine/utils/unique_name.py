"""Unique names, ``fc_0``, ``fc_1`` ..., under Paddle's path."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from engine.core import names
from engine.core.names import NameGenerator, generate

__all__ = ["generate", "guard", "switch"]


def switch(
    new_generator: NameGenerator | None = None, new_para_name_checker: Any = None
) -> tuple[NameGenerator, Any]:
    """Make ``new_generator`` (a fresh one by default) the current one; returns what to give to switch back.

    The second value stands for Paddle's checker of parameter names, which has no use here.
    """
    return names.switch(new_generator), new_para_name_checker


@contextmanager
def guard(new_generator: str | bytes | NameGenerator | None = None) -> Iterator[None]:
    """Within the block names are counted from 0 again, with ``new_generator``, if given, in front of them."""
    with names.guard(new_generator.decode() if isinstance(new_generator, bytes) else new_generator):
        yield
