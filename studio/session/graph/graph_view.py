"""GraphViewModel: the Program of a model as plain data, its sources side by side, and what is selected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from psygnal import SignalGroupDescriptor

from studio.session.problem_view import ProblemView, problem_from_event


@dataclass
class GraphViewModel:
    """What the page Graph shows.

    ``program`` is the Program as ``serialize.to_plain`` gives it (``blocks`` with ``idx``,
    ``parent``, ``vars`` and ``ops``), empty before a model was traced; ``text`` is it as Paddle prints it.
    ``source`` is the whole file of the model, ``source_line`` where its forward begins, ``converted`` what
    to_static made of it. ``selected`` is (block, operator) by index, or None. ``loading`` is True while a
    child process traces the model.
    """

    program: dict[str, Any] = field(default_factory=dict)
    text: str = ""
    model: str = ""
    source: str = ""
    source_file: str = ""
    source_line: int = 1
    converted: str = ""
    loading: bool = False
    selected: tuple[int, int] | None = None
    last_problem: ProblemView | None = None

    events: ClassVar[SignalGroupDescriptor] = SignalGroupDescriptor()

    def begin(self) -> None:
        """A Program was asked for."""
        self.loading = True

    def take(self, event: Mapping[str, Any]) -> None:
        """Follow one event of a worker."""
        if event["event"] == "program":
            self.selected = None
            self.model = event["model"]
            self.source, self.source_file = event["source"], event["source_file"]
            self.source_line, self.converted = event["source_line"], event["converted"]
            self.text, self.program = event["text"], event["program"]
            self.last_problem = None
        elif event["event"] == "failed":
            self.last_problem = problem_from_event(event, "The model could not be traced")
        elif event["event"] == "worker_ended":
            if not event["clean"] and not event["killed"]:
                self.last_problem = problem_from_event(event, "The tracing process has died")
            self.loading = False

    def show_saved(self, model: str, program: dict[str, Any], text: str) -> None:
        """Show the Program of inference files, which come without any source."""
        self.selected = None
        self.model, self.text, self.source, self.source_file, self.converted = model, text, "", "", ""
        self.source_line, self.program = 1, program

    def select(self, block: int, operator: int) -> None:
        """Select an operator; nothing is selected where there is none of that index."""
        self.selected = (block, operator) if self.operator_at(block, operator) is not None else None

    def operator_at(self, block: int, operator: int) -> dict[str, Any] | None:
        """The operator of that index, or None."""
        for found in self.program.get("blocks", []):
            if found["idx"] == block and 0 <= operator < len(found["ops"]):
                chosen: dict[str, Any] = found["ops"][operator]
                return chosen
        return None

    def selected_operator(self) -> dict[str, Any] | None:
        """The selected operator, or None."""
        return self.operator_at(*self.selected) if self.selected is not None else None

    def operators_at_line(self, line: int) -> list[tuple[int, int]]:
        """(block, operator) of all that the line of the user's file made."""
        return [
            (block["idx"], index)
            for block in self.program.get("blocks", [])
            for index, operator in enumerate(block["ops"])
            if operator["line"] == line and operator["file"] == self.source_file
        ]
