"""The page Train: the view model fills figures, curves and matrix."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import cast

from PySide6.QtCore import QObject, QTimer, Signal

from resources import quantities
from resources.metrics import metric_of, speed_unit
from resources.words import shown
from studio.controllers.actions import Actions
from studio.controllers.bindings import Bindings
from studio.controllers.runs.run_facts import facts_of_run, facts_of_training
from studio.controllers.runs.run_follower import RunFollower
from studio.controllers.train import key_figures
from studio.controllers.train.curves import Curves, folder_of
from studio.controllers.train.layers import LayersController
from studio.controllers.train.run_settings import RunSettingsController
from studio.session import commands
from studio.session.command import Command
from studio.session.option_titles import with_titles
from studio.session.predict.model_choice import model_name
from studio.session.runs.run_history import RunHistory
from studio.session.runs.runs_folder import Run
from studio.session.session import Session
from studio.windows.top_bar import PageActions
from studio.windows.train.settings_panel import SettingsPanel
from studio.windows.train.train_page import TrainPage
from widgets import theme
from widgets.cards import Chip

DASH = "\u2013"
LOOK_MS = 500


class TrainController(QObject):
    """Shows the run that trains, or those that were chosen in the list of runs.

    ``run_shown`` carries the folder of the run in figures and matrix and its history, None for that of the
    run that trains.
    """

    run_shown = Signal(str, object)

    def __init__(
        self, session: Session, page: TrainPage, panel: SettingsPanel, bar: PageActions, actions: Actions
    ) -> None:
        super().__init__(page)
        self._session, self._page, self._panel, self._actions = session, page, panel, actions
        self._view = session.train
        self._bonds = Bindings()
        writing = session.files.writing
        page.curves.carry_out = lambda work, done: writing.attempt(
            work, lambda _: done(None), lambda error: done(cast(OSError, error)), (OSError,)
        )
        self._curves = Curves(page.curves.plots)
        self._layers = LayersController(session, page.curves.layers)
        self._chosen: list[str] = []
        self._history: RunHistory | None = None
        self._continues = False
        self._follower = RunFollower()
        self._chip = Chip()
        self._buttons = bar
        self.settings = RunSettingsController(session, panel, page.welcome)
        self._looking = QTimer(self)
        self._looking.setInterval(LOOK_MS)
        self._looking.timeout.connect(session.trainer.stall_detector.look)
        self._build_bar(bar)
        self._bind()

    def _build_bar(self, bar: PageActions) -> None:
        bar.add(self._chip)
        self._actions.fill_bar(bar, "train")

    def _bind(self) -> None:
        bonds, view, once = self._bonds, self._view, self._session.trainer.once
        bonds.show_any(view, ("state", "message", "epoch", "quiet", "unanswered"), self._show_state)
        bonds.show(view, "why_not", lambda _: self._show_allowed())
        bonds.show(view, "state", lambda _: self._watch())
        for signal in (view.events.state, self._session.selection.events.item):
            bonds.follow(signal, lambda _: self._show_middle())
        bonds.follow(self._session.selection.events.item, lambda _: self._show_state())
        self._page.diverged.find_requested.connect(lambda: self._actions.trigger(commands.FIND_OPERATOR))
        self._page.training_requested.connect(lambda: self._session.select_run(view.folder))
        bonds.show_any(
            view,
            (
                "state",
                "loss",
                "measured_epoch",
                "validation_accuracy",
                "validation_r2",
                "task",
                "baseline",
                "samples_per_second",
                "seconds_left",
            ),
            lambda: once.call(self._show_figures),
        )
        bonds.show_any(
            view,
            (
                "state",
                "step",
                "seconds_left",
                "evaluating",
                "last_checkpoint_step",
                "best_accuracy",
                "best_r2",
                "parameters",
                "learning_rate",
                "ranks",
            ),
            lambda: once.call(self._show_progress),
        )
        bonds.follow(view.events.baseline, self._curves.set_baseline)
        bonds.follow(view.events.task, lambda _: self._show_task())
        bonds.follow(view.new_points, self._curves.extend)
        bonds.follow(view.new_epoch, self._curves.end_epoch)
        bonds.follow(view.cleared, self._cleared)
        bonds.follow(view.rewound, self._rewound)
        bonds.follow(self._session.runs_changed, self._follow)
        bonds.follow(self._session.runs_changed, lambda _: self._show_names())
        bonds.follow(self._session.resuming, self._begin_again)
        bonds.follow(self._session.project_opened, lambda: self.show_runs([]))
        card = self._page.curves
        card.plot_added.connect(lambda name: self._curves.add_plot(name, card.plots[name]))
        card.axis_chosen.connect(self._curves.set_axis)
        card.curve_clicked.connect(lambda key: self._session.select_run(folder_of(key)))
        card.failed.connect(lambda text: self._actions.refused.emit(text))
        bonds.again(self._show_again)

    # ----- which run is shown -----

    def show_runs(self, folders: list[str]) -> None:
        """Show these runs, the first one in figures and matrix; none shows the offer to begin."""
        self._chosen = folders
        self._history = None
        self._page.clear_figures()
        others = [folder for folder in folders if folder != self._view.folder]
        if not others:
            self._show_histories(folders, {})
        else:
            self._page.show_welcome(False)
            self._session.read_histories(
                others, lambda found: self._show_histories(folders, found), "histories that are shown"
            )

    def _show_histories(self, folders: list[str], found: Mapping[str, RunHistory | Exception]) -> None:
        if folders != self._chosen:
            return  # others were chosen meanwhile
        live = self._view.folder
        histories = self._readable(found)
        self._history = histories.get(self.shown())
        runs = {run.path: run for run in self._session.runs}
        run = runs.get(self.shown())
        failed = isinstance(found.get(self.shown()), Exception)
        self._page.curves.set_readable(not failed and not (run is not None and run.unavailable))
        self._follower.begin([runs[folder] for folder in folders if folder in runs])
        self._curves.show(folders, live, histories, self._session.run_titles, self._session.run_colors)
        self._show_left_out()
        self._show_layers()
        self._continues = False
        self._show_all()

    def _begin_again(self, run: Run, history: RunHistory | Exception) -> None:
        """A run will go on: keep what its journal has up to the checkpoint."""
        self._continues = True
        if not isinstance(history, Exception):  # without its journal the curve begins at the checkpoint
            self._curves.continue_from(history, run.checkpoint_step)
            self._layers.begin([event for event in history.layers if event["step"] <= run.checkpoint_step])

    def shown(self) -> str:
        """The folder of the run in figures and matrix; empty for none."""
        return self._chosen[0] if self._chosen else ""

    def _readable(self, found: Mapping[str, RunHistory | Exception]) -> dict[str, RunHistory]:
        """Those that could be read; the reasons for the others are shown."""
        for history in found.values():
            if isinstance(history, Exception):
                self._actions.refused.emit(shown(str(history)))
        return {folder: each for folder, each in found.items() if not isinstance(each, Exception)}

    def _follow(self, runs: list[Run]) -> None:
        """Bring what is shown of runs that go on in other processes up to date."""
        others = [run for run in runs if run.path in self._chosen and run.path != self._view.folder]
        grown = self._follower.grown(others)
        if grown:
            self._session.read_histories(
                [run.path for run in grown], lambda found: self._grow(grown, found), "histories that grow"
            )

    def _grow(self, runs: list[Run], found: Mapping[str, RunHistory | Exception]) -> None:
        grown = {path: each for path, each in self._readable(found).items() if path in self._chosen}
        self._follower.take([run for run in runs if run.path in grown], self._session.reading_seconds)
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
            self._curves.set_task(self._view.task)
            self._layers.begin()
        self._page.clear_figures()

    def _rewound(self, step: int) -> None:
        self._curves.rewind(step)
        self.show_runs(self._chosen)

    # ----- what is shown -----

    def _show_middle(self) -> None:
        """The offer to begin, why the run that is shown could not, or its curves."""
        run, view = self._run(), self._view
        diverged = run is not None and len(self._chosen) == 1 and run.state == "diverged"
        self._page.diverged.show_step(run.step + 1 if run is not None and diverged else 0)
        if len(self._chosen) == 1 and self._is_live() and view.state == "failed" and not view.step:
            reason = shown(view.last_problem.message if view.last_problem else view.message)
            self._page.show_failure(self._session.run_title(view.folder), reason, details=True, find=diverged)
        elif len(self._chosen) == 1 and not self._is_live() and run and run.failed_early:
            name = self._session.run_title(run.path)
            self._page.show_failure(name, shown(with_titles(run.failure)), details=False)
        elif not self._chosen and self._session.selection.model:
            name = model_name(self._session.selection.model, self._session.run_titles)
            words = self.tr("{0} is a saved model: it has no training to show. Select a run.").format(name)
            self._page.show_no_run(words, self.tr("Show the training") if view.busy else "")
        else:
            self._page.show_welcome(not self._chosen)

    def _show_all(self) -> None:
        self._show_middle()
        self._show_subject()
        self._show_allowed()
        self._show_figures()
        self._show_progress()
        self.run_shown.emit(self.shown(), None if self._is_live() else self._history)

    def _show_task(self) -> None:
        self._curves.set_task(self._view.task)
        self._show_left_out()

    def _show_names(self) -> None:
        """Runs have other names or colours."""
        self._curves.describe(self._session.run_titles, self._session.run_colors)
        self._show_left_out()
        self._show_subject()
        if self._chosen:
            self._show_middle()
            self._panel.set_facts(self._facts())

    def _show_again(self) -> None:
        """Show in another language what no joint shows."""
        self._curves.draw_again()
        self._show_left_out()
        self._show_layers()
        self._show_middle()
        self._show_subject()

    def _show_subject(self) -> None:
        """With several runs, say whose figures are shown."""
        count = len(self._chosen)
        words = self.tr("Figures, layers and mistakes are those of {0}, the first of {1} runs.")
        self._page.set_subject(
            words.format(self._session.run_title(self.shown()), count) if count > 1 else ""
        )

    def _show_left_out(self) -> None:
        """Say which runs have another task than the first."""
        names = ", ".join(map(self._session.run_title, self._curves.left_out()))
        words = self.tr("Not drawn, since they predict something else than the first run: {0}.")
        self._page.curves.set_note(words.format(names) if names else "")

    def _show_layers(self) -> None:
        if self._is_live():
            self._layers.show_live()
        else:
            self._layers.show_run(self._history.layers if self._history else [])

    def _watch(self) -> None:
        """While a training runs, look now and then whether it still answers."""
        if self._view.busy != self._looking.isActive():
            self._looking.start() if self._view.busy else self._looking.stop()

    def _show_allowed(self) -> None:
        self._actions.refresh()
        self._show_state()

    def _show_state(self) -> None:
        view = self._view

        def show(*found: Command) -> None:
            self._buttons.show_only(*(each.id for each in found))

        end = (commands.END_PROCESS,) if view.unanswered else ()
        going = (commands.CHECKPOINT_NOW, commands.STOP_EARLY, commands.CANCEL, commands.ADD_TO_QUEUE, *end)
        if view.state == "paused":
            show(commands.RESUME, *going)
        elif view.busy:
            show(commands.PAUSE, *going)
        elif self._session.blocked(commands.RESUME_RUN):
            show(commands.START, commands.ADD_TO_QUEUE)
        else:
            show(commands.START, commands.ADD_TO_QUEUE, commands.RESUME_RUN)
        reason = "" if view.busy else self._actions.reason(commands.START)
        self._page.welcome.set_why_not(reason)
        text = shown(view.message)
        if view.state == "running" and view.epochs:
            text = self.tr("Epoch {0} of {1}").format(max(view.epoch, 1), view.epochs)
        text = shown(view.waiting) or text
        selected = self._session.selected_run in ("", view.folder)
        if not selected:
            text = self.tr("{0}: {1}").format(
                self._session.run_titles.get(view.folder) or view.run_name, text
            )
        self._chip.setText(reason or text)
        self._chip.setToolTip(reason or shown(view.waiting or view.message))
        said = view.state != "idle" or bool(view.folder)
        self._chip.setVisible(bool(reason) or (said and (selected or view.busy)))

    def _show_figures(self) -> None:
        page, view = self._page, self._view
        if not self._chosen:
            return
        if self._is_live():
            self._show_measured(view.task, *key_figures.of_training(view, self))
            speed = theme.format_number(view.samples_per_second, self.tr(view.speed_unit), digits=3)
            page.set_figure("throughput", speed if view.samples_per_second else DASH)
            page.set_figure("left", time_left(view.seconds_left) if view.busy else DASH)
            return
        history = self._history or RunHistory()
        self._show_measured(history.task, *key_figures.of_run(history, self))
        run = self._run()
        speed = math.nan if run is None else run.samples_per_second
        unit = self.tr(speed_unit("" if run is None else run.kind))
        note = self.tr("median of the last steps")
        known = not math.isnan(speed)
        words = theme.format_number(speed, unit, digits=3) if known else DASH
        page.set_figure("throughput", words, note=note if known else "")
        page.set_figure("left", DASH)

    def _show_measured(self, task: str, loss: key_figures.Figure, reached: key_figures.Figure) -> None:
        self._page.set_task(task)
        self._page.set_figure("loss", loss.value, note=loss.note)
        text = metric_of(task).text(reached.value)
        self._page.set_figure("accuracy", text, note=reached.note)

    def _show_progress(self) -> None:
        view, panel = self._view, self._panel
        share = view.progress if view.busy and view.total_steps else None
        step, total = theme.format_number(view.step), theme.format_number(view.total_steps)
        if view.evaluating:
            words = self.tr("step {0} of {1} · reading the test images").format(step, total)
        elif not math.isnan(view.seconds_left):
            left = time_left(view.seconds_left)
            words = self.tr("step {0} of {1} · {2} left").format(step, total, left)
        else:
            words = self.tr("step {0} of {1}").format(step, total)
        panel.set_progress(share, words)
        panel.set_facts(self._facts())

    def _facts(self) -> list[tuple[str, str]]:
        view, run = self._view, self._run()
        if self._is_live() and view.parameters:
            return facts_of_training(view, self._session.run_title(view.folder), self)
        return [] if run is None else facts_of_run(run, self._session.run_title(run.path), self)

    def close(self) -> None:
        """Follow the view model no longer."""
        self._layers.close()
        self.settings.close()
        self._looking.stop()
        self._bonds.release()


def time_left(seconds: float) -> str:
    """An estimate in whole seconds: thousandths of one would only flicker."""
    return quantities.duration(math.ceil(seconds) if math.isfinite(seconds) else seconds, whole=True)
