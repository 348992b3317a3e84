"""GraphViewModel: the Program of a model as plain data, its sources side by side, and what is selected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from psygnal import SignalGroupDescriptor

from resources.operator_keys import UPDATE, phase_of
from studio.session.problem_view import ProblemView, problem_from_event
from studio.session.selection import NOTHING, Selected


@dataclass
class GraphViewModel:
    """What the page Graph shows.

    ``program`` is the Program as ``serialize.to_plain`` gives it (``blocks`` with ``idx``,
    ``parent``, ``vars`` and ``ops``), empty before a model was traced; ``text`` is it as Paddle prints it.
    ``subject`` is what it is of: a run, a saved model, or NOTHING for the model of the settings. Without a
    Program, ``why_empty`` says why there is none, and ``unagreed`` is True where code of the run needs the
    user's agreement first.
    ``whole_step`` asks for a whole step of the training, with backward and updates, in place of the inference
    Program.
    ``source`` is the whole file of the model, ``source_line`` where its forward begins, ``converted`` what
    to_static made of it. ``selected`` is (block, operator) by index, or None. ``loading`` is True while a
    child process traces the model.
    """

    subject: Selected = NOTHING
    program: dict[str, Any] = field(default_factory=dict)
    why_empty: str = ""
    unagreed: bool = False
    text: str = ""
    model: str = ""
    source: str = ""
    source_file: str = ""
    source_line: int = 1
    converted: str = ""
    loading: bool = False
    whole_step: bool = False
    selected: tuple[int, int] | None = None
    last_problem: ProblemView | None = None

    events: ClassVar[SignalGroupDescriptor] = SignalGroupDescriptor()

    def begin(self) -> None:
        """The Program of the model of the settings was asked for."""
        if self.subject:
            self.show_subject(NOTHING)
        self.loading = True

    @property
    def is_step(self) -> bool:
        """Whether the Program is a whole step of a training, which ends with its updates."""
        try:
            return phase_of(self.program["blocks"][0]["ops"][-1]) == UPDATE
        except (KeyError, TypeError, AttributeError, IndexError):  # there is none, or it is damaged
            return False

    def ask_again(self, whole_step: bool) -> None:
        """Show nothing until the same subject's Program comes, of a whole step or of the forward alone."""
        self.whole_step, self.selected, self.why_empty = whole_step, None, ""
        self.program = {}

    def show_subject(self, subject: Selected) -> None:
        """Show nothing but that something is to come of ``subject``."""
        if subject != self.subject:
            self.whole_step = False
        self.selected, self.loading, self.why_empty, self.unagreed = None, False, "", False
        self.subject, self.last_problem = subject, None
        self.model = self.source = self.source_file = self.converted = self.text = ""
        self.program = {}

    def cannot_show(self, why: str, unagreed: bool = False) -> None:
        """There is no Program of the subject now."""
        self.loading, self.unagreed, self.why_empty = False, unagreed, why

    def take(self, event: Mapping[str, Any]) -> None:
        """Follow one event of a worker that traces the model of the settings."""
        if self.subject:
            return  # something was selected meanwhile
        self.take_traced(event)

    def take_traced(self, event: Mapping[str, Any]) -> None:
        """Follow one event of a worker that traces the model of the subject."""
        if event["event"] == "program":
            self.selected = None
            self.model = event["model"]
            self.source, self.source_file = event["source"], event["source_file"]
            self.source_line, self.converted = event["source_line"], event["converted"]
            self.why_empty, self.unagreed = "", False
            self.text, self.program = event["text"], event["program"]
            self.last_problem = None
        elif event["event"] == "failed":
            self.last_problem = problem_from_event(event, "The model could not be traced")
        elif event["event"] == "worker_ended":
            if not event["clean"] and not event["killed"]:
                self.last_problem = problem_from_event(event, "The tracing process has died")
            self.loading = False

    def show_saved(self, prefix: str, model: str, program: dict[str, Any], text: str) -> None:
        """Show the Program of the inference files at ``prefix``, which come without any source."""
        self.show_subject(Selected("model", prefix))
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
