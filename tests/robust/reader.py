"""What the fuzz knows of a reader under attack."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Make = Callable[[random.Random], Any]
Read = Callable[[Any, Path], object]


@dataclass(frozen=True)
class Reader:
    """A reader under attack.

    ``share`` of a thousand cases are its; ``allowed`` are the errors that it documents; it may take
    ``megabytes``. A reader that is ``contained`` calls libhdf5 on anything, which may crash or hang: the
    product does so in the guarded child only, and the harness then asks that child. One with ``processes`` is
    the product as it stands, which starts that child itself.
    """

    name: str
    make: Make
    read: Read
    allowed: tuple[type[Exception], ...]
    share: int
    megabytes: int = 64
    contained: bool = False
    processes: bool = False


def check_message(error: Exception) -> None:
    """Raises AssertionError for a message of several lines, of many pages, or of none."""
    text = str(error)
    if not text.strip() or "\n" in text or len(text) > 20_000:
        raise AssertionError(f"{type(error).__name__} says {len(text)} characters: {text[:300]!r}")


def one_line(read: Callable[[], object], allowed: tuple[type[Exception], ...]) -> None:
    """Read; an allowed error in one line is an answer too."""
    try:
        read()
    except allowed as error:
        check_message(error)
