"""Activation functions as layers."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ShapeError
from engine.core.values.dtype import default_dtype
from engine.nn import functional
from engine.nn.initializer import Constant
from engine.nn.layer.base.naming import with_name
from engine.nn.layer.function_layer import FUNCTIONS, FunctionLayer, OfX
from engine.nn.param_attr import AttrLike
from engine.tensor.tensor_like import AnyTensor

# Three families by their number of options: a call with a tuple of them takes longer than small activations.


class _Named(FunctionLayer):
    """An activation whose only option is the name that it was given."""

    _prefix = "_"

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)

    def forward(self, x: AnyTensor) -> Any:
        return FUNCTIONS[type(self)._function](x, self._name)


class _OpenlyNamed(_Named):
    """The same, its attribute ``name`` is public."""

    _prefix = ""

    def forward(self, x: AnyTensor) -> Any:
        return FUNCTIONS[type(self)._function](x, self.name)


class _OneOption(FunctionLayer):
    """An activation with one option and a name."""

    _prefix = "_"

    def forward(self, x: AnyTensor) -> Any:
        kind = type(self)
        return FUNCTIONS[kind._function](x, getattr(self, kind._attributes[0]), self._name)


class _AlongAxis(_OneOption):
    """A softmax; its function takes a dtype before the name."""

    def forward(self, x: AnyTensor) -> Any:
        return FUNCTIONS[type(self)._function](x, self._axis, name=self._name)


class _TwoOptions(FunctionLayer):
    """An activation with two options and a name."""

    _prefix = "_"

    def forward(self, x: AnyTensor) -> Any:
        kind = type(self)
        first, second, _ = kind._attributes
        return FUNCTIONS[kind._function](x, getattr(self, first), getattr(self, second), self._name)


class CELU(_OneOption):
    """x where positive, else alpha * (exp(x / alpha) - 1)."""

    _function = "celu"

    def __init__(self, alpha: float = 1.0, name: str | None = None) -> None:
        super().__init__(alpha, name)


class ELU(_OneOption):
    """x where positive, else alpha * (exp(x) - 1)."""

    _function = "elu"

    def __init__(self, alpha: float = 1.0, name: str | None = None) -> None:
        super().__init__(alpha, name)


class GELU(_OneOption):
    """x times the normal distribution function of x; ``approximate`` uses its form with tanh."""

    _function = "gelu"

    def __init__(self, approximate: bool = False, name: str | None = None) -> None:
        super().__init__(approximate, name)


class GLU(_OneOption):
    """The first half of x along ``axis`` times sigmoid of the second."""

    _function = "glu"

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__(axis, name)


class Hardshrink(_OneOption):
    """x outside of [-threshold, threshold], 0 inside."""

    _function = "hardshrink"

    def __init__(self, threshold: float = 0.5, name: str | None = None) -> None:
        super().__init__(threshold, name)


class Hardsigmoid(_OpenlyNamed):
    """x / 6 + 0.5, limited to [0, 1]."""

    _function = "hardsigmoid"

    def forward(self, x: AnyTensor) -> Any:
        return functional.hardsigmoid(x, name=self.name)


class Hardswish(_Named):
    """x * min(max(x + 3, 0), 6) / 6."""

    _function = "hardswish"


class Hardtanh(_TwoOptions):
    """x limited to [min, max]."""

    _function = "hardtanh"

    def __init__(self, min: float = -1.0, max: float = 1.0, name: str | None = None) -> None:
        super().__init__(min, max, name)


class LeakyReLU(_OneOption):
    """x where positive, else negative_slope * x."""

    _function = "leaky_relu"

    def __init__(self, negative_slope: float = 0.01, name: str | None = None) -> None:
        super().__init__(negative_slope, name)


class LogSigmoid(_Named):
    """log(sigmoid(x)), without overflow."""

    _function = "log_sigmoid"


class LogSoftmax(_AlongAxis):
    """log(softmax(x)) along ``axis``."""

    _function = "log_softmax"

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__(axis, name)


class Maxout(_TwoOptions):
    """The largest of each ``groups`` neighbouring channels."""

    _function = "maxout"

    def __init__(self, groups: int, axis: int = 1, name: str | None = None) -> None:
        super().__init__(groups, axis, name)


class Mish(_Named):
    """x * tanh(softplus(x))."""

    _function = "mish"


class PReLU(OfX):
    """x where positive, else x times a learned slope: one, or one for each of ``num_parameters`` channels."""

    _function, _prefix, _stored = "prelu", "_", {"weight": "_weight", "dtype": "_dtype"}
    _passed = ("weight", "data_format", "name")
    _shown = ("num_parameters", "data_format", "init", "dtype", "name")

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        weight_attr: AttrLike = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(num_parameters, init, weight_attr, data_format, name)
        self._weight: Any = self.create_parameter(
            [num_parameters], weight_attr, default_dtype().name, default_initializer=Constant(init)
        )


class ReLU(_Named):
    """max(x, 0)."""

    _function = "relu"


class ReLU6(_Named):
    """x limited to [0, 6]."""

    _function = "relu6"


class RReLU(OfX):
    """x where not negative, else x times a slope: drawn while training, the middle of the two otherwise."""

    _function, _prefix, _stored = "rrelu", "_", {"dtype": "_dtype"}
    _passed = ("lower", "upper", "training", "name")
    _shown = ("lower", "upper", "training", "dtype", "name")

    def __init__(self, lower: float = 1.0 / 8.0, upper: float = 1.0 / 3.0, name: str | None = None) -> None:
        super().__init__(lower, upper, name)


class SELU(_TwoOptions):
    """scale * x where positive, else scale * alpha * (exp(x) - 1)."""

    _function = "selu"

    def __init__(
        self,
        scale: float = 1.0507009873554804934193349852946,
        alpha: float = 1.6732632423543772848170429916717,
        name: str | None = None,
    ) -> None:
        super().__init__(scale, alpha, name)

    def extra_repr(self) -> str:
        return with_name(f"scale={self._scale:.16f}, alpha={self._alpha:.16f}", self._name)


class Sigmoid(_OpenlyNamed):
    """1 / (1 + exp(-x))."""

    _function = "sigmoid"


class Silu(_Named):
    """x * sigmoid(x)."""

    _function = "silu"


class Softmax(_AlongAxis):
    """exp(x) / sum(exp(x)) along ``axis``."""

    _function = "softmax"

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__(axis, name)


class Softmax2D(_Named):
    """softmax over the channels of x [N, C, H, W] or [C, H, W]."""

    _function = "softmax"

    def forward(self, x: AnyTensor) -> Any:
        if x.ndim not in (3, 4):
            raise ShapeError(f"Softmax2D: x has 3 or 4 dimensions: got {list(x.shape)}; use Softmax(axis)")
        return functional.softmax(x, axis=-3, name=self._name)


class Softplus(_TwoOptions):
    """log(1 + exp(beta * x)) / beta, and x itself where beta * x is above the threshold."""

    _function = "softplus"

    def __init__(self, beta: float = 1, threshold: float = 20, name: str | None = None) -> None:
        super().__init__(beta, threshold, name)


class Softshrink(_OneOption):
    """x moved by the threshold towards 0, at most up to it."""

    _function = "softshrink"

    def __init__(self, threshold: float = 0.5, name: str | None = None) -> None:
        super().__init__(threshold, name)


class Softsign(_Named):
    """x / (1 + |x|)."""

    _function = "softsign"


class Swish(_Named):
    """x * sigmoid(x)."""

    _function = "swish"


class Tanh(_Named):
    """Hyperbolic tangent."""

    _function = "tanh"


class Tanhshrink(_Named):
    """x - tanh(x)."""

    _function = "tanhshrink"


class ThresholdedReLU(_OneOption):
    """x where above the threshold, else 0."""

    _function = "thresholded_relu"

    def __init__(self, threshold: float = 1.0, name: str | None = None) -> None:
        super().__init__(threshold, name)
