"""The events of a training: plain dicts, the same in the pipe and in the journal.

They are here, and not in the engine, so that a window that checks them need not import it.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict, get_args

import numpy as np


class Timed(TypedDict):
    """Fields of every event, besides ``event`` (its kind): ``time``, in seconds since 1970."""

    time: float


class Applied(TypedDict):
    """Corrections of a run's data: ``sha256`` is that of the file, ``count`` how many of its corrections are
    about this data. ``relabelled`` (which got another label, or other numbers to predict) and ``dropped``
    count samples by split, ``missing`` the corrections whose sample is not in the data.
    """

    sha256: str
    count: int
    relabelled: dict[str, int]
    dropped: dict[str, int]
    missing: int


class Transferred(TypedDict):
    """Which weights of a network were taken from elsewhere, by name.

    ``replaced`` have another shape there (a last layer for other classes) or are missing there, and begin
    anew; ``unused`` are there and not in the network.
    """

    path: str
    matched: list[str]
    replaced: list[str]
    unused: list[str]


class Preparing(Timed):
    """Something slow is waited for: before ``started`` the data, later the compiler of kernels."""

    event: Literal["preparing"]
    message: str


class SkippedImages(TypedDict):
    """The images of a run's data that can't be read and are in no split: how many, and the first of them."""

    count: int
    first: list[str]


class Started(Timed):
    """The first event of a run that could be set up; ``step`` and ``epoch`` are above 0 where it was
    resumed. ``corrections`` says what a file of corrections did to the data, ``environment`` where it
    runs, ``differs`` why the results of a resumed run can't be bitwise identical, ``fallback`` why the CPU
    computes where the device ``auto`` hoped for a GPU, ``transferred`` which weights it started from.

    ``kind`` and ``task`` are those of the data, ``targets`` the names of the numbers to predict and ``units``
    their units, ``chosen_on`` is the split on which the best checkpoint is chosen: test or validation, and
    ``skipped`` names images that can't be read, and ``unlabelled`` counts the samples without a label, which
    are in no split. Runs of earlier versions have none of these. ``inputs`` are those of a model that takes
    several, as ``image: None,1,8,8 float32``; ``shape`` and ``kind`` describe the first.
    """

    event: Literal["started"]
    config: dict[str, Any]
    folder: str
    step: int
    epoch: int
    steps_per_epoch: int
    total_steps: int
    train_samples: int
    test_samples: int
    classes: list[str]
    parameters: int
    resumed_from: str
    shape: NotRequired[list[int]]  # of a sample that the model is fed; runs of earlier versions have none
    corrections: NotRequired[Applied]
    environment: NotRequired[dict[str, str]]
    differs: NotRequired[str]
    fallback: NotRequired[str]
    transferred: NotRequired[Transferred]
    kind: NotRequired[str]
    task: NotRequired[str]
    targets: NotRequired[list[str]]
    units: NotRequired[list[str]]
    chosen_on: NotRequired[str]
    validation_samples: NotRequired[int]
    skipped: NotRequired[SkippedImages]
    unlabelled: NotRequired[int]
    inputs: NotRequired[list[str]]


class BaselineFigures(TypedDict):
    """What a simple model reaches, by task."""

    accuracy: NotRequired[float]
    r2: NotRequired[float]
    mae: NotRequired[float]


class Baseline(Timed):
    """Right after ``started``: what can be reached without the network, on the split that is measured.

    ``constant`` answers the most frequent class, or the mean, of the training samples; ``linear`` is a linear
    model of at most ``samples`` of them, absent where it could not be computed.
    """

    event: Literal["baseline"]
    step: int
    split: str
    constant: BaselineFigures
    linear: NotRequired[BaselineFigures]
    samples: NotRequired[int]


class RankPace(TypedDict):
    """How fast one of several processes was: steps in a second of its own computing, and the share of its
    time (0 to 1) that it waited for the others."""

    rank: int
    steps_per_second: float
    waiting: float


class Steps(Timed):
    """All steps since the last such event (about fourteen events a second), and the progress of the run.

    ``learning_rate`` is that of the next step. ``scalars`` has further values by name, one for each step:
    ``gradient_norm`` is the norm of all gradients together, before any clipping. ``memory`` is what the
    process holds, in bytes. ``ranks`` comes about once a second where several processes share the training.
    """

    event: Literal["steps"]
    steps: list[int]
    losses: list[float]
    accuracies: NotRequired[list[float]]  # of classes
    step: int
    epoch: int
    total_steps: int
    samples_per_second: float
    seconds_left: float
    elapsed: float
    learning_rate: float
    scalars: NotRequired[dict[str, list[float]]]
    memory: NotRequired[int]
    ranks: NotRequired[list[RankPace]]


class Histogram(TypedDict):
    """``counts`` of the values in equal bins from ``low`` to ``high``; ``bad`` of those not finite."""

    low: float
    high: float
    counts: list[int]
    bad: int


class ParameterState(TypedDict):
    """A parameter after an update: how many numbers, whether it is a matrix (no bias), the norms of its
    weights before the update and of its gradient, and that of the update divided by that of the weights."""

    name: str
    size: int
    matrix: bool
    norm: float
    gradient_norm: float
    ratio: float
    weights: Histogram
    gradients: Histogram


class UnitState(TypedDict):
    """How many ``units`` (channels) of a ReLU are ``dead``: zero for all samples of the batch."""

    name: str
    operator: str
    units: int
    dead: int


class Layers(Timed):
    """What ``step`` did to each layer; ``seconds`` is what the look took."""

    event: Literal["layers"]
    step: int
    epoch: int
    parameters: list[ParameterState]
    units: list[UnitState]
    seconds: float


NO_EFFECT = "no_effect"
"""The kind of a LayerAlert that is a hint: nothing is wrong."""


class LayerAlert(Timed):
    """A layer that does not train: ``kind`` is nan_weights, nan_gradient, vanishing, exploding, detached,
    ratio_low, ratio_high, dead, or ``NO_EFFECT`` for superfluous biases; ``file`` and ``line`` call it."""

    event: Literal["layer_alert"]
    step: int
    epoch: int
    layer: str
    kind: str
    value: float
    message: str
    file: NotRequired[str]
    line: NotRequired[int]


class Evaluating(Timed):
    """An evaluation on the test images begins."""

    event: Literal["evaluating"]
    epoch: int
    step: int


class Hard(TypedDict):
    """A test image that the model reads worst: the least probability given to its true class."""

    index: int
    label: int
    predicted: int
    probability: float


class Worst(TypedDict):
    """A test sample with one of the largest errors: its numbers and those predicted, in their units.

    ``error`` is the root of the mean squared error of its scaled numbers.
    """

    index: int
    target: list[float]
    predicted: list[float]
    error: float


class Epoch(Timed):
    """The end of one pass; ``confusion[label][predicted]`` counts test images.

    Of numbers there are ``validation_r2`` (the mean over the targets), ``validation_mae`` (in their unit) and
    ``worst`` instead of accuracies, ``confusion`` and ``hardest``. ``validation_top5`` is the share of
    samples whose class is among the five likeliest, above 20 classes. ``task`` is there unless it is classes.

    ``partial`` is True where the epoch was stopped early, ``scalars`` has further values by name.
    ``pictures`` (images, sequences or rows of texts for each of ``hardest`` or ``worst``, see
    ``engine.training.measuring.shown_samples``) goes to listeners, not into the journal.
    """

    event: Literal["epoch"]
    epoch: int
    step: int
    partial: bool
    train_loss: float
    train_accuracy: NotRequired[float]
    validation_loss: float
    validation_accuracy: NotRequired[float]
    validation_top5: NotRequired[float]
    validation_r2: NotRequired[float]
    validation_mae: NotRequired[float]
    confusion: NotRequired[list[list[int]]]
    hardest: NotRequired[list[Hard]]
    worst: NotRequired[list[Worst]]
    task: NotRequired[str]
    pictures: NotRequired[np.ndarray | list[list[list[str]]]]
    best: bool
    seconds: float
    scalars: NotRequired[dict[str, float]]


class Checkpoint(Timed):
    """A checkpoint was written; ``reason`` is start, steps, epoch, asked, rate (before that is changed) or
    stop."""

    event: Literal["checkpoint"]
    step: int
    epoch: int
    path: str
    reason: str
    seconds: float
    bytes: int


class CheckpointFailed(Timed):
    """A file could not be written; the training continues, earlier files are unchanged."""

    event: Literal["checkpoint_failed"]
    step: int
    path: str
    message: str


class SpaceLow(Timed):
    """Before the first step: the checkpoints that the run retains will not all fit on the disk, in bytes."""

    event: Literal["space_low"]
    step: int
    free: int
    needed: int
    message: str


class CheckpointSkipped(Timed):
    """The checkpoint at ``path`` is damaged; the run resumes from the older one of ``step``."""

    event: Literal["checkpoint_skipped"]
    step: int
    path: str
    message: str


class Paused(Timed):
    """The training holds after ``step``."""

    event: Literal["paused"]
    step: int


class Resumed(Timed):
    """The training continues after a pause."""

    event: Literal["resumed"]
    step: int


class RateChanged(Timed):
    """After ``step`` the learning rate was changed by hand from ``before`` to ``learning_rate``.

    A schedule continues with its rates multiplied by ``factor`` (of the schedule as it was made; 1 without
    one).
    """

    event: Literal["rate_changed"]
    step: int
    epoch: int
    learning_rate: float
    before: float
    factor: float


class KernelsTaken(Timed):
    """From the step after ``step`` on plans use compiled kernels of ``operators``, and of others as plans are
    made. ``since`` is the step at which the training took such kernels first; -1 where it has none, since
    what compiles them is ``missing`` here: why, and what to do.
    """

    event: Literal["kernels"]
    step: int
    since: int
    operators: list[str]
    missing: NotRequired[str]


class Stopping(Timed):
    """The training was asked to end: ``how`` is early, interrupted or cancel."""

    event: Literal["stopping"]
    step: int
    how: str


class Diverged(Timed):
    """The loss is not a finite number any more."""

    event: Literal["diverged"]
    step: int
    epoch: int
    loss: float
    checkpoint: str
    message: str


class Ended(Timed):
    """The last event of a run; ``reason`` says why it stopped: early, interrupted or diverged.

    The figures are those of the task. Where the best checkpoint was chosen on a validation split,
    ``test_...`` has its figures on the test split.
    """

    event: Literal["finished", "stopped", "cancelled"]
    step: int
    epoch: int
    reason: str
    validation_accuracy: NotRequired[float]
    best_accuracy: NotRequired[float]
    validation_r2: NotRequired[float]
    validation_mae: NotRequired[float]
    best_r2: NotRequired[float]
    test_loss: NotRequired[float]
    test_accuracy: NotRequired[float]
    test_top5: NotRequired[float]
    test_r2: NotRequired[float]
    test_mae: NotRequired[float]
    best_step: int
    seconds: float
    folder: str
    checkpoint: str


class Failed(Timed):
    """The last event of a run that an error ended; ``file`` and ``line`` are the user's where known."""

    event: Literal["failed"]
    error: str
    message: str
    where: str
    what: str
    do: str
    file: str
    line: int
    traceback: str
    step: int
    checkpoint: str


class ProgramShown(Timed):
    """A model's Program and sources as plain data.

    ``program`` is what ``serialize.to_plain`` gives, ``text`` what Paddle prints, ``source`` the text of
    ``source_file``, where the forward begins at ``source_line``, and ``converted`` what ``to_static`` made
    of it.
    """

    event: Literal["program"]
    model: str
    program: Any
    text: str
    source: str
    source_file: str
    source_line: int
    converted: str


TrainingEvent: TypeAlias = (
    Preparing | Started | Baseline | Steps | Evaluating | Epoch | Checkpoint | CheckpointFailed
    | CheckpointSkipped | SpaceLow | Layers | LayerAlert | Paused | Resumed | RateChanged | KernelsTaken
    | Stopping | Diverged | Ended | Failed
)  # fmt: skip
TRAINING_EVENTS: tuple[type, ...] = get_args(TrainingEvent)
LAST_KINDS = ("finished", "stopped", "cancelled", "failed")
