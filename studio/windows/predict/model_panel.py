"""The right dock of the page Predict: a list of runs and saved files, and facts about the loaded one."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QLabel,
    QPushButton,
    QSlider,
    QWidget,
)

from studio.windows.controls import Facts
from studio.windows.predict.batch_panel import BatchPanel
from studio.windows.predict.check_panel import CheckPanel
from studio.windows.runs.runs_list import RunRow, RunsList
from widgets import theme
from widgets.icons import set_icon
from widgets.labels import mute, section
from widgets.layouts import vertical
from widgets.retranslated import Retranslated

FEWEST = 6  # rows of the list of models; the panel scrolls where that is too much


class ModelPanel(Retranslated, QFrame):
    """``models_chosen`` carries the keys of what is chosen, the current one first; ``checkpoint_moved`` the
    place of a checkpoint; ``graph_requested`` asks for the Program of the loaded files, ``report_requested``
    for the report of their quantization."""

    models_chosen = Signal(list)
    checkpoint_moved = Signal(int)
    graph_requested = Signal()
    report_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self.models = RunsList(dots=False, fewest=FEWEST)
        self.models.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self._several = mute(wrap=True)
        self._checkpoints_title = section()
        self.checkpoints = QSlider(Qt.Orientation.Horizontal)
        self.checkpoints.setPageStep(1)
        self.checkpoint = QLabel()
        self.checkpoint.setFont(theme.font())
        self.checkpoint.setBuddy(self.checkpoints)
        self.checkpoints.valueChanged.connect(self.checkpoint_moved)
        self._none = mute(wrap=True)
        self._files_title = section()
        self.facts = Facts()
        self.graph_button, self.report_button = QPushButton(), QPushButton()
        self.check, self.many = CheckPanel(), BatchPanel()
        set_icon(self.graph_button, "graph")
        set_icon(self.report_button, "table")
        self.report_button.clicked.connect(self.report_requested)
        self.graph_button.clicked.connect(self.graph_requested)
        self.models.chosen_changed.connect(self.models_chosen)
        layout = vertical(self, (theme.SPACE_M, 0, theme.SPACE_M, theme.SPACE_M))
        layout.addWidget(self.models, 1)
        layout.addWidget(self._none)
        layout.addWidget(self._several)
        layout.addWidget(self._checkpoints_title)
        layout.addWidget(self.checkpoints)
        layout.addWidget(self.checkpoint)
        layout.addSpacing(theme.SPACE_XS)
        layout.addWidget(self._files_title)
        layout.addWidget(self.facts)
        layout.addWidget(self.graph_button)
        layout.addWidget(self.report_button)
        layout.addWidget(self.check)
        layout.addWidget(self.many)
        layout.addStretch(0)
        self.set_models([], [], [])
        self.set_facts([], False)
        self.set_checkpoints(0, -1, "")
        self.retranslate()

    def set_models(
        self,
        runs: list[tuple[str, str, str, int | str]],
        files: list[tuple[str, str, str]],
        chosen: list[str],
    ) -> None:
        """What can be loaded: (key, title, value, colour) of runs and (key, title, value) of files;
        ``chosen`` are the keys of the loaded one, first, and of those next to it."""
        rows: list[RunRow] = []
        for heading, models in ((self.tr("Runs"), runs), (self.tr("Files"), files)):
            if runs and models:
                rows.append(RunRow(f"\0{heading}", heading, "", "", heading=True))
            for key, title, value, *color in models:
                rows.append(RunRow(key, title, value, color[0] if color else "", key))
        listed = self.models
        listed.blockSignals(True)
        listed.set_rows(rows)
        listed.mark(chosen)
        listed.blockSignals(False)
        self._none.setVisible(not rows)
        self._several.setVisible(len(runs) + len(files) > 1)

    def set_checkpoints(self, count: int, place: int, words: str) -> None:
        """So many checkpoints to move over, and the one that answers; below two there is nothing to move."""
        self.checkpoints.blockSignals(True)
        self.checkpoints.setRange(0, max(0, count - 1))
        self.checkpoints.setValue(max(0, place))
        self.checkpoints.blockSignals(False)
        self.checkpoint.setText(words)
        for widget in (self._checkpoints_title, self.checkpoint):
            widget.setVisible(count > 0)
        self.checkpoints.setVisible(count > 1)

    def set_facts(self, rows: list[tuple[str, str]], of_run: bool, report: bool = False) -> None:
        """What the files say, of a run or of inference files; ``report`` says that one of a quantization lies
        in them."""
        self.facts.set_rows(rows)
        self._files_title.setText(self.tr("Run", "a training") if of_run else self.tr("Inference files"))
        self._files_title.setVisible(bool(rows))
        self.graph_button.setVisible(bool(rows) and not of_run)
        self.report_button.setVisible(report)

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        self.models.setAccessibleName(self.tr("Runs and models"))
        self._none.setText(self.tr("Runs and exported or loaded models appear here."))
        self._several.setText(self.tr("Ctrl+click compares several models."))
        self._checkpoints_title.setText(self.tr("Checkpoint"))
        self.checkpoints.setAccessibleName(self.tr("Checkpoint of the run"))
        self.graph_button.setText(self.tr("Show its graph"))
        self.report_button.setText(self.tr("Quantization report"))
