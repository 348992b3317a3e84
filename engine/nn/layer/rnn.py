"""Recurrent networks: any cell over time (RNN, BiRNN), and SimpleRNN, LSTM and GRU of several layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from engine.core.containers import nest
from engine.core.errors import ArgumentError, ShapeError
from engine.nn import functional
from engine.nn.layer.container import LayerList
from engine.nn.layer.layers import Layer
from engine.nn.layer.rnn_cells import GRUCell, LSTMCell, SimpleRNNCell
from engine.nn.param_attr import AttrLike
from engine.ops.arrays import creation, flip_roll, index, shape
from engine.ops.arrays import tensor_array as array
from engine.ops.elementwise import arithmetic, comparison
from engine.ops.sequences import rnn as ops
from engine.program.build.control import while_loop
from engine.tensor.tensor_like import AnyTensor


def _swapped(x: Any) -> Any:
    """Batch and time exchanged."""
    return shape.transpose(x, axis=[1, 0, *range(2, x.ndim)])


def _unless_padded(new: Any, old: Any, mask: Any) -> Any:
    """New where mask [N] is 1, else old."""
    wide = shape.unsqueeze(mask, axes=list(range(1, new.ndim))) if new.ndim > 1 else mask
    wide = wide if wide.dtype is new.dtype else arithmetic.cast(wide, out_dtype=new.dtype)
    return new * wide + old * arithmetic.scale(wide, scale=-1.0, bias=1.0)


class _Walk:
    """A cell walking through time; the steps are at ``inputs[t]``."""

    def __init__(self, cell: Any, inputs: Any, lengths: Any, reverse: bool, kwargs: dict[str, Any]) -> None:
        from engine.program.build.repeated import RepeatedCalls

        self.cell = RepeatedCalls("RNN: the cell").calls(cell)
        self.inputs, self.lengths = inputs, lengths
        self.reverse, self.kwargs = reverse, kwargs

    def step(self, x: Any, t: Any, states: Any) -> tuple[Any, Any]:
        outputs, new_states = self.cell(x, states, **self.kwargs)
        if self.lengths is not None:
            if not isinstance(t, int):
                t = arithmetic.cast(t, out_dtype=self.lengths.dtype)
                alive = comparison.greater_than(self.lengths, t)
            else:
                alive = comparison.greater_than(self.lengths, creation.fill_like(self.lengths, value=t))
            first = nest.flatten(states)[0]
            mask = arithmetic.cast(alive, out_dtype=first.dtype)
            new_states = nest.map_structure(
                lambda old, new: _unless_padded(new, old, mask), states, new_states
            )
        return outputs, new_states

    def known(self, time: int, states: Any) -> tuple[Any, Any]:
        """The steps one after the other; outputs are stacked along the first dimension."""
        parts = [shape.unstack(x, axis=0, num=time) for x in nest.flatten(self.inputs)]
        collected: list[Any] = []
        for t in range(time - 1, -1, -1) if self.reverse else range(time):
            outputs, states = self.step(nest.pack(self.inputs, [part[t] for part in parts]), t, states)
            collected.append(outputs)
        if self.reverse:
            collected.reverse()
        return nest.map_structure(lambda *each: shape.stack(list(each), axis=0), *collected), states

    def unknown(self, states: Any) -> tuple[Any, Any]:
        """The same as a loop of the Program. The first step is outside: it says what outputs look like."""
        flat = nest.flatten(self.inputs)
        total = index.getitem(shape.shape(flat[0]), [], index=(0,))
        total = arithmetic.cast(total, out_dtype="int64")
        one = creation.fill(shape=[], value=1, dtype="int64")
        zero = creation.fill(shape=[], value=0, dtype="int64")

        def at(count: Any) -> Any:
            return total - one - count if self.reverse else count

        def inputs_at(t: Any) -> Any:
            found = [index.getitem(x, [t], index=(("tensor", 0),)) for x in flat]
            return nest.pack(self.inputs, found)

        outputs, states = self.step(inputs_at(at(zero)), at(zero), states)
        arrays = [shape.unsqueeze(o, axes=[0]) for o in nest.flatten(outputs)]

        def more(count: Any, stacked: Any, states: Any) -> Any:
            return count < total

        def body(count: Any, stacked: Any, states: Any) -> Any:
            new, states = self.step(inputs_at(at(count)), at(count), states)
            grown = [array.array_append(a, o) for a, o in zip(stacked, nest.flatten(new), strict=True)]
            return [count + one, grown, states]

        _, arrays, states = while_loop(more, body, [one, arrays, states])
        if self.reverse:
            arrays = [flip_roll.flip(a, axis=[0]) for a in arrays]
        return nest.pack(outputs, arrays), states


def _run(
    cell: Any, inputs: Any, states: Any, lengths: Any, time_major: bool, reverse: bool, kwargs: dict[str, Any]
) -> tuple[Any, Any]:
    """The outputs of a cell over all steps, and its last states."""
    flat = nest.flatten(inputs)
    if flat[0].ndim < 2:
        raise ShapeError(
            f"RNN: a batch of sequences must have a batch and a time dimension: got {list(flat[0].shape)}"
        )
    if states is None:
        states = cell.get_initial_states(inputs, batch_dim_idx=1 if time_major else 0)
    if not time_major:
        inputs = nest.map_structure(_swapped, inputs)
    time = nest.flatten(inputs)[0].shape[0]
    if time == 0:
        raise ShapeError(f"RNN: inputs {list(flat[0].shape)} have no steps; give at least one")
    walk = _Walk(cell, inputs, lengths, reverse, kwargs)
    outputs, states = walk.known(int(time), states) if time >= 0 else walk.unknown(states)
    return (outputs if time_major else nest.map_structure(_swapped, outputs)), states


class RNN(Layer):
    """A cell over all steps of its inputs; gives the outputs of every step and the last states.

    inputs are [batch, time, ...] (or [time, batch, ...] with ``time_major``), or a nested structure of such
    tensors. ``is_reverse`` walks from the last step to the first. Steps beyond ``sequence_length`` [batch]
    leave the states as they are. Other arguments go to the cell.
    """

    def __init__(self, cell: Callable[..., Any], is_reverse: bool = False, time_major: bool = False) -> None:
        super().__init__()
        self.cell: Any = cell
        self.is_reverse = is_reverse
        self.time_major = time_major

    def forward(
        self,
        inputs: Any,
        initial_states: Any = None,
        sequence_length: AnyTensor | None = None,
        **kwargs: Any,
    ) -> tuple[Any, Any]:
        return _run(
            self.cell, inputs, initial_states, sequence_length, self.time_major, self.is_reverse, kwargs
        )


class BiRNN(Layer):
    """Two cells over all steps, one forward and one in reverse; their outputs are joined.

    The states are a pair, those of the forward cell first.
    """

    def __init__(self, cell_fw: Layer, cell_bw: Layer, time_major: bool = False) -> None:
        super().__init__()
        if cell_fw.input_size != cell_bw.input_size:
            raise ArgumentError(
                f"BiRNN: both cells take the same inputs: got input_size {cell_fw.input_size} and "
                f"{cell_bw.input_size}"
            )
        self.cell_fw = cell_fw
        self.cell_bw = cell_bw
        self.time_major = time_major

    def forward(
        self,
        inputs: Any,
        initial_states: Any = None,
        sequence_length: AnyTensor | None = None,
        **kwargs: Any,
    ) -> tuple[Any, Any]:
        if isinstance(initial_states, (list, tuple)) and len(initial_states) != 2:
            raise ArgumentError(
                f"BiRNN: initial_states must be a pair, for each direction: got {len(initial_states)} of them"
            )
        first, second = (None, None) if initial_states is None else initial_states
        major = self.time_major
        out_fw, first = _run(self.cell_fw, inputs, first, sequence_length, major, False, kwargs)
        out_bw, second = _run(self.cell_bw, inputs, second, sequence_length, major, True, kwargs)
        joined = nest.map_structure(lambda x, y: shape.concat([x, y], axis=-1), out_fw, out_bw)
        return joined, (first, second)


_CELLS: dict[str, Any] = {
    "LSTM": LSTMCell,
    "GRU": GRUCell,
    "RNN_TANH": SimpleRNNCell,
    "RNN_RELU": SimpleRNNCell,
}


def layered(
    mode: str,
    x: AnyTensor,
    weights: Sequence[Sequence[Sequence[AnyTensor]]],
    first: list[list[Any]],
    dropout: float = 0.0,
    lengths: AnyTensor | None = None,
) -> tuple[Any, list[Any]]:
    """The outputs of layers one over the other for ``x`` [steps, N, size], and their last states.

    ``weights`` has for each layer, for each direction, weight_ih, weight_hh, bias_ih and bias_hh. ``first``
    has for each part of the state a tensor [N, hidden] for each layer and direction, or is empty; the last
    states are [layers * directions, N, hidden]. Between layers elements are dropped with probability
    ``dropout``.
    """
    last: list[list[Any]] = [[] for _ in range(2 if mode == "LSTM" else 1)]
    for number, directions in enumerate(weights):
        if number and dropout:
            x = functional.dropout(x, dropout, training=True)
        outputs = []
        for direction, own in enumerate(directions):
            states = [part[number * len(directions) + direction] for part in first]
            y, *found = ops.rnn(
                x, *own, *states, *[None] * (2 - len(states)), lengths, mode=mode, is_reverse=direction == 1
            )[:3]
            outputs.append(y)
            for part, state in zip(last, found, strict=False):
                part.append(state)
        x = outputs[0] if len(outputs) == 1 else shape.concat(outputs, axis=-1)
    return x, [shape.stack(part, axis=0) for part in last]


class RNNBase(LayerList):
    """Layers of one kind of cell, in one direction or both, one over the other.

    Its parameters have two names each: ``weight_ih_l0`` (``_reverse`` for the second direction) and that of
    their cell, ``0.cell.weight_ih``.
    """

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        weight_ih_attr: AttrLike = None,
        weight_hh_attr: AttrLike = None,
        bias_ih_attr: AttrLike = None,
        bias_hh_attr: AttrLike = None,
        proj_size: int = 0,
    ) -> None:
        super().__init__()
        where = type(self).__name__
        if direction not in ("forward", "bidirect", "bidirectional"):
            raise ArgumentError(f"{where}: direction {direction!r} is not one of 'forward', 'bidirect'")
        if num_layers < 1:
            raise ArgumentError(f"{where}: num_layers must be 1 or more: got {num_layers}")
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.dropout = dropout
        self.num_directions = 1 if direction == "forward" else 2
        self.time_major = time_major
        self.num_layers = num_layers
        self.proj_size = proj_size
        self.state_components = 2 if mode == "LSTM" else 1
        attrs: dict[str, Any] = {
            "weight_ih_attr": weight_ih_attr,
            "weight_hh_attr": weight_hh_attr,
            "bias_ih_attr": bias_ih_attr,
            "bias_hh_attr": bias_hh_attr,
        }
        if mode.startswith("RNN"):
            attrs["activation"] = "relu" if mode == "RNN_RELU" else "tanh"
        if proj_size:
            attrs["proj_size"] = proj_size
        names = ["weight_ih", "weight_hh", "bias_ih", "bias_hh"] + (["weight_ho"] if proj_size else [])
        for number in range(num_layers):
            size = input_size if number == 0 else (proj_size or hidden_size) * self.num_directions
            cells = [_CELLS[mode](size, hidden_size, **attrs) for _ in range(self.num_directions)]
            self.append(
                RNN(cells[0], False, time_major) if len(cells) == 1 else BiRNN(cells[0], cells[1], time_major)
            )
            for cell, suffix in zip(cells, ("", "_reverse"), strict=False):
                for name in names:
                    setattr(self, f"{name}_l{number}{suffix}", getattr(cell, name))

    def flatten_parameters(self) -> None:
        """Nothing to do: the operator takes the weights as they are. For scripts that call it."""

    def forward(
        self,
        inputs: AnyTensor,
        initial_states: AnyTensor | Sequence[AnyTensor] | None = None,
        sequence_length: AnyTensor | None = None,
    ) -> tuple[Any, Any]:
        first = self._split(initial_states)
        x = inputs if self.time_major or inputs.ndim != 3 else _swapped(inputs)
        rate = self.dropout if self.training else 0.0
        x, last = layered(self.mode, x, self._weights(), first, rate, sequence_length)
        states = tuple(last)
        return (x if self.time_major else _swapped(x)), (states[0] if len(states) == 1 else states)

    def _weights(self) -> list[list[tuple[Any, ...]]]:
        found = []
        for layer in self:
            cells = [layer.cell] if self.num_directions == 1 else [layer.cell_fw, layer.cell_bw]
            found.append([(c.weight_ih, c.weight_hh, c.bias_ih, c.bias_hh) for c in cells])
        return found

    def _split(self, initial_states: Any) -> list[Any]:
        """For each part of the state (h, c of an LSTM) a tensor [batch, hidden] a layer and direction."""
        if initial_states is None:
            return []
        where, count = type(self).__name__, self.num_layers * self.num_directions
        parts = list(initial_states) if isinstance(initial_states, (list, tuple)) else [initial_states]
        if len(parts) != self.state_components:
            wanted = "the pair (h, c)" if self.state_components == 2 else "one tensor h"
            raise ArgumentError(f"{where}: initial_states is {wanted}: got {len(parts)} tensors")
        for part in parts:
            if part.ndim != 3 or part.shape[0] not in (count, -1):
                raise ShapeError(
                    f"{where}: an initial state is [layers * directions, batch, hidden], here "
                    f"[{count}, batch, {self.hidden_size}]: got {list(part.shape)}"
                )
        return [shape.unstack(part, axis=0, num=count) for part in parts]

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.num_layers != 1:
            text += f", num_layers={self.num_layers}"
        if self.time_major is not False:
            text += f", time_major={self.time_major}"
        return text + (f", dropout={self.dropout}" if self.dropout != 0 else "")


class SimpleRNN(RNNBase):
    """Layers of SimpleRNNCell: inputs [batch, time, input_size], states [layers * directions, batch, hidden].

    ``dropout`` drops between layers while training; ``direction`` is 'forward' or 'bidirect'. Gives the
    outputs of every step and the last states. Steps beyond ``sequence_length`` give 0.

    Differs from Paddle: one ``rnn`` operator serves one layer in one direction, and its gradient has no
    gradient of its own; use RNN(SimpleRNNCell(...)) where second derivatives are wanted.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        activation: str = "tanh",
        weight_ih_attr: AttrLike = None,
        weight_hh_attr: AttrLike = None,
        bias_ih_attr: AttrLike = None,
        bias_hh_attr: AttrLike = None,
        name: str | None = None,
    ) -> None:
        if activation not in ("tanh", "relu"):
            raise ArgumentError(f"SimpleRNN: activation {activation!r} is not one of 'tanh', 'relu'")
        sizes = (input_size, hidden_size, num_layers, direction, time_major, dropout)
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        super().__init__("RNN_TANH" if activation == "tanh" else "RNN_RELU", *sizes, *attrs)
        self.activation = activation


