"""One random action of the monkey: what a user, or the system around the window, does at any moment."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from PySide6.QtCore import QCoreApplication, QEvent, QMimeData, QPoint, QPointF, Qt, QTranslator, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QFileDialog,
    QLineEdit,
    QMenu,
    QWidget,
)

from resources.settings import SETTINGS
from studio.app import Studio
from studio.session import commands
from tests.robust import monkey_files
from tests.robust.monkey_hands import TEXTS, Hands
from tests.robust.monkey_watch import children, command_line

# Ends the process of the window: has its own action.
_NEVER = {"quit"}
_CAPS = {"workers": 2, "threads": 2, "epochs": 20, "batch_size": 512, "samples": 2000}


class Longer(QTranslator):
    """Another language: every text is a word longer."""

    def isEmpty(self) -> bool:
        return False

    def translate(self, context: str, text: str, note: str | None = None, number: int = -1) -> str:
        return f"{text}\u00f6"


class Actions:
    """Draws and carries out actions.

    Args:
        files: the folder with what is dropped.
        home: where new files may be written.
        note: gets each action in words before it is done.
    """

    def __init__(
        self, studio: Studio, draw: random.Random, files: Path, home: Path, note: Callable[[str], None]
    ) -> None:
        self._studio, self._draw, self._home = studio, draw, home
        self._files = monkey_files.paths(files)
        self._good = files / "good"
        self._language: Longer | None = None
        self._stopped: set[int] = set()
        self._note = note
        self._hands = Hands(draw, self._files, note)
        self._free: list[tuple[int, Callable[[], None]]] = [
            (22, self._command),
            (20, lambda: self._hands.control(self._draw.choice(self._tops()))),
            (10, self._point),
            (9, lambda: self._hands.key(self._studio.window)),
            (9, self._drop),
            (7, self._setting),
            (6, self._small),
            (5, self._page),
            (3, self._kill),
            (2, self._stop),
            (2, self._run),
            (2, self._size),
            (1, self._translate),
            (1, self._clipboard),
            (1, self._remove),
        ]

    def do(self) -> None:
        """One action."""
        popup = QApplication.activePopupWidget()
        modal = QApplication.activeModalWidget()
        self._continue()
        if popup is not None:
            return self._answer_popup(popup)
        if modal is not None:
            return self._answer(modal)
        weights, actions = zip(*self._free, strict=True)
        self._draw.choices(actions, weights)[0]()
        self._calm()

    # ----- questions, menus -----

    def _answer_popup(self, popup: QWidget) -> None:
        if isinstance(popup, QMenu) and self._draw.random() < 0.7:
            entries = [
                each for each in popup.actions() if each.isEnabled() and each.objectName() not in _NEVER
            ]
            if entries:
                entry = self._draw.choice(entries)
                self._note(f"menu {entry.text()!r}")
                QTest.mouseClick(popup, Qt.MouseButton.LeftButton, pos=popup.actionGeometry(entry).center())
                return
        if not isinstance(popup, QMenu) and self._draw.random() < 0.7:
            views = popup.findChildren(QAbstractItemView)
            if views:
                return self._hands.click(views[0].viewport())
        self._note(f"escape from {type(popup).__name__}")
        QTest.keyClick(popup, Qt.Key.Key_Escape)
        if QApplication.activePopupWidget() is popup:
            popup.close()

    def _answer(self, modal: QWidget) -> None:
        if isinstance(modal, QFileDialog) and self._draw.random() < 0.75:
            return self._choose_file(modal)
        kind = self._draw.random()
        if kind < 0.15:
            self._note(f"escape from {self._hands.name(modal)}")
            QTest.keyClick(modal, Qt.Key.Key_Escape)
            return
        if kind < 0.25:
            return self._hands.key(modal)
        buttons = [each for each in self._hands.controls(modal) if isinstance(each, QAbstractButton)]
        if buttons and kind < 0.7:
            return self._hands.click(self._draw.choice(buttons))
        return self._hands.control(modal)

    def _choose_file(self, dialog: QFileDialog) -> None:
        if dialog.acceptMode() == QFileDialog.AcceptMode.AcceptSave and self._draw.random() < 0.8:
            folder = self._home / "saved"
            folder.mkdir(exist_ok=True)
            path = folder / self._draw.choice(("a", "b.csv", "c.html", "d.py", "missing/e", "f.txt"))
        else:
            path = self._draw.choice(self._files)
        self._note(f"file {path} in {dialog.windowTitle()!r}")
        for line in dialog.findChildren(QLineEdit, "fileNameEdit"):
            line.setText(str(path))
            QTest.keyClick(line, Qt.Key.Key_Return)

    # ----- the window -----

    def _command(self) -> None:
        which = self._draw.choice([each for each in commands.COMMANDS if each.id not in _NEVER])
        action = self._studio.actions[which]
        self._note(f"command {which.id}")
        if action.isEnabled():
            action.trigger()
        else:
            self._studio.actions.trigger(which)

    def _page(self) -> None:
        name = self._draw.choice(list(commands.PAGES))
        self._note(f"page {name}")
        self._studio.frame.show_page(name)

    def _tops(self) -> list[QWidget]:
        tops = [each for each in QApplication.topLevelWidgets() if each.isVisible() and each.isWindow()]
        return [self._studio.window] * 4 + [each for each in tops if each is not self._studio.window]

    def _point(self) -> None:
        top = self._draw.choice(self._tops())
        at = QPoint(self._draw.randrange(max(1, top.width())), self._draw.randrange(max(1, top.height())))
        widget = top.childAt(at)
        if widget is None or not widget.isEnabled():
            self._note("nothing there")
            return
        return self._hands.click(widget)

    def _drop(self) -> None:
        paths = [self._draw.choice(self._files) for _ in range(self._draw.choice((1, 1, 1, 2)))]
        if self._draw.random() < 0.15:
            paths[0] = Path(
                self._draw.choice([run.path for run in self._studio.session.runs] or [str(paths[0])])
            )
        self._note(f"drop {', '.join(map(str, paths))}")
        mime, window = QMimeData(), self._studio.window
        mime.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
        given = Qt.DropAction.CopyAction, mime, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
        enter = QDragEnterEvent(QPoint(400, 300), *given)
        QApplication.sendEvent(window, enter)
        if enter.isAccepted():
            QApplication.sendEvent(window, QDropEvent(QPointF(400, 300), *given))

    def _size(self) -> None:
        window = self._studio.window
        width, height = self._draw.randrange(600, 1280), self._draw.randrange(400, 800)
        self._note(f"size {width} x {height}")
        window.resize(width, height)

    def _clipboard(self) -> None:
        kind = self._draw.choice(("text", "image"))
        self._note(f"{kind} into the clipboard")
        if kind == "text":
            QGuiApplication.clipboard().setText(self._draw.choice(TEXTS))
        else:
            image = QImage(40, 30, QImage.Format.Format_RGB32)
            image.fill(Qt.GlobalColor.white)
            QGuiApplication.clipboard().setImage(image)

    def _translate(self) -> None:
        app = QCoreApplication.instance()
        assert app is not None
        if self._language is None:
            self._language = Longer()
            self._note("another language")
            app.installTranslator(self._language)
        else:
            self._note("the first language")
            app.removeTranslator(self._language)
            self._language = None

    # ----- the session -----

    def _set(self, name: str, value: Any) -> None:
        with suppress(ValueError):
            self._studio.session.change_setting(name, value)

    def _setting(self) -> None:
        name = self._draw.choice([each for each in SETTINGS if each not in _CAPS])
        setting = SETTINGS[name]
        values: list[Any] = [setting.default]
        if setting.choices:
            values += [
                choice
                for choice, _ in setting.choices
                if choice not in ("mnist", "fashion-mnist", "resnet18")
            ]
        elif setting.kind == "bool":
            values += [True, False]
        elif setting.kind in ("int", "float"):
            values += [setting.minimum, 1, 2, 0.1] if setting.kind == "float" else [setting.minimum, 1, 2, 5]
        elif setting.kind == "path":
            values += [str(self._draw.choice(self._files))]
        value = self._draw.choice(values)
        self._note(f"set {name} to {value!r}")
        self._set(name, value)

    def _small(self) -> None:
        data = self._draw.choice(("few", "few", "few", "flats.csv", "waves.npz", "shapes"))
        self._note(f"small training on {data}")
        values = {name: setting.default for name, setting in SETTINGS.items()} | {
            "data": str(self._good / data),
            "model": "linear" if data == "few" else "auto",
            "epochs": self._draw.choice((1, 3, 20)),
            "batch_size": 8,
            "threads": 1,
            "kernels": "numpy",
            "checkpoint_every": 5,
        }
        with suppress(ValueError):
            self._studio.session.change_settings(values, "Small training")
        if self._draw.random() < 0.7 and not self._studio.session.train.busy:
            self._studio.actions.trigger("start")

    def _run(self) -> None:
        found = [run.path for run in self._studio.session.runs]
        folder = self._draw.choice(found) if found else ""
        self._note(f"select {folder}")
        self._studio.session.select_run(folder)

    def _calm(self) -> None:
        """What would take the machine from others stays small."""
        settings = self._studio.session.train.settings
        for name, most in _CAPS.items():
            if getattr(settings, name) > most:
                self._set(name, most)
        if settings.data in ("mnist", "fashion-mnist"):
            self._set("data", str(self._good / "few"))
        if settings.data == "digits" and not settings.samples:
            self._set("samples", 128)
        if settings.model == "resnet18":
            self._set("model", "linear")
        if settings.kernels == "fast":
            self._set("kernels", "numpy")

    # ----- the system -----

    def _children(self) -> list[int]:
        """Those of the product; Python's own helper is not among them."""
        return sorted(
            pid
            for pid, state in children(os.getpid()).items()
            if state != "Z" and "resource_tracker" not in command_line(pid)
        )

    def _kill(self) -> None:
        found = self._children()
        if not found:
            self._note("nothing to kill")
            return
        self._note("kill a child")
        with suppress(ProcessLookupError):
            os.kill(self._draw.choice(found), signal.SIGKILL)

    def _stop(self) -> None:
        """A child does not answer for a while."""
        found = self._children()
        if not found:
            self._note("nothing to stop")
            return
        pid = self._draw.choice(found)
        self._note("stop a child")
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)
        self._stopped.add(pid)

    def _continue(self, all_of_them: bool = False) -> None:
        for pid in sorted(self._stopped):
            if all_of_them or self._draw.random() < 0.05:
                self._stopped.discard(pid)
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)

    def _remove(self) -> None:
        """Another program takes a file of a run away, or cuts it."""
        folders = [
            Path(run.path) for run in self._studio.session.runs if self._home in Path(run.path).parents
        ]
        found = sorted(path for folder in folders for path in folder.rglob("*") if path.is_file())
        if not found:
            self._note("nothing to remove")
            return
        path = self._draw.choice(found)
        self._note(f"remove or cut {path.name} of a run")
        with suppress(OSError):
            if self._draw.random() < 0.5:
                path.unlink()
            else:
                os.truncate(path, path.stat().st_size // 2)

    def release(self) -> None:
        """Let stopped children go on, and close what is open, for the end."""
        self._continue(all_of_them=True)
        for _ in range(20):
            found = QApplication.activePopupWidget() or QApplication.activeModalWidget()
            if found is None:
                return
            found.close()
            QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
