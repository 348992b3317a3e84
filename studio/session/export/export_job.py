"""The jobs that export a run and verify exported files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from studio.session.work.job import Emit, Inbox, job

if TYPE_CHECKING:
    from studio.session.project.session_script import SessionScript


@job
class Export:
    """Export the run in ``folder`` to files under ``prefix``, and verify them.

    ``spec`` is an InputSpec as plain values, ``samples`` how many the verification compares.
    """

    folder: str
    prefix: str
    checkpoint: str
    spec: dict[str, Any]
    samples: int
    optimize: bool = False

    def run(self, emit: Emit, inbox: Inbox) -> None:
        """Report the progress and one event ``exported``."""
        from engine.training.export import export_run

        folder = Path(self.folder)
        emit(export_run(folder, self.prefix, self.checkpoint, self.spec, self.samples, emit, self.optimize))

    def record(self, script: SessionScript) -> None:
        """Export again."""
        from studio.session.project.session_script import Out, checkpoint_words

        words: list[str | Out] = ["export", script.run(self.folder), "--samples", str(self.samples)]
        words += checkpoint_words(self.checkpoint)
        words += ["--optimize"] if self.optimize else []
        script.add(*words, "--out", script.out(self.folder, self.prefix))


@job
class Verify:
    """Verify exported files again against the run in ``folder``."""

    prefix: str
    folder: str
    samples: int

    def run(self, emit: Emit, inbox: Inbox) -> None:
        """Report the progress and one event ``exported``."""
        from engine.training.reverify import verify_again

        emit(verify_again(self.prefix, Path(self.folder), self.samples, emit))
