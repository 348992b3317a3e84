"""Progress on a terminal: the command line provides a bar; without one text is printed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol


class ProgressBar(Protocol):
    """Shows how far one epoch, evaluation or prediction is."""

    def update(self, step: int, values: Iterable[tuple[str, Any]]) -> None:
        """Show that ``step`` steps are done, and named values."""


terminal_bar: Callable[[int | None], ProgressBar] | None = None
"""Makes a bar for as many steps, None where that is not known; set while standard output is a terminal."""
