"""Batch norm of the stored elements of sparse tensors."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError
from engine.nn import functional
from engine.nn.functional.norm import sync_batch_norm
from engine.nn.layer import norm as dense
from engine.nn.layer.layers import Layer
from engine.nn.param_attr import AttrLike
from engine.tensor.sparse import parts
from engine.tensor.tensor_like import AnyTensor


def _normalized(layer: Any, x: Any, training: bool) -> Any:
    """x with the rows of its values normalized channel by channel."""
    parts.require_coo(type(layer).__name__, input=x)
    values = functional.batch_norm(
        x._values,
        layer._mean,
        layer._variance,
        weight=layer.weight,
        bias=layer.bias,
        training=training,
        momentum=layer._momentum,
        epsilon=layer._epsilon,
        data_format="NHWC",
        use_global_stats=True if layer._use_global_stats else None,
    )
    return x.with_values(values)


class BatchNorm(dense.BatchNorm1D):
    """Normalizes each channel over the stored elements of a COO tensor with dense channels.

    Statistics are those of the stored elements; zeros that are not stored do not count.

    Differs from Paddle: eval() uses the running statistics also after a call in training.
    """

    _formats = {"NDHWC": "NHWC", "NHWC": "NHWC"}  # noqa: RUF012

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-05,
        weight_attr: AttrLike = None,
        bias_attr: AttrLike = None,
        data_format: str = "NDHWC",
        use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> None:
        if data_format not in self._formats:
            raise ArgumentError(
                f'sparse BatchNorm only supports the layouts "NDHWC" and "NHWC": got {data_format!r}'
            )
        super().__init__(
            num_features, momentum, epsilon, weight_attr, bias_attr, data_format, use_global_stats, name
        )

    def forward(self, input: AnyTensor) -> Any:
        return _normalized(self, input, self.training or self._use_global_stats is False)


class SyncBatchNorm(dense.SyncBatchNorm):
    """Batch norm of sparse tensors over the stored elements of all processes; in one process, batch norm.

    Works on the CPU too, where Paddle 2.6 has no kernel.
    """

    def forward(self, x: AnyTensor) -> Any:
        parts.require_coo(type(self).__name__, input=x)
        values = sync_batch_norm(
            x._values,
            self._mean,
            self._variance,
            self.weight,
            self.bias,
            self.training,
            self._momentum,
            self._epsilon,
            "NHWC",
        )
        return x.with_values(values)

    @classmethod
    def convert_sync_batchnorm(cls, layer: Layer) -> Layer:
        """``layer`` with SyncBatchNorm, sparse or dense, for every batch norm in it, sharing parameters."""
        if isinstance(layer, BatchNorm):
            replaced: Layer = cls.in_place_of(layer)
            return replaced
        made: Layer = dense.SyncBatchNorm.in_place_of(layer) if dense.SyncBatchNorm.replaces(layer) else layer
        for name, child in layer.named_children():
            made.add_sublayer(name, cls.convert_sync_batchnorm(child))
        return made
