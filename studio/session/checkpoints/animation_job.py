"""The job that writes an animation or a strip of a run's checkpoints, in a child process."""

from __future__ import annotations

import time
from pathlib import Path
from typing import ClassVar, Literal, TypedDict

from resources.words.languages import ENGLISH
from studio.session.work.job import Emit, Inbox, job

FAILED = "The checkpoints could not be saved"


class AnimationProgress(TypedDict):
    """How many parts are done, of how many."""

    event: Literal["animation_progress"]
    time: float
    message: str
    done: int
    total: int


class AnimationWritten(TypedDict):
    """The file ``out`` was written, with so many checkpoints of ``total``."""

    event: Literal["animation_written"]
    time: float
    out: str
    shown: int
    total: int


@job
class WriteAnimation:
    """Write the checkpoints of the run in ``folder`` to ``out``: a GIF with ``speed`` a second, or a PNG.

    ``layer`` is the layer whose weights are shown, empty for the first filters; ``title`` names the run,
    and ``language`` is that of the captions.
    """

    TITLE: ClassVar = "Writing {0}"
    EVENTS: ClassVar = (AnimationProgress, AnimationWritten)

    folder: str
    out: str
    layer: str = ""
    title: str = ""
    speed: float = 5.0
    language: str = ENGLISH

    @property
    def subject(self) -> str:
        return Path(self.out).name

    def run(self, emit: Emit, inbox: Inbox) -> None:
        """Report progress and one event ``animation_written``. Raises DataError, ArgumentError, SaveError."""
        from engine.core.errors import DataError
        from studio.session.checkpoints.animation import read_checkpoints, write_animation, write_strip
        from studio.session.runs.run_history import read_history

        def progress(done: int, total: int) -> None:
            emit(
                {
                    "event": "animation_progress",
                    "time": time.time(),
                    "message": "",
                    "done": done,
                    "total": total,
                }
            )

        folder, out = Path(self.folder), Path(self.out)
        found = read_checkpoints(folder)
        if not found.checkpoints:
            raise DataError(f"{folder}: no checkpoint can be read; choose another run")
        history = read_history(folder)
        if out.suffix.lower() == ".gif":
            shown = write_animation(
                out,
                found.checkpoints,
                history,
                self.layer,
                self.title,
                self.speed,
                progress,
                self.language,
            )
        else:
            shown = write_strip(
                out, found.checkpoints, history, self.layer, self.title, progress, self.language
            )
        emit(
            {
                "event": "animation_written",
                "time": time.time(),
                "out": self.out,
                "shown": shown,
                "total": len(found.checkpoints),
            }
        )
