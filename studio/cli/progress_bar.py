"""A bar on the terminal for work whose parts have words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from studio.cli.output import visible

Show: TypeAlias = Callable[[str, float, float], None]
"""Receives what is done now, how much is done, and of how much; 0 where that is not known."""


@contextmanager
def progress_bar(as_json: bool) -> Iterator[Show]:
    """Show how far the block is; on standard error, where that is a terminal and no JSON was asked for."""
    from rich.console import Console
    from rich.progress import Progress

    screen = Console(stderr=True)
    with Progress(console=screen, transient=True, disable=as_json or not screen.is_terminal) as progress:
        task = progress.add_task("", total=None)

        def show(words: str, done: float, total: float) -> None:
            progress.update(task, description=visible(words), completed=done, total=total or None)

        yield show
