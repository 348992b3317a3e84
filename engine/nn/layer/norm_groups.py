"""Normalization of each sample by groups of channels, of neighbouring channels, and of weights, as layers."""

from __future__ import annotations

import math
from typing import Any

from engine.core.errors import ArgumentError, ShapeError
from engine.core.values.dtype import as_dtype, default_dtype
from engine.nn import functional
from engine.nn.functional.norm import group_norm
from engine.nn.initializer import Constant, Normal
from engine.nn.layer.function_layer import OfInput
from engine.nn.layer.layers import Layer
from engine.nn.layer.norm import _freeze_missing, _make_statistics, require_rank
from engine.nn.param_attr import AttrLike
from engine.ops.linalg.spectral_norm import spectral_norm
from engine.program.build.calls import names_results_by_layer
from engine.tensor.tensor_like import AnyTensor, ShapeLike


class GroupNorm(Layer):
    """Normalizes each sample over ``num_groups`` groups of channels; weight 1 and bias 0 are [channels].

    ``weight_attr=False`` and ``bias_attr=False`` keep them at these values.
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        epsilon: float = 1e-05,
        weight_attr: AttrLike = None,
        bias_attr: AttrLike = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        if data_format not in ("NCHW", "NHWC"):
            raise ArgumentError(f"GroupNorm: data_format {data_format!r} is not one of 'NCHW', 'NHWC'")
        self._weight_attr = weight_attr
        self._bias_attr = bias_attr
        self._epsilon = epsilon
        self._num_channels = num_channels
        self._num_groups = num_groups
        self._data_format = data_format
        dtype = default_dtype().name
        _make_statistics(self, num_channels, dtype, weight_attr, bias_attr)
        _freeze_missing(self, num_channels, dtype)

    @names_results_by_layer()
    def forward(self, input: AnyTensor) -> Any:
        return group_norm(input, self._num_groups, self._epsilon, self.weight, self.bias, self._data_format)

    def extra_repr(self) -> str:
        return f"num_groups={self._num_groups}, num_channels={self._num_channels}, epsilon={self._epsilon}"


class _InstanceNormBase(Layer):
    """What the instance norms of different ranks share; scale 1 and bias 0 are [channels]."""

    _ranks: tuple[int, ...]

    def __init__(
        self,
        num_features: int,
        epsilon: float = 1e-05,
        momentum: float = 0.9,
        weight_attr: AttrLike = None,
        bias_attr: AttrLike = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        where = type(self).__name__
        if (weight_attr is False) != (bias_attr is False):
            raise ArgumentError(
                f"{where}: weight_attr and bias_attr must be False together: got {weight_attr!r} and "
                f"{bias_attr!r}"
            )
        self._momentum = momentum
        self._epsilon = epsilon
        self._weight_attr = weight_attr
        self._bias_attr = bias_attr
        self._num_features = num_features
        self._data_format = data_format
        self.scale = None
        self.bias = None
        if weight_attr is not False:
            self.scale = self.create_parameter([num_features], weight_attr, default_initializer=Constant(1.0))
            self.bias = self.create_parameter([num_features], bias_attr, is_bias=True)

    def forward(self, input: AnyTensor) -> Any:
        require_rank(self, input)
        return functional.instance_norm(
            input,
            weight=self.scale,
            bias=self.bias,
            momentum=self._momentum,
            eps=self._epsilon,
            data_format=self._data_format,
        )

    def extra_repr(self) -> str:
        return f"num_features={self._num_features}, epsilon={self._epsilon}"


class InstanceNorm1D(_InstanceNormBase):
    """Normalizes each channel of each sample [N, C, L]; see functional.instance_norm."""

    _ranks = (2, 3)

    def __init__(
        self,
        num_features: int,
        epsilon: float = 1e-05,
        momentum: float = 0.9,
        weight_attr: AttrLike = None,
        bias_attr: AttrLike = None,
        data_format: str = "NCL",
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, epsilon, momentum, weight_attr, bias_attr, data_format, name)


class InstanceNorm2D(_InstanceNormBase):
    """Normalizes each channel of each image [N, C, H, W]; see functional.instance_norm."""

    _ranks = (4,)


class InstanceNorm3D(_InstanceNormBase):
    """Normalizes each channel of each volume [N, C, D, H, W]; see functional.instance_norm."""

    _ranks = (5,)

    def __init__(
        self,
        num_features: int,
        epsilon: float = 1e-05,
        momentum: float = 0.9,
        weight_attr: AttrLike = None,
        bias_attr: AttrLike = None,
        data_format: str = "NCDHW",
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, epsilon, momentum, weight_attr, bias_attr, data_format, name)


class LocalResponseNorm(OfInput):
    """Divides each element by those of neighbouring channels; see functional.local_response_norm."""

    _function, _hidden = "local_response_norm", {"data_format": "NCHW"}

    def __init__(
        self,
        size: int,
        alpha: float = 0.0001,
        beta: float = 0.75,
        k: float = 1.0,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(size, alpha, beta, k, data_format, name)


class SpectralNorm(Layer):
    """Divides a weight by its largest singular value, estimated by ``power_iters`` steps of power iteration.

    The weight's rows are along ``dim``. Every call starts from the same random vectors weight_u [rows] and
    weight_v [columns], as in Paddle. Source: Miyato et al., Spectral Normalization for Generative
    Adversarial Networks.

    Differs from Paddle: the gradient is that of the value.
    """

    def __init__(
        self,
        weight_shape: ShapeLike,
        dim: int = 0,
        power_iters: int = 1,
        eps: float = 1e-12,
        dtype: str = "float32",
    ) -> None:
        super().__init__()
        shape = [int(d) for d in weight_shape]
        if not shape or min(shape) < 1:
            raise ShapeError(f"SpectralNorm: weight_shape {shape} must have no dimension below 1")
        if not -len(shape) <= dim < len(shape):
            raise ArgumentError(
                f"SpectralNorm: dim {dim} is out of range for weight_shape {shape}; use 0 to {len(shape) - 1}"
            )
        self._dim = dim
        self._power_iters = power_iters
        self._eps = eps
        self._dtype = as_dtype(dtype).name
        rows = shape[dim]
        self.weight_u: Any = self.create_parameter(
            [rows], None, self._dtype, default_initializer=Normal(0.0, 1.0)
        )
        assert self.weight_u is not None  # its attribute is not False
        self.weight_u.stop_gradient = True
        self.weight_v: Any = self.create_parameter(
            [math.prod(shape) // rows], None, self._dtype, default_initializer=Normal(0.0, 1.0)
        )
        assert self.weight_v is not None
        self.weight_v.stop_gradient = True

    def forward(self, x: AnyTensor) -> Any:
        return spectral_norm(
            x,
            self.weight_u,
            self.weight_v,
            dim=self._dim % x.ndim,
            power_iters=self._power_iters,
            eps=self._eps,
        )
