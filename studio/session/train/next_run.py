"""NextRun: the project's settings for the next training, as they are changed, undone and checked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from resources.settings import DATA_SETTINGS, RUN_SETTINGS, SUGGESTED
from studio.session.project.agreed_library import AgreedLibrary
from studio.session.project.undo import Change
from studio.session.runs.run_titles import settings_of_run
from studio.session.train.run_settings import RunSettings, setting_problems, title_of_setting
from studio.session.train.train_view import TrainViewModel

OF_ONE_DATA = ("kind", "task", "input_name", "label_name", "exclude", "include", "split")
"""Settings that mean something in the data that they were chosen for, and nothing in other data."""


class NextRun(AgreedLibrary):
    """A library of runs with what the next one shall be; ``train`` shows it.

    Args:
        runs_folder: where runs go while there is no project file.
    """

    def __init__(self, runs_folder: Path | None = None) -> None:
        super().__init__(runs_folder)
        self._suggested: dict[str, Any] = {}
        self.train: TrainViewModel = TrainViewModel(settings=self.project.settings)
        self.project_changed.connect(lambda project: self._use_settings(project.settings))

    def change_setting(self, name: str, value: Any) -> None:
        """Change one setting, or one parameter such as ``optimizer_params.beta1``, of the next training.

        What is wrong with it shows in ``train.setting_problems``. Can be undone.

        Raises:
            ValueError: no such setting, or a value of the wrong type.
        """
        self.change_settings({name: value}, f"Change {title_of_setting(name)}", name)

    def change_settings(self, values: Mapping[str, Any], title: str, key: str = "") -> None:
        """Change several settings of the next training as one step of undo, which ``title`` names.

        Args:
            key: changes of the same key right after each other are one step.

        Raises:
            ValueError: no such setting, or a value of the wrong type.
        """
        before = after = self.train.settings
        for name, value in values.items():
            after = after.changed(name, value)
        self._use_settings(after)
        if after != before:
            self.undo_stack.push(
                Change(title, lambda: self._use_settings(before), lambda: self._use_settings(after), key)
            )

    def choose_data(self, name: str) -> None:
        """Take other data for the next training: a built-in name, or a path. What was set for the data
        before,
        such as its target, begins anew."""
        changes: dict[str, Any] = {"data": name}
        if name != self.train.settings.data:
            changes |= {each: DATA_SETTINGS[each].default for each in OF_ONE_DATA}
            changes |= self.suggested_before()
        self.change_settings(changes, f"Change {title_of_setting('data')}", "data")
        if name and name not in dict(RUN_SETTINGS["data"].choices):
            self.remember_file(name)

    def use_suggestion(self, values: Mapping[str, Any]) -> None:
        """Take suggested settings, as one step of undo."""
        self._suggested = dict(values)
        # A parameter means something with its optimizer, schedule or network only: those come first.
        names = sorted(values, key=lambda name: name.endswith("_params"))
        self.change_settings({name: values[name] for name in names}, "Suggest settings")

    def suggested_before(self) -> dict[str, Any]:
        """Settings that still have the last suggested value, each with what leaves it open again."""
        settings = self.train.settings
        return {
            name: None if name in SUGGESTED else RUN_SETTINGS[name].default
            for name, value in self._suggested.items()
            if getattr(settings, name) == value
        }

    def _use_settings(self, settings: RunSettings) -> None:
        super()._use_settings(settings)
        self.train.settings = settings
        self.train.setting_problems = setting_problems(settings)
        self.train.update_why_not()

    def duplicate_run(self, folder: str = "") -> None:
        """Put the settings of a run, by default the selected one, in the place of those shown.

        Raises:
            ValueError: it has settings that no training here takes.
        """
        run = self.listed_run(folder or self.selected_run)
        if run is not None:
            before, after = self.train.settings, settings_of_run(run)
            self._use_settings(after)
            undo, redo = lambda: self._use_settings(before), lambda: self._use_settings(after)
            self.undo_stack.push(Change("Take settings of a run", undo, redo))

    def restore_project(self, path: Path | None) -> None:
        super().restore_project(path)
        # Not checked yet: that may import the engine.
        self.train.settings = self.project.settings
