"""Signals that end a command: Ctrl+C, SIGTERM, and SIGHUP, which a closed terminal sends.

SIGINT and SIGHUP stay ignored where the command was started with them ignored, as Unix programs do: a shell
starts the background jobs of a script so, and ``nohup`` any command. SIGTERM always ends it.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Protocol, TypeAlias

Handler: TypeAlias = Callable[[int, FrameType | None], object]

ENDING: tuple[int, ...] = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


def stays_ignored(number: int) -> bool:
    """Whether the process was started with this signal ignored, and leaves it so."""
    return number != signal.SIGTERM and signal.getsignal(number) == signal.SIG_IGN


@contextmanager
def handling(handlers: Mapping[int, Handler]) -> Iterator[None]:
    """Within the block these handlers are in place, except for signals that stay ignored."""
    before = {}
    for number, handler in handlers.items():
        if stays_ignored(number):
            continue
        with suppress(ValueError):  # not the main thread: a test's runner
            before[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        for number, former in before.items():
            signal.signal(number, former)


class Interruptible(Protocol):
    """What can be asked to end with a checkpoint: a training, a sweep."""

    def interrupt(self) -> None: ...


@contextmanager
def interruptible(run: Interruptible) -> Iterator[None]:
    """Within the block the first of ``ENDING`` stops ``run`` with a checkpoint, the second ends it at once,
    and the third ends the process."""
    terminals = [number for number in (1, 2) if _is_terminal(number)]
    asked = False

    def ask(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        if number == getattr(signal, "SIGHUP", None):
            _leave(terminals)
        if not asked:
            asked = True
            run.interrupt()
            return
        for each in ENDING:
            if not stays_ignored(each):
                signal.signal(each, signal.SIG_DFL)
        raise KeyboardInterrupt

    with handling(dict.fromkeys(ENDING, ask)):
        yield


def _is_terminal(descriptor: int) -> bool:
    try:
        return os.isatty(descriptor)
    except OSError:
        return False


def _leave(terminals: list[int]) -> None:
    """Write nothing more to terminals that are gone: every attempt would be an error."""
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for descriptor in terminals:
            os.dup2(nowhere, descriptor)
        os.close(nowhere)
