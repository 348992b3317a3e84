"""The command of the window of checkpoints, as a row of the table of commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studio.session.command import Command, Position
from studio.session.conditions import of_run

if TYPE_CHECKING:
    from studio.session.runs.runs_folder import Run
    from studio.session.session import Session


def _has_checkpoint(session: Session, run: Run) -> str:
    own = session.train.folder == run.path and session.train.last_checkpoint
    return run.unavailable or ("" if run.checkpoint or own else "This run has no checkpoint yet.")


SHOW = Command(
    "show_checkpoints", "Go through checkpoints…", "Run",
    "Play the checkpoints of the selected run: weights, confusion, hardest samples and answers move along.",
    icon="clock", possible=of_run(_has_checkpoint), shown=(Position("run menu", 7),), group="Selected run"
)
