"""The order in which a kernel goes along a row of an image whose filters have one channel each.

Each column of the source is read once, and all results that it meets take their share of it: the results
that are not complete yet are held in registers, as few as a filter is wide. Turns in which the same happens,
moved along, are a loop; at the ends of a row, where the filter meets padding, turns differ and are written
out. So no column of padding is read or multiplied, and nothing is masked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from engine.kernels.fast.target import target
from engine.kernels.fast.vectors import I64, Builder, Local, Value, loop, settled

_LEAST = 4  # lanes of a vector that has a register of its kind
_UNROLLED = 2  # turns of the loop that are written out, at least

Link = tuple[int, int, int]  # a column of the source, of the result, and of the filter that connects them


@dataclass(frozen=True)
class Turn:
    """What happens in one turn; columns count from where the turn begins in the source and in the result.

    ``reads``: columns of the source, each with its results: column, the filter's column, and whether the
    result is complete then. ``blank``: results that nothing contributes to. ``held``: results at hand.
    """

    reads: tuple[tuple[int, tuple[tuple[int, int, bool], ...]], ...]
    blank: tuple[int, ...]
    held: tuple[int, ...]


@dataclass(frozen=True)
class Course:
    """All turns of a row from number ``first`` on; those from ``begin`` to ``end`` are equal.

    A turn goes ``read`` columns of the source and ``made`` columns of the result.
    """

    read: int
    made: int
    first: int
    turns: tuple[Turn, ...]
    begin: int
    end: int

    @property
    def held(self) -> int:
        """Results that are held at once, at most."""
        return max((len(turn.held) for turn in self.turns), default=0) + self.made


def course(links: Iterable[Link], results: int, read: int, made: int) -> Course:
    """The course through the links of ``results`` results, of which each turn moves ``made``."""
    of_result: dict[int, list[int]] = {}
    of_source: dict[int, list[tuple[int, int]]] = {}
    for source, result, tap in links:
        of_result.setdefault(result, []).append(source)
        of_source.setdefault(source, []).append((result, tap))
    reads: dict[int, list[int]] = {}
    for source in sorted(of_source):
        reads.setdefault(source // read, []).append(source)
    blank: dict[int, list[int]] = {}
    for result in range(results):
        if result not in of_result:
            blank.setdefault(result // made, []).append(result)
    numbers = range(min([*reads, *blank], default=0), max([*reads, *blank], default=-1) + 1)
    turns = []
    for number in numbers:
        start, goal = number * read, number * made
        turns.append(
            Turn(
                tuple(
                    (
                        source - start,
                        tuple(
                            (result - goal, tap, source == max(of_result[result]))
                            for result, tap in sorted(of_source[source])
                        ),
                    )
                    for source in reads.get(number, ())
                ),
                tuple(result - goal for result in blank.get(number, ())),
                tuple(
                    result - goal
                    for result, sources in sorted(of_result.items())
                    if min(sources) < start <= max(sources)
                ),
            )
        )
    begin, end = _alike(turns)
    return Course(read, made, numbers.start, tuple(turns), begin, end)


def _alike(turns: Sequence[Turn]) -> tuple[int, int]:
    """The longest run of equal turns."""
    best, begin = (0, 0), 0
    for n in range(1, len(turns) + 1):
        if n == len(turns) or turns[n] != turns[begin]:
            if n - begin > best[1] - best[0]:
                best = begin, n
            begin = n
    return best


class Work(Protocol):
    """What a kernel does on its way; columns are 64-bit integers. ``sums``: what it adds up all along."""

    lanes: int

    @property
    def sums(self) -> Sequence[Local]: ...

    def read(self, column: Value) -> list[Value]:
        """The vectors of a column of the source: one for each row of the filter."""

    def meet(self, column: Value, tap: int, values: list[Value], held: Value | None) -> Value:
        """Let a column of the filter connect a result with the vectors that were read; ``held`` is what this
        returned for the result before, None for the first time."""

    def end(self, column: Value, held: Value | None) -> None:
        """The result is complete; None: nothing contributes to it."""


def follow(b: Builder, way: Course, work: Work) -> None:
    """Write the code of a row."""

    def turn(one: Turn, number: Value | int, held: dict[int, Value]) -> dict[int, Value]:
        def column(each: int, far: int) -> Value:
            if isinstance(number, int):
                return I64(number * each + far)
            return b.add(b.mul(number, I64(each)), I64(far))

        for far in one.blank:
            work.end(column(way.made, far), None)
        for far, meets in one.reads:
            values = work.read(column(way.read, far))
            for result, tap, last in meets:
                place = column(way.made, result)
                held[result] = work.meet(place, tap, values, held.get(result))
                if last:
                    work.end(place, held.pop(result))
        if work.lanes >= _LEAST and not target().has(
            "neon"
        ):  # else LLVM reads more ahead than registers hold
            for result, value in held.items():
                held[result] = settled(b, value)
            for one_sum in work.sums:
                one_sum.set(settled(b, one_sum.get()))
        return {result - way.made: value for result, value in held.items()}

    held: dict[int, Value] = {}
    for n in range(way.begin):
        held = turn(way.turns[n], way.first + n, held)
    done, unrolled = way.begin, max(_UNROLLED, len(held))
    times = (way.end - way.begin) // unrolled
    if times > 1:
        kept = {result: Local(b, value) for result, value in held.items()}
        start, done = way.first + done, done + times * unrolled
        with loop(b, I64(start), I64(way.first + done), unrolled) as number:
            inner = {result: one.get() for result, one in kept.items()}
            for n in range(unrolled):
                inner = turn(way.turns[way.begin], b.add(number, I64(n)), inner)
            for result, one in kept.items():
                one.set(inner[result])
        held = {result: one.get() for result, one in kept.items()}
    for n in range(done, len(way.turns)):
        held = turn(way.turns[n], way.first + n, held)
