"""The trace of the passes: a Program as text after each of them, and the changes of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from engine.core.operators.operator import Operator
from engine.program.graph.positions import positions
from engine.program.graph.program import Program
from engine.program.passes.pipeline import EXACT, copied, passes_over
from engine.program.run.listing import Line, lines_of

BUILT = "as built"


@dataclass(frozen=True)
class Shown:
    """One operator as text: the number of branches and loops around it, and the places (file, line) in the
    user's code that it comes from."""

    text: str
    depth: int
    places: tuple[tuple[str, int], ...]

    def written(self) -> str:
        """The line as :meth:`Plan.text` has it."""
        places = ", ".join(f"{file}:{number}" for file, number in self.places)
        return f"{'    ' * self.depth}{self.text}" + (f"  # {places}" if places else "")


@dataclass(frozen=True)
class AfterPass:
    """The operators after a pass, and its changes: how many operators of which name went (``gone``) and came
    (``made``), how many moved (``moved``) or read something else (``changed``). ``difference`` has
    the operators before and after it in one order: "-" for those before, "+" for those after, "" for both."""

    name: str
    lines: tuple[Shown, ...]
    difference: tuple[tuple[str, Shown], ...]
    gone: tuple[tuple[str, int], ...] = ()
    made: tuple[tuple[str, int], ...] = ()
    moved: int = 0
    changed: int = 0

    def did(self) -> str:
        """The changes of the pass, in one line."""
        words = []
        if self.gone and self.made:
            words.append(f"{counted(self.gone)} became {counted(self.made)}")
        elif self.gone:
            words.append(f"removed {counted(self.gone)}")
        elif self.made:
            words.append(f"added {counted(self.made)}")
        words += [f"moved {self.moved}"] if self.moved else []
        words += [f"changed the inputs of {self.changed}"] if self.changed else []
        return "; ".join(words) or "nothing to do"

    def text(self) -> str:
        """The operators before and after it, one a line, behind a minus, a plus or a blank for both."""
        return "".join(f"{mark or ' '} {line.written()}\n" for mark, line in self.difference)


def counted(names: Iterable[tuple[str, int]]) -> str:
    """Names with their counts: ``conv2d, 2 relu``."""
    return ", ".join(name if count == 1 else f"{count} {name}" for name, count in names)


def pass_trace(
    program: Program,
    level: int = EXACT,
    outputs: Sequence[str] | None = None,
    watch: Callable[[Program], object] | None = None,
) -> list[AfterPass]:
    """The steps of ``optimize`` for ``program``, pass by pass; the first one is the Program as it was built.

    ``watch`` is called with the Program at each of them.
    Raises ArgumentError as ``optimize`` does.
    """
    made = copied(program, level, outputs)
    before = list(lines_of(made.global_block().ops))
    built = tuple(map(_shown, before))
    found = [AfterPass(BUILT, built, tuple([("", line) for line in built]))]
    if watch is not None:
        watch(made)
    for each in passes_over(made, level):
        now = list(lines_of(made.global_block().ops))
        found.append(_after(each.rewrite.__name__, before, now))
        if watch is not None:
            watch(made)
        before = now
    return found


def _after(name: str, before: Sequence[Line], now: Sequence[Line]) -> AfterPass:
    old = {id(line.operator): line.text for line in before}
    new = {id(line.operator) for line in now}
    stayed = [id(line.operator) for line in before if id(line.operator) in new]
    order = [id(line.operator) for line in now if id(line.operator) in old]
    still = set(order)
    if stayed != order:
        blocks = SequenceMatcher(None, stayed, order, autojunk=False).get_matching_blocks()
        still = {key for block in blocks for key in order[block.b : block.b + block.size]}
    changed = [line for line in now if old.get(id(line.operator), line.text) != line.text]
    return AfterPass(
        name,
        tuple(map(_shown, now)),
        tuple(_difference(before, now)),
        _counts(line.operator for line in before if id(line.operator) not in new),
        _counts(line.operator for line in now if id(line.operator) not in old),
        len(order) - len(still),
        len(changed),
    )


def _difference(before: Sequence[Line], now: Sequence[Line]) -> Iterator[tuple[str, Shown]]:
    """A line is the same where it is of the same operator and reads the same."""
    keys = [[(id(line.operator), line.text, line.depth) for line in lines] for lines in (before, now)]
    for kind, a, b, c, d in SequenceMatcher(None, keys[0], keys[1], autojunk=False).get_opcodes():
        if kind == "equal":
            yield from (("", _shown(line)) for line in now[c:d])
        else:
            yield from (("-", _shown(line)) for line in before[a:b])
            yield from (("+", _shown(line)) for line in now[c:d])


def _counts(operators: Iterable[Operator]) -> tuple[tuple[str, int], ...]:
    return tuple(Counter(operator.opdef.name for operator in operators).items())


def _shown(line: Line) -> Shown:
    return Shown(line.text, line.depth, tuple(positions(line.operator)))
