"""TrainingCommands: starts and resumes trainings, and hands commands on to the one that runs."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from pathlib import Path
from typing import Any

from psygnal import Signal

from resources.run_folders import new_run_folder
from studio.session import commands
from studio.session.command import Command
from studio.session.problem_view import problem_from_message
from studio.session.project.code_agreement import CodeCheck
from studio.session.project.run_look import RunLook
from studio.session.project.session_script import SessionScript
from studio.session.runs.run_queue import RunQueue
from studio.session.runs.run_titles import settings_of_run
from studio.session.runs.runs_folder import latest_checkpoint
from studio.session.train.next_run import NextRun
from studio.session.train.run_settings import RunSettings, setting_problems
from studio.session.train.train_job import Train
from studio.session.train.trainer import Trainer


class TrainingCommands(NextRun):
    """The part of the session that trains. What is read before a training begins is read in a thread in a
    window; ``train.preparing`` is true meanwhile.

    ``resuming`` is emitted before a run continues: the Run, and its history or the error of reading that.
    """

    trainer: Trainer
    queue: RunQueue
    script: SessionScript
    resuming = Signal(object, object)

    @abstractmethod
    def blocked(self, which: Command | str) -> str:
        """Why the command is not possible now; empty where it is possible."""

    @abstractmethod
    def execute(self, which: Command | str, **arguments: Any) -> str:
        """Carry out a command of the session; returns why not where it is not possible."""

    def start(self) -> None:
        """Begin a training with the settings shown, into a new folder."""
        settings = self.train.settings
        self.train.setting_problems = setting_problems(settings)
        self.train.update_why_not()
        if not self.blocked(commands.START):
            self._begin(settings, select=True)

    def _begin(self, settings: RunSettings, folder: Path | None = None, select: bool = False) -> None:
        runs = self.runs_folder

        def prepare() -> tuple[CodeCheck, Path, bool]:
            out = folder or new_run_folder(runs, settings.network, settings.static)
            # A trial of the queue that was interrupted.
            resume = folder is not None and bool(latest_checkpoint(folder)[1])
            return self._check(settings), out, resume

        def begin(found: tuple[CodeCheck, Path, bool]) -> None:
            self.train.prepare(False)
            check, out, resume = found
            if resume:
                self.resume_run(str(out))
            elif not self._refuse(check.code):
                self._train(settings.as_config(str(out)), False, check.digest, select=select)

        self.train.prepare(True)
        self.files.when_written(lambda: self.files.reading.do(prepare, begin))

    def use_corrections(self, folder: str = "") -> str:
        """Take the settings of the run in ``folder`` (else those shown) and the project's corrections for the
        next training; returns why not where that can't be."""
        reason = self.blocked(commands.TRAIN_CORRECTED)
        if reason:
            return reason
        run, settings = self.listed_run(folder) or self.run_in(folder), self.train.settings
        if run is not None and not run.of_script:
            try:
                settings = settings_of_run(run)
            except ValueError as error:  # of a run of another version
                return str(error)
        self._use_settings(replace(settings, corrections=str(self.corrections.path)))
        return ""

    def train_corrected(self, folder: str = "") -> None:
        """Train again as the run in ``folder`` did, on data with the project's corrections."""
        if not self.use_corrections(folder or self.selected_run):
            self.start()

    def resume_run(self, folder: str = "", epochs: int = 0) -> None:
        """Go on with a run from its newest checkpoint: that in ``folder``, or the selected one.

        Args:
            epochs: a new number of epochs, 0 to keep the recorded one.
        """
        folder = folder or self.selected_run
        if self.train.busy or self.train.preparing:
            return
        self.train.prepare(True)
        self.look_at_run(folder, lambda found: self._resume(folder, found, epochs))

    def _resume(self, folder: str, found: RunLook, epochs: int) -> None:
        self.train.prepare(False)
        run = found.run
        if run is None or not run.checkpoint:
            self._report(
                problem_from_message(
                    f"resume: there is no checkpoint: {folder or 'no run is selected'}; start a new run",
                    "Can't resume",
                )
            )
            return
        if run.of_script or run.in_use:
            self._report(problem_from_message(f"resume: {run.resumable}", "Can't resume"))
            return
        if self._refuse(found.check.code):
            return
        config = {**run.config, "out": run.path}
        if epochs:
            config["epochs"] = epochs
        self.resuming.emit(run, found.history)
        self._train(config, True, found.check.digest)

    def _train(self, config: dict[str, Any], resume: bool, agreed: str, select: bool = True) -> None:
        folder, job = str(config["out"]), Train(config, resume, agreed)
        self.script.record(job)  # first: what follows refreshes the commands
        followed = not self.selected_run or self.selected_run == self.train.folder
        self.train.begin(self._name_begun(folder, config), folder, resume)
        if select or followed:  # a queued run does not change the selection
            self.select_run(folder)
        self.trainer.start(job)

    def pause(self) -> None:
        self.trainer.command("pause")

    def resume(self) -> None:
        self.trainer.command("resume")

    def stop_early(self) -> None:
        self.trainer.command("stop_early")

    def interrupt(self) -> None:
        """Stop with a checkpoint, to be continued later; what is queued waits too."""
        self.queue.hold()
        self.trainer.command("interrupt")

    def cancel(self) -> None:
        self._begun = None
        self.trainer.command("cancel")

    def checkpoint_now(self) -> None:
        self.trainer.command("checkpoint_now")

    def _stop_training(self) -> None:
        """Cancel it in the list of tasks: gently, unless it does not answer."""
        self.execute(commands.END_PROCESS if self.train.unanswered else commands.STOP_EARLY)
