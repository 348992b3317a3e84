"""The built-in networks: which data each fits, and its arguments for that data. Needs no engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
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
        inputs: how many inputs a sample has, of which ``kind`` and ``shape`` describe the first.
    """

    kind: DataKind
    shape: tuple[int, ...]
    outputs: int
    words: tuple[int, ...] = ()
    masked: bool = False
    inputs: int = 1


@dataclass(frozen=True)
class Family:
    """A built-in network: ``class_name`` in ``resources/models/FILE.py``.

    Args:
        kinds: the kinds of data that it takes.
        why_not: why it does not fit data of these kinds, "" where it does: what it needs, and what there is.
        arguments: of its class, for data that it fits.
    """

    name: str
    title: str
    file: str
    class_name: str
    kinds: tuple[DataKind, ...]
    why_not: Callable[[ModelSpec], str]
    arguments: Callable[[ModelSpec], dict[str, Any]]

    def problem(self, spec: ModelSpec) -> str:
        """Why the network does not fit the data; "" where it does."""
        if spec.inputs > 1:
            return f"takes one input: yours have {spec.inputs}"
        if spec.kind not in self.kinds:
            return f"takes {' or '.join(self.kinds)}: yours are {spec.kind}"
        return self.why_not(spec)


MOST_STEPS = 1024
"""Steps of a sequence above which attention over all pairs takes too much memory."""
LARGEST_MLP = 4096
"""Values of a sample above which a multilayer perceptron does not learn well."""


def _fits(spec: ModelSpec) -> str:
    return ""


def _at_least(side: int) -> Callable[[ModelSpec], str]:
    def problem(spec: ModelSpec) -> str:
        _, height, width = spec.shape
        small = min(height, width) < side
        return f"needs images of at least {side}x{side}: yours are {width}x{height}" if small else ""

    return problem


def _few_values(spec: ModelSpec) -> str:
    count = prod(spec.shape)
    many = count > LARGEST_MLP
    return f"needs samples of at most {LARGEST_MLP} values: yours have {count}" if many else ""


def _steps(spec: ModelSpec) -> str:
    many = spec.shape[0] > MOST_STEPS
    return f"needs sequences of at most {MOST_STEPS} steps: yours have {spec.shape[0]}" if many else ""


def _image(spec: ModelSpec) -> dict[str, Any]:
    channels, height, width = spec.shape
    return {"channels": channels, "height": height, "width": width, "outputs": spec.outputs}


def _cnn(spec: ModelSpec) -> dict[str, Any]:
    """Larger images get stages until the last one has 4 to 7 pixels a side, and batch normalization."""
    side = min(spec.shape[1:])
    stages = max(2, min(6, (side // 4).bit_length() - 1))
    deeper = {"stages": stages, "norm": True} if stages > 2 else {}
    return {**_image(spec), **deeper}


def _flat(spec: ModelSpec) -> dict[str, Any]:
    words = {"words": list(spec.words)} if spec.words else {}
    return {"features": prod(spec.shape), "outputs": spec.outputs, **words}


def _any_side(**more: Any) -> Callable[[ModelSpec], dict[str, Any]]:
    return lambda spec: {"channels": spec.shape[0], "outputs": spec.outputs, **more}


def _resnet18(spec: ModelSpec) -> dict[str, Any]:
    side = min(spec.shape[1:])
    return _any_side(blocks=[2, 2, 2, 2], width=64, reduce=2 if side >= 128 else 1 if side >= 64 else 0)(spec)


def _recurrent(cell: str) -> Callable[[ModelSpec], dict[str, Any]]:
    return lambda spec: {
        "values": spec.shape[1],
        "outputs": spec.outputs,
        "cell": cell,
        **({"masked": True} if spec.masked else {}),
    }


def _transformer(spec: ModelSpec) -> dict[str, Any]:
    masked = {"masked": True} if spec.masked else {}
    return {"steps": spec.shape[0], "values": spec.shape[1], "outputs": spec.outputs, **masked}


_RESNET8 = {"blocks": [1, 1, 1], "width": 16}
FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family("lenet", "LeNet", "lenet", "LeNet", ("images",), _at_least(12), _image),
        Family("cnn", "Small CNN", "cnn", "SmallCNN", ("images",), _at_least(4), _cnn),
        Family("linear", "Linear", "linear", "Linear", ("images", "table"), _fits, _flat),
        Family("mlp", "MLP", "mlp", "MLP", ("images", "table"), _few_values, _flat),
        Family("resnet8", "ResNet-8", "resnet", "ResNet", ("images",), _at_least(8), _any_side(**_RESNET8)),
        Family("resnet18", "ResNet-18", "resnet", "ResNet", ("images",), _at_least(32), _resnet18),
        Family("mobilenet", "MobileNet", "mobilenet", "MobileNet", ("images",), _at_least(32), _any_side()),
        Family("lstm", "LSTM", "recurrent", "Recurrent", ("sequences",), _fits, _recurrent("lstm")),
        Family("gru", "GRU", "recurrent", "Recurrent", ("sequences",), _fits, _recurrent("gru")),
        Family(
            "transformer", "Transformer", "transformer", "Transformer", ("sequences",), _steps, _transformer
        ),
    )
}


def fitting(spec: ModelSpec) -> list[str]:
    """The names of the networks that fit the data."""
    return [name for name, family in FAMILIES.items() if not family.problem(spec)]
