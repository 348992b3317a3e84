"""The subjects of the command and of the window: of a run, of settings, of a saved model."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError
from engine.debugger.points import Subject
from engine.debugger.subjects.prediction import PredictionSubject
from engine.debugger.subjects.rehearsal import Rehearsal, WentWrongError
from engine.debugger.subjects.run_facts import chosen_checkpoint, recorded_events, went_wrong
from engine.debugger.subjects.training import TrainingSubject
from engine.jit.export import layer_of
from engine.jit.saved.model_files import read_model_files
from engine.jit.translated_layer import TranslatedLayer
from engine.training.config import TrainingConfig
from engine.training.data import fetch_data
from engine.training.folder.run_folder import RunFolder
from engine.training.suggesting.suggest import AUTO, with_suggestions

Said = Callable[[str], None]
_SAMPLES = 4  # of a dimension that a model leaves open


def _silent(message: str) -> None:
    """Nothing is said."""


def of_run(
    folder: str | os.PathLike[str],
    checkpoint: int | None = None,
    batch: int | None = None,
    said: Said = _silent,
    changes: Mapping[str, Any] | None = None,
) -> Subject:
    """A step of a run as it was: weights, batch, random numbers, rate and schedule; the run's own code runs.

    Nothing of the run changes.

    Args:
        checkpoint: the step of the checkpoint to begin with; the newest one before ``batch`` unless given.
        batch: the step (from 1) to debug; the steps before it are trained. Unless given, the one after the
            checkpoint; without both, of a run that diverged or failed the step at which it did.
        said: called with what takes long.
        changes: settings that are not the run's: where its data is, which device or how many threads compute.

    Raises:
        ArgumentError: no such checkpoint or step. DataError: no checkpoint that is sound. What making the
            network raises, ConversionError where its step can't be converted to a Program.
    """
    place = Path(folder)
    events = recorded_events(place)
    wrong = went_wrong(events) if checkpoint is None and batch is None else None
    target = batch if wrong is None else wrong.step
    _require_step(target)
    tree, damaged = chosen_checkpoint(place, checkpoint, target)
    config = TrainingConfig.from_dict(tree["config"]).changed(**(changes or {}))
    store = RunFolder(place)
    rehearsal = Rehearsal(config, store.source_path, tree, events, store.journal_path, said)
    begins = rehearsal.progress.step
    step = target or rehearsal.step
    try:
        given = rehearsal.batch_of(step, watch=wrong is not None and wrong.diverged)
    except WentWrongError as error:
        # The loss is computed from weights that the step before made.
        rehearsal.go_back()
        given = rehearsal.batch_of(error.step)
    notes = _notes(config)
    notes[:0] = [f"a damaged checkpoint was skipped: {each.partition('; ')[0]}" for each in damaged]
    if wrong is not None:
        at = f"step {wrong.step}: "
        notes.insert(0, f"the run ended at {at}{wrong.message.removeprefix(at)}")
    title = f"{place.name}, step {rehearsal.step} (from the checkpoint of step {begins})"
    return TrainingSubject(rehearsal, given, title, notes)


def of_config(config: TrainingConfig, batch: int | None = None, said: Said = _silent) -> Subject:
    """A step of a new training with these settings, ``auto`` included; the user's file of the model runs.

    Args:
        batch: the step (from 1); the steps before it are trained. The first one unless given.

    Raises what making the network raises, ConversionError where its step can't be converted.
    """
    _require_step(batch or None)
    if config.model == AUTO:
        fetch_data(config.data, said)
        config = with_suggestions(config, None)
    rehearsal = Rehearsal(config, said=said)
    given = rehearsal.batch_of(batch or 1)
    title = f"{Path(config.model).name}, step {rehearsal.step} of a new training"
    return TrainingSubject(rehearsal, given, title, _notes(config))


def of_saved(
    prefix: str | os.PathLike[str], inputs: Sequence[Any] | None = None, seed: int = 0
) -> PredictionSubject:
    """A saved model on ``inputs``, arrays in the order of its inputs; on random numbers unless given.

    It runs in this process: ``open_saved`` takes another one for a model of another installation.

    Raises DataError, FormatError for other files; what the model raises for inputs that do not
    fit.
    """
    return subject_of(layer_of(read_model_files(prefix)), Path(prefix).name, inputs, seed)


def subject_of(
    layer: TranslatedLayer, title: str, inputs: Sequence[Any] | None, seed: int
) -> PredictionSubject:
    """A loaded model on ``inputs``; on random numbers unless given. Raises as ``of_saved``."""
    given = random_inputs(layer.input_specs(), seed) if inputs is None else list(inputs)
    made = PredictionSubject(layer, given, f"{title}, one batch")
    if inputs is None:
        made.notes.append(f"the inputs are random numbers (seed {seed})")
    return made


def random_inputs(specs: Sequence[Any], seed: int) -> list[np.ndarray[Any, Any]]:
    """Random numbers for inputs; integers are zeros and ones, since they are indices mostly."""
    draw = np.random.default_rng(seed)
    found = []
    for spec in specs:
        shape = [_SAMPLES if size is None or size < 0 else size for size in spec.shape]
        dtype = spec.dtype.np
        kind = np.dtype(dtype).kind
        made = draw.standard_normal(shape) if kind in "fc" else draw.integers(0, 2, shape)
        found.append(made.astype(np.float32 if spec.dtype.name == "bfloat16" else dtype))
    return found


def _notes(config: TrainingConfig) -> list[str]:
    found = []
    if config.workers > 1:
        found.append(f"{config.workers} processes share the training; here one computes whole batches")
    if not config.static:
        found.append("the training computes eagerly; here its step is converted to a Program")
    return found


def _require_step(batch: int | None) -> None:
    if batch is not None and batch < 1:
        raise ArgumentError(f"debug: steps are counted from 1: got {batch}; give e.g. 1")
