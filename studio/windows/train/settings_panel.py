"""The right dock next to Train: settings of the next run, progress, and facts about the run that is shown."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QWidget,
)

from resources.settings import RUN_SETTINGS, TRAIN_SETTINGS, Rule
from studio.windows.controls import Facts, ValueLabel
from studio.windows.setting_fields import field_of, help_of, retranslate_fields
from studio.windows.train.learning_rate_field import LearningRateField
from studio.windows.train.schedule_plot import SchedulePlot
from widgets import theme
from widgets.labels import mute, section
from widgets.layouts import vertical
from widgets.param_form import Field, ParamForm
from widgets.retranslated import Retranslated

DATA_FILES = (".npz", ".h5", ".hdf5", ".csv", ".tsv")
FOLDER, FILE, AUTO = "folder", "file", "auto"
STEPS = 1000
ADVANCED = tuple(name for name, setting in TRAIN_SETTINGS.items() if setting.advanced)


class SettingsPanel(Retranslated, QFrame):
    """A form made from the declared settings.

    Rows for a folder and a file of one's own come only where they are chosen, parameters with the optimizer
    or schedule that they belong to, and what is needed rarely when it is asked for.
    """

    find_rate_requested = Signal()
    suggest_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self.form = ParamForm(self._fields())
        self._rules: dict[str, Rule] = {}
        self._workers_missing = ""
        self._data_path: Literal["folder", "file"] = "folder"
        self.more = QPushButton()
        self.more.setCheckable(True)
        self.more.setFlat(True)
        self.more.toggled.connect(self._show_advanced)
        self.schedule = SchedulePlot()
        self.find_rate = QPushButton()
        self.find_rate.setFlat(True)
        self.find_rate.clicked.connect(self.find_rate_requested)
        self.suggest = QPushButton()
        self.suggest.clicked.connect(self.suggest_requested)
        self.choices, self.cost = mute(wrap=True), mute(wrap=True)
        self.misfit = QLabel()
        self.misfit.setProperty("role", "bad")
        self.misfit.setWordWrap(True)
        self.misfit.setContentsMargins(0, 0, 0, theme.SPACE_S)
        self._misfits: dict[str, str] = {}
        self._expected_model = ("", "")
        self._working = False
        self._progress_title, self._run_title = section(), section()
        self.bar = QProgressBar()
        self.bar.setRange(0, STEPS)
        self.bar.setTextVisible(False)
        self.progress_text = ValueLabel()
        self.progress_text.setProperty("role", "mute")
        self.facts = Facts()
        self.rate = LearningRateField()
        self._run_box, self._progress_box = QWidget(), QWidget()
        layout = vertical(self, (theme.SPACE_M, 0, theme.SPACE_M, theme.SPACE_M))
        layout.addWidget(self.rate)  # first: it is there only while there is something to steer
        for widget in (self.suggest, self.choices, self.cost, self.form):
            layout.addWidget(widget)
        self.form.set_below("schedule_each", self.schedule)
        self.form.set_below("model", self.misfit)
        layout.addWidget(self.find_rate)
        layout.addWidget(self.more)
        layout.addWidget(self._box(self._progress_box, self._progress_title, self.bar, self.progress_text))
        layout.addWidget(self._box(self._run_box, self._run_title, self.facts))
        layout.addStretch(1)
        for title in (self._progress_title, self._run_title):
            title.setContentsMargins(0, theme.SPACE_S, 0, 0)
        self.set_progress(None, "")
        self.set_facts([])
        for name in ("data_folder", "model_file", "model_class", "schedule_each"):
            self.form.set_row_visible(name, False)
        self.retranslate()
        self.show_suggestion(False, [], "")
        self.show_fitting({}, "")
        self._show_advanced(False)

    @staticmethod
    def _box(box: QWidget, *widgets: QWidget) -> QWidget:
        layout = vertical(box, 0, theme.SPACE_S)
        for widget in widgets:
            layout.addWidget(widget)
        return box

    def _fields(self) -> list[Field]:
        # The words are set in retranslate.
        own = {
            "data": [Field("data_folder", "", "path", "")],
            "model": [
                Field("model_file", "", "path", "", path="file"),
                Field("model_class", "", "choice", "", choices=(("", "\u2013"),)),
            ],
        }
        other = {"data": ((FOLDER, "own"),), "model": ((FILE, "file"),)}
        fields: list[Field] = []
        for name, setting in TRAIN_SETTINGS.items():
            if setting.kind != "parameters":
                fields += [field_of(setting, more=other.get(name, ())), *own.get(name, [])]
        return fields

    def show_parameters(self, name: str, rule: Rule | None) -> None:
        """Show the parameters of an optimizer or a schedule below the row where it is chosen; none without a
        ``rule``.

        Args:
            name: ``optimizer_params`` or ``schedule_params``; the parameters are the fields ``NAME.beta1``.
        """
        if self._rules.get(name) == rule:
            return
        if rule is None:
            self._rules.pop(name)
        else:
            self._rules[name] = rule
        chooser, settings = name.removesuffix("_params"), rule.parameters if rule is not None else ()
        self.form.set_dependents(
            chooser, [field_of(setting, f"{name}.{setting.name}", self.tr) for setting in settings]
        )
        if name == "schedule_params":
            self.form.set_row_visible("schedule_each", rule is not None and bool(rule.class_name))

    def _show_advanced(self, shown: bool) -> None:
        for name in ADVANCED:
            self.form.set_row_visible(name, shown)
        self.more.setText(self.tr("Fewer settings") if shown else self.tr("More settings"))

    def show_field(self, key: str) -> None:
        """Bring a field into sight and put the focus on it; its text is marked, to be typed over."""
        if key in ADVANCED:
            self.more.setChecked(True)
        self.show_control(self.form.control(key))

    def show_control(self, control: QWidget) -> None:
        """Bring a control of this panel into sight and put the focus on it."""
        control.setFocus(Qt.FocusReason.OtherFocusReason)
        if isinstance(control, QLineEdit):
            control.selectAll()
        around: QWidget | None = self
        while around is not None and not isinstance(around, QScrollArea):
            around = around.parentWidget()
        if around is not None:
            around.ensureWidgetVisible(control)

    def set_workers_missing(self, why: str) -> None:
        """Let several workers be chosen, or say next to the field why they can't."""
        self._workers_missing = why
        self.form.set_enabled_keys(name for name in self.form.keys() if not (why and name == "workers"))  # noqa: SIM118
        self._describe_workers()

    def show_data_path(self, path: str) -> None:
        """Name the row of own data after what it has: a file or a folder."""
        kind: Literal["folder", "file"] = "file" if Path(path).suffix.lower() in DATA_FILES else "folder"
        if kind != self._data_path:
            self._data_path = kind
            self.form.set_path("data_folder", kind)
            self._describe_data()

    def _describe_data(self) -> None:
        tr = self.tr
        if self._data_path == "file":
            words = tr("File"), tr("Choose an NPZ, HDF5 or CSV file; the page Data has more options")
        else:
            words = (
                tr("Folder"),
                tr("Choose a folder of images or IDX files; the page Data has more options"),
            )
        self.form.set_text("data_folder", *words)

    def _describe_workers(self) -> None:
        help_text, why = help_of(RUN_SETTINGS["workers"], self.tr), self._workers_missing
        self.form.set_text(
            "workers", self.tr(RUN_SETTINGS["workers"].title), f"{help_text}\n{why}" if why else help_text
        )

    def show_suggestion(self, working: bool, choices: list[str], cost: str) -> None:
        """A sentence for each setting that was suggested, and what a training with them takes."""
        self._working = working
        self.suggest.setText(self.tr("Looking at the data…") if working else self.tr("Suggest settings"))
        self.suggest.setEnabled(not working)
        self.choices.setText("\n".join(choices))
        self.choices.setVisible(bool(choices))
        self.cost.setText(cost)
        self.cost.setVisible(bool(cost))

    def show_fitting(self, problems: Mapping[str, str], chosen: str) -> None:
        """Grey the networks that do not fit the data, each with its reason, and say it of the chosen one."""
        if dict(problems) != self._misfits:
            self._misfits = dict(problems)
            self._offer("model", (FILE, self.tr("Own file…")), self._misfits)
        problem = problems.get(chosen, "")
        self.misfit.setText(self.tr("Does not fit the data: {0}").format(problem) if problem else "")
        self.misfit.setVisible(bool(problem))

    def show_expected_model(self, title: str, reason: str) -> None:
        """The title of the network that would be suggested, and why; empty while it is not known."""
        if (title, reason) != self._expected_model:
            self._expected_model = (title, reason)
            self._offer("model", (FILE, self.tr("Own file…")), self._misfits)
            self._explain_model()

    def _explain_model(self) -> None:
        setting, reason = RUN_SETTINGS["model"], self._expected_model[1]
        text = help_of(setting, self.tr)
        if reason:
            suggested = self.tr("Suggested: {0}").format(reason)
            text = f"{text}\n{suggested}"
        self.form.set_text("model", self.tr(setting.title), text)

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
        fields = {name: each for name, each in TRAIN_SETTINGS.items() if each.kind != "parameters"}
        retranslate_fields(form, fields, tr)
        self._explain_model()
        for name, rule in self._rules.items():
            retranslate_fields(form, {each.name: each for each in rule.parameters}, tr, f"{name}.")
        self._describe_data()
        form.set_text(
            "model_file",
            tr("File"),
            tr("Choose a Python file with an nn.Layer class; you agree to run it once"),
        )
        form.set_text("model_class", tr("Class", "of Python"), tr("The class of the network in the file"))
        self._describe_workers()
        self._offer("data", (FOLDER, tr("Own data…")))
        self._offer("model", (FILE, tr("Own file…")), self._misfits)
        self.show_suggestion(self._working, self.choices.text().splitlines(), self.cost.text())
        self.suggest.setToolTip(tr("Choose a model and settings that fit the data; what you changed stays"))
        self._show_advanced(self.more.isChecked())
        self._progress_title.setText(tr("Progress"))
        self._run_title.setText(tr("Run", "a training"))
        self.find_rate.setText(tr("Find learning rate…"))
        self.find_rate.setToolTip(
            tr("Try learning rates for a few steps and find where the loss falls fastest")
        )
        self.bar.setAccessibleName(tr("Progress of the training"))

    def _offer(self, name: str, other: tuple[str, str], reasons: Mapping[str, str] | None = None) -> None:
        """One more choice than those that are built in; those with a reason are grey."""
        titles = dict(RUN_SETTINGS[name].choices)
        if name == "model" and self._expected_model[0]:
            titles[AUTO] = self.tr("{0}: {1}").format(self.tr(titles[AUTO]), self._expected_model[0])
        choices = tuple((value, self.tr(title)) for value, title in titles.items())
        self.form.set_choices(name, (*choices, other), reasons)
