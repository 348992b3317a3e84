"""Builds what a training needs from the names in its config: data, loaders, network, optimizer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.core.errors import DataError
from engine.files.checkpoint import Skipped
from engine.training.config import TrainingConfig
from engine.training.corrections import load_run_data
from engine.training.environment import difference, environment
from engine.training.events import now
from engine.training.models import ModelSource, build_model, find_model, load_model
from engine.training.progress import Progress
from engine.training.recomputing import recompute_blocks
from engine.training.rules import make_optimizer, make_schedule
from engine.training.stepper import Stepper
from resources.training_events import Applied, CheckpointSkipped, Started

if TYPE_CHECKING:
    from engine.training.team import Team

TEST_BATCH = 256


@dataclass
class Parts:
    """What TrainingRun drives.

    ``batches`` and ``test_batches`` are iterated once an epoch and give (images, labels); ``batches`` has a
    length, ``state_dict`` and ``set_state_dict`` so that an epoch can be continued in its middle.
    ``corrections`` is the content of the file that was applied to the data, and ``applied`` what it did.
    ``fallback`` says why the CPU computes where ``auto`` hoped for a GPU.
    """

    stepper: Any
    batches: Any
    test_batches: Any
    classes: tuple[str, ...]
    train_samples: int
    test_samples: int
    first_images: Any = None
    model_files: tuple[Path, ...] = ()
    shape: tuple[int, ...] = ()
    prepare: dict[str, Any] = field(default_factory=dict)
    corrections: bytes = b""
    applied: Applied | None = None
    fallback: str = ""

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
        ArgumentError, DataError: no such model; its file is not there.
    """
    path, _, class_name = config.model.rpartition(":")
    if source_folder is None or not path:
        return find_model(config.model)
    copy = source_folder / path.replace("\\", "/").rpartition("/")[2]
    if not copy.is_file():
        raise DataError(
            f"model: the run's copy of its code does not exist: {copy}; put it back, or start a new run"
        )
    return ModelSource(config.model, copy.resolve(), class_name, False)


def build_network(config: TrainingConfig, source_folder: Path | None = None) -> tuple[Any, tuple[Path, ...]]:
    """A new network for ``config`` and the files that define it. Imports the user's file.

    Raises:
        ArgumentError, DataError: as ``find_model``, ``load_model`` and ``build_model`` do.
    """
    loaded = load_model(model_source(config, source_folder))
    return build_model(loaded), loaded.files


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
    from engine.io import DataLoader
    from engine.nn import SyncBatchNorm
    from engine.tensor.creation import to_tensor
    from engine.training.shared_stepper import LeadingStepper, Positions, SharedStepper

    used = use(config.device)
    network, files = build_network(config, source_folder)
    if change is not None:
        network = change(network)
    if team is not None:
        network = SyncBatchNorm.convert_sync_batchnorm(network)
    if config.recompute:
        recompute_blocks(network)
    data = load_run_data(config, source_folder)
    splits = data.splits
    # The order of one process's images, whichever rank reads them.
    items = splits.train if team is None else Positions(len(splits.train))
    batches = DataLoader(items, batch_size=config.batch_size, shuffle=True)
    test_batches = DataLoader(splits.test, batch_size=TEST_BATCH, shuffle=False)
    schedule = make_schedule(config, len(batches))
    optimizer = make_optimizer(config, schedule, network.parameters())
    image, _ = splits.test[0]  # as it is, without random variation
    stepper: Any
    if team is None:
        stepper = Stepper(network, optimizer, config.static, splits.shape, schedule, config.loss)
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
            test=splits.test,
            test_batch=TEST_BATCH,
            seed=config.seed,
        )
    return Parts(
        stepper=stepper,
        batches=batches,
        test_batches=test_batches,
        classes=splits.classes,
        train_samples=len(splits.train),
        test_samples=len(splits.test),
        first_images=to_tensor(image[None]),
        model_files=files,
        shape=splits.shape,
        prepare=splits.prepare.as_plain(),
        corrections=data.corrections,
        applied=data.applied,
        fallback=used.fallback,
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
    if parts is not None and parts.applied is not None:
        started["corrections"] = parts.applied
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
