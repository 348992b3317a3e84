"""BufferPlace: the place of a Layer's buffer that a function assigns while a Program is built from it."""

from __future__ import annotations

from typing import Any


class BufferPlace:
    """``fields[name]``, which held ``buffer`` when the function began.

    While the Program is built it holds the value that the function assigned, so that another name of the old
    value holds that value. A branch or loop passes its last value on, as it does for values changed in place.
    """

    __slots__ = ("buffer", "fields", "name")

    def __init__(self, fields: dict[str, Any], name: str) -> None:
        self.fields = fields
        self.name = name
        self.buffer = fields[name]

    def value(self) -> Any:
        """The value that it holds at this point of the trace."""
        return self.fields[self.name]

    def put(self, value: object) -> None:
        self.fields[self.name] = value
