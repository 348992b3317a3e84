"""The process of the monkey's window: ``python -m tests.robust.monkey_window FOLDER SEED FIRST LAST``.

It carries out the actions from FIRST to LAST and closes; without any it opens, looks and closes. What it does
goes into ``FOLDER/actions``, what is wrong into ``FOLDER/findings``, its figures to standard output.
"""

from __future__ import annotations

import faulthandler
import json
import os
import random
import signal
import sys
import time
import traceback
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer, QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication, QPushButton

from studio import app
from studio.app import Studio
from studio.session import commands
from tests.robust.monkey_actions import Actions
from tests.robust.monkey_watch import FREEZE, Children, Logs, Loop, memory

CHECK = 25  # actions between two checks
PATIENCE = 90.0  # seconds that the end may take on a busy machine
WARM_UP, MEASURE = 1000, 250  # actions after which memory must stay, and between two measurements
RESTARTS = 0.4  # share of the actions, the first ones, in which the window is closed, interrupted and killed


class FileManager(QObject):
    """Shows nothing: a test starts no program of the desktop."""

    @Slot(QUrl)
    def show(self, url: QUrl) -> None:
        """What the desktop would do."""


class Monkey:
    """Drives one window."""

    def __init__(self, studio: Studio, folder: Path, seed: int, first: int, last: int) -> None:
        self._studio, self._folder, self._last = studio, folder, last
        self.done, self._seed = first, seed
        self._first = first
        self._draw = random.Random(f"{seed} {first}")
        self._journal = (folder / "actions").open("a", buffering=1)
        self._findings = (folder / "findings").open("a", buffering=1)
        self.memories: list[int] = []
        self.problems: dict[str, int] = {}
        self._seen: set[str] = set()
        self.loop = Loop(self.say, float(os.environ.get(FREEZE, 1.0)))
        self._children = Children(self.say)
        Logs(self.say)
        self._actions = Actions(studio, self._draw, folder / "files", folder, self._note)
        studio.session.problem.connect(self._problem)
        self._wrong: list[str] = []
        self._deadline = 0.0
        self._interrupted = False
        self._manager = FileManager(studio.window)
        QDesktopServices.setUrlHandler("file", self._manager, "show")  # type: ignore[arg-type]
        QTimer.singleShot(1500, studio.window, self._next if last > first else self._look)

    def say(self, kind: str, text: str) -> None:
        """Something is wrong; the same is said once."""
        short = f"{kind} {text[:300]}"
        if short not in self._seen:
            self._seen.add(short)
            self._findings.write(json.dumps({"kind": kind, "after": self.done, "text": text}) + "\n")

    def uncaught(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """An error that reached Qt."""
        self.say("uncaught", "".join(traceback.format_exception(kind, error, trace)))

    def _problem(self, problem: object) -> None:
        title = getattr(problem, "title", "")
        text = f"{title}: {getattr(problem, 'error', '')}: {getattr(problem, 'message', '')}"[:400]
        self.problems[text] = self.problems.get(text, 0) + 1

    # ----- actions -----

    def _next(self) -> None:
        """One action; another follows whatever loop it starts."""
        self.loop.beat()  # else two actions without a wait between them count as one turn
        if self.done >= self._last or self._deadline:
            if not self._deadline:
                self._end()
            return
        wait = self._draw.choices((0, 10, 30, 300), (5, 5, 4, 1))[0]
        QTimer.singleShot(wait, self._studio.window, self._next)
        self.done += 1
        try:
            self._one()
        except Exception:
            self.say("driver", traceback.format_exc())

    def _note(self, action: str) -> None:
        """Written before it is done: it may not return, or start another loop."""
        self.loop.action = f"{self.done} {action}"
        self._journal.write(" ".join(self.loop.action.splitlines()) + "\n")

    def _one(self) -> None:
        free = QApplication.activeModalWidget() is None and QApplication.activePopupWidget() is None
        chance = self._draw.random()
        restarts = self.done <= RESTARTS * self._last
        if restarts and free and chance < 0.003:
            self._note("the window's process is killed")
            os.kill(os.getpid(), signal.SIGKILL)
        elif restarts and free and chance < 0.007:
            self._note("close")
            self._studio.window.close()
        elif restarts and chance < 0.008 and not self._interrupted:
            self._interrupted = True
            self._note("Ctrl-C")
            os.kill(os.getpid(), signal.SIGINT)
        else:
            self._actions.do()
        if self.done % CHECK == 0:
            self.check()
        if self.done % MEASURE == 0 and self.done - self._first >= WARM_UP:
            self.memories.append(memory())
            self.loop.forgive()

    # ----- what must hold -----

    def check(self) -> None:
        """The window shows what the session has; children are waited for."""
        self.loop.beat()
        wrong = self._differences()
        again = [each for each in wrong if each in self._wrong]
        if again:
            self.say("window", "; ".join(again))
        self._wrong = wrong
        self._children.check()
        self.loop.forgive()
        if wrong and not again:
            # Time passes between a change on the disk and the look at it.
            QTimer.singleShot(2500, self._studio.window, self._again)

    def _again(self) -> None:
        still = [each for each in self._differences() if each in self._wrong]
        if still:
            self.say("window", "; ".join(still))

    def _differences(self) -> list[str]:
        studio, session = self._studio, self._studio.session
        found = []
        for which in commands.COMMANDS:
            action, reason = studio.actions[which], studio.actions.reason(which)
            expected = not reason or (which is commands.START and not session.train.busy)
            if action.isEnabled() != expected:
                found.append(f"{which.id} is enabled: {action.isEnabled()}, but the session says {reason!r}")
        listed = {run.path for run in session.run_list.arranged(session.runs, session.run_titles)}
        shown = {row.key for row in studio.window.project.runs.rows()}
        if missing := listed - shown:
            found.append(f"runs are not listed: {sorted(missing)}")
        if session.project.name not in studio.window.windowTitle():
            found.append(f"title {studio.window.windowTitle()!r}, project {session.project.name!r}")
        selected = session.selected_run
        if selected not in ("", session.train.folder) and not Path(selected).exists():
            found.append(f"selected run does not exist: {selected}")
        return found

    # ----- the end -----

    def _look(self) -> None:
        """After a start on a state that was left."""
        self.check()
        QTimer.singleShot(500, self._studio.window, self._end)

    def _end(self) -> None:
        """Close as a user does, whatever is open."""
        now = time.monotonic()
        if not self._deadline:
            self._deadline = now + PATIENCE
            self.check()
        if now > self._deadline:
            self.say("end", f"the window did not close: {self._studio.session.train.state}")
            os._exit(3)
        self._actions.release()
        QTimer.singleShot(200, self._studio.window, self._end)
        self._studio.window.close()
        for top in QApplication.topLevelWidgets():
            for button in top.findChildren(QPushButton, "yes"):
                if button.isVisible():
                    button.click()

    def figures(self) -> dict[str, object]:
        return {
            "done": self.done,
            "memories": self.memories,
            "clock": round(self.loop.clock, 3),
            "own": round(self.loop.own, 3),
            "processor": round(self.loop.processor, 3),
            "problems": self.problems,
        }


def main(folder: Path, seed: int, first: int, last: int) -> int:
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1)
    QApplication.setAttribute(Qt.ApplicationAttribute.AA_DontUseNativeDialogs)
    monkeys: list[Monkey] = []
    show, report = Studio.show, Studio.report_exception

    def shown(studio: Studio) -> None:
        show(studio)
        monkeys.append(Monkey(studio, folder, seed, first, last))

    def reported(
        studio: Studio, kind: type[BaseException], error: BaseException, trace: TracebackType
    ) -> None:
        if monkeys:
            monkeys[0].uncaught(kind, error, trace)
        report(studio, kind, error, trace)

    Studio.show, Studio.report_exception = shown, reported  # type: ignore[method-assign, assignment]
    status = app.main()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    for monkey in monkeys:
        monkey.loop.close()
        print(json.dumps(monkey.figures()), flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *map(int, sys.argv[2:])))
