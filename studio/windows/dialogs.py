"""Questions to the user, which open without stopping the loop, and dialogs that are high enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QMessageBox, QPushButton, QWidget

from resources.local_code import LocalCode
from widgets import theme
from widgets.icons import icon_pixmap
from widgets.labels import breakable

FRAME = 60  # of the system around a dialog


class FittingDialog(QDialog):
    """Grows with what it shows, up to the height of the screen.

    Qt gives a dialog no minimum height where that depends on the width: its fields would be cut off.
    """

    def event(self, event: QEvent) -> bool:
        handled = super().event(event)
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Show) and self.isVisible():
            self._fit()
        return handled

    def _fit(self) -> None:
        layout = self.layout()
        if layout is None or not layout.hasHeightForWidth():
            return
        room = self.screen().availableGeometry().height() - FRAME
        least = min(layout.minimumHeightForWidth(self.width()), room)
        if self.height() < least:
            self.resize(self.width(), least)


def ask(
    parent: QWidget,
    title: str,
    text: str,
    yes: str,
    no: str,
    on_yes: Callable[[], object],
    details: str = "",
    instead: tuple[str, Callable[[], object]] | None = None,
) -> QMessageBox:
    """Ask a question with two answers; ``no`` is the default and what Escape means.

    Args:
        instead: a third answer, and what it does.
    """
    box = QMessageBox(parent)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setWindowTitle(title)
    box.setIconPixmap(icon_pixmap("info", theme.current().accent, 32, parent.devicePixelRatioF()))
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(breakable(title))
    box.setFont(theme.font())
    box.setInformativeText(breakable(text))
    if details:
        box.setDetailedText(details)
    accept = box.addButton(yes, QMessageBox.ButtonRole.AcceptRole)
    reject = box.addButton(no, QMessageBox.ButtonRole.RejectRole)
    other = box.addButton(instead[0], QMessageBox.ButtonRole.AcceptRole) if instead is not None else None
    accept.setObjectName("yes")
    reject.setObjectName("no")
    box.setDefaultButton(reject)
    box.setEscapeButton(reject)
    for buttons in box.findChildren(QDialogButtonBox):
        buttons.setCenterButtons(False)
    box.buttonClicked.connect(lambda button: on_yes() if button is accept else None)
    if other is not None and instead is not None:
        other.setObjectName("instead")
        other.clicked.connect(instead[1])
    box.open()
    return box


def ask_agreement(
    parent: QWidget,
    code: LocalCode,
    new: Sequence[str],
    on_yes: Callable[[], object],
    on_no: Callable[[], object] | None = None,
) -> QMessageBox:
    """Ask once whether the user's own code may be run, of which the files ``new`` were not agreed to before;
    the text that was read can be looked at first, and is what a yes is about."""
    path = code.folder / new[0]
    text = "\n".join(
        (f"# ----- {name} -----\n" if len(code.sources) > 1 else "") + data.decode("utf-8", "replace")
        for name, data in sorted(code.sources.items(), key=lambda item: item[0] not in new)
    )
    tr = QCoreApplication.translate
    others = ", ".join(name for name in code.sources if name != new[0])
    together = tr("dialogs", "It runs together with {0}.").format(others) if others else ""
    if 1 < len(new) < len(code.sources):
        together = tr("dialogs", "New or changed: {0}.").format(", ".join(new)) + " " + together
    box = ask(
        parent,
        tr("dialogs", "Run the code in {0}?").format(path.name),
        tr(
            "dialogs",
            "{0}\n\nModel Studio will import this file in a process of its own. Code can do whatever you "
            "can do on this computer: agree only if you trust where it comes from. The answer holds for the "
            "file as it is now.",
        ).format(path)
        + (f"\n\n{together}" if together else ""),
        tr("dialogs", "Run this file"),
        tr("dialogs", "Don't run it"),
        on_yes,
        text,
    )
    if on_no is not None:
        box.rejected.connect(on_no)
        button_of(box, "no").clicked.connect(on_no)
    return box


def button_of(box: QMessageBox, name: str) -> QPushButton:
    """The button ``yes`` or ``no`` of a question."""
    found = box.findChild(QPushButton, name)
    assert isinstance(found, QPushButton)
    return found
