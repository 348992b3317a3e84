"""The process of a window on a slow disk: ``python -m tests.robust.slow_window FOLDER SECONDS``.

Operations below FOLDER/home take SECONDS now and then, in every thread. The window is used as a person does.
It prints the longest gap between two turns of the loop, and the steps with longer gaps than are promised.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

import numpy as np
from PIL import Image
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QInputDialog, QWidget

from studio import app
from studio.app import Studio
from studio.windows.agreement_dialog import AgreementDialog
from studio.windows.sweep.sweep_dialog import SweepDialog
from tests.engine.training.sources.images.test_labels import flat
from tests.raw_models import saved_model
from tests.robust.file_operations import Go, Operation, watched
from tests.robust.monkey_watch import Loop
from tests.robust.small_training import write_few

T = TypeVar("T", bound=QWidget)
WAIT = 60.0
GAP = 0.2
LOOKS = ("stat", "lstat", "listdir", "scandir", "access")


class SlowDisk:
    """Delays each call of a place in the code the first time, and every twentieth time after that."""

    def __init__(self, folder: Path, seconds: float) -> None:
        self.folder, self.seconds, self.on = str(folder), seconds, False
        self.delays = 0
        self._seen: dict[tuple[str, int, str], int] = {}
        self._lock = threading.Lock()

    def wait(self, kind: str) -> None:
        if not self.on:
            return
        frame: Any = sys._getframe(2)
        while frame is not None and not any(f"/{each}/" in frame.f_code.co_filename for each in OURS):
            frame = frame.f_back
        if frame is None:
            return
        place = frame.f_code.co_filename, frame.f_lineno, kind
        with self._lock:
            count = self._seen[place] = self._seen.get(place, 0) + 1
            late = count % 20 == 1
            self.delays += late
        if late:
            time.sleep(self.seconds)

    @contextmanager
    def fast(self) -> Iterator[None]:
        """For what the test itself does with files."""
        self.on = False
        try:
            yield
        finally:
            self.on = True

    def operation(self, operation: Operation, go: Go) -> Any:
        self.wait(operation.kind)
        return go()

    @contextmanager
    def looks(self) -> Iterator[None]:
        """Calls that only look are delayed too, such as stat."""

        def delayed(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
            def call(path: Any = ".", *args: Any, **kwargs: Any) -> Any:
                if not isinstance(path, int) and os.fsdecode(path).startswith(self.folder):
                    self.wait(name)
                return real(path, *args, **kwargs)

            return call

        with patch.multiple(os, **{name: delayed(name, getattr(os, name)) for name in LOOKS}):
            yield


TEXT = "from engine import nn\n\n\nclass Net(nn.Linear):\n    pass\n"
OURS = ("studio", "resources", "engine")


class User:
    """What a person does, one step after another; a step waits for its condition in the loop."""

    def __init__(self, studio: Studio, folder: Path, disk: SlowDisk, loop: Loop, findings: list[str]) -> None:
        self._studio, self._folder, self._disk = studio, folder, disk
        self.loop, self.findings = loop, findings
        self.problems: list[str] = []
        studio.session.problem.connect(lambda problem: self.problems.append(problem.message))
        self.refused: list[str] = []
        studio.actions.refused.connect(self.refused.append)
        self._steps = self.steps()
        self._condition: Callable[[], object] = lambda: True
        self._until = 0.0
        self._timer = QTimer(studio.window, interval=20)
        self._timer.timeout.connect(self._next)
        self._timer.start()

    def _next(self) -> None:
        now = time.monotonic()
        if now < self._until:
            return
        if not self._condition():
            if now > self._until + WAIT:
                self.findings.append(f"waited for without end after: {self.loop.action}")
                self._timer.stop()
                self._studio.window.close()
            return
        try:
            name, self._condition, rest = next(self._steps)
        except StopIteration:
            self._timer.stop()
            return
        self.loop.action = name
        self._until = now + rest

    def steps(self) -> Iterator[tuple[str, Callable[[], object], float]]:
        """Each step is done, then its name, what is waited for and a time to look around are given."""
        studio, session = self._studio, self._studio.session
        train, page = session.train, studio.frame.show_page
        listed = lambda folder: session.listed_run(folder) is not None  # noqa: E731
        yield "start", lambda: True, 3.0
        first_project = session.project_folder
        values = {
            "data": str(self._folder / "few"),
            "model": "linear",
            "epochs": 2,
            "batch_size": 8,
            "seed": 3,
        }
        for name, value in values.items():
            session.change_setting(name, value)
            yield f"change {name}", lambda: True, 0.1
        yield "look at the settings", lambda: True, 2.0
        folders: list[str] = []
        for number in range(2):
            studio.actions.trigger("start")
            yield "start a training", lambda: train.state == "finished" and not train.preparing, 0.5
            folders.append(train.folder)
            yield "look at it", lambda number=number: listed(folders[number]), 1.0
        first, second = folders
        session.select_run(first)
        yield "select a run", lambda: studio.train._history is not None, 1.0
        studio.window.project.runs.choose(first, second)
        yield "select two", lambda: True, 1.0
        studio.actions.trigger("compare_runs")
        yield "compare", lambda: True, 1.0
        for each in QApplication.topLevelWidgets():
            if each is not studio.window and each.isVisible():
                each.close()
        session.run_changes.describe(first, "named", ("tag",), "a note")
        yield "describe", lambda: session.listed_run(first).notes.name == "named", 0.5
        session.queue.hold()
        studio.actions.trigger("add_to_queue")
        yield "queue", lambda: len(session.queue.waiting) == 1, 0.5
        session.queue.remove([session.queue.waiting[0].number])
        yield "remove from the queue", lambda: not session.queue.waiting, 0.5
        yield from self.code()
        session.select_run(first)
        page("export")
        yield "show Export", lambda: session.export.run_folder == first and not session.export.why_not, 0.5
        studio.actions.trigger("export")
        yield "export", lambda: session.export.state == "done", 1.0
        studio._load(session.export.exported_prefix)
        yield "predict", lambda: session.predict.model is not None, 1.0
        image = Path(self._disk.folder) / "seven.png"
        with self._disk.fast():
            Image.fromarray(np.eye(28, dtype=np.uint8) * 255).save(image)
        studio.window.files_dropped.emit([str(image)])
        yield "drop an image", lambda: session.predict.model and studio.predict.inputs._given, 1.0
        studio.predict.samples.collect("7")
        yield "collect it", lambda: "1 collected" in studio.predict.samples.tools.words.text(), 0.5
        yield from self.rows()
        studio._ask_run(first)
        yield "ask the run", lambda: session.predict.model and session.predict.model.choice.of_run, 1.0
        yield from self.labels()
        for name in ("data", "graph", "train"):
            page(name)
            yield f"show {name}", lambda: True, 1.0
        studio.window.project.runs.choose(second)
        yield "select the run to delete", lambda: session.selected_run == second, 0.5
        studio.actions.trigger("delete_run")
        yield "delete", lambda: not listed(second) and listed(first), 0.5
        studio.frame.use_theme("dark")
        yield "change the theme", lambda: True, 0.5
        studio.project.new()
        yield "new project", lambda: session.project_path is not None, 1.0
        session.change_setting("epochs", 7)
        yield "change it", lambda: True, 1.0
        studio.project.open_path(str(first_project))
        yield "open the first", lambda: session.train.settings.epochs == 2 and listed(first), 1.0
        elsewhere = Path(self._disk.folder) / "elsewhere"
        studio.project._save_in(str(elsewhere))
        moved = str(elsewhere / "runs" / Path(first).name)
        yield "save as", lambda: session.project_folder == elsewhere and listed(moved), 1.0
        session.change_setting("epochs", 5)
        studio.window.close()
        yield "close", lambda: True, 0.0

    def rows(self) -> Iterator[tuple[str, Callable[[], object], float]]:
        """A model of tables gets a row of a file, a dropped row, and a dropped file of several rows."""
        studio, predict = self._studio, self._studio.session.predict
        home = Path(self._disk.folder)
        with self._disk.fast():
            prefix = saved_model("prices", home)
            for name, rows in (("one.csv", "red,2,75\n"), ("two.csv", "red,2,75\ngreen,4,90\n")):
                (home / name).write_text(f"colour,rooms,size (m2)\n{rows}")
        studio._load(prefix)
        yield "load a model of tables", lambda: predict.model and predict.inputs[0].raw is not None, 1.0
        raw, asked = studio.predict.inputs.raw, predict.inputs[0]
        with patch.object(QInputDialog, "getInt", lambda *_: (1, True)):
            raw.take_file(0, asked, str(home / "two.csv"))
            yield "load a row", lambda: self._fed() == [90.0, 2.0, 4.0], 0.5
        studio.predict_page.file_given.emit(0, str(home / "one.csv"))
        yield "drop a row", lambda: self._fed() == [75.0, 3.0, 2.0], 0.5
        several: list[str] = []
        raw._predict_all = several.append
        studio.predict_page.file_given.emit(0, str(home / "two.csv"))
        yield "drop rows", lambda: several, 0.5

    def _fed(self) -> list[float] | None:
        found = self._studio.session.predict.fed[0]
        return None if found is None else found.tolist()

    def labels(self) -> Iterator[tuple[str, Callable[[], object], float]]:
        """Images get labels by quick keys, with undo; they are trained on when their file has them."""
        studio, session = self._studio, self._studio.session
        folder, file = Path(self._disk.folder) / "own", Path(self._disk.folder) / "own" / "labels.csv"
        with self._disk.fast():
            flat(folder, 6)
        before = session.train.settings.data
        session.choose_data(str(folder))
        studio.frame.show_page("data")
        yield "open images", lambda: session.data.state == "labelling", 0.5
        page = studio.data_page.labelling
        for name in ("dark", "bright"):
            page.class_added.emit(name)
        for name in ("dark", "dark", "bright", "bright", "dark"):
            page.label_chosen.emit(name)
        session.undo_stack.undo()
        page.class_renamed.emit("dark", "night")
        session.execute("finish_labelling")
        yield "label", lambda: session.data.state == "ready", 0.5
        with self._disk.fast():
            rows = [
                f"{number}.png,{name}" for number, name in enumerate(("night", "night", "bright", "bright"))
            ]
            if file.read_text().splitlines() != ["file_name,label", *rows]:
                self.findings.append(f"labels: {file.read_text()}")
        session.choose_data(before)
        yield "back", lambda: session.data.state == "ready", 0.5

    def code(self) -> Iterator[tuple[str, Callable[[], object], float]]:
        """The page Code: a file is dropped, edited, saved, and changed by another program."""
        studio, editor = self._studio, self._studio.session.model_editor
        file = Path(self._disk.folder) / "net.py"
        with self._disk.fast():
            file.write_text(TEXT)
        studio.window.files_dropped.emit([str(file)])
        yield (
            "drop code",
            lambda: editor.view.file == str(file) and studio.code_page.editor.code() == TEXT,
            1.0,
        )
        yield "be asked", lambda: self._open(AgreementDialog), 0.2
        for box in self._open(AgreementDialog):
            box.reject()
        studio.code_page.editor.insertPlainText("# typed")
        yield "type", lambda: editor.view.modified, 1.0
        studio.actions.trigger("save_model")
        yield "save code", lambda: not editor.view.modified, 1.0
        yield from self.trials()
        with self._disk.fast():
            file.write_text(f"# theirs\n{TEXT}")
        yield "change it outside", lambda: studio.code_page.editor.code().startswith("# theirs"), 1.0
        studio.code_page.editor.insertPlainText("# draft")
        yield "type again", lambda: editor.view.modified, 1.0

    def trials(self) -> Iterator[tuple[str, Callable[[], object], float]]:
        """The code is agreed to, measured, planned, and the model of a sweep."""
        studio, editor = self._studio, self._studio.session.model_editor
        studio.code_page.banner.answered.emit("agree")
        boxes: list[AgreementDialog] = []
        yield "ask", lambda: boxes.extend(self._open(AgreementDialog)) or boxes, 0.5
        boxes[0].allow.click()
        yield "agree", lambda: editor.view.state in ("checking", "done"), 0.5
        trials = editor.trials
        for name, trial in (("measure_model", trials.measuring), ("plan_model", trials.planning)):
            studio.actions.trigger(name)
            yield name, lambda trial=trial: trial.view.found is not None or trial.view.problem, 0.5
        studio.actions.trigger("start_sweep")
        dialogs: list[SweepDialog] = []
        yield "open the window for a sweep", lambda: dialogs.extend(self._open(SweepDialog)) or dialogs, 0.5
        for words in ("lr=0.1", "lr=0.1,0.2"):
            dialogs[0].words.setPlainText(words)
            yield "type", lambda: True, 0.2
        yield "look it up", lambda: dialogs[0].outcome.text() == "2 trials", 0.5
        dialogs[0].reject()

    def _open(self, kind: type[T]) -> list[T]:
        return [each for each in self._studio.window.findChildren(kind) if each.isVisible()]


def main(folder: Path, seconds: float) -> int:
    (folder / "few").mkdir()
    write_few(folder / "few")
    disk = SlowDisk(folder / "home", seconds)
    users: list[User] = []
    application = QApplication(["model-studio"])
    findings: list[str] = []
    loop = Loop(lambda kind, text: findings.append(f"{kind}: {text}"), GAP, asleep_only=True)
    loop.action = "the beginning"
    disk.on = True
    show = Studio.show

    def shown(studio: Studio) -> None:
        show(studio)
        users.append(User(studio, folder, disk, loop, findings))

    Studio.show = shown  # type: ignore[method-assign]
    with watched(folder / "home", disk.operation), disk.looks():
        status = app.main([])
        disk.on = False
    del application
    user = users[0]
    user.loop.close()
    found = {
        "asleep": round(user.loop.asleep, 3),
        "delays": disk.delays,
        "findings": user.findings,
        "problems": user.problems,
        "refused": user.refused,
        "last": user.loop.action,
    }
    print(json.dumps(found), flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), float(sys.argv[2])))
