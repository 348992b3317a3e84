"""Debugger: goes through a batch operator by operator, stops where something is found, and shows values."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from engine.core.errors import ArgumentError, EngineError
from engine.debugger import views
from engine.debugger.breakpoints import Breakpoint, Watcher
from engine.debugger.changes import Change, Given, How
from engine.debugger.conditions import Condition, NotFinite
from engine.debugger.first_bad import FirstBad
from engine.debugger.points import Failure, Part, Point, Subject
from engine.debugger.stop import MOST_TEXT, MOST_VALUES, Reason, Stop, Value, at_site, value_row
from engine.debugger.timeline import Named, Timeline

KEPT_BYTES = 512 << 20


class Debugger:
    """Steps through the batch of a subject.

    Values are kept up to ``keep_bytes``, the oldest go first and are computed again when they are looked at.
    What it gives are plain values of bounded size. One thread uses it; ``interrupt`` may come from any.
    """

    def __init__(self, subject: Subject, keep_bytes: int = KEPT_BYTES) -> None:
        self._subject = subject
        self._timeline = Timeline(subject, keep_bytes)
        self._watcher = Watcher(site for part in subject.parts for site in part.sites)
        self.conditions: list[Condition] = []
        self.watches: list[str] = []
        self._cursor = 0
        self._interrupted = threading.Event()
        self._timeline.begin()
        self._stop = self._stopped("begin")

    # -- what it is ----------------------------------------------------------------------------------------
    @property
    def title(self) -> str:
        """What is debugged, in a few words."""
        return self._subject.title

    @property
    def notes(self) -> list[str]:
        """What differs from a training, in sentences."""
        return list(self._subject.notes)

    @property
    def parts(self) -> Sequence[Part]:
        """Forward, backward and update."""
        return self._subject.parts

    @property
    def position(self) -> int:
        """How many operators of the batch have computed, where the debugger stands."""
        return self._cursor

    @property
    def batch(self) -> int:
        """The number of the batch, as a training counts its steps."""
        return self._subject.batch

    @property
    def stop(self) -> Stop:
        """The last stop."""
        return self._stop

    @property
    def keep_bytes(self) -> int:
        """How many bytes of values are kept."""
        return self._timeline.kept.limit

    @property
    def kept_bytes(self) -> int:
        """How many bytes of values are kept now."""
        return self._timeline.kept.bytes

    # -- going on ------------------------------------------------------------------------------------------
    def step(self) -> Stop:
        """Go to the next operator; from the end of a batch to the next batch."""
        if self._at_end():
            return self.next_batch()
        if self._cursor < len(self._timeline.records):
            self._cursor += 1
            return self._stopped("step")
        return self._run(lambda point: ("step", "", ""))

    def step_back(self) -> Stop:
        """Go to the operator before; from the first one to the begin of the batch."""
        self._cursor = max(0, self._cursor - 1)
        return self._stopped("step" if self._cursor else "begin")

    def go_to(self, position: int) -> Stop:
        """Go to an operator by its number in the batch, or as far as the batch goes."""
        if position < 0:
            raise ArgumentError(f"debug: positions are from 0 on: got {position}; give e.g. 0")
        if position <= len(self._timeline.records):
            self._cursor = position
            return self._stopped("step" if position else "begin")
        return self._run(lambda point: ("step", "", "") if self._cursor >= position else None)

    def resume(self) -> Stop:
        """Go on to the next breakpoint, condition, failing operator, or the end of the batch."""
        if self._at_end():
            begin = self.next_batch()
            if begin.reason != "begin":
                return begin
        return self._run(self._breaks)

    def until_nan(self, ignore: Sequence[str] = (), batches: int = 1, breaks: bool = False) -> Stop:
        """Go on to the first operator whose inputs are finite and whose result is not.

        ``ignore`` as of :class:`NotFinite`. Looks at the rest of this batch and, up to ``batches``, at those
        after it, with the weights that this one leaves. ``breaks``: breakpoints and conditions stop too.
        """
        infinite, looked = False, 0
        for n in range(batches):
            if n or self._at_end():
                begin = self.next_batch()
                if begin.reason == "end" and n:  # all that there are
                    break
                if begin.reason != "begin":
                    return begin
            looked += 1
            bad = FirstBad(NotFinite(tuple(ignore)), self._timeline.initial, self._cursor)
            found = self._run(partial(self._bad_or_breaks, bad) if breaks else bad.look)
            if found.reason != "end":
                return found
            infinite |= bad.infinite
            late = bad.at_end()
            if late is not None:
                position, value, words = late
                self._cursor = position
                return self._stopped("not finite", words, value)
        seen = f"{looked} batches are finite" if looked > 1 else f"batch {self.batch} is finite"
        seen += ", and there are no more" if looked < batches else ""
        but = " but for infinity that is filled in, or ignored" if infinite else ""
        self._stop = replace(self._stop, reason="finite", message=f"{seen}{but}: {self._counted()}")
        return self._stop

    def next_batch(self) -> Stop:
        """Finish this batch and go to the next one."""
        if not self._at_end():
            finished = self._run(lambda point: None)
            if finished.reason != "end":
                return finished
        with self._subject.entered():
            more = self._subject.advance()
        if not more:
            return self._stopped("end", "there are no more batches")
        self._timeline.changes.clear()  # they are of the batch that is over
        self._begin()
        return self._stopped("begin")

    def restart(self) -> Stop:
        """Go back to the start of the first batch; changes are taken back, breakpoints stay."""
        with self._subject.entered():
            self._subject.restart()
        self._timeline.changes.clear()
        self._begin()
        self._watcher.begin()
        return self._stopped("begin")

    def interrupt(self) -> None:
        """Stop after the operator that computes now, or after the next one that does; from any thread."""
        self._interrupted.set()

    def forget_interrupt(self) -> None:
        """An interrupt that came when a movement had ended already does not count for the next one."""
        self._interrupted.clear()

    def close(self) -> None:
        """Let go of everything."""
        self._timeline.begin()
        self._subject.close()

    def _begin(self) -> None:
        self._cursor = 0
        self._timeline.begin()
        self._watcher.move_to(None, ())

    def _at_end(self) -> bool:
        return self._timeline.ended and self._cursor == len(self._timeline.records)

    def _bad_or_breaks(self, bad: FirstBad, point: Point) -> tuple[Reason, str, str] | None:
        return bad.look(point) or self._breaks(point)

    def _breaks(self, point: Point) -> tuple[Reason, str, str] | None:
        hit = self._watcher.hit(point)
        if hit is not None:
            number, value, words = hit
            text = self._watcher.breakpoints[number].text()
            return "breakpoint", f"breakpoint {text}" + (f": {words}" if words else ""), value
        for condition in self.conditions:
            found = condition.found(point)
            if found is not None:
                value, words = found
                return "condition", f"{value}: {words}", value
        return None

    def _run(self, look: Callable[[Point], tuple[Reason, str, str] | None]) -> Stop:
        """Run until ``look`` gives why to stop, with words and the name of a value; or to the end."""
        timeline = self._timeline
        timeline.seek(self._cursor)
        why: tuple[Reason, str, str] | None = None
        if self._cursor:
            record = timeline.records[self._cursor - 1]
            self._watcher.move_to(record.site, record.iterations)
        else:
            self._watcher.move_to(None, ())
        try:
            with timeline.running():
                while (point := timeline.advance()) is not None:
                    self._cursor = timeline.count
                    why = look(point)
                    if why is None and self._interrupted.is_set():
                        self._interrupted.clear()
                        why = "interrupted", "", ""
                    if why is not None:
                        break
        except Failure as failure:
            return self._failed(failure)
        reason, message, value = why or ("end", "", "")
        return self._stopped(reason, message, value)

    # -- where it stands -----------------------------------------------------------------------------------
    def _stopped(self, reason: Reason, message: str = "", value: str = "") -> Stop:
        fields: dict[str, Any] = {}
        inputs: list[Value] = []
        outputs: list[Value] = []
        if self._cursor:
            record = self._timeline.records[self._cursor - 1]
            fields = at_site(record.site, record.iterations)
            inputs, outputs = self.operands(self._cursor)
        self._stop = Stop(
            reason=reason,
            message=message[:MOST_TEXT],
            batch=self.batch,
            position=self._cursor,
            value=value,
            inputs=inputs,
            outputs=outputs,
            watches=self._watched(),
            **fields,
        )
        return self._stop

    def _failed(self, failure: Failure) -> Stop:
        """Where an operator raised an error: the values until then stay."""
        error = failure.error
        text = error.message if isinstance(error, EngineError) else f"{type(error).__name__}: {error}"
        inputs = [value_row(name, array) for name, array in failure.inputs[:MOST_VALUES]]
        self._stop = Stop(
            reason="failed",
            message=str(text)[:MOST_TEXT],
            batch=self.batch,
            position=self._cursor,
            error=type(error).__name__,
            inputs=inputs,
            watches=self._watched(),
            **at_site(failure.site, failure.iterations),
        )
        return self._stop

    def operands(self, position: int) -> tuple[list[Value], list[Value]]:
        """Inputs and results of an operator of the batch that has computed, by its number from 1.

        Raises ArgumentError for a later one.
        """
        if not 1 <= position <= len(self._timeline.records):
            raise ArgumentError(
                f"debug: operator {position} has not computed: {len(self._timeline.records)} have"
            )
        record, time = self._timeline.records[position - 1], 2 * (position - 1)
        return self._rows(record.inputs, time), self._rows(record.outputs, time + 1)

    def _rows(self, names: Sequence[str], before: int) -> list[Value]:
        wanted = [(name, self._timeline.time_of(name, before)) for name in names[:MOST_VALUES]]
        kept = [self._timeline.is_kept(*each) for each in wanted]
        arrays = self._timeline.fetch(wanted)
        return [value_row(each[0], arrays[each], is_kept) for each, is_kept in zip(wanted, kept, strict=True)]

    def _watched(self) -> list[Value]:
        rows: list[Value] = []
        for name in self.watches[:MOST_VALUES]:
            try:
                rows += self._rows([name], 2 * self._cursor)
            except ArgumentError:  # not made yet
                rows.append(value_row(name, None))
        return rows

    def _counted(self) -> str:
        counts = [
            f"{sum(r.site.part == part.name for r in self._timeline.records):,} operators {part.name}"
            if not part.rows
            else f"{len(part.rows):,} parameters updated"
            for part in self.parts
        ]
        return ", ".join(counts)

    # -- breakpoints ---------------------------------------------------------------------------------------
    @property
    def breakpoints(self) -> dict[int, Breakpoint]:
        """All breakpoints by number."""
        return self._watcher.breakpoints

    def add_breakpoint(self, wanted: Breakpoint) -> int:
        """Add one and return its number; on a line without operators it moves to the next one that has some.

        Raises:
            ArgumentError: there is no such operator, layer or line.
        """
        return self._watcher.add(wanted)

    def change_breakpoint(self, number: int, wanted: Breakpoint) -> None:
        """Put another one in its place. Raises ArgumentError."""
        self._watcher.change(number, wanted)

    def remove_breakpoint(self, number: int) -> None:
        """Remove one. Raises ArgumentError for an unknown number."""
        self._watcher.remove(number)

    def hits(self, number: int) -> int:
        """How often a breakpoint was hit."""
        return self._watcher.hits(number)

    # -- values --------------------------------------------------------------------------------------------
    def values(self, first: int = 0, count: int = 1000) -> list[Named]:
        """The values that there are here, some of them: what the batch began with, then as they were made."""
        return self._timeline.named(self._cursor)[first : first + max(0, min(count, 10_000))]

    def view(self, name: str, kind: str = "statistics", **options: Any) -> dict[str, Any]:
        """A value in plain values: ``statistics``, ``histogram``, ``image`` or ``rows``; see
        :mod:`engine.debugger.views` for their options.

        ``position`` looks at the value as it was after that many operators.

        Raises:
            ArgumentError: no such value here, no such view, or an option that it does not take.
        """
        position = int(options.pop("position", self._cursor))
        time = self._timeline.time_of(name, 2 * position)
        array = self._timeline.fetch([(name, time)])[name, time]
        return {"name": name, "kind": kind, **views.view(array, kind, options)}

    def array(self, name: str) -> Any:
        """The value itself, for code in the same process. Raises ArgumentError for an unknown one."""
        time = self._timeline.time_of(name, 2 * self._cursor)
        return self._timeline.fetch([(name, time)])[name, time]

    def watch(self, name: str) -> None:
        """Show this value at each stop."""
        if name not in self.watches:
            self.watches.append(name)

    def unwatch(self, name: str) -> None:
        """Show it no longer."""
        if name in self.watches:
            self.watches.remove(name)

    # -- changes -------------------------------------------------------------------------------------------
    @property
    def changes(self) -> list[dict[str, Any]]:
        """The changes of values of this batch, oldest first."""
        return [change.plain() for change in self._timeline.changes]

    def change(self, name: str, how: How, value: Given, index: Sequence[int] = ()) -> Stop:
        """Change a value where it was made, and come back here: what was computed from it since is computed
        again.

        ``how``: ``number`` sets the element at ``index``, ``fill`` all, ``scale`` multiplies all, ``array``
        gives all.

        Raises:
            ArgumentError: no such value, or one that no operator made. ShapeError, DTypeError: what is given
                does not fit; both are named.
        """
        timeline, cursor = self._timeline, self._cursor
        time = timeline.time_of(name, 2 * cursor)
        if time >= 0 and time % 2 == 0:
            raise ArgumentError(
                f"debug: {name}: a loop or branch handed it on, no operator made it; change the value that "
                "it was made from"
            )
        position = 0 if time < 0 else time // 2 + 1
        timeline.change(Change(position, name, how, value, tuple(index)))
        try:
            timeline.seek(cursor)
        except Failure as failure:
            self._cursor = timeline.count
            return self._failed(failure)
        self._cursor = timeline.count
        return self._stopped("step" if self._cursor else "begin")
