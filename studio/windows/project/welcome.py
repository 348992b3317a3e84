"""What Train shows before the first run: what a press on Start will do, and the other ways to begin."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from studio.windows.controls import ActionButton
from widgets import theme
from widgets.elided import ElidedButton
from widgets.flow import FlowLayout
from widgets.icons import set_icon
from widgets.labels import mute, section
from widgets.layouts import horizontal, vertical
from widgets.retranslated import Retranslated

MOST_RECENT, MOST_FILES = 4, 3
WIDEST = 560


@dataclass(frozen=True)
class Recent:
    """A project that was open before; ``trouble`` says why it can't be opened, empty where it can."""

    name: str
    path: str
    trouble: str = ""


class Welcome(Retranslated, QWidget):
    """``sample_chosen`` carries the key of a sample, ``recent_chosen`` and ``recent_removed`` the path of a
    project, ``file_chosen`` that of data, code or a saved model."""

    sample_chosen = Signal(str)
    recent_chosen = Signal(str)
    recent_removed = Signal(str)
    file_chosen = Signal(str)

    def __init__(self, start: QAction, others: list[tuple[QAction, str]]) -> None:
        super().__init__()
        self._title = QLabel()
        self._title.setFont(theme.font(theme.FIGURE_PX, bold=True))
        self._title.setWordWrap(True)
        self._text = mute(wrap=True)
        self._why_not = QLabel()
        self._why_not.setProperty("role", "bad")
        self._why_not.setWordWrap(True)
        self._why_not.hide()
        self.start = ActionButton(start, "play", "primary")
        self._samples_title, self._recent_title, self._files_title = section(), section(), section()
        self._samples = vertical(None, 0, theme.SPACE_XS)
        self._recent, self._files = vertical(None, 0, 2), horizontal(None, 0, theme.SPACE_XS)
        card = QFrame()
        card.setProperty("role", "card")
        card.setMaximumWidth(WIDEST)
        inner = vertical(card, theme.SPACE_XL, theme.SPACE_M)
        inner.addWidget(self._title)
        inner.addWidget(self._text)
        buttons = QWidget()
        row = FlowLayout(buttons, theme.SPACE_S, theme.SPACE_S)
        row.addWidget(self.start)
        for action, icon in others:
            row.addWidget(ActionButton(action, icon))
        inner.addWidget(buttons)
        inner.addWidget(self._why_not)
        inner.addWidget(self._samples_title)
        inner.addLayout(self._samples)
        inner.addWidget(self._recent_title)
        inner.addLayout(self._recent)
        inner.addWidget(self._files_title)
        inner.addLayout(self._files)
        layout = horizontal(self, theme.SPACE_XL, spacing=None)
        layout.addStretch(0)
        layout.addWidget(card, 1, Qt.AlignmentFlag.AlignVCenter)
        layout.addStretch(0)
        self._model = self._data = ""
        self._shown_recent: list[Recent] = []
        self.set_recent([])
        self.set_recent_files([])
        self.retranslate()

    def set_choice(self, model: str, data: str) -> None:
        """What Start would train, and on what."""
        self._model, self._data = model, data
        self.retranslate()

    def set_why_not(self, reason: str) -> None:
        """Why Start can't be given, next to it."""
        self._why_not.setText(reason)
        self._why_not.setVisible(bool(reason))

    def set_samples(self, samples: list[tuple[str, str, str]]) -> None:
        """Projects to begin with: (key, title, what it is)."""
        _clear(self._samples)
        buttons = list[QPushButton]()
        for key, title, text in samples:
            line, button, words = horizontal(None, 0), QPushButton(title), mute(text, wrap=True)
            button.setProperty("role", "row")
            button.setObjectName(f"sample {key}")
            button.setToolTip(text)
            button.setAccessibleDescription(text)
            button.clicked.connect(lambda _=False, key=key: self.sample_chosen.emit(key))
            line.addWidget(button)
            line.addWidget(words, 1)
            self._samples.addLayout(line)
            buttons.append(button)
        self._align_titles(buttons)

    @staticmethod
    def _align_titles(buttons: list[QPushButton]) -> None:
        """Give all titles the width of the widest, so that the texts next to them begin at one line."""
        for button in buttons:
            button.ensurePolished()
        widest = max((button.sizeHint().width() for button in buttons), default=0)
        for button in buttons:
            button.setMinimumWidth(widest)

    def set_recent(self, projects: list[Recent]) -> None:
        """Recent projects, newest first; those that can't be opened say so."""
        _clear(self._recent)
        self._shown_recent = projects[:MOST_RECENT]
        for project in self._shown_recent:
            self._recent.addLayout(self._row_of(project))
        self._recent_title.setVisible(bool(projects))

    def set_recent_files(self, paths: list[str]) -> None:
        """Data, code and saved models that were opened before, as one row."""
        _clear(self._files)
        for path in paths[:MOST_FILES]:
            button = ElidedButton(Path(path).name)
            button.setProperty("role", "row")
            button.setToolTip(path)
            button.clicked.connect(lambda _=False, path=path: self.file_chosen.emit(path))
            self._files.addWidget(button, 1)
        self._files_title.setVisible(bool(paths))

    def _row_of(self, project: Recent) -> QHBoxLayout:
        line, words = (
            horizontal(None, 0, theme.SPACE_XS),
            f"{project.name} \u2013 {project.trouble}" if project.trouble else project.name,
        )
        button, remove = QPushButton(words), QToolButton()
        button.setProperty("role", "row")
        button.setToolTip(project.path)
        button.setEnabled(not project.trouble)
        button.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        button.clicked.connect(lambda: self.recent_chosen.emit(project.path))
        set_icon(remove, "cancel", "mute")
        remove.setToolTip(self.tr("Remove the project from this list; its files stay"))
        remove.setAccessibleName(self.tr("Remove {0} from the list").format(project.name))
        remove.clicked.connect(lambda: self.recent_removed.emit(project.path))
        line.addWidget(button, 1)
        line.addWidget(remove)
        return line

    def title(self) -> str:
        """The large words."""
        return self._title.text()

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        self._title.setText(self.tr("Train {0} on {1}").format(self._model, self._data))
        self._text.setText(
            self.tr(
                "Press Start and watch the loss fall. Then look inside the model, export it, and try it on a "
                "digit that you draw. Data, model and all settings are at the right."
            )
        )
        self._samples_title.setText(self.tr("Samples that train within a minute"))
        self._recent_title.setText(self.tr("Recent projects"))
        self._files_title.setText(self.tr("Recent files"))
        self.set_recent(self._shown_recent)


def _clear(layout: QLayout) -> None:
    while (item := layout.takeAt(0)) is not None:
        widget, inner = item.widget(), item.layout()
        if inner is not None:
            _clear(inner)
        if widget is not None:
            widget.hide()  # it goes only when the loop has time
            widget.deleteLater()
