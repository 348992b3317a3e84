"""The page Train: the form writes the settings, the view model fills figures, curves and matrix."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

from PySide6.QtCore import QObject

from resources.processes import missing
from resources.settings import RULES_OF, RUN_SETTINGS, TRAIN_SETTINGS, Rule, rule_of
from studio.controllers import key_figures
from studio.controllers.actions import Actions
from studio.controllers.binders import Bonds
from studio.controllers.curves import Curves, folder_of
from studio.controllers.follower import Follower
from studio.controllers.layers import LayersController
from studio.controllers.run_facts import facts_of_run, facts_of_training
from studio.session.runs import Run, RunHistory
from studio.session.session import Session
from studio.session.settings import RunSettings, title_of
from studio.session.user_models import classes_in
from studio.windows.sample_pictures import Sample
from studio.windows.setting_fields import as_set, as_shown
from studio.windows.settings_panel import FILE, FOLDER, SettingsPanel
from studio.windows.top_bar import PageActions
from studio.windows.train_page import TrainPage
from widgets import theme
from widgets.cards import Chip

DASH = "\u2013"
# The settings with a row of their own; data and model have several, parameters those of what they belong to.
SIMPLE = tuple(
    name
    for name, setting in TRAIN_SETTINGS.items()
    if setting.kind != "parameters" and name not in ("data", "model")
)


class TrainController(QObject):
    """Shows the run that trains, or those that were chosen in the list of runs."""

    def __init__(
        self, session: Session, page: TrainPage, panel: SettingsPanel, bar: PageActions, actions: Actions
    ) -> None:
        super().__init__(page)
        self._session, self._page, self._panel, self._actions = session, page, panel, actions
        self._view = session.train
        self._bonds = Bonds()
        self._curves = Curves(page.curves.plots)
        self._layers = LayersController(session, page.curves.layers)
        self._chosen: list[str] = []
        self._history: RunHistory | None = None
        self._continues = False
        self._marked: set[str] = set()
        self._follower = Follower(self._read)
        self._chip = Chip()
        self._buttons = bar
        self._build_bar(bar)
        self._bind()

    def _build_bar(self, bar: PageActions) -> None:
        bar.add(self._chip)
        for name, icon, role in (
            ("resume_run", "refresh", ""), ("resume", "play", "primary"), ("pause", "pause", ""),
            ("checkpoint_now", "download", ""), ("stop_early", "stop", ""), ("cancel", "cancel", ""),
            ("add_to_queue", "clock", ""), ("start", "play", "primary"),
        ):  # fmt: skip
            bar.add_action(self._actions[name], icon, role)

    def _bind(self) -> None:
        bonds, view = self._bonds, self._view
        for name in ("state", "message", "epoch", "why_not"):
            bonds.show(view, name, lambda _: self._show_state())
        for name in (
            "state",
            "loss",
            "measured_epoch",
            "validation_accuracy",
            "samples_per_second",
            "seconds_left",
        ):
            bonds.show(view, name, lambda _: self._show_figures())
        for name in ("state", "step", "seconds_left", "evaluating", "last_checkpoint_step", "best_accuracy",
                     "parameters", "learning_rate", "ranks"):  # fmt: skip
            bonds.show(view, name, lambda _: self._show_progress())
        bonds.show(view, "confusion", lambda _: self._show_confusion())
        bonds.show(view, "pictures", lambda _: self._show_confusion())
        bonds.show(view, "settings", self._show_settings)
        bonds.show(view, "setting_problems", self._show_problems)
        bonds.follow(view.new_points, self._curves.extend)
        bonds.follow(view.new_epoch, self._curves.end_epoch)
        bonds.follow(view.cleared, self._cleared)
        bonds.follow(view.rewound, self._rewound)
        bonds.follow(self._session.runs_changed, self._follow)
        card = self._page.curves
        card.plot_added.connect(lambda name: self._curves.add_plot(name, card.plots[name]))
        card.axis_chosen.connect(self._curves.set_axis)
        card.curve_clicked.connect(lambda key: self._session.select_run(folder_of(key)))
        card.failed.connect(lambda text: self._actions.refused.emit("export_curves", text))
        form = self._panel.form
        form.changed.connect(self._edited)
        form.validity_changed.connect(lambda _: self._entries_checked())

    # ----- settings -----

    def _edited(self, key: str, value: Any) -> None:
        if key in SIMPLE or "." in key:
            self._session.change_setting(key, as_set(value))
        elif key in ("data", "data_folder"):
            self._show_rows()
            data = str(self._panel.form.value("data"))
            folder = str(self._panel.form.value("data_folder"))
            if data != FOLDER or folder:
                self._session.change_setting("data", folder if data == FOLDER else data)
        else:
            self._edited_model(key, value)
        self._entries_checked()

    def _edited_model(self, key: str, value: Any) -> None:
        form = self._panel.form
        if key == "model_file":
            names = classes_in(str(value))
            form.set_choices("model_class", tuple((name, name) for name in names) or (("", DASH),))
            form.set_error("model_file", "" if names else self.tr("No class is found in this file"))
        self._show_rows()
        model, file, name = (str(form.value(key)) for key in ("model", "model_file", "model_class"))
        if model != FILE:
            self._session.change_setting("model", model)
        elif file and name:
            self._session.change_setting("model", f"{file}:{name}")

    def _show_rows(self) -> None:
        form = self._panel.form
        own_data, own_model = form.value("data") == FOLDER, form.value("model") == FILE
        form.set_row_visible("data_folder", own_data)
        form.set_row_visible("model_file", own_model)
        form.set_row_visible("model_class", own_model)

    def _entries_checked(self) -> None:
        """What is typed but no value blocks Start, unless its row is not even shown."""
        form = self._panel.form
        hidden = set()
        if form.value("data") != FOLDER:
            hidden.add("data_folder")
        if form.value("model") != FILE:
            hidden |= {"model_file", "model_class"}
        wrong = {form.label(key): text for key, text in form.errors().items() if key not in hidden}
        for key in ("data_folder", "model_file"):
            if key not in hidden and not form.value(key):
                wrong[form.label(key)] = self.tr("Choose one")
        if wrong != self._view.entry_problems:
            self._view.entry_problems = wrong
            self._view.update_why_not()

    def _show_settings(self, settings: RunSettings) -> None:
        form = self._panel.form
        devices = RUN_SETTINGS["device"].choices
        if settings.device not in dict(devices):  # a certain one of several GPUs
            devices = (*devices, (settings.device, settings.device))
        form.set_choices("device", devices)
        for name, (chooser, _) in RULES_OF.items():
            rule = rule_of(name, getattr(settings, chooser))
            if rule is not None:
                self._panel.show_parameters(name, rule)
                self._show_parameters(name, rule, getattr(settings, name))
        for key in SIMPLE:
            setting = RUN_SETTINGS[key]
            if setting.kind != "choice" or not setting.problem(getattr(settings, key)):
                form.set_value(key, getattr(settings, key))
        built_in = settings.data in ("digits", "mnist")
        if not built_in:
            form.set_value("data_folder", settings.data)
        form.set_value("data", settings.data if built_in else FOLDER)
        if settings.user_file:
            form.set_value("model_file", settings.user_file)
            names = classes_in(settings.user_file) or (settings.model.rpartition(":")[2],)
            form.set_choices("model_class", tuple((name, name) for name in names))
            name = settings.model.rpartition(":")[2]
            if name in names:
                form.set_value("model_class", name)
        form.set_value("model", FILE if settings.user_file else settings.model)
        # Where it can't be chosen, a project may still have chosen it: it can be taken back.
        self._panel.set_workers_missing(missing() if settings.workers == 1 else "")
        self._show_rows()
        self._page.welcome.set_choice(
            settings.model.rpartition(":")[2] if settings.user_file else title_of(settings.model),
            self.tr("the built-in digits") if settings.data == "digits" else title_of(settings.data),
        )

    def _show_parameters(self, name: str, rule: Rule, values: dict[str, Any]) -> None:
        for setting in rule.parameters:
            value = values.get(setting.name, setting.default)
            if setting.kind not in ("choice", "bool") or not setting.problem(value):
                self._panel.form.set_value(f"{name}.{setting.name}", as_shown(value))

    def _show_problems(self, problems: dict[str, str]) -> None:
        form = self._panel.form
        rows = {"model": "model_file" if form.value("model") == FILE else "model",
                "data": "data_folder" if form.value("data") == FOLDER else "data",
                "optimizer_params": "optimizer", "schedule_params": "schedule"}  # fmt: skip
        marked = {rows.get(key, key): text for key, text in problems.items()}
        for key in self._marked - marked.keys():
            if key in form.keys():  # noqa: SIM118  (a form is no mapping)
                form.set_error(key, "")
        for key, text in marked.items():
            if key in form.keys():  # noqa: SIM118
                form.set_error(key, text)
        self._marked = set(marked)

    def focus_problem(self) -> None:
        """Put the focus on the first entry that is wrong."""
        wrong = next(iter(self._panel.form.errors()), "")
        if wrong:
            self._panel.form.control(wrong).setFocus()

    # ----- which run is shown -----

    def show_runs(self, folders: list[str]) -> None:
        """Show these runs, the first one in figures and matrix; none shows the offer to begin."""
        self._chosen = folders
        self._history = None
        live = self._view.folder
        first = folders[0] if folders else ""
        self._page.clear_figures()
        histories = {folder: history for folder in folders if (history := self._read(folder)) is not None}
        self._history = histories.get(first)
        runs = {run.path: run for run in self._session.runs}
        self._follower.begin([runs[folder] for folder in folders if folder in runs])
        titles = {folder: self._session.run_titles[folder] for folder in folders if folder in runs}
        colors = {run.path: len(runs) - 1 - place for place, run in enumerate(self._session.runs)}
        self._curves.show(folders, live, histories, titles, colors)
        self._show_layers()
        self._continues = False
        self._page.show_welcome(not folders)
        self._show_all()

    def begin_again(self, folder: str) -> None:
        """A run will go on: keep what its journal has up to the checkpoint."""
        run = self._session.run_in(folder)
        self._continues = run is not None
        if run is not None:
            with suppress(Exception):  # without its journal the curve begins at the checkpoint
                history, step = self._session.history(folder), run.checkpoint_step
                self._curves.continue_from(history, step)
                self._layers.begin([event for event in history.layers if event["step"] <= step])

    def shown(self) -> str:
        """The folder of the run in figures and matrix; empty for none."""
        return self._chosen[0] if self._chosen else ""

    def _read(self, folder: str) -> RunHistory | None:
        if folder == self._view.folder:
            return None
        try:
            return self._session.history(folder)
        except Exception as error:
            self._actions.refused.emit("history", str(error))
            return None

    def _follow(self, runs: list[Run]) -> None:
        """Bring what is shown of runs that go on in other processes up to date."""
        others = [run for run in runs if run.path in self._chosen and run.path != self._view.folder]
        grown = self._follower.news(others)
        for folder, history in grown.items():
            self._curves.grow(folder, history)
        self._history = grown.get(self.shown(), self._history)
        if self.shown() in grown:
            self._show_layers()
        if grown:
            self._show_all()

    def _is_live(self) -> bool:
        return bool(self._chosen) and self._chosen[0] == self._view.folder

    def _run(self) -> Run | None:
        return next((run for run in self._session.runs if run.path == self.shown()), None)

    def _cleared(self) -> None:
        if not self._continues:
            self._curves.forget_live()
            self._layers.begin()
        self._page.clear_figures()

    def _rewound(self, step: int) -> None:
        self._curves.rewind(step)
        self.show_runs(self._chosen)

    # ----- what is shown -----

    def _show_all(self) -> None:
        self._show_state()
        self._show_figures()
        self._show_progress()
        self._show_confusion()

    def _show_layers(self) -> None:
        if self._is_live():
            self._layers.show_live()
        else:
            self._layers.show_run(self._history.layers if self._history else [])

    def _show_state(self) -> None:
        view, shown = self._view, self._buttons.show_only
        self._actions.refresh()
        if view.state == "paused":
            shown("resume", "checkpoint_now", "stop_early", "cancel", "add_to_queue")
        elif view.busy:
            shown("pause", "checkpoint_now", "stop_early", "cancel", "add_to_queue")
        elif self._session.blocked("resume_run"):
            shown("start", "add_to_queue")
        else:
            shown("start", "add_to_queue", "resume_run")
        reason = "" if view.busy else view.why_not.get("start", "")
        self._page.welcome.set_why_not(reason)
        text = view.message
        if view.state == "running" and view.epochs:
            text = self.tr("Epoch {0} of {1}").format(max(view.epoch, 1), view.epochs)
        self._chip.setText(reason or text)
        self._chip.setToolTip(reason or view.message)
        self._chip.setVisible(bool(reason) or view.state != "idle" or bool(view.folder))

    def _show_figures(self) -> None:
        page, view = self._page, self._view
        if not self._chosen:
            return
        if self._is_live():
            self._show_measured(*key_figures.of_training(view, self))
            speed = theme.format_number(view.samples_per_second, self.tr("img/s"), digits=3)
            page.set_figure("throughput", speed if view.samples_per_second else DASH)
            page.set_figure("left", time_left(view.seconds_left) if view.busy else DASH)
            return
        history = self._history or RunHistory()
        self._show_measured(*key_figures.of_run(history.epochs, history.losses, self))
        page.set_figure("throughput", math.nan)
        page.set_figure("left", DASH)

    def _show_measured(self, loss: key_figures.Figure, accuracy: key_figures.Figure) -> None:
        self._page.set_figure("loss", loss.value, note=loss.note)
        self._page.set_figure("accuracy", accuracy.value * 100, "%", accuracy.note)

    def _show_progress(self) -> None:
        view, panel = self._view, self._panel
        share = view.progress if view.busy and view.total_steps else None
        words = self.tr("step {0} of {1}").format(
            theme.format_number(view.step), theme.format_number(view.total_steps)
        )
        if view.evaluating:
            words += " · " + self.tr("reading the test pictures")
        elif not math.isnan(view.seconds_left):
            words += " · " + self.tr("{0} left").format(time_left(view.seconds_left))
        panel.set_progress(share, words)
        panel.set_facts(self._facts())

    def _facts(self) -> list[tuple[str, str]]:
        view, run = self._view, self._run()
        if self._is_live() and view.parameters:
            return facts_of_training(view, self)
        return [] if run is None else facts_of_run(run, self)

    def _show_confusion(self) -> None:
        page, view = self._page, self._view
        if not self._is_live():
            history = self._history
            page.set_confusion(history.confusion if history else [], history.classes if history else ())
            page.set_hardest([])
            return
        page.set_confusion(view.confusion, view.classes)
        samples = []
        pictures = view.pictures if view.pictures is not None else ()
        for hard, picture in zip(view.hardest, pictures, strict=False):
            names = view.classes or tuple(str(i) for i in range(1000))
            samples.append(Sample(
                picture.reshape(picture.shape[-2:]), names[hard["label"]], names[hard["predicted"]],
                float(hard["probability"]), int(hard["index"]),
            ))  # fmt: skip
        page.set_hardest(samples)

    def close(self) -> None:
        """Follow the view model no longer."""
        self._layers.close()
        self._bonds.release()


def time_left(seconds: float) -> str:
    """An estimate in whole seconds: thousandths of one would only flicker."""
    return theme.format_duration(float(math.ceil(seconds)) if math.isfinite(seconds) else seconds)
