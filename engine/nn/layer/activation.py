"""Activation functions as layers."""

from __future__ import annotations

from typing import Any

from engine.core.dtype import default_dtype
from engine.core.errors import ShapeError
from engine.nn import functional
from engine.nn.initializer import Constant
from engine.nn.layer.layers import Layer


def _written(name: str | None, *parts: str) -> str:
    return ", ".join([*parts, *([f"name={name}"] if name else [])])


class _Named(Layer):
    """An activation without parameters that keeps the name it was given."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self._name = name

    def extra_repr(self) -> str:
        return _written(self._name)


class CELU(Layer):
    """x where positive, else alpha * (exp(x / alpha) - 1)."""

    def __init__(self, alpha: float = 1.0, name: str | None = None) -> None:
        super().__init__()
        self._alpha = alpha
        self._name = name

    def forward(self, x: Any) -> Any:
        return functional.celu(x, self._alpha, self._name)

    def extra_repr(self) -> str:
        return _written(self._name, f"alpha={self._alpha}")


class ELU(Layer):
    """x where positive, else alpha * (exp(x) - 1)."""

    def __init__(self, alpha: float = 1.0, name: str | None = None) -> None:
        super().__init__()
        self._alpha = alpha
        self._name = name

    def forward(self, x: Any) -> Any:
        return functional.elu(x, self._alpha, self._name)

    def extra_repr(self) -> str:
        return _written(self._name, f"alpha={self._alpha}")


class GELU(Layer):
    """x times the normal distribution function of x; ``approximate`` uses its form with tanh."""

    def __init__(self, approximate: bool = False, name: str | None = None) -> None:
        super().__init__()
        self._approximate = approximate
        self._name = name

    def forward(self, x: Any) -> Any:
        return functional.gelu(x, self._approximate, self._name)

    def extra_repr(self) -> str:
        return _written(self._name, f"approximate={self._approximate}")


class GLU(Layer):
    """The first half of x along ``axis`` times sigmoid of the second."""

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__()
        self._axis = axis
        self._name = name

    def forward(self, x: Any) -> Any:
        return functional.glu(x, self._axis, self._name)

    def extra_repr(self) -> str:
        return _written(self._name, f"axis={self._axis}")


class Hardshrink(Layer):
    """x outside of [-threshold, threshold], 0 inside."""

    def __init__(self, threshold: float = 0.5, name: str | None = None) -> None:
        super().__init__()
        self._threshold = threshold
        self._name = name

    def forward(self, x: Any) -> Any:
        return functional.hardshrink(x, self._threshold, self._name)

    def extra_repr(self) -> str:
        return _written(self._name, f"threshold={self._threshold}")


class Hardsigmoid(Layer):
    """x / 6 + 0.5, limited to [0, 1]."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self.name = name

    def forward(self, x: Any) -> Any:
        return functional.hardsigmoid(x, name=self.name)

    def extra_repr(self) -> str:
        return _written(self.name)


class Hardswish(_Named):
    """x * min(max(x + 3, 0), 6) / 6."""

    def forward(self, x: Any) -> Any:
        return functional.hardswish(x, self._name)


class Hardtanh(Layer):
    """x limited to [min, max]."""

    def __init__(self, min: float = -1.0, max: float = 1.0, name: str | None = None) -> None:
        super().__init__()
        self._min = min
        self._max = max
        self._name = name

    def forward(self, x: Any) -> Any:
        return functional.hardtanh(x, self._min, self._max, self._name)

    def extra_repr(self) -> str:
        return _written(self._name, f"min={self._min}", f"max={self._max}")


class LeakyReLU(Layer):
    """x where positive, else negative_slope * x."""

    def __init__(self, negative_slope: float = 0.01, name: str | None = None) -> None:
        super().__init__()
        self._negative_slope = negative_slope
        self._name = name

    def forward(self, x: Any) -> Any:
        return functional.leaky_relu(x, self._negative_slope, self._name)

    def extra_repr(self) -> str:
        return _written(self._name, f"negative_slope={self._negative_slope}")


class LogSigmoid(_Named):
    """log(sigmoid(x)), without overflow."""

    def forward(self, x: Any) -> Any:
        return functional.log_sigmoid(x, self._name)


class LogSoftmax(Layer):
    """log(softmax(x)) along ``axis``."""

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__()
        self._axis = axis
        self._name = name

    def forward(self, x: Any) -> Any:
        return functional.log_softmax(x, self._axis, name=self._name)

    def extra_repr(self) -> str:
        return _written(self._name, f"axis={self._axis}")


class Maxout(Layer):
    """The largest of each ``groups`` neighbouring channels."""

    def __init__(self, groups: int, axis: int = 1, name: str | None = None) -> None:
        super().__init__()
        self._groups = groups
        self._axis = axis
        self._name = name

    def forward(self, x: Any) -> Any:
        return functional.maxout(x, self._groups, self._axis, self._name)

    def extra_repr(self) -> str:
        return _written(self._name, f"groups={self._groups}", f"axis={self._axis}")


class Mish(_Named):
    """x * tanh(softplus(x))."""

    def forward(self, x: Any) -> Any:
        return functional.mish(x, self._name)


