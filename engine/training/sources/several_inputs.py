"""Several inputs of a model: what each is, and the samples of files that have an array for each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from engine.core.errors import DataError

if TYPE_CHECKING:
    from engine.eager.tensor import Tensor

# Samples as a network is fed them: an array or Tensor, or one for each of several inputs.
Samples: TypeAlias = "np.ndarray | Tensor | list[Any] | tuple[Any, ...]"


@dataclass(frozen=True)
class Feed:
    """One of the inputs of a model that takes several.

    Args:
        name: of the input: the parameter of the model's forward, or the array where that is not known.
        shape: of a sample as the model is fed.
        array: the name of its array in the data.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    array: str

    @property
    def text(self) -> str:
        """Name, shape and dtype as people read them."""
        return f"{self.name} {[*self.shape]} {self.dtype}"


def feed_from_plain(plain: Mapping[str, Any]) -> Feed:
    """The input that plain values from a file describe. Raises ValueError, TypeError, KeyError: none."""
    feed = Feed(**{**plain, "shape": tuple(plain["shape"])})
    if not all(type(text) is str for text in (feed.name, feed.dtype, feed.array)) or not all(
        type(size) is int and size > 0 for size in feed.shape
    ):
        raise ValueError(f"not an input: {feed!r:.200}")
    return feed


def input_names(text: str, arrays: Mapping[str, Any]) -> list[str]:
    """The arrays that the setting ``input_name`` names, in their order; [""] for the usual one.

    Raises:
        DataError: one is named twice, or a name is missing.
    """
    if text in arrays or "," not in text:
        return [text]
    names = [part.strip() for part in text.split(",")]
    if "" in names or len(set(names)) < len(names):
        raise DataError(
            f"input_name: several arrays must have different names, separated by commas: got {text!r}; "
            "give e.g. image,row"
        )
    return names


def samples_in(inputs: Samples) -> int:
    """How many samples are in the input of a batch, an array or Tensor, or one for each of several inputs."""
    return int((inputs[0] if isinstance(inputs, list | tuple) else inputs).shape[0])


def first_input(inputs: Samples) -> Any:
    """What is shown of a batch: its input, or the first of several."""
    return inputs[0] if isinstance(inputs, list | tuple) else inputs


def joined(parts: Sequence[Any]) -> np.ndarray | tuple[np.ndarray, ...]:
    """Batches of samples as one: an array, or a tuple of one for each of several inputs."""
    if isinstance(parts[0], list | tuple):
        return tuple(np.concatenate(each) for each in zip(*parts, strict=True))
    return np.concatenate(parts)


def with_batch(sample: Samples) -> Any:
    """A sample as a batch of one."""
    return tuple(each[None] for each in sample) if isinstance(sample, list | tuple) else sample[None]


def inputs_in(samples: Samples) -> list[Any]:
    """The inputs of samples as a list, of which one input is the only element."""
    return list(samples) if isinstance(samples, list | tuple) else [samples]
