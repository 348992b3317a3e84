"""Starts a network from existing weights: of a run, an exported model or a state dict."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.core.errors import ArgumentError, DataError
from engine.files.inference import WEIGHTS, inference_prefix
from engine.files.state import read_saved
from engine.files.weights.reading import foreign_form, read_weights
from engine.jit.saved.foreign_states import state_within, values_of
from engine.nn.layer.base.state import TorchState
from engine.nn.layer.base.torch_names import translated
from resources.training_events import Transferred

if TYPE_CHECKING:
    from engine.nn import Layer

_SHOWN = 5
_OF_TARGETS = ("target_mean", "target_deviation")
_WRAPPED = "network."  # what exported networks are named that normalise their input themselves


def start_from(network: Layer, path: str) -> Transferred:
    """Give ``network`` the weights at ``path`` whose names and shapes are its own.

    Args:
        path: the folder of a run (its best checkpoint, else its last), the prefix of an exported model, or a
            file of weights, also of another program (``.pdparams``, ``.safetensors``, ``.npz``, ``.pth``). No
            code of it is run. Weights of PyTorch are translated by the classes of the layers.

    Raises:
        DataError, FormatError: not found, or damaged.
        ArgumentError: not one weight fits.
    """
    there = weights_at(path)
    unused: list[str] | None = None
    if isinstance(there, TorchState):
        there, unused, _ = translated(network, there)
    own = network.state_dict()
    matched = {
        name: there[name]
        for name, weight in own.items()
        if name in there and tuple(there[name].shape) == tuple(weight.shape)
    }
    if not any(np.asarray(value).size > 1 for value in matched.values()):
        raise ArgumentError(
            f"start_from: no weight of {path} fits the model: it has {_listed(there)}, the model "
            f"{_listed({name: weight.numpy() for name, weight in own.items()})}; start from a run of the "
            "same kind of model"
        )
    network.set_state_dict({**own, **matched})
    return Transferred(
        path=path,
        matched=list(matched),
        replaced=[name for name in own if name not in matched],
        unused=[name for name in there if name not in own] if unused is None else unused,
    )


def weights_at(path: str) -> dict[str, np.ndarray]:
    """The weights of a run, an exported model or a file of weights, by their names in the network; those of
    PyTorch as a TorchState.

    Raises DataError, FormatError.
    """
    from engine.jit.export import structured_weights
    from engine.jit.saved.model_files import is_model_file, read_model_files

    place = Path(path).expanduser()
    prefix = inference_prefix(place)
    if place.is_dir():
        weights = _of_run(place)
    elif is_model_file(place) or (Path(f"{prefix}.{WEIGHTS}").is_file() and place.suffix != ".pdparams"):
        weights = structured_weights(read_model_files(place))
    elif foreign_form(place):
        weights = state_within(values_of(read_weights(place), return_numpy=True, path=str(place)))
        if isinstance(weights, TorchState):
            return weights
    elif place.is_file():
        suffix, tree, _ = read_saved(place)
        weights = tree["weights"] if suffix == WEIGHTS else tree
    else:
        raise DataError(
            f"start_from: not found: {path}; give the folder of a run, an exported model or a file of "
            "weights (.pdparams, .safetensors, .npz, .pth)"
        )
    found = _arrays(weights)
    if not found:
        raise DataError(f"start_from: it has no weights: {path}; give a run, an exported model or weights")
    # An exported network may have a Layer around it for its input, and one for its output.
    while True:
        names = [name for name in found if name not in ("mean", "deviation", *_OF_TARGETS)]
        if not names or not all(name.startswith(_WRAPPED) for name in names):
            return found
        inner = [name for name in found if name.startswith(_WRAPPED)]
        found = {name.removeprefix(_WRAPPED): found[name] for name in inner}


def _of_run(folder: Path) -> Any:
    from engine.files.checkpoint import BEST_NAME
    from engine.training.folder.run_folder import RunFolder

    store = RunFolder(folder)
    store.refuse_links()
    if (store.checkpoints_path / BEST_NAME).exists():
        return store.read_best().get("model")
    return store.read_checkpoint(store.latest_checkpoint("start_from")[0]).get("model")


def _arrays(weights: Any) -> dict[str, np.ndarray]:
    if not isinstance(weights, Mapping):
        return {}
    # A state dict on disk has a Tensor's array among its facts.
    found = {name: each.get("value") if isinstance(each, dict) else each for name, each in weights.items()}
    return {str(name): value for name, value in found.items() if isinstance(value, np.ndarray)}


def _listed(weights: Mapping[str, np.ndarray]) -> str:
    words = [f"{name} {list(value.shape)}" for name, value in list(weights.items())[:_SHOWN]]
    return ", ".join(words) + (f" and {len(weights) - _SHOWN} more" if len(weights) > _SHOWN else "")


def freeze_first(network: Layer, count: int) -> list[str]:
    """Keep the weights of the first ``count`` layers that have any as they are; returns their names.

    A batch normalization among them uses its stored mean and variance and does not update them.

    Raises:
        ArgumentError: nothing would be left to train.
    """
    layers = [
        (name, layer)
        for name, layer in network.named_sublayers()
        if any(True for _ in layer.parameters(include_sublayers=False))
    ]
    if count >= len(layers):
        raise ArgumentError(
            f"freeze: {count} of {len(layers)} layers with weights: none is left to train; give at most "
            f"{len(layers) - 1}"
        )
    for _, layer in layers[:count]:
        for parameter in layer.parameters(include_sublayers=False):
            parameter.stop_gradient = True
        if hasattr(layer, "_use_global_stats"):
            layer._use_global_stats = True
    return [name for name, _ in layers[:count]]
