"""The jobs that export a run and verify exported files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from resources.export_events import Exported, ExportProgress
from resources.settings.export import EXPORT_SETTINGS, FLOAT, FOLDER, ExportSettings, with_ending
from resources.settings.setting import words_of
from studio.session.work.job import Emit, Inbox, job

if TYPE_CHECKING:
    from studio.session.project.session_script import SessionScript


@job
class Export:
    """Export the run in ``folder`` to files under ``prefix``, or deploy it to that folder; verify what was
    written."""

    TITLE: ClassVar = "Exporting {0}"
    PAGE: ClassVar = "export"
    EVENTS: ClassVar = (ExportProgress, Exported)

    folder: str
    prefix: str
    settings: ExportSettings
    agreed: str = ""

    @property
    def subject(self) -> str:
        return Path(self.prefix).name

    def run(self, emit: Emit, inbox: Inbox) -> None:
        """Report the progress and one event ``exported``."""
        run = Path(self.folder)
        if self.settings.format == FOLDER:
            from engine.training.deploy import deploy_run

            emit(deploy_run(run, Path(self.prefix), self.settings, emit).event)
            return
        from engine.training.exporting.export import export_run

        emit(export_run(run, self.prefix, self.settings, emit))

    def record(self, script: SessionScript) -> None:
        """Export again."""
        from studio.session.project.session_script import Out, checkpoint_words

        words: list[str | Out] = ["export", script.run(self.folder)]
        words += checkpoint_words(self.settings.checkpoint)
        others = {name: each for name, each in EXPORT_SETTINGS.items() if name != "checkpoint"}
        words += words_of(others, vars(self.settings), FLOAT[0], defaults=True)
        written = with_ending(self.prefix, self.settings.format)
        script.add(*words, "--out", script.out(self.folder, written))


@job
class Verify:
    """Verify exported files again against the run in ``folder``."""

    TITLE: ClassVar = "Verifying {0}"
    PAGE: ClassVar = "export"
    EVENTS: ClassVar = (ExportProgress, Exported)

    prefix: str
    folder: str
    samples: int
    agreed: str = ""

    @property
    def subject(self) -> str:
        return Path(self.prefix).name

    def run(self, emit: Emit, inbox: Inbox) -> None:
        """Report the progress and one event ``exported``."""
        from engine.training.exporting.reverify import verify_again

        emit(verify_again(self.prefix, Path(self.folder), self.samples, emit))
