"""Checks exported files again: loads them in a clean process and compares them with their run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from engine.core.errors import DataError, FormatError
from engine.files.scratch import temporary_folder
from engine.jit.saved.model_files import describe_model_files
from engine.training.config import TrainingConfig
from engine.training.events import now
from engine.training.exporting.check import verify
from engine.training.exporting.export import (
    checkpoint_of_step,
    figures_of,
    network_of,
    sample_images,
    scores_of,
)
from engine.training.folder.run_folder import RunFolder
from engine.training.sources.several_inputs import samples_in
from resources.export_events import Exported, ExportProgress


def verify_again(
    prefix: str,
    folder: Path,
    samples: int = 256,
    emit: Callable[[ExportProgress], None] = lambda event: None,
) -> Exported:
    """Compare the answers of the files at ``prefix`` with those of the run in ``folder`` at the step that the
    files name. Imports the run's own copy of the model's code; writes nothing next to the files.

    Raises:
        DataError, FormatError: the files or the checkpoint are missing or damaged, or the files don't load
            in a clean process.
    """
    emit(_progress("read", "Reading the files and the checkpoint..."))
    described = describe_model_files(prefix)
    info = described.info.get("info") if isinstance(described.info, dict) else None
    step = info.get("step") if isinstance(info, dict) else None
    if not isinstance(step, int):
        raise FormatError(
            f"{prefix}: the files don't say which step of a run they are of: {step!r}; export the run anew"
        )
    store = RunFolder(folder)
    store.refuse_links()
    try:
        tree = checkpoint_of_step(store, step)
    except DataError as error:
        raise DataError(
            f"{prefix}: there is nothing to compare with: {str(error).partition('; ')[0]}; export again"
        ) from error
    config = TrainingConfig.from_dict(tree["config"])
    network, data, _, measured = network_of(store, config, tree)
    emit(_progress("verify", "Loading them in a clean process..."))
    images, labels = sample_images(config, store.source_path, data, samples)
    with temporary_folder("verify") as work:
        found = verify(described.prefix, images, described.prefix, work)
    expected = scores_of(network, images)
    event = Exported(
        event="exported",
        time=now(),
        prefix=prefix,
        samples=samples_in(images),
        step=step,
        difference=float(np.abs(found.scores - expected).max()),
        pictures="noise" if labels is None else "test",
        sizes=described.sizes,
        operators=described.info.get("operators", []),
        save_id=described.save_id,
        latency=found.latency,
        seconds_to_load=found.seconds_to_load,
    )
    event.update(figures_of(data, measured, found.scores, labels))
    return event


def _progress(stage: str, message: str) -> ExportProgress:
    return ExportProgress(event="export_progress", time=now(), stage=stage, message=message)
