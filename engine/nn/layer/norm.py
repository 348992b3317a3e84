"""Batch and layer normalization as layers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

from engine.core import mode as modes
from engine.core.errors import ArgumentError, ShapeError
from engine.core.values.dtype import default_dtype
from engine.nn import functional
from engine.nn.functional.norm import sync_batch_norm
from engine.nn.initializer import Constant
from engine.nn.layer.base import transform as transforms
from engine.nn.layer.layers import Layer
from engine.nn.param_attr import AttrLike, ParamAttr
from engine.program.build.calls import names_results_by_layer
from engine.tensor.tensor_like import AnyTensor, DTypeLike


def _make_statistics(
    layer: Layer, channels: int, dtype: str, weight_attr: AttrLike, bias_attr: AttrLike
) -> None:
    """Weight 1 and bias 0 for each channel, either omitted where its attribute is False."""
    layer.weight = None
    layer.bias = None
    if weight_attr is not False:
        layer.weight = layer.create_parameter(
            [channels], weight_attr, dtype, default_initializer=Constant(1.0)
        )
    if bias_attr is not False:
        layer.bias = layer.create_parameter([channels], bias_attr, dtype, is_bias=True)


def _freeze_missing(layer: Layer, channels: int, dtype: DTypeLike) -> None:
    """Weight 1 and bias 0 that are not trained, where an attribute was False."""
    if layer.weight is None:
        layer.weight = layer.create_parameter([channels], None, dtype, default_initializer=Constant(1.0))
        layer.weight.stop_gradient = True
    if layer.bias is None:
        layer.bias = layer.create_parameter([channels], None, dtype, is_bias=True)
        layer.bias.stop_gradient = True


def _make_running(
    layer: Layer, channels: int, dtype: str, mean_name: str | None, variance_name: str | None
) -> None:
    """Running mean 0 and variance 1: parameters that are not trained, as in Paddle."""
    layer._mean = layer.create_parameter(
        [channels], ParamAttr(name=mean_name, initializer=Constant(0.0), trainable=False), dtype
    )
    layer._variance = layer.create_parameter(
        [channels], ParamAttr(name=variance_name, initializer=Constant(1.0), trainable=False), dtype
    )


def _statistics_dtype(dtype: str) -> str:
    """Statistics of half-precision values are stored in float32."""
    return "float32" if dtype in ("float16", "bfloat16") else dtype


def require_rank(layer: Layer, input: AnyTensor) -> None:
    """Raise ShapeError for an input whose rank is not one of the layer's."""
    if input.ndim not in layer._ranks:
        raise ShapeError(
            f"{type(layer).__name__}: input has shape {list(input.shape)}: it needs "
            f"{' or '.join(map(str, layer._ranks))} dimensions; reshape it"
        )


class _BatchNormBase(Layer):
    """What the batch norms of different ranks share."""

    _formats: dict[str, str]
    _ranks: tuple[int, ...]

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-05,
        weight_attr: AttrLike = None,
        bias_attr: AttrLike = None,
        data_format: str = "NCHW",
        use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._num_features = num_features
        self._weight_attr = weight_attr
        self._bias_attr = bias_attr
        self._use_global_stats = use_global_stats
        self._dtype = _statistics_dtype(default_dtype().name)
        _make_statistics(self, num_features, self._dtype, weight_attr, bias_attr)
        mean, variance = (None, None) if name is None else (f"{name}_mean", f"{name}_variance")
        _make_running(self, num_features, self._dtype, mean, variance)
        if data_format not in self._formats:
            raise ArgumentError(
                f"{type(self).__name__}: data_format {data_format!r} is not one of {sorted(self._formats)}"
            )
        self._data_format = data_format
        self._momentum = momentum
        self._epsilon = epsilon
        self._name = name

    def forward(self, input: AnyTensor) -> Any:
        require_rank(self, input)
        return functional.batch_norm(
            input,
            self._mean,
            self._variance,
            weight=self.weight,
            bias=self.bias,
            training=self.training,
            momentum=self._momentum,
            epsilon=self._epsilon,
            data_format=self._formats[self._data_format],
            use_global_stats=self._use_global_stats,
            name=self._name,
        )

    def extra_repr(self) -> str:
        text = f"num_features={self._num_features}, momentum={self._momentum}, epsilon={self._epsilon}"
        if self._data_format != "NCHW":
            text += f", data_format={self._data_format}"
        return text + (f", name={self._name}" if self._name is not None else "")


class BatchNorm1D(_BatchNormBase):
    """Normalizes each channel of [N, C] or [N, C, L] over batch and length; see functional.batch_norm."""

    _formats = {"NC": "NCHW", "NCL": "NCHW", "NCHW": "NCHW", "NLC": "NHWC", "NHWC": "NHWC"}  # noqa: RUF012
    _ranks = (2, 3)

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-05,
        weight_attr: AttrLike = None,
        bias_attr: AttrLike = None,
        data_format: str = "NCL",
        use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(
            num_features, momentum, epsilon, weight_attr, bias_attr, data_format, use_global_stats, name
        )


class BatchNorm2D(_BatchNormBase):
    """Normalizes each channel of [N, C, H, W] over batch, height and width; see functional.batch_norm."""

    _formats = {"NCHW": "NCHW", "NHWC": "NHWC"}  # noqa: RUF012
    _ranks = (4,)


class BatchNorm3D(_BatchNormBase):
    """Normalizes each channel of [N, C, D, H, W] over all others; see functional.batch_norm."""

    _formats = {"NCHW": "NCHW", "NCDHW": "NCHW", "NHWC": "NHWC", "NDHWC": "NHWC"}  # noqa: RUF012
    _ranks = (5,)

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-05,
        weight_attr: AttrLike = None,
        bias_attr: AttrLike = None,
        data_format: str = "NCDHW",
        use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(
            num_features, momentum, epsilon, weight_attr, bias_attr, data_format, use_global_stats, name
        )


