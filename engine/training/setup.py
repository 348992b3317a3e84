"""Builds what a training needs from the names in its config: data, loaders, network, optimizer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.core.errors import DataError
from engine.files.checkpoint import Skipped
from engine.training.config import TrainingConfig
from engine.training.corrections import load_run_data
from engine.training.environment import difference, environment
from engine.training.events import now
from engine.training.exporting.inputs import usual_rows
from engine.training.network.losses import class_weights
from engine.training.network.model_inputs import with_names_of
from engine.training.network.models import ModelSource, build_model, find_model, load_model
from engine.training.network.recomputing import recompute_blocks
from engine.training.network.transfer import freeze_first, start_from
from engine.training.reporting.progress import Progress
from engine.training.resolve import fitted, with_kind
from engine.training.rules.rules import make_optimizer, make_schedule
from engine.training.sources.several_inputs import with_batch
from engine.training.sources.spec import DataSpec
from engine.training.stepper import Stepper
from engine.training.suggesting.baselines import baseline_event
from resources.training_events import (
    Applied,
    Baseline,
    CheckpointSkipped,
    SkippedImages,
    Started,
    Transferred,
)

if TYPE_CHECKING:
    from engine.nn import Layer
    from engine.training.team.team import Team

TEST_BATCH = 256
_NAMED = 20  # skipped images


@dataclass
class Parts:
    """What TrainingRun drives.

    ``batches`` and ``test_batches`` are iterated once an epoch and give (images, labels); ``batches`` has a
    length, ``state_dict`` and ``set_state_dict`` so that an epoch can be continued in its middle.
    ``corrections`` is the content of the file that was applied to the data, and ``applied`` what it did.
    ``config`` is that of the run fitted to its data, ``spec`` what the data is. The best checkpoint is chosen
    on ``validation_batches``, where there are some. ``baseline`` measures what simple models reach.
    ``skipped`` names the images that can't be read. ``fallback`` says why the CPU computes where ``auto``
    hoped for a GPU, ``transferred`` which weights it started from.
    """

    stepper: Any
    batches: Any
    test_batches: Any
    classes: tuple[str, ...]
    train_samples: int
    test_samples: int
    first_images: Any = None
    model_files: Mapping[Path, bytes] = field(default_factory=dict)
    shape: tuple[int, ...] = ()
    prepare: dict[str, Any] = field(default_factory=dict)
    corrections: bytes = b""
    applied: Applied | None = None
    fallback: str = ""
    transferred: Transferred | None = None
    config: TrainingConfig | None = None
    spec: DataSpec | None = None
    validation_batches: Any = None
    validation_samples: int = 0
    baseline: Callable[[], Baseline] | None = None
    skipped: tuple[str, ...] = ()
    unlabelled: int = 0

    @property
    def task(self) -> str:
        """Whether classes or numbers are predicted."""
        return "classes" if self.spec is None else self.spec.task

    def check(self) -> None:
        """Run the network once on an image in eager mode, so that a mistake in it shows at once."""
        if self.first_images is not None:
            self.stepper.check(self.first_images, self.classes)


def model_source(config: TrainingConfig, source_folder: Path | None = None) -> ModelSource:
    """Where the model of ``config`` is defined: for a user's model in the ``source/`` folder of its run, if
    given.

    A resumed run uses the code that it began with, whatever has happened to the original file. No other file
    is used: an untrusted run must not choose a file on this machine to be executed.

    Raises:
        ArgumentError, DataError: no such model; its file does not exist.
    """
    path, _, class_name = config.model.rpartition(":")
    if source_folder is None or not path:
        return find_model(config.model)
    copy = source_folder / path.replace("\\", "/").rpartition("/")[2]
    if not copy.is_file():
        raise DataError(
            f"model: the run's copy of its code does not exist: {copy}; put it back, or start a new run"
        )
    return ModelSource(config.model, copy.resolve(), class_name, False, of_run=True)


def build_network(
    config: TrainingConfig, source_folder: Path | None = None
) -> tuple[Layer, Mapping[Path, bytes]]:
    """A new network for ``config`` and the files that define it. Imports the user's file.

    Raises:
        ArgumentError, DataError: as ``find_model``, ``load_model`` and ``build_model`` do.
    """
    loaded = load_model(model_source(config, source_folder))
    return build_model(loaded, config.model_params), loaded.files


def build_parts(
    config: TrainingConfig,
    source_folder: Path | None = None,
    team: Team | None = None,
    change: Callable[[Any], Any] | None = None,
) -> Parts:
    """Everything for a training of ``config``; random numbers are drawn for the initial weights only.

    Args:
        team: the ranks that share the training, of which this process is one; None for one process.
        change: makes of the new network the one that is trained.

    Raises:
        ArgumentError, DataError, DeviceError: an unknown name, missing data or device, a schedule that
            ends before the run, a network without blocks that could be computed again.
    """
    from engine.core.devices import use
    from engine.io import BatchSampler, DataLoader, WeightedRandomSampler
    from engine.io.collate import to_tensors
    from engine.nn import SyncBatchNorm
    from engine.training.team.shared_stepper import LeadingStepper, Positions, SharedStepper

    used = use(config.device)
    loaded = load_model(model_source(config, source_folder))
    data = load_run_data(with_kind(config), source_folder)
    splits = data.splits
    config = fitted(config, splits.spec)
    network = build_model(loaded, config.model_params)
    splits = with_names_of(splits, network)
    # A resumed run has a source folder, and its weights in a checkpoint.
    begun = start_from(network, config.start_from) if config.start_from and source_folder is None else None
    if config.freeze:
        freeze_first(network, config.freeze)
    if change is not None:
        network = change(network)
    if team is not None:
        network = SyncBatchNorm.convert_sync_batchnorm(network)
    if config.recompute:
        recompute_blocks(network)
    # The order of one process's images, whichever rank reads them.
    items = splits.train if team is None else Positions(len(splits.train))
    weights = class_weights(splits.train.labels, len(splits.classes)) if config.balance != "none" else []
    if config.balance == "sampling":
        # As many samples an epoch as there are, each class as often as the others.
        sampler = WeightedRandomSampler(np.asarray(weights)[splits.train.labels.reshape(-1)], len(items))
        batches = DataLoader(items, batch_sampler=BatchSampler(None, sampler, False, config.batch_size))
    else:
        batches = DataLoader(items, batch_size=config.batch_size, shuffle=True)
    test_batches = DataLoader(splits.test, batch_size=TEST_BATCH, shuffle=False)
    validation_batches = None
    if splits.validation is not None:
        validation_batches = DataLoader(splits.validation, batch_size=TEST_BATCH, shuffle=False)
    schedule = make_schedule(config, len(batches))
    optimizer = make_optimizer(config, schedule, network.parameters())
    image, _ = splits.test[0]  # as it is, without random variation
    stepper: Any
    more: dict[str, Any] = {
        "scale": splits.prepare if splits.spec.task == "numbers" else None,
        "spec": splits.spec,
        "class_weights": weights if config.balance == "weights" else (),
    }
    if team is None:
        stepper = Stepper(network, optimizer, config.static, splits.shape, schedule, config.loss, **more)
    else:
        stepper = (LeadingStepper if team.leads else SharedStepper)(
            network,
            optimizer,
            config.static,
            splits.shape,
            schedule,
            config.loss,
            team=team,
            train=splits.train,
            measured=[splits.measured, *([splits.test] if splits.validation is not None else [])],
            test_batch=TEST_BATCH,
            seed=config.seed,
            **more,
        )
    return Parts(
        stepper=stepper,
        batches=batches,
        test_batches=test_batches,
        classes=splits.classes,
        train_samples=len(splits.train),
        test_samples=len(splits.test),
        first_images=to_tensors(with_batch(image)),
        model_files=loaded.files,
        shape=splits.shape,
        prepare=splits.prepare.as_plain(),
        corrections=data.corrections,
        applied=data.applied,
        fallback=used.fallback,
        transferred=begun,
        config=config,
        spec=splits.spec,
        validation_batches=validation_batches,
        validation_samples=0 if splits.validation is None else len(splits.validation),
        baseline=lambda: baseline_event(splits),
        skipped=splits.skipped,
        unlabelled=splits.unlabelled,
    )


def started_event(
    config: TrainingConfig,
    progress: Progress,
    resumed_from: str = "",
    parts: Parts | None = None,
    checkpoint: dict[str, Any] | None = None,
) -> Started:
    """The event that a training of ``config`` begins; without ``parts`` it is one that could not be made.

    ``checkpoint`` is the one that it resumes from: it records what the last bits depended on before.
    """
    started = Started(
        event="started",
        time=now(),
        config=config.as_dict(),
        folder=config.out,
        step=progress.step,
        epoch=min(progress.epoch + 1, config.epochs),
        steps_per_epoch=progress.steps_per_epoch,
        total_steps=progress.total_steps,
        train_samples=parts.train_samples if parts else 0,
        test_samples=parts.test_samples if parts else 0,
        classes=list(parts.classes) if parts else [],
        parameters=parts.stepper.parameter_count() if parts else 0,
        resumed_from=resumed_from,
        shape=list(parts.shape) if parts else [],
        environment=environment(),
    )
    if parts is not None and parts.spec is not None:
        if parts.spec.feeds:
            started["inputs"] = [row.text for row in usual_rows(parts.spec.feeds)]
        started["kind"], started["task"] = parts.spec.kind, parts.spec.task
        started["chosen_on"] = "test" if parts.validation_batches is None else "validation"
        if parts.validation_samples:
            started["validation_samples"] = parts.validation_samples
        if parts.spec.targets:
            units = {column.name: column.unit for column in parts.spec.columns}
            started["targets"] = list(parts.spec.targets)
            started["units"] = [units.get(name, "") for name in parts.spec.targets]
    if parts is not None and parts.applied is not None:
        started["corrections"] = parts.applied
    if parts is not None and parts.skipped:
        started["skipped"] = SkippedImages(count=len(parts.skipped), first=list(parts.skipped[:_NAMED]))
    if parts is not None and parts.unlabelled:
        started["unlabelled"] = parts.unlabelled
    if parts is not None and parts.transferred is not None:
        started["transferred"] = parts.transferred
    if parts is not None and parts.fallback:
        started["fallback"] = parts.fallback
    if checkpoint is not None and (differs := difference(checkpoint.get("computing"))):
        started["differs"] = differs
    return started


def skipped_events(skipped: Iterable[Skipped], step: int) -> list[CheckpointSkipped]:
    """The events about checkpoints that can't be used, where a training resumes from ``step``."""
    return [
        CheckpointSkipped(
            event="checkpoint_skipped",
            time=now(),
            step=step,
            path=str(each.path),
            message=f"{each.problem}; the training resumes from step {step}",
        )
        for each in skipped
    ]


def own_file(model: str) -> list[str]:
    """The user's file in ``FILE.py:Class``, to find the user's line of an error before it was imported."""
    path = model.rpartition(":")[0]
    return [str(Path(path).expanduser().resolve())] if path.endswith(".py") else []
