"""Weights of other programs: ``load`` of their files as Tensors, and ``save`` in their forms."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError
from engine.eager.tensor import Tensor
from engine.files.atomic import atomic_file, make_folder
from engine.files.paddle.pickle_arrays import PADDLE
from engine.files.paddle.pickle_writer import pickled
from engine.files.paddle.pickles import read_first_pickle
from engine.files.plain import StrPath
from engine.files.weights.reading import PICKLE, SAFETENSORS, read_weights
from engine.files.weights.safetensors import write_safetensors
from engine.jit.saved.foreign_states import MARK, values_of
from engine.jit.saved.paddle_states import from_paddle, to_paddle
from engine.nn.layer.base.state import TorchState

NATIVE, NPZ = "native", "npz"
FORMATS = (NATIVE, PICKLE, SAFETENSORS, NPZ)
"""What ``save`` writes."""
_SUFFIXES = {".safetensors": SAFETENSORS, ".npz": NPZ}


def load_foreign(path: StrPath, return_numpy: bool, keep_name_table: bool, layout: str | None) -> Any:
    """The content of a file that another program wrote. Raises as ``engine.files.weights.read_weights``."""
    return values_of(read_weights(path), return_numpy, keep_name_table, layout, os.fspath(path))


def load_pickle(stored: io.BytesIO, return_numpy: bool, keep_name_table: bool) -> Any:
    """The content of the pickle at the position of ``stored``, which is moved behind it."""
    start = stored.tell()
    value, end = read_first_pickle(stored.read(), "BytesIO", PADDLE)
    stored.seek(start + end)
    return from_paddle(value, return_numpy, keep_name_table, "BytesIO")


def format_of(path: StrPath | io.BytesIO, format: str | None) -> str:
    """The form in which ``save`` writes: ``format``, or that of the suffix. Raises ArgumentError."""
    if format is None:
        return NATIVE if isinstance(path, io.BytesIO) else _SUFFIXES.get(Path(path).suffix, NATIVE)
    if format not in FORMATS:
        raise ArgumentError(f"save: format must be one of {', '.join(FORMATS)}: got {format!r}")
    return format


def save_foreign(obj: object, path: StrPath | io.BytesIO, format: str, protocol: int) -> None:
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
        write_safetensors(path, arrays, {MARK: "pt" if theirs else "paddle"})
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
