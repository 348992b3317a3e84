"""All texts of a window: labels, tooltips, names for a screen reader, items of models, painted words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, cast

import pytest
from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, QAbstractTableModel, QModelIndex, Qt
from PySide6.QtGui import QAction, QPainter, QStaticText
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDockWidget,
    QGroupBox,
    QLabel,
    QLineEdit,
    QMenu,
    QMessageBox,
    QPlainTextEdit,
    QProgressBar,
    QStackedWidget,
    QTabBar,
    QTextEdit,
    QWidget,
)

from studio.windows.main_window import MainWindow
from widgets.log_view import LogView

ROLES = (
    Qt.ItemDataRole.DisplayRole,
    Qt.ItemDataRole.ToolTipRole,
    Qt.ItemDataRole.AccessibleTextRole,
    Qt.ItemDataRole.AccessibleDescriptionRole,
)
MOST_ROWS = 60


class Text(NamedTuple):
    """One text, and which part of which widget has it."""

    owner: QWidget
    part: str
    text: str

    def __str__(self) -> str:
        return f"{path_of(self.owner)} {self.part}: {self.text!r}"


def path_of(widget: QWidget) -> str:
    """The classes from a widget to its window."""
    names: list[str] = []
    found: Any = widget
    while found is not None:
        names.append(type(found).__name__)
        found = found.parent()
    return " < ".join(names[:4])


def texts(top: QWidget) -> Iterator[Text]:
    """All texts of a widget and of what is in it, without empty ones and lines of a log."""
    for widget in (top, *top.findChildren(QWidget)):
        if _is_of_library(widget) or _is_behind(widget, top) or isinstance(widget.parent(), LogView):
            continue
        for part, text in _of_widget(widget):
            if text.strip():
                yield Text(widget, part, text)


def _is_of_library(widget: QWidget) -> bool:
    """Whether it belongs to the menu of pyqtgraph, which no chart opens."""
    found: Any = widget
    while found is not None:
        if isinstance(found, QMenu) and type(found.parent()).__name__ == "Chart":
            return True
        found = found.parent()
    return False


def _is_behind(widget: QWidget, window: QWidget) -> bool:
    """Whether it belongs to a page of the window that is not shown; it may catch up when it is."""
    if not isinstance(window, MainWindow):
        return False
    around, inner = widget, widget
    while around not in (None, window, window.pages, window.panels):
        around, inner = cast(QWidget, around.parent()), around  # a menu has a parent in another window
    return isinstance(around, QStackedWidget) and around.currentWidget() is not inner


def _of_widget(widget: QWidget) -> Iterator[tuple[str, str]]:
    yield "tooltip", widget.toolTip()
    yield "status tip", widget.statusTip()
    yield "what is this", widget.whatsThis()
    yield "name", widget.accessibleName()
    yield "description", widget.accessibleDescription()
    if widget.isWindow() or isinstance(widget, QDockWidget):
        yield "title", widget.windowTitle()
    for action in widget.actions():
        yield from _of_action(action)
    for kind, read in _READERS:
        if isinstance(widget, kind):
            yield from read(widget)


def _of_action(action: QAction) -> Iterator[tuple[str, str]]:
    if not action.isSeparator():
        yield "action", action.text()
        yield "action's icon text", action.iconText()
        yield "action's tooltip", action.toolTip()
        yield "action's status tip", action.statusTip()


def _of_combo(box: QComboBox) -> Iterator[tuple[str, str]]:
    yield "placeholder", box.placeholderText()
    for row in range(min(box.count(), MOST_ROWS)):
        yield "entry", box.itemText(row)
        yield "entry's tooltip", str(box.itemData(row, Qt.ItemDataRole.ToolTipRole) or "")


def _of_tabs(bar: QTabBar) -> Iterator[tuple[str, str]]:
    for tab in range(bar.count()):
        yield "tab", bar.tabText(tab)
        yield "tab's tooltip", bar.tabToolTip(tab)


def _of_box(box: QMessageBox) -> Iterator[tuple[str, str]]:
    yield "text", box.text()
    yield "further text", box.informativeText()
    yield "details", box.detailedText()


def _of_view(view: QAbstractItemView) -> Iterator[tuple[str, str]]:
    model = view.model()
    frame = view.parent()
    if model is not None and not (frame is not None and isinstance(frame.parent(), QComboBox)):
        yield from of_model(model)


def of_model(model: QAbstractItemModel, parent: QModelIndex | None = None) -> Iterator[tuple[str, str]]:
    """Headers and cells of an item model."""
    top = parent or QModelIndex()
    # Qt hides the number of columns of a list.
    columns = 1 if isinstance(model, QAbstractListModel) else model.columnCount(top)
    rows = min(model.rowCount(top), MOST_ROWS)
    if parent is None:
        for section in range(columns):
            for role in ROLES:
                head = model.headerData(section, Qt.Orientation.Horizontal, role)
                yield "heading", head if isinstance(head, str) else ""
        for section in range(rows):
            head = model.headerData(section, Qt.Orientation.Vertical, Qt.ItemDataRole.DisplayRole)
            yield "row's heading", head if isinstance(head, str) else ""
    for row in range(rows):
        for column in range(columns):
            index = model.index(row, column, top)
            for role in ROLES:
                value = index.data(role)
                yield f"cell of role {role.name}", value if isinstance(value, str) else ""
        first = model.index(row, 0, top)
        if not isinstance(model, QAbstractListModel | QAbstractTableModel) and model.hasChildren(first):
            yield from of_model(model, first)


_READERS: tuple[tuple[type[QWidget], Callable[[Any], Iterator[tuple[str, str]]]], ...] = (
    (QLabel, lambda label: iter([("text", label.text())])),
    (QAbstractButton, lambda button: iter([("text", button.text())])),
    (QGroupBox, lambda box: iter([("title", box.title())])),
    (QLineEdit, lambda line: iter([("placeholder", line.placeholderText())])),
    (
        QAbstractSpinBox,
        lambda spin: iter(
            [("special", spin.specialValueText())]
            + [(part, str(getattr(spin, part)())) for part in ("prefix", "suffix") if hasattr(spin, part)]
        ),
    ),
    (QTextEdit, lambda edit: iter([("placeholder", edit.placeholderText()), ("html", edit.toPlainText())])),
    (
        QPlainTextEdit,
        lambda edit: iter(
            [
                ("placeholder", edit.placeholderText()),
                ("plain", edit.toPlainText() if edit.isReadOnly() else ""),
            ]
        ),
    ),
    (QProgressBar, lambda bar: iter([("format", bar.text() if bar.isTextVisible() else "")])),
    (QComboBox, _of_combo),
    (QTabBar, _of_tabs),
    (QMessageBox, _of_box),
    (QAbstractItemView, _of_view),
    (QMenu, lambda menu: iter([("menu", menu.title())])),
)


@contextmanager
def painted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The texts that Python code paints within the block."""
    found: list[str] = []
    with monkeypatch.context() as patch:
        for name in ("drawText", "drawStaticText"):
            real = getattr(QPainter, name)

            def draw(self: QPainter, *args: Any, real: Any = real) -> Any:
                found.extend(each for each in args if isinstance(each, str))
                found.extend(each.text() for each in args if isinstance(each, QStaticText))
                return real(self, *args)

            patch.setattr(QPainter, name, draw)
        yield found


def windows(app: QApplication) -> list[QWidget]:
    """The windows and dialogs that are shown."""
    return [each for each in app.topLevelWidgets() if each.isVisible()]
