"""The real program, as ``model-studio`` starts it, that clicks what standard input says and answers there.

Each line of the input is a JSON list: ``["get", PATH]`` reads a value of the Studio, such as
``session.train.state`` (what can be called is called), ``["click", PATH]`` clicks a widget,
``["press", WORDS]`` the visible button with these words, ``["set", NAME, VALUE]`` changes a
setting, ``["trigger", ID]`` gives a command, ``["rows"]`` reads the list of runs, ``["select",
FOLDER]`` chooses a run, ``["drop", PATH]`` drops a file on the window, ``["close"]`` closes it.
"""

from __future__ import annotations

import json
import sys
import threading
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton

from studio import app
from studio.app import Studio


def value(studio: Studio, path: str) -> Any:
    found: Any = studio
    for name in path.split("."):
        found = getattr(found, name)
        found = found() if callable(found) and not hasattr(found, "objectName") else found
    return found


def carry_out(studio: Studio, words: list[Any]) -> Any:
    match words:
        case ["get", path]:
            return value(studio, path)
        case ["click", path]:
            QTest.mouseClick(value(studio, path), Qt.MouseButton.LeftButton)
        case ["press", text]:
            shown = [
                w
                for top in QApplication.topLevelWidgets()
                for w in top.findChildren(QPushButton)
                if w.isVisible() and w.text() == text
            ]
            if not shown:
                return False
            QTest.mouseClick(shown[0], Qt.MouseButton.LeftButton)
            return True
        case ["set", name, new]:
            studio.session.change_setting(name, new)
        case ["trigger", command]:
            return studio.actions.trigger(command)
        case ["rows"]:
            return [[row.key, row.title, row.value, row.tip] for row in studio.window.project.runs.rows()]
        case ["select", folder]:
            studio.session.select_run(folder)
        case ["drop", path]:
            studio.window.files_dropped.emit([path])
        case ["close"]:
            studio.window.close()
        case _:
            raise ValueError(f"no such order: {words}")
    return None


def answer(studio: Studio, words: list[Any]) -> None:
    """In the window's thread: errors are answers too."""
    try:
        outcome: Any = ["ok", carry_out(studio, words)]
    except Exception as error:
        outcome = ["error", f"{type(error).__name__}: {error}"]
    print(json.dumps(outcome, default=str), flush=True)


def listen(studio: Studio) -> None:
    for line in sys.stdin:
        words = json.loads(line)
        studio.bridge.call(lambda words=words: answer(studio, words))


def shown(studio: Studio) -> None:
    Studio_show(studio)
    threading.Thread(target=listen, args=(studio,), daemon=True).start()
    print(json.dumps(["ok", "shown"]), flush=True)


Studio_show = Studio.show

if __name__ == "__main__":
    Studio.show = shown  # type: ignore[method-assign]
    sys.exit(app.main())
