"""Cells of recurrent networks: one step in time, made of operators of any order of differentiation."""

from __future__ import annotations

import math as numbers
from collections.abc import Sequence
from typing import Any

from engine.core.containers import nest
from engine.core.errors import ArgumentError, ModeError
from engine.core.values.dtype import as_dtype, default_dtype
from engine.nn.initializer import Constant, Uniform
from engine.nn.layer.layers import Layer
from engine.nn.param_attr import AttrLike
from engine.ops.activations import piecewise, smooth
from engine.ops.arrays import creation, shape
from engine.ops.elementwise import arithmetic
from engine.ops.linalg import products as linalg
from engine.tensor.tensor_like import AnyTensor, DTypeLike, ShapeLike


class RNNCellBase(Layer):
    """Base of cells: ``forward(inputs, states)`` gives ``(outputs, new_states)``.

    A cell defines ``state_shape`` (and ``state_dtype``, if not the default dtype) so that it can be begun
    without states.
    """

    def get_initial_states(
        self,
        batch_ref: Any,
        shape: ShapeLike | None = None,
        dtype: DTypeLike | None = None,
        init_value: float = 0.0,
        batch_dim_idx: int = 0,
    ) -> Any:
        """States of one value for a batch as large as dimension ``batch_dim_idx`` of ``batch_ref``.

        ``shape`` is a shape or a nested structure of them (the cell's ``state_shape`` by default), each with
        or without -1 for the batch in front; ``dtype`` is one dtype or a structure like it.
        """
        reference = nest.flatten(batch_ref)[0]
        structure = _map_shapes(self.state_shape if shape is None else shape)
        if dtype is None:
            try:
                dtype = self.state_dtype
            except (ModeError, NotImplementedError):
                dtype = default_dtype()
        dtypes = nest.flatten(dtype)
        leaves = nest.flatten(structure)
        if len(dtypes) == 1:
            dtypes *= len(leaves)
        made = [
            creation.fill_batch(
                reference,
                shape=[-1, *leaf.dims],
                value=float(init_value),
                dtype=as_dtype(kind).name,
                input_dim_idx=batch_dim_idx,
            )
            for leaf, kind in zip(leaves, dtypes, strict=True)
        ]
        return nest.pack(structure, made)

    @property
    def state_shape(self) -> Any:
        """The shape of a state without the batch, or a nested structure of shapes."""
        raise ModeError(
            f"{type(self).__name__}: has no state_shape, so it can't make its first states; define the "
            "property, or pass initial states"
        )

    @property
    def state_dtype(self) -> Any:
        """The dtype of the states, or a nested structure of dtypes."""
        raise ModeError(f"{type(self).__name__}: has no state_dtype; define the property, or pass dtype")


class _Shape:
    """A shape as a leaf of a structure."""

    def __init__(self, dims: Any) -> None:
        self.dims = [int(d) for d in dims]
        if self.dims[:1] == [-1]:
            del self.dims[0]


def _map_shapes(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _map_shapes(v) for k, v in value.items()}
    if all(isinstance(v, int) for v in value):
        return _Shape(value)
    return type(value)(_map_shapes(v) for v in value)


class _GatedCell(RNNCellBase):
    """A cell with weights and biases of its inputs and of its states."""

    def _make_parameters(
        self, gates: int, size: int, input_size: int, attrs: Sequence[Any], output_size: int = 0
    ) -> None:
        """weight_ih, weight_hh, bias_ih and bias_hh, uniform within 1 / sqrt(size).

        ``output_size`` is that of what comes back in the next step, if it is not ``size``. Where an
        attribute is False the parameter is constant: a weight 1, a bias 0, as in Paddle.
        """
        if size <= 0:
            raise ArgumentError(f"{type(self).__name__}: hidden_size must be above 0: got {size}")
        limit = 1.0 / numbers.sqrt(size)
        rows = gates * size
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        shapes = ((rows, input_size), (rows, output_size or size), (rows,), (rows,))
        for name, dims, attr in zip(names, shapes, attrs, strict=True):
            bias = name.startswith("bias")
            first = Constant(0.0 if bias else 1.0) if attr is False else Uniform(-limit, limit)
            made = self.create_parameter(
                dims, None if attr is False else attr, is_bias=bias, default_initializer=first
            )
            assert made is not None
            if attr is False:
                made.stop_gradient = True
            setattr(self, name, made)
        self.input_size = input_size
        self.hidden_size = size

    def _gates(self, x: Any, weight: Any, bias: Any) -> Any:
        return arithmetic.add(linalg.matmul(x, weight, trans_y=True), bias)

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}"


