"""CodeViewModel: what the page Code shows of a model's file and of its last dry run, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from psygnal import Signal, SignalGroupDescriptor

# How the file on disk differs from what the page knows of it.
CHANGED, GONE = "changed", "gone"


@dataclass(frozen=True)
class CodeProblem:
    """What is wrong with the text: ``stage`` is syntax, import, make, eager, output or static.

    ``line`` counts from 1, 0 if unknown; ``column`` and ``end`` from 0, both 0 for the whole line.
    """

    stage: str
    line: int
    what: str
    do: str = ""
    column: int = 0
    end: int = 0
    details: str = ""

    @property
    def message(self) -> str:
        """What is wrong and what to do, in one line."""
        return f"{self.what}; {self.do}" if self.do else self.what


@dataclass(frozen=True)
class LineNote:
    """What a line gives in the dry run: shapes, and of the layers that it calls numbers and operations."""

    shapes: tuple[tuple[int, ...], ...]
    parameters: int = 0
    operations: int = 0
    counted: bool = True


@dataclass(frozen=True)
class LayerRow:
    """One layer of the network, at the line of its first call; ``operations`` are for one sample.

    ``counted`` is False for a kind whose operations are not counted.
    """

    name: str
    kind: str
    line: int
    shape: tuple[int, ...]
    parameters: int
    operations: int
    counted: bool


@dataclass(frozen=True)
class ConvertedForward:
    """A ``forward`` in the text (its lines) with its source after every pass that changed it.

    ``changes`` has for each of these sources, for each line, the numbers of the passes that changed it; it is
    empty where that is not known.
    """

    name: str
    first: int
    last: int
    passes: tuple[tuple[str, str], ...]
    changes: tuple[tuple[tuple[int, ...], ...], ...] = ()

    def changed_by(self, which: int, line: int) -> list[str]:
        """The passes that changed a line (from 1) of the source after pass ``which``."""
        lines = self.changes[which] if which < len(self.changes) else ()
        numbers = lines[line - 1] if 1 <= line <= len(lines) else ()
        return [self.passes[number][0] for number in numbers]


@dataclass
class CodeViewModel:
    """Fields change through assignment; ``events.NAME`` emits each real change.

    ``state`` is empty (no file), idle, checking, done, stuck or refused (the code was not agreed to);
    ``unagreed`` are the files that are new to the user then.
    ``outside`` says how the file on disk differs from what was read: "", ``changed`` or ``gone``.
    ``problems``, ``notes`` (by line), ``layers``, ``forwards`` and ``program`` (as ``to_plain`` gives it) are
    of the last dry run, in lines of the text; ``stale`` says that the text has changed since.
    """

    file: str = ""
    classes: tuple[str, ...] = ()
    class_name: str = ""
    modified: bool = False
    restored: bool = False
    outside: str = ""
    state: str = "empty"
    unagreed: tuple[str, ...] = ()
    stale: bool = False
    inputs: str = ""
    input_problem: str = ""
    problems: tuple[CodeProblem, ...] = ()
    notes: dict[int, LineNote] = field(default_factory=dict)
    layers: tuple[LayerRow, ...] = ()
    forwards: tuple[ConvertedForward, ...] = ()
    program: dict[str, Any] = field(default_factory=dict)
    output: tuple[int, ...] = ()
    parameters: int = 0
    operations: int = 0
    all_counted: bool = True

    events: ClassVar[SignalGroupDescriptor] = SignalGroupDescriptor()
    # The text was replaced, not typed: (text, True where undo must lead back to the one before).
    text_replaced: ClassVar[Signal] = Signal(str, bool)

    def offer_classes(self, classes: tuple[str, ...], text: str) -> None:
        """The classes of ``text``; those before stay while it has a mistake and none is found."""
        if classes or not text.strip():
            self.classes = classes
            if self.class_name not in classes:
                self.class_name = classes[0] if classes else ""

    def clear_check(self) -> None:
        """Forget the last dry run."""
        self.problems, self.notes, self.layers, self.forwards = (), {}, (), ()
        self.program, self.output = {}, ()
        self.parameters, self.operations, self.all_counted = 0, 0, True
        self.stale = False

    def take_check(self, event: Mapping[str, Any]) -> None:
        """Show what a dry run found (``code_checked``)."""
        self.parameters, self.operations = event["parameters"], event["operations"]
        self.all_counted, self.output = event["all_counted"], tuple(event["output"])
        self.program = event["program"]
        self.problems = tuple(
            CodeProblem(each["stage"], each["line"], each["what"], each["do"], details=each["details"])
            for each in event["problems"]
        )
        self.notes = {
            int(line): LineNote(
                tuple(tuple(shape) for shape in note["shapes"]),
                note["parameters"],
                note["operations"],
                note["counted"],
            )
            for line, note in event["lines"].items()
        }
        self.layers = tuple(
            LayerRow(
                row["name"],
                row["kind"],
                row["line"],
                tuple(row["shape"]),
                row["parameters"],
                row["operations"],
                row["counted"],
            )
            for row in event["layers"]
        )
        self.forwards = tuple(
            ConvertedForward(
                each["name"],
                each["first"],
                each["last"],
                tuple((name, code) for name, code in each["passes"]),
                tuple(tuple(map(tuple, lines)) for lines in each.get("changes", ())),
            )
            for each in event["functions"]
        )
        self.stale = False
        self.state = "done"

    def operators_at(self, line: int) -> list[tuple[int, int]]:
        """(block, operator) of all that a line of the text made in the last dry run."""
        return [
            (block["idx"], index)
            for block in self.program.get("blocks", [])
            for index, operator in enumerate(block["ops"])
            if operator["line"] == line and operator["file"] == self.file
        ]

    def line_of(self, block: int, operator: int) -> int:
        """The line of the text that made an operator; 0 where it has none."""
        for found in self.program.get("blocks", []):
            if found["idx"] == block and 0 <= operator < len(found["ops"]):
                chosen = found["ops"][operator]
                return int(chosen["line"] or 0) if chosen["file"] == self.file else 0
        return 0

    def forward_at(self, line: int) -> ConvertedForward | None:
        """The converted ``forward`` around a line, else the last one: that of the network, mostly."""
        around = (each for each in self.forwards if each.first <= line <= each.last)
        return next(around, self.forwards[-1] if self.forwards else None)
