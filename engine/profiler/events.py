"""``RecordEvent``: a block of the user's code as a span."""

from __future__ import annotations

from contextlib import ContextDecorator
from types import TracebackType

from engine.core.errors import DTypeError
from engine.core.spans import OpenSpan, watch
from engine.profiler.states import TracerEventType


class RecordEvent(ContextDecorator):
    """Records what runs in the ``with`` block, in the decorated function, or between ``begin()`` and
    ``end()``, under ``name``. While nothing records it does nothing."""

    def __init__(self, name: str, event_type: TracerEventType = TracerEventType.PythonUserDefined) -> None:
        if not isinstance(event_type, TracerEventType):
            raise DTypeError(f"RecordEvent: event_type must be a TracerEventType: got {event_type!r}")
        self.name = name
        self.event_type = event_type
        self._open: list[OpenSpan | None] = []

    def begin(self) -> None:
        self._open.append(watch.open(self.event_type.name, self.name))

    def end(self) -> None:
        """End what ``begin()`` began last; nothing where nothing began."""
        opened = self._open.pop() if self._open else None
        if opened is not None:
            opened.close()

    def __enter__(self) -> RecordEvent:
        self.begin()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()
