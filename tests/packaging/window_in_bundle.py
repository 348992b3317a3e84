"""The window of the bundle, driven from inside: a script that the bundle's own program runs.

Its words: a folder for a screenshot, the language, and what to do: ``train`` presses Start and waits for the
end, ``open FILE`` waits until the file is open. It prints one line of JSON.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QLabel, QPushButton

from studio import app
from studio.app import Studio

WAIT = 240.0
began = time.monotonic()
facts: dict[str, object] = {}


def memory(name: str) -> float:
    """A figure of this process in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(name))


def when(condition: Callable[[], object], then: Callable[[], object]) -> None:
    """Look again until the condition holds."""
    if condition() or time.monotonic() - began > WAIT:
        then()
    else:
        QTimer.singleShot(50, lambda: when(condition, then))


def texts() -> list[str]:
    """What the window shows in labels and buttons."""
    kinds = [*QApplication.allWidgets()]
    return [each.text() for each in kinds if isinstance(each, QLabel | QPushButton) and each.isVisible()]


class Driven(Studio):
    """The application, which begins to work by itself."""

    def show(self) -> None:
        super().show()
        when(lambda: self.window.isVisible() and self._whole, self._act)

    def _act(self) -> None:
        facts.update(
            seconds=time.monotonic() - began,
            resident=memory("VmRSS"),
            platform=QGuiApplication.platformName(),
        )
        if sys.argv[3] == "train":
            for name, value in (("data", "digits"), ("model", "lenet"), ("epochs", 1)):
                self.session.change_setting(name, value)
            self.train_page.welcome.start.click()
            when(lambda: self.session.train.state in ("finished", "failed"), self._end)
        else:
            when(lambda: "inference" in str(self.session.selection.item), self._end)

    def _end(self) -> None:
        shot = Path(sys.argv[1]) / f"window-{sys.argv[2]}-{sys.argv[3]}.png"
        self.window.grab().save(str(shot))
        state, item = self.session.train.state, self.session.selection.item
        facts.update(state=state, item=str(item), page=self.window.current_page(), texts=texts())
        print(json.dumps(facts), flush=True)
        self.window.close()


if __name__ == "__main__":
    app.Studio = Driven  # type: ignore[misc]
    sys.exit(app.main(file=sys.argv[4] if sys.argv[3] == "open" else ""))
