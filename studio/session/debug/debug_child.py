"""DebugChild: answers the requests of the page Debug in the child process."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from resources.regular_files import read_regular_text
from studio.session.debug.debug_requests import REQUESTS, ChangeValue, GoOn, ShowValue, WatchFor
from studio.session.packed_values import with_arrays
from studio.session.work.job import Emit, Event, Inbox, Request

if TYPE_CHECKING:
    from engine.debugger import Debugger, GuardedDebugger, Stop

    AnyDebugger: TypeAlias = Debugger | GuardedDebugger

PERIOD = 0.2  # seconds between two reports of how far a run is
MOST_SOURCE = 1 << 20  # bytes of a model's file that is shown
MOST_VALUES = 2000  # names of values that a stop lists
MOST_UPDATES = 1000  # rows of parameters


class DebugChild:
    """Serves one debugger. ``pause`` holds a run in progress at the next operator, from another thread."""

    def __init__(self, emit: Emit, title: str) -> None:
        self._emit, self._title = emit, title
        self._requests: queue.SimpleQueue[str | Request] = queue.SimpleQueue()
        self._debugger: AnyDebugger | None = None
        self._watching = 0  # the last request about breakpoints
        self._watches: tuple[str, ...] = ()
        self._lists = False  # whether each stop has all values
        self._updates: dict[int, dict[str, Any]] = {}  # rows of parameters that were updated, by number
        self._of = 0, 0  # the batch of those, and its changes
        self._numbers: dict[str, int] = {}  # of a breakpoint, by its place
        self._order: list[tuple[str, str]] = []  # places of those that the window has, and why one is refused

    def serve(self, make: Callable[[], AnyDebugger], inbox: Inbox) -> None:
        """Open the batch of the debugger that ``make`` gives, and answer until the job is cancelled."""
        from engine.core.errors import CancelledError, EngineError, LimitError, ProgramError, UnreadyError

        self._debugger = debugger = make()
        self._stop = debugger.stop
        inbox.attach(self._take, *REQUESTS)
        self._open(debugger)
        while True:
            request = self._requests.get()
            if not isinstance(request, Request):
                if request in ("cancel", "interrupt"):
                    debugger.close()
                    return
                continue
            number = int(getattr(request, "request", 0))
            try:
                self._answer(debugger, request)
            except (CancelledError, LimitError, ProgramError, UnreadyError):
                raise  # the process of a model of another installation has ended, so does this one
            except (EngineError, ArithmeticError, IndexError, TypeError, ValueError) as error:
                self._tell("debug_refused", request=number, message=_text(error))
            except MemoryError as error:
                message = f"debug: {self._title}: not enough memory for this: {error or 'MemoryError'}"
                self._tell("debug_refused", request=number, message=f"{message}; take a smaller batch")

    def _take(self, message: str | Request) -> None:
        """In the thread that receives: a run in progress must see it at once."""
        if message == "pause" and self._debugger is not None:
            self._debugger.interrupt()
        else:
            if isinstance(message, GoOn) and self._debugger is not None:
                self._debugger.forget_interrupt()  # of a movement that had ended when it came
            self._requests.put(message)

    def _tell(self, event: str, **values: Any) -> None:
        message: Event = {"event": event, "time": time.time(), **values}
        self._emit(message)

    def say(self, message: str) -> None:
        """Report what takes long."""
        self._tell("debug_progress", message=message, done=0, total=0)

    def _open(self, debugger: AnyDebugger) -> None:
        source, file = _source_of(debugger)
        self._tell(
            "debug_opened",
            title=debugger.title,
            notes=debugger.notes,
            parts=[part.plain() for part in debugger.parts],
            source=source,
            source_file=file,
        )
        self._stopped(debugger.stop, 0)

    def _answer(self, debugger: AnyDebugger, request: Request) -> None:
        if isinstance(request, GoOn):
            self._stopped(self._go_on(debugger, request), request.request)
        elif isinstance(request, WatchFor):
            self._watch_for(debugger, request)
        elif isinstance(request, ShowValue):
            values = debugger.view(request.name, request.kind, **request.options)
            self._tell(
                "debug_shown",
                request=request.request,
                name=request.name,
                kind=request.kind,
                values=with_arrays(request.kind, values),
            )
        elif isinstance(request, ChangeValue):
            stop = debugger.change(request.name, request.how, request.value, request.index)
            self._stopped(stop, request.request)

    # ----- running -----

    def _go_on(self, debugger: AnyDebugger, request: GoOn) -> Stop:
        def until_nan() -> Stop:
            return debugger.until_nan(request.ignored, request.batches)

        ways: dict[str, Callable[[], Stop]] = {
            "step": debugger.step,
            "back": debugger.step_back,
            "continue": debugger.resume,
            "until_nan": until_nan,
            "restart": debugger.restart,
        }
        ended = threading.Event()
        reporter = threading.Thread(target=self._report, args=(debugger, ended), daemon=True)
        reporter.start()
        try:
            return ways[request.way]()
        finally:
            ended.set()
            reporter.join()

    def _report(self, debugger: AnyDebugger, ended: threading.Event) -> None:
        """How far a run is, from a thread next to it."""
        total = sum(len(part.sites) for part in debugger.parts)
        while not ended.wait(PERIOD):
            done = debugger.position
            self._tell(
                "debug_progress",
                message=f"Batch {debugger.batch}, operator {done}",
                done=done,
                total=max(total, done),
            )

    def _stopped(self, stop: Stop, request: int) -> None:
        debugger, self._stop = self._debugger, stop
        assert debugger is not None
        self._tell(
            "debug_stopped",
            request=request,
            watching=self._watching,
            stop=stop.plain(),
            breakpoints=self._breakpoints(debugger),
            changes=debugger.changes,
            values=[dict(row) for row in debugger.values(0, MOST_VALUES)] if self._lists else [],
            updates=self._updated(debugger, stop),
        )

    def _updated(self, debugger: AnyDebugger, stop: Stop) -> list[dict[str, Any]]:
        """A row for each parameter that is updated outside of a Program, as far as the batch has come."""
        from engine.debugger import Debugger

        if not isinstance(debugger, Debugger):
            return []
        names = next((part.rows for part in debugger.parts if part.rows), ())[:MOST_UPDATES]
        reached = stop.where[0][1] + 1 if stop.part == "update" and stop.where else 0
        if reached <= max(self._updates, default=-1) or (stop.batch, len(debugger.changes)) != self._of:
            self._updates.clear()
        self._of = stop.batch, len(debugger.changes)
        first = stop.position - reached
        for number in range(min(reached, len(names))):
            if number not in self._updates:
                given, made = debugger.operands(first + number + 1)
                before, gradient = (dict(row) for row in given[:2])
                after = dict(made[0])
                self._updates[number] = {"before": before, "gradient": gradient, "after": after}
        return [{"name": name, **self._updates.get(number, {})} for number, name in enumerate(names)]

    # ----- breakpoints -----

    def _watch_for(self, debugger: AnyDebugger, request: WatchFor) -> None:
        from engine.core.errors import ArgumentError
        from engine.debugger import Breakpoint, condition_of

        wanted = {_place_of(plain): plain for plain in request.breakpoints}
        for place in self._numbers.keys() - wanted.keys():
            debugger.remove_breakpoint(self._numbers.pop(place))
        self._order = []
        for place, plain in wanted.items():
            refused = ""
            try:
                made = Breakpoint.of_plain(plain)
                if place in self._numbers:
                    debugger.change_breakpoint(self._numbers[place], made)
                else:
                    self._numbers[place] = debugger.add_breakpoint(made)
            except ArgumentError as error:
                refused = _text(error)
            self._order.append((place, refused))
        debugger.conditions = [condition_of(plain) for plain in request.conditions]
        self._watching, self._lists = request.request, request.values
        stop = self._stop
        watched = set(self._watches)
        self._watches = request.watches
        for name in watched - set(request.watches):
            debugger.unwatch(name)
        for name in request.watches:
            debugger.watch(name)
        if set(request.watches) != watched:
            if stop.reason != "failed":
                found = debugger.go_to(debugger.position)
                stop = replace(found, reason=stop.reason, message=stop.message, value=stop.value)
        self._stopped(stop, request.request)

    def _breakpoints(self, debugger: AnyDebugger) -> list[dict[str, Any]]:
        rows = []
        for place, refused in self._order:
            number = self._numbers.get(place)
            found = None if number is None else debugger.breakpoints[number]
            rows.append(
                {
                    "text": "" if found is None else found.text(),
                    "line": 0 if found is None else found.line,
                    "hit": 0 if number is None else debugger.hits(number),
                    "refused": refused,
                }
            )
        return rows


def _place_of(plain: dict[str, Any]) -> str:
    """What a breakpoint stops at, as a key."""
    names = ("kind", "part", "operator", "where", "layer", "file", "line")
    return repr([plain.get(name) for name in names])


def _source_of(debugger: AnyDebugger) -> tuple[str, str]:
    """The file that most operators come from, and its path; empty where none of them has lines."""
    counts: dict[str, int] = {}
    for part in debugger.parts:
        for site in part.sites:
            if site.file:
                counts[site.file] = counts.get(site.file, 0) + 1
    for file in sorted(counts, key=counts.__getitem__, reverse=True):
        with suppress(OSError):
            return read_regular_text(file, MOST_SOURCE, errors="replace"), file
    return "", ""


def _text(error: Exception) -> str:
    return str(error) or type(error).__name__
