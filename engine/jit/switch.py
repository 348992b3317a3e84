"""Whether functions that to_static converted run as Programs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import ClassVar


class Switch:
    """Whether functions are converted, in the whole process, as in Paddle.

    ``enable_to_static(False)`` makes converted functions run eagerly as written; ``as_written`` does so
    within a block of one thread.
    """

    enabled = True
    blocks = False  # whether there ever was one; where there was none, none has to be looked for
    _as_written: ClassVar[ContextVar[bool]] = ContextVar("as_written", default=False)

    @classmethod
    @contextmanager
    def as_written(cls) -> Iterator[None]:
        """Let converted functions run eagerly: hooks of Layers are called with Tensors then."""
        token = cls._as_written.set(True)
        cls.blocks = True
        try:
            yield
        finally:
            cls._as_written.reset(token)

    @classmethod
    def converts(cls) -> bool:
        """Whether a call here runs as a Program."""
        return cls.enabled and not (cls.blocks and cls._as_written.get())
