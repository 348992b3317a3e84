"""What the palette offers next to commands: settings, runs, models and recent projects."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject

from resources.settings import RUN_SETTINGS, Setting
from resources.settings.export import EXPORT_SETTINGS
from resources.settings.quantize import METHOD, QUANTIZE_FIELDS
from resources.settings.rate import RATE_SETTINGS
from resources.words import tr
from studio.session.project.project_file import SUFFIX
from studio.session.session import Session
from studio.windows.palette import Entry

# The beginning of a setting's name by its task, for ``focus_setting``; settings of a run have none.
OF_QUANTIZE, OF_EXPORT, OF_RATE = "quantize:", "export:", "rate:"


class PaletteEntries(QObject):
    """Makes the entries when the palette opens; each says what choosing it does.

    Args:
        show_run, open_project, load_model: get a path. focus_setting: gets the name of a setting.
    """

    def __init__(
        self,
        session: Session,
        parent: QObject,
        show_run: Callable[[str], object],
        open_project: Callable[[str], object],
        load_model: Callable[[str], object],
        focus_setting: Callable[[str], object],
        open_file: Callable[[str], object],
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._show_run, self._open_project = show_run, open_project
        self._load_model, self._focus_setting = load_model, focus_setting
        self._open_file = open_file

    def entries(self) -> list[tuple[Entry, Callable[[], object]]]:
        """Settings, runs, models, projects and files, in this order."""
        preferences = self._session.preferences
        found: list[tuple[Entry, Callable[[], object]]] = []
        for name, setting in RUN_SETTINGS.items():
            # The fields of parameters come with the rule that is chosen.
            if setting.kind != "parameters" and setting.group != "window":
                entry = self._of_setting(name, setting, self.tr("Setting: {0}"))
                found.append((entry, lambda name=name: self._focus_setting(name)))
        for prefix, task, settings in (
            (OF_EXPORT, self.tr("Export"), EXPORT_SETTINGS),
            (OF_QUANTIZE, self.tr("Quantize"), {METHOD.name: METHOD, **QUANTIZE_FIELDS}),
            (OF_RATE, self.tr("Learning-rate finder"), RATE_SETTINGS),
        ):
            for name, setting in settings.items():
                key = prefix + name
                entry = self._of_setting(key, setting, self.tr("Setting: {1}, {0}"), task)
                found.append((entry, lambda key=key: self._focus_setting(key)))
        for word, kind, paths, act in (
            (self.tr("Run", "a training"), "run", [run.path for run in self._session.runs], self._show_run),
            (self.tr("Model"), "model", preferences.recent_models, self._load_model),
            (self.tr("Project"), "project", preferences.recent_projects, self._open_project),
            (self.tr("File"), "file", preferences.recent_files, self._open_file),
        ):
            for path in paths:
                title = self.tr("{0}: {1}").format(word, Path(path).name.removesuffix(SUFFIX))
                found.append((Entry(f"{kind}:{path}", title, "", path), lambda path=path, act=act: act(path)))
        return found

    @staticmethod
    def _of_setting(key: str, setting: Setting, words: str, task: str = "") -> Entry:
        """A setting, which is found by its English title too."""
        title = words.format(tr(setting.title), task)
        english = "" if tr(setting.title) == setting.title else setting.title
        return Entry(f"setting:{key}", title, "", tr(setting.help), english=english)


def focus_setting(studio: Any, name: str) -> None:
    """Go to a setting in the pages of ``studio``, which are built when they are asked for."""
    for prefix, show in (
        (OF_QUANTIZE, lambda key: studio.export.quantize(key)),
        (OF_EXPORT, lambda key: studio.export.show_field(key)),
        (OF_RATE, lambda key: studio.rate_finder.show_field(key)),
    ):
        if name.startswith(prefix):
            show(name.removeprefix(prefix))
            return
    of_data = name in studio.data_panel.form.keys()  # noqa: SIM118  (a form is not a mapping)
    studio.frame.show_page("data" if of_data else "train")
    studio.window.right.show()
    if of_data:
        studio.data_panel.form.control(name).setFocus()
    else:
        studio.settings_panel.show_field(name)
