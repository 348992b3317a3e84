"""NextRun: the project's settings for the next training, as they are changed, undone and checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from studio.session.project.library import Library
from studio.session.project.undo import Change
from studio.session.runs.run_titles import settings_of_run
from studio.session.train.run_settings import RunSettings, setting_problems, title_of_setting
from studio.session.train.train_view import TrainViewModel


class NextRun(Library):
    """A library of runs with what the next one shall be; ``train`` shows it.

    Args:
        runs_folder: where runs go while there is no project file.
    """

    def __init__(self, runs_folder: Path | None = None) -> None:
        super().__init__(runs_folder)
        self.train: TrainViewModel = TrainViewModel(settings=self.project.settings)
        self.project_changed.connect(lambda project: self._use_settings(project.settings))

    def change_setting(self, name: str, value: Any) -> None:
        """Change one setting, or one parameter such as ``optimizer_params.beta1``, of the next training.

        What is wrong with it shows in ``train.setting_problems``. Can be undone.

        Raises:
            ValueError: no such setting, or a value of the wrong type.
        """
        before = self.train.settings
        after = before.changed(name, value)
        self._use_settings(after)
        if after != before:
            title = f"Change {title_of_setting(name)}"
            self.undo_stack.push(
                Change(title, lambda: self._use_settings(before), lambda: self._use_settings(after), name)
            )

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
