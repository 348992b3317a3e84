"""What ``Model`` reads: loaders of the given data, and the tensors of a batch."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence, Sized
from typing import Any, Protocol, TypeAlias, cast

import numpy as np

from engine.core.containers import nest
from engine.core.errors import ArgumentError, DTypeError
from engine.eager.tensor import Tensor
from engine.io import DataLoader, Dataset, DistributedBatchSampler, IterableDataset
from engine.jit.input_spec import InputSpec
from engine.nn import Layer
from engine.tensor.creation import to_tensor
from engine.tensor.tensor_like import AnyTensor, TensorLike


class Indexed(Protocol):
    """What Python iterates over by its indices: a Dataset, too."""

    def __getitem__(self, index: int, /) -> Any: ...


# What is divided into batches, or gives them itself.
DataLike: TypeAlias = Dataset | Iterable[Any] | Indexed
# InputSpecs, or Variables of ``static.data``.
SpecsLike: TypeAlias = InputSpec | AnyTensor | Sequence[InputSpec | AnyTensor] | Mapping[str, Any]


def listed(value: object) -> list[Any]:
    """A list of one value or of several; None is none."""
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def loader_of(
    data: DataLike, batch_size: int, shuffle: bool = False, drop_last: bool = False, num_workers: int = 0
) -> Iterable[Any]:
    """What to iterate over: a DataLoader of a Dataset, and anything else as it is (its items are batches).

    The order of a shuffled Dataset is that of Paddle: drawn from the number of the epoch alone.
    """
    if isinstance(data, IterableDataset):
        return DataLoader(data, batch_size=batch_size, drop_last=drop_last, num_workers=num_workers)
    if isinstance(data, Dataset):
        sampler = DistributedBatchSampler(data, batch_size, shuffle=shuffle, drop_last=drop_last)
        return DataLoader(data, batch_sampler=sampler, num_workers=num_workers)
    if not isinstance(data, Iterable) and not callable(getattr(data, "__getitem__", None)):
        raise DTypeError(
            f"Model: data must be a Dataset, a DataLoader or another iterable of batches: got "
            f"{type(data).__name__}; pass one"
        )
    return cast(Iterable[Any], data)


def steps_of(loader: Iterable[Any]) -> int | None:
    """How many batches there are; None where it is not known, as of a generator."""
    if isinstance(loader, DataLoader) and isinstance(loader.dataset, IterableDataset):
        return None
    try:
        return len(cast(Sized, loader))
    except (TypeError, AttributeError):
        return None


def flat(batch: object) -> list[Any]:
    """The fields of a batch, which may nest, in order."""
    return nest.flatten(batch)


def size_of(field: TensorLike) -> int:
    """How many samples the first field of a batch has."""
    return int(np.shape(field)[0]) if np.ndim(field) else 1


def tensor(value: TensorLike) -> Tensor:
    return value if isinstance(value, Tensor) else to_tensor(np.asarray(value))


def array(value: TensorLike) -> np.ndarray[Any, Any]:
    return value.numpy() if isinstance(value, Tensor) else np.asarray(value)


def specs_of(where: str, given: SpecsLike | None) -> list[InputSpec] | None:
    """The given InputSpecs as a list; None for none. Raises DTypeError, ArgumentError for anything else."""
    if given is None:
        return None
    if isinstance(given, dict):
        given = list(given.values())
    specs = listed(given)
    for spec in specs:
        if not all(hasattr(spec, field) for field in ("shape", "dtype", "name")):
            raise DTypeError(
                f"Model: {where} must be InputSpecs: got {type(spec).__name__}; write "
                "InputSpec([None, 784], 'float32', 'x')"
            )
        if spec.name is None:
            raise ArgumentError(f"Model: Requires {where} with names: got {spec}; pass InputSpec(name=...)")
    return [
        s if isinstance(s, InputSpec) else InputSpec(list(s.shape), s.dtype, s.name) for s in specs
    ]  # a Variable of static.data, too


def count_inputs(network: Layer) -> int:
    """How many fields of a batch go to ``forward``: as many as it has parameters."""
    forward = getattr(network.forward, "dygraph_function", network.forward)
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.kind in positional for p in inspect.signature(forward).parameters.values())
