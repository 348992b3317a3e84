"""The models that can be explained: saved ones, runs at a checkpoint, layers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine.explain.eager_model import EagerModel
from engine.explain.model import Model
from engine.explain.program_model import ProgramModel
from engine.explain.subject import Subject
from engine.jit.export import prediction_layer, traced
from engine.jit.input_spec import InputSpec
from engine.jit.saved.model_files import read_model_files
from engine.jit.translated_layer import FORWARD, SavedFunction, TranslatedLayer
from engine.nn import Layer
from engine.training.config import TrainingConfig
from engine.training.exporting.export import chosen_checkpoint, network_of
from engine.training.exporting.inputs import export_inputs
from engine.training.folder.run_folder import RunFolder
from resources.settings.export import ExportSettings


def of_saved(prefix: str | os.PathLike[str]) -> Subject:
    """A saved model, in this process: ``open_saved`` takes another one for a model of another installation.

    Raises DataError, FormatError as loading it does.
    """
    layer = prediction_layer(read_model_files(prefix))
    layer.eval()
    return Subject(loaded_model(layer))


def of_run(folder: str | os.PathLike[str], checkpoint: int | str | None = None) -> Subject:
    """The network of a run; the model code that the run keeps is imported into this process.

    Args:
        checkpoint: a step, a file, ``best`` or ``last``; the best one unless given.

    Raises DataError where there is no such checkpoint, FormatError where it is not one of a training.
    """
    store = RunFolder(Path(folder))
    store.refuse_links()
    step = checkpoint if isinstance(checkpoint, int) else None
    tree = chosen_checkpoint(store, checkpoint if isinstance(checkpoint, str) else "best", step, "explain")
    network, data, _, _ = network_of(store, TrainingConfig.from_dict(tree["config"]), tree)
    rows = export_inputs(data, ExportSettings())
    return of_layer(network, [InputSpec(row.shape, row.dtype, row.name) for row in rows])


def of_layer(layer: Layer, input_spec: Sequence[Any] | None = None) -> Subject:
    """A layer with the weights that it has when it is asked; it stays in its mode, mostly that of ``eval()``.

    Args:
        input_spec: as of ``jit.save``; needed unless its forward was converted with one.

    Raises what ``jit.save`` raises for other specs.
    """
    return Subject(model_of_layer(layer, input_spec))


def loaded_model(layer: TranslatedLayer) -> Model:
    """The forward of a loaded model."""
    return ProgramModel(layer.functions[FORWARD], layer)


def model_of_layer(layer: Layer, input_spec: Sequence[Any] | None) -> Model:
    """The forward of a layer: as a Program, where it can't be converted as it is."""
    if isinstance(layer, TranslatedLayer) and FORWARD in layer.functions:
        return loaded_model(layer)
    try:
        program, _ = traced(layer, input_spec)
    except Exception as error:  # of the user's code too, which meets Variables instead of Tensors
        if input_spec is None:
            raise
        return EagerModel(layer, input_spec, f"the network can't be converted to a Program: {error}")
    return ProgramModel(SavedFunction(FORWARD, program))
