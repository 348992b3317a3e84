"""Weights of other programs: ``load`` of their files as Tensors, and ``save`` in their forms."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError
from engine.core.place import here
from engine.eager.tensor import Tensor
from engine.files.atomic import atomic_file, make_folder
from engine.files.paddle.pickle_arrays import PADDLE
from engine.files.paddle.pickle_writer import pickled
from engine.files.paddle.pickles import read_first_pickle
from engine.files.weights.reading import PICKLE, SAFETENSORS, TORCH, ForeignWeights, read_weights
from engine.files.weights.safetensors import write_safetensors
from engine.framework.paddle_values import from_paddle, to_paddle
from engine.nn.layer.state import TorchState

NATIVE, NPZ = "native", "npz"
FORMATS = (NATIVE, PICKLE, SAFETENSORS, NPZ)
"""What ``save`` writes."""
LAYOUTS = ("paddle", "torch")
_SUFFIXES = {".safetensors": SAFETENSORS, ".npz": NPZ}
_MARK = "format"  # in the metadata of safetensors, as the libraries set it
_MARKS = {"pt": "torch", "paddle": "paddle", "pd": "paddle"}
_NAMES_OF_TORCH = ("running_mean", "running_var", "num_batches_tracked", "in_proj_weight", "in_proj_bias")
_NAMES_OF_PADDLE = ("_mean", "_variance")


def load_foreign(path: Any, return_numpy: bool, keep_name_table: bool, layout: str | None) -> Any:
    """The content of a file that another program wrote. Raises as ``engine.files.weights.read_weights``."""
    return values_of(read_weights(path), return_numpy, keep_name_table, layout, os.fspath(path))


def load_pickle(stored: io.BytesIO, return_numpy: bool, keep_name_table: bool) -> Any:
    """The content of the pickle at the position of ``stored``, which is moved behind it."""
    start = stored.tell()
    value, end = read_first_pickle(stored.read(), "BytesIO", PADDLE)
    stored.seek(start + end)
    return from_paddle(value, return_numpy, keep_name_table, "BytesIO")


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
    marked = _MARKS.get(found.metadata.get(_MARK, ""))
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


def format_of(path: Any, format: str | None) -> str:
    """The form in which ``save`` writes: ``format``, or that of the suffix. Raises ArgumentError."""
    if format is None:
        return NATIVE if isinstance(path, io.BytesIO) else _SUFFIXES.get(Path(path).suffix, NATIVE)
    if format not in FORMATS:
        raise ArgumentError(f"save: format must be one of {', '.join(FORMATS)}: got {format!r}")
    return format


def save_foreign(obj: Any, path: Any, format: str, protocol: int) -> None:
    """Write ``obj`` for other programs: a nest as Paddle pickles it, or a state dict as named arrays.

    Raises:
        ArgumentError, DTypeError: values that the form can't hold. SaveError: it can't be written.
    """
    if format == PICKLE:
        pieces = pickled(to_paddle(obj), protocol)
        if isinstance(path, io.BytesIO):
            path.writelines(pieces)
            return
        make_folder(Path(path).parent)
        with atomic_file(path) as file:
            for piece in pieces:
                file.write(piece)
        return
    if isinstance(path, io.BytesIO):
        raise ArgumentError(f"save: {format} is written to a file: got a BytesIO; give a file name")
    arrays = _arrays(obj, format)
    make_folder(Path(path).parent)
    if format == SAFETENSORS:
        theirs = isinstance(obj, TorchState)
        write_safetensors(path, arrays, {_MARK: "pt" if theirs else "paddle"})
        return
    with atomic_file(path) as file:
        np.savez(file, **arrays)


def _arrays(obj: Any, format: str) -> dict[str, Any]:
    if not isinstance(obj, Mapping):
        raise ArgumentError(
            f"save: {format} holds a state dict: got {type(obj).__name__}; pass a state_dict()"
        )
    found = {}
    for key, value in obj.items():
        array = value.numpy() if isinstance(value, Tensor) else value
        if not isinstance(key, str) or not isinstance(array, np.ndarray):
            raise ArgumentError(
                f"save: {format} holds tensors by name: got {type(value).__name__} at {key!r}; save it with "
                "format='paddle', or without a format"
            )
        found[key] = array
    return found
