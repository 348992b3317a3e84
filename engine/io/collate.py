"""From a list of samples to a batch: fields are stacked along a new first axis, then become Tensors."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from engine.core.errors import DTypeError, ShapeError
from engine.core.place import CPUPlace, Place, PlaceLike, as_place, current_place
from engine.core.values.dtype import from_numpy
from engine.eager.tensor import Tensor
from engine.tensor.creation import to_tensor


def default_collate_fn(batch: Sequence[Any]) -> Any:
    """Stacks samples: arrays, Tensors and numbers become one array, tuples a list of fields, dicts a dict of
    fields.

    Python integers give int64, floats float64, as NumPy has it. Strings stay a list, named tuples become one.

    Raises:
        ShapeError: samples of different shapes or numbers of fields.
        DTypeError: samples of a type that can't be stacked.
    """
    sample = batch[0]
    if isinstance(sample, np.ndarray):
        return _stack(batch)
    if isinstance(sample, Tensor):
        return _stack([tensor.numpy() for tensor in batch])
    if isinstance(sample, (str, bytes)):  # before numbers: np.str_ is one of NumPy's scalars
        return list(batch)
    if isinstance(sample, (numbers.Number, np.generic)):
        return np.array(batch)
    if isinstance(sample, Mapping):
        return {key: default_collate_fn([item[key] for item in batch]) for key in sample}
    if isinstance(sample, Sequence):
        counts = {len(item) for item in batch}
        if len(counts) > 1:
            raise ShapeError(
                f"DataLoader: the samples of a batch have different numbers of fields: {sorted(counts)}; "
                "return the same fields for every index"
            )
        return [default_collate_fn(fields) for fields in zip(*batch, strict=True)]
    remedy = (
        "add ToTensor() to the dataset's transform"
        if hasattr(sample, "convert") and hasattr(sample, "getbands")  # a PIL image
        else "return arrays, Tensors, numbers, tuples or dicts of them, or pass a collate_fn"
    )
    raise DTypeError(
        f"DataLoader: samples of type {type(sample).__name__} can't be put into a batch; {remedy}"
    )


def default_convert_fn(sample: object) -> Any:
    """What a loader without batches yields: the sample itself, its sequences as lists."""
    if isinstance(sample, (str, bytes)):
        return sample
    if isinstance(sample, Mapping):
        return {key: default_convert_fn(value) for key, value in sample.items()}
    if isinstance(sample, Sequence):
        return [default_convert_fn(value) for value in sample]
    return sample


def to_tensors(batch: object, place: PlaceLike | None = None, owned: bool = False) -> Any:
    """The same structure with every array as a Tensor, at ``place`` or on the current device; tuples become
    lists. Arrays that are ``owned`` are the caller's alone and need not be copied."""
    return _tensors(batch, as_place(place or current_place()), set() if owned else None)


def _tensors(batch: Any, place: Place, taken: set[int] | None) -> Any:
    def tensor(array: np.ndarray) -> Tensor:
        # An array that stands twice in a batch still makes two Tensors.
        if taken is None or place.kind != "cpu" or id(array) in taken or not _is_ready(array):
            return to_tensor(array, place=place)  # type: ignore[no-any-return]
        taken.add(id(array))
        return Tensor(array)

    return mapped(batch, tensor)


def mapped(batch: object, make: Callable[[np.ndarray], Any]) -> Any:
    """The same structure with what ``make`` gives for every array; tuples become lists."""
    if isinstance(batch, np.ndarray):
        return make(batch)
    if isinstance(batch, (list, tuple)):
        return [mapped(field, make) for field in batch]
    if isinstance(batch, Mapping):
        return {key: mapped(value, make) for key, value in batch.items()}
    return batch


def to_plain(array: np.ndarray) -> np.ndarray:
    """The array as a Tensor holds it; itself where it may stay. Raises DTypeError as ``to_tensor``."""
    if _is_ready(array):
        return array
    plain: np.ndarray = to_tensor(array, place=CPUPlace())._array
    return plain


def _is_ready(array: np.ndarray) -> bool:
    """Whether a Tensor can hold ``array`` itself."""
    return (
        type(array) is np.ndarray
        and array.flags.writeable
        and array.dtype.kind in "biufc"
        and from_numpy(array.dtype).np == array.dtype
    )


def _stack(arrays: Sequence[np.ndarray]) -> np.ndarray:
    shapes = {array.shape for array in arrays}
    if len(shapes) > 1:
        raise ShapeError(
            f"DataLoader: the samples of a batch have different shapes: {sorted(shapes)[:4]}; "
            "resize or pad them in the dataset, or pass a collate_fn"
        )
    return np.stack(arrays)
