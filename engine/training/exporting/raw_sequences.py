"""Sequences of any length as a model is fed them, and the arrays of files that may hold them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from engine.core.errors import DataError
from engine.training.sources.array_names import is_inputs_name, is_labels_name, is_lengths_name
from engine.training.sources.rows import ArrayTable
from engine.training.sources.sequences import MaskedSequences
from engine.training.sources.spec import DataSpec

_LARGEST = 4 << 30  # bytes of an array, all of whose samples are fed at once


def as_fed(
    spec: DataSpec, values: np.ndarray | Sequence[Any], lengths: np.ndarray | Sequence[int] | None = None
) -> tuple[np.ndarray, int]:
    """Sequences as the model of ``spec`` is fed them, float32 [n, ...], and how many were padded.

    They are padded with zeros to the steps of training; a model of sequences of several lengths gets a mask
    behind the values. An array that has this mask already is taken as it is.

    Args:
        values: one sequence [steps, values] or several [n, steps, values]; where a step has one value, its
            axis may be absent.
        lengths: the steps of each sequence; then [steps of all, values] are several behind each other.

    Raises:
        DataError: too long, another number of values, or not numbers; says both sizes.
    """
    steps, width = spec.shape[0], math.prod(spec.shape[1:])
    inner = width - 1 if spec.masked else width
    found = np.asarray(values)
    if found.dtype.kind not in "biuf":
        raise DataError(f"a sequence: not numbers: {found.dtype}; give numbers")
    found = found.astype(np.float32)
    if lengths is None and spec.masked and found.ndim in (2, 3) and _has_mask(found, width):
        found = found[None] if found.ndim == 2 else found
        lengths, found = found[..., -1].sum(axis=1), found[..., :-1]
    elif lengths is None:
        found = _batch(spec, found, inner)
        lengths = np.full(len(found), found.shape[1])
    elif found.ndim > 1 and found.shape[-1] != inner and not (inner == 1 and found.ndim == 2):
        raise _other_shape(spec, found.shape, inner)
    made = _padded(found, lengths, steps)
    if not spec.masked:
        made = made[..., :-1]
    if not np.isfinite(made).all():
        row, step = np.argwhere(~np.isfinite(made))[0][:2].tolist()
        raise DataError(f"sequence {row}, step {step}: not a finite number; give one")
    return made.reshape(len(made), *spec.shape), int((np.asarray(lengths) < steps).sum())


def _padded(found: np.ndarray, lengths: np.ndarray | Sequence[int], steps: int) -> np.ndarray:
    """Sequences [n, steps, values + 1] with the mask as their last value."""
    masked = MaskedSequences(ArrayTable(found), lengths, "lengths")
    if masked.shape[1] > steps:
        longest = int(np.max(lengths))
        if longest > steps:
            raise DataError(
                f"a sequence of {longest} steps: the model takes at most {steps}; cut it, or train with "
                "longer ones"
            )
        masked = MaskedSequences(ArrayTable(found[:, :steps]), lengths, "lengths")
    return masked.widened(steps).take(np.arange(masked.shape[0]))


def _batch(spec: DataSpec, found: np.ndarray, inner: int) -> np.ndarray:
    """Sequences [n, steps, values] in an array that may be one of them."""
    if found.ndim == 3 and found.shape[2] == inner:
        return found
    if found.ndim == 2 and found.shape[1] == inner:
        return found[None]
    if inner == 1 and found.ndim in (1, 2):
        return found.reshape(1, -1, 1) if found.ndim == 1 else found[..., None]
    raise _other_shape(spec, found.shape, inner)


def _other_shape(spec: DataSpec, shape: Sequence[int], inner: int) -> DataError:
    return DataError(
        f"sequences of shape {list(shape)}: the model takes {[spec.shape[0], inner]}, steps and values of a "
        "step; give [steps, values] or [n, steps, values]"
    )


def _has_mask(found: np.ndarray, width: int) -> bool:
    """Whether the last of ``width`` values of a step is 1 for some steps, then 0."""
    mask = found[..., -1]
    whole = found.shape[-1] == width and mask.size > 0 and bool(np.isin(mask, (0, 1)).all())
    return whole and bool((mask[..., 0] == 1).all() and (np.diff(mask, axis=-1) <= 0).all())


def stored_arrays(path: Path, lengths: bool) -> Iterator[tuple[np.ndarray, ...]]:
    """The array of an NPY file, or those of an NPZ file, inputs by their name first.

    Args:
        lengths: add the array of lengths to each where the file has one.

    Raises:
        FormatError: not such a file; DataError: it has no arrays. OSError.
    """
    if path.suffix.lower() == ".npy":
        from engine.files.data.npy import open_npy

        yield (open_npy(path).whole(_LARGEST),)
        return
    from engine.training.sources.npz import NpzFile

    archive = NpzFile(path)
    given = [name for name in archive.members if is_lengths_name(name)] if lengths else []
    others = [name for name in archive.members if name not in given]
    if not others:
        raise DataError(f"{path}: it holds no arrays; save one with the inputs")
    for name in sorted(others, key=lambda name: not is_inputs_name(name)):
        yield (archive.array(name), *(archive.array(each) for each in given[:1]))


def stored_labels(path: Path) -> np.ndarray | None:
    """The array of labels of an NPZ file, by its name; None without one."""
    if path.suffix.lower() != ".npz":
        return None
    from engine.training.sources.npz import NpzFile

    archive = NpzFile(path)
    name = next((each for each in archive.members if is_labels_name(each)), None)
    return archive.array(name) if name is not None else None
