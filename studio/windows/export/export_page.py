"""The page Export: which run, under which name, with which input; and what reloading the files showed."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSize, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QTabBar,
    QWidget,
)

from resources.settings.export import ABOUT, ENDINGS, EXPORT_SETTINGS, FOLDER, OF_FORMAT
from resources.settings.model_inputs import ModelInputRow
from resources.settings.quantize import METHOD
from studio.windows.controls import Facts, PageCard
from studio.windows.export.exported_files_card import ExportedFilesCard
from studio.windows.export.input_rows import COLUMNS, InputRows
from studio.windows.export.quantization_card import QuantizeCard
from studio.windows.export.quantization_page import QuantizationPage
from studio.windows.setting_fields import field_of, help_of, retranslate_fields
from widgets import theme
from widgets.cards import Card, EmptyState, KeyFigure
from widgets.flow import FlowLayout
from widgets.icons import set_icon
from widgets.labels import mute
from widgets.layouts import grid, vertical
from widgets.param_form import Field, ParamForm
from widgets.param_form.fields import write
from widgets.retranslated import Retranslated

# The settings that are in the cards Input and About the model, and those that are in the first card.
INPUT = ("input_name", "input_shape", "dtype", "samples")
INPUT_SETTINGS = {name: EXPORT_SETTINGS[name] for name in INPUT}
ABOUT_SETTINGS = {name: EXPORT_SETTINGS[name] for name in ABOUT}
OTHERS = (*INPUT, "inputs", *ABOUT)
FILE_SETTINGS = {name: each for name, each in EXPORT_SETTINGS.items() if name not in OTHERS}
FORM_SETTINGS = (FILE_SETTINGS, INPUT_SETTINGS, ABOUT_SETTINGS)  # of ``ExportPage.forms``
FIGURES = ("difference", "accuracy", "latency", "size")
NOTHING, BUSY, DONE, FAILED = range(4)
FILES, REPORT = range(2)
NARROW = 640


class ExportPage(Retranslated, QWidget):
    """Two views: the files to write with the check of those written, and the report of a quantization.

    Filled by its controller; ``form.changed`` says what was edited.
    """

    export_requested = Signal()
    cancel_requested = Signal()
    report_requested = Signal()
    predict_requested = Signal()
    folder_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.form = ParamForm(self._what())
        self.input_form = ParamForm([field_of(setting) for setting in INPUT_SETTINGS.values()])
        self.about_form = ParamForm([field_of(setting) for setting in ABOUT_SETTINGS.values()])
        self.forms = (self.form, self.input_form, self.about_form)
        self.input_rows = InputRows()
        self.input_rows.hide()
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
        self._count = mute()
        self.cancel_button, self.report_button = QPushButton(), QPushButton()
        set_icon(self.cancel_button, "cancel")
        set_icon(self.report_button, "table")
        self.cancel_button.clicked.connect(self.cancel_requested)
        self.report_button.clicked.connect(self.report_requested)
        self._empty, self._failed = EmptyState("", icon="export"), EmptyState("", icon="warning")
        for state in (self._empty, self._failed):
            state.action_triggered.connect(self.export_requested)
        self._what_card, self._input_card, self._result_card = PageCard(), PageCard(), Card()
        self._about_card = PageCard()
        self.quantize, self.standing = QuantizeCard(), ExportedFilesCard()
        self.tabs, self.report = QTabBar(), QuantizationPage()
        self._grid = grid(None, 0, theme.SPACE_M)
        self._stacked: bool | None = None
        self._quantizing, self._format = False, "native"
        self._data_shape: tuple[int, ...] = ()
        self._build()
        self.retranslate()
        self.show_nothing()

    @staticmethod
    def _what() -> list[Field]:
        checkpoint, *others = [field_of(setting) for setting in FILE_SETTINGS.values()]
        return [
            Field("run", "", "choice", "", choices=(("", "\u2013"),)),
            checkpoint,
            Field("folder", "", "path", ""),
            Field("name", "", "text", "model", required=True),
            *others,
            field_of(METHOD, "quantize"),
        ]

    def _build(self) -> None:
        self._what_card.body.addWidget(self.form)
        self._what_card.body.addStretch(1)
        self._input_card.body.addWidget(self.input_rows)
        self._input_card.body.addWidget(self.input_form)
        self._input_card.body.addStretch(1)
        self._about_card.body.addWidget(self.about_form)
        self._about_card.body.addStretch(1)
        busy = QWidget()
        layout = vertical(busy, 0, spacing=None)
        layout.addStretch(1)
        layout.addWidget(self._message)
        layout.addWidget(self.bar)
        below = QHBoxLayout()
        below.addWidget(self._count, 1)
        below.addWidget(self.cancel_button)
        layout.addLayout(below)
        layout.addStretch(2)
        # Not a stack, which would be as high as the highest of them.
        self._results = (self._empty, busy, self._done(), self._failed)
        for result in self._results:
            self._result_card.body.addWidget(result, 1)
        for _ in (FILES, REPORT):
            self.tabs.addTab("")
        self.tabs.setDrawBase(False)
        self.tabs.currentChanged.connect(self._show_view)
        self._column = column = vertical(self, theme.PAGE_PADDING)
        column.addWidget(self.tabs, 0, Qt.AlignmentFlag.AlignLeft)
        column.addLayout(self._grid)
        column.addWidget(self.report)
        self._arrange(False)
        self.standing.count_changed.connect(lambda _: self._show_view())
        self._show_view()

    def _arrange(self, stacked: bool) -> None:
        """The two forms side by side, or one below the other where the page is narrow."""
        if stacked == self._stacked:
            return
        self._stacked = stacked
        self.quantize.arrange(stacked)
        wide = 1 if stacked else 2
        column, first = int(not stacked), 3 if stacked else 2
        self._grid.addWidget(self._what_card, 0, 0, first - 2 * int(stacked), 1)
        self._grid.addWidget(self._input_card, int(stacked), column)
        self._grid.addWidget(self._about_card, 1 + int(stacked), column)
        below = (self.quantize, self._result_card, self.standing)
        for row, card in enumerate(below, first):
            self._grid.addWidget(card, row, 0, 1, wide)
        for column in range(2):
            self._grid.setColumnStretch(column, int(column < wide))
        for row in range(6):
            self._grid.setRowStretch(row, int(row == first + 1))

    def minimumSizeHint(self) -> QSize:
        files = (*self._cards(), self._result_card, self.quantize, self.standing)
        shown = files if self.tabs.currentIndex() == FILES else (self.report,)
        wide = max(card.minimumSizeHint().width() for card in shown if not card.isHidden())
        return QSize(wide + 2 * theme.PAGE_PADDING, super().minimumSizeHint().height())

    def _cards(self) -> tuple[PageCard, PageCard, PageCard]:
        return self._what_card, self._input_card, self._about_card

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Show) and self.isVisible():
            self._arrange(self.width() < NARROW)
        return super().event(event)

    def _done(self) -> QWidget:
        done = QWidget()
        layout = vertical(done, 0, theme.SPACE_M)
        figures = grid(None, 0, theme.SPACE_M)
        for place, figure in enumerate(self.figures.values()):
            figures.addWidget(figure, place // 2, place % 2)
        buttons = QWidget()
        row = FlowLayout(buttons, theme.SPACE_S, theme.SPACE_S)
        for button in (self.report_button, self.predict_button, self.folder_button):
            row.addWidget(button)
        layout.addWidget(self._summary)
        layout.addLayout(figures)
        layout.addWidget(self.facts)
        layout.addWidget(buttons)
        layout.addStretch(1)
        return done

    # contents

    def set_runs(self, runs: list[tuple[str, str, int | str]], chosen: str) -> None:
        """The runs to choose from: (folder, title, colour)."""
        listed = any(folder == chosen for folder, _, _ in runs)
        nothing = () if listed else (("", self.tr("Select a run") if runs else "\u2013"),)
        self.form.set_choices("run", (*nothing, *((folder, title) for folder, title, _ in runs)))
        self.form.set_choice_colors("run", {folder: color for folder, _, color in runs})
        self.form.set_value("run", chosen if listed else "")

    def show_data_shape(self, shape: tuple[int, ...]) -> None:
        """Show the input shape of the run's data where no other is entered; empty if it is unknown."""
        self._data_shape = shape
        words = write(shape, "shape") if shape else self.tr(EXPORT_SETTINGS["input_shape"].empty)
        self.input_form.set_placeholder("input_shape", words)

    def show_inputs(self, inputs: Sequence[ModelInputRow], text: str) -> None:
        """Show a row for each input of a model that takes several, as ``text`` names them; none for one."""
        several = bool(inputs)
        self.input_rows.set_inputs(inputs, text)
        self.input_rows.setVisible(several)
        for name in COLUMNS:
            self.input_form.set_row_visible(name, not several)
        self._title_input(self._quantizing)

    def show_nothing(self) -> None:
        """Nothing was exported yet."""
        self._show_result(NOTHING)
        self._result_card.set_title(self.tr("Check"))

    def show_busy(self, message: str, done: int = 0, total: int = 0) -> None:
        """The export is running; ``done`` of ``total`` where that is counted."""
        self._message.setText(message)
        self.bar.setRange(0, total)
        self.bar.setValue(done)
        numbers = (theme.format_number(done), theme.format_number(total))
        self._count.setText(self.tr("{0} of {1}").format(*numbers) if total else "")
        self._show_result(BUSY)
        self._result_card.set_title(self.tr("Check"))

    def show_done(
        self, summary: str, figures: dict[str, str], facts: list[tuple[str, str]], report: bool = False
    ) -> None:
        """What came out; ``report`` says that there is one to be shown."""
        self._summary.setText(summary)
        for name, figure in self.figures.items():
            figure.clear()
            figure.set_value(figures[name])
        self.facts.set_rows(facts)
        self.report_button.setVisible(report)
        self._show_result(DONE)
        self._result_card.set_title(self.tr("Check"), self.tr("loaded again in a clean process"))

    def show_failed(self, message: str) -> None:
        """The export failed."""
        self._failed.set_text(message, self.tr("Try again"))
        self._show_result(FAILED)
        self._result_card.set_title(self.tr("Check"))

    def allow_export(self, why_not: str) -> None:
        """Let the buttons of the card export, or disable them with the reason."""
        for state in (self._empty, self._failed):
            state.button.setEnabled(not why_not)
            state.button.setToolTip(why_not)

    def _show_result(self, place: int) -> None:
        before = next((each for each, shown in enumerate(self._results) if not shown.isHidden()), place)
        for each, result in enumerate(self._results):
            result.setVisible(each == place)
        if place != before and place != NOTHING:
            # On a small screen it is below what was chosen.
            QTimer.singleShot(0, self, self._reveal)

    def _reveal(self) -> None:
        parent = self.parentWidget()
        while parent is not None and not isinstance(parent, QScrollArea):
            parent = parent.parentWidget()
        if parent is not None and self._result_card.isVisible():
            parent.ensureWidgetVisible(self._result_card, 0, theme.SPACE_S)

    def _show_view(self) -> None:
        files = self.tabs.currentIndex() == FILES
        for card in (*self._cards(), self._result_card):
            card.setVisible(files)
        self.quantize.setVisible(files and self._quantizing)
        self.standing.setVisible(files and bool(self.standing.chosen()))
        self.report.setVisible(not files)
        self._column.setStretchFactor(self._grid, int(files))
        self._column.setStretchFactor(self.report, int(not files))
        self.updateGeometry()

    def show_view(self, view: int) -> None:
        """Bring FILES or REPORT to the front."""
        self.tabs.setCurrentIndex(view)

    def show_quantizing(self, on: bool) -> None:
        """Show what is chosen of a quantization, or hide it. Quantized files are optimized anyway, and take
        the run's own input."""
        self._quantizing = on
        self._show_view()
        self._show_rows()
        for form in self.forms[1:]:
            form.set_enabled_keys([] if on else form.keys())
        self.input_rows.setEnabled(not on)
        self._title_input(on)

    def show_format(self, format: str) -> None:
        """The format that is chosen, with the names of its files and the settings that apply to it."""
        self._format = format
        self._show_rows()
        ending = ENDINGS.get(format)
        names = f"NAME{ending}" if ending else "NAME.pdmodel, NAME.pdiparams, NAME.pdiparams.info"
        if format == FOLDER:
            names = "NAME/model.onnx, NAME/predict.py, NAME/README.md, ..."
        self.form.set_text("name", self.tr("Name"), self.tr("Written: {0}").format(names))

    def _show_rows(self) -> None:
        for name, setting in FILE_SETTINGS.items():
            applies = OF_FORMAT.get(name, self._format) == self._format
            self.form.set_row_visible(name, applies and not (self._quantizing and setting.methods))

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr, form, inputs = self.tr, self.form, self.input_form
        self._what_card.set_title(tr("Model"))
        self._title_input(self._quantizing)
        self._about_card.set_title(tr("About the model"), tr("stored in the files"))
        self.tabs.setTabText(FILES, tr("Files"))
        self.tabs.setTabText(REPORT, tr("Quantization report"))
        self.tabs.setAccessibleName(tr("Views of the page Export"))
        form.set_text("run", tr("Run", "a training"), tr("The run whose weights are exported"))
        retranslate_fields(form, FILE_SETTINGS, tr)
        form.set_text("folder", tr("Folder"), tr("Folder for the files; created if missing"))
        self.show_format(self._format)
        form.set_text("quantize", tr(METHOD.title), help_of(METHOD, tr))
        form.set_choices("quantize", tuple((value, tr(word)) for value, word in METHOD.choices))
        retranslate_fields(inputs, INPUT_SETTINGS, tr)
        retranslate_fields(self.about_form, ABOUT_SETTINGS, tr)
        self.show_data_shape(self._data_shape)
        self.predict_button.setText(tr("Open in Predict"))
        self.predict_button.setToolTip(tr("Load these files and try them on a drawn digit"))
        self.folder_button.setText(tr("Show in folder"))
        self.report_button.setText(tr("Show report"))
        self.cancel_button.setText(tr("Cancel"))
        self.cancel_button.setToolTip(tr("Stop the export; existing files under this name stay unchanged"))
        self._empty.set_text(
            tr(
                "Export writes files that run without the model's source, loads them in a clean process, "
                "and compares the answers on test samples."
            ),
            tr("Export"),
        )
        labels = (tr("Largest difference"), tr("Accuracy on samples"), tr("One image"), tr("Size"))
        for figure, label in zip(self.figures.values(), labels, strict=True):
            figure.set_label(label)
        self.bar.setAccessibleName(tr("Export in progress"))

    def _title_input(self, fixed: bool) -> None:
        if self.input_rows.rows:
            self._input_card.set_title(self.tr("Inputs"), self.tr("one InputSpec each, in this order"))
            return
        words = self.tr("that of the run's data") if fixed else self.tr("as an InputSpec")
        self._input_card.set_title(self.tr("Input"), words)
