"""Linear, Bilinear, Flatten, Unflatten, Embedding and Identity."""

from __future__ import annotations

from typing import Any

from engine.core import mode as modes
from engine.core.errors import ArgumentError
from engine.core.values.dtype import default_dtype
from engine.nn import functional
from engine.nn.layer.base.naming import with_name
from engine.nn.layer.layers import Layer
from engine.nn.param_attr import AttrLike
from engine.tensor import manipulation
from engine.tensor.tensor_like import AnyTensor, ShapeLike


class Identity(Layer):
    """Gives back its input; takes and ignores any arguments."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: AnyTensor) -> Any:
        return input


class Linear(Layer):
    """``x @ weight + bias``: x [..., in_features], weight [in_features, out_features], bias [out_features].

    ``bias_attr=False`` leaves the bias out. Weights are XavierUniform by default, biases 0.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        weight_attr: AttrLike = None,
        bias_attr: AttrLike = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._dtype = default_dtype().name
        self._weight_attr = weight_attr
        self._bias_attr = bias_attr
        self.weight: Any = self.create_parameter([in_features, out_features], weight_attr, self._dtype)
        self.bias = self.create_parameter([out_features], bias_attr, self._dtype, is_bias=True)
        self.name = name

    def forward(self, input: AnyTensor) -> Any:
        return functional.linear(input, self.weight, self.bias, self.name)

    def extra_repr(self) -> str:
        rows, columns = self.weight.shape
        return with_name(f"in_features={rows}, out_features={columns}, dtype={self._dtype}", self.name)


class Flatten(Layer):
    """Dimensions ``start_axis`` to ``stop_axis`` as one."""

    def __init__(self, start_axis: int = 1, stop_axis: int = -1) -> None:
        super().__init__()
        self.start_axis = start_axis
        self.stop_axis = stop_axis

    def forward(self, input: AnyTensor) -> Any:
        return manipulation.flatten(input, start_axis=self.start_axis, stop_axis=self.stop_axis)


class Unflatten(Layer):
    """Dimension ``axis`` as several, of the sizes ``shape`` (one may be -1)."""

    def __init__(self, axis: int, shape: ShapeLike, name: str | None = None) -> None:
        super().__init__()
        self.axis = axis
        self.shape = shape
        self.name = name

    def forward(self, input: AnyTensor) -> Any:
        return manipulation.unflatten(input, axis=self.axis, shape=self.shape, name=self.name)

    def extra_repr(self) -> str:
        return with_name(f"axis={self.axis}, shape={self.shape}", self.name)


class Bilinear(Layer):
    """``x1[n] @ weight[k] @ x2[n] + bias[k]`` for each sample n and output k; weight is [out, in1, in2]."""

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        weight_attr: AttrLike = None,
        bias_attr: AttrLike = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._weight_attr = weight_attr
        self._bias_attr = bias_attr
        self._name = name
        self._in1_features = in1_features
        self._in2_features = in2_features
        self._out_features = out_features
        self._dtype = default_dtype().name
        shape = [out_features, in1_features, in2_features]
        self.weight: Any = self.create_parameter(shape, weight_attr, self._dtype)
        self.bias = self.create_parameter([1, out_features], bias_attr, self._dtype, is_bias=True)

    def forward(self, x1: AnyTensor, x2: AnyTensor) -> Any:
        return functional.bilinear(x1, x2, self.weight, self.bias, self._name)

    def extra_repr(self) -> str:
        sizes = f"in1_features={self._in1_features}, in2_features={self._in2_features}"
        return with_name(f"{sizes}, out_features={self._out_features}, dtype={self._dtype}", self._name)


class Embedding(Layer):
    """A row of ``weight`` [num_embeddings, embedding_dim] for each number; rows are drawn XavierUniform.

    The row ``padding_idx`` is zero, and stays so: it gets no gradient.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        sparse: bool = False,
        weight_attr: AttrLike = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        if num_embeddings <= 0 or embedding_dim <= 0:
            raise ArgumentError(
                f"Embedding: num_embeddings and embedding_dim must be 1 or more: got {num_embeddings}, "
                f"{embedding_dim}"
            )
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise ArgumentError(
                f"Embedding: padding_idx {padding_idx} is not a row: num_embeddings={num_embeddings}; use "
                f"{-num_embeddings} to {num_embeddings - 1}"
            )
        self._num_embeddings = num_embeddings
        self._embedding_dim = embedding_dim
        self._sparse = sparse
        self._padding_idx = padding_idx
        self._name = name
        self._dtype = default_dtype().name
        self.weight: Any = self.create_parameter([num_embeddings, embedding_dim], weight_attr, self._dtype)
        if padding_idx is not None and not modes.is_symbolic(self.weight):
            assert self.weight is not None  # weight_attr=False has no rows
            rows = self.weight.numpy()
            rows[padding_idx] = 0
            self.weight.set_value(rows)

    def forward(self, x: AnyTensor) -> Any:
        return functional.embedding(
            x, self.weight, padding_idx=self._padding_idx, sparse=self._sparse, name=self._name
        )

    def extra_repr(self) -> str:
        text = f"{self._num_embeddings}, {self._embedding_dim}"
        if self._padding_idx is not None:
            text += f", padding_idx={self._padding_idx}"
        text += f", sparse={self._sparse}"
        return text + (f", name={self._name}" if self._name is not None else "")
