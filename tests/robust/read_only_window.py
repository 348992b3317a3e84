"""A window whose disk turns read-only: ``python -m tests.robust.read_only_window FOLDER MODE``.

With ``turns`` FOLDER/home turns read-only while a training runs, in a thread of the window so that its files
are seen too. With ``next`` the window is started again. Both print what was shown and what is there.
"""

from __future__ import annotations

import errno
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from PySide6.QtCore import QTimer

from studio import app
from studio.app import Studio
from studio.controllers import start_up
from studio.session.session import Session
from studio.session.work.worker import ThreadWorker
from tests.robust.file_operations import Go, Operation, watched
from tests.robust.small_training import write_few

WAIT = 60.0


class Disk:
    """Refuses changes once it is read-only."""

    read_only = False

    def __call__(self, operation: Operation, go: Go) -> Any:
        if self.read_only and operation.changes:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), operation.path)
        return go()


class User:
    """Does one step after another; each waits for its condition in the loop."""

    def __init__(self, studio: Studio, steps: Iterator[Callable[[], object]]) -> None:
        self.studio, self.steps = studio, steps
        self.shown: list[str] = []
        studio.session.problem.connect(lambda problem: self.shown.append(problem.message))
        studio.actions.refused.connect(self.shown.append)
        self.condition: Callable[[], object] = lambda: True
        self.since = time.monotonic()
        self.timer = QTimer(studio.window, interval=20)
        self.timer.timeout.connect(self.next)
        self.timer.start()

    def next(self) -> None:
        if not self.condition():
            if time.monotonic() > self.since + WAIT:
                self.shown.append("waited for without end")
                self.timer.stop()
                self.studio.window.close()
            return
        self.condition, self.since = next(self.steps, lambda: False), time.monotonic()


def turning(studio: Studio, folder: Path, disk: Disk) -> Iterator[Callable[[], object]]:
    session, train = studio.session, studio.session.train
    start = time.monotonic()
    yield lambda: time.monotonic() > start + 0.5
    values = {"data": str(folder / "few"), "model": "linear", "epochs": 6, "batch_size": 8, "seed": 3}
    for name, value in {**values, "checkpoint_every": 1}.items():
        session.change_setting(name, value)
    file = folder / "home" / "net.py"
    file.write_text("from engine import nn\n")
    studio.code.open_file(str(file))
    yield lambda: session.model_editor.view.file == str(file) and not session.files.writing.working
    session.autosave()
    yield lambda: not session.files.writing.working
    studio.actions.trigger("start")
    yield lambda: train.last_checkpoint_step > 2
    disk.read_only = True
    session.change_setting("epochs", 7)
    yield lambda: not train.busy
    session.autosave()
    session.run_changes.describe(train.folder, "named", (), "a note")
    studio.code_page.editor.insertPlainText("# typed")
    studio.code.flush()
    studio.actions.trigger("save_model")
    yield lambda: not session.files.writing.working
    studio.window.close()


def again(studio: Studio) -> Iterator[Callable[[], object]]:
    yield lambda: bool(studio.session.runs)
    studio.window.close()


def main(folder: Path, mode: str) -> int:
    disk, users = Disk(), []
    if mode == "turns":
        (folder / "few").mkdir()
        write_few(folder / "few")
        start_up.Session = lambda: Session(ThreadWorker)  # type: ignore[misc, assignment]
    show = Studio.show

    def shown(studio: Studio) -> None:
        show(studio)
        steps = turning(studio, folder, disk) if mode == "turns" else again(studio)
        users.append(User(studio, steps))

    Studio.show = shown  # type: ignore[method-assign]
    with watched(folder / "home", disk):
        status = app.main([])
    session = users[0].studio.session
    found = {
        "shown": users[0].shown,
        "epochs": session.project.settings.epochs,
        "runs": [(run.state, run.checkpoint_step, run.failure) for run in session.runs],
    }
    print(json.dumps(found), flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
