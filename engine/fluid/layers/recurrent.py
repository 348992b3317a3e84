"""Recurrent parts of networks: cells and ``rnn``, single steps, cuDNN's LSTM of several layers, decoding."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from engine.core.containers import nest
from engine.core.errors import ArgumentError, ModeError
from engine.core.strictness import tolerate
from engine.fluid.layers.adapting import adapter
from engine.fluid.layers.gates import GATE_ACTIVATIONS, gru_step
from engine.fluid.layers.nn.at_once import also_at_once, also_in_a_guard
from engine.nn import decode
from engine.nn.layer import rnn as modern
from engine.nn.layer.rnn_cells import RNNCellBase
from engine.static.nn.helper import Helper
from engine.tensor import manipulation
from engine.tensor.elements.arranging import slice_


class RNNCell:
    """Base of cells: a subclass defines ``call(inputs, states)``, which gives ``(outputs, new_states)``.

    It also defines ``state_shape`` (and ``state_dtype``), where states are not given.
    """

    state_shape = RNNCellBase.state_shape
    state_dtype = RNNCellBase.state_dtype

    def call(self, inputs: Any, states: Any, **kwargs: Any) -> Any:
        """Outputs and new states of one step."""
        raise ModeError(f"{type(self).__name__}: a RNNCell defines call(inputs, states)")

    def __call__(self, inputs: Any, states: Any, **kwargs: Any) -> Any:
        return self.call(inputs, states, **kwargs)

    def get_initial_states(
        self,
        batch_ref: Any,
        shape: Any = None,
        dtype: Any = "float32",
        init_value: float = 0.0,
        batch_dim_idx: int = 0,
    ) -> Any:
        """States of one value for a batch as large as dimension ``batch_dim_idx`` of ``batch_ref``."""
        made = RNNCellBase.get_initial_states
        return made(self, batch_ref, shape, dtype, init_value, batch_dim_idx)  # type: ignore[arg-type]


class GRUCell(RNNCell):
    """``fluid.contrib.layers.BasicGRUUnit`` as a cell; the state is [N, hidden_size]."""

    def __init__(
        self,
        hidden_size: int,
        param_attr: Any = None,
        bias_attr: Any = None,
        gate_activation: Any = None,
        activation: Any = None,
        dtype: Any = "float32",
        name: str = "GRUCell",
    ) -> None:
        from engine.fluid.contrib.layers.rnn_impl import BasicGRUUnit

        self.hidden_size = hidden_size
        self.gru_unit = BasicGRUUnit(
            name, hidden_size, param_attr, bias_attr, gate_activation, activation, dtype
        )

    def call(self, inputs: Any, states: Any) -> Any:  # type: ignore[override]
        """The new state, twice."""
        new = self.gru_unit(inputs, states)
        return new, new

    @property
    def state_shape(self) -> Any:
        """[hidden_size]."""
        return [self.hidden_size]


class LSTMCell(RNNCell):
    """``fluid.contrib.layers.BasicLSTMUnit`` as a cell; states are [hidden, cell], both [N, hidden_size]."""

    def __init__(
        self,
        hidden_size: int,
        param_attr: Any = None,
        bias_attr: Any = None,
        gate_activation: Any = None,
        activation: Any = None,
        forget_bias: float = 1.0,
        dtype: Any = "float32",
        name: str = "LSTMCell",
    ) -> None:
        from engine.fluid.contrib.layers.rnn_impl import BasicLSTMUnit

        self.hidden_size = hidden_size
        self.lstm_unit = BasicLSTMUnit(
            name, hidden_size, param_attr, bias_attr, gate_activation, activation, forget_bias, dtype
        )

    def call(self, inputs: Any, states: Any) -> Any:  # type: ignore[override]
        """The new hidden state, and both new states."""
        hidden, cell = self.lstm_unit(inputs, *states)
        return hidden, [hidden, cell]

    @property
    def state_shape(self) -> Any:
        """[[hidden_size], [hidden_size]]."""
        return [[self.hidden_size], [self.hidden_size]]


@adapter
def rnn(
    cell: Any,
    inputs: Any,
    initial_states: Any = None,
    sequence_length: Any = None,
    time_major: bool = False,
    is_reverse: bool = False,
    **kwargs: Any,
) -> Any:
    """The outputs of ``cell`` over all steps of ``inputs`` [N, steps, ...], and its last states.

    See ``nn.RNN``. Other arguments go to the cell.
    """
    return modern.RNN(cell, is_reverse, time_major)(inputs, initial_states, sequence_length, **kwargs)


@adapter
def birnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Any,
    initial_states: Any = None,
    sequence_length: Any = None,
    time_major: bool = False,
    **kwargs: Any,
) -> Any:
    """``rnn`` forward and in reverse: the outputs joined, and the pair of last states."""
    pair = (None, None) if initial_states is None else initial_states
    outputs, states = zip(
        *(
            modern.RNN(cell, reverse, time_major)(inputs, first, sequence_length, **kwargs)
            for cell, reverse, first in zip((cell_fw, cell_bw), (False, True), pair, strict=True)
        ),
        strict=True,
    )
    return nest.map_structure(lambda x, y: manipulation.concat([x, y], -1), *outputs), states


@also_at_once
@adapter
def gru_unit(
    input: Any,
    hidden: Any,
    size: int,
    param_attr: Any = None,
    bias_attr: Any = None,
    activation: str = "tanh",
    gate_activation: str = "sigmoid",
    origin_mode: bool = False,
) -> Any:
    """One step of a GRU: the new state, ``reset * hidden``, and the gates side by side.

    ``size`` is three times that of the state; for the weight see ``fluid.dygraph.GRUUnit``. The activations
    are tanh and sigmoid whatever the arguments say, as in Paddle, where they do not reach the operator;
    others give a LeniencyWarning. Raises ArgumentError for unknown ones.
    """
    for name, value in (("activation", activation), ("gate_activation", gate_activation)):
        if value not in GATE_ACTIVATIONS:
            raise ArgumentError(f"gru_unit: {name} is one of {GATE_ACTIVATIONS}: got {value!r}")
    if (activation, gate_activation) != ("tanh", "sigmoid"):
        tolerate(
            ArgumentError(
                f"gru_unit: activation={activation!r} and "
                f"gate_activation={gate_activation!r} have no effect; "
                "use fluid.dygraph.GRUUnit, which takes them"
            )
        )
    helper, width = Helper("gru_unit", None, "layers.gru_unit"), size // 3
    weight = helper.parameter([width, 3 * width], param_attr, input.dtype)
    bias = helper.parameter([1, 3 * width], bias_attr, input.dtype, is_bias=True)
    return gru_step(input, hidden, weight, bias, origin_mode=origin_mode)


@also_in_a_guard
@adapter
def lstm(
    input: Any,
    init_h: Any,
    init_c: Any,
    max_len: int,
    hidden_size: int,
    num_layers: int,
    dropout_prob: float = 0.0,
    is_bidirec: bool = False,
    is_test: bool = False,
    name: str | None = None,
    default_initializer: Any = None,
    seed: int = -1,
) -> Any:
    """Layers of LSTM over ``input`` [steps, N, size]: the outputs and the last hidden and cell states.

    The states are [num_layers * directions, N, hidden_size]. All weights are one flat parameter, in cuDNN's
    order: for every layer and direction the weight of the input, then that of the state (rows by gate: input,
    forget, candidate, output), and after all of them the two biases of each. ``max_len`` and ``seed`` are
    accepted.
    """
    directions, size = 2 if is_bidirec else 1, int(input.shape[-1])
    rows = 4 * hidden_size
    sizes = [size] + [hidden_size * directions] * (num_layers - 1)
    shapes = [[rows, n] for own in sizes for _ in range(directions) for n in (own, hidden_size)]
    shapes += [[rows]] * (2 * num_layers * directions)
    helper = Helper("cudnn_lstm", name, "layers.lstm")
    total = sum(math.prod(dims) for dims in shapes)
    flat = helper.parameter([total], None, input.dtype, default_initializer=default_initializer)
    parts = list(_cut(flat, shapes))
    middle = len(parts) // 2
    pairs = [(*parts[n : n + 2], *parts[middle + n : middle + n + 2]) for n in range(0, middle, 2)]
    weights = [pairs[n : n + directions] for n in range(0, len(pairs), directions)]
    count = num_layers * directions
    first = [manipulation.unstack(state, 0, count) for state in (init_h, init_c)]
    out, (hidden, cell) = modern.layered("LSTM", input, weights, first, 0.0 if is_test else dropout_prob)
    return out, hidden, cell


def _cut(flat: Any, shapes: list[list[int]]) -> Iterator[Any]:
    begin = 0
    for dims in shapes:
        end = begin + math.prod(dims)
        yield manipulation.reshape(slice_(flat, [0], [begin], [end]), dims)
        begin = end


@adapter
def dynamic_decode(
    decoder: Any,
    inits: Any = None,
    max_step_num: int | None = None,
    output_time_major: bool = False,
    impute_finished: bool = False,
    is_test: bool = False,
    return_length: bool = False,
    **kwargs: Any,
) -> Any:
    """The outputs of ``decoder`` step by step until all is finished, and its last states."""
    return decode.dynamic_decode(
        decoder, inits, max_step_num, output_time_major, impute_finished, is_test, return_length, **kwargs
    )