class LSTM(RNNBase):
    """Layers of LSTMCell, like SimpleRNN; the states are the pair (h, c).

    With ``proj_size`` (of Paddle 3) outputs and h have that many channels; the steps are then operators of
    their own, as those of RNN(LSTMCell(...)).
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        weight_ih_attr: AttrLike = None,
        weight_hh_attr: AttrLike = None,
        bias_ih_attr: AttrLike = None,
        bias_hh_attr: AttrLike = None,
        name: str | None = None,
        proj_size: int = 0,
    ) -> None:
        sizes = (input_size, hidden_size, num_layers, direction, time_major, dropout)
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        super().__init__("LSTM", *sizes, *attrs, proj_size)

    def forward(
        self,
        inputs: AnyTensor,
        initial_states: AnyTensor | Sequence[AnyTensor] | None = None,
        sequence_length: AnyTensor | None = None,
    ) -> tuple[Any, Any]:
        if not self.proj_size:
            return super().forward(inputs, initial_states, sequence_length)
        first = list(zip(*self._split(initial_states), strict=True))
        count, x = self.num_directions, inputs
        last: list[tuple[Any, Any]] = []
        for number, layer in enumerate(self):
            if number and self.dropout:
                x = functional.dropout(x, self.dropout, training=self.training)
            given = first[number * count : (number + 1) * count] or None
            x, states = layer(x, given[0] if given and count == 1 else given, sequence_length)
            last += [states] if count == 1 else states
        return x, tuple(shape.stack(part, axis=0) for part in zip(*last, strict=True))


class GRU(RNNBase):
    """Layers of GRUCell, like SimpleRNN."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        weight_ih_attr: AttrLike = None,
        weight_hh_attr: AttrLike = None,
        bias_ih_attr: AttrLike = None,
        bias_hh_attr: AttrLike = None,
        name: str | None = None,
    ) -> None:
        sizes = (input_size, hidden_size, num_layers, direction, time_major, dropout)
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        super().__init__("GRU", *sizes, *attrs)