class PReLU(Layer):
    """x where positive, else x times a learned slope: one, or one for each of ``num_parameters`` channels."""

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        weight_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._num_parameters = num_parameters
        self._init = init
        self._weight_attr = weight_attr
        self._name = name
        self._data_format = data_format
        self._weight: Any = self.create_parameter(
            [num_parameters], weight_attr, default_dtype().name, default_initializer=Constant(init)
        )

    def forward(self, x: Any) -> Any:
        return functional.prelu(x, self._weight, data_format=self._data_format, name=self._name)

    def extra_repr(self) -> str:
        return _written(
            self._name,
            f"num_parameters={self._num_parameters}",
            f"data_format={self._data_format}",
            f"init={self._init}",
            f"dtype={self._dtype}",
        )


class ReLU(_Named):
    """max(x, 0)."""

    def forward(self, x: Any) -> Any:
        return functional.relu(x, self._name)


class ReLU6(_Named):
    """x limited to [0, 6]."""

    def forward(self, x: Any) -> Any:
        return functional.relu6(x, self._name)


class RReLU(Layer):
    """x where not negative, else x times a slope: drawn while training, the middle of the two otherwise."""

    def __init__(self, lower: float = 1.0 / 8.0, upper: float = 1.0 / 3.0, name: str | None = None) -> None:
        super().__init__()
        self._lower = lower
        self._upper = upper
        self._name = name

    def forward(self, x: Any) -> Any:
        return functional.rrelu(
            x, lower=self._lower, upper=self._upper, training=self.training, name=self._name
        )

    def extra_repr(self) -> str:
        return _written(
            self._name,
            f"lower={self._lower}",
            f"upper={self._upper}",
            f"training={self.training}",
            f"dtype={self._dtype}",
        )


class SELU(Layer):
    """scale * x where positive, else scale * alpha * (exp(x) - 1)."""

    def __init__(
        self,
        scale: float = 1.0507009873554804934193349852946,
        alpha: float = 1.6732632423543772848170429916717,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._scale = scale
        self._alpha = alpha
        self._name = name

    def forward(self, x: Any) -> Any:
        return functional.selu(x, self._scale, self._alpha, self._name)

    def extra_repr(self) -> str:
        return _written(self._name, f"scale={self._scale:.16f}", f"alpha={self._alpha:.16f}")


class Sigmoid(Layer):
    """1 / (1 + exp(-x))."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self.name = name

    def forward(self, x: Any) -> Any:
        return functional.sigmoid(x, self.name)

    def extra_repr(self) -> str:
        return _written(self.name)


class Silu(_Named):
    """x * sigmoid(x)."""

    def forward(self, x: Any) -> Any:
        return functional.silu(x, self._name)


class Softmax(Layer):
    """exp(x) / sum(exp(x)) along ``axis``."""

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__()
        self._axis = axis
        self._name = name

    def forward(self, x: Any) -> Any:
        return functional.softmax(x, self._axis, name=self._name)

    def extra_repr(self) -> str:
        return _written(self._name, f"axis={self._axis}")


class Softmax2D(_Named):
    """softmax over the channels of x [N, C, H, W] or [C, H, W]."""

    def forward(self, x: Any) -> Any:
        if x.ndim not in (3, 4):
            raise ShapeError(f"Softmax2D: x has 3 or 4 dimensions: got {list(x.shape)}; use Softmax(axis)")
        return functional.softmax(x, axis=-3, name=self._name)


class Softplus(Layer):
    """log(1 + exp(beta * x)) / beta, and x itself where beta * x is above the threshold."""

    def __init__(self, beta: float = 1, threshold: float = 20, name: str | None = None) -> None:
        super().__init__()
        self._beta = beta
        self._threshold = threshold
        self._name = name

    def forward(self, x: Any) -> Any:
        return functional.softplus(x, self._beta, self._threshold, self._name)

    def extra_repr(self) -> str:
        return _written(self._name, f"beta={self._beta}", f"threshold={self._threshold}")


class Softshrink(Layer):
    """x moved by the threshold towards 0, at most up to it."""

    def __init__(self, threshold: float = 0.5, name: str | None = None) -> None:
        super().__init__()
        self._threshold = threshold
        self._name = name

    def forward(self, x: Any) -> Any:
        return functional.softshrink(x, self._threshold, self._name)

    def extra_repr(self) -> str:
        return _written(self._name, f"threshold={self._threshold}")


class Softsign(_Named):
    """x / (1 + |x|)."""

    def forward(self, x: Any) -> Any:
        return functional.softsign(x, self._name)


class Swish(_Named):
    """x * sigmoid(x)."""

    def forward(self, x: Any) -> Any:
        return functional.swish(x, self._name)


class Tanh(_Named):
    """Hyperbolic tangent."""

    def forward(self, x: Any) -> Any:
        return functional.tanh(x, self._name)


class Tanhshrink(_Named):
    """x - tanh(x)."""

    def forward(self, x: Any) -> Any:
        return functional.tanhshrink(x, self._name)


class ThresholdedReLU(Layer):
    """x where above the threshold, else 0."""

    def __init__(self, threshold: float = 1.0, name: str | None = None) -> None:
        super().__init__()
        self._threshold = threshold
        self._name = name

    def forward(self, x: Any) -> Any:
        return functional.thresholded_relu(x, self._threshold, self._name)

    def extra_repr(self) -> str:
        return _written(self._name, f"threshold={self._threshold}")
