"""The built-in networks: which data each fits, and its arguments for that data. Needs no engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

DataKind: TypeAlias = Literal["images", "table", "sequences"]


@dataclass(frozen=True)
class ModelSpec:
    """What a network is built for.

    Args:
        kind: of the data.
        shape: of one sample as the network is fed: [channels, height, width] of an image, [columns] of a row
            of a table, [steps, values] of a sequence.
        outputs: how many classes or numbers the network predicts.
        words: for each column of a table how many words it knows, 0 for a column of numbers; the network is
            fed the index of a word, from 1, and 0 for an unknown one. Empty where no column has words.
        masked: the last value of each step of a sequence is 1 where there is a step and 0 where there is
            padding.
    """

    kind: DataKind
    shape: tuple[int, ...]
    outputs: int
    words: tuple[int, ...] = ()
    masked: bool = False


@dataclass(frozen=True)
class Family:
    """A built-in network: ``resources/models/NAME.py`` has its class.

    Args:
        kinds: the kinds of data that it takes.
        why_not: why it does not fit data of these kinds, "" where it does: what it needs, and what there is.
        arguments: of its class, for data that it fits.
    """

    name: str
    title: str
    class_name: str
    kinds: tuple[DataKind, ...]
    why_not: Callable[[ModelSpec], str]
    arguments: Callable[[ModelSpec], dict[str, Any]]

    def problem(self, spec: ModelSpec) -> str:
        """Why the network does not fit the data; "" where it does."""
        if spec.kind not in self.kinds:
            return f"takes {' or '.join(self.kinds)}: yours are {spec.kind}"
        return self.why_not(spec)


def _fits(spec: ModelSpec) -> str:
    return ""


def _image(spec: ModelSpec) -> dict[str, Any]:
    channels, height, width = spec.shape
    return {"channels": channels, "height": height, "width": width, "outputs": spec.outputs}


FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family("lenet", "LeNet", "LeNet", ("images",), _fits, _image),
        Family("cnn", "Small CNN", "SmallCNN", ("images",), _fits, _image),
        Family("linear", "Linear", "Linear", ("images",), _fits, _image),
    )
}


def fitting(spec: ModelSpec) -> list[str]:
    """The names of the networks that fit the data."""
    return [name for name, family in FAMILIES.items() if not family.problem(spec)]
