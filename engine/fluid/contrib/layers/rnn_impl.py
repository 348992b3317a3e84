"""Steps of a GRU and an LSTM whose weights take input and state side by side."""

from __future__ import annotations

from copy import copy
from typing import Any

from engine.core.errors import ArgumentError
from engine.core.strictness import tolerate
from engine.fluid.dygraph.layers import Layer
from engine.fluid.layers import ops
from engine.fluid.param_attr import ParamAttr
from engine.fluid.values.variable import result
from engine.nn import functional
from engine.nn.initializer import Constant
from engine.tensor import manipulation

__all__ = ["BasicGRUUnit", "BasicLSTMUnit"]


class _Unit(Layer):
    """``activation`` functions are those of ``fluid.layers``, tanh and sigmoid where None."""

    def __init__(
        self,
        name_scope: str,
        hidden_size: int,
        param_attr: Any,
        bias_attr: Any,
        gate_activation: Any,
        activation: Any,
        dtype: Any,
    ) -> None:
        super().__init__(name_scope, dtype)
        self._hidden_size = hidden_size
        self._attrs = (param_attr, bias_attr)
        self._gate_activation = gate_activation or ops.sigmoid
        self._activation = activation or ops.tanh

    def _parameter(self, shape: list[int], attr: Any, suffix: str = "") -> Any:
        """A weight, or for a shape of one dimension a bias that is 0 at first."""
        if suffix and getattr(attr, "name", None) is not None:
            attr = copy(ParamAttr._to_attr(attr))
            attr.name += suffix
        first = Constant(0.0) if len(shape) == 1 else None
        return self.create_parameter(
            attr=attr, shape=shape, dtype=self._dtype, is_bias=len(shape) == 1, default_initializer=first
        )


class BasicGRUUnit(_Unit):
    """``update * state + (1 - update) * candidate`` for a batch; the reset gate is before the product.

    Weights are [input size + hidden_size, 2 * hidden_size] for reset and update, and
    [input size + hidden_size, hidden_size] for the candidate; names get "_gate" or "_candidate".
    """

    def __init__(
        self,
        name_scope: str,
        hidden_size: int,
        param_attr: Any = None,
        bias_attr: Any = None,
        gate_activation: Any = None,
        activation: Any = None,
        dtype: Any = "float32",
    ) -> None:
        super().__init__(name_scope, hidden_size, param_attr, bias_attr, gate_activation, activation, dtype)

    def _build_once(self, input: Any, pre_hidden: Any) -> None:
        rows, size = int(input.shape[-1]) + self._hidden_size, self._hidden_size
        weight, bias = self._attrs
        self._gate_weight = self._parameter([rows, 2 * size], weight, "_gate")
        self._candidate_weight = self._parameter([rows, size], weight, "_candidate")
        self._gate_bias = self._parameter([2 * size], bias, "_gate")
        self._candidate_bias = self._parameter([size], bias, "_candidate")

    def forward(self, input: Any, pre_hidden: Any) -> Any:
        """The new state [N, hidden_size] for ``input`` [N, size]."""
        joined = manipulation.concat([input, pre_hidden], 1)
        gates = self._gate_activation(_affine(joined, self._gate_weight, self._gate_bias))
        reset, update = manipulation.split(gates, 2, 1)
        joined = manipulation.concat([input, reset * pre_hidden], 1)
        new = self._activation(_affine(joined, self._candidate_weight, self._candidate_bias))
        return result(update * pre_hidden + (1.0 - update) * new)


class BasicLSTMUnit(_Unit):
    """One step of an LSTM for a batch.

    The weight is [input size + hidden_size, 4 * hidden_size] for the gates input, candidate, forget and
    output; ``forget_bias`` is added to the forget gate. Other activations than sigmoid and tanh have no
    effect, as in Paddle; they give a LeniencyWarning.
    """

    def __init__(
        self,
        name_scope: str,
        hidden_size: int,
        param_attr: Any = None,
        bias_attr: Any = None,
        gate_activation: Any = None,
        activation: Any = None,
        forget_bias: float = 1.0,
        dtype: Any = "float32",
    ) -> None:
        super().__init__(name_scope, hidden_size, param_attr, bias_attr, gate_activation, activation, dtype)
        self._forget_bias = forget_bias
        if (gate_activation, activation) != (None, None):
            tolerate(
                ArgumentError(
                    "BasicLSTMUnit: gate_activation and activation have no effect; use a RNNCell of your own"
                )
            )

    def _build_once(self, input: Any, pre_hidden: Any, pre_cell: Any) -> None:
        rows, size = int(input.shape[-1]) + self._hidden_size, self._hidden_size
        weight, bias = self._attrs
        self._weight = self._parameter([rows, 4 * size], weight)
        self._bias = self._parameter([4 * size], bias)

    def forward(self, input: Any, pre_hidden: Any, pre_cell: Any) -> Any:
        """The new hidden and cell states, both [N, hidden_size]."""
        joined = manipulation.concat([input, pre_hidden], 1)
        i, j, f, o = manipulation.split(_affine(joined, self._weight, self._bias), 4, -1)
        remembered = functional.sigmoid(f + self._forget_bias) * pre_cell
        cell = remembered + functional.sigmoid(i) * functional.tanh(j)
        return result((functional.tanh(cell) * functional.sigmoid(o), cell))


def _affine(x: Any, weight: Any, bias: Any) -> Any:
    out = x @ weight
    return out if bias is None else out + bias
