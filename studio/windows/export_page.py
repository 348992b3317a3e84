"""The page Export: which run, under which name, with which input; and what reloading the files showed."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Signal
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from studio.session.export_view import CHECKPOINT_CHOICES
from studio.windows.controls import Facts, PageCard, Stack, mute
from studio.windows.standing_card import StandingCard
from widgets import theme
from widgets.cards import EmptyState, KeyFigure
from widgets.icons import set_icon
from widgets.param_form import Field, ParamForm

DTYPES = ("float32", "float64", "float16", "uint8", "int32", "int64")
FIGURES = ("difference", "accuracy", "latency", "size")
NOTHING, BUSY, DONE = range(3)
NARROW = 640


class ExportPage(QWidget):
    """Filled by its controller; ``form.changed`` says what was edited."""

    export_requested = Signal()
    predict_requested = Signal()
    folder_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.form = ParamForm(self._what())
        self.input_form = ParamForm(self._input())
        self.figures = {name: KeyFigure() for name in FIGURES}
        self.facts = Facts()
        self.predict_button, self.folder_button = QPushButton(), QPushButton()
        set_icon(self.predict_button, "pen")
        set_icon(self.folder_button, "open")
        self.predict_button.clicked.connect(self.predict_requested)
        self.folder_button.clicked.connect(self.folder_requested)
        self.bar = QProgressBar()
        self.bar.setRange(0, 0)
        self.bar.setTextVisible(False)
        self._message = mute(wrap=True)
        self._summary = QLabel()
        self._summary.setWordWrap(True)
        self._empty = EmptyState("", icon="export")
        self._empty.action_triggered.connect(self.export_requested)
        self._result = Stack()
        self._what_card, self._input_card, self._result_card = PageCard(), PageCard(), PageCard()
        self.standing = StandingCard()
        self._grid = QGridLayout(self)
        self._stacked: bool | None = None
        self._build()
        self.retranslate()
        self.show_nothing()

    @staticmethod
    def _what() -> list[Field]:
        return [
            Field("run", "", "choice", "", choices=(("", "\u2013"),)),
            Field("checkpoint", "", "choice", "best", choices=CHECKPOINT_CHOICES),
            Field("folder", "", "path", ""),
            Field("name", "", "text", "model", required=True),
            Field("optimize", "", "bool", False),
        ]

    @staticmethod
    def _input() -> list[Field]:
        return [
            Field("input_name", "", "text", "x", required=True),
            Field("shape", "", "text", ""),
            Field("dtype", "", "choice", "float32", choices=tuple((name, name) for name in DTYPES)),
            Field("samples", "", "int", 256, minimum=1, maximum=1_000_000),
        ]

    def _build(self) -> None:
        self._what_card.body.addWidget(self.form)
        self._what_card.body.addStretch(1)
        self._input_card.body.addWidget(self.input_form)
        self._input_card.body.addStretch(1)
        self._result_card.body.addWidget(self._result, 1)
        busy = QWidget()
        layout = QVBoxLayout(busy)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addStretch(1)
        layout.addWidget(self._message)
        layout.addWidget(self.bar)
        layout.addStretch(2)
        for page in (self._empty, busy, self._done()):
            self._result.addWidget(page)
        self._grid.setContentsMargins(*[theme.PAGE_PADDING] * 4)
        self._grid.setSpacing(theme.SPACE_M)
        self._arrange(False)

    def _arrange(self, stacked: bool) -> None:
        """The two forms side by side, or one below the other where the page is narrow."""
        if stacked == self._stacked:
            return
        self._stacked = stacked
        wide = 1 if stacked else 2
        self._grid.addWidget(self._what_card, 0, 0)
        self._grid.addWidget(self._input_card, int(stacked), int(not stacked))
        self._grid.addWidget(self._result_card, 1 + int(stacked), 0, 1, wide)
        self._grid.addWidget(self.standing, 2 + int(stacked), 0, 1, wide)
        for column in range(2):
            self._grid.setColumnStretch(column, int(column < wide))
        for row in range(4):
            self._grid.setRowStretch(row, int(row == 1 + int(stacked)))

    def minimumSizeHint(self) -> QSize:
        cards = (self._what_card, self._input_card, self._result_card, self.standing)
        wide = max(card.minimumSizeHint().width() for card in cards)
        return QSize(wide + 2 * theme.PAGE_PADDING, super().minimumSizeHint().height())

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Show) and self.isVisible():
            self._arrange(self.width() < NARROW)
        return super().event(event)

    def _done(self) -> QWidget:
        done = QWidget()
        layout = QVBoxLayout(done)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SPACE_M)
        figures = QGridLayout()
        figures.setSpacing(theme.SPACE_M)
        for place, figure in enumerate(self.figures.values()):
            figures.addWidget(figure, place // 2, place % 2)
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.SPACE_S)
        buttons.addWidget(self.predict_button)
        buttons.addWidget(self.folder_button)
        buttons.addStretch(1)
        layout.addWidget(self._summary)
        layout.addLayout(figures)
        layout.addWidget(self.facts)
        layout.addLayout(buttons)
        layout.addStretch(1)
        return done

    # contents

    def set_runs(self, runs: list[tuple[str, str]], chosen: str) -> None:
        """The runs to choose from: (folder, title)."""
        self.form.set_choices("run", tuple(runs) or (("", "\u2013"),))
        if any(folder == chosen for folder, _ in runs):
            self.form.set_value("run", chosen)

    def show_nothing(self) -> None:
        """Nothing was exported yet."""
        self._result.setCurrentIndex(NOTHING)
        self._result_card.set_title(self.tr("Check"))

    def show_busy(self, message: str) -> None:
        """The export is running."""
        self._message.setText(message)
        self._result.setCurrentIndex(BUSY)
        self._result_card.set_title(self.tr("Check"))

    def show_done(self, summary: str, figures: dict[str, str], facts: list[tuple[str, str]]) -> None:
        """What came out."""
        self._summary.setText(summary)
        for name, text in figures.items():
            self.figures[name].set_value(text)
        self.facts.set_rows(facts)
        self._result.setCurrentIndex(DONE)
        self._result_card.set_title(self.tr("Check"), self.tr("loaded again in a clean process"))

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr, form, inputs = self.tr, self.form, self.input_form
        self._what_card.set_title(tr("What to export"))
        self._input_card.set_title(tr("Input"), tr("as InputSpec says it"))
        form.set_text("run", tr("Run"), tr("The run whose weights are exported"))
        form.set_text(
            "checkpoint", tr("Weights"), tr("Those that read the test pictures best, or the last ones")
        )
        form.set_text("folder", tr("Folder"), tr("Where the three files go; it is made where absent"))
        form.set_text(
            "name", tr("Name"), tr("The files are NAME.pdmodel, NAME.pdiparams and NAME.pdiparams.info")
        )
        form.set_text(
            "optimize",
            tr("Optimize for prediction"),
            tr("Faster: batch norms become part of convolutions; such files are not for further training"),
        )
        inputs.set_text("input_name", tr("Name"), tr("How the input is called in the Program"))
        inputs.set_text(
            "shape",
            tr("Shape"),
            tr("Empty: as the run's data; else such as None, 1, 28, 28"),
        )
        line = inputs.control("shape")
        assert isinstance(line, QLineEdit)
        line.setPlaceholderText(tr("as the run's data"))
        inputs.set_text("dtype", tr("dtype"), tr("The type of the numbers that the model is fed"))
        inputs.set_text("samples", tr("Samples"), tr("Test pictures that are compared after reloading"))
        self.predict_button.setText(tr("Open in Predict"))
        self.predict_button.setToolTip(tr("Load these files and try them on a drawn digit"))
        self.folder_button.setText(tr("Show in folder"))
        self._empty.set_text(tr(
            "Export writes three files that run without the model's source, loads them in a clean process, "
            "and compares the answers on test pictures."
        ), tr("Export"))  # fmt: skip
        labels = (tr("Largest difference"), tr("Accuracy on samples"), tr("One picture"), tr("Size"))
        for figure, label in zip(self.figures.values(), labels, strict=True):
            figure.set_label(label)
        self.bar.setAccessibleName(tr("Export in progress"))

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()
        super().changeEvent(event)
