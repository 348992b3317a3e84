"""ColorChoice: a run's colour, one of the run colours, a colour of one's own, or the default."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QButtonGroup, QColorDialog, QPushButton, QToolButton, QWidget

from widgets import theme
from widgets.flow import FlowLayout
from widgets.retranslated import Retranslated

DOT = 14


def dot_icon(color: int | str, scale: float = 1.0) -> QIcon:
    """A dot in a run's colour, as lists have it; nothing for an empty colour."""
    side = round(DOT * scale)
    pixmap = QPixmap(side, side)
    pixmap.setDevicePixelRatio(scale)
    pixmap.fill(Qt.GlobalColor.transparent)
    if color != "":
        painter = QPainter(pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.run_color(color)))
        painter.drawEllipse(QPointF(DOT / 2, DOT / 2), 5, 5)
        painter.end()
    return QIcon(pixmap)


def color_names(tr: Callable[[str], str]) -> tuple[str, ...]:
    """The run colours in words, in their order."""
    return (
        tr("Blue"),
        tr("Orange"),
        tr("Green"),
        tr("Pink"),
        tr("Teal"),
        tr("Purple"),
        tr("Brown"),
        tr("Grey"),
    )


def ask_color(parent: QWidget, color: int | str, take: Callable[[str], object]) -> QColorDialog:
    """Let the user mix a colour, beginning with ``color``; ``take`` gets it as ``#RRGGBB``."""
    dialog = QColorDialog(QColor(theme.run_color(color)), parent)
    # The system's own dialog does not follow the theme.
    dialog.setOption(QColorDialog.ColorDialogOption.DontUseNativeDialog)
    dialog.colorSelected.connect(lambda chosen: take(chosen.name().upper()))
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    return dialog


class ColorChoice(Retranslated, QWidget):
    """A button for each run colour, one for the default and one that opens a dialog for any other.

    ``changed`` carries the new value after a click.

    Args:
        default: the colour without a choice.
    """

    changed = Signal(object)

    def __init__(self, default: int | str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._default = default
        self._value: int | str | None = None
        self._group = QButtonGroup(self)
        layout = FlowLayout(self, theme.SPACE_XS, theme.SPACE_XS)
        self.buttons = [QToolButton() for _ in theme.current().runs]
        self.default, self.custom = QPushButton(), QPushButton()
        for place, button in enumerate((*self.buttons, self.default, self.custom)):
            button.setCheckable(True)
            self._group.addButton(button, place)
            layout.addWidget(button)
        for words in (self.default, self.custom):
            words.setProperty("role", "quiet")
        for place, button in enumerate(self.buttons):
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
            button.clicked.connect(lambda _=False, place=place: self._choose(place))
        self.default.clicked.connect(lambda: self._choose(None))
        self.custom.clicked.connect(self._ask)
        theme.changed.connect(self._show)
        self.retranslate()
        self._show()

    def value(self) -> int | str | None:
        """The place of a run colour, ``#RRGGBB``, or None for the default."""
        return self._value

    def set_value(self, value: int | str | None) -> None:
        """Show another choice; no signal."""
        self._value = value
        self._show()

    def _choose(self, value: int | str | None) -> None:
        self.set_value(value)
        self.changed.emit(value)

    def _ask(self) -> None:
        self._show()  # the button is not chosen before a colour is
        color = self._default if self._value is None else self._value
        ask_color(self, color, self._choose)

    def _show(self) -> None:
        scale = self.devicePixelRatioF()
        for place, button in enumerate(self.buttons):
            button.setIcon(dot_icon(place, scale))
            button.setChecked(self._value == place)
        self.default.setIcon(dot_icon(self._default, scale))
        self.default.setChecked(self._value is None)
        own = self._value if isinstance(self._value, str) else ""
        self.custom.setIcon(dot_icon(own, scale))
        self.custom.setChecked(bool(own))

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        for button, name in zip(self.buttons, color_names(self.tr), strict=True):
            button.setToolTip(name)
            button.setAccessibleName(name)
        self.default.setText(self.tr("Default"))
        self.default.setToolTip(self.tr("Use the colour that comes from the number of the run's folder"))
        self.custom.setText(self.tr("Other…"))
        self.custom.setToolTip(self.tr("Mix any other colour"))
