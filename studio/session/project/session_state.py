"""SessionState: what was open when the window was used last, so that the next start shows it again."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from resources.replacing import replaced_file
from studio.session.problem_view import ProblemView, problem_from_message
from studio.session.project.library import Library
from studio.session.project.open_document import OpenDocument
from studio.session.project.project_copy import Copied
from studio.session.project.project_file import ProjectError, document_bytes, preferences_path, read_document
from studio.session.runs.diagrams.choices import DiagramChoices
from studio.session.runs.table.choices import MOST_PROJECTS, TableChoices
from studio.session.runs.table.runs_table import RunsTable
from studio.session.selection import Selected

MOST_FAILURES = 2
MOST_SHOWN = 50
NO_CHOICES = DiagramChoices()


class SavedState(BaseModel):
    """The file ``session.json``. ``code`` is the file of the page Code; ``failures`` counts starts that did
    not get as far as showing it all."""

    model_config = ConfigDict(extra="forbid")

    version: Literal[1] = 1
    project: str = ""
    page: str = ""
    selected_run: str = ""
    selected_model: str = ""
    shown_runs: list[str] = Field(default_factory=list)
    code: str = ""
    failures: int = 0
    diagrams: DiagramChoices = NO_CHOICES
    tables: dict[str, TableChoices] = Field(default_factory=dict, max_length=MOST_PROJECTS)


def remembered_path() -> Path:
    """Where it is remembered."""
    return preferences_path().with_name("session.json")


class SessionState:
    """Restores the session at a start, and remembers it while it is used.

    A start that does not come to ``done`` counts as failed; after two of them the third one is in ``safe``
    mode: it opens a new project and restores nothing, and what was open stays among the recent projects.
    """

    def __init__(self, session: Library) -> None:
        self._session = session
        self.remembered = self._written = SavedState()
        self.safe = False
        self.trouble: ProblemView | None = None
        self._copied: tuple[OpenDocument, Copied] | None = None
        session.copied = self._follow_copy

    def restore(self) -> None:
        """Open the project that was open last; what went wrong is in ``trouble`` afterwards."""
        path, session = remembered_path(), self._session
        if path.exists():
            with suppress(ProjectError):  # damaged: as at the first start
                self.remembered = read_document(path, SavedState, "")
        was = self.remembered
        self.safe = was.failures >= MOST_FAILURES
        self._write(was.model_copy(update={"failures": was.failures + 1}))
        if self.safe:
            self.remembered = SavedState()
            session.keeping.begin()
            self.trouble = problem_from_message(
                f"start: the last {was.failures} starts did not end well: this one has a new project; "
                f"open {was.project or 'the one before'} from the recent projects",
                "Started in safe mode",
            )
            return
        try:
            session.restore_project(Path(was.project) if was.project else None)
        except ProjectError as error:
            self.remembered = SavedState()
            said = " ".join(str(error).splitlines())  # whatever stands in the path
            self.trouble = problem_from_message(said, "The last project could not be opened")

    def done(self) -> None:
        """The start has succeeded."""
        self._write(self._written.model_copy(update={"failures": 0}))

    def keep(
        self,
        page: str,
        shown_runs: list[str],
        selected: Selected,
        diagrams: DiagramChoices = NO_CHOICES,
        code: str = "",
        table: RunsTable | None = None,
    ) -> None:
        """Remember what is open now, if that is something else."""
        project = self._session.project_path
        if table is not None:
            table.remember("" if project is None else str(project))
        self._write(
            SavedState(
                project="" if project is None else str(project),
                page=page,
                selected_run=selected.path if selected.kind == "run" else "",
                selected_model=selected.path if selected.kind == "model" else "",
                shown_runs=shown_runs[:MOST_SHOWN],
                code=code,
                failures=self._written.failures,
                diagrams=diagrams,
                tables={} if table is None else table.remembered,
            )
        )

    def _write(self, what: SavedState) -> None:
        if what == self._written:
            return
        before, self._written = self._written, what
        document = self._session.keeping.document

        def write() -> bool:
            return _store(self._as_copied(what, document))

        def take(written: bool) -> None:
            if not written and self._written == what:
                self._written = before

        self._session.files.writing.do(write, take, "session state")

    # The window may close, or be killed, while the project is being saved in another folder.

    def _follow_copy(self, document: OpenDocument, copied: Copied) -> None:
        """The project of ``document`` can be opened elsewhere now; called in the thread that writes."""
        self._copied = document, copied
        _store(self._as_copied(self._written, document))

    def _as_copied(self, what: SavedState, document: OpenDocument) -> SavedState:
        """``what`` was open of the project in ``document``, which may have been saved elsewhere since."""
        if self._copied is None or self._copied[0] is not document:
            return what
        copied = self._copied[1]
        place_of = copied.done.place_of
        return what.model_copy(
            update={
                "project": str(copied.document.path),
                "selected_run": place_of(what.selected_run),
                "shown_runs": [place_of(run) for run in what.shown_runs],
            }
        )


def _store(what: SavedState) -> bool:
    """Write the file; whether that was possible."""
    # It is a convenience: saving the preferences reports a folder that can't be written to.
    with suppress(OSError):
        path = remembered_path()
        path.parent.mkdir(parents=True, exist_ok=True)
        data = document_bytes(path, what)
        with replaced_file(path) as file:
            file.write(data)
        return True
    return False
