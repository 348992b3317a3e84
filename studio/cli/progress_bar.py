"""A bar on the terminal for work whose parts have words."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from studio.cli.output import visible

Show: TypeAlias = Callable[[str, float, float], None]
"""Receives what is done now, how much is done, and of how much; 0 where that is not known."""


@contextmanager
def progress_bar(as_json: bool) -> Iterator[Show]:
    """Show how far the block is; on standard error, where that is a terminal and no JSON was asked for."""
    # Asked as rich does, which a command without a terminal does not import.
    if as_json or not (sys.stderr.isatty() or os.environ.get("FORCE_COLOR")):
        yield lambda words, done, total: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=None)

        def show(words: str, done: float, total: float) -> None:
            progress.update(task, description=visible(words), completed=done, total=total or None)

        yield show
