"""State dicts of other programs as Tensors or arrays: whose names and layouts they have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError
from engine.core.place import here
from engine.eager.tensor import Tensor
from engine.files.weights.reading import PICKLE, SAFETENSORS, TORCH, ForeignWeights
from engine.jit.saved.paddle_states import from_paddle
from engine.nn.layer.base.state import TorchState

LAYOUTS = ("paddle", "torch")
MARK = "format"
"""The key of safetensors' metadata that says which library wrote a file."""
_MARKS = {"pt": "torch", "paddle": "paddle", "pd": "paddle"}
_NAMES_OF_TORCH = ("running_mean", "running_var", "num_batches_tracked", "in_proj_weight", "in_proj_bias")
_NAMES_OF_PADDLE = ("_mean", "_variance")
_STATES = ("state_dict", "model_state_dict", "model")


def values_of(
    found: ForeignWeights,
    return_numpy: bool,
    keep_name_table: bool = False,
    layout: str | None = None,
    path: str = "",
) -> Any:
    """Tensors, or arrays, of what was read; dicts of PyTorch's tensors are TorchStates.

    ``layout`` says whose names and axes those are; without it, the file's form and names do.
    """
    if layout not in (None, *LAYOUTS):
        raise ArgumentError(f"load: layout must be one of {', '.join(LAYOUTS)}: got {layout!r}")
    if (layout or layout_of(found)) == "torch":
        return _torch_values(found.value, return_numpy)
    return from_paddle(found.value, return_numpy, keep_name_table, path)


def layout_of(found: ForeignWeights) -> str:
    """Whose names and axes weights have: what the file says, then what only one has, then what is usual."""
    if found.form in (TORCH, PICKLE):
        return "torch" if found.form == TORCH else "paddle"
    marked = _MARKS.get(found.metadata.get(MARK, ""))
    if marked is not None:
        return marked
    last = {str(name).rpartition(".")[2] for name in found.value}
    if not last.isdisjoint(_NAMES_OF_TORCH):
        return "torch"
    if not last.isdisjoint(_NAMES_OF_PADDLE):
        return "paddle"
    return "torch" if found.form == SAFETENSORS else "paddle"


def _torch_values(value: Any, return_numpy: bool) -> Any:
    if isinstance(value, np.ndarray):
        return value if return_numpy else Tensor(here(value))
    if isinstance(value, dict):
        kept = {key: _torch_values(part, return_numpy) for key, part in value.items()}
        is_state = bool(value) and all(
            isinstance(key, str) and isinstance(part, np.ndarray) for key, part in value.items()
        )
        return TorchState(kept) if is_state else kept
    if type(value) in (list, tuple):
        return type(value)(_torch_values(part, return_numpy) for part in value)
    return value


def state_within(value: object) -> Any:
    """The state dict of a checkpoint that holds more, under one of the usual keys; else ``value`` itself."""
    if isinstance(value, Mapping) and not isinstance(value, TorchState):
        for key in _STATES:
            held = value.get(key)
            if isinstance(held, Mapping) and any(hasattr(each, "shape") for each in held.values()):
                return held
    return value
