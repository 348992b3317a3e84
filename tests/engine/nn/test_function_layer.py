"""Layers that are a function of nn.functional: their options, what they pass and what they show."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import nn
from engine.nn.layer.function_layer import FUNCTIONS, FunctionLayer


def _layers(kind: type = FunctionLayer) -> Iterator[type]:
    for each in kind.__subclasses__():
        if "_function" in vars(each) and each.__module__.startswith("engine.nn."):
            yield each
        yield from _layers(each)


LAYERS = sorted(_layers(), key=lambda each: each.__name__)


@pytest.mark.parametrize("kind", LAYERS, ids=lambda each: each.__name__)
def test_options_reach_the_parameters_of_their_names(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    signature = inspect.signature(FUNCTIONS[kind._function])
    options = inspect.signature(kind).parameters
    layer = kind(*[1 for each in options.values() if each.default is each.empty])
    given: dict[str, Any] = {option: object() for option in options}
    for option, attribute in zip(options, kind._attributes, strict=True):
        setattr(layer, attribute, given[option])
    calls = []
    monkeypatch.setattr(nn.functional, kind._function, lambda *args, **named: calls.append((args, named)))

    forward = inspect.signature(kind.forward).parameters.values()
    inputs = {each.name: paddle.zeros([1, 1, 1]) for each in list(forward)[1:] if each.default is each.empty}
    layer(**inputs)

    ((args, named),) = calls
    received = signature.bind(*args, **named).arguments
    wanted = {n: each for n, each in {**given, **inputs}.items() if n in signature.parameters}
    assert {name for name in wanted if received[name] is not wanted[name]} == set()


@pytest.mark.parametrize("kind", LAYERS, ids=lambda each: each.__name__)
def test_arguments_are_handed_on_in_the_order_of_the_signature(
    kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Handed(Exception):
        """The options that reach FunctionLayer."""

    def hand(self: Any, *options: Any) -> None:
        raise Handed(*options)

    monkeypatch.setattr(FunctionLayer, "__init__", hand)
    names = list(inspect.signature(kind).parameters)
    with pytest.raises(Handed) as found:
        kind(**{name: name for name in names})
    assert list(found.value.args) == names


def test_a_changed_option_is_used_and_shown() -> None:
    layer = nn.LeakyReLU(0.5)
    layer._negative_slope = 0.25
    assert repr(layer) == "LeakyReLU(negative_slope=0.25)"
    assert layer(paddle.to_tensor([-4.0])).tolist() == [-1.0]


def test_an_option_that_is_a_tensor_is_a_buffer() -> None:
    layer = nn.CrossEntropyLoss(paddle.to_tensor([1.0, 3.0]))
    assert [name for name, _ in layer.named_buffers()] == ["weight"]
    loss = layer(paddle.zeros([2, 2]), paddle.to_tensor([0, 1]))
    np.testing.assert_allclose(loss.numpy(), np.log(2.0), rtol=1e-6)


def test_a_subclass_with_another_signature_has_the_options_of_its_base() -> None:
    class Steep(nn.LeakyReLU):
        def __init__(self, steepness: int) -> None:
            super().__init__(1.0 / steepness, name="steep")
            self.steepness = steepness

    layer = Steep(4)
    assert repr(layer) == "Steep(negative_slope=0.25, name=steep)"
    assert layer(paddle.to_tensor([-4.0])).tolist() == [-1.0]


def test_a_function_replaced_in_functional_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    layer = nn.ReLU()
    monkeypatch.setattr(nn.functional, "relu", lambda x, name=None: x + 1.0)
    assert layer(paddle.to_tensor([-4.0])).tolist() == [-3.0]


def test_an_activation_is_its_signature_and_the_name_of_its_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nn.functional, "shifted", lambda x, shift, name: x + shift, raising=False)

    class Shift(type(nn.ELU()).__mro__[1]):  # type: ignore[misc]
        """x + shift."""

        _function = "shifted"

        def __init__(self, shift: float = 1.0, name: str | None = None) -> None:
            super().__init__(shift, name)

    layer = Shift(2.0, "moved")
    assert repr(layer) == "Shift(shift=2.0, name=moved)"
    for call in (layer, paddle.jit.to_static(Shift(2.0))):
        assert call(paddle.to_tensor([1.0])).tolist() == [3.0]
