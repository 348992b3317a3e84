"""The right dock beside Train: settings of the next run, progress, and facts about the run that is shown."""

from __future__ import annotations

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QFrame, QProgressBar, QVBoxLayout, QWidget

from studio.session.settings import (
    DATA_CHOICES,
    DEVICE_CHOICES,
    MODE_CHOICES,
    MODEL_CHOICES,
    OPTIMIZER_CHOICES,
)
from studio.windows.controls import Facts, ValueLabel, section
from widgets import theme
from widgets.param_form import Field, ParamForm

FOLDER, FILE = "folder", "file"
STEPS = 1000


class SettingsPanel(QFrame):
    """A form whose rows for a folder and a file of one's own come only where they are chosen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self.form = ParamForm(self._fields())
        self._progress_title, self._run_title = section(), section()
        self.bar = QProgressBar()
        self.bar.setRange(0, STEPS)
        self.bar.setTextVisible(False)
        self.progress_text = ValueLabel()
        self.progress_text.setProperty("role", "mute")
        self.facts = Facts()
        self._run_box, self._progress_box = QWidget(), QWidget()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_M, 0, theme.SPACE_M, theme.SPACE_M)
        layout.setSpacing(theme.SPACE_S)
        layout.addWidget(self.form)
        layout.addWidget(self._box(self._progress_box, self._progress_title, self.bar, self.progress_text))
        layout.addWidget(self._box(self._run_box, self._run_title, self.facts))
        layout.addStretch(1)
        for title in (self._progress_title, self._run_title):
            title.setContentsMargins(0, theme.SPACE_S, 0, 0)
        self.set_progress(None, "")
        self.set_facts([])
        for name in ("data_folder", "model_file", "model_class"):
            self.form.set_row_visible(name, False)
        self.retranslate()

    @staticmethod
    def _box(box: QWidget, *widgets: QWidget) -> QWidget:
        layout = QVBoxLayout(box)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SPACE_S)
        for widget in widgets:
            layout.addWidget(widget)
        return box

    def _fields(self) -> list[Field]:
        # The words are set in retranslate.
        return [
            Field("data", "", "choice", "digits", choices=(*DATA_CHOICES, (FOLDER, "IDX"))),
            Field("data_folder", "", "path", ""),
            Field("model", "", "choice", "lenet", choices=(*MODEL_CHOICES, (FILE, "file"))),
            Field("model_file", "", "path", "", path="file"),
            Field("model_class", "", "choice", "", choices=(("", "\u2013"),)),
            Field("optimizer", "", "choice", "adam", choices=OPTIMIZER_CHOICES),
            Field("learning_rate", "", "float", 0.001, minimum=1e-12, maximum=1e6),
            Field("batch_size", "", "int", 64, minimum=1, maximum=1_000_000),
            Field("epochs", "", "int", 5, minimum=1, maximum=1_000_000),
            Field("static", "", "choice", True, choices=MODE_CHOICES),
            Field("device", "", "choice", "cpu", choices=DEVICE_CHOICES),
            Field("seed", "", "int", 0, minimum=0, maximum=2**63 - 1),
        ]

    def set_progress(self, share: float | None, text: str) -> None:
        """How much of the training is done (0 to 1), None where there is none."""
        self._progress_box.setVisible(share is not None)
        self.bar.setValue(round((share or 0.0) * STEPS))
        self.progress_text.set_value(text)

    def set_facts(self, rows: list[tuple[str, str]]) -> None:
        """Facts about the run that is shown."""
        self.facts.set_rows(rows)
        self._run_box.setVisible(bool(rows))

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr, form = self.tr, self.form
        form.set_text("data", tr("Data"), tr("What the model learns from"))
        form.set_text("data_folder", tr("Folder"), tr("A folder with the four IDX files, plain or gzip"))
        form.set_text("model", tr("Model"), tr("The network to train"))
        form.set_text(
            "model_file", tr("File"), tr("A Python file with a class of nn.Layer; it is asked for once")
        )
        form.set_text("model_class", tr("Class"), tr("The class of the network in the file"))
        form.set_text("optimizer", tr("Optimizer"), tr("How the weights are updated"))
        form.set_text("learning_rate", tr("Rate"), tr("The learning rate, such as 0.001"))
        form.set_text("batch_size", tr("Batch"), tr("Pictures in each step"))
        form.set_text("epochs", tr("Epochs"), tr("Passes over all training pictures"))
        form.set_text(
            "static", tr("Mode"),
            tr("Static runs the Program that to_static makes; Eager runs Python line by line"),
        )  # fmt: skip
        form.set_text("device", tr("Device"), tr("Where the numbers are worked out"))
        form.set_text("seed", tr("Seed"), tr("Fixes the initial weights and the order of the pictures"))
        form.set_choices("data", (*DATA_CHOICES, (FOLDER, tr("IDX folder..."))))
        form.set_choices("model", (*MODEL_CHOICES, (FILE, tr("Own file..."))))
        self._progress_title.setText(tr("Progress"))
        self._run_title.setText(tr("Run"))
        self.bar.setAccessibleName(tr("Progress of the training"))

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()
        super().changeEvent(event)
