"""TrainViewModel: what the page Train shows, as plain values that follow a training's events."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from psygnal import Signal, SignalGroupDescriptor

from resources.interruptions import is_interruption
from resources.metrics import speed_unit, task_of
from resources.quantities import duration
from resources.words import marked
from studio.session.commands import COMMANDS
from studio.session.conditions import TrainingCondition
from studio.session.equality import same_number
from studio.session.problem_view import ProblemView, problem_from_event, problem_from_message
from studio.session.runs.runs_folder import latest_checkpoint
from studio.session.train.compute_info import ComputeInfo, after
from studio.session.train.run_settings import RunSettings, title_of_setting
from studio.session.train.skipped_images import skipped_message

if TYPE_CHECKING:
    from resources import training_events

STATES = ("idle", "starting", "running", "pausing", "paused", "stopping", "finished", "failed", "crashed")
TARGET_NEEDED = "TargetNeeded"
"""The error of a table whose target is not known; the page Data asks for it."""
BUSY = ("starting", "running", "pausing", "paused", "stopping")


_NUMBERS = (
    "loss",
    "accuracy",
    "validation_loss",
    "validation_accuracy",
    "validation_r2",
    "validation_mae",
    "best_accuracy",
    "best_r2",
    "best_mae",
    "seconds_left",
    "learning_rate",
    "rate_asked",
)


@dataclass
class TrainViewModel:
    """Fields change through assignment; ``events.NAME`` emits each real change with (new, old).

    Accuracies are from 0 to 1, NaN where not measured yet; ``seconds_left`` is NaN while unknown. ``why_not``
    has the sentence for each command that the training makes impossible now, by the command's id.
    ``computing`` says which threads, library and kernels compute.
    ``ranks`` has for each of several processes a dict with rank, steps_per_second and waiting (0 to 1).
    ``trained_data`` is the data that ``train_samples`` counts, where a run took all of it.
    ``rate_asked`` is the learning rate that was asked for and is not used yet, NaN where none is.
    ``unanswered`` is True where a request has waited too long for an answer, ``quiet`` how many seconds it is
    since a sign of the training where one should have come, else 0.
    ``awaited`` is what the training said last that it waits for.
    ``entry_problems`` says what the form has marked as wrong, in its order, by the name on screen.
    """

    state: str = "idle"
    message: str = marked("Ready")
    settings: RunSettings = field(default_factory=RunSettings)
    setting_problems: dict[str, str] = field(default_factory=dict)
    entry_problems: dict[str, str] = field(default_factory=dict)
    why_not: dict[str, str] = field(default_factory=dict)
    run_name: str = ""
    folder: str = ""
    epoch: int = 0
    epochs: int = 0
    step: int = 0
    total_steps: int = 0
    steps_per_epoch: int = 0
    train_samples: int = 0
    test_samples: int = 0
    trained_data: str = ""
    parameters: int = 0
    classes: tuple[str, ...] = ()
    loss: float = math.nan
    accuracy: float = math.nan
    validation_loss: float = math.nan
    validation_accuracy: float = math.nan
    best_accuracy: float = math.nan
    kind: str = "images"
    task: str = "classes"
    targets: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    validation_r2: float = math.nan
    validation_mae: float = math.nan
    best_r2: float = math.nan
    best_mae: float = math.nan
    chosen_on: str = "test"
    baseline: Mapping[str, Any] = field(default_factory=dict)
    best_step: int = -1
    measured_epoch: int = 0
    best_epoch: int = 0
    learning_rate: float = math.nan
    rate_asked: float = math.nan
    samples_per_second: float = 0.0
    seconds_left: float = math.nan
    elapsed: float = 0.0
    evaluating: bool = False
    preparing: bool = False
    awaited: str = ""
    unanswered: bool = False
    quiet: int = 0
    ranks: list[Mapping[str, Any]] = field(default_factory=list)
    memory: int = 0
    computing: ComputeInfo = field(default_factory=ComputeInfo)
    last_checkpoint: str = ""
    last_checkpoint_step: int = -1
    last_problem: ProblemView | None = None

    events: ClassVar[SignalGroupDescriptor] = SignalGroupDescriptor(
        equality_operators=dict.fromkeys(_NUMBERS, same_number)
    )
    # Points as they come: (steps, losses, accuracies, what else is known of these steps). ``cleared`` comes
    # before the points of another run;
    # ``rewound`` (step) when a run goes on from an earlier checkpoint: later points will come once more.
    new_points: ClassVar[Signal] = Signal(list, list, list, dict)
    new_epoch: ClassVar[Signal] = Signal(dict)
    new_rate: ClassVar[Signal] = Signal(dict)
    cleared: ClassVar[Signal] = Signal()
    rewound: ClassVar[Signal] = Signal(int)
    output: ClassVar[Signal] = Signal(str, str)
    problem: ClassVar[Signal] = Signal(object)
    # A look at the layers, or an alert about one, as the event of that kind.
    layers: ClassVar[Signal] = Signal(dict)

    def __post_init__(self) -> None:
        self.update_why_not()

    @property
    def busy(self) -> bool:
        """True from Start until the training has ended."""
        return self.state in BUSY

    @property
    def figure(self) -> float:
        """The metric of the task at the last epoch: accuracy or R²; NaN before."""
        return self.validation_r2 if self.task == "numbers" else self.validation_accuracy

    @property
    def progress(self) -> float:
        """How much is done, from 0 to 1."""
        return min(1.0, max(0.0, self.step / self.total_steps)) if self.total_steps else 0.0

    @property
    def waiting(self) -> str:
        """Says that the training does not answer, or makes no step; empty for one that does."""
        if self.unanswered:
            return f"{self.message} It does not respond. You can end the process; checkpoints stay."
        elapsed = duration(self.quiet, whole=True)
        if self.quiet and self.state == "starting":
            return f"Starting for {elapsed}: the model's constructor may not terminate"
        if self.quiet:
            return f"No step for {elapsed}: the model's forward may not terminate"
        return ""

    @property
    def wrong_setting(self) -> str:
        """The first setting that is wrong, and why; empty where all can be used."""
        # What the form marks is in its order, so that the first one named is the first one seen.
        for name, problem in self.entry_problems.items():
            return f"{name}: {problem}"
        for name, problem in self.setting_problems.items():
            return f"{title_of_setting(name)} {problem}"
        return ""

    # ----- events from the session -----

    def prepare(self, preparing: bool) -> None:
        """Files are read for a training that is to begin: nothing else begins meanwhile."""
        self.preparing = preparing
        self.update_why_not()

    def begin(self, run_name: str, folder: str, continued: bool) -> None:
        """A training was asked for; everything shown of another one goes."""
        if not continued or folder != self.folder:
            self.clear()
        self.run_name, self.folder = run_name, folder
        self.last_problem = None
        self.go_to("starting", marked("Starting…"))

    @property
    def speed_unit(self) -> str:
        """What the training reads in a second."""
        return speed_unit(self.kind)

    def clear(self) -> None:
        """Forget what was measured."""
        self.epoch = self.epochs = self.step = self.total_steps = 0
        self.loss = self.accuracy = self.validation_loss = self.validation_accuracy = math.nan
        self.validation_r2 = self.validation_mae = self.best_r2 = self.best_mae = math.nan
        self.best_accuracy, self.best_step = math.nan, -1
        self.task, self.targets, self.units, self.baseline = "classes", (), (), {}
        self.measured_epoch = self.best_epoch = 0
        self.samples_per_second, self.seconds_left, self.elapsed = 0.0, math.nan, 0.0
        self.learning_rate, self.rate_asked, self.ranks = math.nan, math.nan, []
        self.computing = ComputeInfo()
        self.last_checkpoint, self.last_checkpoint_step = "", -1
        self.cleared.emit()

    def forget(self) -> None:
        """Another project is open: what the last training left is not shown in it."""
        if not self.busy:
            self.clear()
            self.folder = self.run_name = ""
            self.last_problem = None
            self.go_to("idle", marked("Ready"))

    def asked(self, command: str) -> None:
        """A command was sent to the training: acknowledge it before it answers."""
        if command == "pause":
            self.go_to("pausing", marked("Pausing…"))
        elif command == "resume":
            self.go_to("running", marked("Training"))
        elif command in ("stop_early", "interrupt"):
            self.go_to("stopping", marked("Stopping…"))
        elif command == "cancel":
            self.go_to("stopping", marked("Cancelling…"))

    def take(self, event: Mapping[str, Any]) -> None:
        """Follow one event of the worker."""
        handler = getattr(self, f"_on_{event['event']}", None)
        if handler is not None:
            handler(event)

    def go_to(self, state: str, message: str) -> None:
        """Change the state and what the status bar says."""
        self.message, self.state = message, state  # who follows the state shows the message
        self.update_why_not()

    def update_why_not(self) -> None:
        """Work out anew which commands can't be given, and why."""
        conditions = {each.id: each.possible for each in COMMANDS}
        self.why_not = {
            name: reason
            for name, condition in conditions.items()
            if isinstance(condition, TrainingCondition) and (reason := condition.reason(self))
        }

    # ----- one method for each kind of event -----

    def _on_preparing(self, event: training_events.Preparing) -> None:
        if self.state in ("starting", "running"):
            self.message = self.awaited = event["message"]

    def _on_started(self, event: training_events.Started) -> None:
        for path in (event["folder"], event["resumed_from"]):
            if "\0" in path:
                raise ValueError(f"not the path of a file: {path!r}")
            os.fsencode(path)
        self.folder = event["folder"]
        self.epochs = event["config"]["epochs"]
        self.epoch, self.step = event["epoch"], event["step"]
        self.steps_per_epoch, self.total_steps = event["steps_per_epoch"], event["total_steps"]
        self.train_samples, self.test_samples = event["train_samples"], event["test_samples"]
        self.trained_data = "" if event["config"].get("samples") else event["config"].get("data", "")
        self.parameters, self.classes = event["parameters"], tuple(event["classes"])
        self.kind, self.task = event.get("kind", "images"), task_of(event)
        self.targets, self.units = tuple(event.get("targets", ())), tuple(event.get("units", ()))
        self.chosen_on = event.get("chosen_on", "test")
        self.learning_rate = event["config"].get("learning_rate", math.nan)
        self.ranks = []
        self.computing = after(self.computing, event)
        if event["resumed_from"]:
            self.rewound.emit(event["step"])
            self.last_checkpoint, self.last_checkpoint_step = event["resumed_from"], event["step"]
        if "fallback" in event:
            self.report(problem_from_message(event["fallback"], "The CPU computes"))
        if "skipped" in event:
            self.report(problem_from_message(skipped_message(event["skipped"]), "Damaged images are skipped"))
        if "differs" in event:
            self.report(problem_from_message(event["differs"], "The training goes on a little otherwise"))
        if self.state == "starting":
            self.go_to("running", marked("Training"))

    def _on_kernels(self, event: training_events.KernelsTaken) -> None:
        self.computing = after(self.computing, event)

    def _on_steps(self, event: training_events.Steps) -> None:
        self.step, self.epoch, self.total_steps = event["step"], event["epoch"], event["total_steps"]
        # Only classes have an accuracy.
        accuracies = event.get("accuracies") or [math.nan] * len(event["losses"])
        self.loss, self.accuracy = event["losses"][-1], accuracies[-1]
        if not len(event["steps"]) == len(event["losses"]) == len(accuracies):
            raise ValueError(f"{len(event['steps'])} steps with {len(event['losses'])} losses")
        for pace in event.get("ranks", ()):
            if not (0 <= pace["waiting"] <= 1 and math.isfinite(pace["steps_per_second"])):
                raise ValueError(f"rank {pace['rank']} has the pace {dict(pace)}")
        self.samples_per_second, self.elapsed = event["samples_per_second"], event["elapsed"]
        self.seconds_left, self.learning_rate = event["seconds_left"], event["learning_rate"]
        self.evaluating = False
        if self.state == "running" and self.message == self.awaited:
            self.message = "Training"  # what was waited for is ready
        self.ranks = [*event.get("ranks", self.ranks)]
        more: dict[str, Any] = {
            "rate": event["learning_rate"],
            "throughput": event["samples_per_second"],
            "elapsed": event["elapsed"],
            "memory": float(event.get("memory", math.nan)),
            "gradient": event.get("scalars", {}).get("gradient_norm", math.nan),
            "steps_per_epoch": self.steps_per_epoch,
        }
        self.new_points.emit(event["steps"], event["losses"], accuracies, more)

    def _on_baseline(self, event: training_events.Baseline) -> None:
        self.baseline = dict(event)

    def _on_layers(self, event: training_events.Layers) -> None:
        self.layers.emit(dict(event))

    def _on_layer_alert(self, event: training_events.LayerAlert) -> None:
        self.layers.emit(dict(event))

    def _on_evaluating(self, event: training_events.Evaluating) -> None:
        self.evaluating = True

    def _on_epoch(self, event: training_events.Epoch) -> None:
        self.evaluating = False
        self.validation_loss = event["validation_loss"]
        self.validation_accuracy = event.get("validation_accuracy", math.nan)
        self.validation_r2 = event.get("validation_r2", math.nan)
        self.validation_mae = event.get("validation_mae", math.nan)
        if event["best"]:
            self.best_accuracy, self.best_r2 = self.validation_accuracy, self.validation_r2
            self.best_mae = self.validation_mae
            self.best_step = event["step"]
            self.best_epoch = event["epoch"]
        self.measured_epoch = event["epoch"]
        self.new_epoch.emit(dict(event))

    def _on_checkpoint(self, event: training_events.Checkpoint) -> None:
        self.last_checkpoint, self.last_checkpoint_step = event["path"], event["step"]
        self.update_why_not()

    def _on_checkpoint_failed(self, event: training_events.CheckpointFailed) -> None:
        self.report(problem_from_event(event, "A file could not be written; the training goes on"))

    def _on_space_low(self, event: training_events.SpaceLow) -> None:
        self.report(problem_from_event(event, "The disk is nearly full; the training goes on"))

    def _on_checkpoint_skipped(self, event: training_events.CheckpointSkipped) -> None:
        self.report(problem_from_event(event, "A damaged checkpoint was passed over"))

    def _on_paused(self, event: training_events.Paused) -> None:
        if self.state == "pausing":
            self.go_to("paused", marked("Paused"))

    def _on_resumed(self, event: training_events.Resumed) -> None:
        if self.state in ("paused", "pausing"):
            self.go_to("running", marked("Training"))

    def _on_rate_changed(self, event: training_events.RateChanged) -> None:
        self.learning_rate, self.rate_asked = event["learning_rate"], math.nan
        self.new_rate.emit(dict(event))

    def _on_stopping(self, event: training_events.Stopping) -> None:
        self.go_to("stopping", marked("Cancelling…") if event["how"] == "cancel" else "Stopping…")

    def _on_diverged(self, event: training_events.Diverged) -> None:
        self.report(problem_from_event(event, "The loss is not a number any more"))

    def _on_finished(self, event: training_events.Ended) -> None:
        self._end(event)
        self.go_to("finished", marked("Finished"))

    def _on_stopped(self, event: training_events.Ended) -> None:
        self._end(event)
        if event["reason"] == "diverged":
            self.go_to("failed", marked("Stopped: the loss is not a number any more"))
        elif event["reason"] == "interrupted":
            self.go_to("idle", f"Stopped at step {event['step']}; it can be resumed")
        else:
            self.go_to("finished", "Stopped early; the best weights are kept")

    def _on_cancelled(self, event: training_events.Ended) -> None:
        self.clear()
        self.folder = self.run_name = ""
        self.go_to("idle", "Cancelled; what the run wrote was discarded")

    def _on_failed(self, event: training_events.Failed) -> None:
        self.evaluating = False
        self.report(problem_from_event(event, "The training failed"))
        if event["error"] == TARGET_NEEDED:
            self.go_to("idle", "Choose the target on the page Data")
        elif is_interruption(event):
            self.go_to("idle", f"Interrupted at step {event['step']}; it can be resumed")
        else:
            self.go_to("failed", marked("Failed"))

    def _on_output(self, event: Mapping[str, Any]) -> None:
        self.output.emit(event["stream"], event["text"])

    def _on_vitals(self, event: Mapping[str, Any]) -> None:
        self.memory = event["memory"]

    def _on_worker_ended(self, event: Mapping[str, Any]) -> None:
        self.memory = 0
        self.evaluating = False
        if not self.busy:
            return
        if not event["killed"]:
            self.report(problem_from_event(event, "The training process has died"))
        # It may have written a checkpoint and died before it could tell.
        step, path = latest_checkpoint(Path(self.folder)) if self.folder else (0, "")
        if path:
            self.last_checkpoint, self.last_checkpoint_step = path, step
        resume = f"; resume from step {self.last_checkpoint_step}" if self.last_checkpoint else ""
        words = "Ended" if event["killed"] else "The training process has died"
        self.go_to("crashed", f"{words}{resume}")

    def _end(self, event: training_events.Ended) -> None:
        self.evaluating = False
        self.step, self.elapsed, self.seconds_left = event["step"], event["seconds"], 0.0
        if event["best_step"] >= 0:
            self.best_accuracy = event.get("best_accuracy", math.nan)
            self.best_r2, self.best_step = event.get("best_r2", math.nan), event["best_step"]

    def report(self, problem: ProblemView) -> None:
        """A problem for the status bar, the toast and the page Problems."""
        self.last_problem = problem
        self.problem.emit(problem)
