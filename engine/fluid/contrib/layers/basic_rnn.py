"""``basic_gru`` and ``basic_lstm``: layers of single steps over sequences, in static mode."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

from engine.fluid import layers
from engine.fluid.contrib.layers.rnn_impl import BasicGRUUnit, BasicLSTMUnit

__all__ = ["basic_gru", "basic_lstm"]


def basic_gru(
    input: Any,
    init_hidden: Any,
    hidden_size: int,
    num_layers: int = 1,
    sequence_length: Any = None,
    dropout_prob: float = 0.0,
    bidirectional: bool = False,
    batch_first: bool = True,
    param_attr: Any = None,
    bias_attr: Any = None,
    gate_activation: Any = None,
    activation: Any = None,
    dtype: Any = "float32",
    name: str = "basic_gru",
) -> Any:
    """Layers of ``BasicGRUUnit``: the outputs [N, steps, hidden_size * directions] and the last states.

    ``input`` is [N, steps, size], with ``batch_first=False`` [steps, N, size]; so are the outputs. States are
    [num_layers * directions, N, hidden_size], ``init_hidden`` too (zeros where None). Steps beyond
    ``sequence_length`` [N] leave the states as they are. Elements are dropped after each layer with
    ``dropout_prob``. The directions are joined after the last layer.
    """

    def unit(scope: str, weight: Any, bias: Any) -> Any:
        return BasicGRUUnit(scope, hidden_size, weight, bias, gate_activation, activation, dtype)

    def dropped(x: Any) -> Any:
        return layers.dropout(x, dropout_prob) if dropout_prob else x

    made = _Layers(hidden_size, num_layers, [init_hidden], dropped, sequence_length)
    units = _units(unit, name, num_layers, bidirectional, param_attr, bias_attr, bias_attr)
    return made.over(input, units, batch_first)


def basic_lstm(
    input: Any,
    init_hidden: Any,
    init_cell: Any,
    hidden_size: int,
    num_layers: int = 1,
    sequence_length: Any = None,
    dropout_prob: float = 0.0,
    bidirectional: bool = False,
    batch_first: bool = True,
    param_attr: Any = None,
    bias_attr: Any = None,
    gate_activation: Any = None,
    activation: Any = None,
    forget_bias: float = 1.0,
    dtype: Any = "float32",
    name: str = "basic_lstm",
) -> Any:
    """Layers of ``BasicLSTMUnit``: the outputs and the last hidden and cell states; see ``basic_gru``.

    Dropout divides the remaining values by their share. A backward bias without a name of its own has the
    attributes of the weight, as in Paddle.
    """

    def unit(scope: str, weight: Any, bias: Any) -> Any:
        return BasicLSTMUnit(
            scope, hidden_size, weight, bias, gate_activation, activation, forget_bias, dtype
        )

    def dropped(x: Any) -> Any:
        kind = "upscale_in_train"
        return layers.dropout(x, dropout_prob, dropout_implementation=kind) if dropout_prob else x

    made = _Layers(hidden_size, num_layers, [init_hidden, init_cell], dropped, sequence_length)
    back = bias_attr if getattr(bias_attr, "name", None) is not None else param_attr
    units = _units(unit, name, num_layers, bidirectional, param_attr, bias_attr, back)
    return made.over(input, units, batch_first)


def _units(
    unit: Callable[..., Any], name: str, count: int, both: bool, weight: Any, bias: Any, back: Any
) -> list[list[Any]]:
    """For each direction the units of its layers; names of parameters get the direction and the layer."""

    def named(attr: Any, suffix: str) -> Any:
        if getattr(attr, "name", None) is None:
            return attr
        found = copy(attr)
        found.name += suffix
        return found

    directions = [("_layers_", "fw", bias)] + [("_reverse_layers_", "bw", back)] * both
    return [
        [
            unit(f"{name}{scope}{n}", named(weight, f"_{short}_w_{n}"), named(own, f"_{short}_b_{n}"))
            for n in range(count)
        ]
        for scope, short, own in directions
    ]


class _Layers:
    """Layers of units over sequences; the states of a unit are what ``first`` has begun with."""

    def __init__(self, size: int, count: int, first: list[Any], dropped: Any, lengths: Any) -> None:
        self.size, self.count, self.first = size, count, first
        self.dropped, self.lengths = dropped, lengths

    def over(self, input: Any, directions: list[list[Any]], batch_first: bool) -> Any:
        """The outputs, and the last states, each [layers * directions, N, size]."""
        x = layers.transpose(input, [1, 0, 2]) if batch_first else input
        mask = None
        if self.lengths is not None:
            longest = layers.slice(layers.shape(x), [0], [0], [1]) if x.shape[0] < 0 else int(x.shape[0])
            mask = layers.transpose(layers.sequence_mask(self.lengths, longest, "float32"), [1, 0])
        outputs, states = [], []
        for number, units in enumerate(directions):
            turned = layers.reverse if number else lambda value, _: value
            own = None if mask is None else turned(mask, 0)
            out, last = self._one(turned(x, 0), own, units, number, len(directions))
            outputs.append(turned(out, 0))
            states.append(last)
        joined = layers.concat(outputs, 2) if len(outputs) > 1 else outputs[0]
        lasts = [
            layers.reshape(layers.concat(list(each), 1), [self.count * len(directions), -1, self.size])
            for each in zip(*states, strict=True)
        ]
        return (layers.transpose(joined, [1, 0, 2]) if batch_first else joined), *lasts

    def _one(self, x: Any, mask: Any, units: list[Any], direction: int, directions: int) -> Any:
        """The outputs of one direction and for each state those after the last step [layers, N, size]."""
        network = layers.StaticRNN()
        with network.step():
            value = network.step_input(x)
            share = None if mask is None else network.step_input(mask)
            for n, unit in enumerate(units):
                before = [self._memory(network, x, s, n * directions + direction) for s in self.first]
                after = unit(value, *before)
                after = list(after) if isinstance(after, (list, tuple)) else [after]
                if share is not None:
                    after = [
                        layers.elementwise_mul(new, share, 0) - layers.elementwise_mul(old, share - 1.0, 0)
                        for new, old in zip(after, before, strict=True)
                    ]
                for old, new in zip(before, after, strict=True):
                    network.update_memory(old, new)
                    network.step_output(new)
                value = self.dropped(after[0])
            network.step_output(value)
        *steps, out = network()
        count = len(self.first)
        last = [
            layers.stack([layers.slice(each, [0], [-1], [2**31 - 1])[0] for each in steps[n::count]])
            for n in range(count)
        ]
        return out, last

    def _memory(self, network: Any, x: Any, state: Any, number: int) -> Any:
        if state is None:
            return network.memory(shape=[-1, self.size], batch_ref=x)
        return network.memory(init=layers.slice(state, [0], [number], [number + 1])[0])
