"""Checkpoints: goes through the checkpoints of a run, one after the other."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from resources.words import language
from studio.session.checkpoints.animation_job import FAILED, WriteAnimation
from studio.session.checkpoints.checkpoint_answers import CheckpointAnswers
from studio.session.checkpoints.checkpoint_files import (
    FoundFile,
    LeftOut,
    StoredCheckpoint,
    first_choice,
    found_files,
    in_order,
    read_checkpoint_file,
)
from studio.session.checkpoints.checkpoints_view import (
    CheckpointsView,
    GivenSample,
    measured_at,
    table_at,
)
from studio.session.checkpoints.hard_samples import HardSamples
from studio.session.checkpoints.measured_now import MeasuredNow
from studio.session.checkpoints.predict_sample import PredictSample
from studio.session.checkpoints.weight_reader import WeightReader
from studio.session.checkpoints.weight_view import weight_view
from studio.session.predict.predict_view import PredictViewModel
from studio.session.problem_view import ProblemView
from studio.session.runs.run_history import RunHistory
from studio.session.train.train_view import TrainViewModel
from studio.session.work.file_thread import FileThreads
from studio.session.work.running_tasks import RunningTasks
from studio.session.work.single_job import SingleJob

if TYPE_CHECKING:
    from studio.session.project.agreed_library import AgreedLibrary

AHEAD = 4
SMALL = 16 << 20
"""Bytes of a layer in all checkpoints up to which all of them are read ahead."""


class Checkpoints:
    """Keeps the view up to date. Nothing here waits: threads read files, a child asks the network.

    Args:
        library: has the runs, their histories and the agreements.
        train: the training of this session, whose new checkpoints join.
        predict: what the page Predict is fed is asked about too.
        tasks: lists what the network does.
        files: the threads that read.
        wake: called from another thread when there is something to ``take``.
        report: called with problems that are also shown outside the window.

    ``animation`` writes the checkpoints as a file, ``now`` measures what the training did not.
    """

    def __init__(
        self,
        library: AgreedLibrary,
        train: TrainViewModel,
        predict: PredictViewModel,
        tasks: RunningTasks,
        files: FileThreads,
        wake: Callable[[], None],
        report: Callable[[ProblemView], object],
    ) -> None:
        self.view = CheckpointsView()
        self._library, self._files = library, files
        # None for those that are still to be checked.
        self._known: dict[FoundFile, StoredCheckpoint | LeftOut | None] = {}
        self._checking = False
        self._direction = 1
        self._reader = WeightReader(files.checkpoints)
        self._hard = HardSamples(self.view, files.reading)
        self.answers = CheckpointAnswers(self.view, library, tasks, wake)
        self.of_predict = PredictSample(self.view, predict, self.answers)
        self.animation = SingleJob(tasks, FAILED, report=report)
        self.now = MeasuredNow(self.view, library, tasks, self._show_measured, report)
        library.runs_changed.connect(lambda _: self.refresh())
        train.events.last_checkpoint_step.connect(lambda _: self.refresh())

    # ----- which run -----

    def show(self, folder: str) -> None:
        """Show the checkpoints of the run in ``folder``, the newest first; empty for none."""
        view = self.view
        if folder == view.folder:
            self.refresh()
            return
        self.answers.forget()
        self.of_predict.forget()
        self._reader.forget()
        self._hard.forget()
        self.now.forget()
        self._known.clear()
        view.folder, view.listed, view.waiting = folder, False, 0
        view.history, view.classes = RunHistory(), ()
        view.left_out, view.layers, view.layer = (), (), ""
        self._put((), -1)
        self.refresh()

    def forget(self) -> None:
        """Another project is open, or the window is closed."""
        self.show("")

    def refresh(self) -> None:
        """Look which checkpoints there are now: new ones join, removed ones go."""
        folder = self.view.folder
        if not folder:
            return
        # Here, not in the thread: two threads that import the engine at once can lock each other out.
        import engine.files.checkpoint
        import engine.files.native.index
        import engine.training.measuring.predictions  # noqa: F401

        def take(found: list[FoundFile]) -> None:
            if folder == self.view.folder:
                self._take_files(found)

        self._files.checkpoints.do(lambda: found_files(folder), take, "checkpoints")

    def _take_files(self, found: list[FoundFile]) -> None:
        new = any(file not in self._known for file in found)
        self._known = {file: self._known.get(file) for file in found}
        if new or not self.view.listed:
            self._read_history()
        self._show_known()
        self._check_next()

    def _check_next(self) -> None:
        """Check the files that were not checked yet, one after the other, the newest first."""
        view = self.view
        waiting = [file for file, found in self._known.items() if found is None]
        view.waiting = len(waiting)
        if not waiting or self._checking:
            return
        self._checking = True
        file = waiting[-1]

        def take(found: StoredCheckpoint | LeftOut | None) -> None:
            self._checking = False
            if file in self._known:  # else it was removed, or another run is shown
                if found is None:
                    del self._known[file]
                else:
                    self._known[file] = found
                self._show_known()
            self._check_next()

        self._files.checkpoints.do(lambda: read_checkpoint_file(file), take)

    def _show_known(self) -> None:
        view, current = self.view, self.view.current
        follows = current is None or view.place == len(view.checkpoints) - 1
        readable = in_order(each for each in self._known.values() if isinstance(each, StoredCheckpoint))
        view.left_out = tuple(each for each in self._known.values() if isinstance(each, LeftOut))
        place = len(readable) - 1
        if current is not None and not follows:
            steps = [each.step for each in readable]
            place = next((at for at, step in enumerate(steps) if step >= current.step), place)
        self._put(tuple(readable), place)
        view.listed = view.listed or None not in self._known.values()

    def _read_history(self) -> None:
        folder = self.view.folder

        def take(found: dict[str, RunHistory | Exception]) -> None:
            history = found.get(folder)
            if folder == self.view.folder and isinstance(history, RunHistory):
                self.view.classes = history.classes
                self.view.history = history
                self._show_measured()

        self._library.read_histories([folder], take, "history of checkpoints")

    # ----- moving -----

    def go(self, place: int) -> None:
        """Show the checkpoint at a place of the list."""
        view = self.view
        place = min(max(place, 0), len(view.checkpoints) - 1)
        if place != view.place and place >= 0:
            self._direction = 1 if place > view.place else -1
            self._put(view.checkpoints, place)

    def go_to_step(self, step: float) -> None:
        """Show the checkpoint whose step is nearest; the earlier one of two that are as near."""
        steps = [each.step for each in self.view.checkpoints]
        if steps and math.isfinite(step):
            self.go(min(range(len(steps)), key=lambda place: abs(steps[place] - step)))

    def step(self, by: int) -> bool:
        """Show the next checkpoint (1) or the one before (-1); whether there is one."""
        before = self.view.place
        self.go(before + by)
        return self.view.place != before

    @property
    def busy(self) -> bool:
        """Whether the weights of the checkpoint that is shown are still being read."""
        current, weights = self.view.current, self.view.weights
        shown = current is not None and weights is not None and weights.step == current.step
        return not shown and not self.view.why_no_weights

    def choose_layer(self, name: str) -> None:
        """Show the weights of another layer."""
        if name != self.view.layer and any(each.name == name for each in self.view.layers):
            self.view.layer = name
            self.view.weights, self.view.why_no_weights = None, ""
            self._show_weights()

    def _put(self, checkpoints: tuple[StoredCheckpoint, ...], place: int) -> None:
        """Show a checkpoint of a list."""
        view, before = self.view, self.view.current
        same = checkpoints == view.checkpoints
        if not same:
            view.place = -1  # else it means one of the other list for a moment
            view.checkpoints = checkpoints
        view.place = place
        current = view.current
        if current is not None and current.layers != view.layers:
            view.layers = current.layers
            if not any(each.name == view.layer for each in current.layers):
                view.layer = first_choice(current.layers)
        if not same or current is not before:
            self._show_weights()
            self._show_measured()
            self.answers.ask()

    # ----- weights -----

    def _show_weights(self) -> None:
        view, current, before = self.view, self.view.current, self.view.before
        if current is None or not view.layer:
            view.weights, view.why_no_weights = None, ""
            return
        values = self._reader.known(current, view.layer)
        if isinstance(values, np.ndarray):
            earlier = None if before is None else self._reader.known(before, view.layer)
            if before is None or earlier is not None:
                self._show_values(current, values, before, earlier)
        elif isinstance(values, Exception):
            view.weights, view.why_no_weights = None, str(values)
        self._reader.read(self._wanted(), view.layer, self._weights_came)

    def _weights_came(self) -> None:
        """Weights were read: perhaps those that are shown."""
        if self.busy or not self._scale_holds():
            self._show_weights()

    def _scale_holds(self) -> bool:
        view = self.view
        return view.weights is None or view.weights.scale == self._reader.scales.get(view.layer)

    def _show_values(
        self,
        current: StoredCheckpoint,
        values: NDArray[np.float32],
        before: StoredCheckpoint | None,
        earlier: NDArray[np.float32] | Exception | None,
    ) -> None:
        pair = None
        if before is not None and isinstance(earlier, np.ndarray) and earlier.shape == values.shape:
            pair = before.step, earlier
        self.view.why_no_weights = ""
        self.view.weights = weight_view(
            self.view.layer,
            values,
            current.step,
            pair,
            self._reader.scales[self.view.layer],
        )

    def _wanted(self) -> list[StoredCheckpoint]:
        """What is to be read, the most urgent first: what is shown, then what comes next."""
        view, place, way = self.view, self.view.place, self._direction
        shape = next((each.shape for each in view.layers if each.name == view.layer), ())
        small = 4 * int(np.prod(shape, dtype=np.int64)) * len(view.checkpoints) <= SMALL
        ahead = [place + way * by for by in range(1, AHEAD + (way < 0) + 1)]
        rest = range(len(view.checkpoints)) if small else ()
        places = dict.fromkeys([place, place - 1, *ahead, *rest])
        return [view.checkpoints[at] for at in places if 0 <= at < len(view.checkpoints)]

    # ----- what was measured -----

    def _show_measured(self) -> None:
        view, current = self.view, self.view.current
        history, now = view.history, self.now.of(current)
        view.measuring, view.computed = self.now.job.running, now is not None
        if now is not None:
            view.measured, view.table, view.hardest = now.measured, now.table, now.hardest
            view.worst = now.worst
            return
        view.measured = None if current is None else measured_at(history, current.step)
        view.table = None if current is None else table_at(history.tables, current.step)
        self._hard.show()

    # ----- the sample -----

    def ask_about_hard(self, place: int) -> None:
        """Ask at each checkpoint about one of the hardest samples that is an image."""
        view = self.view
        index, label, image = -1, -1, None
        if 0 <= place < len(view.worst):
            index, image = view.worst[place].index, view.worst[place].shown
        elif 0 <= place < len(view.hardest):
            sample = view.hardest[place]
            index, label, image = sample.index, sample.label, sample.image
        if isinstance(image, np.ndarray) and image.dtype == np.uint8:
            values = image.astype(np.float32) / np.float32(255.0)
            self.of_predict.pass_over()
            self.answers.give(GivenSample((values,), index, label))

    def ask_about(self, *values: NDArray[Any]) -> None:
        """Ask at each checkpoint about the values of each input, as a person gives them."""
        self.of_predict.pass_over()
        self.answers.give(GivenSample(values))

    # ----- files -----

    def save(self, out: Path, speed: float) -> None:
        """Write all checkpoints with the weights of the layer that is shown: a GIF with ``speed`` a second,
        or a PNG, as the ending of ``out`` says."""
        view = self.view
        if view.folder and not self.animation.running:
            title = self._library.run_title(view.folder)
            made = WriteAnimation(view.folder, str(out), view.layer, title, speed, language())
            self.animation.start(made)

    # ----- the end -----

    def take(self) -> None:
        """Bring the view up to date with what the child has replied."""
        self.answers.take()
        self.animation.take()
        self.now.take()

    def close(self) -> None:
        """End the children."""
        self.answers.close()
        self.animation.close()
        self.now.close()
