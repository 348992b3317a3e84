"""``LSTMCell`` and ``GRUCell`` of 1.8: one step, with the weights of cuDNN's layers."""

from __future__ import annotations

from typing import Any

from engine.core.errors import UnsupportedError
from engine.fluid.dygraph.layers import Layer
from engine.fluid.values.variable import result
from engine.nn import functional
from engine.tensor import linalg, manipulation

__all__ = ["GRUCell", "LSTMCell"]


def _require_cudnn(name: str, use_cudnn_impl: bool, like: str) -> None:
    if not use_cudnn_impl:
        raise UnsupportedError(
            f"fluid.dygraph.{name}: use_cudnn_impl=False has other weights; use fluid.contrib.layers.{like}"
        )


class _Cell(Layer):
    """``activation`` functions are those of ``fluid.layers``, tanh and sigmoid where None."""

    _gates: int

    def __init__(
        self,
        hidden_size: int,
        input_size: int,
        param_attr: Any,
        bias_attr: Any,
        gate_activation: Any,
        activation: Any,
        dtype: Any,
    ) -> None:
        super().__init__(dtype=dtype)
        self._gate = gate_activation or functional.sigmoid
        self._act = activation or functional.tanh
        rows = self._gates * hidden_size
        self._weight_ih = self.create_parameter(param_attr, [rows, input_size], dtype)
        self._weight_hh = self.create_parameter(param_attr, [rows, hidden_size], dtype)
        self._bias_ih = self.create_parameter(bias_attr, [rows], dtype, is_bias=True)
        self._bias_hh = self.create_parameter(bias_attr, [rows], dtype, is_bias=True)

    def _parts(self, input: Any, state: Any) -> tuple[list[Any], list[Any]]:
        """The products of the input and of the state, one for each gate."""
        own = linalg.matmul(input, self._weight_ih, transpose_y=True) + self._bias_ih
        other = linalg.matmul(state, self._weight_hh, transpose_y=True) + self._bias_hh
        return manipulation.split(own, self._gates, 1), manipulation.split(other, self._gates, 1)


class LSTMCell(_Cell):
    """A step of an LSTM: ``forward(input, pre_hidden, pre_cell)`` gives the hidden and the cell state.

    The weights [4 * hidden_size, ...] have input, forget, candidate and output gate.
    ``forget_bias`` belongs to ``use_cudnn_impl=False``, which raises UnsupportedError and names its like.
    """

    _gates = 4

    def __init__(
        self,
        hidden_size: int,
        input_size: int,
        param_attr: Any = None,
        bias_attr: Any = None,
        gate_activation: Any = None,
        activation: Any = None,
        forget_bias: float = 1.0,
        use_cudnn_impl: bool = True,
        dtype: Any = "float64",
    ) -> None:
        _require_cudnn("LSTMCell", use_cudnn_impl, "BasicLSTMUnit")
        super().__init__(hidden_size, input_size, param_attr, bias_attr, gate_activation, activation, dtype)

    def forward(self, input: Any, pre_hidden: Any, pre_cell: Any) -> tuple[Any, Any]:
        """The new hidden and cell state [N, hidden_size]."""
        i, f, g, o = (a + b for a, b in zip(*self._parts(input, pre_hidden), strict=True))
        cell = self._gate(f) * pre_cell + self._gate(i) * self._act(g)
        return result(self._gate(o) * self._act(cell)), result(cell)


class GRUCell(_Cell):
    """A step of a GRU: ``forward(input, pre_hidden)`` gives the hidden state.

    The weights [3 * hidden_size, ...] have reset and update gate and the candidate.
    ``use_cudnn_impl=False`` raises UnsupportedError and names its like.
    """

    _gates = 3

    def __init__(
        self,
        hidden_size: int,
        input_size: int,
        param_attr: Any = None,
        bias_attr: Any = None,
        gate_activation: Any = None,
        activation: Any = None,
        use_cudnn_impl: bool = True,
        dtype: Any = "float64",
    ) -> None:
        _require_cudnn("GRUCell", use_cudnn_impl, "BasicGRUUnit")
        super().__init__(hidden_size, input_size, param_attr, bias_attr, gate_activation, activation, dtype)

    def forward(self, input: Any, pre_hidden: Any) -> Any:
        """The new hidden state [N, hidden_size]."""
        own, other = self._parts(input, pre_hidden)
        reset, update = (self._gate(a + b) for a, b in zip(own[:2], other[:2], strict=True))
        candidate = self._act(own[2] + reset * other[2])
        return result((pre_hidden - candidate) * update + candidate)