class SimpleRNNCell(_GatedCell):
    """h = act(W_ih x + b_ih + W_hh h + b_hh): Elman, Finding structure in time (1990).

    x is [N, input_size], h [N, hidden_size]; ``activation`` is 'tanh' or 'relu'.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        activation: str = "tanh",
        weight_ih_attr: AttrLike = None,
        weight_hh_attr: AttrLike = None,
        bias_ih_attr: AttrLike = None,
        bias_hh_attr: AttrLike = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        self._make_parameters(1, hidden_size, input_size, attrs)
        if activation not in ("tanh", "relu"):
            raise ArgumentError(f"SimpleRNNCell: activation {activation!r} is not one of 'tanh', 'relu'")
        self.activation = activation

    def forward(self, inputs: AnyTensor, states: AnyTensor | None = None) -> tuple[Any, Any]:
        h = self.get_initial_states(inputs) if states is None else states
        total = arithmetic.add(
            self._gates(inputs, self.weight_ih, self.bias_ih), self._gates(h, self.weight_hh, self.bias_hh)
        )
        h = smooth.tanh(total) if self.activation == "tanh" else piecewise.relu(total)
        return h, h

    @property
    def state_shape(self) -> tuple[int, ...]:
        return (self.hidden_size,)

    def extra_repr(self) -> str:
        shown = "" if self.activation == "tanh" else f", activation={self.activation}"
        return f"{self.input_size}, {self.hidden_size}{shown}"


class LSTMCell(_GatedCell):
    """One step of a long short-term memory: Hochreiter and Schmidhuber (1997), with forget gates.

    The states are (h, c), both [N, hidden_size]; the rows of the weights are those of the gates i, f, g, o.
    With ``proj_size`` (of Paddle 3) h is projected by ``weight_ho`` to [N, proj_size]: Sak et al. (2014).
    Raises ArgumentError where it is not smaller than ``hidden_size``.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        weight_ih_attr: AttrLike = None,
        weight_hh_attr: AttrLike = None,
        bias_ih_attr: AttrLike = None,
        bias_hh_attr: AttrLike = None,
        name: str | None = None,
        proj_size: int = 0,
    ) -> None:
        super().__init__()
        if proj_size < 0 or proj_size >= hidden_size:
            raise ArgumentError(
                f"{type(self).__name__}: proj_size must be 0 (none) or more, and below hidden_size "
                f"{hidden_size}: got {proj_size}"
            )
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        self._make_parameters(4, hidden_size, input_size, attrs, proj_size)
        self.proj_size = proj_size
        if proj_size:
            limit = 1.0 / numbers.sqrt(hidden_size)
            self.weight_ho = self.create_parameter(
                (hidden_size, proj_size),
                weight_hh_attr or None,
                default_initializer=Uniform(-limit, limit) if weight_hh_attr is not False else Constant(1.0),
            )
            assert self.weight_ho is not None  # its attribute is never False
            self.weight_ho.stop_gradient = self.weight_hh.stop_gradient

    def forward(self, inputs: AnyTensor, states: Sequence[AnyTensor] | None = None) -> tuple[Any, Any]:
        h, c = self.get_initial_states(inputs) if states is None else states
        gates = arithmetic.add(
            self._gates(inputs, self.weight_ih, self.bias_ih), self._gates(h, self.weight_hh, self.bias_hh)
        )
        i, f, g, o = shape.split(gates, axis=-1, sections=[self.hidden_size] * 4)
        i, f, o = smooth.sigmoid(i), smooth.sigmoid(f), smooth.sigmoid(o)
        c = arithmetic.add(arithmetic.multiply(f, c), arithmetic.multiply(i, smooth.tanh(g)))
        h = arithmetic.multiply(o, smooth.tanh(c))
        if self.proj_size:
            h = linalg.matmul(h, self.weight_ho)
        return h, (h, c)

    @property
    def state_shape(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return (self.proj_size or self.hidden_size,), (self.hidden_size,)


class GRUCell(_GatedCell):
    """One step of a gated recurrent unit: Cho et al. (2014), the reset gate after the matrix product.

    The state is h [N, hidden_size]; the rows of the weights are those of the gates r, z, c.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        weight_ih_attr: AttrLike = None,
        weight_hh_attr: AttrLike = None,
        bias_ih_attr: AttrLike = None,
        bias_hh_attr: AttrLike = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        self._make_parameters(3, hidden_size, input_size, attrs)

    def forward(self, inputs: AnyTensor, states: AnyTensor | None = None) -> tuple[Any, Any]:
        h = self.get_initial_states(inputs) if states is None else states
        sections = [self.hidden_size] * 3
        from_x = self._gates(inputs, self.weight_ih, self.bias_ih)
        from_h = self._gates(h, self.weight_hh, self.bias_hh)
        x_r, x_z, x_c = shape.split(from_x, axis=-1, sections=sections)
        h_r, h_z, h_c = shape.split(from_h, axis=-1, sections=sections)
        r = smooth.sigmoid(arithmetic.add(x_r, h_r))
        z = smooth.sigmoid(arithmetic.add(x_z, h_z))
        c = smooth.tanh(arithmetic.add(x_c, arithmetic.multiply(r, h_c)))
        h = arithmetic.add(arithmetic.multiply(arithmetic.subtract(h, c), z), c)
        return h, h

    @property
    def state_shape(self) -> tuple[int, ...]:
        return (self.hidden_size,)