class SyncBatchNorm(_BatchNormBase):
    """Batch norm of any rank, while training with the mean and variance of the batches of all processes.

    Batches may differ in size: every element counts the same. Every process calls it, after
    ``paddle.distributed.init_parallel_env()``; for one process it is batch norm.

    Differs from Paddle: it works on the CPU too.
    """

    _formats = dict.fromkeys(("NCHW", "NCDHW", "NC", "NCL"), "NCHW") | dict.fromkeys(
        ("NHWC", "NDHWC", "NLC"), "NHWC"
    )
    _ranks = (2, 3, 4, 5)

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-05,
        weight_attr: AttrLike = None,
        bias_attr: AttrLike = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, momentum, epsilon, weight_attr, bias_attr, data_format, None, name)
        _freeze_missing(self, num_features, self._dtype)

    def forward(self, input: AnyTensor) -> Any:
        require_rank(self, input)
        return sync_batch_norm(
            input,
            self._mean,
            self._variance,
            self.weight,
            self.bias,
            self.training,
            self._momentum,
            self._epsilon,
            self._formats[self._data_format],
            name=self._name,
        )

    @classmethod
    def convert_sync_batchnorm(cls, layer: Layer) -> Layer:
        """``layer`` with SyncBatchNorm for every BatchNorm1D, 2D and 3D in it, sharing their parameters."""
        made = cls.in_place_of(layer) if cls.replaces(layer) else layer
        for name, child in layer.named_children():
            made.add_sublayer(name, cls.convert_sync_batchnorm(child))
        return made

    @classmethod
    def replaces(cls, layer: Layer) -> bool:
        """Whether ``layer`` is a batch norm that this class can take the place of."""
        return isinstance(layer, _BatchNormBase) and not isinstance(layer, SyncBatchNorm)

    @classmethod
    def in_place_of(cls, layer: Layer) -> Self:
        """A layer of this class with the parameters and statistics of a batch norm."""
        made = cls(
            layer._num_features,
            layer._momentum,
            layer._epsilon,
            layer._weight_attr,
            layer._bias_attr,
            layer._data_format,
            layer._name,
        )
        if layer.weight is not None:
            made.weight = layer.weight
        if layer.bias is not None:
            made.bias = layer.bias
        made._mean = layer._mean
        made._variance = layer._variance
        made.training = layer.training
        return made


class BatchNorm(Layer):
    """Batch norm of any rank in the older form, with an activation by name after it."""

    def __init__(
        self,
        num_channels: int,
        act: str | None = None,
        is_test: bool = False,
        momentum: float = 0.9,
        epsilon: float = 1e-05,
        param_attr: AttrLike = None,
        bias_attr: AttrLike = None,
        dtype: str = "float32",
        data_layout: str = "NCHW",
        in_place: bool = False,
        moving_mean_name: str | None = None,
        moving_variance_name: str | None = None,
        do_model_average_for_mean_and_var: bool = True,
        use_global_stats: bool = False,
        trainable_statistics: bool = False,
    ) -> None:
        super().__init__()
        if act is not None and not hasattr(functional, act):
            raise ArgumentError(
                f"BatchNorm: act {act!r} is not an activation in nn.functional; use e.g. 'relu'"
            )
        self._param_attr = param_attr
        self._bias_attr = bias_attr
        self._act = act
        self._dtype = _statistics_dtype(dtype)
        _make_statistics(self, num_channels, self._dtype, param_attr, bias_attr)
        _make_running(self, num_channels, self._dtype, moving_mean_name, moving_variance_name)
        self._in_place = in_place
        self._data_layout = data_layout
        self._momentum = momentum
        self._epsilon = epsilon
        self._is_test = is_test
        self._use_global_stats = use_global_stats
        self._trainable_statistics = trainable_statistics

    @names_results_by_layer("SavedMean SavedVariance ReserveSpace Y")
    def forward(self, input: AnyTensor) -> Any:
        # As in Paddle, is_test is for static graphs; eager code says eval().
        training = self.training and not (self._is_test and modes.is_static())
        out = functional.batch_norm(
            input,
            self._mean,
            self._variance,
            weight=self.weight,
            bias=self.bias,
            training=training or self._trainable_statistics,
            momentum=self._momentum,
            epsilon=self._epsilon,
            data_format=self._data_layout,
            use_global_stats=True if self._use_global_stats else None,
        )
        return out if self._act is None else getattr(functional, self._act)(out)


@transforms.kept_in_half.define
def kept_in_half() -> list[type]:
    """See ``engine.nn.layer.base.transform.kept_in_half``."""
    return [BatchNorm]


class LayerNorm(Layer):
    """Normalizes each sample over the dimensions ``normalized_shape``; see functional.layer_norm."""

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        epsilon: float = 1e-05,
        weight_attr: AttrLike = None,
        bias_attr: AttrLike = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        shape = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
        self._normalized_shape = shape
        self._epsilon = epsilon
        self._weight_attr = weight_attr
        self._bias_attr = bias_attr
        _make_statistics(self, math.prod(shape), default_dtype().name, weight_attr, bias_attr)

    def forward(self, input: AnyTensor) -> Any:
        return functional.layer_norm(
            input,
            normalized_shape=self._normalized_shape,
            weight=self.weight,
            bias=self.bias,
            epsilon=self._epsilon,
        )

    def extra_repr(self) -> str:
        return f"normalized_shape={self._normalized_shape}, epsilon={self._epsilon}"
