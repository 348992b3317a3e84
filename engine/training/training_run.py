"""TrainingRun: one training from start to end, under the window, the command line and tests."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.core.errors import ArgumentError
from engine.files.checkpoint import Skipped
from engine.files.data.stored_file import ShorterError
from engine.files.space import MEGABYTE
from engine.kernels.cpu.threads import computing_threads, take_threads
from engine.training.config import TrainingConfig
from engine.training.control import Commands, EndRequested
from engine.training.data import fetch_data, read_images
from engine.training.events import Listener, diverged_event, failed_event, now, preparing_event, rate_event
from engine.training.folder.checkpoint_keeper import CheckpointKeeper
from engine.training.folder.checkpointing import checkpoint_tree, restore
from engine.training.folder.recorded import rate_changes, recorded_baseline
from engine.training.folder.run_folder import RunFolder
from engine.training.kernel_swap import KernelSwap
from engine.training.layers.reports import LayerReports, looks
from engine.training.measuring.run_evaluator import RunEvaluator
from engine.training.problem import describe_problem
from engine.training.randomness import random_state, seed_everything, set_random_state
from engine.training.reporting.meter import Meter
from engine.training.reporting.progress import History, Progress
from engine.training.reporting.publisher import Publisher
from engine.training.resolve import as_resumed_run
from engine.training.result import Outcome, RunResult
from engine.training.rules.rate import Pending, Rate
from engine.training.setup import Parts, build_parts, own_file, skipped_events, started_event
from engine.training.sources.tables.columns import TargetNeeded
from engine.training.suggesting.suggest import AUTO, with_suggestions
from resources.memory import memory_used
from resources.training_events import Paused, Resumed, Stopping

if TYPE_CHECKING:
    from engine.training.team.processes import Processes


class TrainingRun(Commands):
    """A training that reports events to its listeners and takes requests from any thread.

    Requests (``pause``, ``resume``, ``stop_early``, ``interrupt``, ``cancel``, ``checkpoint_now``,
    ``set_learning_rate``) return at once; they take effect, and an event reports it, after the step in
    progress.

    Args:
        config: the settings; its seed fixes initial weights, order and dropout.
        listeners: callables, or objects with ``on_event``; called in the thread that runs the training.
        resume: a checkpoint of ``config.out`` to resume from, or True for the latest one.
        parts: makes network, optimizer and data where they aren't made from the names in ``config``.
        given: the settings that stay as they are where ``config.model`` is ``auto``, which suggests the
            others; None for those that differ from their defaults.

    Raises:
        ArgumentError: ``resume`` without a folder, or settings that would make it another run.
    """

    def __init__(
        self,
        config: TrainingConfig,
        listeners: Iterable[Listener] = (),
        *,
        resume: bool | str | Path = False,
        parts: Callable[[TrainingConfig, Path | None], Parts] = build_parts,
        given: Collection[str] | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        if resume and not config.out:
            raise ArgumentError("TrainingRun: no run to resume: config.out is empty; give the run's folder")
        super().__init__()
        self.config = config
        self.state = "ready"
        self.progress = Progress()
        self._resume = resume
        self._given = given
        self._make_parts = parts
        self._meter = Meter(clock)
        self._folder = RunFolder(config.out) if config.out else None
        self._publisher = Publisher(listeners, self.progress, self._folder)
        self._keeper = CheckpointKeeper(
            self.progress, self._publisher, self._folder, clock, config.keep, config.max_size * MEGABYTE
        )
        self._layers = LayerReports(self._publisher.publish)
        self._parts: Parts
        self._evaluator: RunEvaluator
        self.kernels: KernelSwap
        self._processes: Processes | None = None
        self._model_files: Mapping[Path, bytes] = {}
        self._resumed_from = ""
        self._repeated = Pending()
        self._claimed = False  # the folder is this new run's

    @classmethod
    def from_folder(
        cls,
        folder: str | Path,
        listeners: Iterable[Listener] = (),
        *,
        checkpoint: str | Path = "",
        **changes: Any,
    ) -> TrainingRun:
        """The run in ``folder``, to resume from its latest checkpoint or from ``checkpoint``.

        Args:
            changes: settings that may differ from the recorded ones, e.g. ``epochs``.

        Raises:
            ArgumentError: a change that would make it another run.
            InUseError: it is running. DataError: there is no checkpoint. FormatError: it is damaged.
        """
        store = RunFolder(folder)
        store.refuse_links()
        store.require_free()
        path = Path(checkpoint) if checkpoint else store.latest_checkpoint()[0]
        recorded = TrainingConfig.from_dict(store.read_checkpoint(path)["config"])
        config = recorded.changed(out=str(folder)).continued(**changes)
        return cls(config, listeners, resume=path if checkpoint else True)

    # ----- the training -----

    @property
    def network(self) -> Any:
        """The network, once the run has been prepared. The weights that several processes train are there
        when they have ended."""
        if self._processes is not None:
            return self._processes.network()
        return self._parts.stepper.network

    @property
    def listeners(self) -> list[Listener]:
        """The receivers of events; add to the list before the run."""
        return self._publisher.listeners

    @property
    def history(self) -> History:
        """The newest points and all epochs, those before a resume included."""
        return self._publisher.history

    def run(self) -> RunResult:
        """Train to the end; returns how it ended.

        Raises:
            InUseError: another training works in the folder.
            SaveError: the training went to its end, but its last or best weights could not be saved.
            EngineError, or whatever the user's model raised. The last two after the event ``failed``.
        """
        if self.config.workers > 1 and self._make_parts is build_parts:
            from engine.training.team.processes import Processes

            try:
                self._resolve_model()
            except BaseException as error:
                self._failed(error)
                raise
            self._processes = Processes(self.config, self._resume, self._control, self._publisher.publish)
            result = self._processes.run()
            self.config = self._processes.config
            return result
        with computing_threads(self.config.threads):
            return self._run()

    def _run(self) -> RunResult:
        self.state = "starting"
        try:
            try:
                self._prepare()
            except EndRequested as end:
                return self._end(end.how)
            self.state = "running"
            with self.kernels.in_use():
                try:
                    self._train()
                    return self._ended("finished", "")
                except EndRequested as end:
                    return self._end(end.how)
                except ShorterError:
                    if self.config.workers == 1:  # else other ranks may be in the middle of the step
                        self._checkpoint("stop")
                    raise
        except BaseException as error:
            self._failed(error)
            raise
        finally:
            if self._folder is not None:
                self._folder.close()

    def _prepare(self) -> None:
        folder, checkpoint, source, retained = self._folder, None, None, None
        skipped: tuple[Skipped, ...] = ()
        if self._resume:
            assert folder is not None
            folder.refuse_links()
            folder.claim(new=False)
            path, skipped = folder.checkpoint_of(self._resume)
            checkpoint = folder.read_checkpoint(path)
            self.config = as_resumed_run(self.config, TrainingConfig.from_dict(checkpoint["config"]))
            self._resumed_from, source = str(path), folder.source_path
        elif folder is not None:
            folder.claim(new=True)
            folder.require_new()
            self._claimed = True
        self._resolve_model()
        # A chosen checkpoint begins another story.
        journal = folder.journal_path if folder is not None and self._resume is True else None
        self.kernels = KernelSwap.of_run(self.config, checkpoint, journal)
        self.config = self.config.changed(threads=take_threads(self.config.threads))
        fetch_data(self.config.data, self._preparing)
        read_images(self.config, self._preparing, self._require_wanted)
        seed_everything(self.config.seed)
        parts = self._parts = self._make_parts(self.config, source)
        self._evaluator = RunEvaluator(parts, self.progress, self._publisher, self._keeper)
        self._model_files = parts.model_files
        self.config = parts.config or self.config
        progress = self.progress
        progress.task = parts.task
        progress.steps_per_epoch, progress.epochs = len(parts.batches), self.config.epochs
        parts.check()
        if checkpoint is not None:
            retained = restore(checkpoint, progress, self.history, parts)
            self._keeper.go_on(self._resumed_from, checkpoint)
            if journal is not None:
                self._repeated = Pending(rate_changes(journal, progress.step))
        self._random = random_state()  # that of the first step
        if folder is not None:
            folder.open(parts.model_files, retained, parts.corrections)
            self._meter.before = folder.elapsed
            if retained is not None:
                self._keeper.finish()
        self._publisher.publish(started_event(self.config, progress, self._resumed_from, parts, checkpoint))
        for event in skipped_events(skipped, progress.step):
            self._publisher.publish(event)
        if checkpoint is None:
            if parts.baseline is not None:
                self._publisher.publish(parts.baseline())
            set_random_state(self._random)
            self._checkpoint("start")
        elif folder is not None and (baseline := recorded_baseline(folder.journal_path)) is not None:
            self._publisher.deliver(baseline)

    def _resolve_model(self) -> None:
        """Take the suggested model and settings where ``auto`` is asked for them."""
        if self._resume or self.config.model != AUTO:
            return
        fetch_data(self.config.data, self._preparing)
        self.config = with_suggestions(self.config, self._given)

    def _require_wanted(self) -> None:
        """Raises EndRequested once the run is cancelled; before its first step there is nothing to keep."""
        if self._control.ending() == "cancel":
            raise EndRequested("cancel")

    def _preparing(self, message: str) -> None:
        self._publisher.publish(preparing_event(message))

    def _train(self) -> None:
        set_random_state(self._random)  # whatever drew since then: listeners, imports, a baseline
        self._meter.start()
        while not self.progress.complete:
            self._obey()
            # A run that was stopped during an evaluation continues with it.
            for images, labels in () if self.progress.epoch_trained else self._parts.batches:
                self._step(images, labels)
                # Not before the step: a checkpoint then would count a batch as done that was only fetched.
                self._obey()
            self._end_epoch()

    def _step(self, images: Any, labels: Any) -> None:
        progress, config = self.progress, self.config
        stepper = self._parts.stepper
        look = looks(progress, config.layers_every)
        if look:
            stepper.watch_layers()
        self._take_kernels(progress.step)
        loss, accuracy = stepper.train(images, labels, config.on_divergence == "continue")
        if not math.isfinite(loss):
            self._diverged(loss)
        samples = int(labels.shape[0])
        progress.add(loss, accuracy, samples)
        self._meter.add(progress.step, loss, accuracy, samples, {"gradient_norm": stepper.gradient_norm})
        if self._meter.due():
            self._report()
        if look:
            self._report()
            share = stepper.learning_rate / config.learning_rate
            self._layers.publish(stepper.take_layers(), progress.step, progress.epoch + 1, share)
        every, inside = config.checkpoint_every, progress.step_in_epoch < progress.steps_per_epoch
        if every and inside and progress.step % every == 0:
            self._checkpoint("steps")

    def _take_kernels(self, step: int) -> None:
        """Use compiled kernels from the step after ``step`` on, if it is time for them."""
        if taken := self.kernels.due(step, self._kernels_awaited):
            self._report()
            self._publisher.publish(taken)

    def _kernels_awaited(self, seconds: float) -> None:
        self._require_wanted()
        self._publisher.deliver(preparing_event(f"Waiting for compiled kernels ({seconds:.0f} s)"))

    def _obey(self) -> None:
        """Carry out the requests since the last step; raises EndRequested if the run is to end."""
        while change := self._repeated.due(self.progress.step):
            if change.recorded:
                self._parts.stepper.set_rate(change.rate)
            else:
                self._change_rate(change.rate)
        end = self._hold()
        if end:
            self.state = "stopping"
            self._report()
            self._publisher.publish(Stopping(event="stopping", time=now(), step=self.progress.step, how=end))
            raise EndRequested(end)

    def _hold(self, checkpoints: bool = True) -> str:
        """Wait while paused and write the requested checkpoints; returns how to end, or an empty text.

        Between the batches of an evaluation no checkpoint can be written, since modes and random numbers are
        not those of the training. A request for one lets the evaluation finish first, even while paused; the
        pause holds again afterwards.
        """
        if not self._control.anything():
            return ""
        requests = self._control.read(checkpoints)
        paused = False
        while not requests.end:
            if requests.checkpoint:
                self._checkpoint("asked")
            if requests.rate is not None:
                self._change_rate(self._parts.stepper.rate_for(requests.rate))
            if not requests.pause or (not checkpoints and self._control.checkpoint_waits()):
                break
            if not paused:
                paused = True
                self._report()
                self._meter.pause()
                self.state = "paused"
                self._publisher.publish(Paused(event="paused", time=now(), step=self.progress.step))
            requests = self._control.wait_while_paused(checkpoints)
        if paused:
            self._meter.resume()
        if paused and not requests.end and not requests.pause:
            self.state = "running"
            self._publisher.publish(Resumed(event="resumed", time=now(), step=self.progress.step))
        return requests.end

    def _change_rate(self, rate: Rate) -> None:
        """Train with another learning rate from here on; a checkpoint first, to which one can go back."""
        stepper, progress = self._parts.stepper, self.progress
        self._report()
        self._checkpoint("rate")
        before = stepper.learning_rate
        stepper.set_rate(rate)
        self._publisher.publish(rate_event(progress, stepper.learning_rate, before, rate.factor))

    def _end_epoch(self) -> None:
        self._report()
        self._take_kernels(self.progress.step - 1)  # a resumed run may begin with an evaluation
        result = self._evaluator.evaluate(lambda: bool(self._hold(checkpoints=False)))
        if result is None:
            self._obey()  # which leaves the loop: only an end interrupts an evaluation
            return
        best = self._evaluator.report(result, False, self._meter.elapsed())
        self._parts.stepper.end_epoch({**result.measured(), "train_loss": self.progress.epoch_loss})
        self.progress.next_epoch()
        self._checkpoint("epoch", best)
        self._meter.skip()

    # ----- ends -----

    def _end(self, how: str) -> RunResult:
        if how == "cancel":
            return self._cancelled()
        if how == "interrupted":
            self._checkpoint("stop")
        if how == "early":
            best = False
            if self.progress.evaluated_at != self.progress.step:
                result = self._evaluator.evaluate(lambda: self._control.ending() == "cancel")
                if result is None:
                    return self._cancelled()
                best = self._evaluator.report(result, True, self._meter.elapsed())
            self._checkpoint("stop", best)
            weights = self._keeper.best_weights()
            if weights is not None:
                self._parts.stepper.network.set_state_dict(weights)
        return self._ended("stopped", how)

    def _diverged(self, loss: float) -> None:
        """Report a loss that is not finite; raises EndRequested unless the settings say to continue."""
        progress, keeper, rate = self.progress, self._keeper, self._parts.stepper.learning_rate
        self._report()
        self._publisher.publish(diverged_event(progress, loss, rate, keeper.last, keeper.at))
        if self.config.on_divergence == "stop":
            raise EndRequested("diverged")

    def _cancelled(self) -> RunResult:
        self._keeper.discard()
        return self._ended("cancelled", "")

    def _ended(self, outcome: Outcome, reason: str) -> RunResult:
        if outcome != "cancelled" and reason != "diverged":
            self._keeper.require_saved()
        tested = self._evaluator.test_best_weights() if outcome == "finished" or reason == "early" else {}
        result = RunResult.of(
            outcome, reason, self.progress, self._meter.elapsed(), self.config.out, self._keeper.last, tested
        )
        self.state = outcome
        self._publisher.publish(result.event())
        return result

    def _failed(self, error: BaseException) -> None:
        files = [str(path) for path in self._model_files] or own_file(self.config.model)
        problem = describe_problem(error, files)
        self.state = "failed"
        recorded = isinstance(error, Exception) and not isinstance(error, TargetNeeded)
        if self._claimed and self._folder is not None and recorded:
            self._folder.keep_record(started_event(self.config, self.progress), self._publisher.write_failed)
        self._report()
        self._publisher.publish(failed_event(problem, self.progress.step, self._keeper.last))

    # ----- events and checkpoints -----

    def _report(self) -> None:
        """Report the steps since the last report, so that later events come after them."""
        if not self._meter.waiting():
            return
        progress, stepper = self.progress, self._parts.stepper
        event = self._meter.report(
            progress.epoch + 1, progress.total_steps, self.config.batch_size, stepper.learning_rate
        )
        if (paces := stepper.take_paces()) is not None:
            event["ranks"] = paces
        event["memory"] = memory_used()
        progress.samples_per_second = event["samples_per_second"]
        progress.seconds_left = event["seconds_left"]
        self._publisher.publish(event)

    def _checkpoint(self, reason: str, best: bool = False) -> None:
        if self._folder is not None:
            self._report()
        elif not best:
            return
        tree = checkpoint_tree(self.config, self.progress, self.history, self._parts, self.kernels)
        self._keeper.write(tree, reason, best)
