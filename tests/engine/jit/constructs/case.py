"""A construct of Python in a function of Tensors, and the inputs to try it with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Case:
    """`samples` are inputs as arrays, one tuple a call; floating ones take gradients.

    `saved` says that the result consists of Tensors, so that a saved Program gives it, `unknown` that the
    function works without knowing the sizes of its inputs.
    """

    function: Callable[..., Any]
    samples: tuple[tuple[Any, ...], ...]
    saved: bool = True
    unknown: bool = True

    @property
    def name(self) -> str:
        return self.function.__name__


class Cases:
    """Collects the functions of one file."""

    def __init__(self) -> None:
        self.all: list[Case] = []

    def __call__(self, *samples: tuple[Any, ...], **options: bool) -> Callable[[Any], Any]:
        def add(function: Any) -> Any:
            self.all.append(Case(function, samples or ((x(),), (-x(),)), **options))
            return function

        return add


def x(*shape: int, scale: float = 1.0) -> Any:
    """Distinct positive float32 numbers."""
    shape = shape or (2, 3)
    return (np.arange(1, 1 + int(np.prod(shape)), dtype="float32").reshape(shape) * scale).astype("float32")


def n(value: int) -> Any:
    """An integer as a 0-D array."""
    return np.array(value, "int64")
