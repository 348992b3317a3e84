"""The bar of ``Model.fit(verbose=1)`` on a terminal, drawn with rich."""

from __future__ import annotations

import atexit
import weakref
from collections.abc import Iterable
from typing import Any, ClassVar

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from studio.cli.output import visible


class TerminalBar:
    """One epoch, evaluation or prediction: steps, a bar, values, time. What the script prints goes above it.

    It is drawn when a step is shown, by no thread of its own: worker processes may be forked meanwhile.
    """

    _open: ClassVar[weakref.WeakSet[TerminalBar]] = weakref.WeakSet()

    def __init__(self, steps: int | None, console: Console | None = None) -> None:
        self._steps = steps
        self._progress = Progress(
            TextColumn("step {task.fields[count]}"),
            BarColumn(20),
            TextColumn("{task.fields[values]}", markup=False),
            TimeRemainingColumn(elapsed_when_finished=True),
            console=console,
            auto_refresh=False,
        )
        self._task = self._progress.add_task("", total=steps, count="", values="")

    def update(self, step: int, values: Iterable[tuple[str, Any]]) -> None:
        """Show that ``step`` steps are done, and named values; after the last the bar stays as it is."""
        from engine.hapi.callbacks.bar import value_text

        if self not in self._open:
            self._open.add(self)
            self._progress.start()
        count = str(step) if self._steps is None else f"{step}/{self._steps}"
        shown = " - ".join(f"{name}: {value_text(value)}" for name, value in values)
        self._progress.update(self._task, completed=step, count=count, values=visible(shown))
        self._progress.refresh()
        if self._steps is None or step >= self._steps:
            self.stop()

    def stop(self) -> None:
        """Give the terminal back; harmless where it was."""
        self._open.discard(self)
        self._progress.stop()

    @classmethod
    def stop_all(cls) -> None:
        """Give the terminal back where a script ended in the middle of an epoch."""
        for bar in list(cls._open):
            bar.stop()


def install() -> None:
    """Let ``Model`` draw bars with rich if standard output is a terminal."""
    if Console().is_terminal:
        from engine.core import display

        display.terminal_bar = TerminalBar
        atexit.register(TerminalBar.stop_all)
