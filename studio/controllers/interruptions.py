"""What reaches the process from outside its event loop: uncaught errors, and Ctrl-C in the terminal."""

from __future__ import annotations

import signal
import sys
import threading
import traceback
from collections.abc import Callable
from types import TracebackType
from typing import Any

from PySide6.QtCore import QCoreApplication

from studio.controllers.bridge import Bridge
from studio.session.problem_view import ProblemView


def catch_errors(
    report: Callable[[type[BaseException], BaseException, TracebackType | None], object],
) -> Callable[[], None]:
    """Report uncaught errors of all threads; returns a function that undoes it."""
    before, before_threads = sys.excepthook, threading.excepthook

    def in_thread(args: Any) -> None:
        if args.exc_type is not SystemExit:
            report(args.exc_type, args.exc_value, args.exc_traceback)

    sys.excepthook, threading.excepthook = report, in_thread

    def undo() -> None:
        sys.excepthook, threading.excepthook = before, before_threads

    return undo


def catch_interrupts(bridge: Bridge, stop: Callable[[], object]) -> Callable[[], None]:
    """The first Ctrl-C calls ``stop``, which closes the window; the second ends the process at once.

    SIGINT stays ignored where the window was started with it ignored, as a script starts background jobs.
    Returns a function that undoes it.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        return lambda: None

    def interrupted(number: int, frame: object) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        bridge.call(stop)

    before = signal.signal(signal.SIGINT, interrupted)
    unwatch = bridge.watch_signals()

    def undo() -> None:
        unwatch()
        signal.signal(signal.SIGINT, before)

    return undo


def problem_of_window(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> ProblemView:
    """An uncaught error of the window as a problem to show."""
    tr = QCoreApplication.translate
    return ProblemView(
        title=tr("Studio", "Something went wrong in the window"),
        where=kind.__name__,
        what=str(error),
        do=tr("Studio", "your runs are safe; copy the report from Problems if it happens again"),
        details="".join(traceback.format_exception(kind, error, trace)),
    )
