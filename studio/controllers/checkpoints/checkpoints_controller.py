"""Opens the window of a run's checkpoints and fills it: slider, playing, weights, measurements, answers."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget

from resources import quantities
from resources.metrics import metric_of
from resources.words import shown
from studio.controllers.actions import Actions
from studio.controllers.agreements import after_agreement
from studio.controllers.bindings import Bindings
from studio.controllers.drawing_files import ask_for_drawing
from studio.controllers.train.number_errors import worst_rows
from studio.session import commands
from studio.session.checkpoints.checkpoints_view import Measured
from studio.session.predict.digit_images import ImageError, fit_digit
from studio.session.runs.runs_folder import CHECKPOINTS
from studio.session.session import Session
from studio.windows.train.sample_images import Sample
from widgets import theme

if TYPE_CHECKING:
    from studio.windows.checkpoints.checkpoints_window import CheckpointsWindow

MOST_HARD = 12
MOST_POINTS = 2000


class CheckpointsController(QObject):
    """Carries out the command ``show_checkpoints``."""

    def __init__(self, session: Session, window: QWidget, actions: Actions) -> None:
        super().__init__(window)
        self._session, self._window, self._actions = session, window, actions
        self._checkpoints, self._view = session.checkpoints, session.checkpoints.view
        self._dialog: CheckpointsWindow | None = None
        self._playing = QTimer(self)
        self._playing.timeout.connect(self._play_on)
        self._drawn = False
        self._target = 0  # of a run that predicts numbers, the one whose errors are shown
        self._bonds = Bindings()
        actions.handle(commands.SHOW_CHECKPOINTS, self.open)

    @property
    def dialog(self) -> CheckpointsWindow | None:
        """The window, once it was opened."""
        return self._dialog

    def open(self) -> str:
        """Show the checkpoints of the selected run."""
        reason = self._session.blocked(commands.SHOW_CHECKPOINTS)
        if reason:
            return reason
        dialog = self._made()
        self._pause()
        self._drawn = False
        self._checkpoints.show(self._session.selected_run)
        self._show_run()
        dialog.show()
        dialog.raise_()
        dialog.activateWindow()
        dialog.bar.slider.setFocus()
        return ""

    def _made(self) -> CheckpointsWindow:
        from studio.windows.checkpoints.checkpoints_window import CheckpointsWindow

        if self._dialog is None:
            self._dialog = dialog = CheckpointsWindow(self._window)
            bar = dialog.bar
            bar.place_chosen.connect(self._go)
            bar.step_asked.connect(self._step)
            bar.play_toggled.connect(self.toggle)
            bar.speed_chosen.connect(lambda speed: self._playing.setInterval(1000 // speed))
            dialog.curve.chart.x_clicked.connect(self._go_to_step)
            dialog.weights.layer_chosen.connect(self._checkpoints.choose_layer)
            dialog.hard_chosen.connect(self._ask_about_hard)
            dialog.target_chosen.connect(self._choose_target)
            dialog.sample.drawn.connect(self._ask_about_drawing)
            dialog.sample.clear_requested.connect(self._begin_drawing)
            dialog.sample.predict_requested.connect(self._checkpoints.of_predict.take)
            dialog.sample.agreed.connect(self._allow)
            dialog.closed.connect(self._closed)
            dialog.measure_requested.connect(self.measure)
            dialog.save_requested.connect(self.save)
            dialog.cancel_requested.connect(self._checkpoints.animation.cancel)
            self._bind()
        return self._dialog

    def _bind(self) -> None:
        show, view = self._bonds.show, self._view
        for name in ("checkpoints", "place", "measured", "listed", "waiting", "left_out"):
            show(view, name, lambda _: self._show_place())
        for name in ("layers", "layer"):
            show(view, name, lambda _: self._show_layers())
        for name in ("weights", "why_no_weights"):
            show(view, name, lambda _: self._show_weights())
        for name in ("table", "classes", "measured", "computed", "measuring", "place"):
            show(view, name, lambda _: self._show_table())
        for name in ("hardest", "worst"):
            show(view, name, lambda _: self._show_hardest())
        show(view, "history", lambda _: self._show_curve())
        for name in ("sample", "ranking", "numbers", "asks_code", "why_no_answer", "input_form"):
            show(view, name, lambda _: self._show_answer())
        self._bonds.follow(self._session.predict.events.fed, lambda _: self._show_answer())
        self._bonds.follow(self._checkpoints.answers.maps.view.events.found, lambda _: self._show_map())
        self._bonds.follow(view.events.folder, self._follow_folder)
        self._bonds.follow(self._checkpoints.animation.changed, self._show_saving)
        self._bonds.follow(self._session.runs_changed, lambda _: self._show_run())

    # ----- moving -----

    def toggle(self) -> None:
        """Play, or pause."""
        if self._playing.isActive():
            self._pause()
        elif len(self._view.checkpoints) > 1:
            if self._view.place == len(self._view.checkpoints) - 1:
                self._checkpoints.go(0)
            self._playing.start(1000 // self._made().bar.chosen_speed())
            self._made().bar.show_playing(True)

    def _pause(self) -> None:
        self._playing.stop()
        if self._dialog is not None:
            self._dialog.bar.show_playing(False)

    def _play_on(self) -> None:
        """The next checkpoint, once this one is shown; the last one ends it."""
        if not self._checkpoints.busy and not self._checkpoints.step(1):
            self._pause()

    def _go(self, place: int) -> None:
        self._pause()
        self._checkpoints.go(place)

    def _go_to_step(self, step: float) -> None:
        self._pause()
        self._checkpoints.go_to_step(step)

    def _step(self, by: int) -> None:
        self._pause()
        self._checkpoints.step(by)

    # ----- what is shown -----

    def _show_run(self) -> None:
        if self._dialog is not None and self._view.folder:
            self._dialog.show_run(self._session.run_title(self._view.folder))

    def _show_place(self) -> None:
        dialog, view, tr = self._dialog, self._view, self.tr
        if dialog is None:
            return
        current = view.current
        place = str(Path(view.folder, CHECKPOINTS)) + os.sep
        reasons = [shown(each.reason).replace(place, "") for each in view.left_out]
        dialog.show_left_out(view.left_out, reasons)
        if current is None:
            reading = view.waiting or not view.listed
            dialog.show_nothing(
                tr("Reading the checkpoints…")
                if reading
                else tr("This run has no checkpoint that can be read.")
            )
            dialog.show_hint("")
            return
        words = tr("step {0} · epoch {1} · {2} of {3}").format(
            theme.format_number(current.step), current.epoch, view.place + 1, len(view.checkpoints)
        )
        if current.best:
            words += " · " + tr("best")
        dialog.show_checkpoint(view.place, len(view.checkpoints), words, self._measured_words(view.measured))
        dialog.curve.chart.set_position(current.step)
        dialog.show_hint(self._hint())

    def _hint(self) -> str:
        view, tr = self._view, self.tr
        if view.waiting:
            return tr("Checking {0} more checkpoints…").format(view.waiting)
        if view.listed and len(view.checkpoints) < 2:
            return tr(
                "There is only one checkpoint. Keep last, under More settings, says how many a run keeps."
            )
        return ""

    def _measured_words(self, measured: Measured | None) -> str:
        """What was measured at the checkpoint or before it."""
        if measured is None:
            return self.tr("Nothing was measured before this checkpoint.")
        when = self._when(measured.step, measured.epoch)
        metric = metric_of(self._view.history.task)
        value = metric.text(measured.values.get(metric.name, math.nan))
        loss = quantities.loss(measured.values.get("validation_loss", math.nan))
        if metric.percent:
            return self.tr("{0}: accuracy {1}, loss {2}").format(when, value, loss)
        return self.tr("{0}: R² {1}, loss {2}").format(when, value, loss)

    def _when(self, step: int, epoch: int) -> str:
        """When something was measured, seen from the checkpoint that is shown."""
        current = self._view.current
        if self._view.computed:
            return self.tr("measured now")
        words = self.tr("measured after epoch {0}").format(epoch)
        if current is not None and step < current.step:
            earlier = theme.format_number(current.step - step)
            words = self.tr("measured after epoch {0}, {1} steps earlier").format(epoch, earlier)
        return words

    def _show_layers(self) -> None:
        if self._dialog is not None:
            layers = [(each.name, each.shape) for each in self._view.layers]
            self._dialog.weights.set_layers(layers, self._view.layer)

    def _show_weights(self) -> None:
        if self._dialog is not None:
            self._dialog.weights.show_weights(self._view.weights, shown(self._view.why_no_weights))

    def _show_table(self) -> None:
        dialog, view = self._dialog, self._view
        if dialog is None:
            return
        table, measured, current = view.table, view.measured, view.current
        stale = current is not None and (measured is None or measured.step < current.step)
        run = self._session.listed_run(view.folder)
        possible = stale and (run is None or not run.of_script)
        dialog.show_measuring(possible, view.measuring, view.computed)
        if table is None:
            numbers = view.history.task == "numbers"
            why = self.tr("This run predicts numbers: it has no confusion matrix.") if numbers else ""
            dialog.show_no_matrix(why or self.tr("Nothing was measured before this checkpoint."))
            return
        labels = [self._class_name(label) for label in range(len(table.counts))]
        dialog.show_matrix(table.counts.astype(np.int64), labels, self._when(table.step, table.epoch))

    def _class_name(self, label: int) -> str:
        return self._view.classes[label] if 0 <= label < len(self._view.classes) else str(label)

    def measure(self) -> None:
        """Measure the checkpoint that is shown, after the agreement to the run's code."""
        after_agreement(self._session, self._made(), self._checkpoints.now.start, self._view.folder)

    def _show_hardest(self) -> None:
        dialog, view = self._dialog, self._view
        if dialog is None:
            return
        if view.worst:
            targets = view.history.targets or ("",) * len(view.worst[0].target)
            chosen = self._target = min(self._target, len(view.worst[0].target) - 1)
            shown = [each.shown for each in view.worst]
            dialog.show_worst(worst_rows(view.worst, chosen), shown, targets, chosen)
            return
        samples = [
            Sample(
                each.image,
                self._class_name(each.label),
                self._class_name(each.answer),
                each.of_truth,
                each.index,
            )
            for each in view.hardest[:MOST_HARD]
        ]
        dialog.show_hardest(samples, self.tr("No samples were stored with this evaluation."))

    def _choose_target(self, chosen: int) -> None:
        self._target = chosen
        self._show_hardest()

    def _show_curve(self) -> None:
        dialog, history = self._dialog, self._view.history
        if dialog is None:
            return
        plot = dialog.curve
        plot.clear()
        if history.steps:
            plot.add_series("train", self.tr("train"), self._session.run_color(self._view.folder))
            plot.append("train", history.steps, history.losses)
        points = [(each["step"], each.get("validation_loss", math.nan)) for each in history.epochs]
        if points:
            steps, losses = zip(*points, strict=True)
            plot.add_series(
                "validation", self.tr("validation"), self._session.run_color(self._view.folder), dashed=True
            )
            plot.append("validation", steps, losses)
        self._show_place()
        self._show_table()
        self._show_hardest()
        self._show_answer()

    # ----- the sample -----

    def _ask_about_hard(self, place: int) -> None:
        self._drawn = False
        self._checkpoints.ask_about_hard(place)

    def _begin_drawing(self) -> None:
        self._drawn = True

    def _ask_about_drawing(self, drawing: object) -> None:
        if not isinstance(drawing, np.ndarray):
            return
        if not drawing.any():
            self._checkpoints.answers.give(None)
            return
        try:
            digit = fit_digit(drawing if drawing.ndim == 2 else drawing.mean(axis=2), "")
        except ImageError:
            return
        self._drawn = True
        self._checkpoints.ask_about(digit)

    def _allow(self) -> None:
        """Ask for the agreement to the run's code, then compute."""
        folder = self._view.folder
        after_agreement(self._session, self._made(), self._checkpoints.answers.try_again, folder)

    def _show_answer(self) -> None:
        dialog, view, tr = self._dialog, self._view, self.tr
        if dialog is None:
            return
        card, sample = dialog.sample, view.sample
        card.offer(view.input_form == "digit", self._checkpoints.of_predict.offered)
        if view.asks_code:
            card.show_nothing(
                tr("The code of this run was not agreed to yet. Code can do whatever you can do."), ask=True
            )
        elif sample is not None:
            origin = tr("As on the page Predict") if sample.of_predict else ""
            if sample.index >= 0:
                number, label = theme.format_number(sample.index), self._class_name(sample.label)
                origin = tr("Test image {0} of class {1}").format(number, label)
                if sample.label < 0:
                    origin = tr("Test image {0}").format(number)
            self._drawn = self._drawn and not sample.of_predict
            card.show_sample(self._image(), origin, self._drawn)
            numbers = [(name or tr("Number"), quantities.value(*each)) for name, *each in view.numbers]
            card.show_answer(view.ranking, shown(view.why_no_answer), numbers)
        elif not self._drawn:
            what = tr("Click a sample to see what each checkpoint predicts for it.")
            if view.history.task == "numbers":
                what = tr("Give a sample on the page Predict to see what each checkpoint predicts for it.")
            card.show_nothing(shown(view.why_no_answer) or what)
        if sample is None or self._image() is None:
            card.show_map(None, None)

    def _show_map(self) -> None:
        """Show the map of this checkpoint; that of the one before stays until it is computed."""
        values = self._checkpoints.answers.map()
        if self._dialog is not None and values is not None:
            self._dialog.sample.show_map(self._image(), values)

    def _image(self) -> NDArray[np.float32] | None:
        """The sample as an image; None where it is none."""
        sample = self._view.sample
        if sample is None or len(sample.values) > 1 or self._view.input_form not in ("", "digit", "picture"):
            return None
        values = np.asarray(sample.values[0], np.float32)
        return values if values.ndim == 2 or (values.ndim == 3 and values.shape[2] in (3, 4)) else None

    # ----- files -----

    def save(self, kind: str) -> None:
        """Ask for a file and write all checkpoints to it: an animation, or one image."""
        dialog, tr = self._made(), self.tr
        suffix = ".gif" if kind == "gif" else ".png"
        title = tr("Save the animation") if kind == "gif" else tr("Save the strip")
        out = ask_for_drawing(dialog, title, f"checkpoints{suffix}", (suffix,))
        if out is not None:
            self._checkpoints.save(out, dialog.bar.chosen_speed())

    def _show_saving(self) -> None:
        job, dialog = self._checkpoints.animation, self._dialog
        if dialog is None:
            return
        dialog.show_progress((job.progress or 0.0) if job.running else None)
        if job.state == "failed" and job.problem is not None:
            dialog.show_saved(shown(job.problem.message), failed=True)
        elif job.state == "done" and job.result is not None:
            words = self.tr("Saved: {0}").format(job.result["out"])
            if job.result["shown"] < job.result["total"]:
                part = self.tr("{0} of {1} checkpoints, evenly spaced")
                words += " · " + part.format(job.result["shown"], job.result["total"])
            dialog.show_saved(words)
        else:
            dialog.show_saved("")

    # ----- the end -----

    def _follow_folder(self, folder: str) -> None:
        """Another project is open: there is no run to show."""
        if not folder and self._dialog is not None and self._dialog.isVisible():
            self._dialog.close()

    def _closed(self) -> None:
        """End the child, and release what was read."""
        self._pause()
        self._checkpoints.forget()

    def close(self) -> None:
        """Follow the session no longer."""
        self._playing.stop()
        self._bonds.release()
        if self._dialog is not None:
            self._dialog.closed.disconnect(self._closed)
            self._dialog.close()
