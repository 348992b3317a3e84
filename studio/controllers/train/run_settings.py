"""The settings of the next run: the form writes them into the session, and shows what is wrong with them."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject

from resources.processes import missing
from resources.settings import RULES_OF, RUN_SETTINGS, TRAIN_SETTINGS, Rule, rule_of
from resources.words import shown, tr
from studio.controllers.bindings import Bindings
from studio.controllers.train.device_list import DeviceList
from studio.controllers.train.open_fields import show_fields
from studio.session.code.user_models import classes_in, trouble_in
from studio.session.session import Session
from studio.session.train.run_settings import RunSettings, title_of
from studio.session.train.schedule_plan import plan_of
from studio.session.train.suggest.choice_view import with_choices
from studio.windows.project.welcome import Welcome
from studio.windows.setting_fields import as_set, as_shown
from studio.windows.train.settings_panel import FILE, FOLDER, SettingsPanel
from widgets.delayed import delayed

DASH = "\u2013"
PLAN_MS = 100
# The settings with a row of their own; data and model have several, parameters those of what they belong to.
SIMPLE = tuple(
    name
    for name, setting in TRAIN_SETTINGS.items()
    if setting.kind != "parameters" and name not in ("data", "model")
)


class RunSettingsController(QObject):
    """Joins the form to the settings. An invalid text stays until it is edited, or until other
    settings come (another project)."""

    def __init__(self, session: Session, panel: SettingsPanel, welcome: Welcome) -> None:
        super().__init__(panel)
        self._session, self._view, self._panel, self._welcome = session, session.train, panel, welcome
        self._marked: set[str] = set()
        self._showing = False
        self._wrong: list[str] = []
        self._trouble = ""  # with the file of an own model
        # While a number is typed only the last one matters.
        self._planning = delayed(self, PLAN_MS, self._show_plan)
        self.devices = DeviceList(panel.form.control("device"), self)
        self.devices.changed.connect(self._offer_devices)
        self._bonds = Bindings()
        self._bonds.show(self._view, "settings", self._show_settings)
        self._bonds.show(self._view, "setting_problems", self._show_problems)
        self._bonds.follow(self._view.events.settings, lambda _: self._planning.start())
        self._bonds.follow(session.data.events.expected, lambda _: self._show_expected())
        self._bonds.follow(self._view.events.train_samples, lambda _: self._planning.start())
        self._bonds.follow(session.project_opened, self._project_opened)
        self._bonds.again(self._planning.start)
        self._bonds.again(self._show_trouble)
        panel.form.changed.connect(self._edited)
        panel.form.errors_changed.connect(self._entries_checked)

    # ----- from the form to the session -----

    def _edited(self, key: str, value: Any) -> None:
        if self._showing:  # between two rows of one setting the form has a value that was never chosen
            return
        if key in SIMPLE or "." in key:
            self._session.change_setting(key, as_set(value))
        elif key in ("data", "data_folder"):
            self._show_rows()
            data = str(self._panel.form.value("data"))
            folder = str(self._panel.form.value("data_folder"))
            if data != FOLDER or folder:
                self._session.choose_data(folder if data == FOLDER else data)
        else:
            self._edited_model(key, value)
        self._entries_checked()

    def _edited_model(self, key: str, value: Any) -> None:
        form = self._panel.form
        if key == "model_file":
            self._offer_classes(str(value))
        self._show_rows()
        model, file, name = (str(form.value(key)) for key in ("model", "model_file", "model_class"))
        if model != FILE:
            self._session.change_setting("model", model)
        elif file and name:
            self._session.change_setting("model", f"{file}:{name}")

    def _offer_classes(self, file: str) -> None:
        form, names = self._panel.form, classes_in(file)
        form.set_choices("model_class", tuple((name, name) for name in names) or (("", DASH),))
        self._trouble = "" if names or not file else trouble_in(file)
        form.set_error("model_file", shown(self._trouble))

    def _show_trouble(self) -> None:
        if self._trouble:
            self._panel.form.set_error("model_file", shown(self._trouble))

    def look_again(self) -> None:
        """Read the user's own file anew: it may have been fixed, or spoiled, in an editor since."""
        form = self._panel.form
        if form.value("model") == FILE and form.value("model_file"):
            self._offer_classes(str(form.value("model_file")))
            self._edited("model_class", form.value("model_class"))

    def _show_rows(self) -> None:
        form = self._panel.form
        own_data, own_model = form.value("data") == FOLDER, form.value("model") == FILE
        form.set_row_visible("data_folder", own_data)
        self._panel.show_data_path(str(form.value("data_folder")))
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
        wrong = form.errors()
        for key in ("data_folder", "model_file"):
            if not form.value(key):
                wrong.setdefault(key, self.tr("Choose one"))
        self._wrong = [key for key in form.keys() if key in wrong and key not in hidden]  # noqa: SIM118
        problems = {form.label(key): wrong[key] for key in self._wrong}
        if list(problems.items()) != list(self._view.entry_problems.items()):
            self._view.entry_problems = problems
            self._view.update_why_not()

    # ----- from the session to the form -----

    def _project_opened(self) -> None:
        """Discard invalid texts: they were meant for another project."""
        self._panel.form.drop_entries()
        self._entries_checked()

    def _show_settings(self, settings: RunSettings) -> None:
        self._showing = True
        try:
            self._show_in_form(settings)
        finally:
            self._showing = False
        self._entries_checked()

    def _show_expected(self) -> None:
        self._show_settings(self._view.settings)
        self._planning.start()

    def _show_in_form(self, settings: RunSettings) -> None:
        form = self._panel.form
        self._offer_devices()
        for name, (chooser, _) in RULES_OF.items():
            rule = rule_of(name, getattr(settings, chooser))
            if settings.is_open(chooser):
                self._panel.show_parameters(name, None)
            elif rule is not None:
                self._panel.show_parameters(name, rule)
                self._show_parameters(name, rule, getattr(settings, name))
        expected = self._session.data.expected
        show_fields(form, SIMPLE, settings, expected, self)
        model = next((each for each in expected or () if each.setting == "model"), None)
        if model is None or settings.network != "auto":
            self._panel.show_expected_model("", "")
        else:
            self._panel.show_expected_model(shown(model.text), shown(model.reason))
        built_in = any(settings.data == name for name, _ in RUN_SETTINGS["data"].choices)
        if not built_in:
            form.set_value("data_folder", settings.data)
        form.set_value("data", settings.data if built_in else FOLDER)
        if settings.user_file:
            form.set_value("model_file", settings.user_file)
            self._show_classes(settings)
        form.set_value("model", FILE if settings.user_file else settings.model)
        # Where it can't be chosen, a project may still have chosen it: it can be taken back.
        self._panel.set_workers_missing(shown(missing()) if settings.workers == 1 else "")
        self._show_rows()
        self._welcome.set_choice(
            self._model_title(settings),
            self.tr("the built-in digits") if settings.data == "digits" else tr(title_of(settings.data)),
        )

    def _show_classes(self, settings: RunSettings) -> None:
        """The class that is chosen, then all of its file, which a thread reads."""
        form, file, name = self._panel.form, settings.user_file, settings.model.rpartition(":")[2]

        def take(found: tuple[str, ...]) -> None:
            if self._view.settings.user_file != file:
                return
            names = found or (name,)
            before, self._showing = self._showing, True
            form.set_choices("model_class", tuple((each, each) for each in names))
            if name in names:
                form.set_value("model_class", name)
            self._showing = before

        take((name,))
        self._session.files.reading.do(lambda: classes_in(file), take, "classes of the model")

    def _model_title(self, settings: RunSettings) -> str:
        if settings.network == "auto":
            return self.tr("a suggested model")
        return settings.model.rpartition(":")[2] if settings.user_file else tr(title_of(settings.network))

    def _offer_devices(self) -> None:
        self._panel.form.set_choices("device", *self.devices.choices(self._view.settings.device))

    def _show_parameters(self, name: str, rule: Rule, values: dict[str, Any]) -> None:
        for setting in rule.parameters:
            value = values.get(setting.name, setting.default)
            if setting.kind not in ("choice", "bool") or not setting.problem(value):
                self._panel.form.set_value(f"{name}.{setting.name}", as_shown(value))

    def _show_plan(self) -> None:
        settings, data = self._view.settings, self._session.data
        expected = data.expected
        known = settings.network != "auto" or expected is not None
        samples = data.facts.train if data.subject == settings.data else 0
        plan = plan_of(with_choices(settings, expected or ()), self._view, samples) if known else None
        if plan is None:
            self._panel.schedule.show_plan([], [], "step", "")
        else:
            self._panel.schedule.show_plan(plan.steps, plan.rates, plan.unit, shown(plan.words))

    def _show_problems(self, problems: dict[str, str]) -> None:
        form = self._panel.form
        rows = {
            "model": "model_file" if form.value("model") == FILE else "model",
            "data": "data_folder" if form.value("data") == FOLDER else "data",
            "optimizer_params": "optimizer",
            "schedule_params": "schedule",
        }
        marked = {rows.get(key, key): text for key, text in problems.items()}
        for key in self._marked - marked.keys():
            if key in form.keys():  # noqa: SIM118  (a form is not a mapping)
                form.set_error(key, "")
        for key, text in marked.items():
            if key in form.keys():  # noqa: SIM118
                form.set_error(key, shown(text))
        self._marked = set(marked)
        self._entries_checked()

    def focus_problem(self) -> None:
        """Put the focus on the first entry that is wrong, and bring it into sight."""
        if self._wrong:
            self._panel.show_field(self._wrong[0])

    def close(self) -> None:
        """Follow the session no longer."""
        self._planning.stop()
        self._bonds.release()
