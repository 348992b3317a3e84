"""Timeline: the operators of one batch that computed so far, their values, and how to come back to each."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np

from engine.core.errors import ArgumentError
from engine.debugger.changes import Change, made
from engine.debugger.kept_values import KeptValues
from engine.debugger.points import Array, Failure, Point, Site, Subject
from engine.training.randomness import random_state, set_random_state

_Spec = tuple[Any, Any]  # shape and dtype of an array; None of something else
_START = -1  # the time of what a batch begins with


@dataclass(frozen=True, slots=True)
class Record:
    """An operator that computed: where, and the names of what it read and made."""

    site: Site
    iterations: tuple[int, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


class Named(TypedDict):
    """A value that there is: ``position`` is the number of the operator that made it (0: the batch began with
    it), ``kept`` whether it need not be computed again."""

    name: str
    shape: list[int] | None
    dtype: str
    position: int
    kept: bool


class _Pass:
    """One run over the batch, as far as it is: its random numbers, and the last array of each name."""

    def __init__(self, points: Iterator[Point], random: dict[str, Any]) -> None:
        self.points = points
        self.random = random
        self.count = 0
        self.point: Point | None = None  # the last one
        self.latest: dict[str, Array] = {}

    @contextmanager
    def drawing(self) -> Iterator[None]:
        """Within the block the random numbers are those of the pass."""
        before = random_state()
        set_random_state(self.random)
        try:
            yield
        finally:
            self.random = random_state()
            set_random_state(before)


class Timeline:
    """Runs a batch of ``subject``, keeps values up to ``limit`` bytes, and computes older ones again.

    Times: operator n reads at 2n and has made its results at 2n + 1, so a value that a loop hands to its next
    iteration, which no operator makes, is found too.
    """

    def __init__(self, subject: Subject, limit: int) -> None:
        self.subject = subject
        self.kept = KeptValues(limit)
        self.changes: list[Change] = []
        self.failure: Failure | None = None
        self.records: list[Record] = []
        self.ended = False
        self._times: dict[str, list[int]] = {}
        # By name the shape and dtype from a time on, where they change; and the names of each operator.
        self._specs: dict[str, list[tuple[int, _Spec]]] = {}
        self._names: dict[Site, tuple[tuple[str, ...], tuple[str, ...]]] = {}
        self._initial: dict[str, Array] = {}
        self._live: _Pass | None = None

    @property
    def count(self) -> int:
        """How many operators of the batch the current pass has run."""
        return 0 if self._live is None else self._live.count

    def begin(self) -> None:
        """Start with the batch that the subject is at; nothing has run."""
        self._close(self._live)
        self._live, self.failure, self.ended = None, None, False
        self.records.clear()
        self._times.clear()
        self._specs.clear()
        self.kept.forget(-2)
        self._take_initial()

    def _take_initial(self) -> None:
        self._initial = dict(self.subject.initial())
        for name in {c.name for c in self.changes if c.position == 0}:
            if name in self._initial:
                changes = [c for c in self.changes if c.position == 0 and c.name == name]
                self._initial[name] = made(self._initial[name], changes)

    @property
    def initial(self) -> Mapping[str, Array]:
        """What the batch begins with, with the changes of it."""
        return self._initial

    # -- running -------------------------------------------------------------------------------------------
    @contextmanager
    def running(self) -> Iterator[None]:
        """Within the block ``advance`` may be called: random numbers, threads and kernels are the batch's."""
        live = self._live
        if live is None:
            live = self._live = self._new_pass()
        with self.subject.entered(), live.drawing():
            yield

    def advance(self) -> Point | None:
        """Run the next operator; None at the end of the batch. Raises Failure."""
        assert self._live is not None, "running() has made it"
        if self.ended and self._live.count == len(self.records):
            return None
        number = self._live.count
        if self.failure is not None and number == len(self.records):
            raise self.failure
        try:
            point = self._next(self._live)
        except Failure as failure:
            self.failure = failure
            self._note_inputs(self._live, 2 * number, failure.inputs)
            raise
        if point is None:
            self.ended = True
            return None
        self._record(number, point, new=number == len(self.records))
        return point

    def seek(self, position: int) -> None:
        """Bring the current pass to ``position``: computed again where it is further."""
        if self.count == position and self._live is not None:
            return
        if self.count > position or self._live is None:
            self._close(self._live)
            self._live = self._new_pass()
        if self.count < position:
            with self.running():
                while self.count < position and self.advance() is not None:
                    pass

    def _new_pass(self) -> _Pass:
        changed = {c.name: self._initial[c.name] for c in self.changes if c.position == 0}
        return _Pass(self.subject.begin(changed), self.subject.random)

    def _next(self, running: _Pass) -> Point | None:
        """The next point, with the changes of its results made."""
        point = next(running.points, None)
        running.point = point
        if point is None:
            return None
        running.count += 1
        if self.changes:
            for name, array in list(point.outputs):
                changes = [c for c in self.changes if c.position == running.count and c.name == name]
                if changes:
                    _replace(point, name, made(array, changes))
        return point

    def _record(self, number: int, point: Point, new: bool) -> None:
        live = self._live
        assert live is not None
        self._note_inputs(live, 2 * number, point.inputs, new)
        for name, array in point.outputs:
            live.latest[name] = array
            if new:
                self._note(2 * number + 1, name, _frozen(array) if point.changing else array)
        if new:
            names = tuple([name for name, _ in point.inputs]), tuple([name for name, _ in point.outputs])
            if self._names.setdefault(point.site, names) == names:
                names = self._names[point.site]  # loops have millions of records
            self.records.append(Record(point.site, point.iterations, *names))

    def _note_inputs(
        self, live: _Pass, time: int, inputs: Sequence[tuple[str, Array]], new: bool = True
    ) -> None:
        """Keep what no operator has made: the values of a loop's next iteration, say."""
        for name, array in inputs:
            latest = live.latest.get(name)
            if latest is array:
                continue
            begins = latest is None and name in self._initial  # what the batch began with, or a copy
            if new and not begins:
                self._note(time, name, array)
            live.latest[name] = array

    def _note(self, time: int, name: str, array: Array) -> None:
        times = self._times.get(name)
        if times is None:
            times = self._times[name] = []
            self._specs[name] = []
        if not times or times[-1] < time:
            times.append(time)
        specs, spec = self._specs[name], (getattr(array, "shape", None), getattr(array, "dtype", None))
        if not specs or specs[-1][1] != spec:
            specs.append((time, spec))
        self.kept.put((time, name), array)

    def _close(self, running: _Pass | None) -> None:
        close = getattr(None if running is None else running.points, "close", None)
        if close is not None:
            close()

    # -- values --------------------------------------------------------------------------------------------
    def time_of(self, name: str, before: int) -> int:
        """When the value of this name was made that there is at time ``before``. Raises ArgumentError."""
        times = self._times.get(name, ())
        place = bisect_right(times, before)
        if place:
            return times[place - 1]
        if name in self._initial:
            return _START
        raise ArgumentError(f"debug: no value {name!r} here: no operator has made it yet; step on")

    def is_kept(self, name: str, time: int) -> bool:
        """Whether the value need not be computed again."""
        return time == _START or (time, name) in self.kept

    def fetch(self, wanted: Iterable[tuple[str, int]]) -> dict[tuple[str, int], Array]:
        """Values by name and time; those that are no longer kept are computed again, all by one replay."""
        found: dict[tuple[str, int], Array] = {}
        absent: set[tuple[str, int]] = set()
        for name, time in wanted:
            if time == _START:
                found[name, time] = self._initial[name]
            elif (time, name) in self.kept:
                found[name, time] = self.kept.get((time, name))
            else:
                absent.add((name, time))
        if absent:
            for key, array in self._replayed(absent):
                found[key] = array
                self.kept.put((key[1], key[0]), array)
        return found

    def _replayed(self, absent: set[tuple[str, int]]) -> Iterator[tuple[tuple[str, int], Array]]:
        """Run the batch once more from its start, on copies, and give these values."""
        last = max(time for _, time in absent)
        again = self._new_pass()
        try:
            with self.subject.entered(), again.drawing():
                while absent and 2 * again.count <= last:
                    time = 2 * again.count
                    try:
                        point = self._next(again)
                    except Failure as failure:
                        point = None
                        given: Sequence[tuple[str, Array]] = failure.inputs
                    else:
                        given = () if point is None else point.inputs
                    for name, array in given:
                        if (name, time) in absent:
                            absent.discard((name, time))
                            yield (name, time), array
                    if point is None:
                        return
                    for name, array in point.outputs:
                        if (name, time + 1) in absent:
                            absent.discard((name, time + 1))
                            yield (name, time + 1), _frozen(array) if point.changing else array
        finally:
            self._close(again)

    def named(self, position: int) -> list[Named]:
        """The values that there are after ``position`` operators: first what the batch began with, then in
        the order in which they were made."""
        rows: list[tuple[int, str]] = []
        for name in (*self._initial, *(n for n in self._times if n not in self._initial)):
            times = self._times.get(name, ())
            place = bisect_right(times, 2 * position)
            if place:
                rows.append((times[place - 1], name))
            elif name in self._initial:
                rows.append((_START, name))
        rows.sort(key=lambda row: row[0])
        found = []
        for time, name in rows:
            shape, dtype = _described(*self._spec_at(name, time))
            found.append(
                Named(
                    name=name,
                    shape=shape,
                    dtype=dtype,
                    position=0 if time == _START else time // 2 + time % 2,
                    kept=self.is_kept(name, time),
                )
            )
        return found

    def _spec_at(self, name: str, time: int) -> _Spec:
        if time == _START:
            array = self._initial[name]
            return getattr(array, "shape", None), getattr(array, "dtype", None)
        specs = self._specs[name]
        return specs[bisect_right(specs, time, key=lambda spec: spec[0]) - 1][1]

    # -- changes -------------------------------------------------------------------------------------------
    def change(self, change: Change) -> None:
        """Make a change and forget what came after; the current pass is behind it then.

        Raises what ``Change.of`` raises, and then nothing has changed.
        """
        position, live = change.position, self._live
        time = _START if position == 0 else 2 * position - 1
        after = change.of(self.fetch([(change.name, time)])[change.name, time])
        self.changes.append(change)
        if position == 0:
            self._close(live)
            self._live = None
            self._forget_after(0)
            self._take_initial()
        elif live is not None and live.point is not None and live.count == position == len(self.records):
            _replace(live.point, change.name, after)
            live.latest[change.name] = after
            self._note(time, change.name, _frozen(after) if live.point.changing else after)
            self.ended, self.failure = False, None
        else:
            self._close(live)
            self._live = None
            self._forget_after(position)
            self.seek(position)

    def _forget_after(self, position: int) -> None:
        """Forget the operators from ``position`` on; the last one's results change."""
        kept = max(position - 1, 0)
        self.ended, self.failure = False, None
        del self.records[kept:]
        self.kept.forget(2 * kept - 1 if kept else _START)
        for name, times in list(self._times.items()):
            del times[bisect_right(times, 2 * kept - 1) :]
            if not times:
                del self._times[name]
        for specs in self._specs.values():
            while specs and specs[-1][0] > 2 * kept - 1:
                specs.pop()


def _replace(point: Point, name: str, array: Array) -> None:
    """Put another array in place of a result."""
    point.replace(name, array)
    point.outputs = [(each, array if each == name else before) for each, before in point.outputs]


def _described(shape: Any, dtype: Any) -> tuple[list[int] | None, str]:
    """Shape and dtype as plain values; those of a list are not known."""
    if shape is None:
        return None, ""
    return [int(size) for size in shape], "bfloat16" if dtype == np.uint16 else str(dtype)


def _frozen(array: Array) -> Array:
    """A copy of what may be written again."""
    if isinstance(array, (list, tuple)):
        return [_frozen(each) for each in array]
    return array if array is None or isinstance(array, np.generic) else array.copy()
